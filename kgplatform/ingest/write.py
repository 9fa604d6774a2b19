"""What passages say as rows, rows and documents into Neo4j, and out of it.

What a row says is a function of the passage and its extraction alone, so that it does not matter in which order
passages are written, or how often. One transaction has all that some passages say and the mark that they are done.
Taken away is what only the passages and documents that go support, and nothing else.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Protocol

from kgplatform.concurrency.threads import NEVER
from kgplatform.extract.aliases import aliases
from kgplatform.extract.grounded_names import lacks_a_number, stated_place
from kgplatform.extract.schema import Schema, fault_of_name
from kgplatform.query import batches
from kgplatform.records import (
    METADATA,
    AtomicFact,
    Document,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Passage,
    Proposal,
)
from kgplatform.resolution import found_by, stem_of
from kgplatform.text import LONGEST_NAME, clipped, node_id, normalise_name, tidy, title_key, type_key
from kgplatform.text.languages import language_of
from kgplatform.text.matching import Place, find_names, find_statement
from kgplatform.text.sentences import Sentence, numbered
from kgplatform.text.times import stated_time

if TYPE_CHECKING:
    from kgplatform.neo4j.store import Row, Store

Statement = tuple[str, dict[str, Any]]


def document_statements(
    written: Sequence[tuple[Document, Sequence[Passage]]], other_texts: Collection[str] = ()
) -> list[Statement]:
    """The statements that write documents, their passages and the reading order. Those of ``other_texts`` lose the
    pages that a run of `kgplatform gist` made of the old text since it was laid off."""
    changed = [document.id for document, _ in written if document.id in other_texts]
    names = [each.name for each in fields(Passage)]
    rows = [{name: getattr(passage, name) for name in names} for _, passages in written for passage in passages]
    following = [{"id": one.id, "next": other.id} for _, passages in written for one, other in pairwise(passages)]
    return [
        *([("ingest/remove_pages", {"documents": changed})] if changed else ()),
        *_slices("ingest/documents", [_document_row(document, passages) for document, passages in written]),
        *_slices("ingest/passages", rows),
        *_slices("ingest/next_passages", following),
    ]


Replaced = Literal["facts", "everything"]
"""What a passage said before that what it says now takes the place of: its atomic facts, or all of it."""


def extraction_statements(
    rows: Rows,
    states: Sequence[Row],
    replaces: Replaced | None = None,
    read: Sequence[str] = (),
    *,
    correct: Collection[str] | None = None,
) -> list[Statement]:
    """The statements that write ``rows`` and record the ``states`` of the passages that they came from. ``replaces``:
    what the passages ``read`` said before is taken away first. ``correct``: those that may have
    to be corrected; None where nothing is."""
    ids = {"passages": list(read)}
    before: list[Statement] = []
    after: list[Statement] = []
    if read and replaces == "everything":
        before = [*_taken_away(read), ("ingest/renew_entities", {"ids": sorted(rows.entities)})]
    elif read and replaces == "facts":
        # Statements are counted again, and what is mentioned is looked at again: a name may be another with that.
        mentioned = {"ids": sorted({element for element, _ in rows.mentions})}
        before = [("ingest/remove_atomic_facts", ids), ("ingest/remove_element_mentions", ids)]
        after = [("ingest/revisit_elements", mentioned), ("ingest/recount_statements", ids)]
    return [
        *before,
        *statements_of(rows),
        *_slices("ingest/passage_states", states),
        *after,
        *([("correct/written", {**ids, "due": list(correct)})] if correct is not None and read else ()),
    ]


def statements_of(rows: Rows) -> list[Statement]:
    """The statements that write ``rows``, beside what is there."""
    return [
        *_slices("ingest/entities", ordered(rows.entities)),
        *_slices("ingest/key_elements", ordered(rows.key_elements)),
        *_slices("ingest/mentions", ordered(rows.mentions)),
        *_slices("ingest/triples", ordered(rows.triples)),
        *_slices("ingest/attributes", ordered(rows.attributes)),
        *_slices("ingest/atomic_facts", ordered(rows.atomic_facts)),
        *_slices("ingest/proposed", ordered(rows.proposals)),
    ]


def _taken_away(passages: Sequence[str]) -> list[Statement]:
    """The statements that take away all that passages say."""
    everything = {"rows": [{"passage": id_, "gone": None} for id_ in passages]}
    return [
        ("ingest/remove_facts", everything),
        ("ingest/remove_proposals", {"passages": list(passages)}),
        ("ingest/remove_mentions", everything),
        ("ingest/remove_communities", {}),
    ]


def update_statements(again: Sequence[str], described: Sequence[Document]) -> list[Statement]:
    """The statements that record that the passages ``again`` are to be read again, which say until then what they said
    before, and those that write the metadata of ``described`` in place of what was known."""
    waiting = {"state": "pending", **dict.fromkeys(("failure", "unreadBy", "factsFailure", "factsUnreadBy"))}
    metadata = [
        {
            "id": each.id,
            "metadata": {METADATA + name: value for name, value in each.metadata.items()},
            "modifiedAt": each.modified or None,
            "given": json.dumps(each.given, ensure_ascii=False, sort_keys=True) if each.given else None,
        }
        for each in described
    ]
    return [
        *_slices("ingest/passage_states", [{"id": id_, "state": waiting} for id_ in again]),
        *_slices("ingest/metadata", metadata),
    ]


def _slices(name: str, rows: Sequence[Row]) -> list[Statement]:
    return [(name, {"rows": batch}) for batch in batches(rows)]


def _document_row(document: Document, passages: Sequence[Passage]) -> Row:
    return {
        "id": document.id,
        "name": document.title,
        "key": title_key(document.title),
        "uri": document.uri,
        "source": document.source,
        "sha256": document.sha256,
        "characters": len(document.text),
        "tokens": sum(passage.tokens for passage in passages),
        "language": language_of(document.text) or None,
        "modifiedAt": document.modified or None,
    }


class Sink(Protocol):
    """What takes the writes of an ingest: a ``Writer``, or what keeps them for a bulk import."""

    def put(self, statements: list[Statement]) -> None: ...


class Writer(AbstractContextManager["Writer"]):
    """Writes transactions in the order given, on a thread of its own, so that the next is prepared meanwhile.

    A failed write is raised by a later ``put``, or on leaving the ``with`` block, and what waits is given up. What was
    put is written though the work is stopped: it is done.
    """

    def __init__(self, store: Store, ahead: int = 2) -> None:
        self._store = store.within(NEVER)
        self._ahead = ahead
        self._pool = ThreadPoolExecutor(1, "writing")
        self._writes: deque[Future[object]] = deque()

    def __exit__(self, *_: object) -> None:
        with self._pool:
            self._await(0)

    def put(self, statements: list[Statement]) -> None:
        """Queue one transaction; waits while two are ahead of it."""
        self._await(self._ahead)
        if statements:
            self._writes.append(self._pool.submit(self._store.write, *statements))

    def finish(self) -> None:
        """Wait until all that was put is written."""
        self._await(0)

    def _await(self, left: int) -> None:
        """Wait until no more than ``left`` writes are not over."""
        try:
            while len(self._writes) > left:
                self._writes.popleft().result()
        except BaseException:  # whatever it is, nothing more is written, and it is raised
            for write in self._writes:
                write.cancel()
            self._writes.clear()
            raise


_PASSAGES = 200
_DOCUMENTS = 50
"""Whose pages go in one transaction. A page takes 8 KB of the server's memory until that is committed."""


def remove(store: Store, passages: Sequence[str], documents: Sequence[str], without_pages: Sequence[str] = ()) -> None:
    """Remove ``passages``, in transactions of 200, and then ``documents``.

    The documents ``without_pages`` lose their pages, since their text is another now, or none: the last 50 of them with
    the first passages, others ahead of that.
    """
    pages: list[Statement] = [
        ("ingest/remove_pages", {"documents": list(some)}) for some in batches(without_pages, _DOCUMENTS)
    ]
    for early in pages[:-1]:
        store.write(early)
    with_first = pages[-1:]
    for some in [*batches(passages, _PASSAGES)] or [()]:
        gone = [*_taken_away(some), ("ingest/remove_passages", {"passages": list(some)})]
        if statements := with_first + (gone if some else []):
            store.write(*statements)
        with_first = []
    if documents:
        store.write(("ingest/remove_documents", {"documents": list(documents)}))


if TYPE_CHECKING:
    from kgplatform.neo4j.store import Row

_CAPTION = 60


@dataclass(slots=True)
class Rows:
    """The rows of some passages, keyed so that each node, mention and evidence is written once."""

    title: str = ""
    written: str = field(default="", compare=False)
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
        for part in fields(self)[2:]:
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


def rows_of(passage: Passage, extraction: Extraction, schema: Schema, title: str, written: str = "") -> Rows:
    """The rows of one passage's extraction, which ``schema`` has bounded; a passage may leave its ``title`` unsaid, and
    the day when its document was ``written``."""
    rows = Rows(title, written)
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


def alike_in(passage: Mapping[str, Any], entities: Iterable[Row]) -> list[str] | None:
    """What a passage (``text``, ``start``) says of two of its entities (``id``, ``name``, ``type``), as its node has
    it: their ids, why, and its document's characters."""
    found = aliases(passage["text"], {row["id"]: (row["name"], row["type"]) for row in entities})
    start = passage["start"]
    return [f"{one.one} {one.other} {one.by} {start + one.start} {start + one.end}" for one in found] or None


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


def fact_rows(
    passage: Passage, facts: Sequence[AtomicFact], mentions: Sequence[Row], title: str, written: str = ""
) -> Rows:
    """The rows of atomic facts that a passage gets after it was extracted. ``mentions``: the passage's entities with
    ``id``, ``key``, and the ``count`` and ``names`` of their mention, which a key element of that name adds to."""
    rows = Rows(title, written)
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
    if ids.setdefault(key, entity_id) != entity_id:
        ids[f"{key}\n{entity.type}"] = entity_id  # no name has such a key
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
    at = {"start": passage.start + start, "end": passage.start + end, "found": place is not None}
    return {"passage": passage.id, **at, **time_of(passage, at, said or names, rows.written)}


def time_of(passage: Passage, at: Row, names: Sequence[str], written: str) -> Row:
    """When that is so which the passage says ``at`` a place of ``names``, by the day when it was ``written``."""
    start, end = at["start"] - passage.start, at["end"] - passage.start
    time = stated_time(passage.text, start, end, names, written) if at["found"] else None
    return {
        "since": time and time.since,
        "until": time and time.until,
        "granularity": time and time.granularity,
        "timeStart": time and passage.start + time.start,
        "timeEnd": time and passage.start + time.end,
    }


def ids_of(row: Row) -> Row:
    """What a triple, or an attribute and its value, are known by: their ends and their words."""
    subject, said = row["subjectId"], (row["subject"], row["predicate"])
    if "objectId" in row:
        return {"id": node_id("triple", subject, *said, row["objectId"], row["object"], row["inSchema"])}
    value = node_id("value", subject, row["key"], row["value"])
    return {"id": node_id("attribute", subject, *said, row["value"], row["inSchema"]), "attributeId": value}


def _add_triple(rows: Rows, ids: dict[str, str], passage: Passage, triple: ExtractedTriple, schema: Schema) -> None:
    subject, predicate, object_ = tidy(triple.subject), tidy(triple.predicate), tidy(triple.object)
    subject_id, key = ids[normalise_name(subject)], normalise_name(object_)
    object_id = ids.get(f"{key}\n{triple.object_type}") or ids[key]
    row: Row = {
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
    }
    row |= ids_of(row)
    if (row["id"], passage.id) not in rows.triples:
        row |= _place(rows, passage, triple.sentence, triple.quote, (subject, object_))
        rows.triples[row["id"], passage.id] = row


def _add_attribute(rows: Rows, ids: dict[str, str], passage: Passage, attribute: ExtractedAttribute) -> None:
    entity, key, value = tidy(attribute.entity), tidy(attribute.key), tidy(attribute.value)
    entity_id = ids[normalise_name(entity)]
    row: Row = {
        "name": key,
        "text": f"{entity} {key}: {value}",
        "subject": entity,
        "predicate": key,
        "object": value,
        "inSchema": attribute.in_schema,
        "subjectId": entity_id,
        "attributeName": clipped(f"{key}: {value}", _CAPTION),
        "key": key,
        "value": value,
    }
    row |= ids_of(row)
    if (row["id"], passage.id) not in rows.attributes:
        row |= _place(rows, passage, attribute.sentence, attribute.quote, (entity, value))
        rows.attributes[row["id"], passage.id] = row


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
