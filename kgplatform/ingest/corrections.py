"""What people correct: which entities are one, or two, what they are called, and what is not so.

A passage says what it says whoever else says anything (``ingest.write``); a correction changes that for each passage on
its own. So the graph is what passages say, each corrected by all corrections in the order in which they were made. A
passage keeps what it said before (``uncorrected``) while any of them applies to it (``CORRECTS``), and undoing one is
correcting its passages anew by the others. A correction that applies to no passage waits for one.

Whatever else writes what a passage says writes it uncorrected and leaves a mark, ``correctDue``; before anything is
settled, what has that mark is corrected. So a run that dies goes on where it stopped.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Literal, get_args

from kgplatform.errors import InputError
from kgplatform.extract.schema import Expansion, Schema
from kgplatform.ingest.graph_state import graph_state
from kgplatform.ingest.write import Rows, Statement, ordered, statements_of, time_of
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import Passage, Progress, metadata_of, written_on
from kgplatform.resolution import found_by
from kgplatform.text import node_id, normalise_name
from kgplatform.text.matching import find_names

CorrectionKind = Literal["merge", "split", "rename", "type", "alias", "no alias", "different", "drop", "add"]
KINDS: tuple[CorrectionKind, ...] = get_args(CorrectionKind)
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
        if self.kind in ("drop", "add"):
            return []
        other = self.named("other") if self.kind == "different" else self.result
        return [self.named("entity").id, other.id]

    @property
    def document(self) -> str:
        """The id of the document that says what was added."""
        return node_id("document", f"correction:{self.id}")


def correction_of(row: Mapping[str, Any]) -> Correction:
    """That of a node's properties. Raises ``InputError`` for what is none: a file may come from anybody."""
    try:
        what = row["what"] if isinstance(row["what"], dict) else json.loads(row["what"])
        told = (row["name"], row["who"], row["at"], row.get("why") or "", row.get("passages", 0))
        found = Correction(row["id"], row["kind"], what, *told)
        usable = found.kind in KINDS and len(found.ids) in (0, 2)
        Corrections((found,), None)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise InputError(f"{row.get('name') or 'A node'} is no correction that can be used.") from error
    if not usable:
        raise InputError(f"{found.text} is of a kind that does not exist: {found.kind}.")
    return found


@dataclass(slots=True)
class _Shown:
    """What an entity is called by hand, and what else."""

    name: str | None = None
    aliases: set[str] = field(default_factory=set)


def grown_schema(store: Store) -> Schema | None:
    """The schema of the graph with what it has grown by; None before the first ingest."""
    state = graph_state(store)
    if "schema" not in state:
        return None
    added = (Expansion(**each) for each in json.loads(state.get("expansions", "[]")))
    return Schema.from_dict(json.loads(state["schema"])).with_expansions(added)


class Corrections:
    """All corrections of a graph, in order. ``schema`` says which label an entity of another type gets."""

    def __init__(self, kept: Sequence[Correction], schema: Schema | None) -> None:
        self.kept = kept
        self._schema = schema
        self._shown: dict[str, _Shown] = defaultdict(_Shown)
        self._different: set[frozenset[str]] = set()
        self._steps: list[tuple[Correction, Callable[[Rows, Passage], bool]]] = []
        for each in kept:
            self._steps.append((each, _STEPS[each.kind](self, each)))

    @classmethod
    def of(cls, store: Store, schema: Schema | None = None) -> Corrections:
        """Those of the graph. ``schema``: what that is to become, with what it has grown by."""
        rows = store.read("correct/corrections")
        return cls([correction_of(row) for row in rows], schema or grown_schema(store))

    def names(self, id_: str, forms: Mapping[str, int], best: Callable[[Mapping[str, int]], Any]) -> Any:
        """The name and the aliases of an entity that passages call by ``forms``: by hand, else the ``best``."""
        shown = self._shown.get(id_)
        if shown is None:
            return best(forms)
        name = shown.name or best(forms)[0]
        return name, sorted({*forms, *shown.aliases} - {name})

    def are_different(self, one: str, other: str) -> bool:
        """Whether two entities were told apart."""
        return frozenset((one, other)) in self._different

    def corrected(self, said: Rows, passage: Passage) -> tuple[Rows, list[str]]:
        """What ``passage`` says with all corrections, and the ids of those that apply to it."""
        rows, found = said, list[str]()
        for each, applies in self._steps:
            if not found:
                rows = deepcopy(said)
            if applies(rows, passage):
                found.append(each.id)
        return (rows, found) if found else (said, found)

    def _row(self, named: Named) -> Row:
        key = normalise_name(named.name)
        return {"id": named.id, "name": named.name, "key": key, **found_by(key), "type": named.type}

    def labelled(self, rows: Rows) -> Rows:
        """``rows`` with what the schema says of entities' types, which is not kept: it may be another later."""
        for row in rows.entities.values():
            label = self._schema.label_of(row["type"]) if self._schema is not None else None
            row.update(labels=[label] if label else [], inSchema=label is not None)
        return rows

    def _takes_over(self, old: str, new: str, name: str | None = None) -> None:
        """The entity ``new`` has what ``old`` was called by hand, and ``name``."""
        if old != new and (before := self._shown.pop(old, None)) is not None:
            self._shown[new].aliases |= before.aliases | ({before.name} if before.name else set())
        if name is not None:
            self._shown[new].name = name

    def _moved(self, each: Correction, to: Named, name: str | None = None) -> Callable[[Rows, Passage], bool]:
        entity = each.named("entity")
        self._takes_over(entity.id, to.id, name)
        return partial(_move, old=entity.id, new=self._row(to))

    def _merge(self, each: Correction) -> Callable[[Rows, Passage], bool]:
        return self._moved(each, each.named("into"))

    def _rename(self, each: Correction) -> Callable[[Rows, Passage], bool]:
        return self._moved(each, each.result, each.result.name)

    def _type(self, each: Correction) -> Callable[[Rows, Passage], bool]:
        shown = self._shown.get(each.named("entity").id)
        return self._moved(each, each.result, shown.name if shown else None)

    def _split(self, each: Correction) -> Callable[[Rows, Passage], bool]:
        self._shown[each.result.id].name = each.result.name
        within = frozenset(each.what["documents"])
        return partial(_move, old=each.named("entity").id, new=self._row(each.result), within=within)

    def _alias(self, each: Correction) -> Callable[[Rows, Passage], bool]:
        entity, other = each.named("entity"), each.result
        self._takes_over(other.id, entity.id)
        self._shown[entity.id].aliases.add(other.name)
        moved = partial(_move, old=other.id, new=self._row(entity))
        return lambda rows, passage: moved(rows, passage) or (entity.id, passage.id) in rows.mentions

    def _no_alias(self, each: Correction) -> Callable[[Rows, Passage], bool]:
        entity, to = each.named("entity"), each.result
        if (shown := self._shown.get(entity.id)) is not None:
            shown.aliases.discard(to.name)
        return partial(_move, old=entity.id, new=self._row(to), form=normalise_name(to.name))

    def _tell_apart(self, each: Correction) -> Callable[[Rows, Passage], bool]:
        ids = frozenset(each.ids)
        self._different.add(ids)
        return lambda rows, passage: any((id_, passage.id) in rows.mentions for id_ in ids)

    def _add(self, each: Correction) -> Callable[[Rows, Passage], bool]:
        return lambda rows, passage: passage.document_id == each.document

    def _drop(self, each: Correction) -> Callable[[Rows, Passage], bool]:
        what = each.what
        if "text" in what:
            return partial(_drop, kind="atomic_facts", what={"text": what["text"]})
        told = {"subjectId": each.named("subject").id, "predicate": what["predicate"]}
        if "value" in what:
            return partial(_drop, kind="attributes", what=told | {"value": what["value"]})
        return partial(_drop, kind="triples", what=told | {"objectId": each.named("object").id})


_STEPS: dict[CorrectionKind, Callable[[Corrections, Correction], Callable[[Rows, Passage], bool]]] = {
    "merge": Corrections._merge,
    "split": Corrections._split,
    "rename": Corrections._rename,
    "type": Corrections._type,
    "alias": Corrections._alias,
    "no alias": Corrections._no_alias,
    "different": Corrections._tell_apart,
    "drop": Corrections._drop,
    "add": Corrections._add,
}
"""How each kind changes rows, in place, and says whether it applies to them. What was added is a document."""


def _drop(rows: Rows, passage: Passage, kind: str, what: Mapping[str, Any]) -> bool:
    """Take away the statements that have these values."""
    kept = getattr(rows, kind)
    gone = [key for key, row in kept.items() if all(row[name] == value for name, value in what.items())]
    for key in gone:
        del kept[key]
    return bool(gone)


def _move(
    rows: Rows, passage: Passage, old: str, new: Row, within: frozenset[str] | None = None, form: str | None = None
) -> bool:
    """Make ``new`` of what the passage says of the entity ``old``: where it is one of these documents or passages, and
    of what is so called. Whether there was anything; nothing is to do where the two are one node."""
    mention = rows.mentions.get((old, passage.id))
    is_meant = within is None or not within.isdisjoint((passage.id, passage.document_id))
    if mention is None or old not in rows.entities or not is_meant:
        return False
    names = [name for name in mention["names"] if form is None or normalise_name(name) == form]
    if not names or old == new["id"]:
        return bool(names)
    left = [name for name in mention["names"] if name not in names]
    rows.entities.setdefault(new["id"], dict(new))
    there = rows.mentions.get((new["id"], passage.id))
    _mention(rows, passage, new["id"], [*(there["names"] if there else ()), *names])
    if left:
        _mention(rows, passage, old, left)
    else:
        del rows.mentions[old, passage.id], rows.entities[old]
        for fact in rows.atomic_facts.values():
            fact["elements"] = sorted({new["id"] if each == old else each for each in fact["elements"]})
    for kind, ends in (("triples", ("subject", "object")), ("attributes", ("subject",))):
        found = {}
        for row in getattr(rows, kind).values():
            for end in ends:
                if row[f"{end}Id"] == old and (not left or normalise_name(row[end]) == form):
                    row[f"{end}Id"] = new["id"]
            found[_identify(kind, row), passage.id] = row
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


def _identify(kind: str, row: Row) -> str:
    """Give a statement the id that follows from its ends (``ingest.write``)."""
    subject, predicate, object_ = row["subject"], row["predicate"], row["object"]
    if kind == "triples":
        parts = (row["subjectId"], subject, predicate, row["objectId"], object_, row["inSchema"])
        row["id"] = node_id("triple", *parts)
    else:
        row["id"] = node_id("attribute", row["subjectId"], subject, predicate, object_, row["inSchema"])
        row["attributeId"] = node_id("value", row["subjectId"], row["key"], row["value"])
    return str(row["id"])


@dataclass(frozen=True, slots=True)
class Said:
    """What the graph has of a passage (``now``), and what the passage says uncorrected. ``outside``: its entities that
    are not in the schema, as far as the graph knows."""

    passage: Passage
    title: str
    now: Rows
    uncorrected: Rows
    outside: frozenset[str]
    written: str = ""


_STATEMENTS = ("triples", "attributes", "atomic_facts")
_KINDS = tuple(part.name for part in fields(Rows) if part.name not in ("title", "written", "proposals"))


def said_by(store: Store, passages: Sequence[str]) -> list[Said]:
    """What the graph has of ``passages``, less their proposals, which stay as they are."""
    found = []
    for row in store.read("correct/said", ids=list(passages)):
        passage = Passage(document_id=row["document"], **row["passage"])
        now, place, outside = Rows(row["title"]), {"passage": passage.id}, set[str]()
        for each in row["elements"]:
            mention = {"count": each.pop("count"), "names": each.pop("names")}
            now.mentions[each["id"], passage.id] = {"element": each["id"], **place, **mention}
            each["name"] = mention["names"][0] if mention["names"] else each["key"]
            if each.pop("inSchema") is False:
                outside.add(each["id"])
            if each.pop("isEntity"):
                now.entities[each["id"]] = each
            else:
                now.key_elements[each["id"]] = {name: each[name] for name in ("id", "name", "key", "stem")}
        for kind in _STATEMENTS:
            for each in row[kind]:
                if "elements" in each:
                    each["elements"].sort()
                getattr(now, kind)[each["id"], passage.id] = {**each.pop("at"), **each, **place}
        kept = json.loads(row["uncorrected"]) if row["uncorrected"] else None
        uncorrected = now if kept is None else _kept(kept, row["title"])
        written = written_on(metadata_of(row["properties"]))
        found.append(Said(passage, row["title"], now, uncorrected, frozenset(outside), written))
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


def _to_keep(rows: Rows) -> str:
    return json.dumps({kind: ordered(getattr(rows, kind)) for kind in _KINDS}, ensure_ascii=False, sort_keys=True)


def rewritten(
    said: Sequence[Said], corrections: Corrections, states: Mapping[str, Row] | None = None
) -> list[Statement]:
    """The statements that have passages say what they say uncorrected, corrected, in place of what they say ``now``.
    ``states``: further properties of passages, by id."""
    every, marks, links, changed = Rows(), list[Row](), list[Row](), list[str]()
    facts, mentions = list[Row](), list[Row]()
    for each in said:
        rows, applied = corrections.corrected(each.uncorrected, each.passage)
        id_ = each.passage.id
        kept = _to_keep(each.uncorrected) if rows != each.uncorrected else None
        marks.append({"id": id_, "state": {"uncorrected": kept, "correctDue": None, **(states or {}).get(id_, {})}})
        links.append({"passage": id_, "corrections": applied})
        labelled = corrections.labelled(deepcopy(rows))
        is_labelled = not any(row["inSchema"] for one, row in labelled.entities.items() if one in each.outside)
        if rows == each.now and is_labelled:
            continue
        changed.append(id_)
        every.add(labelled)
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
    if not graph_state(store).get("correctDue"):
        return corrections
    due = [row["id"] for row in store.read("correct/due")]
    for done, some in enumerate(batches(due, _AT_ONCE)):
        progress("correcting", done * _AT_ONCE, len(due))
        store.write(*rewritten(said_by(store, some), corrections))
    store.write(("correct/done", {}))
    return corrections


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
        for row in getattr(rows, kind).values():
            names = [row["subject"], row["object"]] if "subject" in row else [row["text"]]
            row.update(time_of(said.passage, row, names, said.written))
    return replace(said, uncorrected=rows)
