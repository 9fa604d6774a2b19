"""Route ``all``: the routes at once, fused by PageRank over the neighbourhood of what they found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kgplatform.neo4j.store import Row, Store
from kgplatform.search.found import Found, Path, best, best_scores, facts_found
from kgplatform.search.fuse import PASSAGE_SEEDS, Indices, Neighbourhood, fuse
from kgplatform.search.question import Question, stands_alone
from kgplatform.search.routes import (
    ENTITY_SEEDS,
    NOWHERE,
    Near,
    Terms,
    communities_near,
    cosine_share,
    entity_seeds,
    fact_rows,
    facts_about,
    held_terms,
    passage_rows,
    passages_found,
    path_found,
    walk,
    with_terms,
)
from kgplatform.text import passage_title, title_key

FACT_SEEDS = 50
"""Facts whose entities get restart mass."""
MENTION_CAP = 10
"""Passages of an entity that are followed: one in more leads nowhere in particular (study: 10 to 50 are alike)."""
NAMED_PASSAGES = 10
"""Passages of a document that the question names."""
RARE_PASSAGES = 5
"""An entity that the question names is a seed by itself if no more passages mention it (study: 3 and 5 are alike)."""
HOPS = 2
"""Of a path, where routes are taken together: more cost round trips and bring no passage
(docs/explanation/decisions.md)."""
PATH_FACTS = 5
"""Nearest facts whose entities paths start from, beside the entities that the question names or means."""


def all_routes(store: Store, question: Question, without: Collection[str] = ()) -> Found:
    """Scores by the tempered personalised PageRank (docs/explanation/retrieval.md), for all that any route found.

    Routes ``without`` take no part, nor does ``community`` where the graph has no finished tree.
    """
    vector, words = store.at_once(
        # On a core of its own, while the server finds what needs none.
        lambda store: question.vector,
        lambda store: _by_words(store, question),
    )
    bm25 = best_scores([*words["passages"], *words["foreign"]])
    bm25 = {id_: bm25[id_] for id_ in best(bm25, PASSAGE_SEEDS)}
    share = cosine_share(question, bool(words["foreign"]))
    known = [_Entity(*entity) for entity in words["entities"]]
    embedded = {entity.key for entity in known if entity.embedded}
    longest = question.longest({entity.key for entity in known})
    entities = [entity for entity in known if entity.key in longest and "entity" not in without]
    documents = {key for key in question.longest(words["documents"]) if question.names_properly(key)}
    passages, facts, meant, named, near, terms = store.at_once(
        lambda store: [] if "passage" in without else passage_rows(store, question, PASSAGE_SEEDS, bm25),
        lambda store: [] if "triple" in without else fact_rows(store, question, FACT_SEEDS),
        lambda store: (
            [] if {"entity", "path"} <= set(without) else entity_seeds(store, question, embedded, ENTITY_SEEDS)
        ),
        lambda store: (
            store.read("search/named_documents", names=sorted(documents), k=NAMED_PASSAGES, vector=question.vector)
            if documents
            else []
        ),
        lambda store: communities_near(store, question) if words["tree"] and "community" not in without else NOWHERE,
        lambda store: Terms() if "passage" in without else held_terms(store, question),
    )
    seeds = _Seeds(passages, facts, named, _without_document(question, entities, documents), near, share)
    nearest = (element for row in facts[:PATH_FACTS] for element in row["elements"])
    starts = sorted({*meant, *(entity.id for entity in entities), *nearest})
    around, paths, about = store.at_once(
        lambda store: _around(store, question, seeds),
        lambda store: [] if "path" in without else walk(store, question, starts, HOPS),
        lambda store: [] if "entity" in without else facts_about(store, question, meant),
    )
    graph = _neighbourhood(seeds, paths, about, around)
    scores = fuse(graph)
    passage_scores = dict(zip(graph.passage_ids, scores.passages.tolist(), strict=True))
    fact_scores = dict(zip(graph.fact_ids, scores.facts.tolist(), strict=True))
    of_facts = ((facts, "triple"), (near.facts, "community"), (about, "entity"))
    parts = [seeds.nearest, path_found(paths), *(facts_found(rows, route) for rows, route in of_facts)]
    # Passages that only the walk reached came by the entities that they mention.
    walked = [] if "entity" in without else around["passages"]
    found = Found(
        passage_scores,
        fact_scores,
        _routes([*(part.passage_routes for part in parts), dict.fromkeys(walked, {"entity"})], passage_scores),
        _routes([part.fact_routes for part in parts], fact_scores),
        vector=vector,
    )
    return with_terms(found, terms, "passage")


class _Entity(NamedTuple):
    """An entity that the question names. ``passages`` mention it; ``embedded`` if it has a vector."""

    id: str
    key: str
    passages: int
    embedded: bool


def _by_words(store: Store, question: Question) -> Row:
    """What the words of a question find: entities and documents that it may name, passages with their BM25, those in
    another language than English apart; and whether the graph has a finished tree."""
    asked = {"names": list(question.names), "words": question.words, "terms": question.terms, "typed": question.typed}
    (row,) = store.read("search/words", k=PASSAGE_SEEDS, **asked)
    return row


@dataclass(frozen=True, slots=True)
class _Seeds:
    """What the routes found: rows of passages, facts, passages of named documents; ids of rare named entities."""

    passages: list[Row]
    facts: list[Row]
    named: list[Row]
    entities: set[str]
    near: Near
    cosine_share: float

    @property
    def nearest(self) -> Found:
        return passages_found(self.passages, self.cosine_share)


def _without_document(question: Question, entities: list[_Entity], documents: Collection[str]) -> set[str]:
    """Entities that few passages mention and that no document is called as: those passages stand for one."""
    return {
        entity.id
        for entity in entities
        if entity.passages <= RARE_PASSAGES
        and entity.key not in documents
        and question.names_properly(entity.key)
        and stands_alone(entity.key, question.text)
    }


def _around(store: Store, question: Question, seeds: _Seeds) -> Row:
    elements = {*(element for row in seeds.facts for element in row["elements"]), *seeds.entities}
    named = [row["id"] for row in seeds.named]
    passages = {*best(seeds.nearest.passages, PASSAGE_SEEDS), *named}
    known = {*(row["id"] for row in seeds.passages), *named}
    bounds = {"elements": sorted(elements), "passages": sorted(passages), "known": sorted(known), "cap": MENTION_CAP}
    (around,) = store.read("search/neighbourhood", **bounds, vector=question.vector)
    return around


def _neighbourhood(seeds: _Seeds, paths: list[Path], about: list[Row], around: Row) -> Neighbourhood:
    known = (*seeds.named, *seeds.passages)
    reached = around["passages"]
    cosine = dict(zip(reached, around["cosines"], strict=True)) | {row["id"]: row["cosine"] for row in known}
    bm25 = {row["id"]: row["bm25"] for row in seeds.passages}
    names = zip(reached, around["names"], strict=True)
    titles = {passage: key for passage, name in names if (key := title_key(passage_title(name)))}
    titles |= {row["id"]: row["key"] for row in seeds.named}
    title_at = {title: number for number, title in enumerate(sorted(set(titles.values())))}
    named = {row["id"] for row in seeds.named}
    passage_ids = sorted(cosine)
    passage_at = {passage: position for position, passage in enumerate(passage_ids)}
    entities, entity_of = _by_name(around["elements"], around["keys"])
    entity_at = dict(zip(around["elements"], entity_of.tolist(), strict=True))
    rare = [entity_at[id_] for id_ in seeds.entities if id_ in entity_at]
    mentioning = np.repeat(np.array([passage_at[passage] for passage in reached], np.int64), around["counts"])
    facts = _facts(seeds, paths, about)
    of_facts = ((fact, id_) for fact, row in enumerate(facts) for id_ in row["elements"])
    return Neighbourhood(
        passage_ids=passage_ids,
        passage_cosine=np.array([cosine[passage] for passage in passage_ids], np.float64),
        passage_bm25=np.array([bm25.get(passage, 0.0) for passage in passage_ids], np.float64),
        passage_title=np.array([title_at.get(titles.get(passage, ""), -1) for passage in passage_ids], np.int64),
        passage_named=np.array([passage in named for passage in passage_ids], np.bool_),
        entity_ids=list(entities.values()),
        entity_passages=np.bincount(entity_of, around["totals"], len(entities)).astype(np.int64),
        entity_title=np.array([title_at.get(key, -1) for key in entities], np.int64),
        entity_named=np.isin(np.arange(len(entities)), rare),
        fact_ids=[row["id"] for row in facts],
        fact_cosine=np.array([row["cosine"] for row in facts], np.float64),
        fact_seed=np.array([row["seed"] for row in facts], np.bool_),
        fact_entities=_edges(of_facts, np.arange(len(facts)), entity_at),
        mentions=np.stack([mentioning, entity_of[np.array(around["mentions"], np.int64)]], axis=1),
        relations=_edges(zip(around["heads"], around["tails"], strict=True), entity_of, entity_at),
        same_as=_edges(zip(around["like"], around["alike"], strict=True), entity_of, entity_at),
        passage_total=around["allPassages"],
        cosine_share=seeds.cosine_share,
    )


def _by_name(ids: Sequence[str], keys: Sequence[str]) -> tuple[dict[str, str], Indices]:
    """Of each key the first of its ids; and the position of each element's key.

    In the walk all elements of one name are one: their types come from different passages.
    """
    entities: dict[str, str] = {}
    for id_, key in sorted(zip(ids, keys, strict=True)):
        entities.setdefault(key, id_)
    position = {key: number for number, key in enumerate(entities)}
    return entities, np.array([position[key] for key in keys], np.int64)


def _facts(seeds: _Seeds, paths: list[Path], about: list[Row]) -> list[Row]:
    """The seeds, then facts that paths, communities and meant entities lead to, which only get a score.

    Those of a path share in the mass of its start, from which it was walked: the neighbourhood ends before. A restart
    share on the entities of near communities costs recall however it is weighted: docs/explanation/retrieval.md.
    """
    rows: dict[str, Row] = {}
    for path in paths:
        ends = zip(path.entities, path.entities[1:], strict=False)
        for hop, elements in zip(path.hops, ends, strict=True):
            rows.setdefault(hop.fact, {"id": hop.fact, "cosine": hop.cosine, "elements": [path.start, *elements]})
    rows |= {row["id"]: row for row in (*seeds.near.facts, *about)}
    known = {row["id"] for row in seeds.facts}
    others = [{**rows[fact], "seed": False} for fact in sorted(rows) if fact not in known]
    return [{**row, "seed": True} for row in seeds.facts] + others


def _edges(pairs: Iterable[tuple[int, str]], starts: Indices, ends: Mapping[str, int]) -> Indices:
    """Pairs of a number and an id as positions, the number's in ``starts``; without those whose id is not there."""
    known = [number for start, id_ in pairs if id_ in ends for number in (start, ends[id_])]
    edges = np.array(known, np.int64).reshape(-1, 2)
    return np.stack([starts[edges[:, 0]], edges[:, 1]], axis=1)


def _routes(parts: Iterable[Mapping[str, set[str]]], ids: Mapping[str, float]) -> dict[str, set[str]]:
    """Of each of ``ids``, all routes that found it."""
    routes: dict[str, set[str]] = {}
    for part in parts:
        for id_ in part.keys() & ids.keys():
            routes.setdefault(id_, set()).update(part[id_])
    return routes
