"""What people correct: which entities are one, or two, what they are called, and what is not so.

A passage says what it says whoever else says anything (``ingest.write``); a correction changes that for each passage on
its own. So the graph is what passages say, each corrected by all corrections in the order in which they were made. A
passage keeps what it said before (``uncorrected``) while any of them applies to it (``CORRECTS``), and undoing one is
correcting its passages anew by the others. A correction that applies to no passage waits for one.

Whatever else writes what a passage says writes it uncorrected and leaves a mark, the label ``CorrectDue``; before
anything is settled, what has that mark is corrected. So a run that dies goes on where it stopped.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from kgplatform.errors import InputError
from kgplatform.extract.schema import GraphSchema, Schema
from kgplatform.ingest.graph_state import graph_state
from kgplatform.ingest.write import Rows, Statement, has_usable_names, ids_of, ordered, statements_of, time_of
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import Passage, Progress, metadata_of, written_on
from kgplatform.resolution import found_by, stem_of
from kgplatform.text import node_id, normalise_name
from kgplatform.text.matching import find_names

CorrectionKind = Literal["merge", "split", "rename", "type", "alias", "no alias", "different", "drop", "add"]
_AT_ONCE = 200
"""Passages that are corrected in one transaction."""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity as corrections name it: by its name and type, which it has again when its texts come back."""

    name: str
    type: str | None

    @property
    def id(self) -> str:
        """Of the node."""
        return node_id("entity", normalise_name(self.name), self.type)

    @classmethod
    def of(cls, value: Sequence[str | None]) -> Named:
        """That of a pair as JSON has it."""
        return cls(value[0] or "", value[1])

    def __str__(self) -> str:
        return f"{self.name} ({self.type})" if self.type else self.name


@dataclass(frozen=True, slots=True)
class Correction:
    """One correction. ``what``: what it changes, as JSON has it: an entity is a pair of name and type.

    ``text`` says it in a sentence. ``who`` made it, ``at`` which time (ISO 8601, UTC), and ``why``. ``passages``: how
    many it applies to; none of them while it waits.
    """

    id: str
    kind: CorrectionKind
    what: Mapping[str, Any]
    text: str
    who: str
    at: str
    why: str = ""
    passages: int = 0

    def named(self, key: str) -> Named:
        """The entity that ``what`` has under ``key``."""
        return Named.of(self.what[key])

    @property
    def result(self) -> Named:
        """The entity that is after it what its entity was before."""
        entity = self.named("entity")
        if self.kind == "merge":
            return self.named("into")
        return Named(self.what.get("name", entity.name), self.what.get("type", entity.type))

    @property
    def ids(self) -> list[str]:
        """The entities in whose passages it may find something to do, and whose names it may change."""
        if self.kind == "add" or "text" in self.what:
            return []
        if self.kind == "drop":
            return [self.named("subject").id]
        other = self.named("other") if self.kind == "different" else self.result
        return [self.named("entity").id, other.id]

    @property
    def document(self) -> str:
        """The id of the document that says what was added."""
        return node_id("document", f"correction:{self.id}")

    def marks(self) -> list[Statement]:
        """The statements that mark the passages which it may apply to, and the entities that it is about."""
        if self.kind == "add":
            return []
        if "text" in self.what:
            return [("correct/mark_text", {"text": self.what["text"]})]
        if self.kind == "drop":
            return [("correct/mark_facts", {"subject": self.ids[0], "predicate": self.what["predicate"]})]
        return [("correct/mark_entities", {"entities": self.ids, "different": self.kind == "different"})]


_NEEDS: dict[str, tuple[frozenset[str], ...]] = {
    "merge": (frozenset({"entity", "into", "name"}),),
    "split": (frozenset({"entity", "name", "documents"}),),
    "rename": (frozenset({"entity", "name"}),),
    "type": (frozenset({"entity", "type"}),),
    "alias": (frozenset({"entity", "name"}),),
    "no alias": (frozenset({"entity", "name"}),),
    "different": (frozenset({"entity", "other"}),),
    "drop": tuple(map(frozenset, ({"text"}, {"subject", "predicate", "value"}, {"subject", "predicate", "object"}))),
    "add": tuple(map(frozenset, ({"subject", "predicate", "value"}, {"subject", "predicate", "object"}))),
}
_LONGEST = 20_000
"""Characters of one text in a correction."""


def correction_of(row: Mapping[str, Any]) -> Correction:
    """That of a node's properties. Raises ``InputError`` for what is none: a file may come from anybody."""

    def is_text(value: object) -> bool:
        return isinstance(value, str) and len(value) <= _LONGEST

    def is_entity(value: object) -> bool:
        if not isinstance(value, list) or len(value) != 2 or not has_usable_names(str(value[0])):
            return False
        return is_text(value[0]) and (value[1] is None or is_text(value[1]))

    try:
        what = row["what"] if isinstance(row["what"], dict) else json.loads(row["what"])
        texts = [row["id"], row["name"], row["who"], row["at"], row.get("why") or ""]
        is_usable = what.keys() in _NEEDS[row["kind"]] and all(map(is_text, texts))
        for key, value in what.items():
            if key in ("entity", "into", "other", "subject") or (key == "object" and row["kind"] in ("drop", "add")):
                is_usable &= is_entity(value)
            elif key == "documents":
                is_usable &= isinstance(value, list) and all(map(is_text, value))
            else:
                is_usable &= is_text(value) and has_usable_names(value) | (key in ("text", "value"))
        is_usable &= datetime.fromisoformat(row["at"]).utcoffset() == timedelta(0) and row["at"].endswith("+00:00")
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{str(row.get('name'))[:80]!r} is no correction that can be used.") from error
    if not is_usable:
        raise InputError(f"{str(row['name'])[:80]!r} is no correction that can be used.")
    told = (row["name"], row["who"], row["at"], row.get("why") or "", row.get("passages", 0))
    return Correction(row["id"], row["kind"], what, *told)


@dataclass(slots=True)
class _Shown:
    """What an entity is called by hand, and what else."""

    name: str | None = None
    aliases: set[str] = field(default_factory=set)


def grown_schema(store: Store) -> Schema | None:
    """The schema of the graph with what it has grown by; None before the first ingest."""
    known = GraphSchema.of(graph_state(store))
    return known.grown if known else None


@dataclass(frozen=True, slots=True)
class _Move:
    """What was ``old`` becomes ``new``: in these documents or passages alone (``within``), or what is so called
    (``form``). It applies also where a passage names ``also``."""

    old: str
    new: Row
    within: frozenset[str] | None = None
    form: str | None = None
    also: str | None = None


class Corrections:
    """All corrections of a graph, in order. ``schema`` says which label an entity of another type gets."""

    def __init__(self, kept: Sequence[Correction], schema: Schema | None) -> None:
        self.kept = kept
        self._schema = schema
        self._shown: dict[str, _Shown] = defaultdict(_Shown)
        self._different: set[frozenset[str]] = set()
        self._moves: dict[str, _Move] = {}
        for each in kept:
            if each.kind == "different":
                self._different.add(frozenset(each.ids))
            elif each.kind not in ("drop", "add"):
                self._moves[each.id] = self._move_of(each)
        self._ids = {id_ for each in kept for id_ in each.ids}
        self._texts = {each.what["text"] for each in kept if "text" in each.what}

    @classmethod
    def of(cls, store: Store, schema: Schema | None = None) -> Corrections:
        """Those of the graph. ``schema``: what that is to become, with what it has grown by."""
        rows = store.read("correct/corrections")
        return cls([correction_of(row) for row in rows], schema or grown_schema(store))

    def _move_of(self, each: Correction) -> _Move:
        """What ``each`` does to passages; what entities are called follows it."""
        entity, result = each.named("entity"), each.result
        if each.kind == "alias":  # what is so called becomes the entity
            self._take_over(result.id, entity.id)
            self._shown[entity.id].aliases.add(result.name)
            return _Move(result.id, _row(entity), also=entity.id)
        if each.kind == "no alias":
            if (shown := self._shown.get(entity.id)) is not None:
                shown.aliases.discard(result.name)
            return _Move(entity.id, _row(result), form=normalise_name(result.name), also=entity.id)
        if each.kind == "split":
            self._shown[result.id].name = result.name
            return _Move(entity.id, _row(result), within=frozenset(each.what["documents"]))
        shown = self._shown.get(entity.id)
        self._take_over(entity.id, result.id)
        if each.kind == "rename":
            self._shown[result.id].name = result.name
        elif each.kind == "merge":
            self._shown[result.id].name = self._shown[result.id].name or each.what["name"]
        elif each.kind == "type" and shown is not None:
            self._shown[result.id].name = shown.name
        return _Move(entity.id, _row(result))

    def _take_over(self, old: str, new: str) -> None:
        """The entity ``new`` is also called what ``old`` was called by hand."""
        if old != new and (before := self._shown.pop(old, None)) is not None:
            self._shown[new].aliases |= before.aliases | ({before.name} if before.name else set())

    def names(self, id_: str, forms: Mapping[str, int], best: Callable[[Mapping[str, int]], Any]) -> Any:
        """The name and the aliases of an entity that passages call by ``forms``: by hand, else the ``best``."""
        shown = self._shown.get(id_)
        if shown is None:
            return best(forms)
        name = shown.name or best(forms)[0]
        return name, sorted({*forms, *shown.aliases} - {name})

    def renamed(self, before: Corrections) -> list[str]:
        """The entities that are called otherwise by hand than with the corrections ``before``."""
        nothing = _Shown()
        every = self._shown.keys() | before._shown.keys()
        return sorted(id_ for id_ in every if self._shown.get(id_, nothing) != before._shown.get(id_, nothing))

    def are_different(self, one: str, other: str) -> bool:
        """Whether two entities were told apart."""
        return frozenset((one, other)) in self._different

    def may_touch(self, rows: Rows) -> bool:
        """Whether what some passages say may be corrected."""
        return any(id_ in self._ids for id_, _ in rows.mentions) or (
            bool(self._texts) and any(row["text"] in self._texts for row in rows.atomic_facts.values())
        )

    def corrected(self, said: Rows, passage: Passage) -> tuple[Rows, list[str], dict[str, str]]:
        """What ``passage`` says with all corrections, the ids of those that apply to it, and which entities are others
        by them."""
        rows, found, moved = said, list[str](), dict[str, str]()
        for each in self.kept:
            if each.kind == "add":
                applies = passage.document_id == each.document
            elif "text" in each.what:
                applies = any(row["text"] == each.what["text"] for row in rows.atomic_facts.values())
            else:
                applies = any((id_, passage.id) in rows.mentions for id_ in each.ids)
            if not applies:
                continue
            if rows is said and each.kind not in ("add", "different"):
                rows = deepcopy(said)
            if each.id in self._moves:
                applies = _moved(rows, passage, self._moves[each.id], moved)
            elif each.kind == "drop":
                applies = _drop(rows, each)
            if applies:
                found.append(each.id)
        return rows, found, moved

    def labelled(self, entities: Iterable[Row]) -> dict[str, Row]:
        """Rows of entities with what the schema says of their types, which is not kept: it may be another later."""
        found = {}
        for row in entities:
            label = self._schema.label_of(row["type"]) if self._schema is not None else None
            found[row["id"]] = {**row, "labels": [label] if label else [], "inSchema": label is not None}
        return found


def _row(named: Named) -> Row:
    key = normalise_name(named.name)
    return {"id": named.id, "name": named.name, "key": key, **found_by(key), "type": named.type}


def _drop(rows: Rows, each: Correction) -> bool:
    """Take away the statements that are not so; whether there were any."""
    what = each.what
    if "text" in what:
        kept, wanted = rows.atomic_facts, {"text": what["text"]}
    else:
        kept = rows.attributes if "value" in what else rows.triples
        wanted = {"subjectId": each.named("subject").id, "predicate": what["predicate"]}
        wanted |= {"value": what["value"]} if "value" in what else {"objectId": each.named("object").id}
    gone = [key for key, row in kept.items() if all(row[name] == value for name, value in wanted.items())]
    for key in gone:
        del kept[key]
    return bool(gone)


def _moved(rows: Rows, passage: Passage, move: _Move, moved: dict[str, str]) -> bool:
    """Move in ``rows``, and note it in ``moved`` where nothing is left; whether the correction applies."""
    old, new = move.old, move.new
    mention = rows.mentions.get((old, passage.id))
    applies = (move.also, passage.id) in rows.mentions
    is_meant = move.within is None or not move.within.isdisjoint((passage.id, passage.document_id))
    if mention is None or old not in rows.entities or not is_meant:
        return applies
    names = [name for name in mention["names"] if move.form is None or normalise_name(name) == move.form]
    if not names or old == new["id"]:
        return applies or bool(names)
    left = [name for name in mention["names"] if name not in names]
    rows.entities.setdefault(new["id"], dict(new))
    there = rows.mentions.get((new["id"], passage.id))
    _mention(rows, passage, new["id"], [*(there["names"] if there else ()), *names])
    if left:
        _mention(rows, passage, old, left)
    else:
        del rows.mentions[old, passage.id], rows.entities[old]
        moved.update({one: new["id"] for one, other in moved.items() if other == old} | {old: new["id"]})
        moved.pop(new["id"], None)
        for fact in rows.atomic_facts.values():
            fact["elements"] = sorted({new["id"] if each == old else each for each in fact["elements"]})
    for kind, ends in (("triples", ("subject", "object")), ("attributes", ("subject",))):
        found = {}
        for row in getattr(rows, kind).values():
            for end in ends:
                if row[f"{end}Id"] == old and (not left or normalise_name(row[end]) == move.form):
                    row[f"{end}Id"] = new["id"]
            row.update(ids_of(row))
            found[row["id"], passage.id] = row
        setattr(rows, kind, found)
    return True


def _mention(rows: Rows, passage: Passage, id_: str, names: Iterable[str]) -> None:
    """The passage names an entity so; it is counted once where one name is part of another."""
    known, count, end = sorted(set(names)), 0, 0
    places = (place for name in known for place in find_names(name, passage.text))
    for place in sorted(places, key=lambda each: (each.start, -each.end)):
        if place.start >= end:
            count, end = count + 1, place.end
    rows.mentions[id_, passage.id] = {"element": id_, "passage": passage.id, "count": count, "names": known}


@dataclass(frozen=True, slots=True)
class Said:
    """What the graph has of a passage (``now``), and what the passage says uncorrected. ``alike``: which
    of its entities it says are one, uncorrected. ``outside``: its entities that are not in the schema, as far as the
    graph knows."""

    passage: Passage
    title: str
    written: str
    now: Rows
    uncorrected: Rows
    alike: list[str] | None
    outside: frozenset[str]


_STATEMENTS = ("triples", "attributes", "atomic_facts")
_KINDS = tuple(part.name for part in fields(Rows) if part.name not in ("title", "written", "proposals"))


def said_by(store: Store, passages: Sequence[str]) -> list[Said]:
    """What the graph has of ``passages``, less their proposals, which stay as they are."""
    found = []
    for row in store.read("correct/said", ids=list(passages)):
        passage = Passage(document_id=row["document"], **row["passage"])
        now, place, outside = Rows(row["title"]), {"passage": passage.id}, set[str]()
        for each in row["elements"]:
            mention, key = {"count": each["count"], "names": each["names"]}, each["key"]
            now.mentions[each["id"], passage.id] = {"element": each["id"], **place, **mention}
            if each["inSchema"] is False:
                outside.add(each["id"])
            own = {"id": each["id"], "name": mention["names"][0] if mention["names"] else key, "key": key}
            if each["isEntity"]:
                now.entities[each["id"]] = {**own, **found_by(key), "type": each["type"]}
            else:
                now.key_elements[each["id"]] = {**own, "stem": stem_of(key)}
        for kind in _STATEMENTS:
            for each in row[kind]:
                if "elements" in each:
                    each["elements"].sort()
                getattr(now, kind)[each["id"], passage.id] = {**each.pop("at"), **each, **place}
        kept = json.loads(row["uncorrected"]) if row["uncorrected"] else None
        uncorrected, alike = (now, row["alike"]) if kept is None else (_kept(kept, row["title"]), kept["alike"])
        written = written_on(metadata_of(row["properties"]))
        found.append(Said(passage, row["title"], written, now, uncorrected, alike, frozenset(outside)))
    return found


def without_label(row: Row) -> Row:
    """The row of an entity without what the schema says of its type."""
    return {name: value for name, value in row.items() if name not in ("labels", "inSchema")}


def _kept(value: Mapping[str, Sequence[Row]], title: str) -> Rows:
    """What a passage keeps, which ``_to_keep`` has made."""
    rows = Rows(title)
    for kind in _KINDS:
        for row in value[kind]:
            id_ = row["element"] if kind == "mentions" else row["id"]
            getattr(rows, kind)[id_ if kind in ("entities", "key_elements") else (id_, row["passage"])] = row
    return rows


def _to_keep(said: Said) -> str:
    kept = {kind: ordered(getattr(said.uncorrected, kind)) for kind in _KINDS}
    return json.dumps({**kept, "alike": said.alike}, ensure_ascii=False, sort_keys=True)


_COLUMNS: dict[str, frozenset[str]] = {
    "entities": frozenset(("id", "name", "key", "type", "stem", "nameWords", "consonants")),
    "key_elements": frozenset(("id", "name", "key", "stem")),
    "mentions": frozenset(("element", "passage", "count", "names")),
    "triples": frozenset(
        ("id", "subject", "predicate", "object", "inSchema", "subjectId", "objectId", "type", "passage")
    ),
    "attributes": frozenset(
        ("id", "subject", "predicate", "object", "inSchema", "subjectId", "key", "value", "passage")
    ),
    "atomic_facts": frozenset(("id", "text", "elements", "passage")),
}


def is_kept_form(text: object) -> bool:
    """Whether a passage can keep ``text`` as what it says uncorrected: a file may come from anybody."""
    try:
        value = json.loads(str(text))
        rows = all(_COLUMNS[kind] <= row.keys() for kind in _KINDS for row in value[kind])
        return rows and all(len(each.split(" ")) == _ALIKE for each in value["alike"] or ())
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


_ALIKE = 5
"""Words of what a passage says of two names (``write.alike_in``)."""


def _alike(alike: Iterable[str] | None, moved: Mapping[str, str]) -> list[str] | None:
    """Which entities a passage says are one, as they are corrected."""
    words = (each.split(" ") for each in alike or ())
    found = ((moved.get(one, one), moved.get(other, other), why) for one, other, *why in words)
    return [" ".join((one, other, *why)) for one, other, why in found if one != other] or None


def rewritten(
    said: Sequence[Said], corrections: Corrections, states: Mapping[str, Row] | None = None
) -> list[Statement]:
    """The statements that have passages say what they say uncorrected, corrected, in place of what they say ``now``.
    ``states``: further properties of passages, by id."""
    every, marks, links, changed = Rows(), list[Row](), list[Row](), list[str]()
    facts, mentions = list[Row](), list[Row]()
    for each in said:
        rows, applied, moved = corrections.corrected(each.uncorrected, each.passage)
        id_ = each.passage.id
        kept = _to_keep(each) if rows != each.uncorrected else None
        state = {"uncorrected": kept, "alike": _alike(each.alike, moved), **(states or {}).get(id_, {})}
        marks.append({"id": id_, "state": state})
        links.append({"passage": id_, "corrections": applied})
        labelled = corrections.labelled(rows.entities.values())
        is_labelled = not any(row["inSchema"] for one, row in labelled.items() if one in each.outside)
        if rows == each.now and is_labelled:
            continue
        changed.append(id_)
        every.add(replace(rows, entities=labelled))
        facts.append({"passage": id_, "gone": [fact for kind in _STATEMENTS for fact in _gone(each.now, rows, kind)]})
        mentions.append({"passage": id_, "gone": [one for one, _ in each.now.mentions.keys() - rows.mentions.keys()]})
    return [
        ("ingest/remove_facts", {"rows": facts}),
        ("ingest/remove_mentions", {"rows": mentions}),
        ("ingest/remove_communities", {}),
        *statements_of(every),
        ("ingest/passage_states", {"rows": marks}),
        ("correct/applied", {"rows": links}),
        ("ingest/recount_statements", {"passages": changed}),
    ]


def _gone(now: Rows, rows: Rows, kind: str) -> list[str]:
    """The statements of a passage that it makes no more; of atomic facts also those that mention something else."""
    there = getattr(rows, kind)
    return [
        fact
        for (fact, passage), row in getattr(now, kind).items()
        if (other := there.get((fact, passage))) is None
        or set(row.get("elements", ())) - set(other.get("elements", ()))
    ]


def correct_what_is_due(store: Store, progress: Progress, schema: Schema | None = None) -> Corrections:
    """Correct the passages that were written, or whose corrections have changed, since they were last corrected; where
    ``schema`` is another than the graph's, all: types may have labels now. Returns all corrections."""
    corrections = Corrections.of(store, schema)
    if schema is not None and corrections.kept and schema != grown_schema(store):
        store.write(("correct/mark_all", {}))
    due = [row["id"] for row in store.read("correct/due")]
    for done, some in enumerate(batches(due, _AT_ONCE)):
        progress("correcting", done * _AT_ONCE, len(due))
        store.write(*rewritten(said_by(store, some), corrections))
    return corrections


def mark_all(store: Store) -> None:
    """Have all corrections looked at again: there are others, or other passages, than when they were made."""
    for row in store.read("correct/corrections"):
        store.write(*correction_of(row).marks(), ("correct/mark_all", {}))


def uncorrect(store: Store, passages: Sequence[str], schema: Schema | None) -> None:
    """Have passages say what they say uncorrected, for who writes some of that anew; they are due to be corrected."""
    for some in batches(passages, _AT_ONCE):
        statements = rewritten(said_by(store, some), Corrections((), schema))
        store.write(*statements, ("correct/mark", {"passages": list(some)}))


def set_written(store: Store, passages: Sequence[str]) -> None:
    """Give what passages say the time that it has by the day of their document, which is another now."""
    corrections = Corrections.of(store)
    for some in batches(passages, _AT_ONCE):
        store.write(*rewritten([_retimed(each) for each in said_by(store, some)], corrections))


def _retimed(said: Said) -> Said:
    rows = deepcopy(said.uncorrected)
    for kind in _STATEMENTS:
        every = getattr(rows, kind)
        for key, row in every.items():
            names = [row["subject"], row["object"]] if "subject" in row else [row["text"]]
            timed = {**row, **time_of(said.passage, row, names, said.written)}
            every[key] = {name: value for name, value in timed.items() if value is not None}
    return replace(said, uncorrected=rows)
