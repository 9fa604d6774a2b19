"""The single routes: passage, triple, entity, path. Each turns a question into scored passages and facts."""

from __future__ import annotations

from dataclasses import dataclass

from kgplatform.retrieve.found import Found, keep_best
from kgplatform.retrieve.fuse import COSINE_SHARE
from kgplatform.retrieve.question import Question, longest_names
from kgplatform.store import Row, Store

NEAREST = 50
"""Fewest that a vector index is asked for: asked for 10 chunks, it finds 0.94 of the 10 nearest; asked for 50, all."""
ENTITY_SEEDS = 10
"""Entities that are looked at because their names are near the question by meaning."""
FACTS_PER_ENTITY = 10
HUB_FACTS = 300
"""Of an entity with more facts than this, only so many are compared with the question."""
BEAM = 10
DEPTH = 5
"""Hops of a path (Youtu-GraphRAG, eq. 10)."""


def passage_route(store: Store, question: Question, top_k: int) -> Found:
    """Passages by meaning and words: 0.8 cosine + 0.2 BM25, as a share of the best BM25 (RETRIEVAL.md, step 5)."""
    return passages_found(passage_rows(store, question, max(top_k, NEAREST)))


def passage_rows(store: Store, question: Question, count: int) -> list[Row]:
    """The ``count`` nearest by meaning and by words, each with its cosine and BM25."""
    return store.read("retrieve/passage", k=count, vector=question.vector, words=question.words)


def passages_found(rows: list[Row]) -> Found:
    """Scores of ``passage_rows``."""
    top = max((row["bm25"] for row in rows), default=0.0) or 1.0
    scores = {row["id"]: COSINE_SHARE * row["cosine"] + (1 - COSINE_SHARE) * row["bm25"] / top for row in rows}
    return Found(scores, {}, {each: {"passage"} for each in scores})


def triple_route(store: Store, question: Question, top_k: int) -> Found:
    """Facts by meaning, and the passages that state them."""
    return facts_found(store.read("retrieve/triple", k=max(top_k, NEAREST), vector=question.vector), "triple")


def facts_found(rows: list[Row], route: str) -> Found:
    """Scores of rows with an id, a cosine and chunks; a passage scores as the best fact that it states."""
    facts: dict[str, float] = {}
    passages: dict[str, float] = {}
    for row in rows:
        keep_best(facts, [row["id"]], row["cosine"])
        keep_best(passages, row["chunks"], row["cosine"])
    return Found(passages, facts, {each: {route} for each in passages}, {each: {route} for each in facts})


def entity_route(store: Store, question: Question, top_k: int) -> Found:
    """Entities that the question names or nearly means, their facts, and the passages that state those."""
    seeds = entity_seeds(store, question)
    rows = _facts_of(store, question, [each.id for each in seeds], max(top_k, FACTS_PER_ENTITY))
    return facts_found(rows, "entity")


@dataclass(frozen=True, slots=True)
class EntitySeed:
    """An entity that a question is about. ``score``: 1 if the question names it, else the cosine of its name."""

    id: str
    score: float


def entity_seeds(store: Store, question: Question) -> list[EntitySeed]:
    """Named ones first. Of names inside each other the longest counts."""
    rows = store.read("retrieve/entity", k=ENTITY_SEEDS, vector=question.vector, names=list(question.names))
    named = longest_names(question.text, (row["key"] for row in rows if row["named"]))
    return [
        EntitySeed(row["id"], 1.0 if row["named"] else row["cosine"])
        for row in rows
        if row["key"] in named or not row["named"]
    ]


def _facts_of(store: Store, question: Question, entities: list[str], count: int) -> list[Row]:
    if not entities:
        return []
    return store.read("retrieve/facts_of_entities", entities=entities, k=count, hub=HUB_FACTS, vector=question.vector)


# ------------------------------------------------------------------------------------------------------------- paths


@dataclass(frozen=True, slots=True)
class Path:
    """A walk over facts that repeats no entity. ``score``: the mean cosine of its facts with the question."""

    entities: tuple[str, ...]
    facts: tuple[str, ...]
    cosines: tuple[float, ...]
    chunks: tuple[tuple[str, ...], ...]

    @property
    def score(self) -> float:
        """Higher is better; a start alone has none."""
        return sum(self.cosines) / len(self.cosines) if self.cosines else 0.0


def path_route(store: Store, question: Question, top_k: int, depth: int = DEPTH) -> Found:
    """Facts along the best paths from the question's entities, in both directions, and the passages that state them."""
    paths = walk(store, question, [each.id for each in entity_seeds(store, question)], depth)
    facts: dict[str, float] = {}
    passages: dict[str, float] = {}
    for path in paths[: max(top_k, BEAM)]:
        keep_best(facts, path.facts, path.score)
        for chunks in path.chunks:
            keep_best(passages, chunks, path.score)
    return Found(passages, facts, {each: {"path"} for each in passages}, {each: {"path"} for each in facts})


def walk(store: Store, question: Question, starts: list[str], depth: int) -> list[Path]:
    """The best paths of 1 to ``depth`` hops, best first: hop by hop, the best 10 of each length walk on."""
    found: list[Path] = []
    beam = [Path((each,), (), (), ()) for each in starts]
    for _ in range(depth):
        ends = sorted({path.entities[-1] for path in beam})
        steps: dict[str, list[Row]] = {}
        for row in _facts_of(store, question, ends, BEAM):
            steps.setdefault(row["entity"], []).append(row)
        longer = [_longer(path, row) for path in beam for row in steps.get(path.entities[-1], ())]
        beam = sorted((path for path in longer if path is not None), key=_order)[:BEAM]
        if not beam:
            break
        found += beam
    return sorted(found, key=_order)


def _longer(path: Path, row: Row) -> Path | None:
    """``path`` with one more fact, or None if that leads nowhere new."""
    others = [each for each in (*row["subject"], *row["object"]) if each != path.entities[-1]]
    if len(others) != 1 or others[0] in path.entities:
        return None
    return Path(
        (*path.entities, others[0]),
        (*path.facts, row["id"]),
        (*path.cosines, row["cosine"]),
        (*path.chunks, tuple(row["chunks"])),
    )


def _order(path: Path) -> tuple[float, int, tuple[str, ...]]:
    return -path.score, len(path.facts), path.facts


ROUTES = {"entity": entity_route, "triple": triple_route, "path": path_route, "passage": passage_route}
