"""LongAgent with a simulated team behind a real server: what the discussion gets right."""

from __future__ import annotations

from pathlib import Path

from corpora import put, put_jsonl
from simulated_team import SimulatedTeam, told

from kgplatform.client import KnowledgeGraph
from kgplatform.evaluate.needles import NeedleTask, grid, single_needle
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.records import Answer
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

TASKS = [*grid(single_needle, (1_000, 4_000), (0, 0.5, 1), seed=1), single_needle(16_000, 0.5, 1)]
SMALL = 400
"""Tokens of a member's part, so that a short text needs many members."""


def is_right(answer: Answer, task: NeedleTask) -> bool:
    """The answer says it, and cites words of the text in which it stands."""
    right = task.answers[0]
    return right in (answer.text or "") and any(right in task.text[each.start : each.end] for each in answer.citations)


def merge_calls(answer: Answer) -> int:
    return answer.counts.get("calls.merge", 0)


def test_with_conflict_resolution_every_needle_is_found_and_without_it_fewer(store: Store, tmp_path: Path) -> None:
    files = put(tmp_path / "texts", {f"{each.id}.txt": each.text for each in TASKS})
    nothing = put_jsonl(tmp_path / "nothing.jsonl", [{"document": each.name} for each in files])
    with OpenAIServer(SimulatedTeam(told(*TASKS), invents=0.3, seed=2)) as server:
        settings = load_settings(home=tmp_path / "home", embedder="hash:64", openai_base_url=server.base_url)
        graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(64))
        graph.ingest(files, recorded=nothing)
        found: dict[str, list[Answer]] = {"group": [], "once": [], "off": []}
        for way, answers in found.items():
            for each in TASKS:
                options = {"task": each.kind, "documents": [each.id], "member_tokens": SMALL, "conflict": way}
                answers.append(graph.ask(each.question, "longagent", **options))
    right = {way: [is_right(*pair) for pair in zip(answers, TASKS, strict=True)] for way, answers in found.items()}
    assert right["group"] == right["once"] == [True] * len(TASKS)
    assert sum(right["off"]) < len(TASKS)
    assert sum(map(merge_calls, found["off"])) == 0 < sum(map(merge_calls, found["group"]))
