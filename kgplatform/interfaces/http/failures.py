"""Errors as clients get them: ``{"error": {"kind": "InputError", "message": "One sentence."}}``.

``Reporting`` stands round the application: it logs one line for each request, and for an internal error where it arose.
No question, token or text of a document is logged.
"""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgplatform.errors import InputError, KgError, ModelError, StoppedError, StoreError
from kgplatform.interfaces.web_server import API, Json, refusal

log = logging.getLogger("kgplatform.interfaces.http")

Responses = dict[int | str, dict[str, Any]]
"""What an endpoint may answer, by status, as FastAPI takes it."""

FAULT = "Internal error. See the server's log."
_ERRORS: dict[int, tuple[str, str]] = {
    400: ("InputError", "The input cannot be used."),
    401: ("TokenError", "The token is missing or wrong."),
    403: ("OriginError", "The request comes from another site, or this server is read-only."),
    404: ("NotFoundError", "Nothing has this id."),
    405: ("MethodError", "This address does not support that method."),
    408: ("RequestTimeoutError", "The request stalled before it was complete."),
    409: ("BusyError", "A job is writing to the graph."),
    413: ("TooLargeError", "The request is too large."),
    422: ("InputError", "A field is missing, unknown or of the wrong type."),
    429: ("BusyError", "Too many requests at once; Retry-After gives the seconds to wait."),
    502: ("ModelError", "The language model failed."),
    503: ("StoreError", "The database failed, or the server is shutting down."),
    507: ("StorageError", "The server's disk is full or cannot be written to."),
}
"""The kind of an error and what it means, by status."""
_STATUS: tuple[tuple[type[KgError], int], ...] = (
    (InputError, 400),
    (ModelError, 502),
    (StoreError, 503),
    (StoppedError, 503),
)


class HttpRequestError(Exception):
    """A request that is refused: its ``status``, the ``kind`` of the error, and one sentence."""

    coded: Mapping[str, Any] = {}

    def __init__(self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = headers


def not_found(error: InputError) -> HttpRequestError:
    """404, in the words of ``error``, and with its code."""
    found = HttpRequestError(404, "NotFoundError", str(error))
    found.coded = _code_of(error)
    return found


def busy(message: str, status: int = 429) -> HttpRequestError:
    """Too much at once: the client should try again."""
    return HttpRequestError(status, "BusyError", message, {"Retry-After": "2"})


def error_of(error: Exception) -> dict[str, Any]:
    """The kind and the sentence of ``error``, with its code if it has one. An unforeseen one is only called internal.
    With ``evidence`` where a reader failed that had found some."""
    if isinstance(error, ModelError) and error.evidence is not None:
        return {"kind": type(error).__name__, "message": str(error), "evidence": error.evidence}
    if isinstance(error, KgError):
        return {"kind": type(error).__name__, "message": str(error), **_code_of(error)}
    if isinstance(error, HttpRequestError):
        return {"kind": error.kind, "message": str(error), **error.coded}
    return {"kind": "Fault", "message": FAULT}


def _code_of(error: KgError) -> dict[str, Any]:
    """``code`` and ``parameters``, for clients that say it in their own words; nothing where the error has no code."""
    return {"code": error.code.name.lower(), "parameters": dict(error.parameters)} if error.code else {}


def errors(*statuses: int) -> Responses:
    """The errors that an endpoint may answer, as OpenAPI describes them."""
    schema = {"$ref": "#/components/schemas/ErrorBody"}
    described: Responses = {}
    for status in statuses:
        kind, meaning = _ERRORS[status]
        example = {"error": {"kind": kind, "message": meaning}}
        content = {"application/json": {"schema": schema, "example": example}}
        described[status] = {"description": meaning, "content": content}
    return described


def _of_ours(_: Request, error: Exception) -> Response:
    if isinstance(error, HttpRequestError):
        return Json({"error": error_of(error)}, error.status, error.headers)
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return Json({"error": error_of(error)}, status)


def _of_form(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    says_json = kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
    if any(tuple(each["loc"]) == ("body",) for each in error.errors()) and not says_json:
        return refusal(422, "InputError", "Send the body as JSON, with the header `Content-Type: application/json`.")
    return refusal(422, "InputError", "; ".join(where_and_what(each) for each in error.errors()[:5]) + ".")


def _of_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind, meaning = _ERRORS.get(error.status_code, ("RequestError", ""))
    said = {404: "There is nothing at this address. /api/openapi.json lists all endpoints.", 405: meaning}
    return refusal(error.status_code, kind, said.get(error.status_code, str(error.detail)), error.headers)


HANDLERS: dict[int | type[Exception], Any] = {  # FastAPI's own type has only coroutines; it takes functions too
    KgError: _of_ours,
    HttpRequestError: _of_ours,
    RequestValidationError: _of_form,
    HTTPException: _of_http,
}
"""What answers every error in this form."""


def where_and_what(fault: Mapping[str, Any]) -> str:
    """A fault that pydantic found, with the name of its field."""
    location: Sequence[Any] = fault["loc"][1:] or fault["loc"]
    return f"{'.'.join(map(str, location))}: {fault['msg']}"


@dataclass(frozen=True, slots=True, eq=False)
class Reporting:
    """Middleware: a line in the log for each request to the API, and 500 without details for unforeseen errors."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except ClientDisconnect:
            status = status or 499
        except Exception as error:  # noqa: BLE001 - the last place: no client gets a traceback, no log a question
            report_fault(error)
            if not status:
                await refusal(500, "Fault", FAULT)(scope, receive, noted)
        finally:
            if scope["path"].startswith(API) and scope["path"] != "/api/health":
                # Still percent-encoded, so that a line stays a line, and without the query, which may be a question.
                path = scope.get("raw_path", b"").partition(b"?")[0].decode("ascii", "replace")
                log.info("%s %s %s %.0f ms", scope["method"], path, status, 1000 * (time.perf_counter() - started))


def report_fault(error: BaseException) -> None:
    """Log the kind of an unforeseen error and where it arose; its message may quote somebody's text."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames[-3:]))
    log.error("internal error: %s at %s", type(error).__name__, where or "an unknown place")
    log.debug("in full", exc_info=error)
