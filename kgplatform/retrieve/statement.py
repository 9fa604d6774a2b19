"""Statements that somebody wrote who is not trusted, such as a language model: checked, bounded, and read-only.

statements = Statements(store, "Whom did Cyrus Field ask?")
tried = statements.run("MATCH (e:Entity {name: $name}) RETURN e.name", {"name": "Cyrus Field"}, rows=50, timeout=10)
tried.rows, tried.fault, tried.unknown
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from kgplatform.errors import InputError, ServerError, StoreError
from kgplatform.neo4j.statement_guard import why_refused
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import FoundFact, FoundPassage, QueryRun
from kgplatform.retrieve.found import facts_by_id, passages_by_id, traced_read
from kgplatform.retrieve.live_schema import LiveSchema, live_schema
from kgplatform.retrieve.question import full_text_words, names_in
from kgplatform.text import WORD_RUN, did_you_mean, tidy

WRITTEN = "written for the question"
"""What a statement is called in a trace that stands in no file."""

_NAMES_MEANT = 8


@dataclass(frozen=True, slots=True)
class Meant:
    """An entity that a question may mean; ``named`` where it has exactly that name."""

    name: str
    label: str
    named: bool


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
        """Whether any row has anything in it."""
        return any(cell not in (None, "", [], {}) for row in self.rows for cell in row)


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
        rows, queries = traced_read(self._store, "retrieve/names_meant", **given)
        return tuple(Meant(row["name"], row["label"], row["named"]) for row in rows), queries

    def run(self, statement: str, parameters: dict[str, Any], *, rows: int, timeout: float) -> Tried:
        """Run ``statement``, if it may, for ``timeout`` seconds and ``rows`` rows at most.

        Whatever is wrong with it is the ``fault``; only a server that does not answer raises, ``ServerError``.
        """
        if why := why_refused(statement):
            return Tried(fault=why)
        started = time.perf_counter()
        unknown: tuple[str, ...] = ()
        try:
            unknown = self._unknown(statement, parameters)
            table = self._store.run_statement(statement, parameters, write=False, timeout=timeout, limit=rows)
        except ServerError:
            raise
        except (InputError, StoreError) as error:
            return Tried(fault=str(error), unknown=unknown)
        seconds = time.perf_counter() - started
        query = QueryRun(WRITTEN, statement, parameters, len(table.rows), seconds)
        return Tried(table.columns, tuple(map(tuple, table.rows)), table.truncated, "", unknown, query)

    def sources(self, tried: Tried) -> Sources:
        """The facts and passages behind the rows, and the statements that found them."""
        if tried.query is None:
            return Sources((), (), {}, {}, ())
        given = [value for value in tried.query.parameters.values() if isinstance(value, str)]
        return sources_of(self._store, tried.rows, tried.query.statement, given)

    def _unknown(self, statement: str, parameters: dict[str, Any]) -> tuple[str, ...]:
        said = self._store.unknown_names(statement, parameters)
        known = live_schema(self._store)[0].names() if said else set()
        return tuple(_with_nearest(message, known) for message in said)


def _with_nearest(said: str, known: set[str]) -> str:
    """ "The label `Persn` does not exist. Did you mean Person?"""
    return said + did_you_mean(said.partition("`")[2].partition("`")[0], sorted(known))


_ID = re.compile(r"[0-9a-f]{32}")
_FACTS_OF_ROW = 3
_PASSAGES_OF_ROW = 2
_MOST_IDS = 20
_MOST_NAMES = 20
"""Of one row."""
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Sources:
    """Of each row, in order, the ids of the ``facts`` and ``passages`` behind it; and these, as the store has them."""

    facts: tuple[tuple[str, ...], ...]
    passages: tuple[tuple[str, ...], ...]
    known_facts: dict[str, FoundFact]
    known_passages: dict[str, FoundPassage]
    queries: tuple[QueryRun, ...]


def is_id(value: Any) -> bool:
    """Whether ``value`` is written as the ids of the graph's nodes are."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def sources_of(store: Store, rows: Sequence[Sequence[Any]], statement: str, asked: Sequence[str]) -> Sources:
    """The sources of ``rows`` of ``statement``; ``asked`` are names that it was given.

    A row's facts are those that it has the ids of, else those that join two of its names, or one and an asked one; of
    these, where there are such, those with a relation of a type that the statement has. Its passages are those that it
    has the ids of; where it has no fact either, those that name what it names.
    """
    store = store.recording()
    ids = [list(dict.fromkeys(_ids(row)))[:_MOST_IDS] for row in rows]
    wanted = list(dict.fromkeys(id_ for row in ids for id_ in row))
    known = {row["id"]: row for row in store.read("retrieve/row_sources", ids=wanted)} if wanted else {}
    facts = [_gathered(known, row_ids, "facts")[:_FACTS_OF_ROW] for row_ids in ids]
    passages = [_gathered(known, row_ids, "passages")[:_PASSAGES_OF_ROW] for row_ids in ids]
    names = [_names_of(row, row_ids, known) for row, row_ids in zip(rows, ids, strict=True)]
    bare = [n for n in range(len(rows)) if not facts[n] and not passages[n] and names[n]]
    joining = _joining(store, bare, names, asked, WORD_RUN.findall(statement))
    facts = [joining.get(n, own) for n, own in enumerate(facts)]
    naming = _naming(store, [n for n in bare if not facts[n]], names)
    passages = [naming.get(n, own) for n, own in enumerate(passages)]
    known_facts = facts_by_id(store, list(dict.fromkeys(fact for row in facts for fact in row)))
    stating = (place.passage for fact in known_facts.values() for place in fact.citations)
    wanted = list(dict.fromkeys((*stating, *(passage for row in passages for passage in row))))
    known_passages = passages_by_id(store, wanted)
    return Sources(tuple(map(tuple, facts)), tuple(map(tuple, passages)), known_facts, known_passages, store.queries)


def _gathered(known: dict[str, Row], ids: Sequence[str], what: str) -> list[str]:
    return list(dict.fromkeys(found for id_ in ids if id_ in known for found in known[id_][what]))


def _names_of(row: Sequence[Any], ids: Sequence[str], known: dict[str, Row]) -> list[str]:
    named = (known[id_]["name"] for id_ in ids if id_ in known and known[id_]["name"])
    return list(dict.fromkeys((*named, *_names(row))))[:_MOST_NAMES]


def _joining(
    store: Store, numbers: Sequence[int], names: Sequence[list[str]], asked: Sequence[str], words: list[str]
) -> dict[int, list[str]]:
    rows = [{"number": n, "names": list(dict.fromkeys((*names[n], *asked)))} for n in numbers]
    if not rows:
        return {}
    found = store.read("retrieve/row_facts", rows=rows, words=list(dict.fromkeys(words)), most=_FACTS_OF_ROW)
    chosen = {row["number"]: list(compress(row["facts"], row["wanted"])) for row in found}
    return {row["number"]: chosen[row["number"]] or row["facts"] for row in found}


def _naming(store: Store, numbers: Sequence[int], names: Sequence[list[str]]) -> dict[int, list[str]]:
    rows = [{"number": n, "names": names[n]} for n in numbers]
    found = store.read("retrieve/row_passages", rows=rows, most=_PASSAGES_OF_ROW) if rows else []
    return {row["number"]: row["passages"] for row in found}


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
