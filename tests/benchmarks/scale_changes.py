"""Changes of a large graph: one document more, and the tree afterwards, which should not cost what the graph costs."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from invented import Invented
from measure import percentile
from scale_graphs import Grown

from kgplatform import KnowledgeGraph
from kgplatform.ingest.cut import cut_document
from kgplatform.records import Document

ADDED_PASSAGES = 20
ADDED_LIMIT, ADDED_RATIO_LIMIT = 2, 1.5
TREE_LIMIT, UPDATE_LIMIT, TREE_ENTITIES = 120, 5, 300_000
_ADDITIONS = 3


@dataclass(frozen=True, slots=True)
class Tree:
    """Seconds for the tree, and to bring it up to date after one document more."""

    entities: int
    built: float
    updated: float


def addition(folder: Path, number: int) -> tuple[Path, str]:
    """A document of ``ADDED_PASSAGES`` passages as a file, and the question that finds it."""
    corpus = Invented(300, seed=1000 + number)
    text, passages = "", []
    for place in range(corpus.size):
        text += corpus.passage(place).text + "\n\n"
        passages = cut_document(Document("", "", "", "", text, ""), 400)
        if len(passages) > ADDED_PASSAGES:
            break
    file = folder / f"addition-{number}.jsonl"
    file.write_text(
        json.dumps({"title": f"Addition {number}", "text": text[: passages[ADDED_PASSAGES - 1].end]}) + "\n"
    )
    return file, passages[ADDED_PASSAGES - 1].text[:200]


def until_found(graph: KnowledgeGraph, folder: Path, number: int) -> float:
    """Seconds from the call of ``ingest`` until a search finds the document's last passage."""
    file, question = addition(folder, number)
    started = time.perf_counter()
    report = graph.ingest(file, extractor="local")
    found = graph.search(question).passages
    seconds = time.perf_counter() - started
    assert report.passages == ADDED_PASSAGES
    assert any(each.title == f"Addition {number}" for each in found), "the document is not found"
    return seconds


def additions(sides: Sequence[Grown], folder: Path) -> list[float]:
    """The median of three documents on each graph, by turns, after one more that is not counted."""
    times: list[list[float]] = []
    for number in range(_ADDITIONS + 1):
        row = []
        for side in sides:
            with side.open() as graph:
                row.append(until_found(graph, folder, number))
        times.append(row)
    return [percentile(side, 50) for side in zip(*times[1:], strict=True)]


def tree(grown: Grown, folder: Path) -> Tree:
    """The tree, one document more, and the update."""
    with grown.open() as graph:
        started = time.perf_counter()
        report = graph.build_tree()
        built = time.perf_counter() - started
        until_found(graph, folder, _ADDITIONS + 1)
        started = time.perf_counter()
        graph.build_tree(update=True)
        return Tree(report.entities, built, time.perf_counter() - started)
