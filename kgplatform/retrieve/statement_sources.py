"""What the rows of a statement rest on: ids in them, and names, traced back to facts and passages.

sources_of(store, [["Cyrus Field", "2f6d…"]], "MATCH …", [])      # the fact with this id, the passages that state it
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kgplatform.records import FoundFact, Passage, QueryRun
from kgplatform.retrieve.lookup import facts_by_id, passages_by_id
from kgplatform.store import Row, Store, trace

_ID = re.compile(r"[0-9a-f]{32}")
_WORD = re.compile(r"\w+")
_FACTS_OF_ROW = 3
_PASSAGES_OF_ROW = 2
_MOST_IDS = 20
_MOST_NAMES = 20
"""Of one row."""
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Sources:
    """Of each row, in order, the ids of the ``facts`` and ``chunks`` behind it; and these, as the store has them."""

    facts: tuple[tuple[str, ...], ...]
    chunks: tuple[tuple[str, ...], ...]
    known_facts: dict[str, FoundFact]
    known_passages: dict[str, Passage]
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
    runs: list[QueryRun] = []
    with trace(runs.append):
        ids = [list(dict.fromkeys(_ids(row)))[:_MOST_IDS] for row in rows]
        known = {row["id"]: row for row in _read_ids(store, ids)}
        facts = [_gathered(known, each, "facts")[:_FACTS_OF_ROW] for each in ids]
        chunks = [_gathered(known, each, "chunks")[:_PASSAGES_OF_ROW] for each in ids]
        names = [_names_of(row, each, known) for row, each in zip(rows, ids, strict=True)]
        bare = [n for n in range(len(rows)) if not facts[n] and not chunks[n] and names[n]]
        _fill(facts, _joining(store, bare, names, asked, _WORD.findall(statement)))
        _fill(chunks, _naming(store, [n for n in bare if not facts[n]], names))
        known_facts = facts_by_id(store, list(dict.fromkeys(each for row in facts for each in row)))
        stating = (place.chunk for fact in known_facts.values() for place in fact.citations)
        wanted = list(dict.fromkeys((*stating, *(each for row in chunks for each in row))))
        passages = passages_by_id(store, wanted)
    return Sources(tuple(map(tuple, facts)), tuple(map(tuple, chunks)), known_facts, passages, tuple(runs))


def _read_ids(store: Store, ids: Iterable[Sequence[str]]) -> list[Row]:
    wanted = list(dict.fromkeys(each for row in ids for each in row))
    return store.read("retrieve/row_sources", ids=wanted) if wanted else []


def _gathered(known: dict[str, Row], ids: Sequence[str], what: str) -> list[str]:
    return list(dict.fromkeys(each for id_ in ids if id_ in known for each in known[id_][what]))


def _names_of(row: Sequence[Any], ids: Sequence[str], known: dict[str, Row]) -> list[str]:
    named = (known[each]["name"] for each in ids if each in known and known[each]["name"])
    return list(dict.fromkeys((*named, *_names(row))))[:_MOST_NAMES]


def _joining(
    store: Store, numbers: Sequence[int], names: Sequence[list[str]], asked: Sequence[str], words: list[str]
) -> dict[int, list[str]]:
    rows = [{"number": n, "names": list(dict.fromkeys((*names[n], *asked)))} for n in numbers]
    if not rows:
        return {}
    found = store.read("retrieve/row_facts", rows=rows, words=list(dict.fromkeys(words)), most=_FACTS_OF_ROW)
    return {row["number"]: _wanted(row["facts"], row["wanted"]) for row in found}


def _wanted(facts: list[str], wanted: list[bool]) -> list[str]:
    return [fact for fact, is_wanted in zip(facts, wanted, strict=True) if is_wanted] or facts


def _naming(store: Store, numbers: Sequence[int], names: Sequence[list[str]]) -> dict[int, list[str]]:
    rows = [{"number": n, "names": names[n]} for n in numbers]
    found = store.read("retrieve/row_passages", rows=rows, most=_PASSAGES_OF_ROW) if rows else []
    return {row["number"]: row["chunks"] for row in found}


def _fill(of_rows: list[list[str]], found: dict[int, list[str]]) -> None:
    for number, ids in found.items():
        of_rows[number] = ids


def _ids(value: Any) -> Iterator[str]:
    """All ids in a row, in order: those of nodes, those that relationships have of facts, and those in texts."""
    if is_id(value):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _ids(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _ids(each)


def _names(value: Any) -> Iterator[str]:
    """All texts in a row that could name something; of a node its name, key and value."""
    if isinstance(value, str):
        if 1 < len(value) <= _LONGEST_NAME and not is_id(value):
            yield value
    elif isinstance(value, dict):
        inner = value.get("properties", value)
        for each in (inner.get("name"), inner.get("value")) if "properties" in value else inner.values():
            yield from _names(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _names(each)
