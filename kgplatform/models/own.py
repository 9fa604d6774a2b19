"""Models that a program brings along: an object with the methods of the protocols, or just a function.

connect(chat=lambda messages: "…", embedder=my_model.encode)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from kgplatform.concurrency.stopping import NEVER
from kgplatform.errors import OWN, InputError, KgError, ModelError
from kgplatform.models.chat import FREE_TEXT, Chat, Reply, Wanted
from kgplatform.models.each import WORD, Embedded, Learnt, embed_each, usable
from kgplatform.models.embed import Embedder
from kgplatform.models.onnx_encoder import Vectors
from kgplatform.models.pace import Pace
from kgplatform.prompt import Messages
from kgplatform.records import Usage
from kgplatform.text import count_tokens

AnswerMessages = Callable[[Messages], str]
"""From messages, ``{"role": "user", "content": "…"}``, to the reply. Called by several threads at once."""
EmbedTexts = Callable[[list[str]], Any]
"""From n texts to n vectors: an array (n, dimension), or lists of numbers. Called by several threads at once."""


class FunctionChat:
    """A ``Chat`` out of a function; tokens are counted here, and nothing is cached."""

    def __init__(self, function: AnswerMessages) -> None:
        self.model = _name_of(function)
        self._function = function
        self._pace = Pace()

    def send(self, messages: Messages, *, stage: str, wanted: Wanted = FREE_TEXT) -> Reply:
        """See ``Chat.send``."""
        with self._pace.one(NEVER) as turn:
            self._pace.sent(turn)
            text = _called(self._function, messages, f"The language model {self.model}")
            turn.work = 1.0
        if not isinstance(text, str):
            raise ModelError(f"The language model {self.model} must return a string, not {type(text).__name__}.")
        if wanted.on_text:
            wanted.on_text(text)
        sent = sum(count_tokens(message["content"]) for message in messages)
        return Reply(text, Usage(1, sent, count_tokens(text)), cut_off=False)

    def forget(self, messages: Messages, *, wanted: Wanted = FREE_TEXT) -> None:
        """Nothing to do: no reply is kept."""


class FunctionEmbedder:
    """An ``Embedder`` out of a function. ``name``: of its model; the graph remembers it."""

    def __init__(self, function: EmbedTexts, name: str = "") -> None:
        self.name = name or f"{OWN}{_name_of(function)}"
        self._function = function
        self._learnt = Learnt(sys.maxsize)

    @property
    def dimension(self) -> int:
        """Learnt from the first vectors."""
        return self._learnt.dimension or self._ask([WORD], True).shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See ``Embedder.embed``."""
        return self.embed_each(texts).whole()

    def embed_each(self, texts: Sequence[str]) -> Embedded:
        """See ``Embedder``."""
        if not texts:
            return Embedded(np.zeros((0, self.dimension), dtype=np.float32))
        return embed_each(self._ask, texts, self._learnt, 1)

    def _ask(self, texts: list[str], waits: bool) -> Vectors:
        """See ``each.Ask``."""
        found = _called(self._function, texts, f"The embedding model {self.name}")
        try:
            vectors = np.asarray(found, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise ModelError(f"The embedding model {self.name} returned no numbers.") from error
        width = self._learnt.dimension or (vectors.shape[-1] if vectors.ndim == 2 else 0)
        if vectors.shape != (len(texts), width) or not usable(vectors).any():
            wanted = f"{len(texts)} vectors" + (f" of {width} numbers" if width else "")
            raise ModelError(
                f"The embedding model {self.name} must return {wanted}, finite and not all zero; it returned an array "
                f"of shape {vectors.shape}."
            )
        self._learnt.dimension = width
        return vectors


def as_chat(given: Chat | AnswerMessages | None) -> Chat | None:
    """A ``Chat``, or one out of a function. Raises ``InputError`` for what is neither."""
    if given is None or (hasattr(given, "send") and hasattr(given, "forget")):
        return cast("Chat | None", given)
    if callable(given):
        return FunctionChat(given)
    raise InputError(
        f"chat={given!r:.100} cannot be used: give a function from messages to a string, or an object with the methods "
        "of kgplatform.models.chat.Chat."
    )


def as_embedder(given: Embedder | EmbedTexts) -> Embedder:
    """An ``Embedder``, or one out of a function. Raises ``InputError`` for what is neither."""
    if hasattr(given, "embed") and hasattr(given, "dimension") and hasattr(given, "name"):
        return cast(Embedder, given)
    if callable(given):
        return FunctionEmbedder(given)
    raise InputError(
        f"embedder={given!r:.100} cannot be used: give the name of one, a function from a list of texts to their "
        "vectors, or an object with the methods of kgplatform.models.embed.Embedder."
    )


def _called(function: Callable[[Any], Any], given: object, what: str) -> Any:
    try:
        return function(given)
    except KgError:
        raise
    except Exception as error:  # other people's code raises anything at all
        raise ModelError(f"{what} failed ({type(error).__name__}: {error}).") from error


def _name_of(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__)).replace("<lambda>", "function")
