"""A search in some documents alone, such as those of an author.

The indexes are those of the whole graph and cannot be asked for a part of it, so here each passage and fact of these
documents is compared with the question: exact, and as long as there are many of them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgplatform.errors import InputError
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.metadata import conditions, name_of
from kgplatform.neo4j.store import Store
from kgplatform.records import SearchResult
from kgplatform.search.all_routes import all_routes
from kgplatform.search.copies import SPARE
from kgplatform.search.found import Found, best, facts_found, look_up, rank_scores
from kgplatform.search.question import EmbeddedQuestion, make_question
from kgplatform.search.routes import NEAREST, dense_in_documents
from kgplatform.search.search import check_route, check_top_k, keep_types
from kgplatform.text import did_you_mean, listed

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


def search_within(
    store: Store,
    embedder: Embedder,
    question: str,
    route: str,
    top_k: int,
    documents: Sequence[str],
    types: Sequence[str] = (),
    without: Collection[str] = (),
) -> SearchResult:
    """The best ``top_k`` passages and facts of ``documents`` (ids), by one of ``ROUTES_WITHIN``.

    ``all``: the ranking of the whole graph's search, as far as it found these documents, merged with that of all their
    passages by meaning and by words; its facts are the nearest by meaning, none ``without`` the route ``triple``.
    ``types``, ``without``: as in ``search``. Raises ``InputError`` as that does, and for a route over the whole graph.
    """
    started = time.perf_counter()
    for name in (route, *without):
        check_route(name)
    check_top_k(top_k)
    if route not in ROUTES_WITHIN:
        raise InputError(
            f"The route {route} goes over the whole graph. To search some documents, choose {', '.join(ROUTES_WITHIN)}."
        )
    embedded = make_question(question, embedder)
    found = Found()
    if documents:
        found = keep_types(store, _found(store, embedder, embedded, route, top_k, documents, without), types)
    passages, facts, _ = look_up(store, replace(found, vector=embedded.vector, documents=documents), top_k)
    return SearchResult(embedded.text, passages, facts, round(time.perf_counter() - started, 4))


def _found(
    store: Store,
    embedder: Embedder,
    question: EmbeddedQuestion,
    route: str,
    top_k: int,
    documents: Sequence[str],
    without: Collection[str],
) -> Found:
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
        walked = _kept(store, all_routes(store, embedder, question.text, without, known=question.vector), documents)
    if route in ("bm25", "dense", "triple"):
        return {"bm25": bm25, "dense": dense, "triple": facts}[route]
    routes: dict[str, set[str]] = {}
    for part in (dense, bm25, walked):
        for passage, by in part.passage_routes.items():
            routes.setdefault(passage, set()).update(by)
    scores = rank_scores(best(part.passages, len(part.passages)) for part in (walked, dense, bm25))
    return Found(scores, facts.facts, routes, facts.fact_routes)


def _kept(store: Store, found: Found, documents: Sequence[str]) -> Found:
    """The passages of ``found`` that are of ``documents``."""
    rows = store.read("search/in_documents", ids=sorted(found.passages), documents=list(documents))
    ids = {row["id"] for row in rows}
    return Found(
        {id_: score for id_, score in found.passages.items() if id_ in ids},
        {},
        {id_: by for id_, by in found.passage_routes.items() if id_ in ids},
    )
