"""The explorer: static files of the package, and what a browser may not do with them or with an answer."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request, Response
from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

EXPLORER = Path(__file__).parent.parent / "explorer"
_WITHOUT = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>kgplatform</title>
<h1>kgplatform</h1><p>The explorer is not installed. <a href="/api/openapi.json">What the HTTP interface offers</a></p>
"""
CONTENT_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def add_explorer(app: FastAPI, folder: Path = EXPLORER) -> None:
    """``/`` and ``/static`` of ``app``."""
    files = _Files(directory=folder, check_dir=False)

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        if not (folder / "index.html").is_file():
            return HTMLResponse(_WITHOUT)
        return await files.get_response("index.html", request.scope)

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return Response(status_code=204)

    app.mount("/static", files, name="static")


class _Files(StaticFiles):
    """Files that a browser keeps; each time it asks whether it still has the newest (ETag)."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """See ``StaticFiles``."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


class SafeHeaders:
    """Middleware: every response says what a browser may not do with it."""

    def __init__(self, app: ASGIApp, shared: bool) -> None:
        self._app = app
        # An origin that was allowed reads our answers; without one nobody else embeds them, not even as an image.
        self._headers = _HEADERS | ({} if shared else {"Cross-Origin-Resource-Policy": "same-origin"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)
