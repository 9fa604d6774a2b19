"""The single routes: passage, bm25, dense, hybrid, triple, entity, path, community: what each finds for a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgplatform.retrieve.communities import community_route
from kgplatform.retrieve.found import Found, best, facts_found, rank_scores
from kgplatform.retrieve.fuse import COSINE_SHARE
from kgplatform.retrieve.paths import BEAM, DEPTH, HUB_FACTS, of_each_length, path_found, walk
from kgplatform.retrieve.question import Question, longest_names
from kgplatform.store import Row, Store

NEAREST = 50
"""Fewest that a vector index is asked for: asked for 10 chunks, it finds 0.94 of the 10 nearest; asked for 50, all."""
ENTITY_SEEDS = 10
"""Entities that are looked at because their names are near the question by meaning."""
FACTS_PER_ENTITY = 10


def passage_route(store: Store, question: Question, top_k: int) -> Found:
    """Passages by meaning and words: 0.8 cosine + 0.2 BM25, as a share of the best BM25 (RETRIEVAL.md, step 5)."""
    return passages_found(passage_rows(store, question, max(top_k, NEAREST)))


def passage_rows(store: Store, question: Question, count: int) -> list[Row]:
    """The ``count`` nearest by meaning and by words, each with its cosine and BM25."""
    return store.read("retrieve/passage", k=count, vector=question.vector, words=question.words)


def passages_found(rows: list[Row]) -> Found:
    """Scores of ``passage_rows``."""
    top = max((row["bm25"] for row in rows), default=0.0) or 1.0
    scores = {row["id"]: COSINE_SHARE * row["cosine"] + (1 - COSINE_SHARE) * row["bm25"] / top for row in rows}
    return Found(scores, {}, {each: {"passage"} for each in scores})


def bm25_route(store: Store, question: Question, top_k: int) -> Found:
    """Passages by words alone: the baseline of papers, no part of ``all`` (GraphReader, section 4.1)."""
    rows = store.read("retrieve/bm25", k=max(top_k, NEAREST), words=question.words)
    return _scored(rows, "bm25")


def dense_route(store: Store, question: Question, top_k: int) -> Found:
    """Passages by meaning alone: the other baseline of papers, no part of ``all``."""
    rows = store.read("retrieve/dense", k=max(top_k, NEAREST), vector=question.vector)
    return _scored(rows, "dense")


def hybrid_route(store: Store, question: Question, top_k: int) -> Found:
    """Passages by words and by meaning, the two rankings merged by reciprocal rank fusion; no part of ``all``."""
    found = (route(store, question, top_k).passages for route in (bm25_route, dense_route))
    scores = rank_scores(best(each, len(each)) for each in found)
    return Found(scores, {}, {id_: {"hybrid"} for id_ in scores})


def dense_in_documents(store: Store, question: Question, documents: Sequence[str], top_k: int) -> Found:
    """Passages of ``documents`` (ids) by meaning alone."""
    rows = store.read("retrieve/dense_in_documents", documents=list(documents), k=top_k, vector=question.vector)
    return _scored(rows, "dense")


def _scored(rows: list[Row], route: str) -> Found:
    return Found({row["id"]: row["score"] for row in rows}, {}, {row["id"]: {route} for row in rows})


def triple_route(store: Store, question: Question, top_k: int) -> Found:
    """Facts by meaning, and the passages that state them."""
    return facts_found(store.read("retrieve/triple", k=max(top_k, NEAREST), vector=question.vector), "triple")


def entity_route(store: Store, question: Question, top_k: int) -> Found:
    """Entities that the question names or nearly means, their facts, and the passages that state those."""
    seeds = [each.id for each in entity_seeds(store, question)]
    count = max(top_k, FACTS_PER_ENTITY)
    rows = store.read("retrieve/facts_of_entities", entities=seeds, k=count, hub=HUB_FACTS, vector=question.vector)
    return facts_found(rows, "entity")


def path_route(store: Store, question: Question, top_k: int, depth: int = DEPTH) -> Found:
    """The best paths from the question's entities, in both directions, and the passages that state their facts."""
    paths = walk(store, question, [each.id for each in entity_seeds(store, question)], depth)
    return path_found(of_each_length(paths, max(top_k, BEAM)))


@dataclass(frozen=True, slots=True)
class EntitySeed:
    """An entity that a question is about. ``score``: 1 if the question names it, else the cosine of its name."""

    id: str
    score: float


def entity_seeds(store: Store, question: Question) -> list[EntitySeed]:
    """Named ones first. Of names inside each other the longest counts."""
    rows = store.read("retrieve/entity", k=ENTITY_SEEDS, vector=question.vector, names=list(question.names))
    named = longest_names(question.text, (row["key"] for row in rows if row["named"]))
    return [
        EntitySeed(row["id"], 1.0 if row["named"] else row["cosine"])
        for row in rows
        if row["key"] in named or not row["named"]
    ]


ROUTES: dict[str, Callable[[Store, Question, int], Found]] = {
    "entity": entity_route,
    "triple": triple_route,
    "path": path_route,
    "community": community_route,
    "passage": passage_route,
    "bm25": bm25_route,
    "dense": dense_route,
    "hybrid": hybrid_route,
}
