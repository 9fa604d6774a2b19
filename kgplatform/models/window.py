"""How large the window of a served model is, where its server tells.

vLLM, OpenRouter, Groq, Mistral, LM Studio and llama.cpp say it in their list of models, each in its own word; llama.cpp
says the size that it was started with elsewhere. OpenAI and Ollama do not tell.
"""

from __future__ import annotations

from typing import Any

from kgplatform.models.wire import Wire
from kgplatform.work.stopping import Stop

_NAMES = ("max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length", "n_ctx")
_TRAINED = "n_ctx_train"
_LEAST = 512


def window_of(listed: dict[str, Any], model: str, wire: Wire, stop: Stop) -> int | None:
    """The tokens of ``model``'s window, prompt and reply together, by the server's list of models; None where neither
    that nor the server tells."""
    entries = listed.get("data")
    ours = [entry for entry in entries or () if isinstance(entry, dict) and entry.get("id") == model]
    if not ours and isinstance(entries, list) and len(entries) == 1 and isinstance(entries[0], dict):
        ours = entries  # a server of one model answers for it under any name
    if not ours:
        return None
    entry = ours[0]
    if entry.get("owned_by") == "llamacpp":
        served = wire.get("/../props", stop) or {}
        if size := _size(served.get("default_generation_settings"), _NAMES):
            return size
    return _size(entry, _NAMES) or _size(entry.get("meta"), (*_NAMES, _TRAINED))


def _size(said: Any, names: tuple[str, ...]) -> int | None:
    values = [said.get(name) for name in names] if isinstance(said, dict) else []
    return next((value for value in values if isinstance(value, int) and value >= _LEAST), None)
