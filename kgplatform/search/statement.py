"""Statements that somebody wrote who is not trusted, such as a language model: checked, bounded, and read-only.

statements = Statements(store, "Whom did Cyrus Field ask?")
tried = statements.run("MATCH (e:Entity {name: $name}) RETURN e.name", {"name": "Cyrus Field"}, rows=50, timeout=10)
tried.rows, tried.fault, tried.unknown
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from kgplatform.errors import InputError, ServerError, StoreError
from kgplatform.neo4j.statement_guard import why_refused
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import FoundFact, FoundPassage, QueryRun
from kgplatform.search.found import facts_by_id, passages_by_id, traced_read
from kgplatform.search.live_schema import LiveSchema, live_schema, quoted
from kgplatform.search.question import full_text_words, names_in
from kgplatform.text import WORD_RUN, did_you_mean, tidy

WRITTEN = "written for the question"
"""What a statement is called in a trace that stands in no file."""

_NAMES_MEANT = 8
_TOLD, _KINDS, _READ = 2, 8, 1000
"""Entities whose relations are told where none is named; kinds of them; relations that are looked at for that."""


@dataclass(frozen=True, slots=True)
class Meant:
    """An entity that a question may mean; ``named`` where it has exactly that name.

    ``patterns``: its relations by kind, the most frequent first, as a statement matches them: the entity is ``b``, its
    name the parameter ``$name``, and the other end ``a``.
    """

    name: str
    label: str
    named: bool
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a statement: its rows as JSON can hold them, or the ``fault``, one or two sentences.

    ``unknown``: what it names that the graph does not have, with what may be meant. ``query`` is None where it was
    refused before it ran. ``more``: there were more rows than asked for.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    more: bool = False
    fault: str = ""
    unknown: tuple[str, ...] = ()
    query: QueryRun | None = None

    @property
    def tells(self) -> bool:
        """Whether any row has anything in it. A number 0 alone is what counting gives where nothing was found."""
        return any(map(_tells, self.rows))


def _patterns(meant: Row) -> Iterator[str]:
    """Each kind of relation once. Its direction is told only where it says more than the labels of both ends."""
    own = f"(b:{quoted(meant['label'])} {{name: $name}})"
    for each in meant["relations"]:
        other, relation = f"(a:{quoted(each['label'])})", f"[r:{quoted(each['type'])}]"
        if each["label"] != meant["label"]:
            pattern = f"{other}-{relation}-{own}"
        else:
            pattern = f"{own}-{relation}->{other}" if each["out"] else f"{other}-{relation}->{own}"
        yield f"{pattern} {each['count']:,}"


def _tells(row: Sequence[Any]) -> bool:
    return any(cell is False or cell not in (None, "", [], {}, 0) for cell in row)


class Statements:
    """What a written statement may ask of the graph for one question."""

    def __init__(self, store: Store, question: str) -> None:
        self._store = store
        self._question = tidy(question)

    def schema(self) -> tuple[LiveSchema, tuple[QueryRun, ...]]:
        """What there is to ask for, and the statements that read it."""
        return live_schema(self._store)

    def names_meant(self) -> tuple[tuple[Meant, ...], tuple[QueryRun, ...]]:
        """Entities that the question names, then those with names like its words."""
        if not (words := full_text_words(self._question)):
            raise InputError("The question is empty. Ask it in words.")
        given = {"names": list(names_in(self._question)), "words": words, "most": _NAMES_MEANT}
        rows, queries = traced_read(self._store, "search/names_meant", **given, relations=_KINDS, read=_READ)
        told = [row for row in rows if row["named"]] or rows[:_TOLD]
        return tuple(
            Meant(row["name"], row["label"], row["named"], tuple(_patterns(row)) if row in told else ()) for row in rows
        ), queries

    def run(self, statement: str, parameters: dict[str, Any], *, rows: int, timeout: float) -> Tried:
        """Run ``statement``, if it may, for ``timeout`` seconds and ``rows`` rows at most. Whatever is wrong with it is
        the ``fault``; only a server that does not answer raises, ``ServerError``."""
        if why := why_refused(statement, parameters):
            return Tried(fault=why)
        started = time.perf_counter()
        unknown: tuple[str, ...] = ()
        try:
            # Such as "The label `Persn` does not exist. Did you mean Person?".
            said = self._store.unknown_names(statement, parameters, timeout)
            known = sorted(live_schema(self._store)[0].names()) if said else []
            unknown = tuple(each + did_you_mean(each.partition("`")[2].partition("`")[0], known) for each in said)
            table = self._store.run_statement(statement, parameters, write=False, timeout=timeout, limit=rows)
        except ServerError:
            raise
        except (InputError, StoreError) as error:
            return Tried(fault=str(error), unknown=unknown)
        seconds = time.perf_counter() - started
        query = QueryRun(WRITTEN, statement, parameters, len(table.rows), seconds)
        return Tried(table.columns, tuple(map(tuple, table.rows)), table.truncated, "", unknown, query)

    def sources(self, tried: Tried) -> Sources:
        """The rows that may be shown, the facts and passages behind them, and the statements that found them.

        A row's facts are those that it has the ids of, else those that join two of its names, or one and one that the
        statement was given, or say in words what it says; of these, where there are such, those with a relation of a
        type that the statement has. Its passages are those that it has the ids of; where it has no fact either, those
        that name what it names.

        A row that has facts is left out where no passage has the words of any. Other rows lose the facts, attributes,
        relations and paths that are shown by their ids to be such, and the texts of such facts. What cannot be told
        stays: which names of a row come from which of its facts, what a number counts, and what a row without ids is
        made from where no fact joins its names. Names that stand in one passage go with a fact that joins them and was
        not found.
        """
        if tried.query is None:
            return Sources()
        store = self._store.recording()
        given = [value for value in tried.query.parameters.values() if isinstance(value, str)]
        shown, values = _without_unfound(store, tried.rows)
        sources = _behind(store, shown, tried.query.statement, given)
        left_out = len(tried.rows) - len(sources.rows)
        return replace(sources, queries=store.queries, unfound_rows=left_out, unfound_values=values)


_ID = re.compile(r"[0-9a-f]{32}")
_FACTS_OF_ROW = 3
_PASSAGES_OF_ROW = 2
_MOST_IDS = 20
_MOST_NAMES = 20
"""Of one row."""
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Sources:
    """The ``rows`` that may be shown; of each, in order, the ids of the ``facts`` and ``passages`` behind it.

    ``known_facts`` and ``known_passages`` are these as the store has them. What no passage has the words of is
    not shown: ``unfound_rows`` were left out, and ``unfound_values`` of others.
    """

    rows: tuple[tuple[Any, ...], ...] = ()
    facts: tuple[tuple[str, ...], ...] = ()
    passages: tuple[tuple[str, ...], ...] = ()
    known_facts: dict[str, FoundFact] = field(default_factory=dict)
    known_passages: dict[str, FoundPassage] = field(default_factory=dict)
    queries: tuple[QueryRun, ...] = ()
    unfound_rows: int = 0
    unfound_values: int = 0


def is_id(value: Any) -> bool:
    """Whether ``value`` is written as the ids of the graph's nodes are."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _without_unfound(store: Store, rows: Sequence[Sequence[Any]]) -> tuple[list[tuple[Any, ...]], int]:
    """The rows that are left by their ids, and how many values were taken out of them."""
    ids = [_each_once([_ids(row)]) for row in rows]
    wanted = _each_once(ids)
    known = {row["id"]: row for row in store.read("search/row_statements", ids=wanted)} if wanted else {}
    # The ids of statements that were not found, and texts that only such have.
    lost = {id_: row for id_, row in known.items() if not row["found"]}
    said = {text for row in known.values() if row["found"] for text in row["texts"]}
    unfound = {*lost, *(text for row in lost.values() for text in row["texts"] if text not in said)}
    shown, values = [], 0
    for row, row_ids in zip(rows, ids, strict=True):
        marks = [known[id_]["found"] for id_ in row_ids if id_ in known]
        gone: list[Any] = []
        less = tuple(_less(cell, unfound, gone) for cell in row)
        if (any(marks) or not marks) and (_tells(less) or not gone):
            shown.append(less)
            values += len(gone)
    return shown, values


def _less(value: Any, unfound: set[str], gone: list[Any]) -> Any:
    """``value`` less what is ``unfound``; what that is goes into ``gone``, but for mere ids."""
    if isinstance(value, dict):
        if not _is_unfound(value, unfound):
            return {name: _less(each, unfound, gone) for name, each in value.items()}
        gone.append(value)
        return None
    if isinstance(value, (list, tuple)):
        items = [_less(each, unfound, gone) for each in value]
        return [new for new, old in zip(items, value, strict=True) if new is not None or old is None]
    if not isinstance(value, str) or value not in unfound:
        return value
    gone += [] if is_id(value) else [value]
    return None


def _is_unfound(value: Any, unfound: set[str]) -> bool:
    """Whether a node, relation or map has the id or text of such a statement, or any step of a path has."""
    if not isinstance(value, dict):
        return isinstance(value, str) and value in unfound
    if isinstance(steps := value.get("relationships"), list) and isinstance(nodes := value.get("nodes"), list):
        return any(_is_unfound(each, unfound) for each in (*nodes, *steps))
    inner = value.get("properties", value)
    return isinstance(inner, dict) and any(isinstance(each, str) and each in unfound for each in inner.values())


def _behind(store: Store, rows: Sequence[tuple[Any, ...]], statement: str, asked: Sequence[str]) -> Sources:
    ids = [_each_once([_ids(row)])[:_MOST_IDS] for row in rows]
    wanted = _each_once(ids)
    known = {row["id"]: row for row in store.read("search/row_sources", ids=wanted)} if wanted else {}
    there = [[known[id_] for id_ in row_ids if id_ in known] for row_ids in ids]
    facts = [_each_once(found["facts"] for found in those)[:_FACTS_OF_ROW] for those in there]
    passages = [_each_once(found["passages"] for found in those)[:_PASSAGES_OF_ROW] for those in there]
    named = [[found["name"] for found in those if found["name"]] for those in there]
    names = [_each_once([own, _names(row)])[:_MOST_NAMES] for own, row in zip(named, rows, strict=True)]
    bare = [n for n in range(len(rows)) if not facts[n] and not passages[n] and names[n]]
    joining: dict[int, list[str]] = {}  # the facts that join the names of rows; none where none of them was found
    if bare:
        given = [{"number": n, "names": _each_once([names[n], asked])} for n in bare]
        words = _each_once([WORD_RUN.findall(statement)])
        for row in store.read("search/row_facts", rows=given, words=words, most=_FACTS_OF_ROW):
            every = list(zip(row["facts"], row["wanted"], row["found"], strict=True))
            chosen = [each for each in every if each[1]] or every
            joining |= {row["number"]: [fact for fact, _, found in chosen if found]} if every else {}
    naming: dict[int, list[str]] = {}  # the passages that name what rows name that no fact joins
    if given := [{"number": n, "names": names[n]} for n in bare if n not in joining]:
        found = store.read("search/row_passages", rows=given, most=_PASSAGES_OF_ROW)
        naming = {row["number"]: row["passages"] for row in found}
    shown = [n for n in range(len(rows)) if joining.get(n, True)]
    facts = [joining.get(n, facts[n]) for n in shown]
    passages = [naming.get(n, passages[n]) for n in shown]
    known_facts = facts_by_id(store, _each_once(facts))
    stating = (place.passage for fact in known_facts.values() for place in fact.citations)
    known_passages = passages_by_id(store, _each_once([stating, *passages]))
    texts = tuple(rows[n] for n in shown), tuple(map(tuple, facts)), tuple(map(tuple, passages))
    return Sources(*texts, known_facts, known_passages)


def _each_once(lists: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(lists)))


def _ids(value: Any) -> Iterator[str]:
    """All ids in a row, in order: those of nodes, those that relationships have of facts, and those in texts."""
    if is_id(value):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _ids(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _ids(item)


def _names(value: Any) -> Iterator[str]:
    """All texts in a row that could name something; of a node its name, key and value."""
    if isinstance(value, str):
        if 1 < len(value) <= _LONGEST_NAME and not is_id(value):
            yield value
    elif isinstance(value, dict):
        inner = value.get("properties", value)
        for item in (inner.get("name"), inner.get("value")) if "properties" in value else inner.values():
            yield from _names(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _names(item)
