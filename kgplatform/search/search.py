"""A search: a question, a route, the best of what it found; by schema types; and the results of several in one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, zip_longest
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kgplatform.errors import InputError
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import ANY_TIME, Row, Store
from kgplatform.records import FoundCommunity, FoundFact, FoundPassage, FoundPath, SearchResult
from kgplatform.search.conflicts import over
from kgplatform.search.found import (
    SPARE,
    Found,
    Path,
    best,
    best_scores,
    facts_found,
    look_up,
    rank_scores,
    with_copies,
)
from kgplatform.search.fuse import PASSAGE_SEEDS, Indices, Neighbourhood, fuse
from kgplatform.search.in_time import of_time
from kgplatform.search.question import Question, stands_alone
from kgplatform.search.routes import (
    ENTITY_SEEDS,
    NEAREST,
    NOWHERE,
    ROUTES,
    Near,
    Terms,
    bm25_rows,
    communities_near,
    cosine_share,
    entity_seeds,
    fact_rows,
    facts_about,
    held_terms,
    passage_rows,
    passages_found,
    path_found,
    scored,
    walk,
    with_terms,
)
from kgplatform.text import passage_title, title_key, type_key, unknown

SEARCHES = ("all", *ROUTES)
_AHEAD = 2
"""Times as many passages are looked at where a time is asked for."""


def search(
    store: Store,
    embedder: Embedder,
    question: str,
    route: str,
    top_k: int,
    types: Sequence[str] = (),
    without: Collection[str] = (),
    documents: Sequence[str] = (),
    *,
    within: bool = False,
) -> SearchResult:
    """The best ``top_k`` passages and facts; of route ``path`` the paths, of ``community`` the communities too.

    ``types``: names of schema types; facts and paths about others are left out (``keep_types``). ``without``: routes
    that take no part in ``all``. ``documents``: ids; then the passages of these alone, by meaning, as ``dense`` has
    them: the indexes are those of the whole graph, and here every passage is compared. ``within``: the passages and
    facts of ``documents`` alone, by a route that is none of ``ROUTES_OF_WHOLE``. Raises ``InputError`` for an unknown
    route, an empty question, the route ``community`` where there is no knowledge tree, or one of those ``within`` some.
    """
    started = time.perf_counter()
    for name in (route, *without):
        if name not in SEARCHES:
            raise InputError(unknown("route", str(name), sorted(SEARCHES)))
    if top_k < 1:
        raise InputError("top_k must be at least 1.", "top_k")
    asked = Question(question, embedder)
    if within:
        found = _within(store, asked, route, top_k, documents, without)
    elif documents:
        found = _nearest(asked, top_k + SPARE, documents, None, "dense", store)
    else:
        found = all_routes(store, asked, without) if route == "all" else ROUTES[route](store, asked, top_k)
    missing = found.missing if route in ("all", "bm25") else held_terms(store, asked).missing
    if store.as_of != ANY_TIME:
        found = found.keeping(found.every_fact - over(store, found.every_fact))
    found = keep_types(store, replace(found, vector=asked.vector), types)
    if store.as_of == ANY_TIME:
        passages, facts, paths = look_up(store, found, top_k)
    else:  # a passage of that time may be behind those of others
        passages, facts, paths = look_up(store, found, _AHEAD * top_k)
        passages, facts, paths = of_time(passages, asked.text, store.as_of)[:top_k], facts[:top_k], paths[:top_k]
    seconds = round(time.perf_counter() - started, 4)
    return SearchResult(asked.text, passages, facts, seconds, paths, tuple(found.communities), missing=missing)


def keep_types(store: Store, found: Found, types: Sequence[str]) -> Found:
    """``found`` without facts, and paths over facts, that are about other things than ``types``; with all its passages.

    So Youtu-GraphRAG uses the schema types that a question involves (section 3.3).

    ``types`` are names of entity types, relations and attributes, in any spelling. A fact stays if its predicate is
    one of them and one of its entities has one of those types; what has no type of the schema contradicts none. If no
    fact that was found has any of the types of a kind, that kind is not asked for.
    """
    wanted = {type_key(name) for name in types} - {""}
    if not wanted or not (facts := found.every_fact):
        return found
    rows = store.read("search/fact_types", ids=sorted(facts))
    for kind in ("triple", "attribute"):  # without those of the kind with another predicate of the schema
        fits = {row["id"] for row in rows if row["kind"] == kind and _is_wanted(row["predicate"], wanted)}
        if fits:
            rows = [row for row in rows if row["kind"] != kind or row["predicate"] is None or row["id"] in fits]
    return found.keeping({row["id"] for row in _by_entities(rows, wanted)})


def _by_entities(rows: list[Row], wanted: set[str]) -> list[Row]:
    """``rows`` without those whose entities all have other types of the schema; all, if no entity has a wanted one."""
    if not any(_is_wanted(type_, wanted) for row in rows for type_ in row["types"]):
        return rows
    return [
        row
        for row in rows
        if not row["types"] or any(each is None or _is_wanted(each, wanted) for each in row["types"])
    ]


def _is_wanted(name: str | None, wanted: set[str]) -> bool:
    return name is not None and type_key(name) in wanted


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
    """What ``_walked`` found, with what the question names, as it was typed, in its places."""
    return with_terms(*_walked(store, question, without), "passage")


def _walked(store: Store, question: Question, without: Collection[str]) -> tuple[Found, Terms]:
    """Scores by the tempered personalised PageRank (docs/explanation/retrieval.md), for all that any route found.
    Routes ``without`` take no part, nor does ``community`` where the graph has no finished tree."""
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
            [] if {"entity", "path"} <= set(without) else entity_seeds(store, question, embedded, 3 * ENTITY_SEEDS)
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
    return found, terms


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
    """Of each key the first of its ids; and the position of each element's key. In the walk all elements of one name
    are one: their types come from different passages."""
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


Item = TypeVar("Item", FoundPassage, FoundFact, FoundPath, FoundCommunity)


def fuse_results(results: Sequence[SearchResult], top_k: int) -> SearchResult:
    """What ``results`` found, by the sum of 1, 1/2, 1/3, … for the first, second, third place in each.

    Each part of a question needs its own first passage: so the ranks are not damped, as reciprocal rank fusion does by
    60, which would prefer what is mediocre for all parts. Only what stands high in several comes before it. It comes
    once, with its best score and all routes that found it. The question is the first one, the seconds are added up.
    """
    return SearchResult(
        question=results[0].question if results else "",
        passages=_routed([result.passages for result in results], top_k),
        facts=_routed([result.facts for result in results], top_k),
        seconds=round(sum(result.seconds for result in results), 4),
        paths=_by_rank([result.paths for result in results], top_k),
        communities=_by_rank([result.communities for result in results], top_k),
    )


def _routed(lists: list[Any], top_k: int) -> tuple[Any, ...]:
    """As ``_by_rank``, each with what all that is the same has of routes and, for passages, of copies."""
    same: dict[Hashable, list[Any]] = {}
    for item in chain.from_iterable(lists):
        same.setdefault(_key(item), []).append(item)
    united = []
    for item in _by_rank(lists, top_k):
        alike = same[_key(item)]
        found = with_copies(item, alike) if isinstance(item, FoundPassage) else item
        united.append(replace(found, routes=tuple(sorted({route for each in alike for route in each.routes}))))
    return tuple(united)


def _by_rank(lists: Sequence[Sequence[Item]], top_k: int) -> tuple[Item, ...]:
    best: dict[Hashable, Item] = {}
    for item in chain.from_iterable(lists):
        known = best.setdefault(_key(item), item)
        best[_key(item)] = item if item.score > known.score else known
    keys = [[_key(item) for item in items] for items in lists]
    scores = rank_scores(keys, shift=0)
    in_turn = dict.fromkeys(key for place in zip_longest(*keys) for key in place if key is not None)
    return tuple(best[key] for key in sorted(in_turn, key=lambda key: -scores[key])[:top_k])


def _key(item: FoundPassage | FoundFact | FoundPath | FoundCommunity) -> Hashable:
    if isinstance(item, FoundPath):
        facts = tuple(fact.id for fact in item.facts)
        return min(facts, facts[::-1])
    return item.text if isinstance(item, FoundPassage) else item.id


ROUTES_OF_WHOLE = ("community", "entity", "path")
"""Those that walk over the whole graph; the others compare passages and facts."""
_PARTS = dict.fromkeys(("passage", "hybrid"), ("dense", "bm25")) | {
    "all": ("dense", "bm25", "stated"),
    "triple": ("stated",),
}
_MOST = 2000
"""Candidates that an index of the whole graph is asked for; more take longer than to compare all that fit."""


def _within(
    store: Store, question: Question, route: str, top_k: int, documents: Sequence[str], without: Collection[str]
) -> Found:
    """What ``route`` finds of ``documents`` (ids). The indexes are those of the whole graph and cannot be asked for a
    part of it. So they are asked for so many that about twice as many fit as are wanted; where that is too many, or
    those near the question are mostly of other documents, each passage and fact of these documents is compared.

    ``all``: the ranking of the whole graph's search, as far as it found these documents, merged with that of all their
    passages by meaning and by words; its facts are the nearest by meaning, none ``without`` the route ``triple``.
    """
    if not documents:
        return Found()
    if route in ROUTES_OF_WHOLE:
        raise InputError(f"The route {route} uses the whole graph and cannot be limited to some documents.", "where")
    count, chosen = max(top_k + SPARE, NEAREST), frozenset(documents)
    parts = _PARTS.get(route, (route,))
    if route == "all":
        parts = tuple(part for part in parts if ("triple" if part == "stated" else "passage") not in without)
    among = math.ceil(2 * count * store.read("search/document_count")[0]["documents"] / len(chosen)) + 250
    nearest = partial(_nearest, question, count, documents, among if among <= _MOST else None)
    works: list[Callable[[Store], Found]] = [partial(nearest, part) for part in parts]

    def of_all(store: Store) -> tuple[Found, Terms]:
        if route == "all":
            return _walked(store, question, without)
        return Found(), held_terms(store, question) if route == "bm25" else Terms()

    (walked, terms), *near = store.at_once(of_all, *works)
    found: dict[str, Found] = dict(zip(parts, near, strict=True))
    facts = found.pop("stated", Found())
    if route == "triple":
        return replace(facts, cited=sorted(facts.passages))
    walked = with_terms(walked, terms, "passage") if route == "all" else walked
    reached = sorted({*walked.passages, *chain.from_iterable(term.passages for term in terms.held)})
    rows = store.read("search/documents_of", ids=reached) if reached else []
    fitting = {row["id"] for row in rows if row["document"] in chosen}
    walked = replace(walked, passages={id_: score for id_, score in walked.passages.items() if id_ in fitting})
    each = [walked, *found.values()]
    scores = rank_scores(best(part.passages, len(part.passages)) for part in each)
    if route in found:
        scores = found[route].passages
    routes = _routes([part.passage_routes for part in each], scores)
    merged = Found(scores, facts.facts, routes, facts.fact_routes, cited=sorted(facts.passages))
    if route not in ("all", "bm25"):
        return merged
    held = (replace(term, passages=tuple(sorted(fitting.intersection(term.passages)))) for term in terms.held)
    terms = replace(terms, held=tuple(term for term in held if term.passages))
    return with_terms(merged, terms, "passage" if route == "all" else route)


def _nearest(
    question: Question, count: int, documents: Sequence[str], among: int | None, part: str, store: Store
) -> Found:
    """The best ``count`` passages or facts of ``documents`` by ``part``: ``among`` those that are best in the whole
    graph, if there are so many; else (and for None) each is compared."""
    if part == "bm25":
        rows = bm25_rows(store, question, count, documents, among)
        if among and len(rows) < count:
            rows = bm25_rows(store, question, count, documents)
    else:
        asked = {"k": count, "vector": question.vector, "documents": list(documents)}
        rows = store.read(f"search/{part}_among", among=among, **asked) if among else []
        if len(rows) < count:
            rows = store.read(f"search/{part}_in_documents", **asked)
    if part == "stated":
        return facts_found(rows, "triple")
    return scored(rows, part)
