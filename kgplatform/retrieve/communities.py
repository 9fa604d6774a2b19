"""Route ``community``: from the communities of the knowledge tree near a question down to facts and passages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kgplatform.errors import InputError
from kgplatform.records import FoundCommunity
from kgplatform.retrieve.found import Found, facts_found
from kgplatform.retrieve.question import Question
from kgplatform.store import Row, Store

NEAREST = 50
"""How many the vector index is asked for; fewer, and it misses near ones."""
COMMUNITIES = 5
"""Communities that are walked down from."""
MEMBERS = 10
"""Entities of a community, the nearest to the question."""
FACTS = 5
"""Facts of such an entity."""
BEST = 50
"""Facts of all of them, beside those that the route ``triple`` finds."""
HUB = 1000
"""Of a community with more entities than this, and of an entity with more facts, only so many are looked at."""


@dataclass(frozen=True, slots=True)
class Near:
    """Communities near a question, best first, and rows of the facts of their nearest entities."""

    communities: tuple[FoundCommunity, ...]
    facts: list[Row]


NOWHERE = Near((), [])
"""Near no community."""


def communities_near(store: Store, question: Question, facts: int = FACTS, best: int = BEST) -> Near:
    """Nothing at all where the graph has no finished tree. ``facts``: how many of an entity; ``best``: in all."""
    rows = store.read(
        "retrieve/community",
        k=NEAREST,
        count=COMMUNITIES,
        members=MEMBERS,
        facts=facts,
        best=best,
        hub=HUB,
        vector=question.vector,
    )
    names = ("id", "cosine", "elements", "chunks")
    return Near(
        tuple(
            FoundCommunity(**{**each, "score": round(each["score"], 6)}) for row in rows for each in row["communities"]
        ),
        [dict(zip(names, fact, strict=True)) for row in rows for fact in row["facts"]],
    )


def community_route(store: Store, question: Question, top_k: int) -> Found:
    """The facts of the nearest communities' nearest entities. Raises ``InputError`` where there is no finished tree."""
    near = communities_near(store, question, max(FACTS, top_k), max(COMMUNITIES * MEMBERS * FACTS, top_k))
    if not near.communities and not store.read("retrieve/tree"):
        raise InputError("The graph has no finished knowledge tree. Run `kgplatform tree` first, or use another route.")
    return replace(facts_found(near.facts, "community"), communities=near.communities)
