"""What an ingest would do: compared with the graph, and nothing written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import put
from graph_state import snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import DocumentError
from kgplatform.ingest.pipeline import IngestPlan, make_plan

LONG = "It was a long day at sea. " * 60


def plan_of(kg: KnowledgeGraph, *paths: Path) -> IngestPlan:
    before = snapshot(kg.store)
    plan = make_plan(kg.store, paths, 400)
    assert snapshot(kg.store) == before
    return plan


def numbers(plan: IngestPlan) -> dict[str, Any]:
    parts = {
        "added": plan.added,
        "changed": plan.changed,
        "unchanged": plan.unchanged,
        "gone": len(plan.gone_documents),
    }
    lists = {"written": len(plan.written), "stale": len(plan.stale_passages), "pending": len(plan.pending)}
    return {**parts, **lists, "done": len(plan.done)}


def test_from_nothing_to_done_to_changed(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = put(tmp_path, {"a.txt": "Ada met Ben.", "b.txt": LONG, "c.txt": ""})
    plan = plan_of(kg, tmp_path)
    assert [each.path for each in plan.skipped] == [str(files[2])]
    assert [document.source for _, document in plan.passages] == [files[0].as_uri(), *[files[1].as_uri()] * 2]
    assert numbers(plan) == {
        "added": 2, "changed": 0, "unchanged": 0, "gone": 0, "written": 2, "stale": 0, "pending": 3, "done": 0
    }  # fmt: skip
    kg.ingest(tmp_path, extractor="local")
    assert numbers(plan_of(kg, tmp_path)) == {
        "added": 0, "changed": 0, "unchanged": 2, "gone": 0, "written": 0, "stale": 0, "pending": 0, "done": 3
    }  # fmt: skip
    files[1].write_text(f"{LONG}\nAnd then it ended.")
    assert numbers(plan_of(kg, tmp_path)) == {
        "added": 0, "changed": 1, "unchanged": 1, "gone": 0, "written": 1, "stale": 2, "pending": 2, "done": 1
    }  # fmt: skip


def test_items_that_are_gone_and_files_that_are_elsewhere(kg: KnowledgeGraph, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.json"
    items = [{"title": title, "text": f"{title} is here."} for title in ("One", "Two", "Three")]
    corpus.write_text(json.dumps(items))
    other = put(tmp_path, {"other.txt": "Ada met Ben."})
    kg.ingest([corpus, *other], extractor="local")
    corpus.write_text(json.dumps(items[1:]))
    plan = plan_of(kg, corpus)
    assert (plan.unchanged, len(plan.gone_documents), len(plan.stale_passages)) == (2, 1, 1)
    moved = tmp_path / "elsewhere" / "other.txt"
    moved.parent.mkdir()
    other[0].rename(moved)
    plan = plan_of(kg, moved)
    assert (plan.added, plan.gone_documents) == (1, []), "only `remove` takes away what no longer is where it was"


def test_failed_passages_are_pending(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = put(tmp_path, {"b.txt": LONG})
    kg.ingest(files, extractor="local")
    kg.cypher("MATCH (c:Chunk {index: 1}) SET c.state = 'failed'", write=True)
    plan = plan_of(kg, *files)
    assert [passage.index for passage, _ in plan.pending] == [1]
    assert (plan.unchanged, plan.stale_passages, plan.written) == (1, [], [])


def test_a_path_that_does_not_exist(kg: KnowledgeGraph, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no such file or folder"):
        plan_of(kg, tmp_path / "nothing")
