"""What the endpoints share: the graph, what is under way on it, and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from kgplatform.client import KnowledgeGraph
from kgplatform.web.faults import RefusedError
from kgplatform.web.jobs import Jobs
from kgplatform.web.limits import Limits
from kgplatform.web.room import Room
from kgplatform.web.running import Running
from kgplatform.web.uploads import Uploads


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one application. ``read_only``: nothing may change the graph."""

    graph: KnowledgeGraph
    limits: Limits
    read_only: bool
    token_needed: bool
    running: Running
    jobs: Jobs
    uploads: Uploads
    room: Room

    def refuse_change(self) -> None:
        """Raise ``RefusedError`` (403) where nothing may be changed."""
        if self.read_only:
            raise RefusedError(403, "ReadOnlyError", "This server only reads: it was started with --read-only.")


def _parts_of(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


Responses = dict[int | str, dict[str, Any]]
"""What an endpoint may answer, by status, as FastAPI takes it."""

Served = Annotated[Parts, Depends(_parts_of)]
"""The parts, as an argument of an endpoint."""


def says(example: Any, description: str = "As shown.", status: int = 200) -> Responses:
    """How OpenAPI is to describe a response in JSON: by an ``example``."""
    return {status: {"description": description, "content": {"application/json": {"example": example}}}}


def streams(example: str) -> dict[str, Any]:
    """The content of a response that is a stream of events."""
    return {"text/event-stream": {"example": example}}


def errors(*statuses: int) -> Responses:
    """How OpenAPI is to describe the errors that an endpoint answers, beside those that all of them have."""
    return {status: {"description": _MEANINGS[status], "content": _content(status)} for status in statuses}


_MEANINGS: Mapping[int, str] = {
    400: "What was given cannot be used.",
    401: "The token is missing or wrong.",
    403: "The request comes from elsewhere, or this server only reads.",
    404: "There is nothing with this id.",
    408: "Nothing more of the request came for too long.",
    409: "The graph is being written to.",
    413: "Too large.",
    422: "The request has not the right form.",
    429: "Too much at once; Retry-After says when to come back.",
    502: "The language model failed.",
    503: "The database failed, or the server is closing.",
    507: "The server's disk is full, or cannot be written to.",
}
_KINDS = {
    401: "TokenError",
    403: "OriginError",
    404: "NotFoundError",
    408: "RequestTimeoutError",
    409: "BusyError",
    413: "TooLargeError",
    429: "BusyError",
    502: "ModelError",
    503: "StoreError",
    507: "StorageError",
}


def _content(status: int) -> dict[str, Any]:
    error = {"kind": _KINDS.get(status, "InputError"), "message": _MEANINGS[status]}
    schema = {"$ref": "#/components/schemas/ErrorBody"}
    return {"application/json": {"schema": schema, "example": {"error": error}}}
