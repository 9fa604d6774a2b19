"""One request to a server that speaks the OpenAI protocol: slots, pauses, retries, and errors in our words.

Chat and embeddings share this. It is the only user of the ``openai`` package, which is imported on the first request
(half a second) and not before.
"""

from __future__ import annotations

import json
import re
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential, wait_random

from kgplatform.errors import ModelError, SettingError
from kgplatform.settings import Settings
from kgplatform.work.stopping import Stop
from kgplatform.work.threads import LoopThread

if TYPE_CHECKING:
    import openai

OPENAI_ADDRESS = "https://api.openai.com/v1"
LONGEST_WAIT = 300.0
"""Seconds: a server that asks for a longer pause than this is not waited for."""
_LONGEST_BACKOFF = 60.0
_SHOWN = 300
_USER = re.compile(r"(?<=://)[^/]*@")
_TOO_LONG = re.compile(r"context.?length|context.?window|context.?size|too long|too many tokens|maximum.{0,20}tokens")


class BadAnswerError(ModelError):
    """The server said 200, and what it sent is not an answer. Worth another try."""


class _Pause:
    """The time before which no thread sends anything: a 429 for one is a 429 for all."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = 0.0
        self._lock = threading.Lock()

    def extend(self, seconds: float) -> None:
        """Nothing is sent for ``seconds`` from now; a longer pause that has begun stays."""
        with self._lock:
            self._until = max(self._until, self._clock() + seconds)

    def wait(self, sleep: Callable[[float], None]) -> None:
        """Return when the pause is over, also when it is extended meanwhile."""
        while (left := self._left()) > 0:
            sleep(left)

    def _left(self) -> float:
        with self._lock:
            return self._until - self._clock()


class _Slots:
    """A fair semaphore: at most ``number`` at once, first come, first served; waiting can be stopped."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: deque[Future[None]] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def one(self, stop: Stop) -> Iterator[None]:
        """Inside of it a slot is taken. Raises ``StoppedError`` where ``stop`` is set before there is one."""
        self._take(stop)
        try:
            yield
        finally:
            self._give_back()

    def _take(self, stop: Stop) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            turn: Future[None] = Future()
            self._waiting.append(turn)
        try:
            stop.result_of(turn)
        except BaseException:  # whatever it is: the turn goes to another, and it is raised
            self._leave(turn)
            raise

    def _leave(self, turn: Future[None]) -> None:
        with self._lock:
            if not turn.done():
                self._waiting.remove(turn)
                return
        self._give_back()

    def _give_back(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set_result(None)
            else:
                self._free += 1


class Wire:
    """Sends requests to one server. At most ``settings.concurrency`` are in progress at once, over all threads.

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
        self.address = _checked_address(settings)
        self._key = _checked_key(settings)
        self._settings = settings
        self._sleep = sleep
        self._pause = _Pause(clock)
        self._backoff = wait_exponential(multiplier=backoff, max=_LONGEST_BACKOFF) + wait_random(0, backoff)
        self._slots = _Slots(settings.concurrency)
        self._blocking: openai.OpenAI | None = None
        self._stoppable: tuple[LoopThread, openai.AsyncOpenAI] | None = None
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
    ) -> Any:
        """``read(answer)`` for the server's answer to ``body``, tried again while there is hope.

        ``before`` runs just before each try, in the slot, and may raise to stop (the budget). ``read`` raises
        ``BadAnswerError`` for an answer that cannot be used. Raises ``ModelError`` that names the stage;
        ``RefusedError`` if the server refuses the request (400, 422), ``StoppedError`` once ``stop`` is set.
        """
        import openai

        retrying = Retrying(
            stop=stop_after_attempt(self._settings.model_retries + 1),
            wait=self._delay,
            retry=retry_if_exception(_is_transient),
            before_sleep=self._pause_all,
            sleep=self._sleep or stop.sleep,
            reraise=True,
        )
        try:
            return retrying(self._post_once, path, body, stop, before, read)
        except BadAnswerError as error:
            raise ModelError(f"The model server's answer in stage {stage} cannot be used: {error}") from error
        except CancelledError as error:
            raise ModelError(f"The connection to the model server was closed in stage {stage}; ask again.") from error
        except openai.APIError as error:
            raise self._translate(error, stage, str(body["model"])) from self._without_key(error)

    def close(self) -> None:
        """Close the connections, and end the thread that they are read on; the next request opens new ones."""
        with self._lock:
            blocking, self._blocking = self._blocking, None
            stoppable, self._stoppable = self._stoppable, None
        if blocking is not None:
            blocking.close()
        if stoppable is not None:
            stoppable[0].close()

    def _post_once(
        self,
        path: str,
        body: dict[str, Any],
        stop: Stop,
        before: Callable[[], None],
        read: Callable[[dict[str, Any]], Any],
    ) -> Any:
        with self._slots.one(stop):
            self._pause.wait(self._sleep or stop.sleep)
            before()
            try:
                answer = self._send(path, body, stop)
            except ValueError as error:  # the client decodes the body: not JSON, or not UTF-8
                raise BadAnswerError("it is not JSON.") from error
        return read(_as_object(answer))

    def _send(self, path: str, body: dict[str, Any], stop: Stop) -> object:
        """The server's answer. A request that can be broken off takes twice the work (a millisecond), so only those
        that somebody may stop are."""
        if not stop.can_be_set:
            return self._open_blocking().post(path, body=body, cast_to=object)
        loop, client = self._open_stoppable()
        return loop.result(client.post(path, body=body, cast_to=object), stop)

    def _open_blocking(self) -> openai.OpenAI:
        import openai

        with self._lock:
            if self._blocking is None:
                self._blocking = openai.OpenAI(**self._options())
            return self._blocking

    def _open_stoppable(self) -> tuple[LoopThread, openai.AsyncOpenAI]:
        import openai

        with self._lock:
            if self._stoppable is None:
                client = openai.AsyncOpenAI(**self._options())
                self._stoppable = LoopThread(client.close), client
                # Those who forget to close it leave no thread behind either.
                weakref.finalize(self, self._stoppable[0].close, wait=False).atexit = False
            return self._stoppable

    def _options(self) -> dict[str, Any]:
        key = self._key.get_secret_value() if self._key else "none"
        return {"api_key": key, "base_url": self.address, "max_retries": 0, "timeout": self._settings.model_timeout}

    def _delay(self, state: RetryCallState) -> float:
        asked = _retry_after(_failure(state))
        return self._backoff(state) if asked is None else asked

    def _pause_all(self, state: RetryCallState) -> None:
        error = _failure(state)
        if state.next_action and (getattr(error, "status_code", 0) == 429 or _retry_after(error) is not None):
            self._pause.extend(state.next_action.sleep)

    def _without_key(self, error: openai.APIError) -> openai.APIError:
        """``error`` itself, less the key if the server's text repeats it."""
        error.message = self._hide_key(error.message)
        error.args = tuple(self._hide_key(arg) if isinstance(arg, str) else arg for arg in error.args)
        error.body = None
        return error

    def _hide_key(self, text: str) -> str:
        key = self._key.get_secret_value() if self._key else ""
        return text.replace(key, "<key>") if key else text

    def _translate(self, error: openai.APIError, stage: str, model: str) -> ModelError:
        status = getattr(error, "status_code", None)
        said = self._hide_key(_server_words(error))
        where = f"The model server at {_USER.sub('', self.address)}"
        if status in (400, 413, 422):
            return _refusal(error, said, f"{where}, stage {stage}", model)
        if status in (401, 403):
            return ModelError(f"{where} refused the key in stage {stage} ({status}): check OPENAI_API_KEY. {said}")
        if status == 404:
            return ModelError(
                f"{where} knows no model {model!r} (stage {stage}, 404): check KGPLATFORM_CHAT_MODEL or "
                f"KGPLATFORM_EMBEDDER, and OPENAI_BASE_URL, which mostly ends in /v1. {said}"
            )
        if error.code == "insufficient_quota":
            return ModelError(f"{where} says that the account has no credit left (stage {stage}). {said}")
        tries = f"{self._settings.model_retries + 1} tries in all" if _is_transient(error) else "not tried again"
        return ModelError(f"{where} failed in stage {stage}, {tries}: {_fault(error, status, said)}")


class RefusedError(ModelError):
    """The server refuses the request (400, 413, 422). ``parameter`` is what it names as the reason, if it does."""

    def __init__(self, message: str, parameter: str | None, *, too_long: bool) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.too_long = too_long


def _refusal(error: openai.APIError, said: str, where: str, model: str) -> RefusedError:
    if error.code == "context_length_exceeded" or _TOO_LONG.search(said.lower()):
        sentence = f"{where}: the prompt is longer than {model} takes; set a smaller KGPLATFORM_PASSAGE_TOKENS. {said}"
        return RefusedError(sentence, None, too_long=True)
    named = next((name for name in ("response_format", "temperature") if name in said), None)
    return RefusedError(f"{where}: it refused the request. {said}", error.param or named, too_long=False)


def _fault(error: openai.APIError, status: int | None, said: str) -> str:
    import openai

    if isinstance(error, openai.APITimeoutError):
        return "no answer in time; a larger KGPLATFORM_MODEL_TIMEOUT may help."
    if isinstance(error, openai.APIConnectionError):
        return f"it cannot be reached, or broke the connection ({error.__cause__}). Is it running?"
    wait = _retry_after(error)
    pause = f", and asks to wait {wait:.0f} s" if wait is not None and wait > LONGEST_WAIT else ""
    return f"it answered {status}{pause}. {said}"


def _is_transient(error: BaseException) -> bool:
    import openai

    if isinstance(error, (BadAnswerError, openai.APIConnectionError)):
        return True
    if not isinstance(error, openai.APIStatusError) or error.code == "insufficient_quota":
        return False
    waits_too_long = (_retry_after(error) or 0.0) > LONGEST_WAIT
    return not waits_too_long and (error.status_code in (408, 429) or error.status_code >= 500)


def _failure(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _retry_after(error: BaseException | None) -> float | None:
    """The seconds that the server asks to wait; a date is read by the server's own clock, if it tells it."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        return max(0.0, float(text)) if float(text) < float("inf") else None
    except ValueError:
        return _until_date(text, headers.get("date"))


def _until_date(text: str, now: str | None) -> float | None:
    try:
        start = parsedate_to_datetime(now).timestamp() if now else time.time()
        return max(0.0, parsedate_to_datetime(text).timestamp() - start)
    except (ValueError, TypeError):
        return None


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


def _server_words(error: openai.APIError) -> str:
    body = error.body
    words = body.get("message") if isinstance(body, dict) else body if isinstance(body, str) else None
    text = " ".join(str(words or "").split())
    return f"It says: {text[:_SHOWN]}" if text else ""


def _checked_address(settings: Settings) -> str:
    address = (settings.openai_base_url or OPENAI_ADDRESS).strip().rstrip("/")
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise SettingError("OPENAI_BASE_URL is not an address; an example is http://127.0.0.1:8000/v1.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingError("OPENAI_BASE_URL must start with http:// or https://, as in http://127.0.0.1:8000/v1.")
    return address


def _checked_key(settings: Settings) -> Any:
    """The key as a ``SecretStr`` without white space around it: it can be sent in a header as it is."""
    if settings.openai_api_key is None:
        return None
    key = settings.openai_api_key.get_secret_value().strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise SettingError("OPENAI_API_KEY has characters that no key has: copy it again.")
    return type(settings.openai_api_key)(key) if key else None
