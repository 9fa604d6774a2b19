"""What texts contradict, or bring to an end: one thing with two values where the schema allows one (``single``).

Two values at overlapping times are a conflict. A value that began later, as words say, or in a document that replaces
the other by its metadata, ends the open time of the one before it: an amendment. Nothing of either is stored, so
without the document that says the other, there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from typing import Any

from kgplatform.neo4j.store import ANY_TIME, Row, Store
from kgplatform.query import batches
from kgplatform.records import Citation, Conflict, metadata_of, written_on
from kgplatform.search.agreement import Said, agree, are_one
from kgplatform.search.found import facts_by_id

_MOST = 100
"""Facts of an entity with the same relation or attribute that are compared, and places of each."""
_SUBJECTS = 500
"""Entities whose facts are read at once."""
_DISPUTES = 20
"""Of one answer, the most."""
_JOINING = ["SAME_AS", "FORM_OF", "LOCATED_IN", "PART_OF", "HAS_PART"]
"""Relationships between what is one thing, or the one in the other: who was born in a town was born in its country."""
_EVER = "~"
"""After all days."""

Single = tuple[tuple[str, ...], tuple[str, ...]]
"""The relations, and the attributes, of which a subject has one value at a time."""


@dataclass(slots=True)
class _Place:
    """A place that states a value, of the days from ``since`` to before ``until``, "" and "~" where they are open.

    ``closed``: the words say the end. ``known``: a day on which it is so, its first or that on which the document was
    written; "" if there is none. ``names``: of its document, ``replaces``: what that says it replaces.
    """

    since: str
    until: str
    closed: bool
    known: str
    names: tuple[str, str]
    replaces: frozenset[str]

    @classmethod
    def of(cls, row: Row, value: str) -> _Place:
        """A time that is the value itself, as of a date of birth, begins and ends nothing."""
        metadata = metadata_of(row["metadata"])
        year = (row["since"] or row["until"] or "")[:4]
        since, until = ("", "") if year and year in value else (row["since"] or "", row["until"] or "")
        given = metadata.get("replaces", [])
        replaces = frozenset(map(str, given if isinstance(given, list) else [given]))
        known = since or ("" if until else written_on(metadata))
        return cls(since, until or _EVER, bool(until), known, (row["document"], row["title"]), replaces)


@dataclass(frozen=True, slots=True)
class _Value:
    """A fact of a subject: the value, the key and the id of the entity that it is, if it is one, and what states it."""

    id: str
    value: str
    entity: tuple[str | None, str | None]
    places: tuple[_Place, ...]

    @property
    def over(self) -> str:
        """The day on which other values have taken its place; "~" if they have not, or its words say its end."""
        return _EVER if all(place.closed for place in self.places) else max(place.until for place in self.places)

    def is_of(self, days: tuple[str, str]) -> bool:
        """Whether it is said of one of the days."""
        return any(place.since < days[1] and place.until > days[0] for place in self.places)


@dataclass(frozen=True, slots=True)
class _Rivals:
    """Values of what ``subject``, the entity ``id``, has one of at a time, and the ``pairs`` of those that differ."""

    id: str
    subject: str
    name: str
    values: tuple[_Value, ...]
    pairs: tuple[tuple[_Value, _Value], ...]

    @classmethod
    def of(cls, row: Row) -> _Rivals:
        """Those of a row of the statement, with the times that follow from all of them: what a document says begins
        when it replaces another, and what is open ends when the next value begins."""
        values = tuple(
            _Value(
                fact["id"],
                fact["value"],
                (fact["key"], fact["object"]),
                tuple(_Place.of(each, fact["value"]) for each in fact["times"]),
            )
            for fact in row["facts"]
        )
        joined = {frozenset(pair) for pair in row["joined"]}
        pairs = tuple(pair for pair in combinations(values, 2) if _differ(*pair, joined))
        both = [each for pair in pairs for each in (pair, pair[::-1])]
        for one, other in both:
            for place in one.places:
                if not place.since and any(place.replaces.intersection(each.names) for each in other.places):
                    place.since = place.known
        for one, other in both:
            for place in one.places:
                if place.known and not place.closed:
                    later = (each.since for each in other.places if each.since > place.known)
                    place.until = min(place.until, min(later, default=_EVER))
        return cls(row["entity"], row["subject"], row["name"], values, pairs)


_Dispute = tuple[_Rivals, _Value, _Value, "_Place | None"]
"""Two values of what is one, and the place at which the second took the place of the first."""


def _differ(one: _Value, other: _Value, joined: set[frozenset[str]]) -> bool:
    (key, id_), (other_key, other_id) = one.entity, other.entity
    is_one = (key is not None and key == other_key) or frozenset((id_, other_id)) in joined
    return not is_one and not agree(one.value, other.value)


def _overlap(one: _Value, other: _Value) -> bool:
    return any(a.since < b.until and b.since < a.until for a in one.places for b in other.places)


def conflicts(store: Store, single: Single, limit: int) -> tuple[Conflict, ...]:
    """At most ``limit`` of the graph's conflicts, by the names of their subjects."""
    with closing(store.read_batches("search/single_subjects", _SUBJECTS, **_names(single))) as subjects:
        rivals = (_rivals(store, single, [row["id"] for row in rows]) for rows in subjects)
        found = ([(each, *pair, None) for each in some for pair in each.pairs if _overlap(*pair)] for some in rivals)
        of_one = chain.from_iterable(_of_one_thing(store, single, some) for some in found)
        return _shown(store, list(islice(of_one, limit)))


def disputes(store: Store, single: Single, citations: Sequence[Citation]) -> tuple[Conflict, ...]:
    """What else is said of what the cited characters state: in conflict with it, or beginning after it (``since``).
    What is cited itself is no other side. Of the time that ``store`` is at."""
    spans = [{"passage": each.passage, "start": each.start, "end": each.end} for each in citations]
    cited = _single_facts(store, single, [], spans)
    found: list[_Dispute] = []
    for rivals in _rivals(store, single, sorted(set(cited.values()))):
        for pair in rivals.pairs:
            for one, other in (pair, pair[::-1]):
                if one.id in cited and other.id not in cited:
                    begun = [place for place in other.places if one.over <= place.since < store.as_of[1]]
                    if begun or _overlap(one, other):
                        found.append((rivals, one, other, min(begun, key=lambda each: each.since, default=None)))
    return _shown(store, list(islice(_of_one_thing(store, single, found), _DISPUTES)))


def over(store: Store, facts: Iterable[str]) -> set[str]:
    """Of ``facts`` those that, beside other values, are of other times than the one that ``store`` is at."""
    if store.as_of == ANY_TIME or not any(store.single):
        return set()
    singles = _single_facts(store, store.single, sorted(facts), [])
    rivals = _rivals(store, store.single, sorted(set(singles.values())))
    values = (value for each in rivals for value in each.values if value.id in singles)
    return {value.id for value in values if value.places and not value.is_of(store.as_of)}


def _names(single: Single) -> dict[str, Any]:
    return {"relations": [*single[0]], "attributes": [*single[1]]}


def _single_facts(store: Store, single: Single, ids: list[str], spans: list[Row]) -> dict[str, str]:
    if not any(single) or not (ids or spans):
        return {}
    rows = store.read("search/single_facts", ids=ids, spans=spans, **_names(single))
    return {row["id"]: row["subject"] for row in rows}


def _rivals(store: Store, single: Single, subjects: Sequence[str]) -> Iterator[_Rivals]:
    bounds: dict[str, Any] = {"most": _MOST, "joining": _JOINING, **_names(single)}
    for some in batches(subjects, _SUBJECTS):
        rows = store.read("search/single_values", subjects=list(some), **bounds)
        yield from map(_Rivals.of, rows)


def _of_one_thing(store: Store, single: Single, found: Sequence[_Dispute]) -> Iterator[_Dispute]:
    """Those of ``found`` whose facts are of one thing; and not in conflict in one sentence, which gives what lies in
    another ("born in Holborn, London") or what was so in turn."""
    subjects = sorted({of.id for of, *_, begun in found if not begun})
    told = store.read("search/told_of", entities=subjects, most=10 * _MOST) if subjects else []
    entities = {row["id"]: (row, [Said(*each) for each in row["said"]]) for row in told}
    for each in found:
        of, *pair, begun = each
        if begun:  # which is no conflict
            yield each
        elif of.id in entities:  # else somebody has removed it meanwhile
            entity, said = entities[of.id]
            one, other = ([place for place in said if place.fact == value.id] for value in pair)
            documents = [{place.document for place in side} for side in (one, other)]
            sides = [[place for place in said if place.document in of_side] for of_side in documents]
            if not any(x.meets(y) for x in one for y in other) and (
                documents[0] & documents[1] or are_one(entity, sides, {*single[0], *single[1]})
            ):
                yield each


def _shown(store: Store, found: Sequence[_Dispute]) -> tuple[Conflict, ...]:
    facts = facts_by_id(store, sorted({value.id for _, *pair, _ in found for value in pair}))
    shown = []
    for of, one, other, begun in found:
        if one.id not in facts or other.id not in facts:  # somebody has removed it meanwhile
            continue
        first, second = facts[one.id], facts[other.id]
        if begun:  # the place that says so is the first
            places = sorted(second.citations, key=lambda each: each.document != begun.names[0])
            second = replace(second, citations=tuple(places))
        if first.citations and second.citations:
            shown.append(Conflict(of.id, of.subject, of.name, (first, second), begun.since if begun else ""))
    return tuple(shown)
