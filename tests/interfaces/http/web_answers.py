"""What clients of the HTTP interface get, as tests look at it."""

import json
from collections.abc import Iterator
from typing import Any

import httpx

QUESTION = "Whom did Cyrus Field ask about the floor of the Atlantic?"


def error(response: httpx.Response, status: int, kind: str) -> str:
    """The sentence of an error that has the one form, and nothing of a stack trace in it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    (told,) = response.json().values()
    assert {"kind", "message"} <= set(told) <= {"kind", "message", "code", "parameters", "evidence"}
    assert "evidence" not in told or status == 502
    assert told["kind"] == kind
    assert "Traceback" not in response.text
    assert ".py" not in response.text
    return str(told["message"])


def events(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    """The events of a stream, as they come."""
    name = ""
    for line in response.iter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


def wait_for(client: httpx.Client, job: dict[str, Any]) -> dict[str, Any]:
    """The job at its end."""
    with client.stream("GET", f"/api/jobs/{job['id']}/events") as response:
        last = dict(list(events(response))[-1:])
    return dict(last["end"])


def upload(client: httpx.Client, *files: tuple[str, bytes], **fields: str) -> httpx.Response:
    """Send files, read by rules unless ``fields`` say otherwise."""
    sent = [("files", (name, content)) for name, content in files]
    return client.post("/api/documents", files=sent, data={"extractor": "local", **fields})
