"""What texts contradict each other in: one thing with two values of what the schema says it has one of (``single``).

Nothing of it is stored: without the document that says the other, there is no conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kgplatform.extract.schema import Schema
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import FoundFact
from kgplatform.search.found import facts_by_id
from kgplatform.shown import Shown
from kgplatform.text import normalise_name
from kgplatform.text.times import times_in

_MOST = 100
"""Facts of an entity with the same relation or attribute that are compared."""
_JOINING = ["SAME_AS", "FORM_OF", "LOCATED_IN", "PART_OF", "HAS_PART"]
"""Relationships between what is one thing, or the one in the other: who was born in a town was born in its country."""
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
    found = [row for row, _ in zip(_differing(rows), range(limit), strict=False)]
    facts = facts_by_id(store, sorted({row[side] for row in found for side in ("one", "other")}))
    return tuple(
        Conflict(row["entity"], row["subject"], row["name"], (facts[row["one"]], facts[row["other"]])) for row in found
    )


def _differing(rows: list[Row]) -> Iterator[Row]:
    return (row for row in rows if not agree(row["value"], row["otherValue"]))


def agree(one: str, other: str) -> bool:
    """Whether two values may be forms of one: the same words, or more of them; the same number; dates of which one is
    within the other.

    >>> agree("10 December 1815", "1815"), agree("1,200 men", "1200 men"), agree("1815", "1816")
    (True, True, False)
    """
    days = [[(each.since or "", each.until or "~") for each in times_in(f"({value})")] for value in (one, other)]
    if all(days):
        return any(first[0] < second[1] and second[0] < first[1] for first in days[0] for second in days[1])
    words = [set(re.findall(r"[\w.]+", _THOUSANDS.sub("", normalise_name(value)))) for value in (one, other)]
    return words[0] <= words[1] or words[1] <= words[0]
