"""Entities that are several things of one name: what documents tell of them cannot be told of one.

Two documents speak of different things if their titles tell these apart ("Mercury (planet)", "Mercury (element)"), if
they date what has one date by days of another year and another day of the year, which no slip of a pen does, or if the
one is born after the other died. Nothing of it is stored, and nothing is done: two texts can be wrong about one person,
so that somebody decides (``Correct.split``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from kgplatform.extract.schema import Schema
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import FoundFact
from kgplatform.search.agreement import read_value
from kgplatform.search.found import facts_by_id
from kgplatform.shown import Shown
from kgplatform.text.times import Time

_MOST = 100
"""Documents of an entity that are compared, those of most passages."""
_YEAR = 4
"""Letters of an ISO date that are its year."""


@dataclass(frozen=True, slots=True, repr=False)
class Side(Shown):
    """``documents`` that speak of one thing, their ``titles``, which tell that it is this one, or the ``facts`` that
    do, and the ids of their ``passages`` that name it."""

    documents: tuple[str, ...]
    titles: tuple[str, ...]
    passages: tuple[str, ...]
    facts: tuple[FoundFact, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Namesake(Shown):
    """The entity ``id``, called ``name``, is another one on the second of two ``sides``, which ``called`` tells apart:
    ``split(id, called, sides[1].documents)`` makes it so."""

    id: str
    name: str
    type: str | None
    called: str
    sides: tuple[Side, Side]


@dataclass(frozen=True, slots=True)
class _Said:
    """What one document tells of an entity; ``dates``: by attribute."""

    row: Row
    dates: dict[str, list[Time]] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Row) -> _Said:
        dates: dict[str, list[Time]] = {}
        for _, key, value in row["facts"]:
            dates.setdefault(key, []).extend(read_value(value)[0])
        return cls(row, dates)


def namesakes(store: Store, schema: Schema, limit: int) -> tuple[Namesake, ...]:
    """At most ``limit`` of them, by their names."""
    life = [known.name if (known := schema.attribute(word)) else "" for word in ("born", "died")]
    rows = store.read("explore/namesakes", attributes=[*schema.single[1]], most=_MOST)
    found = list(islice((each for row in rows for each in _apart(row, life)), limit))
    ids = sorted({fact for _, sides in found for side in sides for said in side for fact, *_ in said.row["facts"]})
    facts = facts_by_id(store, ids)
    return tuple(
        Namesake(row["entity"], row["name"], row["type"], _called(row["name"], sides[1]), (one, other))
        for row, sides in found
        for one, other in [[_side(side, facts) for side in sides]]
    )


def _apart(row: Row, life: Sequence[str]) -> Iterator[tuple[Row, tuple[list[_Said], list[_Said]]]]:
    """The first of the things that documents speak of with each of the others. A document that could speak of several
    speaks of one with which it shares a date, else of the first."""
    sides: list[list[_Said]] = []
    for each in map(_Said.of, row["said"]):
        fitting = [side for side in sides if not any(_are_two(each, other, life) for other in side)] or [[]]
        side = max(fitting, key=lambda side: any(_share(each, other) for other in side))
        sides += [] if side else [side]
        side.append(each)
    for other in sides[1:]:
        yield row, (sides[0], other)


def _share(one: _Said, other: _Said) -> bool:
    dates = [{(key, time.since, time.until) for key in each.dates for time in each.dates[key]} for each in (one, other)]
    return not dates[0].isdisjoint(dates[1])


def _are_two(one: _Said, other: _Said, life: Sequence[str]) -> bool:
    """Whether two documents cannot speak of one thing."""
    if one.row["told"] and other.row["told"] and one.row["told"] != other.row["told"]:
        return True
    for key in one.dates.keys() & other.dates.keys():
        pairs = list(product(one.dates[key], other.dates[key]))
        if pairs and all(_are_far(*pair) for pair in pairs):
            return True
    (born, died), (born_too, died_too) = ([each.dates.get(key, []) for key in life] for each in (one, other))
    ends = [*product(died, born_too), *product(died_too, born)]
    return any(end.until and start.since and end.until <= start.since for end, start in ends)


def _are_far(one: Time, other: Time) -> bool:
    """Whether two days have neither the year nor the day of the year in common."""
    a, b = ((time.since or "") if time.granularity == "day" else "" for time in (one, other))
    return bool(a and b) and a[:_YEAR] != b[:_YEAR] and a[_YEAR:] != b[_YEAR:]


def _called(name: str, side: Sequence[_Said]) -> str:
    """What tells the things of this side from others of the name."""
    titles = [said.row["told"] for said in side if said.row["told"]]
    return titles[0] if titles else f"{name} ({next(value for said in side for _, _, value in said.row['facts'])})"


def _side(side: Sequence[_Said], facts: dict[str, FoundFact]) -> Side:
    every = dict.fromkeys(fact for said in side for fact, *_ in said.row["facts"])
    return Side(
        tuple(said.row["document"] for said in side),
        tuple(said.row["title"] for said in side),
        tuple(passage for said in side for passage in said.row["passages"]),
        tuple(facts[fact] for fact in every if fact in facts),
    )
