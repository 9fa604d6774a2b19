"""What an ingest writes, spilled to disk in place of the database, and put together: each node once, with a number, and
its relationships by these numbers.

    spill.put([("ingest/entities", {"rows": […]}), ("ingest/mentions", {"rows": […]})])      # as ``Writer.put``

Numbers stand in place of ids: the importer takes them as they are, and would have to sort and look up anything else.
The statements of ``cypher/ingest`` say what comes of a row, and this says the same: the first row of a node gives its
properties, an entity also gets the labels that later rows have for it. A node that the ingest is to complete has the
label ``Pending``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgplatform.concurrency.spool import Shards
from kgplatform.ingest.bulk.tables import ITEM_END, STATE, Tables
from kgplatform.ingest.write import Statement
from kgplatform.neo4j.store import Row


class Numbers:
    """The nodes of a kind, numbered from ``first`` on in the order of their ids. 16 bytes a node are held."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._count = 0
        self._parts: list[bytes] = []
        self._ids: NDArray[np.bytes_] | None = None

    @property
    def end(self) -> int:
        """The first number after them."""
        return self._first + self._count

    def add(self, ids: Sequence[str]) -> int:
        """Add nodes with ids above those before, in order; returns the number of the first of them."""
        self._parts.append(bytes.fromhex("".join(ids)))
        self._count += len(ids)
        return self.end - len(ids)

    def of(self, ids: Sequence[str]) -> list[int]:
        """The numbers of nodes, in any order, once all are added. Raises ``KeyError`` if one is not among them."""
        if not ids:
            return []
        if self._ids is None:
            self._ids, self._parts = _as_array(b"".join(self._parts)), []
        wanted = _as_array(bytes.fromhex("".join(ids)))
        places = np.minimum(np.searchsorted(self._ids, wanted), max(0, self._count - 1))
        if not self._count or not np.array_equal(self._ids[places], wanted):
            raise KeyError("A relationship leads to a node that was not written.")
        found: list[int] = (places + self._first).tolist()
        return found


def _as_array(ids: bytes) -> NDArray[np.bytes_]:
    return np.frombuffer(ids, "S16")


_KEYS = {
    "ingest/documents": "id",
    "ingest/metadata": "id",
    "ingest/passages": "id",
    "ingest/next_passages": "id",
    "ingest/entities": "id",
    "ingest/key_elements": "id",
    "ingest/mentions": "element",
    "ingest/triples": "id",
    "ingest/attributes": "id",
    "ingest/atomic_facts": "id",
    "ingest/proposed": "id",
    "ingest/passage_states": "id",
}
"""The statements that write into an empty graph, and the id by which their rows are parted."""
VALUES = "values"
"""The rows of attributes once more, by the node of the value: several facts may give the same one."""


class Spill:
    """Takes statements as a ``Writer`` does. ``shards`` has their rows, by the names of the statements."""

    def __init__(self, shards: Shards) -> None:
        self.shards = shards

    def put(self, statements: Sequence[Statement]) -> None:
        """Keep the rows of ``statements``."""
        for name, parameters in statements:
            self.shards.add(name, parameters["rows"], _KEYS[name])
            if name == "ingest/attributes":
                self.shards.add(VALUES, parameters["rows"], "attributeId")


_PLACED = ("id", "name", "text", "index", "start", "end", "page", "tokens", "location", "locations", "location_starts")
_BOOLEAN = {True: "true", False: "false"}
_RELEASED = ("claimedBy",)
"""What a passage loses when it was read; nobody claims passages of a first build."""

Line = Callable[[int, Row], str]
"""The line of a node, from its number and its row."""
_End = tuple[Numbers, str]
"""Nodes at one end of relationships, and the column with their ids."""


class GraphFiles:
    """Writes all of ``shards`` into ``tables``. ``nodes`` counts nodes."""

    def __init__(self, shards: Shards, tables: Tables) -> None:
        self._shards = shards
        self._tables = tables
        self.nodes = 0

    def write(self) -> None:
        """Write every kind of node after those that its relationships lead to."""
        documents = self._documents()
        passages = self._passages(documents)
        elements = self._elements()
        values = self._values(elements)
        self._links("ingest/mentions", "named-by", (elements, "element"), (passages, "passage"), ("count", "names"))
        for rows in self._shards.parts("ingest/triples"):
            self._triples(rows, elements, passages)
        for rows in self._shards.parts("ingest/attributes"):
            self._attributes(rows, elements, values, passages)
        for rows in self._shards.parts("ingest/atomic_facts"):
            self._atomic_facts(rows, elements, passages)
        self._proposals(passages)

    def _documents(self) -> Numbers:
        documents = Numbers(self.nodes)
        now = datetime.now(timezone.utc).isoformat()
        for rows in self._shards.parts("ingest/documents"):
            first, ordered = _numbered(documents, {row["id"]: row for row in rows})
            names = ("id", "name", "key", "uri", "source", "sha256", "characters", "tokens", "language")
            lines = [
                f"{number},{_cells(row[name] for name in names)},{now}\n"
                for number, (_, row) in enumerate(ordered, first)
            ]
            self._tables["documents"].write(lines)
        self.nodes = documents.end
        return documents

    def _passages(self, documents: Numbers) -> Numbers:
        passages = Numbers(self.nodes)
        parts = zip(self._shards.parts("ingest/passages"), self._shards.parts("ingest/passage_states"), strict=True)
        for rows, states in parts:
            first, ordered = _numbered(passages, {row["id"]: row for row in rows})
            state_of = {row["id"]: _state(row["state"]) for row in states}
            lines, ends = [], documents.of([row["document_id"] for _, row in ordered])
            for number, (id_, row) in enumerate(ordered, first):
                state = state_of.get(id_) or {"state": "pending"}
                cells = _cells([*map(row.__getitem__, _PLACED), *map(state.get, STATE)])
                lines.append(f"{number},{cells}\n")
            self._tables["passages"].write(lines)
            self._tables["from-document"].write(_pairs(range(first, passages.end), ends))
        self.nodes = passages.end
        for rows in self._shards.parts("ingest/next_passages"):
            ids, following = [row["id"] for row in rows], [row["next"] for row in rows]
            self._tables["next-chunk"].write(_pairs(passages.of(ids), passages.of(following)))
        return passages

    def _elements(self) -> Numbers:
        elements = Numbers(self.nodes)
        parts = zip(self._shards.parts("ingest/entities"), self._shards.parts("ingest/key_elements"), strict=True)
        for entities, others in parts:
            known: dict[str, Row] = {}
            for row in entities:
                before = known.setdefault(row["id"], row)
                if row["inSchema"] and not before["inSchema"]:  # the schema has grown meanwhile
                    known[row["id"]] = {**before, "inSchema": True, "labels": row["labels"]}
            for row in others:
                known.setdefault(row["id"], row)
            first, ordered = _numbered(elements, known)
            lines: dict[bool, list[str]] = {True: [], False: []}
            for number, (_, row) in enumerate(ordered, first):
                is_entity = "type" in row
                lines[is_entity].append(_entity(number, row) if is_entity else _key_element(number, row))
            self._tables["entities"].write(lines[True])
            self._tables["key-elements"].write(lines[False])
        self.nodes = elements.end
        return elements

    def _values(self, elements: Numbers) -> Numbers:
        values = Numbers(self.nodes)
        for rows in self._shards.parts(VALUES):
            new = {row["attributeId"]: row for row in rows}
            numbered = self._nodes("attributes", values, new, ("attributeId", "attributeName", "key", "value"))
            owners = elements.of([row["subjectId"] for row in numbered.values()])
            self._tables["has-attribute"].write(_pairs(owners, numbered))
        self.nodes = values.end
        return values

    def _triples(self, rows: Sequence[Row], elements: Numbers, passages: Numbers) -> None:
        new = self._facts("facts", rows, passages, _triple)
        subjects = elements.of([row["subjectId"] for row in new.values()])
        objects = elements.of([row["objectId"] for row in new.values()])
        self._tables["subject"].write(_pairs(new, subjects))
        self._tables["object"].write(_pairs(new, objects))
        ends = {row["id"]: both for row, *both in zip(new.values(), subjects, objects, strict=True)}
        times: dict[str, int] = {}
        relations: dict[tuple[str, str], tuple[Row, int]] = {}
        for row in rows:
            times[row["id"]] = times.get(row["id"], 0) + 1
            relations[row["id"], row["type"]] = row, times[row["id"]]
        lines = []
        for (id_, kind), (row, weight) in relations.items():
            start, end = ends[id_]
            lines.append(f'{start},{end},"{kind}","{id_}","{_escaped(row["predicate"])}",{weight}\n')
        self._tables["relations"].write(lines)

    def _attributes(self, rows: Sequence[Row], elements: Numbers, values: Numbers, passages: Numbers) -> None:
        new = self._facts("facts", rows, passages, _attribute)
        self._tables["subject"].write(_pairs(new, elements.of([row["subjectId"] for row in new.values()])))
        self._tables["value"].write(_pairs(new, values.of([row["attributeId"] for row in new.values()])))

    def _atomic_facts(self, rows: Sequence[Row], elements: Numbers, passages: Numbers) -> None:
        new = self._facts("atomic-facts", rows, passages, _atomic_fact)
        starts = [number for number, row in new.items() for _ in row["elements"]]
        ends = elements.of([element for row in new.values() for element in row["elements"]])
        self._tables["mentions"].write(_pairs(starts, ends))

    def _proposals(self, passages: Numbers) -> None:
        types = Numbers(self.nodes)
        for rows in self._shards.parts("ingest/proposed"):
            self._nodes("proposed-types", types, {row["id"]: row for row in rows}, ("id", "kind", "name"))
        self.nodes = types.end
        said = ("words", "confidence", "example")
        self._links("ingest/proposed", "proposed", (passages, "passage"), (types, "id"), said)

    def _links(self, rows_of: str, table: str, start: _End, end: _End, columns: Sequence[str]) -> None:
        """Write relationships, one a row of the statement ``rows_of``, with its ``columns`` as their properties."""
        for rows in self._shards.parts(rows_of):
            starts, ends = (numbers.of([row[key] for row in rows]) for numbers, key in (start, end))
            lines = [
                f"{one},{other},{_cells(row[name] for name in columns)}\n"
                for row, one, other in zip(rows, starts, ends, strict=True)
            ]
            self._tables[table].write(lines)

    def _nodes(self, table: str, numbers: Numbers, nodes: dict[str, Row], columns: Sequence[str]) -> dict[int, Row]:
        """Write ``nodes``, whose ``columns`` are all that they have; returns their rows by their numbers."""
        first, ordered = _numbered(numbers, nodes)
        new = {number: row for number, (_, row) in enumerate(ordered, first)}
        lines = [f"{number},{_cells(row[name] for name in columns)}\n" for number, row in new.items()]
        self._tables[table].write(lines)
        return new

    def _facts(self, table: str, rows: Sequence[Row], passages: Numbers, line: Line) -> dict[int, Row]:
        """Write facts and where they are stated; returns the first row of each by its number."""
        numbers: dict[str, int] = {}
        new: dict[int, Row] = {}
        places = []
        for row, passage in zip(rows, passages.of([row["passage"] for row in rows]), strict=True):
            id_ = row["id"]
            number = numbers.get(id_)
            if number is None:
                number = numbers[id_] = self.nodes + len(numbers)
                new[number] = row
            places.append(f"{number},{passage},{row['start']},{row['end']},{_BOOLEAN[row['found']]}\n")
        self.nodes += len(numbers)
        self._tables[table].write([line(number, row) for number, row in new.items()])
        self._tables["stated-by"].write(places)
        return new


def _numbered(numbers: Numbers, nodes: dict[str, Row]) -> tuple[int, list[tuple[str, Row]]]:
    """Add ``nodes`` to ``numbers``: the number of the first, and all of them in their order."""
    ordered = sorted(nodes.items())
    return numbers.add([id_ for id_, _ in ordered]), ordered


def _entity(number: int, row: Row) -> str:
    labels = ITEM_END.join(("Entity", "KeyElement", "Pending", *row["labels"]))
    return (
        f'{number},"{_escaped(labels)}","{row["id"]}","{_escaped(row["name"])}","{_escaped(row["key"])}",'
        f'"{_escaped(row["stem"])}",{_cell(row["nameWords"])},{_cell(row["consonants"])},{_cell(row["type"])},'
        f"{_BOOLEAN[row['inSchema']]}\n"
    )


def _key_element(number: int, row: Row) -> str:
    return f'{number},"{row["id"]}","{_escaped(row["name"])}","{_escaped(row["key"])}","{_escaped(row["stem"])}"\n'


def _triple(number: int, row: Row) -> str:
    return _stated(number, "triple", row)


def _attribute(number: int, row: Row) -> str:
    return _stated(number, "attribute", row)


def _stated(number: int, kind: str, row: Row) -> str:
    return (
        f'{number},"{row["id"]}","{kind}","{_escaped(row["name"])}","{_escaped(row["text"])}",'
        f'"{_escaped(row["subject"])}","{_escaped(row["predicate"])}","{_escaped(row["object"])}",'
        f"{_BOOLEAN[row['inSchema']]}\n"
    )


def _atomic_fact(number: int, row: Row) -> str:
    return f'{number},"{row["id"]}","atomic","{_escaped(row["name"])}","{_escaped(row["text"])}"\n'


def _state(state: Row) -> Row:
    unknown = state.keys() - STATE.keys() - set(_RELEASED)
    if unknown:
        raise ValueError(f"The files have no columns for {sorted(unknown)} of a passage.")
    return state


def _pairs(starts: Iterable[int], ends: Iterable[int]) -> list[str]:
    return [f"{start},{end}\n" for start, end in zip(starts, ends, strict=True)]


def _cells(values: Iterable[Any]) -> str:
    return ",".join(map(_cell, values))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return f'"{_escaped(ITEM_END.join(map(str, value)))}"'
    return f'"{_escaped(value)}"' if isinstance(value, str) else str(value)


def _escaped(text: str) -> str:
    return text.replace('"', '""')
