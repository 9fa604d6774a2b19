"""Route ``path``: walks over facts from the entities that a question is about, hop by hop, in both directions."""

from __future__ import annotations

from kgplatform.retrieve.found import Found, Hop, Path, keep_best
from kgplatform.retrieve.question import Question
from kgplatform.store import Row, Store

BEAM = 10
"""Neighbours of an entity that are looked at, and paths of one length that walk on."""
DEPTH = 5
"""Hops of a path (Youtu-GraphRAG, eq. 10)."""
HUB_FACTS = 300
"""Of an entity with more facts than this, only so many are compared with the question."""


def path_found(paths: list[Path]) -> Found:
    """The facts of ``paths`` and the passages that state them; each scores as the best path that it lies on."""
    facts: dict[str, float] = {}
    passages: dict[str, float] = {}
    for path in paths:
        keep_best(facts, path.facts, path.score)
        keep_best(passages, (chunk for hop in path.hops for chunk in hop.chunks), path.score)
    routes = ({each: {"path"} for each in passages}, {each: {"path"} for each in facts})
    return Found(passages, facts, *routes, paths=paths)


def walk(store: Store, question: Question, starts: list[str], depth: int) -> list[Path]:
    """The best paths of 1 to ``depth`` hops, best first: hop by hop, the best 10 of each length walk on.

    Only facts between two entities lead anywhere. A path and its reverse are one.
    """
    found: list[Path] = []
    beam = [Path(each, "") for each in starts]
    for _ in range(depth):
        steps = _steps(store, question, sorted({path.end for path in beam}))
        longer = [
            Path(path.start, path.start_name or row["name"], (*path.hops, _hop(row)))
            for path in beam
            for row in steps.get(path.end, ())
            if row["next"] not in path.entities
        ]
        ways = _by_facts(sorted(longer, key=_order))[:BEAM]
        if not ways:
            break
        found += [way[0] for way in ways]
        beam = [path for way in ways for path in way]  # a path and its reverse go on from different ends
    return sorted(found, key=_order)


def of_each_length(paths: list[Path], count: int) -> list[Path]:
    """``count`` of ``paths``, best first, as many of each length as can be: by score alone the short ones would win."""
    ranks: dict[int, int] = {}
    by_turns: list[tuple[int, Path]] = []
    for path in sorted(paths, key=_order):
        rank = ranks[len(path.hops)] = ranks.get(len(path.hops), -1) + 1
        by_turns.append((rank, path))
    chosen = sorted(by_turns, key=lambda each: (each[0], len(each[1].hops)))[:count]
    return sorted((path for _, path in chosen), key=_order)


def _steps(store: Store, question: Question, entities: list[str]) -> dict[str, list[Row]]:
    """The hops that lead on from each of ``entities``."""
    steps: dict[str, list[Row]] = {}
    if entities:
        for row in store.read("retrieve/steps", entities=entities, k=BEAM, hub=HUB_FACTS, vector=question.vector):
            steps.setdefault(row["entity"], []).append(row)
    return steps


def _hop(row: Row) -> Hop:
    return Hop(
        row["id"], row["cosine"], row["predicate"], row["forward"], row["next"], row["nextName"], tuple(row["chunks"])
    )


def _by_facts(paths: list[Path]) -> list[list[Path]]:
    """``paths`` over the same facts together, whichever way they walk them."""
    ways: dict[tuple[str, ...], list[Path]] = {}
    for path in paths:
        ways.setdefault(min(path.facts, path.facts[::-1]), []).append(path)
    return list(ways.values())


def _order(path: Path) -> tuple[float, int, tuple[str, ...]]:
    return -path.score, len(path.hops), path.facts
