"""LongAgent with a simulated team behind a real server: what the discussion gets right, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import wipe
from corpora import put, put_jsonl
from simulated_team import Knows, SimulatedTeam, finds_number, finds_value, told

from kgplatform.client import KnowledgeGraph
from kgplatform.evaluate.needles import NeedleTask, grid, hidden_number, key_value, pass_key, single_needle
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.records import Answer
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

MEMBER_TOKENS = 400
"""Less than by default, so that a short text needs many members."""

SINGLE = [*grid(single_needle, (1_000, 4_000), (0, 0.5, 1), seed=1), single_needle(16_000, 0.5, 1)]
RETRIEVAL: list[tuple[NeedleTask, Knows]] = [
    (pass_key(2_000, 0.7, 1), finds_number),
    (hidden_number(2_000, 0.2, 1), finds_number),
    (key_value(2_000, 0.9, 1), finds_value),
]
ALL = [*SINGLE, *(task for task, _ in RETRIEVAL)]


@pytest.fixture(scope="module")
def store(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A graph of all the tasks' texts, each a document of its own, with nothing extracted; it is only read."""
    folder = tmp_path_factory.mktemp("tasks")
    files = put(folder / "texts", {f"{each.id}.txt": each.text for each in ALL})
    nothing = put_jsonl(folder / "nothing.jsonl", [{"document": each.name} for each in files])
    with Store(neo4j_server) as store:
        wipe(store)
        graph = KnowledgeGraph(
            store, load_settings(home=folder / "home", embedder="hash:64"), embedder=HashEmbedder(64)
        )
        graph.ingest(files, recorded=nothing)
        yield store


@contextmanager
def led(store: Store, team: SimulatedTeam, home: Path) -> Iterator[KnowledgeGraph]:
    """The graph with ``team`` as its language model."""
    with OpenAIServer(team) as server:
        settings = load_settings(home=home, embedder="hash:64", openai_base_url=server.base_url)
        yield KnowledgeGraph(store, settings, embedder=HashEmbedder(64))


def ask(graph: KnowledgeGraph, task: NeedleTask, **options: object) -> Answer:
    return graph.ask(
        task.question, "longagent", task=task.kind, documents=[task.id], member_tokens=MEMBER_TOKENS, **options
    )


def is_right(answer: Answer, task: NeedleTask) -> bool:
    """The answer says it, and cites words of the text in which it stands."""
    right = task.answers[0]
    return right in (answer.text or "") and any(right in task.text[each.start : each.end] for each in answer.citations)


def merge_calls(answer: Answer) -> int:
    return answer.counts.get("calls.merge", 0)


def test_with_conflict_resolution_every_needle_is_found_and_without_it_fewer(store: Store, tmp_path: Path) -> None:
    with led(store, SimulatedTeam(told(*SINGLE), invents=0.3, seed=2), tmp_path / "home") as graph:
        found = {way: [ask(graph, task, conflict=way) for task in SINGLE] for way in ("group", "once", "off")}
    right = {way: [is_right(*pair) for pair in zip(answers, SINGLE, strict=True)] for way, answers in found.items()}
    assert right["group"] == right["once"] == [True] * len(SINGLE)
    assert sum(right["off"]) < len(SINGLE)
    assert sum(map(merge_calls, found["off"])) == 0 < sum(map(merge_calls, found["group"]))


@pytest.mark.parametrize(("task", "knows"), RETRIEVAL, ids=[task.kind for task, _ in RETRIEVAL])
def test_keys_numbers_and_values_are_found(store: Store, tmp_path: Path, task: NeedleTask, knows: Knows) -> None:
    with led(store, SimulatedTeam(knows, invents=0.5, seed=1), tmp_path / "home") as graph:
        answer = ask(graph, task)
    assert is_right(answer, task)
    assert merge_calls(answer) > 0
