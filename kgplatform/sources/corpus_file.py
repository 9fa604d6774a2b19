"""Texts out of a JSON or JSONL file: many documents in one file.

Such a file is a list of ``{"title", "text"}`` objects, one such object, a list of ``{"corpus_name", "context"}``, or an
open-IE recording, whose items have ``extracted_…`` too. The list may be within an object, as HippoRAG's is
under ``docs``. In JSONL each line is one item. ``Fields``: other keys.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BufferedReader
from typing import TYPE_CHECKING
from urllib.parse import quote

from kgplatform.concurrency.workers import BoundedCalls, ExceededError
from kgplatform.errors import DocumentError, SettingError
from kgplatform.neo4j.metadata import flat
from kgplatform.records import Location, MetadataValue
from kgplatform.sources.decode import codec_of, decode
from kgplatform.sources.files.file_text import clean
from kgplatform.text import LONGEST_NAME, clipped, tidy

if TYPE_CHECKING:
    from kgplatform.settings import Settings

HARMLESS_BYTES = 4_000_000
"""Up to so many bytes of plain text or JSON are read here: what reads them takes a time and a memory in proportion to
them, whatever they say, and less than a child costs. All else is parsed within bounds.
"""
_EXTRACTED = "extracted_"
"""What keys of an open-IE recording begin with."""
_SHOWN_KEYS = 8
_SHOWN_LENGTH = 40
_LONGEST_LINE = 100_000_000


@dataclass(frozen=True, slots=True)
class Fields:
    """The keys under which objects have their text and their title: the first that is there counts. ``encoding``: of
    texts that are not UTF-8, where somebody says it."""

    text: tuple[str, ...] = ("text", "context", "content", "contents", "body", "page_content", "passage")
    title: tuple[str, ...] = ("title", "corpus_name")
    encoding: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Fields:
        """Those of ``settings``, alone where they are given, else the usual ones. Raises ``SettingError``."""
        text, title, encoding = settings.text_field, settings.title_field, settings.encoding
        if encoding and not codec_of(encoding):
            raise SettingError(f"There is no encoding {encoding!r}. Name one such as windows-1250 or shift_jis.")
        return cls((text,) if text else USUAL.text, (title,) if title else USUAL.title, encoding)


USUAL = Fields()


@dataclass(frozen=True, slots=True)
class CorpusItem:
    """One text of a corpus. ``fragment`` names it within its file, whatever its text: it is the URI's part after #.

    It is the quoted title, with ``;2`` for the second of that title, or ``;17`` for the untitled item 17. A quoted
    title has no semicolon, so that no two items share a fragment. ``metadata``: what else the item says, where it is
    flat. ``faults``: parts of it that could not be read.
    """

    title: str
    number: int
    text: str
    fragment: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict, hash=False)
    locations: tuple[Location, ...] = ()
    faults: tuple[str, ...] = ()


ItemOrFault = CorpusItem | str
"""An item, or what is wrong with one, for people: "item 3: has no text"."""


def read_json(
    path: str, stream: BufferedReader, fields: Fields = USUAL, _calls: BoundedCalls | None = None
) -> Iterator[ItemOrFault]:
    """The items of a JSON file, in order. Raises ``DocumentError`` if the file as a whole is not a corpus."""
    text = decode(path, stream.read()).text
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = text.split("\n")
        with suppress(ValueError, RecursionError):
            if isinstance(json.loads(lines[0]), dict):  # as every line of JSON Lines is
                return _items("line", _parsed(lines, fields))
        raise DocumentError(path, f"not valid JSON ({_fault(error)})") from error
    # The items are those of the file's list, or of the one list in its object whose items have texts.
    held = list(content.values()) if isinstance(content, dict) and not _has_text(content, fields) else []
    lists = [each for each in held if isinstance(each, list) and any(_has_text(item, fields) for item in each)]
    values = content if isinstance(content, list) else lists[0] if len(lists) == 1 else [content]
    if not any(isinstance(_first(value, fields.text), str) for value in values):
        raise DocumentError(path, _other_shape(content, values, fields))
    return _items("item", enumerate((_read_item(value, fields) for value in values), start=1))


def read_jsonl(
    path: str, stream: BufferedReader, fields: Fields = USUAL, calls: BoundedCalls | None = None
) -> Iterator[ItemOrFault]:
    """The items of a file with one JSON object a line, read line by line; every broken line is reported by its number.

    A file that is called so but holds one JSON list, or is not in UTF-8, is read as a whole. A long line is parsed
    within the bounds of ``calls``.
    """
    if not has_lines(stream.peek(1)):
        return read_json(path, stream, fields)
    return _items("line", _parsed(_lines(stream), fields, calls))


def has_lines(head: bytes) -> bool:
    """Whether a file that begins so can be read line by line."""
    head = head.removeprefix(BOM_UTF8)
    return not head.lstrip().startswith(b"[") and b"\0" not in head


ITEM_READERS: dict[str, Callable[[str, BufferedReader, Fields, BoundedCalls | None], Iterator[ItemOrFault]]] = {
    ".json": read_json,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
}


@dataclass(frozen=True, slots=True)
class _Item:
    """What is read of one JSON value: its title, and its text or, where that is None, what it is instead."""

    title: str
    text: str | None
    fault: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict, hash=False)


def _lines(stream: BufferedReader) -> Iterator[bytes | None]:
    """The lines of ``stream``; None for one that is too long to be held."""
    while line := stream.readline(_LONGEST_LINE):
        is_whole = line.endswith(b"\n") or len(line) < _LONGEST_LINE
        yield line if is_whole else None
        while not is_whole:
            rest = stream.readline(HARMLESS_BYTES)
            is_whole = rest.endswith(b"\n") or not rest


def _parsed(
    lines: Iterable[str | bytes | None], fields: Fields, calls: BoundedCalls | None = None
) -> Iterator[tuple[int, _Item]]:
    """``(line number, item)`` of every line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if line is None:
            yield number, _Item("", None, f"longer than {_LONGEST_LINE // 1_000_000} MB: split it into several")
        elif line.strip():
            if calls is None or len(line) <= HARMLESS_BYTES:
                (item,) = _read_line(line, fields)
            else:
                try:
                    (item,) = calls.each(_read_line, line, fields)
                except ExceededError as error:
                    item = _Item("", None, why_beyond(error, calls))
            yield number, item


def _read_line(line: str | bytes, fields: Fields) -> tuple[_Item]:
    try:
        return (_read_item(json.loads(line), fields),)
    except (ValueError, RecursionError) as error:
        return (_Item("", None, f"not valid JSON ({_fault(error)})"),)


def why_beyond(error: ExceededError, calls: BoundedCalls) -> str:
    """Which of the bounds of ``calls`` a file went beyond, and what to do."""
    if error.bound == "seconds":
        return f"takes more than {calls.seconds:g} s to parse: raise KGPLATFORM_FILE_SECONDS to read it"
    if error.bound == "memory":
        return f"takes more than {calls.megabytes:,} MB of memory to parse: raise KGPLATFORM_FILE_MEMORY to read it"
    remedy = "save it again from its program, or as plain text, or raise KGPLATFORM_FILE_MEMORY"
    return f"crashed its parser ({error.signal}): {remedy}"


def _fault(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]} in line {error.lineno}, column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "its text is not UTF-8"
    return "it is nested too deeply" if isinstance(error, RecursionError) else "a number is too long"


def _read_item(value: object, fields: Fields) -> _Item:
    found = _first(value, fields.title)
    is_name = isinstance(found, (str, int, float)) and not isinstance(found, bool)
    title, text = (as_name(str(found)) if is_name else ""), _first(value, fields.text)
    if isinstance(text, str):
        # Metadata are what it says beside its text and title, and what was extracted from it.
        said = value if isinstance(value, dict) else {}
        used = {next((key for key in keys if key in said), "") for keys in (fields.text, fields.title)}
        more = said.get("metadata")
        others = {key: each for key, each in said.items() if key not in used and not key.startswith(_EXTRACTED)}
        return _Item(title, clean(text), metadata=flat({**others, **(more if isinstance(more, dict) else {})}).metadata)
    if _has_text(value, fields):
        return _Item(title, None, f"its {fields.text[0]} is {described(text)}, and not a string")
    return _Item(title, None, f"expected {_wanted(fields)}, found {described(value)}{_advice([value], fields)}")


def _items(place: str, items: Iterable[tuple[int, _Item]]) -> Iterator[ItemOrFault]:
    titles: Counter[str] = Counter()
    for number, item in items:
        title, text = item.title, item.text
        titles[title] += 1
        if text is None:
            yield f"{place} {number}: {item.fault}"
        elif not text.strip():
            yield f"{place} {number}: has no text" + (f" ({shown(title)})" if title else "")
        else:
            again = f";{titles[title]}" if titles[title] > 1 else ""
            yield CorpusItem(
                title, number, text, quote(title, safe="") + again if title else f";{number}", item.metadata
            )


def _other_shape(content: object, values: Sequence[object], fields: Fields) -> str:
    """What is wrong with a file in which no item has a text."""
    wanted, name = f"expected a list of {_wanted(fields)}", fields.text[0]
    for number, value in enumerate(values, start=1):
        if _has_text(value, fields):
            place = f"item {number}" if isinstance(content, list) else "its object"
            return f"{wanted}, but the {name} of {place} is {described(_first(value, fields.text))}, and not a string"
    return f"{wanted}, found {described(content)}" + _advice(values, fields)


def _wanted(fields: Fields) -> str:
    return f"{{{fields.title[0]}, {fields.text[0]}}}"


def _advice(values: Sequence[object], fields: Fields) -> str:
    """What to do about objects whose text has another name: the longest text in the first of them is likely it."""
    first = next((value for value in values if isinstance(value, dict)), {})
    texts = {key: each for key, each in first.items() if isinstance(each, str) and key not in fields.title}
    if not texts:
        return ""
    key = shown(max(texts, key=lambda each: len(texts[each])))
    return f". If {key} is the text, set KGPLATFORM_TEXT_FIELD={key}"


def _has_text(value: object, fields: Fields) -> bool:
    return isinstance(value, dict) and any(key in value for key in fields.text)


def as_name(title: str | None) -> str:
    """``title`` as a name: of a whole text between the marks of a title it is the beginning."""
    return clipped(tidy(clean(title or "")), LONGEST_NAME)


def _first(value: object, keys: tuple[str, ...]) -> object:
    present = (value[key] for key in keys if key in value) if isinstance(value, dict) else iter(())
    return next(present, None)


def described(value: object) -> str:
    """What a JSON value is, for people: "a list of objects with the keys question, answer"."""
    match value:
        case []:
            return "an empty list"
        case [dict() as first, *_]:
            return f"a list of objects {_keys(first)}"
        case [first, *_]:
            items = "texts" if isinstance(first, str) else "lists" if isinstance(first, list) else "values"
            return f"a list of {items}"
        case dict():
            return f"an object {_keys(value)}"
    return "a text" if isinstance(value, str) else shown(json.dumps(value))


def _keys(value: Mapping[str, object]) -> str:
    more = " …" if len(value) > _SHOWN_KEYS else ""
    return f"with the keys {', '.join(map(shown, list(value)[:_SHOWN_KEYS]))}{more}" if value else "without keys"


def shown(text: str) -> str:
    """``text`` from a file as it may stand in a sentence: one line, short, without control characters."""
    visible = "".join(filter(str.isprintable, tidy(clean(text))))
    return visible if len(visible) <= _SHOWN_LENGTH else f"{visible[: _SHOWN_LENGTH - 1]}…"
