"""Models that a program brings along: an object with the methods of the protocols, or just a function.

connect(chat=lambda messages: "…", embedder=my_model.encode)
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

import numpy as np

from kgplatform.concurrency.threads import NEVER, Stop
from kgplatform.errors import OWN, InputError, KgError, ModelError
from kgplatform.models.chat import FREE_TEXT, Chat, Ledger, ManyModels, Metered, Reply, Wanted
from kgplatform.models.embed import Embedder, Learnt, PartialEmbedder, usable
from kgplatform.models.onnx_encoder import Vectors
from kgplatform.models.pace import Pace
from kgplatform.prompt import Messages
from kgplatform.records import Usage
from kgplatform.text import count_tokens

C = TypeVar("C", bound="OwnChat")

AnswerMessages = Callable[[Messages], str | Coroutine[Any, Any, str]]
"""From messages, ``{"role": "user", "content": "…"}``, to the reply. Called by several threads at once; what an ``async
def`` awaits runs in one event loop, in a thread of its own."""
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


class OwnChat:
    """``chat``, a program's own; its calls and what it says of its tokens are counted by ``meters``, within their
    budgets."""

    def __init__(self, chat: Chat, meters: tuple[Ledger, ...] = ()) -> None:
        self.model = chat.model
        self._chat = chat
        self._meters = meters

    def send(self, messages: Messages, *, stage: str, wanted: Wanted = FREE_TEXT) -> Reply:
        """See ``Chat.send``."""
        for meter in self._meters:
            meter.check()
        reply = self._chat.send(messages, stage=stage, wanted=wanted)
        if not isinstance(reply, Reply):
            raise ModelError(
                f"send of the language model {self.model} must return a kgplatform.models.chat.Reply, not "
                f"{type(reply).__name__}."
            )
        for meter in self._meters:
            meter.add(stage, reply.usage, reply.worth)
        return reply

    def forget(self, messages: Messages, *, wanted: Wanted = FREE_TEXT) -> None:
        """See ``Chat.forget``."""
        self._chat.forget(messages, wanted=wanted)

    def within(self: C, *, meter: Ledger | None = None, stop: Stop | None = None) -> C:
        """See ``Metered.within``; running calls are waited for."""
        return type(self)(self._chat, (*self._meters, meter)) if meter else self


class OwnChats(OwnChat):
    """The same for one of several models."""

    def with_model(self, model: str) -> OwnChats:
        """See ``ManyModels.with_model``."""
        return OwnChats(cast(ManyModels, self._chat).with_model(model), self._meters)


class FunctionEmbedder(PartialEmbedder):
    """An ``Embedder`` out of a function. ``name``: of its model; the graph remembers it."""

    def __init__(self, function: EmbedTexts, name: str = "") -> None:
        self.name = name or f"{OWN}{_name_of(function)}"
        self._function = function
        self._learnt = Learnt(sys.maxsize)

    def _ask(self, texts: list[str], waits: bool) -> Vectors:
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
    """A ``Chat`` that counts, or one out of a function. Raises ``InputError`` for what is neither."""
    if given is None:
        return None
    if hasattr(given, "send") and hasattr(given, "forget"):
        chat = cast(Chat, given)
        if isinstance(chat, Metered):
            return chat
        return OwnChats(chat) if isinstance(chat, ManyModels) else OwnChat(chat)
    if callable(given):
        return OwnChat(FunctionChat(given))
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
        found = function(given)
        return asyncio.run_coroutine_threadsafe(found, _loop()).result() if inspect.iscoroutine(found) else found
    except KgError:
        raise
    except Exception as error:  # other people's code raises anything at all
        raise ModelError(f"{what} failed ({type(error).__name__}: {error}).") from error


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """One for all coroutines: what the clients in them hold belongs to one loop."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="kgplatform-own-models", daemon=True).start()
    return loop


def _name_of(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__)).replace("<lambda>", "function")
