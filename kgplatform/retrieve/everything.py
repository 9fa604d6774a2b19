"""Route ``all``: the routes at once, fused by PageRank over the neighbourhood of what they found."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from kgplatform.retrieve.found import Found, at_once, best
from kgplatform.retrieve.fuse import PASSAGE_SEEDS, Indices, Neighbourhood, fuse
from kgplatform.retrieve.question import Question, is_name, longest_names
from kgplatform.retrieve.routes import Path, facts_found, passage_rows, passages_found, walk
from kgplatform.store import Row, Store

FACT_SEEDS = 50
"""Facts whose entities get restart mass (RETRIEVAL.md, step 2)."""
MENTION_CAP = 20
"""Passages of an entity that are followed: one in more leads nowhere in particular (study: 10 to 50 are alike)."""
NAMED_PASSAGES = 10
"""Passages of a document that the question names."""
PATH_DEPTH = 2
"""Hops of the paths that join the fusion; the walk over the neighbourhood does the rest."""
PATH_FACTS = 5
"""Nearest facts whose entities paths start from, beside the entities that the question names."""


def all_routes(store: Store, question: Question, top_k: int) -> Found:
    """Scores by the tempered personalised PageRank (RETRIEVAL.md), for everything that any route found."""
    passages, facts, entities, named = at_once(
        partial(passage_rows, store, question, PASSAGE_SEEDS),
        partial(store.read, "retrieve/triple", k=FACT_SEEDS, vector=question.vector),
        partial(_named_entities, store, question),
        partial(_named_documents, store, question),
    )
    elements = sorted({each for row in facts for each in row["elements"]})
    starts = sorted({*entities, *(each for row in facts[:PATH_FACTS] for each in row["elements"])})
    nearest = passages_found(passages)
    seed_passages = sorted({*best(nearest.passages, PASSAGE_SEEDS), *(row["id"] for row in named)})
    (around, total), paths = at_once(
        partial(_around, store, elements, seed_passages),
        partial(walk, store, question, starts, PATH_DEPTH),
    )
    seeds = [{**row, "seed": True} for row in facts]
    graph = _neighbourhood(passages, [*seeds, *_path_facts(paths, facts)], named, around, total)
    scores = fuse(graph)
    found = Found(
        dict(zip(graph.passage_ids, scores.passages.tolist(), strict=True)),
        dict(zip(graph.fact_ids, scores.facts.tolist(), strict=True)),
    )
    _name_routes(found, (nearest, facts_found(facts, "triple")), around, paths)
    return found


def _named_entities(store: Store, question: Question) -> list[str]:
    rows = store.read("retrieve/named_entities", names=list(question.names))
    longest = longest_names(question.text, (row["key"] for row in rows))
    return [row["id"] for row in rows if row["key"] in longest]


def _named_documents(store: Store, question: Question) -> list[Row]:
    rows = store.read("retrieve/named_documents", names=list(question.names), k=NAMED_PASSAGES, vector=question.vector)
    longest = longest_names(question.text, (row["key"] for row in rows))
    return [row for row in rows if row["key"] in longest and is_name(row["key"], question.text)]


def _around(store: Store, elements: list[str], passages: list[str]) -> tuple[list[Row], int]:
    """The elements around the seeds, one row each, and the number of passages in the graph."""
    found = store.read("retrieve/neighbourhood", elements=elements, passages=passages, cap=MENTION_CAP)
    if not found:
        return [], 0
    names = ("id", "total", "passages", "relations", "sameAs")
    return [dict(zip(names, each, strict=True)) for each in found[0]["elements"]], found[0]["chunks"]


def _neighbourhood(
    passages: list[Row], facts: list[Row], named: list[Row], around: list[Row], total: int
) -> Neighbourhood:
    cosine = {row["id"]: row["cosine"] for row in (*named, *passages)}
    bm25 = {row["id"]: row["bm25"] for row in passages}
    documents = {each: number for number, each in enumerate(sorted({row["document"] for row in named}))}
    named_as = {row["id"]: documents[row["document"]] for row in named}
    passage_ids = sorted({*cosine, *(each for row in around for each in row["passages"])})
    entity_ids = [row["id"] for row in sorted(around, key=lambda row: row["id"])]
    passage_at = {each: position for position, each in enumerate(passage_ids)}
    entity_at = {each: position for position, each in enumerate(entity_ids)}
    totals = {row["id"]: row["total"] for row in around}
    return Neighbourhood(
        passage_ids=passage_ids,
        passage_cosine=np.array([cosine.get(each, np.nan) for each in passage_ids], np.float64),
        passage_bm25=np.array([bm25.get(each, 0.0) for each in passage_ids], np.float64),
        passage_named=np.array([named_as.get(each, -1) for each in passage_ids], np.int64),
        entity_ids=entity_ids,
        entity_passages=np.array([totals[each] for each in entity_ids], np.int64),
        fact_ids=[row["id"] for row in facts],
        fact_cosine=np.array([row["cosine"] for row in facts], np.float64),
        fact_seed=np.array([row["seed"] for row in facts], np.bool_),
        fact_entities=_edges(
            (position, entity_at[each])
            for position, row in enumerate(facts)
            for each in row["elements"]
            if each in entity_at
        ),
        mentions=_edges((passage_at[each], entity_at[row["id"]]) for row in around for each in row["passages"]),
        relations=_between(around, "relations", entity_at),
        same_as=_between(around, "sameAs", entity_at),
        passage_total=total,
    )


def _path_facts(paths: list[Path], seeds: list[Row]) -> list[Row]:
    """Facts along the paths that are no seeds."""
    rows: dict[str, Row] = {}
    for path in paths:
        ends = zip(path.entities, path.entities[1:], strict=False)
        for fact, cosine, elements in zip(path.facts, path.cosines, ends, strict=True):
            rows[fact] = {"id": fact, "cosine": cosine, "elements": list(elements), "seed": False}
    known = {row["id"] for row in seeds}
    return [rows[each] for each in sorted(rows) if each not in known]


def _between(around: list[Row], kind: str, entity_at: dict[str, int]) -> Indices:
    return _edges((entity_at[row["id"]], entity_at[each]) for row in around for each in row[kind] if each in entity_at)


def _edges(pairs: Iterable[tuple[int, int]]) -> Indices:
    return np.array(list(pairs), np.int64).reshape(-1, 2)


def _name_routes(found: Found, parts: Iterable[Found], around: list[Row], paths: list[Path]) -> None:
    """Say which routes found what. Passages that only the walk reached came by the entities that they mention."""
    for part in parts:
        for each, routes in part.passage_routes.items():
            found.passage_routes.setdefault(each, set()).update(routes)
        for each, routes in part.fact_routes.items():
            found.fact_routes.setdefault(each, set()).update(routes)
    for row in around:
        for each in row["passages"]:
            found.passage_routes.setdefault(each, set()).add("entity")
    for path in paths:
        for fact, chunks in zip(path.facts, path.chunks, strict=True):
            found.fact_routes.setdefault(fact, set()).add("path")
            for each in chunks:
                if each in found.passages:
                    found.passage_routes.setdefault(each, set()).add("path")
