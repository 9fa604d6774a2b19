"""One request to a server that speaks the OpenAI protocol: its turn, pauses, retries, and errors in our words.

Chat and embeddings share this. It is the only user of the ``openai`` package, which is imported on the first request
(half a second) and not before.

What never ends is given up, and not held in memory: the bound of an answer follows generously from the tokens that were
asked for; that of a head is the HTTP library's, 100 kB. What is packed could become a thousand times as long as it is
unpacked, so packed answers are neither asked for nor read.
"""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import random
import re
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from concurrent.futures import CancelledError
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from kgplatform.concurrency.threads import NEVER, LoopThread, Stop
from kgplatform.errors import ModelError, ReplyError, SettingError
from kgplatform.models.chat import Ledger
from kgplatform.models.failures import TIME_OUT_RETRIES, BadAnswerError, is_transient, retry_after, translated, why
from kgplatform.models.pace import Pace, Turn
from kgplatform.records import Usage
from kgplatform.settings import Settings
from kgplatform.text import count_tokens

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

_BESIDE = 2**20
"""Bytes of an answer beside what is counted."""
_OF_TOKEN = 2000
"""Bytes: each token may come as an event of its own."""
_OF_TEXT = 400_000
"""Bytes of a text's vector."""
_USUAL_TOKENS = 16_384
_MOST_OF_REPLY, _MOST_OF_VECTORS = 64 * _BESIDE, 256 * _BESIDE
_MOST_OF_ERROR = 2**16


async def bounded(response: Any) -> None:
    """A hook of the HTTP client: whoever reads ``response`` meets an end.

    Of an error's text the beginning is enough. Raises ``ReplyError`` for an answer that is packed, and whoever reads a
    longer one than there may be gets that too.
    """
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ReplyError("The model server compressed its answer (Content-Encoding) without being asked to.")
    body = json.loads(response.request.content or b"{}")
    tokens = body.get("max_tokens") or body.get("max_completion_tokens") or _USUAL_TOKENS
    most = min(_MOST_OF_REPLY, _BESIDE + _OF_TOKEN * int(tokens))
    if "input" in body:
        most = min(_MOST_OF_VECTORS, _BESIDE + _OF_TEXT * len(body["input"]))
    most = _MOST_OF_ERROR if response.is_error else most
    kind = _bounded_type(cast(Hashable, type(response.stream)))
    response.stream = kind(response.stream, most, cuts=response.is_error)


@cache
def _bounded_type(kind: Any) -> Any:
    """A class of streams that is of the HTTP library's ``kind``, whichever library that is."""

    class Bounded(kind):  # type: ignore[misc]  # the library is imported late
        def __init__(self, stream: Any, most: int, *, cuts: bool) -> None:
            self._inner, self._most, self._cuts = stream, most, cuts

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = self._most
            async for part in self._inner:
                yield part[:left] if self._cuts else part
                left -= len(part)
                if left < 0 and not self._cuts:
                    raise ReplyError(
                        f"The model server sent more than {self._most:,} bytes for one answer; it was not read to its "
                        "end."
                    )
                if left <= 0 and self._cuts:
                    return

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Bounded


OPENAI_ADDRESS = "https://api.openai.com/v1"
_LONGEST_BACKOFF = 60.0
_LOOK_TIMEOUT = 5.0
"""Seconds that a server has to tell of itself."""
PROPERTIES = "/../props"
"""Of llama.cpp."""
_SHORTEST_SECRET = 8
"""Characters: a shorter key ("x", "none") is none, and hiding it would spoil words."""
_SHOWN = 300
_USER = re.compile(r"(?<=://)[^/]*@")
_log = logging.getLogger(__name__)


class Listening(Protocol):
    """Gathers an answer that comes in pieces. ``goes_round``: no more of it is wanted."""

    goes_round: bool

    def add(self, event: object) -> None:
        """Take in the next piece."""

    def answer(self) -> dict[str, Any]:
        """The whole answer, when all pieces came."""


Listener = Callable[[], Listening]
"""Makes what listens to one try."""


class Wire:
    """Sends requests to one server, over all threads at most ``settings.concurrency`` at once, or at its ``Pace``.

    Whatever a request waits for, the ``Stop`` of the work that it is for ends it, and its connection. ``backoff`` is
    the first wait in seconds after a failure, doubled after each. ``clock`` and ``sleep``, in place of those of the
    stop, are for tests.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        backoff: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        address = (settings.openai_base_url or OPENAI_ADDRESS).strip().rstrip("/")
        try:
            parts = urlsplit(address)
        except ValueError as error:
            raise SettingError("OPENAI_BASE_URL is not an address; an example is http://127.0.0.1:8000/v1.") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingError("OPENAI_BASE_URL must start with http:// or https://, as in http://127.0.0.1:8000/v1.")
        self.address = address
        self._key = _checked_key(settings)
        self._settings = settings
        self._clock, self._sleep = clock, sleep
        self._paused_until = 0.0
        """Before that no thread sends anything: a 429 for one is a 429 for all."""
        self._backoff = backoff
        self._pace = Pace(settings.concurrency, settings.model_timeout)
        self._opened: tuple[LoopThread, openai.AsyncOpenAI] | None = None
        self._lock = threading.Lock()

    def post(
        self,
        path: str,
        body: dict[str, Any],
        *,
        stage: str,
        stop: Stop,
        before: Callable[[], None],
        read: Callable[[dict[str, Any]], Any],
        on_text: Listener | None = None,
        retries: int | None = None,
    ) -> Any:
        """``read(answer)`` for the server's answer to ``body``, tried again while there is hope.

        ``before`` runs just before each try, in its turn, and may raise to stop (the budget). ``read`` raises
        ``BadAnswerError`` for an answer that cannot be used. ``on_text`` listens to an answer that is streamed
        (``Pieces``). ``retries``: by default those that are set. Raises ``ModelError`` that names the stage;
        ``RefusedError`` if the server refuses the request (400, 422), ``FaultError`` where it answers 500 to the last,
        ``StoppedError`` once ``stop`` is set.
        """
        import openai

        most = self._settings.model_retries if retries is None else retries

        def once() -> Any:
            if on_text is not None:
                self._pace.learn(lambda: (self.get(PROPERTIES, stop) or {}).get("total_slots"))
            with self._pace.one(stop) as turn:
                while (left := self._paused_until - self._clock()) > 0:  # another thread may have made it longer
                    (self._sleep or stop.sleep)(left)
                before()
                try:
                    answer = self._send(path, body, stop, on_text, turn)
                except ValueError as error:  # the client decodes the body: not JSON, or not UTF-8
                    raise BadAnswerError("it is not JSON.") from error
                except (openai.APITimeoutError, openai.InternalServerError, openai.RateLimitError):
                    self._pace.failed(turn)
                    raise
                turn.work = _work(answer)
            return read(_as_object(answer))

        try:
            return self._tried(once, most, stage, stop)
        except BadAnswerError as error:
            raise ModelError(f"The model server's answer in stage {stage} cannot be used: {error}") from error
        except CancelledError as error:
            raise ModelError(f"The connection to the model server was closed in stage {stage}; ask again.") from error
        except openai.APIError as error:
            where = f"The model server at {_USER.sub('', self.address)}"
            failed = translated(error, self._hide_key, where, stage, str(body["model"]), most)
            # The server's text may repeat the key.
            error.message, error.body = self._hide_key(error.message), None
            error.args = tuple(self._hide_key(arg) if isinstance(arg, str) else arg for arg in error.args)
            raise failed from error

    def get(self, path: str, stop: Stop) -> dict[str, Any] | None:
        """What the server says of itself at ``path``; None where it says nothing that is JSON within seconds."""
        import openai

        try:
            loop, client = self._open()
            asked = client.get(path, cast_to=object, options={"timeout": _LOOK_TIMEOUT})
            given = loop.result(asyncio.wait_for(asked, _LOOK_TIMEOUT), stop)
        except (openai.APIError, ValueError, CancelledError, asyncio.TimeoutError, ReplyError):
            return None
        return given if isinstance(given, dict) else None

    def close(self) -> None:
        """Close the connections, and end the thread that they are read on; the next request opens new ones."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].close()

    def _send(self, path: str, body: dict[str, Any], stop: Stop, on_text: Listener | None, turn: Turn) -> object:
        """The server's answer, whole. What it is silent about for ``model_timeout`` seconds is given up, and its
        connection is closed before that is raised: the server stops work on it, and it may be asked again."""
        import openai

        loop, client = self._open()
        self._pace.sent(turn, sum(count_tokens(message["content"]) for message in body.get("messages", ())))
        if on_text is not None and body.get("stream"):
            sent = _streamed(client, path, body, on_text, partial(self._pace.heard, turn))
        else:
            sent = client.post(path, body=body, cast_to=object)
        try:
            return loop.result(_while_heard(sent, partial(self._pace.left, turn)), stop)
        except _InterruptedError as error:
            raise error.cause from None
        except asyncio.TimeoutError as error:
            raise openai.APITimeoutError(request=cast(Any, None)) from error
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, ReplyError):  # of the hook that bounds what is read
                raise error.__cause__ from error
            raise

    def _open(self) -> tuple[LoopThread, openai.AsyncOpenAI]:
        """The client, and the thread that its requests run on: only there can one be broken off as it waits."""
        import openai

        with self._lock:
            if self._opened is None:
                client = openai.AsyncOpenAI(
                    api_key=self._key.get_secret_value() if self._key else "none",
                    base_url=self.address,
                    max_retries=0,
                    timeout=openai.Timeout(None, connect=self._settings.model_timeout),
                    http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [bounded]}),
                    default_headers={"Accept-Encoding": "identity"},
                )
                self._opened = LoopThread(client.close), client
                # Those who forget to close it leave no thread behind either.
                weakref.finalize(self, self._opened[0].close, wait=False).atexit = False
            return self._opened

    def _tried(self, once: Callable[[], Any], most: int, stage: str, stop: Stop) -> Any:
        """What ``once`` returns, tried up to ``most`` times more while what it raises may pass.

        Waits double up to a minute, unless the server says how long; a pause that it asks for is for all threads. What
        took too long is tried once more at most: it is paid for, and will mostly take as long again.
        """
        import openai

        number = 0
        while True:
            number += 1
            try:
                return once()
            except (openai.APIError, BadAnswerError) as error:
                retries = min(most, TIME_OUT_RETRIES) if isinstance(error, openai.APITimeoutError) else most
                if number > retries or not is_transient(error):
                    raise
                doubled = min(self._backoff * 2 ** (number - 1), _LONGEST_BACKOFF)
                asked = retry_after(error)
                wait = doubled + random.uniform(0, self._backoff) if asked is None else asked
                said = "The model server %s (stage %s): try %d of %d in %.0f s."
                _log.warning(said, why(error), stage, number + 1, most + 1, wait)
                if asked is not None or getattr(error, "status_code", 0) == 429:
                    with self._lock:
                        self._paused_until = max(self._paused_until, self._clock() + wait)
            (self._sleep or stop.sleep)(wait)

    def _hide_key(self, text: str) -> str:
        key = self._key.get_secret_value() if self._key else ""
        return text.replace(key, "<key>") if len(key) >= _SHORTEST_SECRET else text


class _InterruptedError(Exception):
    """What a listener raised that would end the thread of all requests."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(cause)
        self.cause = cause


async def _while_heard(work: Coroutine[Any, Any, T], left: Callable[[], float]) -> T:
    """What ``work`` returns or raises. Raises ``asyncio.TimeoutError`` when no time is ``left``, and ``work`` ended."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done() and (seconds := left()) > 0:
            await asyncio.wait([task], timeout=seconds)
        if task.done():
            return task.result()
        raise asyncio.TimeoutError
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _streamed(
    client: openai.AsyncOpenAI, path: str, body: dict[str, Any], listener: Listener, heard: Callable[[], None]
) -> object:
    """The whole of an answer that comes in pieces or not, each told to ``listener`` and ``heard``."""
    import httpx
    import openai

    stream_type = openai.AsyncStream[object]
    async with await client.post(path, body=body, cast_to=object, stream=True, stream_cls=stream_type) as stream:
        if "event-stream" not in stream.response.headers.get("content-type", ""):
            return json.loads(await stream.response.aread())
        try:
            pieces = listener()
            async for event in stream:
                heard()
                pieces.add(event)
                if pieces.goes_round:
                    await stream.close()  # what is left ends, or is an error of the closed connection
            return pieces.answer()
        except (httpx.HTTPError, openai.APIConnectionError):
            if not pieces.goes_round:
                raise
            return pieces.answer()
        except (KeyboardInterrupt, SystemExit) as error:
            raise _InterruptedError(error) from None


def _work(answer: object) -> float:
    """What an answer was to make, in tokens written: eight are read in the time of one. 1 where it does not say."""
    figures = answer.get("usage") if isinstance(answer, dict) else None
    parts = (("completion_tokens", 1), ("prompt_tokens", 1 / 8))
    given = [(figures.get(name), weight) for name, weight in parts] if isinstance(figures, dict) else []
    return sum(number * weight for number, weight in given if isinstance(number, int)) or 1.0


def _as_object(answer: object) -> dict[str, Any]:
    """The JSON object in ``answer``: the client hands over text where the content type is not JSON."""
    if isinstance(answer, str):
        try:
            answer = json.loads(answer)
        except ValueError as error:
            raise BadAnswerError("it is not JSON; is OPENAI_BASE_URL right (it mostly ends in /v1)?") from error
    if not isinstance(answer, dict):
        raise BadAnswerError("it is not a JSON object.")
    if answer.get("error"):
        raise BadAnswerError(f"it says {str(answer['error'])[:_SHOWN]}.")
    return answer


def _checked_key(settings: Settings) -> Any:
    """The key as a ``SecretStr`` without white space around it: it can be sent in a header as it is."""
    if settings.openai_api_key is None:
        return None
    key = settings.openai_api_key.get_secret_value().strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise SettingError("OPENAI_API_KEY has characters that no key has: copy it again.")
    return type(settings.openai_api_key)(key) if key else None


S = TypeVar("S", bound="ServedModel")


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
