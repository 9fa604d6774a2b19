"""The cells of CSV files, in the form that `neo4j-admin database import` takes.

Texts stand in quotes, quotes in them are doubled. An empty cell is no value; two quotes are an empty text. The items
of a list are parted by U+001F, which no text may hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kgplatform.errors import InputError
from kgplatform.exchange.lines import LONGEST_LINE
from kgplatform.exchange.values import FLOATS, TEMPORAL

ITEM_END = "\x1f"
TYPES = ("string", "long", "double", "boolean", *TEMPORAL)
_CELL = re.compile(r'("(?:[^"]|"")*"|[^",\n]*)(,|\n|$)')


def cell_of(value: Any) -> str:
    """``value`` in a cell. Raises ``ValueError`` for what has no form there."""
    if not isinstance(value, list):
        return _quoted(value) if isinstance(value, str) else _plain(value)
    if set(map(type, value)) == {float}:  # a vector
        return _quoted(ITEM_END.join(map(repr, value)))
    items = [item if isinstance(item, str) else _plain(item) for item in value]
    if items == [""]:
        raise ValueError("a list of one empty text")
    return _quoted(ITEM_END.join(_whole(item) for item in items))


def quoted_list(texts: tuple[str, ...]) -> str:
    """Texts in one cell."""
    return _quoted(ITEM_END.join(texts))


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        ((kind, inner),) = value.items()
        if kind == "float" or kind in TEMPORAL:
            return str(inner)
        raise ValueError(f"a value of the type {kind}")
    return ("true" if value else "false") if isinstance(value, bool) else repr(value)


def _whole(item: str) -> str:
    if ITEM_END in item:
        raise ValueError("a list with the sign U+001F in a text")
    return item


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def read_cells(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file as they are written, quotes and all, each with the number of its first line."""
    with path.open("r", encoding="utf-8", newline="") as stream:
        number = begun = size = quotes = 0
        parts: list[str] = []
        for line in _lines(path, stream.readline):
            number += 1
            begun = begun or number
            parts.append(line)
            size += len(line)
            quotes += line.count('"')  # not of all parts again: a text may have a million lines
            if size > LONGEST_LINE:
                raise InputError(f"{path}, line {begun}, is longer than {LONGEST_LINE:,} signs. Nothing was imported.")
            if quotes % 2:
                continue
            yield begun, _split(path, begun, "".join(parts))
            parts, begun, size, quotes = [], 0, 0, 0
        if parts:
            raise InputError(f"{path}, line {begun}, has a quote that is never closed. Nothing was imported.")


def _lines(path: Path, readline: Callable[[int], str]) -> Iterator[str]:
    try:
        while line := readline(LONGEST_LINE + 1):
            yield line
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not in UTF-8. Nothing was imported.") from error


def _split(path: Path, number: int, record: str) -> list[str]:
    cells, at = [], 0
    record = record.removesuffix("\n")
    while found := _CELL.match(record, at):
        cells.append(found[1])
        at = found.end()
        if found[2] != ",":
            break
    if at != len(record) or not found or found[2] == "\n":
        raise InputError(f"{path}, line {number}, is no CSV that can be read. Nothing was imported.")
    return cells


def value_of(cell: str, kind: str) -> Any:
    """The value of a cell that is not empty, of the ``kind`` that the header says. Raises ``ValueError``."""
    if kind.endswith("[]"):
        text = text_of(cell)
        return [_item(item, kind[:-2]) for item in text.split(ITEM_END)] if text else []
    return text_of(cell) if kind == "string" else _item(cell, kind)


def text_of(cell: str) -> str:
    """What stands between quotes. Raises ``ValueError`` if none do."""
    if len(cell) < 2 or cell[0] != '"':
        raise ValueError(f"{cell[:40]!r} stands without quotes")
    return cell[1:-1].replace('""', '"')


def _item(text: str, kind: str) -> Any:
    if kind == "string":
        return text
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    if kind == "long":
        return int(text)
    if kind == "double":
        return {"float": text} if text in FLOATS else float(text)
    if kind in TEMPORAL:
        return {kind: text}
    raise ValueError(f"{text[:40]!r} is no {kind}")
