"""Which documents a question may use: conditions on their metadata, as a text or as a dictionary.

    year >= 2020 and (tag in ("contract", "annex") or author = "Orlova") and not draft and updated within "90 days"
    {"author": "Orlova", "tag": ["contract", "annex"]}      # the short form: of each name one of the values

A name alone holds where its value is true, or the text "true" or "yes". A document without the name fits no comparison,
so that ``not``, ``!=`` and ``not in`` hold for it. Of a list, one item has to fit. A number also fits the text that
spells it, and the other way round. Dates are ISO 8601 and compared as texts, letter by letter, case included. What the
platform knows of every document has names, too: ``title``, ``language``, ``added``, ``folder``, ``file`` and ``type``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import product
from typing import Any, NamedTuple
from urllib.parse import quote

from kgplatform.errors import InputError, wrong_value
from kgplatform.neo4j.metadata import kept_name, value_of
from kgplatform.neo4j.store import Store
from kgplatform.records import METADATA, metadata_name
from kgplatform.text import clipped, did_you_mean, listed

Where = str | Mapping[str, Any]
Term = dict[str, Any]
"""``property``; ``is``: "=", "<", "<=", ">", ">=", "CONTAINS" or "ENDS WITH"; ``values``, of which one has to fit;
``not``: that none may."""

_OWN = {"title": "name", "language": "language", "added": "addedAt"}
"""Properties of documents that are no metadata, by the names that people ask for."""
_OF_FILE = {"folder": ("CONTAINS", "/{}/", "/"), "file": ("ENDS WITH", "/{}", "/"), "type": ("ENDS WITH", ".{}", ".")}
"""How the address of a document's file has them; a folder, or a file, may be named with those around it."""

_APART = r"\s\"'`=<>!(),"
_END = rf"(?![^{_APART}])"
_TEXT = r"""\"(?:[^"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"""
_WORDS = rf"[^{_APART}](?:(?!\s+(?:and|or){_END})[^=<>!(),])*"
_NAME = (
    rf"`[^`]+`|(?!(?:and|or|not|in|within){_END})[^{_APART}](?:(?!\s+(?:and|or|not|in|within){_END})[^\"'`=<>!(),])*"
)
_SIGNS = {"<=": "<=", ">=": ">=", "!=": "=", "<>": "=", "==": "=", "=": "=", "<": "<", ">": ">"}
_PERIOD = re.compile(r"\s*(\d{1,4})\s*(day|week|month|year)s?\s*", re.IGNORECASE)
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_YES = (True, "true", "yes")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d+)?")
_LONGEST, _DEEPEST, _MOST_CLAUSES = 10_000, 50, 200


class _Condition(NamedTuple):
    """All, or any, of its ``parts``."""

    is_all: bool
    parts: Sequence[_Condition | Term]


def documents_where(store: Store, where: Where) -> list[str]:
    """The ids of the documents that fit ``where``. Raises ``InputError`` for what cannot be asked, and for a name that
    no document has: in a dictionary only where nothing fits."""
    clauses = clauses_of(where)
    found = [str(row["id"]) for row in store.read("search/documents_where", where=clauses)]
    if found and isinstance(where, Mapping):
        return found
    known = [metadata_name(row["name"]) for row in store.read("search/metadata_names")]
    named = (term["property"] for clause in clauses for term in clause)
    for name in dict.fromkeys(metadata_name(each) for each in named if each.startswith(METADATA)):
        if name not in (*known, *_OWN, *_OF_FILE):
            has = f"The documents have {listed(known)}." if known else "No document has any."
            raise InputError(f'No document has metadata "{name}".{did_you_mean(name, known)} {has}', "where")
    return found


def clauses_of(where: Where) -> list[list[Term]]:
    """``where`` as ``search/documents_where`` wants it: clauses of which each has to hold, by one of its terms. Empty
    for no condition. Raises ``InputError``, with the place of the mistake in a text."""
    if isinstance(where, str):
        return _clauses(_Reading(where).whole()) if where.strip() else []
    if not isinstance(where, Mapping):
        raise wrong_value("where", where, "it must be a condition or a dictionary")
    clauses = []
    for name, value in where.items():
        values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        try:
            kept = [item for item in map(value_of, values) if item is not None and not isinstance(item, list)]
        except ValueError:
            kept = []
        if not kept_name(str(name)) or not kept or len(kept) < len(values):
            raise InputError(f"where: {name}={value!r:.100} cannot be used: give a text, a number, a date or a list.")
        clauses += _clauses(_compared(str(name), "=", kept))
    return clauses


def _term(name: str, sign: str, values: Sequence[Any]) -> Term:
    return {"property": METADATA + kept_name(name), "is": sign, "values": list(values), "not": False}


def _compared(name: str, sign: str, values: Sequence[Any]) -> _Condition | Term:
    """That the metadata of a ``name`` compare so with one of ``values``, or what the platform knows under that name."""
    found = _term(name, sign, values)
    if name in _OWN:
        return _Condition(False, [found, {**found, "property": _OWN[name]}])
    if name in _OF_FILE and sign == "=":
        way, form, around = _OF_FILE[name]
        parts = [form.format(quote(str(value).strip(around))).lower() for value in values]
        return _Condition(False, [found, {**found, "property": "source", "is": way, "values": parts}])
    return found


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
    if size > _MOST_CLAUSES:
        raise InputError("where has too many conditions in one another. Ask for less at once.", "where")
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
            raise InputError(f"where has {len(self._text):,} characters; {_LONGEST:,} are the most.", "where")
        found = self._joined("or")
        self._need(r"\Z", 'join conditions by "and" or "or", and put values with signs in quotes')
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
            raise self._error(f"put no more than {_DEEPEST} conditions in one another")
        if self._take("not" + _END):
            found = _negated(self._one())
        elif self._take(r"\("):
            found = self._joined("or")
            self._need(r"\)", "close the bracket")
        else:
            found = self._comparison(self._need(_NAME, "give the name of metadata").strip("`"))
        self._depth -= 1
        return found

    def _comparison(self, name: str) -> _Condition | Term:
        if self._take("within" + _END):
            read = _PERIOD.fullmatch(str(self._value(_TEXT, 'give a period such as "90 days"')))
            if read is None:
                raise self._error('give a period such as "90 days", "2 weeks" or "1 year" before this')
            today = date.today()
            days = min(int(read[1]) * _DAYS[read[2].lower()], today.toordinal() - 1)
            first, until = str(today - timedelta(days)), str(today + timedelta(1))
            return _Condition(True, [_compared(name, ">=", [first]), _compared(name, "<", [until])])
        is_not = self._take("not" + _END)
        if self._take("in" + _END):
            self._need(r"\(", 'list values in brackets, such as ("a", "b")')
            values = [self._value()]
            while self._take(","):
                values.append(self._value())
            self._need(r"\)", "close the bracket")
            found = _compared(name, "=", [form for value in values for form in _forms(value)])
            return _negated(found) if is_not else found
        if is_not:
            raise self._error('write "not in", or put "not" before the name')
        if sign := self._take("|".join(_SIGNS)):
            value = self._value()
            found = _compared(name, _SIGNS[sign], _forms(value) if _SIGNS[sign] == "=" else [value])
            return _negated(found) if sign in ("!=", "<>") else found
        return _compared(name, "=", _YES)

    def _value(self, pattern: str = f"{_TEXT}|{_WORDS}", advice: str = "give a value") -> Any:
        """What stands in quotes, with backslashes before those inside; else a number, true, false, or words."""
        value = self._need(pattern, advice)
        if value[0] in "\"'":
            return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
        is_json = _NUMBER.fullmatch(value) or value.lower() in ("true", "false")
        return json.loads(value.lower()) if is_json else value

    def _take(self, pattern: str) -> str | None:
        found = re.compile(rf"\s*({pattern})", re.IGNORECASE | re.DOTALL).match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found[1].strip()

    def _need(self, pattern: str, advice: str) -> str:
        found = self._take(pattern)
        if found is None:
            raise self._error(advice)
        return found

    def _error(self, advice: str) -> InputError:
        rest = self._text[self._at :].lstrip()
        here = f"at {clipped(rest, 30)} (character {len(self._text) - len(rest) + 1})" if rest else "at its end"
        return InputError(f"where cannot be read {here}: {advice}.", "where")


def _forms(value: Any) -> list[Any]:
    """``value``, and what else it may be kept as: the text that spells a number, or the number that a text spells."""
    if isinstance(value, str):
        return [value, json.loads(value)] if _NUMBER.fullmatch(value) else [value]
    return [value] if isinstance(value, bool) else [value, str(value)]
