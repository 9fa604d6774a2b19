"""Route ``all``: the routes at once, fused by PageRank over the neighbourhood of what they found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kgplatform.neo4j.store import Row, Store
from kgplatform.retrieve.found import Found, Path, best, facts_found
from kgplatform.retrieve.fuse import PASSAGE_SEEDS, Indices, Neighbourhood, fuse
from kgplatform.retrieve.question import Question, is_name, longest_names, stands_alone
from kgplatform.retrieve.routes import (
    NOWHERE,
    Near,
    communities_near,
    fact_rows,
    passage_rows,
    passages_found,
    path_found,
    walk,
)

FACT_SEEDS = 50
"""Facts whose entities get restart mass."""
MENTION_CAP = 20
"""Passages of an entity that are followed: one in more leads nowhere in particular (study: 10 to 50 are alike)."""
NAMED_PASSAGES = 10
"""Passages of a document that the question names."""
RARE_PASSAGES = 5
"""An entity that the question names is a seed by itself if no more passages mention it (study: 3 and 5 are alike)."""
PATH_DEPTH = 2
"""Hops of the paths that join the fusion; the walk over the neighbourhood does the rest."""
PATH_FACTS = 5
"""Nearest facts whose entities paths start from, beside the entities that the question names."""


def all_routes(store: Store, question: Question, without: Collection[str] = ()) -> Found:
    """Scores by the tempered personalised PageRank (docs/retrieval.md), for everything that any route found.

    Routes ``without`` take no part, nor does ``community`` where the graph has no finished tree.
    """
    passages, facts, entities, named, near = store.at_once(
        lambda store: [] if "passage" in without else passage_rows(store, question, PASSAGE_SEEDS),
        lambda store: [] if "triple" in without else fact_rows(store, question, FACT_SEEDS),
        lambda store: [] if "entity" in without else _named_entities(store, question),
        lambda store: _named_documents(store, question),
        lambda store: NOWHERE if "community" in without else communities_near(store, question),
    )
    seeds = _Seeds(passages, facts, named, _without_document(question, entities, named), near)
    starts = sorted(
        {*(row["id"] for row in entities), *(each for row in facts[:PATH_FACTS] for each in row["elements"])}
    )
    (around, total), paths = store.at_once(
        lambda store: _around(store, seeds),
        lambda store: [] if "path" in without else walk(store, question, starts, PATH_DEPTH),
    )
    graph = _neighbourhood(seeds, paths, around, total)
    scores = fuse(graph)
    passage_scores = dict(zip(graph.passage_ids, scores.passages.tolist(), strict=True))
    fact_scores = dict(zip(graph.fact_ids, scores.facts.tolist(), strict=True))
    parts = (seeds.nearest, facts_found(facts, "triple"), path_found(paths), facts_found(near.facts, "community"))
    # Passages that only the walk reached came by the entities that they mention.
    walked = {} if "entity" in without else {each: {"entity"} for row in around for each in row["passages"]}
    return Found(
        passage_scores,
        fact_scores,
        _routes([*(part.passage_routes for part in parts), walked], passage_scores),
        _routes([part.fact_routes for part in parts], fact_scores),
    )


@dataclass(frozen=True, slots=True)
class _Seeds:
    """What the routes found: rows of passages, facts, passages of named documents; ids of rare named entities."""

    passages: list[Row]
    facts: list[Row]
    named: list[Row]
    entities: list[str]
    near: Near

    @property
    def nearest(self) -> Found:
        return passages_found(self.passages)


def _named_entities(store: Store, question: Question) -> list[Row]:
    rows = store.read("retrieve/named_entities", names=list(question.names))
    longest = longest_names(question.text, (row["key"] for row in rows))
    return [row for row in rows if row["key"] in longest]


def _without_document(question: Question, entities: list[Row], named: list[Row]) -> list[str]:
    """Entities that few passages mention and that no document is called as: those passages stand for one."""
    titles = {row["key"] for row in named}
    return [
        row["id"]
        for row in entities
        if row["passages"] <= RARE_PASSAGES
        and row["key"] not in titles
        and is_name(row["key"], question.text)
        and stands_alone(row["key"], question.text)
    ]


def _named_documents(store: Store, question: Question) -> list[Row]:
    rows = store.read("retrieve/named_documents", names=list(question.names), k=NAMED_PASSAGES, vector=question.vector)
    longest = longest_names(question.text, (row["key"] for row in rows))
    return [row for row in rows if row["key"] in longest and is_name(row["key"], question.text)]


def _around(store: Store, seeds: _Seeds) -> tuple[list[Row], int]:
    """The elements around the seeds, one row each, and the number of passages in the graph."""
    elements = {*(each for row in seeds.facts for each in row["elements"]), *seeds.entities}
    passages = {*best(seeds.nearest.passages, PASSAGE_SEEDS), *(row["id"] for row in seeds.named)}
    found = store.read("retrieve/neighbourhood", elements=sorted(elements), passages=sorted(passages), cap=MENTION_CAP)
    if not found:
        return [], 0
    names = ("id", "total", "passages", "relations", "sameAs")
    return [dict(zip(names, each, strict=True)) for each in found[0]["elements"]], found[0]["allPassages"]


def _neighbourhood(seeds: _Seeds, paths: list[Path], around: list[Row], total: int) -> Neighbourhood:
    cosine = {row["id"]: row["cosine"] for row in (*seeds.named, *seeds.passages)}
    bm25 = {row["id"]: row["bm25"] for row in seeds.passages}
    documents = {each: number for number, each in enumerate(sorted({row["document"] for row in seeds.named}))}
    named_as = {row["id"]: documents[row["document"]] for row in seeds.named}
    passage_ids = sorted({*cosine, *(each for row in around for each in row["passages"])})
    entity_ids = [row["id"] for row in sorted(around, key=lambda row: row["id"])]
    passage_at = {each: position for position, each in enumerate(passage_ids)}
    entity_at = {each: position for position, each in enumerate(entity_ids)}
    totals = {row["id"]: row["total"] for row in around}
    facts = _facts(seeds, paths)
    return Neighbourhood(
        passage_ids=passage_ids,
        passage_cosine=np.array([cosine.get(each, np.nan) for each in passage_ids], np.float64),
        passage_bm25=np.array([bm25.get(each, 0.0) for each in passage_ids], np.float64),
        passage_named=np.array([named_as.get(each, -1) for each in passage_ids], np.int64),
        entity_ids=entity_ids,
        entity_passages=np.array([totals[each] for each in entity_ids], np.int64),
        entity_named=np.array([each in seeds.entities for each in entity_ids], np.bool_),
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


def _facts(seeds: _Seeds, paths: list[Path]) -> list[Row]:
    """The seeds, then facts that paths and communities lead to, which are none: they get a score alone.

    A restart share on the entities of near communities costs recall however it is weighted: docs/retrieval.md.
    """
    rows: dict[str, Row] = {}
    for path in paths:
        ends = zip(path.entities, path.entities[1:], strict=False)
        for hop, elements in zip(path.hops, ends, strict=True):
            rows[hop.fact] = {"id": hop.fact, "cosine": hop.cosine, "elements": list(elements)}
    rows |= {row["id"]: row for row in seeds.near.facts}
    known = {row["id"] for row in seeds.facts}
    others = [{**rows[each], "seed": False} for each in sorted(rows) if each not in known]
    return [{**row, "seed": True} for row in seeds.facts] + others


def _between(around: list[Row], kind: str, entity_at: dict[str, int]) -> Indices:
    return _edges((entity_at[row["id"]], entity_at[each]) for row in around for each in row[kind] if each in entity_at)


def _edges(pairs: Iterable[tuple[int, int]]) -> Indices:
    return np.array(list(pairs), np.int64).reshape(-1, 2)


def _routes(parts: Iterable[Mapping[str, set[str]]], ids: Mapping[str, float]) -> dict[str, set[str]]:
    """Of each of ``ids``, all routes that found it."""
    routes: dict[str, set[str]] = {}
    for part in parts:
        for id_ in part.keys() & ids.keys():
            routes.setdefault(id_, set()).update(part[id_])
    return routes
