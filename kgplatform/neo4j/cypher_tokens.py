"""The words and signs of a Cypher statement, read as the server reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

ESCAPE = re.compile(r"\\u+([0-9a-f]{4})", re.I)
# As the server reads: a carriage return ends a comment too, and the vowel separator is white space to some versions.
# What does not end is left to the server to complain of.
_TOKEN = re.compile(
    r"(?:[\s\u180e]|//[^\r\n]*|/\*.*?(?:\*/|\Z))+"
    r"|(?P<text>'(?:[^'\\]|\\.)*(?:'|\\?\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z))"
    r"|(?P<given>\$(?:`(?:[^`]|``)*`|\w+))"
    r"|`(?P<quoted>(?:[^`]|``)*)(?:`|\Z)"
    r"|(?P<word>\w+)"
    r"|(?P<sign>=~|\|\||.)",
    re.S,
)


class Token(NamedTuple):
    """``kind``: text, given (a parameter), quoted (a name in backticks), word or sign."""

    kind: str
    text: str

    def is_word(self, *words: str) -> bool:
        """Whether it is one of ``words``, in whatever case."""
        return self.kind == "word" and self.text.lower() in words

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of ``signs``."""
        return self.kind == "sign" and self.text in signs

    @property
    def is_name(self) -> bool:
        """Whether it can name something."""
        return self.kind in ("quoted", "word")


def letter_of(escape: re.Match[str]) -> str:
    """The letter that an ``ESCAPE`` stands for."""
    return chr(int(escape[1], 16))


def tokens_of(statement: str) -> Iterator[Token]:
    """All that is neither white space nor a comment; escaped letters (``\\u0041``) are those letters."""
    statement = ESCAPE.sub(letter_of, statement)
    for found in _TOKEN.finditer(statement):
        if found.lastgroup:
            yield Token(found.lastgroup, found[found.lastgroup])
