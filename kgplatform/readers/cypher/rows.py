"""Rows of a statement as a prompt shows them, and an answer's marks on them turned into citations of characters.

shown, count = shown_rows(("name", "sources"), [("Cyrus Field", "2f6d…")], 3000)      # '[1] name: Cyrus Field'
cited = cite_rows("It was Cyrus Field [1].", rows, sources)         # Cited('It was Cyrus Field [1].', (Citation(…),))
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kgplatform.readers.citations import cite_words
from kgplatform.records import Citation
from kgplatform.retrieve.statement import Sources, is_id
from kgplatform.text import count_tokens, normalise_name

Rows = Sequence[Sequence[Any]]

MOST_CITATIONS = 10
_CELL = 400
"""Characters of a value that are shown."""
_ITEMS = 20
"""Of a list."""
_SHORTEST = 3
"""Letters of a value by which a row is known in an answer that names no row."""

_MARK = re.compile(r"\s*\[(\d+(?:\s*,\s*\d+)*)\]")
_NUMBER = re.compile(r"\d+")
_HIDDEN = ("id", "embedding", "elementEmbedding", "fact")


@dataclass(frozen=True, slots=True)
class Cited:
    """An answer with its marks numbered as its citations are."""

    text: str
    citations: tuple[Citation, ...]


def shown_rows(columns: Sequence[str], rows: Rows, tokens: int) -> tuple[str, int]:
    """The first rows that fit into ``tokens``, numbered from 1, less the ids in them; and how many there are."""
    lines: list[str] = []
    for number, row in enumerate(rows, 1):
        cells = {name: _without_ids(cell) for name, cell in zip(columns, row, strict=True)}
        told = (f"{name}: {_short(cell)}" for name, cell in cells.items() if cell is not None)
        line = f"[{number}] {'; '.join(told) or '(nothing)'}"
        tokens -= count_tokens(line) + 1
        if tokens < 0 and lines:
            break
        lines.append(line)
    return "\n".join(lines), len(lines)


def cite_rows(answer: str, rows: Rows, sources: Sources) -> Cited | None:
    """``answer`` with the citations of the rows that it marks, or, where it marks none, of those that it names.

    Marks of rows that are not there, or that no text stands behind, are taken out. None where neither a citation can
    be had nor anything in the rows stands in the answer: it says something else.
    """
    marked = [int(n) for mark in _MARK.findall(answer) for n in _NUMBER.findall(mark)]
    bare = _MARK.sub("", answer).strip()
    numbers = [n for n in dict.fromkeys(marked) if 1 <= n <= len(rows)]
    numbers = numbers or [n for n, row in enumerate(rows, 1) if _is_named(row, bare)]
    places = {n: _citations(n - 1, sources, bare) for n in numbers}
    cited = tuple(dict.fromkeys(each for row in places.values() for each in row))[:MOST_CITATIONS]
    if cited:
        return Cited(_renumbered(answer, places, cited), cited)
    if found := cite_words(bare, list(sources.known_passages.values())):
        return Cited(bare, found)
    return Cited(bare, ()) if any(_stands_in(row, bare) for row in rows) else None


def _citations(row: int, sources: Sources, answer: str) -> tuple[Citation, ...]:
    """Of each fact behind a row the first place that is found to state it, else words of the answer in its passages."""
    known = (sources.known_facts[each] for each in sources.facts[row] if each in sources.known_facts)
    stated = [max(fact.citations, key=lambda place: place.found) for fact in known if fact.citations]
    if stated:
        return tuple(stated)
    passages = [sources.known_passages[each] for each in sources.passages[row] if each in sources.known_passages]
    return cite_words(answer, passages)


def _renumbered(answer: str, places: dict[int, tuple[Citation, ...]], cited: tuple[Citation, ...]) -> str:
    """``answer`` with the numbers of citations in the place of those of rows."""
    number = {citation: n for n, citation in enumerate(cited, 1)}

    def marks(found: re.Match[str]) -> str:
        rows = [int(each) for each in _NUMBER.findall(found[1])]
        wanted = dict.fromkeys(number[each] for row in rows for each in places.get(row, ()) if each in number)
        return (" " if found[0][:1].isspace() and wanted else "") + "".join(f"[{each}]" for each in wanted)

    return _MARK.sub(marks, answer).strip()


def _without_ids(value: Any) -> Any:
    """``value`` as words tell it: None for ids and for lists of nothing else."""
    if is_id(value):
        return None
    if isinstance(value, dict):
        inner = value.get("properties", value)
        kept = {name: _without_ids(each) for name, each in inner.items() if name not in _HIDDEN}
        return {name: each for name, each in kept.items() if each is not None} or None
    if isinstance(value, (list, tuple)):
        items = [_without_ids(each) for each in value]
        return [each for each in items if each is not None][:_ITEMS] or None
    return value


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    flat = " ".join(text.split())
    return flat if len(flat) <= _CELL else flat[: _CELL - 1] + "…"


def _is_named(row: Sequence[Any], answer: str) -> bool:
    """Whether a name of ``row`` stands in ``answer``."""
    return any(len(each) >= _SHORTEST and _is_word(each, answer) for each in _values(row) if not each.isdigit())


def _stands_in(row: Sequence[Any], answer: str) -> bool:
    """Whether any value of ``row`` does; a truth value is one that no words need to repeat."""
    return any(isinstance(cell, bool) for cell in row) or any(_is_word(each, answer) for each in _values(row))


def _is_word(value: str, answer: str) -> bool:
    plain, said = normalise_name(value), normalise_name(answer)
    return bool(plain) and re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", said) is not None


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.get("properties", value).values())
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _values(each)
    elif value is not None and not isinstance(value, bool) and not is_id(value):
        yield str(value)
