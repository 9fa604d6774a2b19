"""What a condition costs a search, and what it loses, where a half to a thousandth of the documents fit.

``KGPLATFORM_BENCH_FILTERS``: sizes in passages of invented graphs that are measured beside MuSiQue, such as 100000.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from clocks import Clock
from data_sets import Place
from measure import Vectors
from scale_graphs import EMBEDDER, grow, grow_musique
from scale_search import embedded
from tables import Section

from kgplatform import KnowledgeGraph

SIZES = [int(size) for size in os.environ.get("KGPLATFORM_BENCH_FILTERS", "").split()]
SHARES = (2, 10, 100, 1000)
QUESTIONS, WARM_UPS, ROUNDS = 60, 10, 2
COST_LIMIT, RECALL_LIMIT = 1.3, 99
TOP = 10
_NUMBERED = """
MATCH (d:Document) WITH d ORDER BY d.id WITH collect(d) AS documents
UNWIND range(0, size(documents) - 1) AS number
CALL (documents, number) { WITH documents[number] AS d SET d.meta_number = number } IN TRANSACTIONS OF 5000 ROWS
"""
_VECTORS = """
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE c.embedding IS NOT NULL AND c.id > $after
RETURN c.id AS id, c.embedding AS vector, d.meta_number AS number ORDER BY id LIMIT 1000
"""


@dataclass(frozen=True, slots=True)
class Passages:
    """Of all passages: ids, unit vectors (n, d), the numbers of their documents (n)."""

    ids: list[str]
    vectors: Vectors
    numbers: Vectors


def test_filters(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("filters", "Filters: a search with a condition, beside one without")
    for name, grown in (
        ("MuSiQue", grow_musique(place)),
        *((f"{size:,} passages", grow(place, size)) for size in SIZES),
    ):
        assert grown is not None, "MuSiQue is not there"
        try:
            corpus = grown.corpus
            questions = grown.questions if corpus is None else [each.text for each in corpus.questions()]
            with grown.open() as graph:
                _measure(found, name, graph, grown.processor_seconds, questions[: QUESTIONS + WARM_UPS])
        finally:
            grown.stop()
    found.notes.append(
        f"{QUESTIONS} questions, after {WARM_UPS} to warm up, each with every condition by turns, {ROUNDS} times; "
        f"documents are numbered at random, and a condition asks for the first of them. Embedder: {EMBEDDER}."
    )


def _measure(
    found: Section,
    name: str,
    graph: KnowledgeGraph,
    processor: Callable[[], tuple[float, float]],
    questions: Sequence[str],
) -> None:
    graph.cypher(_NUMBERED, write=True, timeout=600)
    passages = _passages(graph)
    documents = int(passages.numbers.max()) + 1
    clocks = {share: Clock(graph, processor) for share in (1, *SHARES)}
    conditions = {share: f"number < {max(documents // share, 1)}" for share in SHARES}
    for round_ in range(ROUNDS):
        for number, question in enumerate(questions):
            for share, clock in clocks.items():
                clock.search(question, where=conditions.get(share))
                if round_ == 0 and number == WARM_UPS - 1:
                    clock.clear()
    for share in SHARES:
        slower = clocks[share].p(50) / clocks[1].p(50)
        found.add(f"{name}: one in {share:,} fits: p50 beside all", slower, "times", at_most=COST_LIMIT)
        recall = _recall(graph, passages, documents // share, conditions[share], questions[:QUESTIONS])
        found.add(f"{name}: one in {share:,} fits: of the {TOP} nearest", recall, "%", at_least=RECALL_LIMIT)
    found.add(f"{name}: p50 without a condition", clocks[1].p(50), "ms")
    found.tables += [clocks[share].by_statement(f"{name}, one in {share:,} fits") for share in (1, *SHARES)]


def _passages(graph: KnowledgeGraph) -> Passages:
    ids, vectors, numbers, after = [], [], [], ""
    while rows := graph.cypher(_VECTORS, {"after": after}, limit=1000, timeout=300).rows:
        after = rows[-1][0]
        ids += [row[0] for row in rows]
        vectors.append(np.array([row[1] for row in rows], np.float32))
        numbers += [row[2] for row in rows]
    all_ = np.concatenate(vectors)
    return Passages(ids, all_ / np.linalg.norm(all_, axis=1, keepdims=True), np.array(numbers))


def _recall(graph: KnowledgeGraph, passages: Passages, below: int, condition: str, questions: Sequence[str]) -> float:
    """Percent of the nearest passages that fit, by all comparisons, which the route ``dense`` has, or equally near."""
    fits = np.flatnonzero(passages.numbers < max(below, 1))
    cosines = embedded(graph, questions) @ passages.vectors[fits].T
    place = {passages.ids[at]: number for number, at in enumerate(fits)}
    shares = []
    for question, near in zip(questions, cosines, strict=True):
        count = min(TOP, len(fits))
        least = np.sort(near)[-count] - 1e-4
        rows = graph.search(question, "dense", count, where=condition).passages
        shares.append(sum(near[place[row.id]] >= least for row in rows) / count)
    return 100 * float(np.mean(shares))
