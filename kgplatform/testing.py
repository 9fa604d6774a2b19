"""Test doubles (skeleton; OpenAIServer comes)."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgplatform.llm import Reply
from kgplatform.prompt import Messages
from kgplatform.records import Usage
from kgplatform.text import count_tokens, normalise_name

_WORD = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


@dataclass(frozen=True, slots=True)
class SentMessages:
    """One call that a ``ScriptedChat`` got."""

    messages: Messages
    stage: str
    json_mode: bool


class ScriptedChat:
    """A ``Chat`` that answers from a list, in order, or by a function of the messages; it records each call."""

    def __init__(self, answers: Sequence[str | Reply] | Callable[[Messages], str | Reply], model: str = "scripted") -> None:
        self.model = model
        self.calls: list[SentMessages] = []
        self._answers = answers
        self._lock = threading.Lock()

    def send(self, messages: Messages, *, stage: str, json_mode: bool = False) -> Reply:
        """The next answer. Raises ``AssertionError`` where the script has none."""
        with self._lock:
            index = len(self.calls)
            self.calls.append(SentMessages([dict(message) for message in messages], stage, json_mode))
        if callable(self._answers):
            answer = self._answers(messages)
        elif index < len(self._answers):
            answer = self._answers[index]
        else:
            raise AssertionError(
                f"The script has {len(self._answers)} answers, and this is call {index + 1} (stage {stage}): "
                f"{messages[-1]['content'][:200]!r}"
            )
        if isinstance(answer, Reply):
            return answer
        sent = sum(count_tokens(message["content"]) for message in messages)
        return Reply(answer, Usage(1, sent, count_tokens(answer)), cut_off=False)


class HashEmbedder:
    """An ``Embedder`` without a model: a bag of hashed words. Texts that share words are near; always the same."""

    def __init__(self, dimension: int = 64) -> None:
        self.name = f"hash:{dimension}"
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, dimension)``, rows of length 1."""
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(normalise_name(text)) or [""]:
                digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                vectors[row, int.from_bytes(digest, "big") % self._dimension] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if len(texts) else vectors
