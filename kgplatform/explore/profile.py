"""All that is known of one entity or key element, sorted for a person who reads it as a page.

profile_of(row).relations[0].label   # "founded", with what it joins the entity to
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest
from typing import Any

from kgplatform.explore.info import GraphNode
from kgplatform.extract.schema import RELATED_TO
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import with_location
from kgplatform.text import clipped, normalise_name


@dataclass(frozen=True, slots=True)
class StatedAt:
    """Characters ``[start, end)`` of a document (its id) that state a fact. ``location``: what people call
    the place, "page 3". ``by_hand``: somebody added it (``kg.correct.add``). ``since``, ``until``, ``granularity``:
    those of a ``Citation``."""

    document: str
    title: str
    start: int
    end: int
    location: str | None
    by_hand: bool
    since: str | None = None
    until: str | None = None
    granularity: str | None = None


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
    """Likely the same thing, by ``score`` (0 to 1). ``by``: why, as ``SAME_AS`` has it; ``places``: what says so, if a
    passage does."""

    node: GraphNode
    score: float
    by: str
    places: tuple[StatedAt, ...]


@dataclass(frozen=True, slots=True)
class SourceOf:
    """A document that names the entity: in how many passages, how often, and where (character) for the first time."""

    document: str
    title: str
    passages: int
    mentions: int
    start: int
    by_hand: bool


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
    attributes = []
    for each in row["attributes"]:
        places = _places(each["places"])
        sentence = _sentence(sentences, places, each["value"], said)
        attributes.append(ValueOf(each["name"], each["value"], each["fact"], sentence, places))
    return Profile(
        node=node(row),
        aliases=tuple(name for name in row["aliases"] if name != row["name"]),
        relations=relations,
        attributes=tuple(attributes),
        sentences=tuple(each for each in sentences if each.fact not in said),
        alike=tuple(
            Alike(node(each["other"]), float(each["score"] or 0), each["by"] or "name", _places(each["places"]))
            for each in row["alike"]
        ),
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
        sentence = _sentence(sentences, places, other.name, said)
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
        RelationGroup(
            type_,
            label or type_.replace("_", " ").lower(),
            forward,
            tuple(sorted(group.values(), key=lambda each: (-len(each.places), each.node.name, each.node.id))),
        )
        for (type_, label, forward), group in groups.items()
    ]
    return tuple(sorted(made, key=lambda each: (-len(each.related), not each.forward, each.label)))


def _sentence(sentences: Sequence[Sentence], places: Sequence[StatedAt], word: str, said: set[str]) -> str:
    """The first sentence stated where a fact is that has its ``word``; it is noted as ``said``, and returned once."""

    for sentence in sentences:
        is_here = all(
            any(one.document == two.document and one.start < two.end and two.start < one.end for one in places)
            for two in sentence.places
        )
        if is_here and normalise_name(word) in normalise_name(sentence.text):
            is_new = sentence.fact not in said
            said.add(sentence.fact)
            return sentence.text if is_new else ""
    return ""


def _places(rows: Iterable[Sequence[Any]]) -> tuple[StatedAt, ...]:
    found = []
    for document, title, start, end, label, page, by_hand, *time in rows:
        location = with_location({"location": label, "page": page})["location"]
        found.append(StatedAt(document, title, start, end, location, by_hand, *time))
    return tuple(found)


_LOOKED = 2000
"""Relations that are looked at: a large graph is not read for this."""
_HUB = 1000
"""What has more facts is as good as everything: "Who knows England?"."""
_ROWS = 400
_LONGEST = 60
"""Characters of a name."""
_ASKS = re.compile(r"[a-z]+ed|[a-z]+[^s\W]s(?: (?:for|to|with|in|at|on|by))?")
"""Relations that make a question behind "Who": founded, owns, works for. "laid by" and "located in" lack a word."""
_PEOPLE = frozenset({"person", "people", "human", "author", "character"})


def questions(store: Store, limit: int = 4) -> tuple[str, ...]:
    """At most ``limit`` questions to begin with: one in two that a model wrote to a document, and of as many sorts as
    there are: about relations, where there are few about names that stand in a sentence, and without any about
    documents.

    They are for people who do not know yet what is in the graph, depend on it alone, and are English but for those of a
    model, whatever the documents are.
    """
    written = [row["question"] for row in store.read("explore/introduced", limit=(limit + 1) // 2)]
    limit -= len(written)
    rows = store.read("explore/askable", looked=_LOOKED, hub=_HUB, limit=_ROWS)
    facts = {row[end]: row[f"{end}_facts"] for row in rows for end in ("subject", "object")}
    most = sorted(filter(_fits, facts), key=lambda name: (-facts[name], name))  # what most is said of
    sorts = [_who(rows), _connected(rows), (f"What do the documents say about {name}?" for name in most)]
    found = list(islice(filter(None, chain.from_iterable(zip_longest(*sorts))), limit))
    if len(found) < limit:
        found += _named(store.read("explore/named", limit=_ROWS), " ".join(found))
    if not found:
        titles = [row["name"] for row in store.read("explore/first_titles", limit=limit)]
        found = [f"What does “{clipped(title, _LONGEST)}” say?" for title in titles]
    return (*written, *found[:limit])


def _named(rows: Sequence[Row], asked: str) -> Iterator[str]:
    """Questions about names, the most mentioned first, each with one that most sentences name beside it."""
    for row in rows:
        if row["name"] in asked or not _fits(row["name"]):
            continue
        beside = next((name for name in row["beside"] if name not in asked and _fits(name)), None)
        asked = f"{asked} {row['name']} {beside or ''}"
        yield f"What do the documents say about {row['name']}{f' and {beside}' if beside else ''}?"


def _who(rows: Sequence[Row]) -> Iterator[str]:
    """Questions with one answer, each about another thing and another relation; what somebody did comes first."""
    used: set[str] = set()
    for row in sorted(rows, key=lambda row: not row["predicate"].endswith("ed")):
        words = row["predicate"].replace("_", " ").lower()
        is_asked = row["rivals"] == 1 and _ASKS.fullmatch(words) and _fits(row["object"])
        if is_asked and not used & {words, row["object"], row["subject"]}:
            used |= {words, row["object"], row["subject"]}
            type_ = (row["type"] or "").replace("_", " ").lower()
            asking = "Who or what" if not type_ else "Who" if type_ in _PEOPLE else f"Which {type_}"
            yield f"{asking} {words} {row['object']}?"


def _connected(rows: Sequence[Row]) -> Iterator[str]:
    """Two things that a third one joins, the best known first: their sentences may stand in two documents."""
    near: dict[str, set[str]] = {}
    for row in rows:
        near.setdefault(row["subject"], set()).add(row["object"])
        near.setdefault(row["object"], set()).add(row["subject"])
    used: set[str] = set()
    for middle in sorted(near, key=lambda name: (-len(near[name]), name)):
        ends = [name for name in sorted(near[middle], key=lambda name: (-len(near[name]), name)) if _fits(name)]
        pair = next(((one, two) for one in ends[:8] for two in ends[:8] if one < two and two not in near[one]), None)
        if pair and not used & {*pair, middle}:
            used |= {*pair, middle}
            yield f"How are {pair[0]} and {pair[1]} connected?"


def _fits(name: str) -> bool:
    return 0 < len(name) <= _LONGEST
