"""The description of the interface: errors in words, and for each endpoint an example that it really answered.

``examples.json`` holds, by endpoint, what was sent and what came back over the sample corpus. ``make examples`` records
it anew, and a test compares it with the answers of today.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastapi import FastAPI

EXAMPLES = Path(__file__).with_name("examples.json")

Responses = dict[int | str, dict[str, Any]]
"""What an endpoint may answer, by status, as FastAPI takes it."""

STREAM = "text/event-stream"
STREAMED: Responses = {200: {"description": "Server-sent events.", "content": {STREAM: {}}}}
"""Of an endpoint that answers events, or may."""

_ERRORS: dict[int, tuple[str, str]] = {
    400: ("InputError", "What was given cannot be used."),
    401: ("TokenError", "The token is missing or wrong."),
    403: ("OriginError", "The request comes from elsewhere, or this server only reads."),
    404: ("NotFoundError", "There is nothing with this id."),
    408: ("RequestTimeoutError", "Nothing more of the request came for too long."),
    409: ("BusyError", "The graph is being written to."),
    413: ("TooLargeError", "Too large."),
    422: ("InputError", "The request has not the right form."),
    429: ("BusyError", "Too much at once; Retry-After says when to come back."),
    502: ("ModelError", "The language model failed."),
    503: ("StoreError", "The database failed, or the server is closing."),
    507: ("StorageError", "The server's disk is full, or cannot be written to."),
}


def errors(*statuses: int) -> Responses:
    """How OpenAPI is to describe the errors that an endpoint answers, beside those that all of them have."""
    return {status: _described(*_ERRORS[status]) for status in statuses}


def _described(kind: str, meaning: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/ErrorBody"}
    example = {"error": {"kind": kind, "message": meaning}}
    return {"description": meaning, "content": {"application/json": {"schema": schema, "example": example}}}


def add_examples(app: FastAPI) -> None:
    """Have the description of ``app`` show what stands in ``examples.json``."""
    without = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            description = without()
            for endpoint, example in json.loads(EXAMPLES.read_text("utf-8")).items():
                method, _, path = endpoint.partition(" ")
                _add(description["paths"][path][method.lower()], example)
        return without()

    app.openapi = openapi  # type: ignore[method-assign]  # the way that FastAPI documents


def _add(operation: dict[str, Any], example: dict[str, Any]) -> None:
    """``example``: ``sent``, and by media type what was ``answered``."""
    if "sent" in example:
        (content,) = operation["requestBody"]["content"].values()
        content["example"] = example["sent"]
    status = next(code for code in operation["responses"] if code.startswith("2"))
    contents = operation["responses"][status]["content"]
    for media_type, answer in example["answered"].items():
        contents.setdefault(media_type, {})["example"] = answer
