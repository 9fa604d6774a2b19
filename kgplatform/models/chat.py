"""Language models: one small interface, one client for every server that speaks the OpenAI protocol, one ledger."""

from __future__ import annotations

import copy
import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from pydantic import BaseModel, ConfigDict

from kgplatform.errors import BudgetError, ModelError, StoppedError
from kgplatform.models.wire import BadAnswerError, RefusedError, Wire
from kgplatform.prompt import Messages
from kgplatform.records import Usage
from kgplatform.settings import Settings
from kgplatform.text import count_tokens, without_lone_surrogates
from kgplatform.work.files import write_atomically
from kgplatform.work.stopping import NEVER, Stop

M = TypeVar("M")
S = TypeVar("S", bound="ServedModel")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote. ``cut_off``: it stopped at its length limit, not at the end of what it had to say.

    ``worth``: what it cost when it was paid for, if it cost nothing now.
    """

    text: str
    usage: Usage
    cut_off: bool
    worth: Usage | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a reply is wanted.

    ``form``: the pydantic model that it is read as, as JSON; None for free text. ``tokens``: the most that it may have,
    thoughts apart; None where nothing is known of it.
    """

    form: type[BaseModel] | None = None
    tokens: int | None = None


FREE_TEXT = Wanted()


class AnyObject(BaseModel):
    """The form of a JSON object of which nothing is known."""

    model_config = ConfigDict(extra="allow")


ANY_OBJECT = Wanted(AnyObject)


class Chat(Protocol):
    """Something that answers messages."""

    model: str

    def send(self, messages: Messages, *, stage: str, wanted: Wanted = FREE_TEXT) -> Reply:
        """The reply to ``messages``. Raises ``ModelError``; ``BudgetError`` if the budget is used up."""

    def forget(self, messages: Messages, *, wanted: Wanted = FREE_TEXT) -> None:
        """Keep no answer to ``messages``: nobody could use it, and the next ``send`` is to ask the model again."""


@runtime_checkable
class ManyModels(Chat, Protocol):
    """A ``Chat`` of a server that has other models too."""

    def with_model(self, model: str) -> Chat:
        """Another model of the same server, on the same connections, cache and budget."""


class Ledger:
    """Tokens spent per stage, over all threads, and the budget: ``max_tokens`` of input and output together."""

    def __init__(self, max_tokens: int | None = None) -> None:
        self.max_tokens = max_tokens
        self._stages: dict[str, Usage] = {}
        self._worth: dict[str, Usage] = {}
        self._lock = threading.Lock()

    def add(self, stage: str, usage: Usage, worth: Usage | None = None) -> None:
        """Count ``usage``, also beyond the budget: what was running when it ran out is paid for.

        ``worth``: what it would have been without a cache, if it came from one.
        """
        with self._lock:
            self._stages[stage] = self._stages.get(stage, Usage()) + usage
            self._worth[stage] = self._worth.get(stage, Usage()) + (worth or usage)

    def check(self) -> None:
        """Raise ``BudgetError`` if nothing more may be sent."""
        total = self.total
        spent = total.input_tokens + total.output_tokens
        if self.max_tokens is not None and spent >= self.max_tokens:
            raise BudgetError(
                f"The budget of {self.max_tokens:,} tokens is used up ({spent:,} spent); what was done is kept. "
                "Run the same command again with a larger max_tokens to continue from here."
            )

    def by_stage(self) -> dict[str, Usage]:
        """A copy, in the order of the stages' names."""
        with self._lock:
            return dict(sorted(self._stages.items()))

    def worth_by_stage(self) -> dict[str, Usage]:
        """Like ``by_stage``, as if every call had been paid for: the same whatever a cache held."""
        with self._lock:
            return dict(sorted(self._worth.items()))

    @property
    def total(self) -> Usage:
        """The sum over all stages."""
        return sum(self.by_stage().values(), Usage())


@runtime_checkable
class Metered(Protocol):
    """A model, for language or for embeddings, that can work for a run of its own."""

    def within(self, *, meter: Ledger | None = None, stop: Stop | None = None) -> Any:
        """The same model, on the same connections and cache, for a piece of work.

        ``meter`` counts what that spends, beside the ledgers that count it already; ``stop`` ends its waits, in place
        of the one before.
        """


def within(model: M, *, meter: Ledger | None = None, stop: Stop | None = None) -> M:
    """``model`` for a piece of work (``Metered.within``); the model itself, uncounted, if it does not know of such."""
    return cast(M, model.within(meter=meter, stop=stop)) if isinstance(model, Metered) else model


def metered(chat: Chat) -> tuple[Chat, Ledger]:
    """``chat`` for a part of its work, and the ledger that counts what this part spends, beside the others."""
    ledger = Ledger()
    return within(chat, meter=ledger), ledger


@dataclass
class _Successor:
    """What the threads that waited for a stopped one wait for next: the call of the first of them to go on."""

    future: Future[Reply | _Successor] | None = None


class ServedModel:
    """What every model behind an HTTP server has: its connections, what counts its tokens, and what ends its waits.

    ``backoff``, ``clock`` and ``sleep``: the pace of its retries, see ``Wire``.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        *,
        backoff: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self._ledger = ledger
        self._meters: tuple[Ledger, ...] = ()
        self._stop = NEVER
        self._wire = Wire(settings, backoff=backoff, clock=clock, sleep=sleep)

    def within(self: S, *, meter: Ledger | None = None, stop: Stop | None = None) -> S:
        """See ``Metered.within``."""
        view = copy.copy(self)
        view._meters = (*self._meters, meter) if meter else self._meters
        view._stop = stop or self._stop
        return view

    def close(self) -> None:
        """Close the connections to the server."""
        self._wire.close()

    def _count(self, stage: str, usage: Usage, worth: Usage | None = None) -> None:
        for ledger in (self._ledger, *self._meters):
            ledger.add(stage, usage, worth)


class OpenAIChat(ServedModel):
    """``settings.chat_model`` at ``settings.openai_base_url``, with retries, a disk cache and a budget.

    The same messages are paid for once: an answer comes from ``cache_folder`` if it is there, and threads that ask
    the same thing at once share one call. Only whole answers are kept (not those that were cut off, nor empty ones).
    An answer in the cache may be malformed for its reader; ``reply.ask`` then asks again with the error, which is
    another message list with its own entry, so that a second run goes the same way and pays nothing. Where that is of
    no use either, ``reply.ask`` has both forgotten.
    """

    def __init__(self, settings: Settings, ledger: Ledger, cache_folder: Path | None, **pace: Any) -> None:
        super().__init__(settings, ledger, **pace)
        self.model = settings.chat_model
        self._cache = ReplyCache(cache_folder) if cache_folder else None
        self._refused: set[str] = set()
        self._under_way: dict[str, Future[Reply | _Successor]] = {}
        self._lock = threading.Lock()

    def send(self, messages: Messages, *, stage: str, wanted: Wanted = FREE_TEXT) -> Reply:
        """See ``Chat.send``. ``usage`` of a reply that cost nothing is ``Usage(cached_calls=1)``."""
        self._stop.check()
        body, key = self._request(messages, wanted)
        reply = self._known(key, body["messages"]) or self._shared(key, body, stage)
        if reply.usage.cached_calls:
            self._count(stage, reply.usage, reply.worth)
        return reply

    def forget(self, messages: Messages, *, wanted: Wanted = FREE_TEXT) -> None:
        """See ``Chat.forget``."""
        if self._cache:
            self._cache.forget(self._request(messages, wanted)[1])

    def with_model(self, model: str) -> OpenAIChat:
        """See ``ManyModels.with_model``. What one of them learns of the server's parameters is the other's to learn."""
        other = copy.copy(self)
        other.model = model
        other._refused, other._under_way, other._lock = set(), {}, threading.Lock()
        return other

    def _request(self, messages: Messages, wanted: Wanted) -> tuple[dict[str, Any], str]:
        """The body that asks for an answer to ``messages``, and its key in the cache."""
        parameters: dict[str, Any] = {"temperature": 0}
        if wanted.form:
            parameters["response_format"] = {"type": "json_object"}
        body = {"model": self.model, "messages": [_sendable(message) for message in messages], **parameters}
        return body, cache_key({"address": self._wire.address, **body})

    def _known(self, key: str, messages: Messages) -> Reply | None:
        kept = self._cache.get(key) if self._cache else None
        if kept is None:
            return None
        figures = {"prompt_tokens": kept.input_tokens, "completion_tokens": kept.output_tokens}
        return _from_cache(Reply(kept.text, _usage({"usage": figures}, messages, kept.text), cut_off=False))

    def _shared(self, key: str, body: dict[str, Any], stage: str) -> Reply:
        """The answer to ``body``: from the thread that is already asking for it, or by asking.

        Where that thread is stopped, one of those that wait for it asks in its place, and the others wait for that one.
        """
        successor = _Successor()
        while True:
            with self._lock:
                future = successor.future or self._under_way.get(key)
                pays = future is None
                if future is None:
                    future = self._under_way[key] = Future()
                successor.future = future
            if pays:
                return self._pay_for_all(key, body, stage, future)
            shared = self._stop.result_of(future)
            if isinstance(shared, Reply):
                return _from_cache(shared)
            successor = shared

    def _pay_for_all(self, key: str, body: dict[str, Any], stage: str, mine: Future[Reply | _Successor]) -> Reply:
        try:
            reply = self._known(key, body["messages"]) or self._pay(key, body, stage)
        except BaseException as error:  # whatever stops this thread must also wake those that wait for it
            self._finish(key)
            if isinstance(error, StoppedError):
                mine.set_result(_Successor())
            else:
                name = type(error).__name__
                said = f"The thread that asked the language model was stopped ({name}); run it again."
                mine.set_exception(error if isinstance(error, ModelError) else ModelError(said))
            raise
        self._finish(key)
        mine.set_result(reply)
        return reply

    def _finish(self, key: str) -> None:
        with self._lock:
            del self._under_way[key]

    def _pay(self, key: str, body: dict[str, Any], stage: str) -> Reply:
        reply = self._call(body, stage)
        if self._cache and reply.text.strip() and not reply.cut_off:
            self._cache.put(key, KeptReply(reply.text, reply.usage.input_tokens, reply.usage.output_tokens))
        return reply

    def _call(self, body: dict[str, Any], stage: str) -> Reply:
        """Ask the server; a parameter that it refuses is left out, now and from now on."""
        sent = {name: value for name, value in body.items() if name not in self._refused}
        try:
            reply: Reply = self._wire.post(
                "/chat/completions",
                sent,
                stage=stage,
                stop=self._stop,
                before=self._ledger.check,
                read=partial(self._read, messages=body["messages"], stage=stage),
            )
            return reply
        except RefusedError as error:
            blamed = _blamed(error, sent)
            if blamed is None:
                raise
            reply = self._call({name: value for name, value in sent.items() if name != blamed}, stage)
        self._refused.add(blamed)
        return reply

    def _read(self, answer: dict[str, Any], messages: Messages, stage: str) -> Reply:
        text, reason = _content(answer)
        usage = _usage(answer, messages, text or "")
        self._count(stage, usage)
        if reason == "content_filter":
            raise ModelError(f"The model server's content filter stopped the answer in stage {stage}.")
        if text is None:
            raise BadAnswerError("it has no text.")
        return Reply(text, usage, cut_off=reason == "length")


def make_chat(settings: Settings, ledger: Ledger) -> Chat | None:
    """The language model that ``settings`` name; None if neither a key nor an address is set."""
    if settings.openai_api_key is None and settings.openai_base_url is None:
        return None
    return OpenAIChat(settings, ledger, settings.home_folder / "llm-cache")


def _from_cache(reply: Reply) -> Reply:
    """``reply`` for one who does not pay for it."""
    return replace(reply, usage=Usage(cached_calls=1), worth=reply.worth or reply.usage)


def _sendable(message: dict[str, str]) -> dict[str, str]:
    """``message`` without half surrogate pairs, which no JSON body in UTF-8 can carry."""
    return {name: without_lone_surrogates(text) for name, text in message.items()}


def _blamed(error: RefusedError, body: dict[str, Any]) -> str | None:
    """The parameter to leave out after a refusal: the one that the server names, else JSON mode, else none."""
    if error.too_long:
        return None
    optional = [name for name in ("response_format", "temperature") if name in body]
    named = [name for name in optional if error.parameter and error.parameter.startswith(name)]
    if named:
        return named[0]
    return "response_format" if "response_format" in optional and error.parameter is None else None


def _content(answer: dict[str, Any]) -> tuple[str | None, str | None]:
    """Text and finish reason of the first choice; text is None where there is none."""
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return None, None
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    reason = choice.get("finish_reason")
    return (content if isinstance(content, str) else None), (reason if isinstance(reason, str) else None)


def _usage(answer: dict[str, Any], messages: Messages, text: str) -> Usage:
    """The server's own figures, and our count where it gives none."""
    figures = answer.get("usage")
    given = figures if isinstance(figures, dict) else {}
    return Usage(
        calls=1,
        input_tokens=_figure(given.get("prompt_tokens"), "\n".join(m["content"] for m in messages)),
        output_tokens=_figure(given.get("completion_tokens"), text),
    )


def _figure(value: object, text: str) -> int:
    return value if isinstance(value, int) and value >= 0 else count_tokens(text)


_log = logging.getLogger(__name__)


def cache_key(request: dict[str, object]) -> str:
    """SHA-256, in hexadecimal, of a JSON-like ``request``; the order of its keys does not matter."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class KeptReply:
    """An answer that was paid for, and the tokens that it cost; None of an answer that was kept without them."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None


class ReplyCache:
    """Answers under ``folder/ab/ab….json``, readable by the owner alone. The folder appears with the first answer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._warned = False

    def get(self, key: str) -> KeptReply | None:
        """The answer for ``key``; None if there is none, or if the file is broken (``put`` then replaces it)."""
        try:
            entry = json.loads(self._path(key).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(entry, dict) or entry.get("key") != key or not isinstance(entry.get("text"), str):
            return None
        return KeptReply(entry["text"], *(_count(entry.get(name)) for name in ("input_tokens", "output_tokens")))

    def put(self, key: str, reply: KeptReply) -> None:
        """Keep ``reply``. An answer that is paid for is not lost to a full disk: that is a warning, said once."""
        try:
            self._write(self._path(key), json.dumps({"key": key, **asdict(reply)}).encode())
        except OSError as error:
            if not self._warned:
                _log.warning("Answers of the language model cannot be kept in %s: %s", self._folder, error)
            self._warned = True

    def forget(self, key: str) -> None:
        """Keep no answer for ``key`` any longer."""
        with suppress(OSError):  # it is gone already, or the folder cannot be written: then nothing is lost
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def _write(self, path: Path, content: bytes) -> None:
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_atomically(path, content)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
