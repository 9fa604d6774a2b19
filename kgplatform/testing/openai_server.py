"""A real HTTP server on loopback that speaks the OpenAI protocol and plays scripted answers, faults included."""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, cast

import numpy as np

from kgplatform.models.embed import HashEmbedder
from kgplatform.prompt import Messages
from kgplatform.text import count_tokens

_HIDDEN_HEADERS = frozenset({"authorization", "api-key", "cookie"})
_STREAM_PIECE = 16


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with one answer. Build one with the class methods; ``text`` stands in for the chat's answer.

    In a script of answers it takes the place of one; in ``faults`` it spoils the answer that would come.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    text: str | None = None
    finish_reason: str = "stop"
    usage: bool = True
    choices: bool = True
    content_type: str = "application/json"
    delay: float = 0.0
    hangs: bool = False
    cut: bool = False
    pace: float = 0.0
    endless: str = ""

    @classmethod
    def refuse(cls, status: int, message: str, *, code: str | None = None, param: str | None = None) -> Fault:
        """An error in OpenAI's form, such as 400, 401, 404 or 500."""
        error = {"message": message, "type": "error", "code": code, "param": param}
        return cls(status=status, body=json.dumps({"error": error}))

    @classmethod
    def rate_limit(cls, after: float | None = None, *, as_date: bool = False) -> Fault:
        """429, with ``Retry-After`` in seconds or as a date if ``after`` is given."""
        refusal = cls.refuse(429, "Rate limit reached.", code="rate_limit_exceeded")
        if after is None:
            return refusal
        value = formatdate(time.time() + after, usegmt=True) if as_date else f"{after:g}"
        return replace(refusal, headers={"Retry-After": value})

    @classmethod
    def hang(cls) -> Fault:
        """No answer until the server closes."""
        return cls(hangs=True)

    @classmethod
    def break_off(cls, text: str | None = None) -> Fault:
        """The connection is cut in the middle of the body, or of the stream."""
        return cls(cut=True, text=text)

    @classmethod
    def never_ends(cls, what: str = "body", *, status: int = 200, pace: float = 0.0) -> Fault:
        """A "head", "body" or "stream" that goes on until the client leaves, ``pace`` seconds between its parts."""
        return cls(status=status, endless=what, pace=pace)

    @classmethod
    def malformed(cls, body: str = '{"choices": [{"mess') -> Fault:
        """Status 200 with a body that is not JSON, or not of the right form."""
        return cls(body=body)

    @classmethod
    def no_choices(cls) -> Fault:
        """Status 200 with an empty list of choices (or of vectors)."""
        return cls(choices=False)

    @classmethod
    def length_limit(cls, text: str | None = None) -> Fault:
        """An answer that ends with finish reason ``length``."""
        return cls(finish_reason="length", text=text)

    @classmethod
    def no_usage(cls, text: str | None = None) -> Fault:
        """An answer without usage figures."""
        return cls(usage=False, text=text)

    @classmethod
    def wrong_type(cls, content_type: str = "text/html", text: str | None = None) -> Fault:
        """A good answer that says that it is something else."""
        return cls(content_type=content_type, text=text)

    @classmethod
    def slowly(cls, seconds: float, text: str | None = None) -> Fault:
        """A good answer; where it is streamed, each piece of 16 characters comes ``seconds`` after the one before."""
        return cls(pace=seconds, text=text)

    @classmethod
    def slow(cls, seconds: float, text: str | None = None) -> Fault:
        """A good answer, late; closing the server does not wait for it."""
        return cls(delay=seconds, text=text)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it came. ``headers`` have lower-case names, and no secrets; ``time`` is ``time.monotonic()``."""

    method: str
    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    time: float


ChatScript = Callable[[Messages], "str | Fault"] | Sequence["str | Fault"]
EmbedScript = Callable[[list[str]], Sequence[Sequence[float]]]
FaultScript = Callable[[RecordedRequest], "Fault | None"] | Sequence["Fault | None"]


class OpenAIServer:
    """A context manager: the server runs inside of it at ``base_url``, which ends in ``/v1``.

    ``chat`` gives the text of each answer: a list, in order, or a function of the messages. ``embed`` makes vectors
    (default: ``HashEmbedder``). ``faults`` spoils requests: a list, one entry a request in order, or a function.
    A script at its end, or a function that raises, answers 400 with the reason.

    >>> with OpenAIServer(["Hello."]) as server:
    ...     settings = load_settings(openai_base_url=server.base_url)
    """

    def __init__(
        self,
        chat: ChatScript = (),
        embed: EmbedScript | None = None,
        faults: FaultScript = (),
        *,
        models: Sequence[str] = ("scripted",),
    ) -> None:
        self.requests: list[RecordedRequest] = []
        self._chat = chat
        self._embed = embed or _hashed
        self._faults = faults
        self._models = tuple(models)
        self._played = 0
        self._lock = threading.Lock()
        self._http: _Http | None = None
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        """The address for ``OPENAI_BASE_URL``. Only inside of the context."""
        if self._http is None:
            raise RuntimeError("The server runs only inside of its `with` block.")
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> OpenAIServer:
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._http is not None and self._thread is not None:
            self._http.stop()
            self._thread.join()
        self._http = self._thread = None

    def requests_to(self, path: str) -> list[RecordedRequest]:
        """The requests so far whose path ends with ``path``, such as ``"/embeddings"``."""
        with self._lock:
            return [request for request in self.requests if request.path.endswith(path)]

    def _record(self, request: RecordedRequest) -> Fault:
        """Keep ``request``; its fault, or one that spoils nothing."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        if callable(self._faults):
            return self._faults(request) or Fault()
        return (self._faults[number] if number < len(self._faults) else None) or Fault()

    def _next(self, messages: Messages) -> str | Fault:
        if callable(self._chat):
            return self._chat(messages)
        with self._lock:
            number, self._played = self._played, self._played + 1
        if number >= len(self._chat):
            raise LookupError(f"the script has {len(self._chat)} answers, and request {number + 1} came")
        return self._chat[number]

    def _completion(self, body: dict[str, Any], fault: Fault) -> tuple[Fault, dict[str, Any]]:
        """The answer to a chat request, and the fault that spoils it."""
        messages = cast(Messages, body.get("messages", []))
        answer: str | Fault = fault.text if fault.text is not None else self._next(messages)
        if isinstance(answer, Fault):
            fault, answer = answer, answer.text or ""
        sent = sum(count_tokens(str(message.get("content", ""))) for message in messages)
        message = {"role": "assistant", "content": answer}
        choice = {"index": 0, "message": message, "finish_reason": fault.finish_reason}
        return fault, {
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", ""),
            "choices": [choice] if fault.choices else [],
            **_usage(sent, count_tokens(answer), fault),
        }

    def _embedding(self, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
        given = body.get("input", [])
        texts = [given] if isinstance(given, str) else list(given)
        as_text = body.get("encoding_format") == "base64"
        vectors = [
            base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
            if as_text
            else list(map(float, vector))
            for vector in self._embed(texts)
        ]
        data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        return {
            "object": "list",
            "model": body.get("model", ""),
            "data": data if fault.choices else [],
            **_usage(sum(map(count_tokens, texts)), 0, fault),
        }


class _Http(ThreadingHTTPServer):
    """Threads and connections are kept, so that ``stop`` can end them all, hanging ones included."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, script: OpenAIServer) -> None:
        self.script = script
        self.closing = threading.Event()
        self._open: dict[threading.Thread, socket.socket] = {}
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """One thread a connection, as the class above does, but remembered."""
        thread = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        self._open = {known: at for known, at in self._open.items() if known.is_alive()}
        self._open[thread] = request
        thread.start()

    def stop(self) -> None:
        """No more connections; those that are open are cut, and their threads awaited."""
        self.closing.set()
        self.shutdown()
        self.server_close()
        for thread, connection in self._open.items():
            with suppress(OSError):  # it is closed already
                connection.shutdown(socket.SHUT_RDWR)
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not an error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body waits 40 ms for the client to confirm its headers
    server: _Http

    def do_GET(self) -> None:
        """The list of models."""
        self._answer({})

    def do_POST(self) -> None:
        """A chat completion, or embeddings."""
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(raw)
        except ValueError:
            self._send(Fault.refuse(400, "The body is not JSON."), b"")
            return
        self._answer(body if isinstance(body, dict) else {})

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""

    def _answer(self, body: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower() not in _HIDDEN_HEADERS}
        request = RecordedRequest(self.command, self.path, body, headers, time.monotonic())
        try:
            fault, content = self._content(request)
        except Exception as error:  # noqa: BLE001  # what a test's own function raises reaches the test as a 400
            fault, content = Fault.refuse(400, f"{type(error).__name__}: {error}"), {}
        if fault.hangs or fault.delay:
            self.server.closing.wait(None if fault.hangs else fault.delay)
            if self.server.closing.is_set():
                self.close_connection = True
                return
        if fault.endless:
            self._send_for_ever(fault)
        elif body.get("stream") and fault.body is None and fault.status == 200:
            self._stream(fault, content)
        else:
            self._send(fault, json.dumps(content).encode())

    def _content(self, request: RecordedRequest) -> tuple[Fault, dict[str, Any]]:
        script, path = self.server.script, request.path.partition("?")[0]
        # A client may ask a server about itself at any time: no script counts that.
        fault = Fault() if path.endswith("/props") else script._record(request)
        if fault.hangs or fault.endless or fault.body is not None:
            return fault, {}
        if (request.method, path) == ("POST", "/v1/chat/completions"):
            return script._completion(request.body, fault)
        if (request.method, path) == ("POST", "/v1/embeddings"):
            return fault, script._embedding(request.body, fault)
        if (request.method, path) == ("GET", "/v1/models"):
            models = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in script._models]
            return fault, {"object": "list", "data": models}
        return Fault.refuse(404, f"There is nothing at {request.method} {path}."), {}

    def _send(self, fault: Fault, content: bytes) -> None:
        content = content if fault.body is None else fault.body.encode("utf-8", "surrogatepass")
        self._head(fault, fault.content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if fault.cut else content)
        self.close_connection = self.close_connection or fault.cut

    def _stream(self, fault: Fault, content: dict[str, Any]) -> None:
        """The answer as server-sent events, in HTTP chunks; one that is cut has no last chunk."""
        self._head(fault, "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        events = [*map(json.dumps, _events(content)), "[DONE]"]
        for event in events[: len(events) // 2] if fault.cut else events:
            data = f"data: {event}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.server.closing.wait(fault.pace)
        if fault.cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _send_for_ever(self, fault: Fault) -> None:
        """Parts of 16 characters if there are pauses between them, else of 64 kB."""
        self.close_connection = True
        letters = b"x" * (_STREAM_PIECE if fault.pace else 2**16)
        self._head(fault, "text/event-stream" if fault.endless == "stream" else fault.content_type)
        numbers = count()  # a stream of the same again and again would be broken off

        if fault.endless == "head":
            self.flush_headers()
            self.wfile.write(b"X-Long: ")
        else:
            self.end_headers()
            self.wfile.write(b'{"choices": [{"message": {"content": "' if fault.endless == "body" else b"")
        with suppress(OSError):  # the client has left
            while not self.server.closing.wait(fault.pace):
                part = letters
                if fault.endless == "stream":
                    said = "".join(f"{next(numbers):0{_STREAM_PIECE}}" for _ in range(len(letters) // _STREAM_PIECE))
                    choice = {"index": 0, "delta": {"content": said}, "finish_reason": None}
                    part = f"data: {json.dumps({'choices': [choice]})}\n\n".encode()
                self.wfile.write(part)

    def _head(self, fault: Fault, content_type: str) -> None:
        self.send_response(fault.status)
        self.send_header("Content-Type", content_type)
        for name, value in fault.headers.items():
            self.send_header(name, value)


def _events(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of a streamed completion: text in pieces, the finish reason, the usage figures."""
    start = {name: content[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    events: list[dict[str, Any]] = []
    for choice in content["choices"]:
        text = choice["message"]["content"]
        for at in range(0, len(text), _STREAM_PIECE):
            piece = {"role": "assistant", "content": text[at : at + _STREAM_PIECE]}
            events.append({**start, "choices": [{"index": 0, "delta": piece, "finish_reason": None}]})
        last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        events.append({**start, "choices": [last]})
    if "usage" in content:
        events.append({**start, "choices": [], "usage": content["usage"]})
    return events


def _usage(sent: int, written: int, fault: Fault) -> dict[str, Any]:
    figures = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
    return {"usage": figures} if fault.usage else {}


def _hashed(texts: list[str]) -> Sequence[Sequence[float]]:
    return cast(Sequence[Sequence[float]], HashEmbedder().embed(texts).tolist())
