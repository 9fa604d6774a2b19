"""What passages say, as rows for ``cypher/ingest``.

What a row says is a function of the passage and its extraction alone, so that it does not matter in which order
passages are written, or how often.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from kgplatform.extract.grounded_names import lacks_a_number, stated_place
from kgplatform.extract.schema import Schema, fault_of_name
from kgplatform.records import (
    AtomicFact,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Passage,
    Proposal,
)
from kgplatform.resolution import found_by, stem_of
from kgplatform.text import LONGEST_NAME, clipped, node_id, normalise_name, tidy, type_key
from kgplatform.text.matching import Place, find_names, find_statement
from kgplatform.text.sentences import Sentence, numbered

if TYPE_CHECKING:
    from kgplatform.neo4j.store import Row

_CAPTION = 60


@dataclass(slots=True)
class Rows:
    """The rows of some passages, keyed so that each node, mention and evidence is written once."""

    title: str = ""
    entities: dict[str, Row] = field(default_factory=dict)
    key_elements: dict[str, Row] = field(default_factory=dict)
    mentions: dict[tuple[str, str], Row] = field(default_factory=dict)
    triples: dict[tuple[str, str], Row] = field(default_factory=dict)
    attributes: dict[tuple[str, str], Row] = field(default_factory=dict)
    atomic_facts: dict[tuple[str, str], Row] = field(default_factory=dict)
    proposals: dict[tuple[str, str, str], Row] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Mentions and statements, which most relationships to write are from."""
        return len(self.mentions) + len(self.triples) + len(self.attributes) + len(self.atomic_facts)

    def add(self, other: Rows) -> None:
        """Take over the rows of ``other``; a node that both name keeps its row, but for what the schema says of it."""
        for part in fields(self)[1:]:
            mine, theirs = getattr(self, part.name), getattr(other, part.name)
            for key, row in theirs.items():
                mine.setdefault(key, row)
        # The schema may have grown between the two, and got the entity's type with it.
        for key, row in other.entities.items():
            if row["inSchema"] and not self.entities[key]["inSchema"]:
                self.entities[key] = {**self.entities[key], "inSchema": True, "labels": row["labels"]}

    def found(self) -> tuple[int, int]:
        """How many statements were found in the text, and how many not."""
        marks = [row["found"] for kind in (self.triples, self.attributes, self.atomic_facts) for row in kind.values()]
        return sum(marks), len(marks) - sum(marks)


def ordered(rows: dict[Any, Row]) -> list[Row]:
    """Rows by key, so that transactions take their locks in one order and cannot deadlock."""
    return [rows[key] for key in sorted(rows)]


def rows_of(passage: Passage, extraction: Extraction, schema: Schema, title: str) -> Rows:
    """The rows of one passage's extraction, which ``schema`` has bounded; a passage may leave its ``title`` unsaid."""
    rows = Rows(title=title)
    ids: dict[str, str] = {}
    for entity in extraction.entities:
        _add_entity(rows, ids, passage, entity, schema)
    for triple in extraction.triples:
        _add_triple(rows, ids, passage, triple, schema)
    for attribute in extraction.attributes:
        _add_attribute(rows, ids, passage, attribute)
    for fact in extraction.facts:
        _add_atomic_fact(rows, ids, passage, fact)
    rows.proposals = proposal_rows(passage.id, extraction.proposals)
    return rows


def proposal_rows(passage: str, proposals: Iterable[Proposal]) -> dict[tuple[str, str, str], Row]:
    """The types that a passage proposes, under each of the words for one the surest; without what can name no type."""
    rows: dict[tuple[str, str, str], Row] = {}
    for proposal in sorted(proposals, key=lambda each: (-each.confidence, each.example)):
        words, id_ = tidy(proposal.name), proposed_type(proposal)
        if fault_of_name(words):
            continue
        row = {
            "id": id_,
            "kind": proposal.kind,
            "name": type_key(words),
            "passage": passage,
            "words": words,
            "confidence": proposal.confidence,
            "example": proposal.example,
        }
        rows.setdefault((id_, passage, words), row)
    return rows


def proposed_type(proposal: Proposal) -> str:
    """The id of the node of the type that is proposed, whatever words it is proposed with."""
    return node_id("proposed type", proposal.kind, type_key(proposal.name))


def proposal_of(row: Row) -> Proposal:
    """What a row proposes."""
    return Proposal(row["kind"], row["words"], row["confidence"], row["example"])


def fact_rows(passage: Passage, facts: Sequence[AtomicFact], mentions: Sequence[Row], title: str) -> Rows:
    """The rows of atomic facts that a passage gets after it was extracted.

    ``mentions``: the passage's entities with ``id``, ``key``, and the ``count`` and ``names`` of their mention, which
    a key element of that name adds to.
    """
    rows = Rows(title=title)
    ids: dict[str, str] = {}
    for mention in sorted(mentions, key=lambda each: str(each["id"])):
        ids.setdefault(mention["key"], mention["id"])
        rows.mentions[mention["id"], passage.id] = {
            "element": mention["id"],
            "passage": passage.id,
            "count": mention["count"],
            "names": list(mention["names"]),
        }
    before = {key: {**row, "names": list(row["names"])} for key, row in rows.mentions.items()}
    for fact in facts:
        _add_atomic_fact(rows, ids, passage, fact)
    rows.mentions = {key: row for key, row in rows.mentions.items() if row != before.get(key)}
    return rows


def has_usable_names(*names: str) -> bool:
    """Whether every name says something and is short enough to be one."""
    return all(0 < len(normalise_name(name)) <= LONGEST_NAME for name in names)


def _add_entity(rows: Rows, ids: dict[str, str], passage: Passage, entity: ExtractedEntity, schema: Schema) -> None:
    name, key = tidy(entity.name), normalise_name(entity.name)
    entity_id = node_id("entity", key, entity.type)
    label = schema.label_of(entity.type) if entity.in_schema else None
    rows.entities.setdefault(
        entity_id,
        {
            "id": entity_id,
            "name": name,
            "key": key,
            **found_by(key),
            "type": entity.type,
            "labels": [label] if label else [],
            "inSchema": entity.in_schema,
        },
    )
    ids.setdefault(key, entity_id)
    _mention(rows, entity_id, name, passage)


def _mention(rows: Rows, element_id: str, name: str, passage: Passage) -> None:
    row = rows.mentions.setdefault(
        (element_id, passage.id), {"element": element_id, "passage": passage.id, "count": 0, "names": []}
    )
    if name not in row["names"]:
        row["names"] = sorted([*row["names"], name])
        row["count"] = max(row["count"], len(find_names(name, passage.text)))


_YEAR = 4
"""Digits from which on a number is copied from the text: shorter ones may stand there in words, or as a month."""


def _place(
    rows: Rows,
    passage: Passage,
    sentence: int | None,
    quote: str | None,
    names: Sequence[str],
    said: Sequence[str] = (),
) -> Row:
    """Where the passage says it: the sentence of that number, unless the passage lacks a number that it is to state;
    or by quote or names, else by the words of ``said``, which are the names mostly."""
    known = numbered(passage.text)
    place: Place | Sentence | None = None
    if sentence and sentence <= len(known):
        is_stated = not lacks_a_number(" ".join(said or names), f"{rows.title}\n{passage.text}", _YEAR)
        place = known[sentence - 1] if is_stated else None
    place = place or find_statement(quote, names, passage.text, understood=(rows.title,))
    place = place or stated_place(said or names, passage.text, rows.title)
    start, end = (place.start, place.end) if place else (0, passage.end - passage.start)
    return {
        "passage": passage.id,
        "start": passage.start + start,
        "end": passage.start + end,
        "found": place is not None,
    }


def _add_triple(rows: Rows, ids: dict[str, str], passage: Passage, triple: ExtractedTriple, schema: Schema) -> None:
    subject, predicate, object_ = tidy(triple.subject), tidy(triple.predicate), tidy(triple.object)
    subject_id, object_id = ids[normalise_name(subject)], ids[normalise_name(object_)]
    fact_id = node_id("triple", subject_id, subject, predicate, object_id, object_, triple.in_schema)
    if (fact_id, passage.id) in rows.triples:
        return
    rows.triples[fact_id, passage.id] = {
        "id": fact_id,
        "name": predicate,
        # The name of a relation of the schema as people write it: "born in".
        "text": f"{subject} {predicate.replace('_', ' ') if triple.in_schema else predicate} {object_}",
        "subject": subject,
        "predicate": predicate,
        "object": object_,
        "inSchema": triple.in_schema,
        "subjectId": subject_id,
        "objectId": object_id,
        "type": schema.relationship_of(predicate) if triple.in_schema else "RELATED_TO",
        **_place(rows, passage, triple.sentence, triple.quote, (subject, object_)),
    }


def _add_attribute(rows: Rows, ids: dict[str, str], passage: Passage, attribute: ExtractedAttribute) -> None:
    entity, key, value = tidy(attribute.entity), tidy(attribute.key), tidy(attribute.value)
    entity_id = ids[normalise_name(entity)]
    fact_id = node_id("attribute", entity_id, entity, key, value, attribute.in_schema)
    if (fact_id, passage.id) in rows.attributes:
        return
    rows.attributes[fact_id, passage.id] = {
        "id": fact_id,
        "name": key,
        "text": f"{entity} {key}: {value}",
        "subject": entity,
        "predicate": key,
        "object": value,
        "inSchema": attribute.in_schema,
        "subjectId": entity_id,
        "attributeId": node_id("value", entity_id, key, value),
        "attributeName": clipped(f"{key}: {value}", _CAPTION),
        "key": key,
        "value": value,
        **_place(rows, passage, attribute.sentence, attribute.quote, (entity, value)),
    }


def _add_atomic_fact(rows: Rows, ids: dict[str, str], passage: Passage, fact: AtomicFact) -> None:
    text = tidy(fact.text)
    # The passage is part of the identity: the same sentence in two passages may have other key elements in each.
    fact_id = node_id("atomic", passage.id, text)
    elements = {_element(rows, ids, passage, name) for name in fact.key_elements if has_usable_names(name)}
    row = rows.atomic_facts.setdefault(
        (fact_id, passage.id),
        {
            "id": fact_id,
            "name": clipped(text, _CAPTION),
            "text": text,
            "elements": [],
            **_place(rows, passage, fact.sentence, fact.quote or text, fact.key_elements, said=[text]),
        },
    )
    row["elements"] = sorted({*row["elements"], *elements})


def _element(rows: Rows, ids: dict[str, str], passage: Passage, name: str) -> str:
    """The id of a key element: the passage's entity of that name, else a node of its own."""
    key = normalise_name(name)
    if key in ids:
        _mention(rows, ids[key], tidy(name), passage)
        return ids[key]
    element_id = node_id("key element", key)
    row = {"id": element_id, "name": tidy(name), "key": key, "stem": stem_of(key)}
    rows.key_elements.setdefault(element_id, row)
    _mention(rows, element_id, tidy(name), passage)
    return element_id
