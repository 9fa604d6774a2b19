"""The words of a sentence as matches of a pattern, and what the letters around them tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgplatform.text.sentences import ABBREVIATIONS

_GO_ON = ABBREVIATIONS - {"ca", "corp", "etc", "inc", "ltd"}
"""Abbreviations with a name behind them; "CA" is California more often than circa."""

Tokens = Sequence["re.Match[str]"]


def _letters(test: str) -> str:
    """The letters below U+2C00 whose ``str`` method ``test`` is true, as ranges for a class of a regex."""
    ranges: list[list[int]] = []
    for code in (code for code in range(0x2C00) if chr(code).isalpha() and getattr(chr(code), test)()):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


UPPER = _letters("isupper")
_LOWER = _letters("islower")
_WORD = f"0-9{UPPER}{_LOWER}\u0300-\u036f"
# Initials with their full stops, "C++" and "C#", or a word of a cased script; a possessive ending is not a part of it.
TOKEN = re.compile(
    rf"(?P<word>(?:[{UPPER}]\.)+(?![{_LOWER}])|[{UPPER}](?:\+\+|#)(?![{_WORD}])|[{_WORD}]+(?:(?!['’]s(?![{_WORD}]))['’\-\u2010\u2011&][{_WORD}]+)*)"
    rf"(?P<possessive>['’]s(?![{_WORD}]))?"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A name and where it stands: ``text[start:end]`` names it, give or take white space.

    ``kind``: what the place tells of it, such as "Work" of a title in quotation marks.
    """

    name: str
    start: int
    end: int
    kind: str | None = None


def is_capital(word: str) -> bool:
    """``Word``, ``WORD``, ``W.``, and names such as ``iPhone`` and ``d'Artagnan``."""
    return word[0].isupper() or (len(word) > 3 and word[0].islower() and any(letter.isupper() for letter in word[1:4]))


def is_shouted(words: Sequence[str]) -> bool:
    """Whether a sentence stands in capitals, so that they tell nothing: a heading, a warning."""
    cased = [word for word in words if word[0].isalpha()]
    upper = sum(len(word) for word in cased if word.isupper())
    total = sum(len(word) for word in cased)
    if len(cased) < 3:
        return total > 0 and upper == total and max(len(word) for word in cased) > 5
    return upper > 0.7 * total


def joins(text: str, tokens: Sequence[re.Match[str]], position: int) -> bool:
    """Whether the token at ``position`` can go on the name of the token before it."""
    before = tokens[position - 1]
    gap = text[before.end() : tokens[position].start()]
    if before["possessive"]:
        return False
    if gap == ". ":
        return before["word"].lower() in _GO_ON
    return gap in (" ", "\n", "\u00a0", " & ", "& ", "\r\n") or (gap == "- " and is_capital(before["word"]))


_GLUE_BEFORE = frozenset("-_=$@\\{~#^/+<%`")
_GLUE_AFTER = re.compile(r"[_=$@\\{~^`]|\(\)|::|\.[A-Za-z0-9]|/[^A-Z\s]|/\w+[./]\w|:[^\s\W]")
_BEFORE_SLASH = re.compile(r"(?<![\w/])[A-Z][\w-]*/\Z")


def is_glued(text: str, token: re.Match[str]) -> bool:
    """Whether the word is a part of a path, an address, an option or an identifier. "GNU/Linux" is two names."""
    left, right = token.start(), token.end()
    before = text[left - 1 : left]
    if before == "/":
        return _BEFORE_SLASH.search(text, max(0, left - 30), left) is None
    if before == ":":
        return left > 1 and not text[left - 2].isspace()
    if before == ".":  # the ".LCK" of a file's name too, but not an ellipsis
        return not (left > 1 and (text[left - 2].isupper() or text[left - 2] == "."))
    return before in _GLUE_BEFORE or _GLUE_AFTER.match(text, right) is not None
