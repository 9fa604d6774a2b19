"""Searches on a large graph: how long they take beside a small one, and what they find beside exact comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import numpy as np
from clocks import Clock
from graphs import statement
from invented import PlantedQuestion
from measure import Vectors
from scale_graphs import Grown
from tables import Section, Table

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
    times = [f"{clock.p(share):.0f} ms" if clock else "" for clock in (large, small) for share in (50, 95)]
    spent = [f"{1000 * np.mean(side):.0f} ms" for side in (large.python, large.server)]
    return (name, *times, *spent)


TIMES = ("", "p50", "p95", "MuSiQue: p50", "p95", "processor: Python", "the server")


def add_recall(found: Section, grown: Grown, name: str) -> Table:
    """Planted passages among the first ten of each way to search, and what is lost beside exact comparison."""
    assert grown.corpus is not None
    questions = grown.corpus.questions()
    with grown.open() as graph:
        vectors = embedded(graph, [each.text for each in questions])
        ways = {
            "all routes": [[each.title for each in graph.search(q.text, top_k=FIRST).passages] for q in questions],
            "exact, all vectors": [[title for title, _ in each] for each in nearest(graph, vectors)],
        }
    shares = {way: _recalls(questions, titles) for way, titles in ways.items()}
    lost = _lost(questions, ways["exact, all vectors"], ways["all routes"])
    found.add(f"{name}: planted passages among the first ten", shares["all routes"][-1], "%")
    found.add(f"{name}: of those that exact comparison finds, a search loses", lost, "%", at_most=LOST_LIMIT)
    rows = [(way, *(f"{share:.1f}" for share in each)) for way, each in shares.items()]
    title = f"{name}: planted passages among the first ten, % ({len(questions)} questions)"
    return Table(title, ("", "one hop", "two hops: first", "two hops: second", "all"), rows)


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


def _lost(questions: Sequence[PlantedQuestion], best: Sequence[Sequence[str]], mine: Sequence[Sequence[str]]) -> float:
    """Percent of the planted passages that are among the ``best`` and not among ``mine``."""
    marks = [
        support in exact and support not in found
        for question, exact, found in zip(questions, best, mine, strict=True)
        for support in question.supports
    ]
    return 100 * float(np.mean(marks))


def _recalls(questions: Sequence[PlantedQuestion], titles: Sequence[Sequence[str]]) -> list[float]:
    """Percent found: of one hop, the first and the second of two hops, and of all supporting passages."""
    marks = [(q.hops, [support in some for support in q.supports]) for q, some in zip(questions, titles, strict=True)]
    parts = [
        [marked[0] for hops, marked in marks if hops == 1],
        [marked[0] for hops, marked in marks if hops == 2],
        [marked[1] for hops, marked in marks if hops == 2],
    ]
    return [100 * float(np.mean(part)) for part in (*parts, sum(parts, []))]
