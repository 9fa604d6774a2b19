"""Which extractor reads: by its name, or the one that suits what there is."""

from __future__ import annotations

from pathlib import Path

from kgplatform.errors import InputError, SettingError
from kgplatform.ingest.extract import Extractor
from kgplatform.ingest.extract.llm import LlmExtractor
from kgplatform.ingest.extract.local import LocalExtractor
from kgplatform.ingest.extract.recorded import RecordedExtractor
from kgplatform.models.chat import Chat

EXTRACTORS = ("llm", "local", "recorded")


def default_extractor(recorded: str | Path | None, chat: Chat | None) -> str:
    """``recorded`` where there is a recording, else ``llm`` where there is a model, else ``local``."""
    return "recorded" if recorded is not None else "llm" if chat is not None else "local"


def make_extractor(name: str | Extractor | None, recorded: str | Path | None, chat: Chat | None) -> Extractor:
    """One's own extractor, the one called ``name``, or the default one.

    Raises ``InputError`` for an unknown name or a missing recording, ``SettingError`` for a missing model.
    """
    if name is not None and not isinstance(name, str):
        return name
    chosen = name or default_extractor(recorded, chat)
    if chosen == "recorded":
        if recorded is None:
            raise InputError("The extractor `recorded` needs a recording. Name it with --recorded FILE.")
        return RecordedExtractor(recorded)
    if chosen == "llm":
        if chat is None:
            raise SettingError(
                "The extractor `llm` needs a language model. Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local "
                "server, or use --extractor local."
            )
        return LlmExtractor(chat)
    if chosen == "local":
        return LocalExtractor()
    raise InputError(f"There is no extractor {chosen!r}; there are {', '.join(EXTRACTORS)}.")
