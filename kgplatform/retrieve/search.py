"""One search: a question, a route, the best of what it found."""

from __future__ import annotations

import time
from difflib import get_close_matches

from kgplatform.embed import Embedder
from kgplatform.errors import InputError
from kgplatform.records import SearchResult
from kgplatform.retrieve.everything import all_routes
from kgplatform.retrieve.lookup import look_up
from kgplatform.retrieve.question import make_question
from kgplatform.retrieve.routes import ROUTES
from kgplatform.store import Store

SEARCHES = {"all": all_routes, **ROUTES}


def search(store: Store, embedder: Embedder, question: str, route: str, top_k: int) -> SearchResult:
    """The best ``top_k`` passages and facts. Raises ``InputError`` for an unknown route or an empty question."""
    started = time.perf_counter()
    if route not in SEARCHES:
        near = get_close_matches(route, SEARCHES, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise InputError(f"There is no route {route!r}; there are {', '.join(sorted(SEARCHES))}.{hint}")
    if top_k < 1:
        raise InputError("top_k must be at least 1.")
    asked = make_question(question, embedder)
    found = SEARCHES[route](store, asked, top_k)
    passages, facts = look_up(store, found, top_k)
    return SearchResult(asked.text, passages, facts, round(time.perf_counter() - started, 4))
