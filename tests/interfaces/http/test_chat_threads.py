"""Threads over HTTP: follow-ups, their steps and text as they come, and what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from graph_state import snapshot
from web_answers import error, events
from web_server import client_of

from kgplatform.client import KnowledgeGraph

pytest_plugins = ["sample_server"]

CAPTAIN = "Who was the captain of the Great Eastern?"
FOLLOW_UP = "Which cable did he lay?"


@pytest.fixture
def thread(client: httpx.Client) -> Iterator[dict[str, Any]]:
    """The answer to the first question of a thread, which is removed in the end."""
    first = client.post("/api/threads", json={"question": CAPTAIN}).json()
    yield first
    client.delete(f"/api/threads/{first['thread']}")


def test_a_follow_up(client: httpx.Client, thread: dict[str, Any]) -> None:
    assert (thread["asked"], thread["question"], thread["note"]) == (CAPTAIN, CAPTAIN, "")
    body = {"question": FOLLOW_UP, "reader": "retrieve", "options": {"top_k": 5}}
    with client.stream(
        "POST", f"/api/threads/{thread['thread']}", json=body, headers={"Accept": "text/event-stream"}
    ) as response:
        told = list(events(response))
    answer = told[-1][1]
    assert {name for name, _ in told} == {"step", "text", "answer"}
    assert (answer["asked"], answer["question"]) == (FOLLOW_UP, "Which cable did James Anderson lay?")
    assert answer["note"].startswith("Asked as: Which cable did James Anderson lay?")
    steps = [data["step"]["name"] for name, data in told if name == "step"]
    assert steps == [step["name"] for step in answer["trace"]]
    assert steps[0] == "stand alone"
    assert answer["usage"]["calls"] + answer["usage"]["cached_calls"] == 2
    turns = client.get(f"/api/threads/{thread['thread']}").json()["turns"]
    assert [(turn["number"], turn["asked"], turn["text"]) for turn in turns] == [
        (1, CAPTAIN, thread["text"]),
        (2, FOLLOW_UP, answer["text"]),
    ]
    assert turns[0]["citations"] == thread["citations"] != []
    listed = client.get("/api/threads").json()["threads"]
    assert [(each["id"], each["question"], each["turns"]) for each in listed] == [(thread["thread"], CAPTAIN, 2)]


def test_a_follow_up_that_is_kept_nowhere(client: httpx.Client, sample: KnowledgeGraph) -> None:
    before = snapshot(sample.store)
    first = client.post("/api/ask", json={"question": CAPTAIN}).json()
    earlier = [{"question": first["question"], "answer": first["text"]}]
    answer = client.post("/api/ask", json={"question": FOLLOW_UP, "earlier": earlier}).json()
    assert answer["question"] == "Which cable did James Anderson lay?"
    assert snapshot(sample.store) == before
    error(client.post("/api/ask", json={"question": "Why?", "earlier": earlier * 51}), 422, "InputError")


def test_what_is_refused(client: httpx.Client, sample: KnowledgeGraph, thread: dict[str, Any]) -> None:
    """A server that only reads keeps no thread."""
    at = f"/api/threads/{thread['thread']}"
    error(client.delete("/api/threads/nowhere"), 404, "NotFoundError")
    for headers in ({}, {"Accept": "text/event-stream"}):
        error(client.post("/api/threads/nowhere", json={"question": "Why?"}, headers=headers), 404, "NotFoundError")
        wrong = {"question": "Why?", "reader": "sage"}
        error(client.post(at, json=wrong, headers=headers), 400, "InputError")
    before = snapshot(sample.store)
    with client_of(sample, read_only=True) as reading:
        assert reading.get(at).status_code == 200
        error(reading.post("/api/threads", json={"question": CAPTAIN}), 403, "ReadOnlyError")
        error(reading.post(at, json={"question": FOLLOW_UP}), 403, "ReadOnlyError")
        error(reading.delete(at), 403, "ReadOnlyError")
    assert snapshot(sample.store) == before
