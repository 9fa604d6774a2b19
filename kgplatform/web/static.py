"""The explorer: static files of the package. A browser asks each time whether it still has the newest (ETag)."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request, Response
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

EXPLORER = Path(__file__).parent.parent / "explorer"
_WITHOUT = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>kgplatform</title>
<h1>kgplatform</h1><p>The explorer is not installed. <a href="/api/openapi.json">What the HTTP interface offers</a></p>
"""


class _Files(StaticFiles):
    """Files that a browser keeps, and asks for again before it uses them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """See ``StaticFiles``."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


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
