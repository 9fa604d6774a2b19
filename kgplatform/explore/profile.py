"""All that is known of one entity or key element, sorted for a person who reads it as a page.

profile_of(row).relations[0].label   # "founded", with what it joins the entity to
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgplatform.explore.info import GraphNode
from kgplatform.extract.schema import RELATED_TO
from kgplatform.neo4j.store import Row
from kgplatform.text import normalise_name
from kgplatform.text.locations import with_location


@dataclass(frozen=True, slots=True)
class StatedAt:
    """Characters ``[start, end)`` of a document (its id) that state a fact. ``location``: what people call
    the place, "page 3"."""

    document: str
    title: str
    start: int
    end: int
    location: str | None


@dataclass(frozen=True, slots=True)
class Related:
    """What a relation joins the entity to. ``sentence``: an atomic fact that says the same, or nothing."""

    node: GraphNode
    facts: tuple[str, ...]
    sentence: str
    places: tuple[StatedAt, ...]


@dataclass(frozen=True, slots=True)
class RelationGroup:
    """Relations of one ``type`` (Neo4j's) and ``label`` (as the texts have it). ``forward``: from the entity."""

    type: str
    label: str
    forward: bool
    related: tuple[Related, ...]


@dataclass(frozen=True, slots=True)
class ValueOf:
    """A value of one of the entity's attributes."""

    name: str
    value: str
    fact: str
    sentence: str
    places: tuple[StatedAt, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """An atomic fact about the entity that none of its relations and attributes says."""

    fact: str
    text: str
    places: tuple[StatedAt, ...]


@dataclass(frozen=True, slots=True)
class Alike:
    """Likely the same thing, by ``score`` (0 to 1)."""

    node: GraphNode
    score: float


@dataclass(frozen=True, slots=True)
class SourceOf:
    """A document that names the entity: in how many passages, how often, and where (character) for the first time."""

    document: str
    title: str
    passages: int
    mentions: int
    start: int


@dataclass(frozen=True, slots=True)
class Profile:
    """An entity or key element. Relations by how many things they join it to; attributes by name; the rest by how much
    there is of it. Each thing is said once: a sentence that says what a relation or a value says stands with that."""

    node: GraphNode
    aliases: tuple[str, ...]
    relations: tuple[RelationGroup, ...]
    attributes: tuple[ValueOf, ...]
    sentences: tuple[Sentence, ...]
    alike: tuple[Alike, ...]
    documents: tuple[SourceOf, ...]
    communities: tuple[GraphNode, ...]


def profile_of(row: Row, node: Callable[[Row], GraphNode]) -> Profile:
    """What a row of ``graph/profile`` says. ``node`` makes a node of a row."""
    sentences = [Sentence(each["fact"], each["text"], _places(each["places"])) for each in row["sentences"]]
    said: set[str] = set()
    relations = _relations(row["relations"], node, sentences, said)
    attributes = tuple(_value(each, sentences, said) for each in row["attributes"])
    return Profile(
        node=node(row),
        aliases=tuple(name for name in row["aliases"] if name != row["name"]),
        relations=relations,
        attributes=attributes,
        sentences=tuple(each for each in sentences if each.fact not in said),
        alike=tuple(Alike(node(each["other"]), float(each["score"] or 0)) for each in row["alike"]),
        documents=tuple(SourceOf(**each) for each in row["documents"]),
        communities=tuple(map(node, row["around"])),
    )


def _relations(
    rows: Iterable[Row], node: Callable[[Row], GraphNode], sentences: Sequence[Sentence], said: set[str]
) -> tuple[RelationGroup, ...]:
    groups: dict[tuple[str, str, bool], dict[str, Related]] = {}
    for row in rows:
        other = node(row["other"])
        label = row["predicate"] or row["type"].replace("_", " ").lower()
        kind = row["type"], label.replace("_", " ") if row["type"] == RELATED_TO else "", row["forward"]
        places = _places(row["places"])
        sentence = _sentence(sentences, places, (other.name,), said)
        group = groups.setdefault(kind, {})
        known = group.get(other.id, Related(other, (), "", ()))
        together = dict.fromkeys((*known.places, *places))
        group[other.id] = replace(
            known,
            facts=tuple(dict.fromkeys((*known.facts, row["fact"]))),
            sentence=known.sentence or sentence,
            places=tuple(together),
        )
    made = [
        RelationGroup(type_, label or type_.replace("_", " ").lower(), forward, _by_places(group.values()))
        for (type_, label, forward), group in groups.items()
    ]
    return tuple(sorted(made, key=lambda each: (-len(each.related), not each.forward, each.label)))


def _by_places(related: Iterable[Related]) -> tuple[Related, ...]:
    return tuple(sorted(related, key=lambda each: (-len(each.places), each.node.name, each.node.id)))


def _value(row: Mapping[str, Any], sentences: Sequence[Sentence], said: set[str]) -> ValueOf:
    places = _places(row["places"])
    sentence = _sentence(sentences, places, (row["value"],), said)
    return ValueOf(row["name"], row["value"], row["fact"], sentence, places)


def _sentence(sentences: Sequence[Sentence], places: Sequence[StatedAt], words: Sequence[str], said: set[str]) -> str:
    """The first sentence stated where a fact is that has its ``words``; it is noted as ``said``, and returned once."""
    keys = [normalise_name(word) for word in words]
    for sentence in sentences:
        text = normalise_name(sentence.text)
        if all(key in text for key in keys) and all(_lies_in(place, places) for place in sentence.places):
            is_new = sentence.fact not in said
            said.add(sentence.fact)
            return sentence.text if is_new else ""
    return ""


def _lies_in(place: StatedAt, places: Sequence[StatedAt]) -> bool:
    return any(
        other.document == place.document and other.start < place.end and place.start < other.end for other in places
    )


def _places(rows: Iterable[Sequence[Any]]) -> tuple[StatedAt, ...]:
    found = []
    for document, title, start, end, label, page in rows:
        location = with_location({"location": label, "page": page})["location"]
        found.append(StatedAt(document, title, start, end, location))
    return tuple(found)
