"""What people correct in a graph, kept in it and undone to the letter (``ingest.corrections``).

    made = kg.correct.merge("Lord Kelvin", "William Thomson", why="the same man")
    kg.correct.undo(made.id)

An entity is named by its id, its name, or its name with its type in brackets: "Mercury (Planet)".
"""

from __future__ import annotations

import getpass
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from kgplatform.concurrency.arguments import checked
from kgplatform.concurrency.files import write_atomically
from kgplatform.errors import InputError
from kgplatform.explore.info import DocumentInfo, named_documents
from kgplatform.explore.look import Look
from kgplatform.explore.namesakes import Namesake as Namesake
from kgplatform.explore.namesakes import namesakes
from kgplatform.extract.schema import Schema
from kgplatform.ingest.corrections import Correction as Correction
from kgplatform.ingest.corrections import CorrectionKind, Corrections, Named, correction_of, grown_schema, mark_all
from kgplatform.ingest.graph_state import define_keys
from kgplatform.ingest.pipeline import remove_documents
from kgplatform.ingest.schema_expansion import KnownGrowth
from kgplatform.ingest.settle import settle
from kgplatform.ingest.window import Reading, Tools
from kgplatform.ingest.write import document_statements, extraction_statements, has_usable_names, update_statements
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import (
    SILENT,
    Document,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Passage,
    Progress,
)
from kgplatform.sources.cut import cut_document
from kgplatform.text import listed, node_id, normalise_name, tidy, unknown

ACTIONS: dict[str, tuple[str, ...]] = {
    "merge": ("entity", "into"),
    "split": ("entity", "name", "documents"),
    "rename": ("entity", "name"),
    "retype": ("entity", "type"),
    "alias": ("entity", "name"),
    "remove-alias": ("entity", "name"),
    "accept": ("one", "other"),
    "refuse": ("one", "other"),
    "drop": ("fact",),
    "add": ("subject", "predicate", "object"),
}
"""What can be corrected, and what each needs: the methods of ``Correct`` with their parameters."""

FORMAT, VERSION = "kgplatform-corrections", 1
BY_HAND = "by_hand"
"""The metadata of a document that has a statement which somebody added: who that was."""
_TYPED = re.compile(r"(.*\S) ?\(([^()]+)\)")
_SHOWN = 3
_CALLED_LIKE, _LONGEST = 10, 4000


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two entities that are likely one, with the cosine of their names."""

    one: str
    other: str
    names: tuple[str, str]
    types: tuple[str | None, str | None]
    passages: tuple[int, int]
    score: float


@checked
class Correct:
    """The corrections of one graph. ``writing`` opens a pass, with what that works with.

    ``who``: who makes them, by default the user of this computer.
    """

    def __init__(
        self,
        store: Store,
        writing: Callable[[Progress], AbstractContextManager[Tools]],
        documents: Callable[[], list[DocumentInfo]],
        who: str = "",
    ) -> None:
        self._store = store
        self._writing, self._documents = writing, documents
        self.who = who

    def all(self) -> tuple[Correction, ...]:
        """All corrections, in the order in which they were made; one that applies to no passage waits for one."""
        return tuple(correction_of(row) for row in self._store.read("correct/corrections"))

    def duplicates(self, limit: int = 50) -> tuple[Duplicate, ...]:
        """Pairs of entities that are likely one, the likeliest first, but for those that were told apart."""
        rows = self._store.read("correct/duplicates", limit=limit)
        return tuple(Duplicate(**{name: _tuple(value) for name, value in row.items()}) for row in rows)

    def namesakes(self, limit: int = 50) -> tuple[Namesake, ...]:
        """Entities that documents tell of what cannot be one thing; ``split`` makes each two."""
        known = grown_schema(self._store)
        return namesakes(self._store, known, limit) if known else ()

    def merge(self, entity: str, into: str, *, why: str = "", progress: Progress = SILENT) -> Correction:
        """``entity`` is ``into``: everything that is said of the one is said of the other."""
        one, row = self._entity(entity), self._entity_row(into)
        other = _named(row)
        if one.id == other.id:
            raise InputError(f"{one} and {other} are one entity already.")
        what = {"entity": one, "into": other, "name": row["name"]}
        return self._make("merge", f"{one} is {other}", what, why, progress)

    def split(
        self, entity: str, name: str, documents: str | Sequence[str], *, why: str = "", progress: Progress = SILENT
    ) -> Correction:
        """What ``documents`` call ``entity`` is another one, ``name``. They are named as in ``KnowledgeGraph.remove``;
        ids of passages will do too."""
        one, called = self._entity(entity), _name(name)
        wanted = [documents] if isinstance(documents, str) else list(documents)
        there = {row["id"] for row in self._store.read("ingest/passages_there", passages=wanted)}
        others = [each for each in wanted if each not in there]
        chosen = named_documents(others, self._documents()) if others or not there else []
        text = f"{one} is {called} in some documents"  # which are not named: a part of the graph may lack them
        ids = sorted({*(each.id for each in chosen), *there})
        return self._make("split", text, {"entity": one, "name": called, "documents": ids}, why, progress)

    def rename(self, entity: str, name: str, *, why: str = "", progress: Progress = SILENT) -> Correction:
        """``entity`` is called ``name``; what texts call it stays its alias."""
        one, called = self._entity(entity), _name(name)
        return self._make("rename", f"{one} is called {called}", {"entity": one, "name": called}, why, progress)

    def retype(self, entity: str, type: str, *, why: str = "", progress: Progress = SILENT) -> Correction:
        """``entity`` is of another ``type``."""
        one, is_now = self._entity(entity), _name(type)
        return self._make("type", f"{one} is of type {is_now}", {"entity": one, "type": is_now}, why, progress)

    def alias(self, entity: str, name: str, *, why: str = "", progress: Progress = SILENT) -> Correction:
        """``entity`` is also called ``name``; another entity of that name and type becomes part of it."""
        one, called = self._entity(entity), _name(name)
        return self._make("alias", f"{one} is also called {called}", {"entity": one, "name": called}, why, progress)

    def remove_alias(self, entity: str, name: str, *, why: str = "", progress: Progress = SILENT) -> Correction:
        """``entity`` is not called ``name``: what texts call so is an entity of its own."""
        one, called = self._entity(entity), _name(name)
        return self._make("no alias", f"{one} is not called {called}", {"entity": one, "name": called}, why, progress)

    def accept(self, one: str, other: str, *, why: str = "", progress: Progress = SILENT) -> Correction:
        """A likely duplicate is one: the entity that fewer passages name is merged into the other."""
        counts = {each: self._entity_row(each)["passages"] for each in (one, other)}
        entity, into = (other, one) if counts[one] >= counts[other] else (one, other)
        return self.merge(entity, into, why=why, progress=progress)

    def refuse(self, one: str, other: str, *, why: str = "", progress: Progress = SILENT) -> Correction:
        """A likely duplicate is none: the two stay two, and are not called alike any more."""
        first, second = sorted((self._entity(one), self._entity(other)), key=lambda each: each.id)
        if first.id == second.id:
            raise InputError(f"{first} and {second} are one entity.")
        what = {"entity": first, "other": second}
        return self._make("different", f"{first} and {second} are two", what, why, progress)

    def drop(self, fact: str, *, why: str = "", progress: Progress = SILENT) -> Correction:
        """A fact is not so, wherever it is stated. ``fact``: the id of it, or its text."""
        rows = self._store.read("correct/fact", fact=fact) or self._store.read("correct/fact_by_text", text=tidy(fact))
        if not rows:
            raise InputError(f"No fact has the id or the text {fact[:100]!r}.")
        row = rows[0]
        subject = Named.of(row["subject"]) if row["subject"] else None
        if row["kind"] == "atomic" or subject is None:
            what: dict[str, Any] = {"text": row["text"]}
        elif row["kind"] == "attribute":
            what = {"subject": subject, "predicate": row["predicate"], "value": row["value"]}
        else:
            what = {"subject": subject, "predicate": row["predicate"], "object": Named.of(row["object"])}
        return self._make("drop", f"Not so: {row['text']}", what, why, progress)

    def add(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        why: str = "",
        value: bool = False,
        progress: Progress = SILENT,
    ) -> Correction:
        """Add a fact: two entities, new ones named as "Name (Type)", and their relation; or with ``value`` an entity, a
        key and its value. It is a document of its own, whose metadata ``by_hand`` has who added it."""
        one, other = self._named_or_new(subject), None if value else self._named_or_new(object)
        told = {"subject": self._first(one), "predicate": _name(predicate)}
        told |= {"object": self._first(other)} if other else {"value": _name(object)}
        text = f"{one.name} {tidy(predicate)}{':' if value else ''} {other.name if other else tidy(object)}"
        return self._make("add", text, told, why, progress)

    def do(self, action: str, given: Mapping[str, Any], *, why: str = "", progress: Progress = SILENT) -> Correction:
        """One of ``ACTIONS``, with what it needs by name; ``add`` also takes ``value``."""
        if action not in ACTIONS:
            raise InputError(unknown("correction", action, ACTIONS))
        wanted = ACTIONS[action]
        if missing := [name for name in wanted if not given.get(name)]:
            raise InputError(f"The correction {action} needs {listed(wanted)}: {listed(missing)} is missing.")
        more = ("value",) if action == "add" else ()
        if strange := sorted(name for name, value in given.items() if value and name not in (*wanted, *more)):
            raise InputError(f"The correction {action} takes {listed(wanted)}, not {listed(strange)}.")
        if any(len(value) > _LONGEST for value in given.values() if isinstance(value, str)):
            raise InputError(f"The correction {action} takes names and facts of at most {_LONGEST:,} characters.")
        method = getattr(self, action.replace("-", "_"))
        made: Correction = method(**{k: v for k, v in given.items() if v}, why=why, progress=progress)
        return made

    def save(self, path: str | Path) -> int:
        """Write all corrections to a file of JSON lines, for ``load`` in another graph; returns how many."""
        found = self.all()
        lines = [{"format": FORMAT, "version": VERSION, "corrections": len(found)}]
        lines += [{k: v for k, v in asdict(each).items() if k not in ("id", "passages")} for each in found]
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        try:
            write_atomically(Path(path), text.encode())
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
        return len(found)

    def load(self, path: str | Path, *, progress: Progress = SILENT) -> int:
        """Make the corrections of a file that ``save`` wrote; returns how many were new. Raises ``InputError``."""
        try:
            head, *lines = (json.loads(line) for line in Path(path).read_text("utf-8").splitlines())
            if head["format"] != FORMAT or head["version"] != VERSION or head["corrections"] != len(lines):
                raise ValueError
            found = [
                correction_of({**each, "id": _id_of(each["kind"], each["what"]), "name": each["text"]})
                for each in lines
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} is no file of corrections, or is damaged.") from error
        return self.take(found, progress=progress)

    def undo(self, correction: str, *, progress: Progress = SILENT) -> Correction:
        """Take a correction back, by its id: the graph is as if it had never been made."""
        kept = self.all()
        found = next((each for each in kept if each.id == correction), None)
        if found is None:
            raise InputError(f"No correction has the id {correction[:100]!r}.")
        with self._writing(progress) as tools:
            if found.kind == "add":  # first, so that who is cut short can undo it again
                asked = {"documents": [found.document]}
                passages = [row["id"] for row in self._store.read("explore/document_passages", **asked)]
                remove_documents(tools, [found.document], passages)
            left = Corrections([each for each in kept if each.id != found.id], None)
            touched = sorted({*found.ids, *left.renamed(Corrections(kept, None))})
            tools.store.write(("correct/forget", {"id": found.id, "entities": touched}))
            settle(tools.store, tools.embedder, tools.settings, progress)
        return found

    def take(self, corrections: Sequence[Correction], *, progress: Progress = SILENT) -> int:
        """Make the corrections of another graph here, in the order in which they were made; those that are here already
        stay. Returns how many were new."""
        known = self.all()
        new = [each for each in corrections if each.id not in {one.id for one in known}]
        with self._writing(progress) as tools:
            define_keys(tools.store)
            for each in new:
                self._keep(tools, each)
            if known and new and min(each.at for each in new) < max(each.at for each in known):
                mark_all(tools.store)
            settle(tools.store, tools.embedder, tools.settings, progress)
        return len(new)

    def _make(
        self, kind: CorrectionKind, text: str, what: Mapping[str, Any], why: str, progress: Progress
    ) -> Correction:
        plain = {key: [each.name, each.type] if isinstance(each, Named) else each for key, each in what.items()}
        id_, kept = _id_of(kind, plain), self.all()
        if any(each.id == id_ for each in kept):  # again, after others: it is the last now
            self.undo(id_, progress=progress)
        last = max(
            (datetime.fromisoformat(each.at) for each in kept), default=datetime.min.replace(tzinfo=timezone.utc)
        )
        at = max(datetime.now(timezone.utc), last + timedelta(microseconds=1)).isoformat(timespec="microseconds")
        self.take([Correction(id_, kind, plain, text, self.who or _user(), at, tidy(why))], progress=progress)
        return next(each for each in self.all() if each.id == id_)

    def _keep(self, tools: Tools, made: Correction) -> None:
        """Write a correction, and mark what is to be corrected by it."""
        node: Row = {"name": made.text, "what": json.dumps(made.what, ensure_ascii=False), "kind": made.kind}
        node |= {"who": made.who, "at": made.at, "why": made.why or None}
        tools.store.write(
            ("correct/keep", {"id": made.id, "properties": node}),
            *made.marks(),
            *(_stated(tools, made) if made.kind == "add" else ()),
        )

    def _entity_row(self, named: str) -> Row:
        """The entity that ``named`` means. Raises ``InputError`` if none is, or several."""
        name, type_ = _typed(named)
        key, bare = normalise_name(named), normalise_name(name)
        rows = self._store.read("correct/entities", ids=[named], key=key, bare=bare, type=type_)
        if not rows:  # an alias, or what is called like it
            nodes = [each.id for each in Look(self._store).find(name, _CALLED_LIKE) if each.kind == "Entity"]
            like = self._store.read("correct/entities", ids=nodes, key="", bare="", type="")
            rows = [row for row in like if bare in map(normalise_name, row["aliases"]) and type_ in (None, row["type"])]
        if len(rows) == 1:
            return rows[0]
        if not rows:
            names = [str(Named(row["name"], row["type"])) for row in like]
            more = f" Did you mean {listed(names, _SHOWN)}?" if names else ""
            raise InputError(f"No entity is called {named[:100]!r}.{more}")
        each = ", ".join(f'"{row["name"]} ({row["type"]})"' if row["type"] else row["id"] for row in rows)
        raise InputError(f"Several entities are called {named[:100]!r}: name one as {each}, or by its id.")

    def _entity(self, named: str) -> Named:
        return _named(self._entity_row(named))

    def _first(self, named: Named) -> Named:
        """What an entity was before it was renamed: what is added is corrected by that as all texts are."""
        for each in reversed(self.all()):
            if each.kind in ("rename", "type") and each.result.id == named.id:
                named = each.named("entity")
        return named

    def _named_or_new(self, named: str) -> Named:
        name, type_ = _typed(named)
        try:
            return self._entity(named)
        except InputError:
            if type_ is None:
                raise
        return Named(_name(name), tidy(type_))


def holds_corrections(path: Path) -> bool:
    """Whether a file is one that ``Correct.save`` wrote."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return FORMAT.encode() in stream.readline(1000)


def _id_of(kind: str, what: Mapping[str, Any]) -> str:
    return node_id("correction", kind, json.dumps(what, ensure_ascii=False, sort_keys=True))


def _typed(named: str) -> tuple[str, str | None]:
    """A name, and the type that stands behind it in brackets."""
    found = _TYPED.fullmatch(tidy(named))
    return (found[1], found[2]) if found else (named, None)


def _named(row: Row) -> Named:
    """An entity of the graph, as corrections name it: what it is called may be a form of another name."""
    return Named(row["name"] if normalise_name(row["name"]) == row["key"] else row["key"], row["type"])


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _user() -> str:
    """Who works on this computer."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container that has no name for its user
        return "somebody"


def _name(given: str) -> str:
    """A name that can be one. Raises ``InputError``."""
    if not has_usable_names(tidy(given)):
        raise InputError(f"{given[:100]!r} is empty or too long to be a name.")
    return tidy(given)


@dataclass(frozen=True, slots=True)
class _Stated:
    """An extractor that finds one statement, which somebody made."""

    found: Extraction
    name: str = "hand"

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """It."""
        return self.found


def _stated(tools: Tools, made: Correction) -> Iterator[tuple[str, dict[str, Any]]]:
    """The statements that write a document which says what was added, and what that is."""
    what, text, address = made.what, f"{made.text}.", f"correction:{made.id}"
    day = made.at[:10]
    document = Document(
        made.document,
        f"Added by {made.who} on {day}",
        address,
        address,
        text,
        hashlib.sha256(text.encode()).hexdigest(),
        metadata={BY_HAND: made.who, "date": day},
    )
    (passage, *_) = passages = cut_document(document, max(tools.settings.passage_tokens, len(text)))
    subject = Named.of(what["subject"])
    entities = [ExtractedEntity(subject.name, subject.type)]
    if "value" in what:
        attributes = (ExtractedAttribute(subject.name, what["predicate"], what["value"], text),)
        extraction = Extraction(tuple(entities), (), attributes)
    else:
        other = Named.of(what["object"])
        entities.append(ExtractedEntity(other.name, other.type))
        extraction = Extraction(tuple(entities), (ExtractedTriple(subject.name, what["predicate"], other.name, text),))
    reading = Reading(_Stated(extraction), tools.schema, "flexible")
    read = reading.read(passage, document, KnownGrowth(tools.store, tools.schema).schema)
    state = {"id": passage.id, "state": {**read.state, "factsBy": "hand"}}
    yield from document_statements([(document, passages)])
    yield from update_statements((), [document])
    yield from extraction_statements(read.rows, [state], read=[passage.id], correct=[passage.id])
