"""How results show themselves: in a line at a prompt, as HTML in a notebook, as a dictionary for programs."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from kgplatform.text import clipped, without_controls

_LONGEST = 60
_ROWS = 50
_CELL = 500
_LEFT = ' style="text-align:left"'
"""In Jupyter whatever is in a table else stands at the right."""


UPLOADS = "uploads"
"""The folder of a home that keeps what clients sent, under names that ``given_name`` reads."""
_CUT = re.compile(r"(?:%[0-9A-F]?)?%-[0-9a-f]{12}")


def given_name(kept: str) -> str:
    """What a client called the upload that is ``kept`` under that name; "…" stands for what was too long."""
    return unquote(_CUT.sub("…", kept))


def file_of(uri: str) -> str:
    """What people call the file or address of a document: its path, from the current folder where it lies below that.

    >>> file_of("https://example.org/a"), file_of("text:2023/A%20report")
    ('https://example.org/a', '2023/A report')
    """
    if uri.startswith("text:"):
        return unquote(uri.removeprefix("text:"))
    if not uri.startswith("file:"):
        return uri
    path = Path(unquote(uri.partition("#")[0].removeprefix("file:///" if os.name == "nt" else "file://")))
    if path.parent.name == UPLOADS:
        return given_name(path.name)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def in_file(title: str, uri: str) -> str:
    """The file or address, in brackets, which tells documents of one ``title`` apart; empty where it is the title."""
    file = file_of(uri)
    return "" if file == title else f" ({file})"


def shown_days(since: str | None, until: str | None, granularity: str | None) -> str:
    """An interval as people read it: "1842–1861", "since 2024-03", "until 2020-05-12"; "" for none."""
    if since is None and until is None:
        return ""
    digits = {"day": 10, "month": 7}.get(granularity or "", 4)
    first = (since or "")[:digits]
    last = (date.fromisoformat(until) - timedelta(1)).isoformat()[:digits] if until else ""
    if not first or not last:
        return f"since {first}" if first else f"until {last}"
    return first if first == last else f"{first}–{last}"


def with_time(text: str, times: Iterable[str]) -> str:
    """``text`` with the ``times``, as ``shown_days`` has them, in brackets; those whose figures it has are left out."""
    said = set(re.findall(r"\w+", text))
    lacking = [each for each in dict.fromkeys(filter(None, times)) if not said.issuperset(re.findall(r"\d+", each))]
    return f"{text} ({'; '.join(lacking)})" if lacking else text


class Shown:
    """A dataclass that is shown by its fields: those that are not empty, texts cut, of long lists the length."""

    __slots__ = ()

    def __repr__(self) -> str:
        shown = []
        for name, value in as_fields(self).items():
            if value is None or value == 0 or (isinstance(value, str | tuple | list | dict) and not value):
                continue
            if isinstance(value, tuple | list | dict):
                whole = repr(value)
                brief = whole if len(whole) <= _LONGEST else f"<{len(value):,}>"
            elif isinstance(value, str):
                brief = repr(clipped(value, _LONGEST))
            else:
                brief = f"{value:.4g}" if isinstance(value, float) else repr(value)
            shown.append(f"{name}={brief}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, and those of what they hold, in JSON's types: what ``--json`` prints."""
        return {name: plain(value) for name, value in as_fields(self).items()}


def as_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name; what they hold stays as it is."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def plain(value: object) -> Any:
    """``value`` in JSON's types, all the way down; paths and infinite or NaN numbers become text."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(as_fields(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Path) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value


def encode(value: object) -> bytes:
    """``value`` as JSON: a dataclass becomes an object with its fields' names, a tuple a list.

    In ASCII, which can hold any text, even the lone surrogates of a broken file. Nothing is validated again, so that a
    map of ten thousand nodes takes milliseconds.
    """
    dumped = partial(json.dumps, default=_object, allow_nan=False, separators=(",", ":"))
    try:
        return dumped(value).encode()
    except ValueError:  # infinite or NaN, which JSON lacks
        return dumped(plain(value)).encode()


def _object(value: object) -> dict[str, Any]:
    if is_dataclass(value) and not isinstance(value, type):
        return as_fields(value)
    raise TypeError(f"{type(value).__name__} cannot be JSON")


def data_frame(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> Any:
    """The ``rows`` as a DataFrame of pandas, which is loaded only now. Raises ``ImportError``, with what to do."""
    try:
        import pandas  # type: ignore[import-untyped]  # its types are a package of their own
    except ImportError as error:
        raise ImportError("pandas is not installed. Run `pip install pandas`.") from error
    return pandas.DataFrame(list(rows), columns=list(columns))


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]], total: int) -> str:
    """The first 50 of ``total`` rows. All texts are data: nothing in them becomes HTML."""
    head = "".join(f"<th{_LEFT}>{_cell(column)}</th>" for column in columns)
    shown = [row for row, _ in zip(rows, range(_ROWS), strict=False)]
    body = ""
    for row in shown:
        cells = (f"<td{'' if isinstance(each, int | float) else _LEFT}>{_cell(each)}</td>" for each in row)
        body += f"<tr>{''.join(cells)}</tr>"
    more = html_text(f"… and {total - len(shown):,} more") if total > len(shown) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def html_text(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(without_controls(text))}</p>" if text else ""


def _cell(value: object) -> str:
    text = f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value)
    return escape(without_controls(clipped(text, _CELL)))
