"""What goes wrong, as every client is told it: ``{"error": {"kind": "InputError", "message": "One sentence."}}``.

``Reporting`` stands round the application: one line in the log for each request, and for a fault of the platform the
place where it arose. Neither has a question, a token or a text of a document in it.
"""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgplatform.doors.guard import Json, refusal
from kgplatform.errors import InputError, KgError, ModelError, StoppedError, StoreError

log = logging.getLogger("kgplatform.doors.http")

FAULT = "This is a fault of the platform itself. The server's log says where it arose."
_KINDS = {
    400: "InputError",
    404: "NotFoundError",
    405: "MethodError",
    408: "RequestTimeoutError",
    413: "TooLargeError",
    422: "InputError",
}
_STATUS: tuple[tuple[type[KgError], int], ...] = (
    (InputError, 400),
    (ModelError, 502),
    (StoreError, 503),
    (StoppedError, 503),
)


class RefusedError(Exception):
    """A request that is not served: its ``status``, the ``kind`` of the error, and one sentence."""

    def __init__(self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = headers


def not_found(error: InputError) -> RefusedError:
    """404, in the words of ``error``."""
    return RefusedError(404, "NotFoundError", str(error))


def busy(message: str, status: int = 429) -> RefusedError:
    """Too much at once: the client is to come back."""
    return RefusedError(status, "BusyError", message, {"Retry-After": "2"})


def error_of(error: Exception) -> dict[str, str]:
    """The kind and the sentence of ``error``; of what nobody foresaw, no more than that."""
    if isinstance(error, KgError):
        return {"kind": type(error).__name__, "message": str(error)}
    if isinstance(error, RefusedError):
        return {"kind": error.kind, "message": str(error)}
    return {"kind": "Fault", "message": FAULT}


def answer_errors(app: FastAPI) -> None:
    """Have ``app`` tell every error in the one form."""
    app.add_exception_handler(KgError, _of_platform)
    app.add_exception_handler(RefusedError, _of_refusal)
    app.add_exception_handler(RequestValidationError, _of_form)
    app.add_exception_handler(HTTPException, _of_http)


def _of_platform(_: Request, error: Exception) -> Response:
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return Json({"error": error_of(error)}, status)


def _of_refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return Json({"error": error_of(error)}, error.status, error.headers)


def _of_form(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return refusal(422, "InputError", "; ".join(_where_and_what(each) for each in error.errors()[:5]) + ".")


def _of_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = _KINDS.get(error.status_code, "RequestError")
    detail = {404: "There is nothing here. /api/openapi.json lists what there is.", 405: "This cannot be done here."}
    return refusal(error.status_code, kind, detail.get(error.status_code, str(error.detail)), error.headers)


def _where_and_what(fault: Mapping[str, Any]) -> str:
    location: Sequence[Any] = fault["loc"][1:] or fault["loc"]
    return f"{'.'.join(map(str, location))}: {fault['msg']}"


class Reporting:
    """Middleware: a line for each request below ``/api``, and 500 without details for what nobody foresaw."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except ClientDisconnect:
            status = status or 499
        except Exception as error:  # noqa: BLE001 - the last place: no client is told a stack trace, nobody a question
            report_fault(error)
            if not status:
                await refusal(500, "Fault", FAULT)(scope, receive, noted)
        finally:
            if scope["path"].startswith("/api/") and scope["path"] != "/api/health":
                # As it came, percent signs and all: a line stays a line. What stands behind "?" may be a question.
                path = scope.get("raw_path", b"").partition(b"?")[0].decode("ascii", "replace")
                log.info("%s %s %s %.0f ms", scope["method"], path, status, 1000 * (time.perf_counter() - started))


def report_fault(error: BaseException) -> None:
    """One line that says what kind of fault arose where; what it said might be somebody's text."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames[-3:]))
    log.error("a fault of the platform itself: %s at %s", type(error).__name__, where or "an unknown place")
    log.debug("in full", exc_info=error)
