"""A search: a question, a route, the best of what it found; by schema types; and the results of several in one."""

from __future__ import annotations

import time
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any, TypeVar

from kgplatform.errors import InputError
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.metadata import conditions, name_of
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import FoundCommunity, FoundFact, FoundPassage, FoundPath, SearchResult
from kgplatform.search.all_routes import all_routes
from kgplatform.search.found import SPARE, Found, best, facts_found, look_up, rank_scores, with_copies
from kgplatform.search.question import Question
from kgplatform.search.routes import NEAREST, ROUTES, dense_in_documents, held_terms
from kgplatform.text import did_you_mean, listed, type_key, unknown

SEARCHES = ("all", *ROUTES)


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
    facts of ``documents`` alone, by one of ``ROUTES_WITHIN``. Raises ``InputError`` for an unknown route, an empty
    question, the route ``community`` where there is no knowledge tree, or a route over the whole graph ``within`` some.
    """
    started = time.perf_counter()
    for name in (route, *without):
        check_route(name)
    check_top_k(top_k)
    asked = Question(question, embedder)
    if within:
        found = _within(store, asked, route, top_k, documents, without)
    elif documents:
        found = dense_in_documents(store, asked, documents, top_k + SPARE)
    else:
        found = all_routes(store, asked, without) if route == "all" else ROUTES[route](store, asked, top_k)
    missing = found.missing if route in ("all", "bm25") else held_terms(store, asked).missing
    found = keep_types(store, replace(found, vector=asked.vector, documents=documents if within else None), types)
    passages, facts, paths = look_up(store, found, top_k)
    seconds = round(time.perf_counter() - started, 4)
    return SearchResult(asked.text, passages, facts, seconds, paths, tuple(found.communities), missing=missing)


def check_route(route: str) -> None:
    """Raise ``InputError``, with the nearest name, for a route that does not exist."""
    if route not in SEARCHES:
        raise InputError(unknown("route", str(route), sorted(SEARCHES)))


def check_top_k(top_k: int) -> None:
    """Raise ``InputError`` for no results at all."""
    if top_k < 1:
        raise InputError("top_k must be at least 1.", "top_k")


def keep_types(store: Store, found: Found, types: Sequence[str]) -> Found:
    """``found`` without facts, and paths over facts, that are about other things than ``types``; with all its passages.

    So Youtu-GraphRAG uses the schema types that a question involves (section 3.3).

    ``types`` are names of entity types, relations and attributes, in any spelling. A fact stays if its predicate is
    one of them and one of its entities has one of those types; what has no type of the schema contradicts none. If no
    fact that was found has any of the types of a kind, that kind is not asked for.
    """
    wanted = {type_key(name) for name in types} - {""}
    facts = {*found.facts, *(fact for path in found.paths for fact in path.facts)}
    if not wanted or not facts:
        return found
    rows = store.read("search/fact_types", ids=sorted(facts))
    kept = _by_entities(_by_predicate(_by_predicate(rows, "triple", wanted), "attribute", wanted), wanted)
    ids = {row["id"] for row in kept}
    return replace(
        found,
        facts={fact: score for fact, score in found.facts.items() if fact in ids},
        paths=[path for path in found.paths if ids.issuperset(path.facts)],
    )


def _by_predicate(rows: list[Row], kind: str, wanted: set[str]) -> list[Row]:
    """``rows`` without those of ``kind`` with another predicate of the schema; all, if none has a wanted one."""
    fits = {row["id"] for row in rows if row["kind"] == kind and _is_wanted(row["predicate"], wanted)}
    if not fits:
        return rows
    return [row for row in rows if row["kind"] != kind or row["predicate"] is None or row["id"] in fits]


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


ROUTES_WITHIN = ("all", "bm25", "dense", "hybrid", "passage", "triple")
"""Those that compare passages and facts; the others walk over the whole graph."""


def documents_where(store: Store, where: Mapping[str, Any]) -> list[str]:
    """The ids of the documents whose metadata are as ``where`` says: "author" is one of its values, and so is "year".

    Raises ``InputError`` for what can be no metadata, and for a name that no document has.
    """
    asked = conditions(where)
    found = [str(row["id"]) for row in store.read("search/documents_where", where=asked)]
    if not found:
        known = [name_of(row["name"]) for row in store.read("search/metadata_names")]
        for name in (name_of(each["property"]) for each in asked):
            if name not in known:
                has = f"The documents have {listed(known)}." if known else "No document has any."
                raise InputError(f'No document has metadata "{name}".{did_you_mean(name, known)} {has}', "where")
    return found


def _within(
    store: Store, question: Question, route: str, top_k: int, documents: Sequence[str], without: Collection[str]
) -> Found:
    """What ``route`` finds of ``documents`` (ids). The indexes are those of the whole graph and cannot be asked for a
    part of it, so each passage and fact of these documents is compared: exact, and as long as there are many of them.

    ``all``: the ranking of the whole graph's search, as far as it found these documents, merged with that of all their
    passages by meaning and by words; its facts are the nearest by meaning, none ``without`` the route ``triple``.
    """
    if route not in ROUTES_WITHIN:
        raise InputError(
            f"The route {route} goes over the whole graph. To search some documents, choose {', '.join(ROUTES_WITHIN)}."
        )
    if not documents:
        return Found()
    count = max(top_k + SPARE, NEAREST)
    chosen = {"documents": list(documents), "k": count}
    dense = bm25 = walked = facts = Found()
    parts = {"passage", "triple"} - set(without) if route == "all" else {route}
    if parts & {"passage", "hybrid", "dense"}:
        dense = dense_in_documents(store, question, documents, count)
    if parts & {"passage", "hybrid", "bm25"}:
        rows = store.read("search/bm25_in_documents", **chosen, words=question.words)
        bm25 = Found({row["id"]: row["score"] for row in rows}, {}, {row["id"]: {"bm25"} for row in rows})
    if "triple" in parts:
        facts = facts_found(store.read("search/facts_in_documents", **chosen, vector=question.vector), "triple")
    if route == "all":
        walked = all_routes(store, question, without)
        ids = {
            row["id"]
            for row in store.read("search/in_documents", ids=sorted(walked.passages), documents=list(documents))
        }
        passages = {id_: score for id_, score in walked.passages.items() if id_ in ids}
        walked = Found(passages, {}, {id_: by for id_, by in walked.passage_routes.items() if id_ in ids})
    if route in ("bm25", "dense", "triple"):
        return {"bm25": bm25, "dense": dense, "triple": facts}[route]
    routes: dict[str, set[str]] = {}
    for part in (dense, bm25, walked):
        for passage, by in part.passage_routes.items():
            routes.setdefault(passage, set()).update(by)
    scores = rank_scores(best(part.passages, len(part.passages)) for part in (walked, dense, bm25))
    return Found(scores, facts.facts, routes, facts.fact_routes)
