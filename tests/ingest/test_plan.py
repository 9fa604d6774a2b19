"""What an ingest would do: compared with the graph, and nothing written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from corpora import put
from graph_state import snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.bounded import bounded_calls
from kgplatform.concurrency.stopping import NEVER
from kgplatform.errors import DocumentError
from kgplatform.ingest.compare import Compared, Group, compare
from kgplatform.records import Passage

LONG = "It was a long day at sea. " * 60


def plan_of(kg: KnowledgeGraph, *paths: Path) -> list[Group]:
    before = snapshot(kg.store)
    with bounded_calls(kg.settings, NEVER) as calls:
        groups = list(compare(kg.store, paths, kg.settings, calls))
    assert snapshot(kg.store) == before
    return groups


def documents(groups: list[Group]) -> list[Compared]:
    return [each for group in groups for each in group.documents]


def gone(groups: list[Group]) -> dict[str, list[str]]:
    return {id: passages for group in groups for id, passages in group.gone.items()}


def pending(groups: list[Group]) -> list[Passage]:
    return [passage for each in documents(groups) for passage in each.passages if passage.id not in each.done]


def numbers(groups: list[Group]) -> dict[str, int]:
    found = documents(groups)
    return {
        **dict.fromkeys(("added", "changed", "unchanged"), 0),
        **Counter(each.verdict for each in found),
        "gone": len(gone(groups)),
        "stale": sum(len(each.stale) for each in found),
        "pending": len(pending(groups)),
        "done": sum(len(each.done) for each in found),
    }


def test_from_nothing_to_done_to_changed(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = put(tmp_path, {"a.txt": "Ada met Ben.", "b.txt": LONG, "c.txt": ""})
    plan = plan_of(kg, tmp_path)
    assert [each.path for group in plan for each in group.skipped] == [str(files[2])]
    assert [(each.document.source, len(each.passages)) for each in documents(plan)] == [
        (files[0].as_uri(), 1),
        (files[1].as_uri(), 2),
    ]
    assert numbers(plan) == {
        "added": 2, "changed": 0, "unchanged": 0, "gone": 0, "stale": 0, "pending": 3, "done": 0
    }  # fmt: skip
    kg.ingest(tmp_path, extractor="local")
    assert numbers(plan_of(kg, tmp_path)) == {
        "added": 0, "changed": 0, "unchanged": 2, "gone": 0, "stale": 0, "pending": 0, "done": 3
    }  # fmt: skip
    files[1].write_text(f"{LONG}\nAnd then it ended.")
    assert numbers(plan_of(kg, tmp_path)) == {
        "added": 0, "changed": 1, "unchanged": 1, "gone": 0, "stale": 2, "pending": 2, "done": 1
    }  # fmt: skip


def test_items_that_are_gone_and_files_that_are_elsewhere(kg: KnowledgeGraph, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.json"
    items = [{"title": title, "text": f"{title} is here."} for title in ("One", "Two", "Three")]
    corpus.write_text(json.dumps(items))
    other = put(tmp_path, {"other.txt": "Ada met Ben."})
    kg.ingest([corpus, *other], extractor="local")
    corpus.write_text(json.dumps(items[1:]))
    plan = plan_of(kg, corpus)
    assert (numbers(plan)["unchanged"], [len(passages) for passages in gone(plan).values()]) == (2, [1])
    moved = tmp_path / "elsewhere" / "other.txt"
    moved.parent.mkdir()
    other[0].rename(moved)
    plan = plan_of(kg, moved)
    assert (numbers(plan)["added"], gone(plan)) == (1, {}), "only `remove` takes away what no longer is where it was"


def test_failed_passages_are_pending(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = put(tmp_path, {"b.txt": LONG})
    kg.ingest(files, extractor="local")
    kg.cypher("MATCH (c:Chunk {index: 1}) SET c.state = 'failed'", write=True)
    plan = plan_of(kg, *files)
    assert [passage.index for passage in pending(plan)] == [1]
    assert (numbers(plan)["unchanged"], numbers(plan)["stale"]) == (1, 0)


def test_a_path_that_does_not_exist(kg: KnowledgeGraph, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no such file or folder"):
        plan_of(kg, tmp_path / "nothing")
