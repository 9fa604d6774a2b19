"""Rows of another graph as documents, with facts that nobody had to guess: what is known of a row is said in sentences,
and each fact is tied to the characters of its sentence.

A row is its own file to an ingest (``source``): what changed in it is known by the hash of its text and facts. What is
gone is found at the end, when all that is there has been met. Memory does not depend on how many rows there are, but
for some seventy bytes of each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from urllib.parse import quote

from kgplatform.adopt.mapping import NAME, RowMapping, Rows, Terms, said_value, spelled_out
from kgplatform.concurrency.workers import BoundedCalls
from kgplatform.errors import InputError
from kgplatform.extract.schema import Schema
from kgplatform.ingest.write import has_usable_names, remove
from kgplatform.neo4j.metadata import flat
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches, literal, name_in_cypher
from kgplatform.records import (
    AtomicFact,
    Document,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Location,
    Passage,
)
from kgplatform.sources.corpus_file import Fields
from kgplatform.sources.objects import ADOPTED, Texts
from kgplatform.text import counted, hash64, node_id

SOURCE = f"{ADOPTED}:"
"""Begins the URI of each document that is a row; no text that is given has such a one."""
Item = ExtractedAttribute | ExtractedTriple


@dataclass(frozen=True, eq=False)
class RowDocument(Document):
    """A row. ``said``: each sentence's first and last character, and the fact that it states. ``entity``: the row."""

    entity: ExtractedEntity = ExtractedEntity("")
    said: tuple[tuple[int, int, Item | None], ...] = ()


@dataclass(frozen=True, slots=True)
class RowExtractor:
    """Gives each passage of a row the facts of its sentences."""

    name: str = ADOPTED

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """What begins in ``passage``."""
        if not isinstance(document, RowDocument):
            raise InputError(f"{document.title} is no row of another graph.")
        row, attributes, triples = document.entity, list[ExtractedAttribute](), list[ExtractedTriple]()
        entities, facts = [row], list[AtomicFact]()
        for start, end, item in document.said:
            if item is None or not passage.start <= start < passage.end:
                continue
            words = document.text[start : min(end, passage.end)]
            if isinstance(item, ExtractedTriple):
                entities.append(ExtractedEntity(item.object, item.object_type))
                triples.append(replace(item, quote=words))
                facts.append(AtomicFact(words, (row.name, item.object), words))
            else:
                attributes.append(replace(item, quote=words))
                facts.append(AtomicFact(words, (row.name,), words))
        return Extraction(tuple(dict.fromkeys(entities)), tuple(triples), tuple(attributes), tuple(facts))


def statement_that_shows(label: str, property: str, value: object) -> str:
    """The Cypher that shows a row in Neo4j Browser, with its value written as that of a parameter that is pasted."""
    node = f"(n:{name_in_cypher(label)} {{{name_in_cypher(property)}: {literal(value)}}})"
    return f"MATCH {node} RETURN n"  # for people to paste: nothing here runs it


class AdoptedRows(Texts):
    """All rows of a mapping out of ``theirs``, for an ingest. At their end those that are gone are removed from
    ``store``, the own graph. ``gone``: how many these were."""

    def __init__(self, theirs: Store, store: Store, mapping: RowMapping, terms: Terms) -> None:
        super().__init__()
        self._theirs, self._store = theirs, store
        self._mapping, self._terms = mapping, terms
        self.gone = self._unnamed = self._twice = 0
        self._details = dict[str, list[str]]()
        """The properties of relationships of each type that any path has in its sentence."""
        for path in mapping.paths.values():
            known = self._details.setdefault(path.type, [])
            known += [each for each in path.properties if each not in known]

    def __bool__(self) -> bool:
        return True

    @property
    def notes(self) -> list[str]:
        """Sentences about rows that were left out."""
        told = {
            "without a name or an id that is a text or a number": self._unnamed,
            "with the id of another, of which only the first was read": self._twice,
        }
        return [f"Left out: {counted(number, 'node')} {why}." for why, number in told.items() if number]

    def documents(self, calls: BoundedCalls, fields: Fields) -> Iterator[Document]:
        """The rows, as they come. Raises ``InputError`` if there is none any more, and then none is removed."""
        met = set[int]()
        self.gone = self._unnamed = self._twice = 0
        rows = self._mapping.rows
        asked: dict[str, Any] = {
            "labels": [*rows],
            "properties": {each.label: each.properties for each in rows.values()},
            "names": {each.label: each.name.places for each in rows.values()},
            "types": self._details,
        }
        with closing(self._theirs.read_batches("adopt/rows", **asked)) as found:
            for row in chain.from_iterable(found):
                document = self._document(row)
                if document is None:
                    self._unnamed += 1
                elif (known := hash64(document.id)) in met:
                    self._twice += 1
                else:
                    met.add(known)
                    yield document
        if not met and some_rows(self._store):
            raise InputError(
                f"The graph at {self._mapping.source} has none of the rows of the mapping any more. Nothing was "
                "changed; forget the graph if they are to go."
            )
        self._remove(lambda id_: hash64(id_) not in met)

    def _remove(self, is_gone: Callable[[str], bool]) -> None:
        gone = list[str]()
        with closing(self._store.read_batches("ingest/files_beneath", folder=SOURCE)) as found:
            for row in chain.from_iterable(found):
                if is_gone(id_ := node_id("document", row["source"])):
                    gone.append(id_)
        self.gone = len(gone)
        for some in batches(gone):
            remove_rows(self._store, some)

    def _document(self, row: Row) -> RowDocument | None:
        """A row as it is said; None if it has no id or no name."""
        rows = self._mapping.rows[row["label"]]
        values = dict(zip(rows.properties, row["values"], strict=True))
        said = {name: said_value(value) for name, value in values.items()}
        name, id_ = rows.name.filled(said), values[rows.id]
        if not said[rows.id] or not isinstance(id_, str | int | float) or not has_usable_names(name):
            return None
        type_ = self._terms.types[rows.label]
        lines: list[tuple[str, Item | None]] = [(f"{spelled_out(rows.label).capitalize()}: {name}.", None)]
        for key, template in rows.sentences.items():
            if (value := said[key]) and (sentence := template.filled({**said, NAME: name})):
                lines.append((sentence, ExtractedAttribute(name, self._terms.keys[rows.label, key], value)))
        lines += sorted(self._joined(rows, name, row["related"]), key=lambda each: each[0])
        at, places = 0, list[tuple[int, int, Item | None]]()
        for line, item in lines:
            places.append((at, at + len(line), item))
            at += len(line) + 1
        text = "\n".join(line for line, _ in lines)
        uri = f"{SOURCE}{quote(rows.label, safe='')}/{quote(said[rows.id], safe='')}"
        shown = statement_that_shows(rows.label, rows.id, id_)
        metadata = {key: values[key] for key in rows.sentences} | {ADOPTED: rows.label}
        return RowDocument(
            node_id("document", uri),
            f"{name} ({spelled_out(rows.label)})",
            uri,
            uri,
            text,
            hashlib.sha256(repr((text, type_, [item for _, item in lines])).encode()).hexdigest(),
            (Location(shown, 0, len(text)),),
            flat({key: _plain(value) for key, value in metadata.items()}).metadata,
            entity=ExtractedEntity(name, type_),
            said=tuple(places),
        )

    def _joined(self, rows: Rows, name: str, related: Sequence[Any]) -> Iterator[tuple[str, Item]]:
        """What is said of the relationships that lead from a row."""
        for type_, details, label, names in related:
            path = self._mapping.paths.get((rows.label, type_, label))
            if path is None:
                continue
            end = self._mapping.rows[label].name
            other = end.filled(dict(zip(end.places, map(said_value, names), strict=True)))
            known = dict(zip(self._details[type_], map(said_value, details), strict=True))
            sentence = path.sentence.filled({**known, "a.name": name, "b.name": other})
            if sentence and has_usable_names(other):
                relation = self._terms.relations[path.key]
                yield sentence, ExtractedTriple(name, relation, other, object_type=self._terms.types[label])


def _plain(value: object) -> object:
    """Dates and the like as texts."""
    return value if isinstance(value, str | int | float | bool | list) else said_value(value)


def some_rows(store: Store) -> list[str]:
    """The ids of some documents that are rows, as many as one reads at once; none if there are none."""
    with closing(store.read_batches("ingest/files_beneath", folder=SOURCE)) as found:
        return [node_id("document", row["source"]) for row in next(found, [])]


def remove_rows(store: Store, documents: Sequence[str]) -> None:
    """Remove documents by id, with their passages; nothing is settled yet."""
    passages = [row["id"] for row in store.read("explore/document_passages", documents=list(documents))]
    remove(store, passages, documents, documents)
