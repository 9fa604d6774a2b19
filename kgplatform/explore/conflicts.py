"""What texts contradict each other in: one thing with two values of what the schema says it has one of (``single``).

Nothing of it is stored: without the document that says the other, there is no conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kgplatform.extract.aliases import TITLES
from kgplatform.extract.lexicon import PEOPLES
from kgplatform.extract.schema import Schema
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import FoundFact
from kgplatform.search.found import facts_by_id
from kgplatform.shown import Shown
from kgplatform.text import normalise_name
from kgplatform.text.languages import ENGLISH, stems
from kgplatform.text.times import Time, times_in

_MOST = 100
"""Facts of an entity with the same relation or attribute that are compared."""
_JOINING = ["SAME_AS", "FORM_OF", "LOCATED_IN", "PART_OF", "HAS_PART"]
"""Relationships between what is one thing, or the one in the other: who was born in a town was born in its country."""
_AT_ONCE = 500
"""Pairs whose entities are read together."""
_NEAR = 10
"""Years by which texts are wrong about one thing. Of 25 pairs of one name in three corpora whose dates differ, all of
different people, one is within them."""
_NUMBER = re.compile(r"\d")
_AMOUNT = re.compile(r"\W{0,3}(?:(?:c|ca|circa|about|over|some)\b\.?\s?)?\d")
_THOUSANDS = re.compile(r"(?<=\d)[.,'’ \u00a0](?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True, repr=False)
class Conflict(Shown):
    """Two ``facts`` that differ in what ``subject``, the entity ``id``, has one of at a time: the relation or attribute
    ``name``. Each has the places that state it."""

    id: str
    subject: str
    name: str
    facts: tuple[FoundFact, FoundFact]


def conflicts(store: Store, schema: Schema, limit: int) -> tuple[Conflict, ...]:
    """At most ``limit`` of them, by the names of their subjects."""
    single = [[each.name for each in kind if each.single] for kind in (schema.relations, schema.attributes)]
    rows = store.read("explore/conflicts", relations=single[0], attributes=single[1], most=_MOST, joining=_JOINING)
    differing = _of_one_thing(store, list(_differing(rows)), {*single[0], *single[1]})
    found = [row for row, _ in zip(differing, range(limit), strict=False)]
    facts = facts_by_id(store, sorted({row[side] for row in found for side in ("one", "other")}))
    return tuple(
        Conflict(row["entity"], row["subject"], row["name"], (facts[row["one"]], facts[row["other"]])) for row in found
    )


def _differing(rows: list[Row]) -> Iterator[Row]:
    return (row for row in rows if not agree(row["value"], row["otherValue"]))


class _Said(NamedTuple):
    """What one place states of an entity."""

    fact: str
    kind: str
    name: str
    value: str
    document: str
    passage: str
    start: int
    end: int


def _of_one_thing(store: Store, rows: list[Row], single: set[str]) -> Iterator[Row]:
    """Those of ``rows`` whose facts are of one thing, and not both in one sentence, which gives what lies in another
    ("born in Holborn, London") or what was so in turn."""
    for some in batches(rows, _AT_ONCE):
        told = store.read("explore/told_of", entities=sorted({row["entity"] for row in some}), most=10 * _MOST)
        of = {entity["id"]: (entity, [_Said(*said) for said in entity["said"]]) for entity in told}
        for row in some:
            entity, said = of[row["entity"]]
            one, other = ([each for each in said if each.fact == row[side]] for side in ("one", "other"))
            if not any(_meet(x, y) for x in one for y in other):
                documents = [{each.document for each in side} for side in (one, other)]
                sides = [[each for each in said if each.document in of_side] for of_side in documents]
                if documents[0] & documents[1] or _are_one(entity, sides, single):
                    yield row


def _meet(one: _Said, other: _Said) -> bool:
    return one.passage == other.passage and one.start < other.end and other.start < one.end


def _are_one(entity: Row, sides: Sequence[Sequence[_Said]], single: set[str]) -> bool:
    """Whether what two texts say of ``entity``, a name that they share, may be of one thing.

    Two people of one name have nothing in common, and their times lie far apart. Two texts that contradict each other
    about one thing agree in something else, or their values lie near each other. What one can have several of tells
    less: other words for what somebody is count only beside a time that lies far apart.
    """
    agrees, differs, apart = False, False, 0
    for name in {each.name for each in sides[0]} & {each.name for each in sides[1]}:
        values = [[each for each in side if each.name == name] for side in sides]
        pairs = [(one.value, other.value) for one in values[0] for other in values[1]]
        if name not in single:
            is_alike = any(_words(one) & _words(other) for one, other in pairs)
            agrees, differs = agrees or is_alike, differs or not (is_alike or values[0][0].kind == "triple")
        elif any(agree(*pair) for pair in pairs):
            return True
        else:
            apart += not any(_are_near(*pair) for pair in pairs)
    # A surname, or a given name, is of many.
    is_part = entity["type"] == "Person" and sum(word not in TITLES for word in entity["key"].split()) < 2
    return apart < 2 and (agrees or not (is_part or (apart and differs)))


def _words(value: str) -> set[str]:
    """The telling words of a description: a people's name is of many."""
    return set(stems(" ".join(word for word in value.split() if word.lower() not in PEOPLES), ENGLISH))


def _are_near(one: str, other: str) -> bool:
    """Whether two values are times that one may be mistaken for the other."""
    years = [[int(each.since[:4]) for each in times_in(f"({value})") if each.since] for value in (one, other)]
    return any(abs(x - y) <= _NEAR for x in years[0] for y in years[1])


def agree(one: str, other: str) -> bool:
    """Whether two values may be forms of one: the same words, or more of them; the same number; dates of which one is
    within the other. So are values of different kinds, of which one is no value of that ("born in 1815", "born in
    London"), and of different times ("448 in 2000", "806 in 2010").

    >>> agree("10 December 1815", "1815"), agree("1,200 men", "1200 men"), agree("1815", "1816")
    (True, True, False)
    """
    times = [times_in(f"({value})") for value in (one, other)]
    rests = [_without(found, value) for value, found in zip((one, other), times, strict=True)]
    is_amount = [_NUMBER.search(rest) is not None for rest in rests]
    if all(times):
        days = [[(each.since or "", each.until or "~") for each in found] for found in times]
        overlap = any(first[0] < second[1] and second[0] < first[1] for first in days[0] for second in days[1])
        if not (overlap and all(is_amount)):
            return overlap or any(is_amount)
    for value, found, opposite in ((one, times[0], other), (other, times[1], one)):
        if (found or _AMOUNT.match(value)) and not _NUMBER.search(opposite):
            return True
    amounts = [rest if is_one else value for rest, is_one, value in zip(rests, is_amount, (one, other), strict=True)]
    words = [set(re.findall(r"[\w.]+", _THOUSANDS.sub("", normalise_name(value)))) for value in amounts]
    return words[0] <= words[1] or words[1] <= words[0]


def _without(times: Sequence[Time], value: str) -> str:
    """``value`` without the ``times`` in it."""
    for each in reversed(times):
        value = value[: max(0, each.start - 1)] + value[each.end - 1 :]
    return value
