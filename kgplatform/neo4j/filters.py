"""Which documents a question may use: conditions on their metadata, as a text or as a dictionary.

    year >= 2020 and (tags in ("contract", "annex") or author = "Orlova") and not draft and updated within "90 days"
    {"author": "Orlova", "tags": ["contract", "annex"]}      # the short form: of each name one of the values

Of a list, one item has to fit. A document without the name fits no comparison, so that ``not``, ``!=`` and ``not in``
hold for it. A number also fits the text that spells it; true fits "true" and "yes", false "false" and "no". By order,
numbers are compared as numbers, and texts letter by letter, so ISO 8601 dates by time; a day is all of its hours. A
name alone holds where there is a value but false. What the platform knows of every document has names, too: ``title``,
``language``, ``added``, ``modified``, ``folder``, ``file``, ``path`` and ``type``; a ``document`` is named by its
title, file, path, URI or id.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from itertools import product
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit
from weakref import WeakKeyDictionary

from kgplatform.errors import InputError, wrong_value
from kgplatform.neo4j.metadata import kept_name, value_of
from kgplatform.neo4j.store import Connection, Store
from kgplatform.records import METADATA, MetadataValue, metadata_name
from kgplatform.text import clipped, did_you_mean, listed

Where = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]
"""A condition, the short form, or several of both that must all hold."""
Term = dict[str, Any]
"""``property``; ``is``: "=", "<", "<=", ">", ">=", "HAS", "CONTAINS" or "ENDS WITH"; ``values``, of which one has to
fit, or the ``number`` or ``text`` to be ordered by; ``days``: values that stand for all hours of a day; ``not``: that
none may. What is compared with the address of a file has the name of its ``way``, and the ``names`` asked for."""

_OWN = {"title": "name", "language": "language", "added": "addedAt", "modified": "modifiedAt"}
"""Properties of documents that are no metadata, by the names that people ask for."""
_OF_FILE = {
    "folder": ("CONTAINS", "/{}/", "/"),
    "file": ("ENDS WITH", "/{}", "/"),
    "path": ("ENDS WITH", "/{}", "/"),
    "document": ("ENDS WITH", "/{}", "/"),
    "type": ("ENDS WITH", ".{}", "."),
}
"""How the address of a document's file has them; a folder, or a file, may be named with those around it."""
_NAMES = {"document": ("name", "uri", "id")}
"""Properties that may be what stands for a document in place of its file."""
_TO_BE_THERE = ("document", "folder")
"""What is named here is looked for: a slip of the pen would leave it out unseen."""

_APART = r"\s\"'`=<>!(),;&|“”„«»‘"
_END = rf"(?![^{_APART}])"
_QUOTED = r"""\"(?:[^"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‘[^’]*’"""
_INSIDE = r"[^\s=<>!(),;&|\"“”„«»]"
_WORDS = rf"[^{_APART}]{_INSIDE}*(?:\s+(?!(?:and|or){_END}){_INSIDE}+)*"
_NAME = rf"`[^`]+`|(?!(?:and|or|not|in|within){_END})[^\W\d][\w.-]*"
_SIGNS = {
    **{"<=": "<=", "=<": "<=", ">=": ">=", "=>": ">=", "!=": "!=", "<>": "!="},
    **{"==": "=", "=": "=", "<": "<", ">": ">"},
}
_PERIOD = re.compile(r"\s*(\d{1,4})\s*(day|week|month|year)s?\s*", re.IGNORECASE)
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?(?:e[+-]?[0-9]{1,2})?")
_LONGEST, _DEEPEST, _MOST_CLAUSES, _MOST_TERMS = 10_000, 50, 200, 5000


class _Condition(NamedTuple):
    """All, or any, of its ``parts``."""

    is_all: bool
    parts: Sequence[_Condition | Term]


_MOST_KEPT = 8
_kept: WeakKeyDictionary[Connection, tuple[frozenset[str], dict[str, list[str]]]] = WeakKeyDictionary()
"""Of each database the last change, and what was found for each of the last conditions since."""
_lock = threading.Lock()


def documents_where(store: Store, where: Where | None, *, any_name: bool = False) -> list[str] | None:
    """The ids of the documents that fit ``where``; None where that is no condition. Raises ``InputError`` for what
    cannot be asked, and unless ``any_name`` for a name that no document has, and for a document or a folder that is not
    there: in dictionaries where nothing fits. All documents are compared, once as long as nothing changes."""
    clauses = [] if where is None else clauses_of(where)
    if not clauses:
        return None
    given = where if isinstance(where, list | tuple) else [where]
    needs = "none" if any_name else "any" if all(isinstance(each, Mapping) for each in given) else "all"
    change, asked = store.last_change(), json.dumps([needs, clauses])
    with _lock:
        before, known = _kept.get(store.connection, (frozenset[str](), {}))
    if before != change:
        known = {}
    if asked not in known:
        found = [str(row["id"]) for row in store.read("search/documents_where", where=clauses)]
        if needs == "all" or (needs == "any" and not found):
            _check_names(store, clauses, found)
        known = dict([*known.items(), (asked, found)][-_MOST_KEPT:])
        with _lock:
            _kept[store.connection] = change, known
    return known[asked]


def _check_names(store: Store, clauses: list[list[Term]], found: list[str]) -> None:
    """Raise ``InputError`` for a document, a folder or a name of metadata that is not there."""
    for way, name in _named(clauses):
        if name not in found and not store.read("search/documents_where", where=clauses_of({way: name})):
            meant = did_you_mean(name, _known(store, way))
            raise InputError(f'There is no {way} "{name}" in the graph.{meant}', "where")
    own = sorted({*_OWN, *_OF_FILE})
    known = [metadata_name(row["name"]) for row in store.read("search/metadata_names")]
    for term in (term for clause in clauses for term in clause if term["property"].startswith(METADATA)):
        if (name := metadata_name(term["property"])) not in (*known, *own):
            has = f"The documents have {listed(known)}" if known else "No document has any"
            quotes = ' Put a value that has "and" or "or" in quotes.' if term["is"] == "HAS" else ""
            raise InputError(
                f'No document has metadata "{name}".{did_you_mean(name, [*known, *own])} {has}; the platform adds '
                f"{listed([each for each in own if each not in known])}.{quotes}",
                "where",
            )


def fitting_documents(store: Store, where: Where | None) -> list[str] | None:
    """The same; raises ``InputError`` where no document fits, too."""
    found = documents_where(store, where)
    if found == []:
        raise none_fits()
    return found


def _named(clauses: list[list[Term]]) -> list[tuple[str, str]]:
    """The documents and folders that something has to be of, each with what it is."""
    terms = [term for clause in clauses for term in clause if term.get("way") in _TO_BE_THERE and not term["not"]]
    return list(dict.fromkeys((term["way"], name) for term in terms for name in term["names"]))


def _known(store: Store, way: str) -> list[str]:
    """The titles and files of all documents, or the folders around these."""
    rows = store.read("search/document_names")
    paths = [unquote(urlsplit(row["source"] or "").path).split("/") for row in rows]
    if way == "folder":
        return [name for path in paths for name in path[:-1] if name]
    return [name for row, path in zip(rows, paths, strict=True) for name in (row["title"], path[-1]) if name]


def none_fits() -> InputError:
    """What is said where no document fits."""
    return InputError("No document fits this condition. Compare it with the metadata of your documents.", "where")


def metadata_to_give(given: Mapping[str, Any]) -> dict[str, MetadataValue | None]:
    """Metadata that all documents of an ingest are to have; None for a name whose value is to go. Raises ``InputError``
    for what cannot be metadata, and for names that the platform has a value for."""
    found: dict[str, MetadataValue | None] = {}
    for name, value in given.items():
        key = kept_name(str(name))
        if key in {*_OWN, *_OF_FILE}:
            raise InputError(f'"{key}" is what the platform knows of every document. Choose another name.', "metadata")
        try:
            found[key] = value_of(value)
        except ValueError:
            key = ""
        if not key:
            raise InputError(
                f"metadata: {name}={value!r:.100} cannot be used: give a name with a text, a number, a date, true "
                "or false, or a list of these.",
                "metadata",
            )
    return found


def clauses_of(where: Where) -> list[list[Term]]:
    """``where`` as ``search/documents_where`` wants it: clauses of which each has to hold, by one of its terms. Empty
    for no condition. Raises ``InputError``, with the place of the mistake in a text."""
    if isinstance(where, str):
        return _clauses(_Reading(where).whole()) if where.strip() else []
    if isinstance(where, list | tuple):
        if sum(len(each) for each in where if isinstance(each, str)) > _LONGEST:
            raise InputError(f"The conditions have more than {_LONGEST:,} characters together.", "where")
        if all(isinstance(each, str | Mapping) for each in where):
            return [clause for each in where for clause in clauses_of(each)]
    if not isinstance(where, Mapping):
        raise wrong_value("where", where, "it must be a condition, a dictionary or a list of those")
    clauses: list[list[Term]] = []
    for name, value in where.items():
        values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        try:
            kept = [item for item in map(value_of, values) if item is not None and not isinstance(item, list)]
        except ValueError:
            kept = []
        if not kept_name(str(name)) or not kept or len(kept) < len(values):
            raise InputError(f"where: {name}={value!r:.100} cannot be used: give a value or a list of values.", "where")
        clauses += _clauses(_compared(str(name), "=", kept))
    return clauses


def _compared(name: str, sign: str, values: Sequence[Any]) -> _Condition | Term:
    """That the metadata of a ``name`` compare so with one of ``values``, or what the platform knows under that name."""
    forms = [form for value in values for form in _forms(value)]
    term: Term = {
        "property": METADATA + kept_name(name),
        "is": sign,
        "values": forms,
        "number": next((form for form in forms if type(form) in (int, float)), None),
        "text": str(values[0]) if values else "",
        "days": [each for each in values if isinstance(each, str) and _DAY.fullmatch(each)],
        "not": False,
    }
    if name in _OWN:
        own: Term = {**term, "property": _OWN[name]}
        if name == "language":  # codes are in lower case
            own["values"] = [str(form).lower() for form in forms]
        return _Condition(False, [term, own])
    if name not in _OF_FILE:
        return term
    of_file: Term = {**term, "property": "source"}
    if sign == "=":
        way, form, around = _OF_FILE[name]
        try:  # as the address of a file has it, whose name need not be UTF-8
            parts = [quote(str(value).strip(around).encode("utf-8", "surrogateescape")) for value in values]
        except UnicodeEncodeError:
            parts = [""]
        if not all(parts):
            raise InputError(
                f"where: give the name of a {name}, not {listed([repr(value) for value in values])}.", "where"
            )
        of_file |= {"is": way, "values": [form.format(part).lower() for part in parts]}
        of_file |= {"way": name, "names": [str(value) for value in values]}
    return _Condition(False, [term, of_file, *({**term, "property": each} for each in _NAMES.get(name, ()))])


def _forms(value: Any) -> list[Any]:
    """``value``, and what else it may be kept as."""
    if isinstance(value, bool):
        return [value, *(("true", "yes") if value else ("false", "no"))]
    if isinstance(value, str):
        return [value, json.loads(value)] if _NUMBER.fullmatch(value) else [value]
    return [value, str(value)]


def _negated(node: _Condition | Term) -> _Condition | Term:
    if isinstance(node, dict):
        return {**node, "not": not node["not"]}
    return _Condition(not node.is_all, [_negated(part) for part in node.parts])


def _clauses(node: _Condition | Term) -> list[list[Term]]:
    """The conjunctive normal form of ``node``."""
    if isinstance(node, dict):
        return [[node]]
    parts = [_clauses(part) for part in node.parts]
    size = sum(map(len, parts)) if node.is_all else math.prod(map(len, parts))
    longest = [max(map(len, part)) for part in parts]
    if size > _MOST_CLAUSES or size * (max(longest) if node.is_all else sum(longest)) > _MOST_TERMS:
        raise InputError("The condition is too long. Ask for less at once.", "where")
    if node.is_all:
        return [clause for part in parts for clause in part]
    return [[term for clause in chosen for term in clause] for chosen in product(*parts)]


class _Reading:
    """Reads a condition from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def whole(self) -> _Condition | Term:
        """The condition that the whole text is."""
        if len(self._text) > _LONGEST:
            raise InputError(
                f"The condition has {len(self._text):,} characters; at most {_LONGEST:,} are allowed.", "where"
            )
        found = self._joined("or")
        self._need(
            r"\Z",
            'compare a name by =, !=, <, <=, >, >=, in or within, join conditions by "and" or "or", and put values '
            "that have signs in quotes",
        )
        return found

    def _joined(self, word: str) -> _Condition | Term:
        parts = [self._joined("and") if word == "or" else self._one()]
        while self._take(word + _END):
            parts.append(self._joined("and") if word == "or" else self._one())
        return _Condition(word == "and", parts) if len(parts) > 1 else parts[0]

    def _one(self) -> _Condition | Term:
        """A condition in brackets, a negated one, or what a name is compared with."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"nest at most {_DEEPEST} conditions")
        if self._take("not" + _END):
            found = _negated(self._one())
        elif self._take(r"\("):
            found = self._joined("or")
            self._need(r"\)", "close the bracket")
        else:
            found = self._comparison(self._need(_NAME, "a name of metadata is missing").strip("`"))
        self._depth -= 1
        return found

    def _comparison(self, name: str) -> _Condition | Term:
        before, only_equal = self._at, f"compare {name} by =, != or in"
        if self._take("within" + _END):
            if name in _OF_FILE:
                raise self._error(only_equal, before)
            before = self._at
            read = _PERIOD.fullmatch(str(self._value()))
            if read is None:
                raise self._error('give a period such as "90 days", "2 weeks" or "1 year"', before)
            days = sorted((date.today(), datetime.now(timezone.utc).date()))  # the platform's own times are in UTC
            back = min(int(read[1]) * _DAYS[read[2].lower()], days[0].toordinal() - 1)
            first, until = str(days[0] - timedelta(back)), str(days[1] + timedelta(1))
            return _Condition(True, [_compared(name, ">=", [first]), _compared(name, "<", [until])])
        is_not = self._take("not" + _END)
        if self._take("in" + _END):
            self._need(r"\(", 'list values in brackets, such as ("a", "b")')
            values = [self._value()]
            while self._take(","):
                values.append(self._value())
            self._need(r"\)", "close the bracket")
            found = _compared(name, "=", values)
            return _negated(found) if is_not else found
        if is_not:
            raise self._error('write "not in", or put "not" before the name')
        if written := self._take("|".join(_SIGNS)):
            sign = _SIGNS[written]
            by_order = sign not in ("=", "!=")
            if by_order and name in _OF_FILE:
                raise self._error(only_equal, before)
            value = self._value()
            if by_order and isinstance(value, bool):
                raise self._error(f"compare with {str(value).lower()} by =, != or in", before)
            found = _compared(name, sign.removeprefix("!"), [value])
            return _negated(found) if sign == "!=" else found
        return _compared(name, "HAS", [])

    def _value(self) -> Any:
        """What stands in quotes, with backslashes before those inside; else true, false, or words, of which a number is
        one (``_forms``)."""
        value = self._need(f"{_QUOTED}|{_WORDS}", "a value is missing")
        if value[0] in "\"'":
            return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
        if value[0] in "“„«‘":
            return value[1:-1]
        return value.lower() == "true" if value.lower() in ("true", "false") else value

    def _take(self, pattern: str) -> str | None:
        found = re.compile(rf"\s*({pattern})", re.IGNORECASE | re.DOTALL).match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found[1].strip()

    def _need(self, pattern: str, advice: str) -> str:
        found = self._take(pattern)
        if found is None:
            is_open = self._text[self._at :].lstrip()[:1] in (*"\"'`“„«‘",)
            raise self._error("close the quotation marks" if is_open else advice)
        return found

    def _error(self, advice: str, at: int | None = None) -> InputError:
        """``at``: where the mistake begins, if that is not what is read next."""
        rest = self._text[self._at if at is None else at :].lstrip()
        if not rest:
            return InputError(f"The condition ends too early: {advice}.", "where")
        here = f"{clipped(rest, 30)} (character {len(self._text) - len(rest) + 1})"
        return InputError(f"The condition cannot be read at {here}: {advice}.", "where")
