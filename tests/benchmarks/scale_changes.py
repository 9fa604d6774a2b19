"""Changes of a large graph: one document more, and the tree afterwards, which should not cost what the graph costs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from invented import Invented
from scale_graphs import Grown

from kgplatform import KnowledgeGraph
from kgplatform.records import Document
from kgplatform.sources.cut import cut_document

ADDED_PASSAGES = 20
ADDED_LIMIT, ADDED_RATIO_LIMIT = 2, 1.5
TREE_LIMIT, UPDATE_LIMIT, TREE_ENTITIES = 120, 5, 300_000
_WARM_UPS, _ADDITIONS = 5, 3


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds by the clock, and those that Python and the server computed."""

    seconds: float
    processor: float


@dataclass(frozen=True, slots=True)
class Tree:
    """What building the tree took, and bringing it up to date after one document more."""

    entities: int
    built: Took
    updated: Took


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


def until_found(grown: Grown, folder: Path, number: int) -> Took:
    """From the call of ``ingest`` until a search finds the document's last passage."""
    file, question = addition(folder, number)

    def work(graph: KnowledgeGraph) -> None:
        assert graph.ingest(file, extractor="local").passages == ADDED_PASSAGES
        found = graph.search(question).passages
        assert any(each.title == f"Addition {number}" for each in found), "the document is not found"

    return _timed(grown, work)


def additions(sides: Sequence[Grown], folder: Path, first: int) -> list[Took]:
    """The middle one of three documents on each graph, by turns, after five more that are not counted.

    They are numbered from ``first`` on: a graph that has a document already would have nothing to do. All servers are
    fresh, and as warm as each other after the first five: one that has ingested more before is faster, whatever it
    holds, and what it has not touched yet comes from the disk.
    """
    for side in sides:
        side.stop()
    times = [[until_found(side, folder, first + number) for side in sides] for number in range(_WARM_UPS + _ADDITIONS)]
    counted = zip(*times[_WARM_UPS:], strict=True)
    return [sorted(side, key=lambda each: each.processor)[_ADDITIONS // 2] for side in counted]


def tree(grown: Grown, folder: Path, number: int) -> Tree:
    """The tree, one document more, and the update."""
    entities = grown.counts()["entities"]
    built = _timed(grown, lambda graph: graph.build_tree())
    until_found(grown, folder, number)
    return Tree(entities, built, _timed(grown, lambda graph: graph.build_tree(update=True)))


def _timed(grown: Grown, work: Callable[[KnowledgeGraph], object]) -> Took:
    """What ``work`` takes."""
    with grown.open() as graph:
        before, started = sum(grown.processor_seconds()), time.perf_counter()
        work(graph)
        return Took(time.perf_counter() - started, sum(grown.processor_seconds()) - before)
