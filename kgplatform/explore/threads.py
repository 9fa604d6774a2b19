"""Threads of questions and answers: each turn is a saved run, and remembers the thread and its number in it.

    (:Run {thread, turn, asked})-[:FOLLOWS]->(:Run {thread, turn, asked})

A thread is there once its first turn is kept, and is gone with its runs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from kgplatform.errors import InputError
from kgplatform.explore.runs import keep_run, kept_statements
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Answer, Citation, Statement
from kgplatform.text.locations import cited


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer. ``asked``: the question as it was put; ``question``: as a reader was asked it.
    ``failed``: the model failed, as ``note`` says, so that there is no answer.

    ``number`` counts from 1. ``run``: the id of the saved run. ``citations``: number 1 first, None for those whose
    document is no longer in the graph. ``at``: when, in ISO 8601. ``statements``, ``sufficient``: as of an ``Answer``.
    """

    number: int
    asked: str
    question: str
    reader: str
    text: str | None
    note: str
    failed: bool
    citations: tuple[Citation | None, ...]
    run: str
    at: str
    statements: tuple[Statement, ...] = ()
    sufficient: bool | None = None


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A thread: its first question, how many turns it has, and when the last one was (ISO 8601)."""

    id: str
    question: str
    turns: int
    at: str


def keep_turn(
    store: Store, thread: str, asked: str, answer: Answer, model: str | None, seconds: float, *, failed: bool = False
) -> Answer:
    """Save ``answer`` as the next turn of ``thread``; returns it with the id of its run."""
    store.define("neo4j/schema/index_run_thread")  # the graph may be older than the index
    return keep_run(store, answer, model, seconds, {"thread": thread, "asked": asked, "failed": failed})


def turns_of(store: Store, thread: str) -> tuple[Turn, ...]:
    """The turns of a thread in order; empty for one that is not there."""
    return tuple(map(_turn, store.read("explore/thread", id=thread)))


def threads(store: Store, limit: int) -> tuple[ThreadInfo, ...]:
    """The last threads, that which was asked in last first."""
    return tuple(ThreadInfo(**row) for row in store.read("explore/threads", limit=limit))


def remove_thread(store: Store, thread: str) -> None:
    """Remove a thread with its runs and their steps. Raises ``InputError`` if there is none."""
    check_thread(store, thread)
    store.write(("explore/remove_thread", {"id": thread}))


def check_thread(store: Store, thread: str) -> tuple[Turn, ...]:
    """The turns of a thread. Raises ``InputError`` if there is none."""
    found = turns_of(store, thread)
    if not found:
        raise InputError(f"There is no thread {thread!r} in the graph.")
    return found


def _turn(row: Row) -> Turn:
    known = {number: cited(place) for number, place in row["citations"]}
    citations = tuple(known.get(number) for number in range(1, max(known, default=0) + 1))
    values: dict[str, Any] = {field.name: row[field.name] for field in fields(Turn)}
    return Turn(**kept_statements(values) | {"citations": citations})
