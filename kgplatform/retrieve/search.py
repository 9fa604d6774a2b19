"""One search: a question, a route, the best of what it found."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from kgplatform.embed import Embedder
from kgplatform.errors import InputError
from kgplatform.records import SearchResult
from kgplatform.retrieve.everything import all_routes
from kgplatform.retrieve.found import Found
from kgplatform.retrieve.lookup import look_up
from kgplatform.retrieve.question import Question, make_question
from kgplatform.retrieve.routes import ROUTES, dense_in_documents
from kgplatform.retrieve.types import keep_types
from kgplatform.store import Store
from kgplatform.text import did_you_mean

SEARCHES = ("all", *ROUTES)


def search(
    store: Store,
    embedder: Embedder,
    question: str,
    route: str,
    top_k: int,
    types: Sequence[str] = (),
    without: Collection[str] = (),
) -> SearchResult:
    """The best ``top_k`` passages and facts; of route ``path`` the paths, of ``community`` the communities too.

    ``types``: names of schema types; facts and paths about others are left out (see ``kgplatform.retrieve.types``).
    ``without``: routes that take no part in ``all``. Raises ``InputError`` for an unknown route, an empty question, or
    the route ``community`` where there is no knowledge tree.
    """
    started = time.perf_counter()
    for each in (route, *without):
        check_route(each)
    if top_k < 1:
        raise InputError("top_k must be at least 1.")
    asked = make_question(question, embedder)
    found = keep_types(store, _find(store, asked, route, top_k, without), types)
    passages, facts, paths = look_up(store, found, top_k)
    seconds = round(time.perf_counter() - started, 4)
    return SearchResult(asked.text, passages, facts, seconds, paths, tuple(found.communities))


def search_documents(
    store: Store, embedder: Embedder, question: str, documents: Sequence[str], top_k: int
) -> SearchResult:
    """The ``top_k`` passages of ``documents`` (ids) that are nearest to the question by meaning, as ``dense`` has them.

    The indexes are those of the whole graph: here every passage of the documents is compared.
    """
    started = time.perf_counter()
    asked = make_question(question, embedder)
    found = dense_in_documents(store, asked, documents, top_k)
    passages, facts, _ = look_up(store, found, top_k)
    return SearchResult(asked.text, passages, facts, round(time.perf_counter() - started, 4))


def _find(store: Store, question: Question, route: str, top_k: int, without: Collection[str]) -> Found:
    if route == "all":
        return all_routes(store, question, without)
    return ROUTES[route](store, question, top_k)


def check_route(route: str) -> None:
    """Raise ``InputError``, with the nearest name, for a route that does not exist."""
    if route not in SEARCHES:
        hint = did_you_mean(route, SEARCHES)
        raise InputError(f"There is no route {route!r}; there are {', '.join(sorted(SEARCHES))}.{hint}")
