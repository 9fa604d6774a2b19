"""Searches on a large graph: how long they take beside a small one, and what they find beside exact comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import numpy as np
from clocks import Clock
from graphs import statement
from measure import Vectors
from scale_graphs import Grown
from tables import Section

from kgplatform import KnowledgeGraph
from kgplatform.models.embed import embed_question

FIRST = 10
WARM_UPS = 30
P50_LIMIT, P95_LIMIT = 1.5, 2
LOST_LIMIT = 1
_BLOCK = 1_000
_SAME = 1e-5
"""Cosines that differ by less are the same: which of equally near passages an index gives is no loss."""


def by_turns(sides: Sequence[tuple[Grown, Sequence[str]]]) -> list[Clock]:
    """Each graph asked its own questions in turn with the others, as many of each, after some to warm up.

    All servers are fresh, since one that has answered more searches before is faster, whatever it holds.
    """
    for grown, _ in sides:
        grown.stop()
    count = min(len(questions) for _, questions in sides)
    with ExitStack() as stack:
        found = []
        for grown, _ in sides:
            graph = stack.enter_context(grown.open())
            found.append(Clock(graph, grown.processor_seconds))
        for number in range(-WARM_UPS, count):
            for clock, (_, questions) in zip(found, sides, strict=True):
                if number == 0:
                    clock.clear()
                clock.search(questions[number])
    return found


def add_times(found: Section, name: str, large: Clock, small: Clock | None) -> tuple[str, ...]:
    """The row of a size, and its targets: how its times compare with the small graph's of the same run."""
    for share, limit in ((50, P50_LIMIT), (95, P95_LIMIT)):
        if small is not None:
            found.add(
                f"{name}: search, p{share} beside MuSiQue", large.p(share) / small.p(share), "times", at_most=limit
            )
    return (name, *(f"{clock.p(share):.0f} ms" if clock else "" for clock in (large, small) for share in (50, 95)))


TIMES = ("", "p50", "p95", "MuSiQue: p50", "p95")


def add_recall(found: Section, grown: Grown, name: str) -> None:
    """Planted passages among the first ten of a search, and what it loses beside exact comparison of all vectors."""
    assert grown.corpus is not None
    questions = grown.corpus.questions()
    with grown.open() as graph:
        exact = nearest(graph, embedded(graph, [each.text for each in questions]))
        searched = [{each.title for each in graph.search(q.text, top_k=FIRST).passages} for q in questions]
    planted = [
        (support in titles, support in dict(best))
        for question, best, titles in zip(questions, exact, searched, strict=True)
        for support in question.supports
    ]
    share = 100 * float(np.mean([is_found for is_found, _ in planted]))
    lost = 100 * float(np.mean([is_near and not is_found for is_found, is_near in planted]))
    found.add(f"{name}: planted passages among the first ten", share, "%")
    found.add(f"{name}: of those that exact comparison finds, a search loses", lost, "%", at_most=LOST_LIMIT)


Nearest = list[list[tuple[str, float]]]
"""The titles and cosines of some passages for each question, the nearest first."""


def embedded(graph: KnowledgeGraph, questions: Sequence[str]) -> Vectors:
    """The vectors of the questions (n, d)."""
    return np.array([embed_question(graph.embedder, each) for each in questions], np.float32)


def nearest(graph: KnowledgeGraph, questions: Vectors) -> Nearest:
    """The ten nearest passages of each of the ``questions`` (n, d), by all comparisons."""
    best: Nearest = [[] for _ in questions]
    for titles, vectors in _blocks(graph):
        cosines = questions @ vectors.T
        count = min(FIRST, len(titles))
        chosen = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        for number, columns in enumerate(chosen):
            more = [(titles[column], float(cosines[number, column])) for column in columns]
            best[number] = sorted(best[number] + more, key=lambda each: (-each[1], each[0]))[:FIRST]
    return best


def _blocks(graph: KnowledgeGraph) -> Iterator[tuple[list[str], Vectors]]:
    after = ""
    while rows := statement(graph, "scale_vectors", after=after, count=_BLOCK).rows:
        after = rows[-1][0]
        vectors = np.array([vector for _, _, vector in rows], np.float32)
        yield [title for _, title, _ in rows], vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def indexed(graph: KnowledgeGraph, questions: Vectors) -> Nearest:
    """The same by the product's index, whose score is (1 + cosine) / 2."""
    tables = [statement(graph, "dense", k=FIRST, vector=vector.tolist()) for vector in questions]
    title, score = (tables[0].columns.index(name) for name in ("title", "score"))
    return [[(row[title], 2 * row[score] - 1) for row in table.rows] for table in tables]


def kept(mine: Nearest, exact: Nearest) -> float:
    """Percent of the ten nearest passages that are in ``mine``, or others as near as the last of them."""
    shares = [
        sum(cosine >= best[-1][1] - _SAME for _, cosine in found) / len(best)
        for found, best in zip(mine, exact, strict=True)
    ]
    return 100 * float(np.mean(shares))
