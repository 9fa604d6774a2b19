"""The single routes: passage, bm25, dense, hybrid, triple, entity, path, community: what each finds for a question; and
what the question names as it was typed, with the places that passages which have it get in a ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kgplatform.neo4j.store import Row, Store
from kgplatform.records import FoundCommunity
from kgplatform.search.communities import check_tree
from kgplatform.search.found import Found, Hop, Path, best, best_scores, facts_found, rank_scores
from kgplatform.search.fuse import COSINE_SHARE, COSINE_SHARE_BY_WORDS
from kgplatform.search.question import Question
from kgplatform.text.languages import Phrase, full_text_query

NEAREST = 50
"""Fewest that a vector index is asked for: asked for 10 passages, it finds 0.94 of the nearest; asked for 50, all."""
ENTITY_SEEDS = 10
"""Entities that are looked at because their names are near the question by meaning."""
FACTS_PER_ENTITY = 10
BEAM = 10
"""Neighbours of an entity that are looked at, and paths of one length that walk on."""
DEPTH = 5
"""Hops of a path (Youtu-GraphRAG, eq. 10)."""
HUB_FACTS = 300
"""Of an entity with more facts than this, only this many are compared with the question."""
COMMUNITIES = 5
"""Communities that are walked down from."""
MEMBERS = 10
"""Entities of a community, the nearest to the question."""
FACTS = 5
"""Facts of such an entity."""
BEST = 50
"""Facts of all of them, beside those that the route ``triple`` finds."""
HUB = 1000
"""Of a community with more entities than this, and of an entity with more facts, only this many are looked at."""
_ALL = 2**31 - 1
"""What a full-text index gives at most."""


def passage_route(store: Store, question: Question, top_k: int) -> Found:
    """Passages by meaning and words: 0.8 cosine + 0.2 BM25, as a share of the best BM25 (``cosine_share``)."""
    count = max(top_k, NEAREST)
    rows = bm25_rows(store, question, count)
    share = cosine_share(question, any(row["foreign"] for row in rows))
    return passages_found(passage_rows(store, question, count, {row["id"]: row["score"] for row in rows}), share)


def cosine_share(question: Question, has_foreign: bool) -> float:
    """What the cosine has of a passage's similarity. Little where the embedding model does not know the question's
    language, and there are texts in another language than English (``has_foreign``) that share words with it."""
    return COSINE_SHARE_BY_WORDS if question.by_words and has_foreign else COSINE_SHARE


def passage_rows(store: Store, question: Question, count: int, bm25: Mapping[str, float]) -> list[Row]:
    """The ``count`` nearest by meaning and those of ``bm25``, each with its cosine and BM25."""
    rows = store.read("search/passage", k=count, vector=question.vector, ids=list(bm25))
    return [{**row, "bm25": bm25.get(row["id"], 0.0)} for row in rows]


def passages_found(rows: list[Row], share: float) -> Found:
    """Scores of ``passage_rows``; ``share``: what the cosine has of them."""
    top = max((row["bm25"] for row in rows), default=0.0) or 1.0
    scores = {row["id"]: share * row["cosine"] + (1 - share) * row["bm25"] / top for row in rows}
    return Found(scores, {}, {passage: {"passage"} for passage in scores})


def bm25_route(store: Store, question: Question, top_k: int) -> Found:
    """Passages by words alone: the baseline of papers, no part of ``all`` (GraphReader, section 4.1)."""
    found = scored(bm25_rows(store, question, max(top_k, NEAREST)), "bm25")
    return with_terms(found, held_terms(store, question), "bm25")


def with_terms(found: Found, terms: Terms, route: str) -> Found:
    """``found`` with the passages that have ``terms`` as they were typed. The scores are dealt out anew, so that those
    come first which have a sign that few have, and the best of each other term among the first three."""
    passages = dict(found.passages)
    if terms.held:
        order = best(passages, len(passages))
        place = {id_: number for number, id_ in enumerate(order)}
        signs = [term for term in terms.held if term.is_sign and len(term.passages) <= FEW]
        having = {id_: sum(id_ in term.passages for term in signs) for term in signs for id_ in term.passages}
        front = sorted(having, key=lambda id_: (-having[id_], place.get(id_, len(place)), id_))
        order = front + [id_ for id_ in order if id_ not in having]
        for term in terms.held:
            if not {*order[: PLACE + 1], *front}.intersection(term.passages):
                chosen = min(term.passages, key=lambda id_: place.get(id_, len(place)))
                order = [id_ for id_ in order if id_ != chosen]
                order.insert(max(PLACE, len(front)), chosen)
        falling = sorted(passages.values(), reverse=True)
        passages, above = {}, math.inf
        for number, id_ in enumerate(order):
            score = falling[min(number, len(falling) - 1)] if falling else 0.0
            above = passages[id_] = min(score, math.nextafter(above, -math.inf))  # of equal ones the ids would decide
    routes = {id_: {route} for id_ in passages} | found.passage_routes
    return replace(found, passages=passages, passage_routes=routes, missing=terms.missing)


def bm25_rows(
    store: Store, question: Question, count: int, documents: Sequence[str] = (), among: int | None = None
) -> list[Row]:
    """The ``count`` passages that share most with the question by words, each with its BM25; where ``documents`` (ids)
    are named those of these, ``among`` the best of the whole graph (by default all)."""
    asked = {"words": question.words, "terms": question.terms, "typed": question.typed}
    most = (among or _ALL) if documents else count
    return store.read("search/bm25", k=count, most=most, documents=list(documents), **asked)


def dense_route(store: Store, question: Question, top_k: int) -> Found:
    """Passages by meaning alone: the other baseline of papers, no part of ``all``."""
    rows = store.read("search/dense", k=max(top_k, NEAREST), vector=question.vector)
    return scored(rows, "dense")


def hybrid_route(store: Store, question: Question, top_k: int) -> Found:
    """Passages by words and by meaning, the two rankings merged by reciprocal rank fusion; no part of ``all``."""
    found = (route(store, question, top_k).passages for route in (bm25_route, dense_route))
    scores = rank_scores(best(each, len(each)) for each in found)
    return Found(scores, {}, {id_: {"hybrid"} for id_ in scores})


def scored(rows: list[Row], route: str) -> Found:
    """Scores of rows of passages with an id and a score."""
    return Found({row["id"]: row["score"] for row in rows}, {}, {row["id"]: {route} for row in rows})


def triple_route(store: Store, question: Question, top_k: int) -> Found:
    """Facts by meaning, and the passages that state them."""
    return facts_found(fact_rows(store, question, max(top_k, NEAREST)), "triple")


def fact_rows(store: Store, question: Question, count: int) -> list[Row]:
    """The ``count`` facts nearest by meaning, each with its cosine, its entities and the passages that state it."""
    return store.read("search/triple", k=count, vector=question.vector)


def entity_route(store: Store, question: Question, top_k: int) -> Found:
    """Entities that the question names or nearly means, their facts, and the passages that state those."""
    return facts_found(facts_about(store, question, entity_seeds(store, question), top_k), "entity")


def facts_about(store: Store, question: Question, entities: list[str], top_k: int = 0) -> list[Row]:
    """Facts of ``entities``, of each those nearest to the question, each with its cosine, elements and passages."""
    chosen = {"entities": entities, "k": max(top_k, FACTS_PER_ENTITY), "hub": HUB_FACTS}
    return store.read("search/facts_of_entities", **chosen, vector=question.vector) if entities else []


def path_route(store: Store, question: Question, top_k: int, depth: int = DEPTH) -> Found:
    """The best paths from the question's entities, in both directions, and the passages that state their facts; as many
    of each length as can be: by score alone the short ones would win."""
    ranks: dict[int, int] = {}
    by_turns: list[tuple[int, Path]] = []
    for path in walk(store, question, entity_seeds(store, question), depth):
        rank = ranks[len(path.hops)] = ranks.get(len(path.hops), -1) + 1
        by_turns.append((rank, path))
    chosen = sorted(by_turns, key=lambda turn: (turn[0], len(turn[1].hops)))[: max(top_k, BEAM)]
    return path_found(sorted((path for _, path in chosen), key=_order))


def entity_seeds(
    store: Store, question: Question, names: Iterable[str] | None = None, among: int = ENTITY_SEEDS + 100
) -> list[str]:
    """The ids of entities that a question names, or nearly means; of names inside each other the longest counts.

    ``names``: those of the question's that any entity has, where that is known. ``among``: how many candidates the
    vector index looks through.
    """
    chosen = question.names if names is None else sorted(set(names))
    rows = store.read("search/entity", k=ENTITY_SEEDS, among=among, vector=question.vector, names=list(chosen))
    named = question.longest(row["key"] for row in rows if row["named"])
    return [row["id"] for row in rows if row["key"] in named or not row["named"]]


def path_found(paths: list[Path]) -> Found:
    """The facts of ``paths`` and the passages that state them; each scores as the best path that it lies on."""
    facts = best_scores((fact, path.score) for path in paths for fact in path.facts)
    passages = best_scores((passage, path.score) for path in paths for hop in path.hops for passage in hop.passages)
    routes = ({passage: {"path"} for passage in passages}, {fact: {"path"} for fact in facts})
    return Found(passages, facts, *routes, paths=paths)


def walk(store: Store, question: Question, starts: list[str], depth: int) -> list[Path]:
    """The best paths of 1 to ``depth`` hops, best first: hop by hop, the best 10 of each length walk on. Only facts
    between two entities lead anywhere. A path and its reverse are one."""
    found: list[Path] = []
    beam = [Path(start, "") for start in starts]
    steps = _steps(store, question, starts, BEAM if depth > 1 else 0)  # the first two hops in one round trip
    for hop in range(depth):
        if hop > 1:
            steps |= _steps(store, question, sorted({path.end for path in beam} - steps.keys()))
        ways = _best_ways(beam, steps)
        if not ways:
            break
        found += [way[0] for way in ways]
        beam = [path for way in ways for path in way]  # a path and its reverse continue from different ends
    return sorted(found, key=_order)


def _best_ways(beam: list[Path], steps: Mapping[str, list[Row]]) -> list[list[Path]]:
    """The best paths that are one hop longer, those over the same facts together, whichever way they walk them. A path
    is made only of what stays: of a hundred hops ten do."""
    longer = [
        (
            -(sum(hop.cosine for hop in path.hops) + row["cosine"]) / (len(path.hops) + 1),
            (*path.facts, row["id"]),
            path,
            row,
        )
        for path in beam
        for row in steps.get(path.end, ())
    ]
    ways: dict[tuple[str, ...], list[Path]] = {}
    for _, facts, path, row in sorted(longer, key=lambda each: each[:2]):
        if row["next"] in path.entities:
            continue
        key = min(facts, facts[::-1])
        if key in ways or len(ways) < BEAM:
            named = row["id"], row["cosine"], row["predicate"], row["forward"], row["next"], row["nextName"]
            hop = Hop(*named, tuple(row["passages"]))
            longer_path = Path(path.start, path.start_name or row["name"], (*path.hops, hop))
            ways.setdefault(key, []).append(longer_path)
    return list(ways.values())


def _steps(store: Store, question: Question, entities: list[str], beam: int = 0) -> dict[str, list[Row]]:
    """The hops that lead on from each of ``entities``, and from those that the best ``beam`` of these lead to."""
    steps: dict[str, list[Row]] = {entity: [] for entity in entities}
    if entities:
        bounds = {"k": BEAM, "hub": HUB_FACTS, "beam": beam}
        for row in store.read("search/steps", entities=entities, **bounds, vector=question.vector):
            steps.setdefault(row["entity"], []).append(row)
    return steps


def _order(path: Path) -> tuple[float, int, tuple[str, ...]]:
    return -path.score, len(path.hops), path.facts


@dataclass(frozen=True, slots=True)
class Near:
    """Communities near a question, best first, and rows of the facts of their nearest entities."""

    communities: tuple[FoundCommunity, ...]
    facts: list[Row]


NOWHERE = Near((), [])
"""Near no community."""


def communities_near(store: Store, question: Question, facts: int = FACTS, best: int = BEST) -> Near:
    """Nothing at all where the graph has no finished tree. ``facts``: how many of an entity; ``best``: in all."""
    bounds = {"k": NEAREST, "count": COMMUNITIES, "members": MEMBERS, "facts": facts, "best": best, "hub": HUB}
    rows = store.read("search/community", **bounds, vector=question.vector)
    found = (community | {"score": round(community["score"], 6)} for row in rows for community in row["communities"])
    names = ("id", "cosine", "elements", "passages")
    facts_near = [dict(zip(names, fact, strict=True)) for row in rows for fact in row["facts"]]
    return Near(tuple(FoundCommunity(**community) for community in found), facts_near)


def community_route(store: Store, question: Question, top_k: int) -> Found:
    """The facts of the nearest communities' nearest entities. Raises ``InputError`` where there is no finished tree."""
    near = communities_near(store, question, max(FACTS, top_k), max(COMMUNITIES * MEMBERS * FACTS, top_k))
    if not near.communities:
        check_tree(store)
    return replace(facts_found(near.facts, "community"), communities=near.communities)


FEW = 3
"""A sign that no more passages have leads to these alone: they come first."""
MOST = 50
"""Passages of a term that are looked at."""
RARE = 10
"""A name that more passages have leads nowhere in particular."""
PLACE = 2
"""The best passage of any other term has this place, or one before it: the third, counted from 0."""


@dataclass(frozen=True, slots=True)
class Term:
    """A phrase of a question, and the passages that have it. ``is_sign``: it has a number, an address or the like."""

    passages: tuple[str, ...]
    is_sign: bool


@dataclass(frozen=True, slots=True)
class Terms:
    """What a question names: the longest phrases that any passage has, and those that none has (``missing``), which is
    None where nothing is named, or the graph is one of an earlier version."""

    held: tuple[Term, ...] = ()
    missing: tuple[str, ...] | None = None


def held_terms(store: Store, question: Question) -> Terms:
    """What passages have of the names and signs in ``question``, as they were typed."""
    runs = [[(each, full_text_query([*each.spellings])) for each in run] for run in question.named]
    phrases = sorted({query for run in runs for _, query in run})
    rows = store.read("search/exact", phrases=phrases, most=MOST) if phrases else []
    if not rows:
        return Terms()
    holders = {row["phrase"]: tuple(row["passages"]) for row in rows}
    held: list[Term] = []
    for run in runs:
        counted: list[Phrase] = []  # of phrases inside each other the longest counts
        for phrase, query in run:
            passages = holders[query]
            if passages and all(phrase.end <= other.start or other.end <= phrase.start for other in counted):
                counted.append(phrase)
                held += [Term(passages, phrase.is_sign)] if phrase.is_sign or len(passages) <= RARE else []
    return Terms(tuple(held), tuple(run[0][0].text for run in runs if not holders[run[0][1]]))


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
