"""Searches on a large graph beside exact comparison with all vectors."""

from collections.abc import Iterator, Sequence

import numpy as np
from graphs import statement
from measure import Vectors

from kgplatform import KnowledgeGraph
from kgplatform.models.embed import embed_question

FIRST = 10
WARM_UPS = 30
_BLOCK = 1_000
_SAME = 1e-5
"""Cosines that differ by less are the same: which of equally near passages an index gives is no loss."""


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
