"""Statements that somebody wrote who is not trusted, such as a language model: checked, bounded, and read-only.

statements = Statements(store, "Whom did Cyrus Field ask?")
tried = statements.run("MATCH (e:Entity {name: $name}) RETURN e.name", {"name": "Cyrus Field"}, rows=50, timeout=10)
tried.rows, tried.fault, tried.unknown
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from kgplatform.errors import InputError, ServerError, StoreError
from kgplatform.records import QueryRun
from kgplatform.retrieve.found import traced_read
from kgplatform.retrieve.question import full_text_words, names_in
from kgplatform.retrieve.statement_refused import why_refused
from kgplatform.retrieve.statement_schema import LiveSchema, live_schema
from kgplatform.retrieve.statement_sources import Sources, sources_of
from kgplatform.store import Store
from kgplatform.text import tidy

WRITTEN = "written for the question"
"""What a statement is called in a trace that stands in no file."""

_NAMES_MEANT = 8


@dataclass(frozen=True, slots=True)
class Meant:
    """An entity that a question may mean; ``named`` where it has the name to the letter."""

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
        ran = tried.query.statement if tried.query else ""
        given = tried.query.parameters.values() if tried.query else ()
        return sources_of(self._store, tried.rows, ran, [value for value in given if isinstance(value, str)])

    def _unknown(self, statement: str, parameters: dict[str, Any]) -> tuple[str, ...]:
        said = self._store.unknown_names(statement, parameters)
        known = live_schema(self._store)[0].names() if said else set()
        return tuple(_with_nearest(each, known) for each in said)


def _with_nearest(said: str, known: set[str]) -> str:
    """ "The label `Persn` does not exist. Did you mean Person?"""
    name = said.partition("`")[2].partition("`")[0]
    by_case = {each.casefold(): each for each in sorted(known)}
    near = get_close_matches(name.casefold(), by_case, n=1)
    return f"{said} Did you mean {by_case[near[0]]}?" if near else said
