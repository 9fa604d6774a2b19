"""First builds by bulk import: a large corpus into an empty graph of the managed server.

    with FirstBuild(tools, turn) as build:
        groups = build.begin(groups)        # from here on ``build.spill`` takes the writes; None if the database does
        …
        build.bring_in()                    # the graph is in the database, and the ingest continues as always

decide    is the graph empty, the server ours, the corpus large, and no model asked? else transactions write, as always
spill     what the ingest would write goes to disk instead, parted by id
put       together: each node once, with a number, and its relationships by these numbers, as files of CSV
import    Neo4j's own program makes the database of them while the server is stopped

The statements of ``cypher/ingest`` say what comes of a row, and this says the same: the columns of a file are the
properties that a statement sets, and the first row of a node gives them; an entity also gets the labels that later rows
have for it. A node that the ingest is to complete has the label ``Pending``. The importer takes numbers as they are,
and would have to sort and look up anything else.

Until the import is over nothing is in the graph: whoever ends before that begins again. The import itself is all or
nothing (``neo4j.full_import``).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgplatform.concurrency.files import Shards, Spool
from kgplatform.errors import InputError, ServerError, StoreError
from kgplatform.ingest.compare import Group
from kgplatform.ingest.graph_state import define_keys, graph_state, set_state
from kgplatform.ingest.window import Tools
from kgplatform.ingest.write import Statement
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Row
from kgplatform.query import batches
from kgplatform.settings import env_name

_SPACE = 4
"""A database is at most so many times as large as the files that it is made of."""
_GB = 1e9


class FirstBuild(AbstractContextManager["FirstBuild"]):
    """One ingest. ``spill`` takes what it writes, while it is one; ``note`` says in a sentence what was done.

    A context manager: at its end nothing is left on disk. ``turn`` is alone while it is one.
    """

    def __init__(self, tools: Tools, turn: Pass) -> None:
        self.spill: Spill | None = None
        self.note = ""
        self._tools = tools
        self._home = tools.settings.home_folder
        self._folder = self._home / "first-build"
        self._turn = turn
        self._open = ExitStack()

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def begin(self, groups: Iterator[Group]) -> Iterator[Group]:
        """Decide by the first of ``groups``, which are all of them again."""
        if self._tools.settings.neo4j_uri is not None:
            return groups
        # What a model is paid for takes its time anyway: it is written as it comes, and can be searched from then on.
        least = 0 if self._tools.extractor.name == "llm" else self._tools.settings.bulk_import
        if self._folder.exists() and self._is_managed():
            shutil.rmtree(self._folder, ignore_errors=True)  # of one that was killed
        if not least or not (self._tools.store.read("ingest/is_empty")[0]["empty"] and self._turn.is_only):
            return groups
        seen = self._open.enter_context(Spool[Group](self._home))
        passages = 0
        for group in groups:
            seen.add(group)
            passages += sum(len(each.passages) for each in group.documents)
            if passages >= least:
                if self._is_managed():
                    self.spill = Spill(self._open.enter_context(Shards(self._home)))
                break
        return chain(seen, groups)

    def _is_managed(self) -> bool:
        """Whether the graph is in the server that is run from here."""
        return LocalNeo4j(self._tools.settings).connection() == self._tools.store.connection

    def bring_in(self) -> None:
        """Make the database of what was spilled; the server is stopped meanwhile.

        Raises ``InputError`` if the disk has not enough room, ``StoreError`` if somebody has written into the graph
        meanwhile, and ``ServerError``. Then the graph is as empty as it was.
        """
        assert self.spill is not None
        self._tools.progress("importing", 0, 1)
        self._folder.mkdir()
        self._open.callback(shutil.rmtree, self._folder, ignore_errors=True)
        with self._open:
            files = self._files(self.spill)
            self._import(files)
            for rows in self.spill.shards.parts("ingest/metadata"):  # which differ from document to document
                for some in batches(rows):
                    self._tools.store.write(("ingest/metadata", {"rows": some}))
        relationships = sum(table.rows for table in files.tables[1])
        self.spill = None
        self.note = (
            f"The graph was empty, so Neo4j's bulk import loaded {files.nodes:,} nodes and {relationships:,} "
            "relationships; the server was restarted for it."
        )
        self._tools.progress("importing", 1, 1)

    def _files(self, spill: Spill) -> GraphFiles:
        self._check_space(spill.shards.size)
        try:
            files = GraphFiles(spill.shards, self._folder)
            files.write()
        except UnicodeEncodeError as error:
            raise InputError("A text has a character that Neo4j cannot hold.") from error
        except OSError as error:
            raise InputError(f"The files of the bulk import cannot be written ({error.strerror}).") from error
        self._check_space(_SPACE * files.size)
        return files

    def _import(self, files: GraphFiles) -> None:
        store, server = self._tools.store, LocalNeo4j(self._tools.settings)
        state = graph_state(store)
        if not store.read("ingest/is_empty")[0]["empty"]:
            raise StoreError(
                "Another process wrote to the graph during its first build, and a bulk import would overwrite that. "
                "Run the same command again: it adds to what is there."
            )
        nodes, relationships = ([(table.kind, table.name) for table in some] for some in files.tables)
        connection = server.replace_database(nodes, relationships, self._folder, store.stop)
        if connection.uri != store.connection.uri:
            raise ServerError("The server has another port now. Run the same command again to continue.")
        store.meet_again()
        self._turn.again()
        define_keys(store)
        store.write(set_state(**state))

    def _check_space(self, needed: float) -> None:
        free = shutil.disk_usage(self._home).free
        if needed > free:
            raise InputError(
                f"The bulk import needs {needed / _GB:.1f} GB in {self._home}, where {free / _GB:.1f} GB are free. "
                f"Make room, choose another place with {env_name('home')}, or set {env_name('bulk_import')}=0, which "
                "needs less at a time."
            )


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


@dataclass(frozen=True, slots=True, eq=False)
class Spill:
    """Takes statements as a ``Writer`` does. ``shards`` has their rows, by the names of the statements."""

    shards: Shards

    def put(self, statements: Sequence[Statement]) -> None:
        """Keep the rows of ``statements``."""
        for name, parameters in statements:
            self.shards.add(name, parameters["rows"], _KEYS[name])
            if name == "ingest/attributes":
                self.shards.add(VALUES, parameters["rows"], "attributeId")


_STATE = (
    "state:string,failure:string,unreadBy:string,kept:long,mapped:long,dropped:long,offSchema:long,turned:long,"
    "unnamed:long,notKept:string,found:long,notFound:long,duplicates:long,leftOut:string,seed:string,boundBy:string,"
    "malformedKinds:string[],malformedCounts:long[],factsBy:string,"
    "alike:string[]"
)
"""What a passage gets when it was read."""
_STATED = "id:string,kind:string,name:string,text:string"
NODES = {
    "documents": (
        "Document",
        "id:string,name:string,key:string,uri:string,source:string,sha256:string,characters:long,tokens:long,"
        "language:string,modifiedAt:string,addedAt:datetime",
    ),
    "passages": (
        "Chunk:Pending",
        "id:string,name:string,text:string,index:long,start:long,end:long,page:long,tokens:long,"
        f"location:string,locations:string[],locationStarts:long[],{_STATE}",
    ),
    "entities": (
        "",
        ":LABEL,id:string,name:string,key:string,stem:string,nameWords:string,consonants:string,type:string,"
        "inSchema:boolean",
    ),
    "key-elements": ("KeyElement:Pending", "id:string,name:string,key:string,stem:string"),
    "attributes": ("Attribute", "id:string,name:string,key:string,value:string"),
    "facts": ("Fact:Pending", f"{_STATED},subject:string,predicate:string,object:string,inSchema:boolean"),
    "atomic-facts": ("Fact", _STATED),
    "proposed-types": ("ProposedType", "id:string,kind:string,name:string"),
}
"""The files of nodes: their labels, where all have the same, and their columns after the number."""
RELATIONSHIPS = {
    "from-document": ("FROM_DOCUMENT", ""),
    "next-chunk": ("NEXT_CHUNK", ""),
    "named-by": ("FROM_CHUNK", "count:long,names:string[]"),
    "stated-by": (
        "FROM_CHUNK",
        "start:long,end:long,found:boolean,since:string,until:string,granularity:string,timeStart:long,timeEnd:long",
    ),
    "subject": ("SUBJECT", ""),
    "object": ("OBJECT", ""),
    "value": ("VALUE", ""),
    "has-attribute": ("HAS_ATTRIBUTE", ""),
    "mentions": ("MENTIONS", ""),
    "proposed": ("PROPOSED", "words:string,confidence:double,example:string"),
    "relations": ("", ":TYPE,fact:string,predicate:string,weight:long"),
}
"""The files of relationships: their types, where all have the same, and their columns after the numbers of the ends."""
_ITEM_END = "\x1f"
"""Between the items of a list: white space, and so in no name."""
_BUFFER = 2**20
_RELEASED = "claimedBy"
"""What a passage loses when it was read; nobody claims passages of a first build."""


class Table:
    """A file of rows, its columns in the first line."""

    def __init__(self, folder: Path, name: str, kind: str, numbers: str, columns: str) -> None:
        self.name = f"{name}.csv"
        self.kind = kind
        self.rows = 0
        self.columns = [column.rpartition(":")[0] or column for column in columns.split(",") if column]
        self._stream = (folder / self.name).open("w", _BUFFER, encoding="utf-8", newline="")
        self._stream.write(",".join(filter(None, (numbers, columns))) + "\n")

    def add(self, numbers: Iterable[tuple[int, ...]], rows: Iterable[Row] = repeat({})) -> None:
        """Append ``rows``: their numbers, and of each what it has under the names of the columns."""
        lines = [
            ",".join([*map(str, each), *(_cell(row[name]) for name in self.columns)]) + "\n"
            for each, row in zip(numbers, rows, strict=False)
        ]
        self.rows += len(lines)
        self._stream.write("".join(lines))

    def close(self) -> None:
        """Write what is held back."""
        self._stream.close()


def _cell(value: Any) -> str:
    """A text stands in quotes, which are doubled in it; an empty cell is no value, two quotes are an empty text."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        value = _ITEM_END.join(map(str, value))
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else str(value)


class GraphFiles:
    """Writes all of ``shards`` into files in ``folder``, and closes them. ``nodes`` counts nodes.

    ``tables``: of nodes and of relationships, those that have any.
    """

    def __init__(self, shards: Shards, folder: Path) -> None:
        self._shards = shards
        self._folder = folder
        self._nodes = {name: Table(folder, name, kind, ":ID", columns) for name, (kind, columns) in NODES.items()}
        self._relationships = {
            name: Table(folder, name, kind, ":START_ID,:END_ID", columns)
            for name, (kind, columns) in RELATIONSHIPS.items()
        }
        self._all = (*self._nodes.values(), *self._relationships.values())
        self.nodes = 0

    @property
    def tables(self) -> tuple[list[Table], list[Table]]:
        """The files of nodes, and those of relationships, that have rows."""
        nodes, relationships = self._nodes.values(), self._relationships.values()
        return [table for table in nodes if table.rows], [table for table in relationships if table.rows]

    @property
    def size(self) -> int:
        """Bytes of all files, once they are written."""
        return sum((self._folder / table.name).stat().st_size for table in self._all)

    def write(self) -> None:
        """Write every kind of node after those that its relationships lead to."""
        try:
            documents, now = Numbers(self.nodes), datetime.now(timezone.utc)
            for rows in self._shards.parts("ingest/documents"):
                self._number("documents", documents, {row["id"]: {**row, "addedAt": now} for row in rows})
            self.nodes = documents.end
            passages = self._passages(documents)
            elements = self._elements()
            values = Numbers(self.nodes)
            for rows in self._shards.parts(VALUES):
                said = {
                    row["attributeId"]: {**row, "id": row["attributeId"], "name": row["attributeName"]} for row in rows
                }
                new = self._number("attributes", values, said)
                self._pairs("has-attribute", elements.of([row["subjectId"] for row in new.values()]), new)
            self.nodes = values.end
            self._links("ingest/mentions", "named-by", (elements, "element"), (passages, "passage"))
            for rows in self._shards.parts("ingest/triples"):
                self._triples(rows, elements, passages)
            for rows in self._shards.parts("ingest/attributes"):
                new = self._facts("facts", "attribute", rows, passages)
                self._pairs("subject", new, elements.of([row["subjectId"] for row in new.values()]))
                self._pairs("value", new, values.of([row["attributeId"] for row in new.values()]))
            for rows in self._shards.parts("ingest/atomic_facts"):
                new = self._facts("atomic-facts", "atomic", rows, passages)
                starts = [number for number, row in new.items() for _ in row["elements"]]
                self._pairs("mentions", starts, elements.of([end for row in new.values() for end in row["elements"]]))
            types = Numbers(self.nodes)
            for rows in self._shards.parts("ingest/proposed"):
                self._number("proposed-types", types, {row["id"]: row for row in rows})
            self.nodes = types.end
            self._links("ingest/proposed", "proposed", (passages, "passage"), (types, "id"))
        finally:
            for table in self._all:
                table.close()

    def _passages(self, documents: Numbers) -> Numbers:
        passages = Numbers(self.nodes)
        states = [column.partition(":")[0] for column in _STATE.split(",")]
        parts = zip(self._shards.parts("ingest/passages"), self._shards.parts("ingest/passage_states"), strict=True)
        for rows, known in parts:
            state_of = {row["id"]: row["state"] for row in known}
            if unknown := {name for state in state_of.values() for name in state} - {*states, _RELEASED}:
                raise ValueError(f"The files have no columns for {sorted(unknown)} of a passage.")
            whole = {
                row["id"]: {
                    **dict.fromkeys(states),
                    **row,
                    "locationStarts": row["location_starts"],
                    **(state_of.get(row["id"]) or {"state": "pending"}),
                }
                for row in rows
            }
            new = self._number("passages", passages, whole)
            self._pairs("from-document", new, documents.of([row["document_id"] for row in new.values()]))
        self._links("ingest/next_passages", "next-chunk", (passages, "id"), (passages, "next"))
        self.nodes = passages.end
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
            for id_, row in known.items():
                if "type" in row:
                    known[id_] = {**row, ":LABEL": ["Entity", "KeyElement", "Pending", *row["labels"]]}
            self._number("entities", elements, known, others="key-elements")
        self.nodes = elements.end
        return elements

    def _triples(self, rows: Sequence[Row], elements: Numbers, passages: Numbers) -> None:
        new = self._facts("facts", "triple", rows, passages)
        subjects = elements.of([row["subjectId"] for row in new.values()])
        objects = elements.of([row["objectId"] for row in new.values()])
        self._pairs("subject", new, subjects)
        self._pairs("object", new, objects)
        ends = {row["id"]: both for row, *both in zip(new.values(), subjects, objects, strict=True)}
        times: dict[str, int] = {}
        relations: dict[tuple[str, str], Row] = {}
        for row in rows:
            id_, kind = row["id"], row["type"]
            times[id_] = times.get(id_, 0) + 1
            relations[id_, kind] = {":TYPE": kind, "fact": id_, "predicate": row["predicate"], "weight": times[id_]}
        self._relationships["relations"].add([(*ends[id_],) for id_, _ in relations], relations.values())

    def _number(self, table: str, numbers: Numbers, nodes: dict[str, Row], others: str = "") -> dict[int, Row]:
        """Write ``nodes``, in the order of their ids; returns their rows by their numbers. ``others``: the file of
        those without labels of their own."""
        ordered = sorted(nodes)
        new = dict(enumerate((nodes[id_] for id_ in ordered), numbers.add(ordered)))
        for name, is_other in ((table, False), (others, True)) if others else ((table, None),):
            some = {at: row for at, row in new.items() if is_other is None or (":LABEL" not in row) == is_other}
            self._nodes[name].add(((at,) for at in some), some.values())
        return new

    def _pairs(self, table: str, starts: Iterable[int], ends: Iterable[int]) -> None:
        self._relationships[table].add(zip(starts, ends, strict=True))

    def _links(self, rows_of: str, table: str, start: tuple[Numbers, str], end: tuple[Numbers, str]) -> None:
        """Write relationships, one a row of the statement ``rows_of``. ``start``, ``end``: nodes, and the column with
        their ids."""
        for rows in self._shards.parts(rows_of):
            starts, ends = (numbers.of([row[key] for row in rows]) for numbers, key in (start, end))
            self._relationships[table].add(zip(starts, ends, strict=True), rows)

    def _facts(self, table: str, kind: str, rows: Sequence[Row], passages: Numbers) -> dict[int, Row]:
        """Write facts of a ``kind`` and where they are stated; returns the first row of each by its number."""
        numbers: dict[str, int] = {}
        new: dict[int, Row] = {}
        for row in rows:
            if row["id"] not in numbers:
                numbers[row["id"]] = self.nodes + len(numbers)
                new[numbers[row["id"]]] = {**row, "kind": kind}
        self.nodes += len(numbers)
        self._nodes[table].add(((number,) for number in new), new.values())
        starts = [numbers[row["id"]] for row in rows]
        self._relationships["stated-by"].add(
            zip(starts, passages.of([row["passage"] for row in rows]), strict=True), rows
        )
        return new


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
            self._ids, self._parts = np.frombuffer(b"".join(self._parts), "S16"), []
        wanted = np.frombuffer(bytes.fromhex("".join(ids)), "S16")
        places = np.minimum(np.searchsorted(self._ids, wanted), max(0, self._count - 1))
        if not self._count or not np.array_equal(self._ids[places], wanted):
            raise KeyError("A relationship leads to a node that was not written.")
        found: list[int] = (places + self._first).tolist()
        return found
