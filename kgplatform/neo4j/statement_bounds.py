"""How large a user's statement and its parameters may be, whoever the user is: Neo4j has no bounds of its own.

A statement that is nested deeply overflows the stack of the thread that plans it, which leaves classes of the server
broken until it is restarted; a long one is planned for minutes, and no time-out ends that.

why_too_large("RETURN " + "(" * 5000 + "1" + ")" * 5000, {})      # 'Too many brackets, …'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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


@dataclass(frozen=True, slots=True)
class Bounds:
    """``texts``: characters of all texts in the parameters; ``values``: how many there are, lists and maps too.
    ``nearest``: the most nodes of a search by vectors."""

    characters: int
    tokens: int
    depth: int
    operators: int
    clauses: int
    texts: int
    values: int
    nearest: int


OWN = Bounds(100_000, 20_000, 60, 1_000, 200, 32_000_000, 1_000_000, 100_000)
FOREIGN = Bounds(20_000, 5_000, 30, 200, 60, 1_000_000, 100_000, 10_000)
"""For statements of others (``why_refused``)."""

_DIGITS = 18
"""More of a number say nothing new."""
_CLAUSES = (
    *("match", "merge", "create", "with", "return", "unwind", "call", "union", "foreach"),
    *("exists", "count", "collect"),
)
_NEAREST = ("querynodes", "queryrelationships")
_OPERATORS = ("and", "or", "xor", "not")


def why_too_large(statement: str, parameters: dict[str, Any], bounds: Bounds = OWN) -> str:
    """One sentence, or "" for what may be sent to the server."""
    if not hasattr(statement, "encode"):
        return f"A statement is a text, not a value of type {type(statement).__name__}."
    if not statement.strip():
        return "The statement is empty."
    if len(statement) > bounds.characters:
        return (
            f"The statement has {len(statement):,} characters; {bounds.characters:,} are allowed: pass values as "
            "parameters."
        )
    tokens = list(tokens_of(statement))
    if len(tokens) > bounds.tokens:
        return f"The statement has {len(tokens):,} words and signs; {bounds.tokens:,} are allowed: use parameters."
    if _depth(tokens) > bounds.depth:
        return f"Brackets, CASEs or NOTs are nested too deeply: at most {bounds.depth} levels are allowed."
    if sum(token.is_word(*_OPERATORS) or token.is_sign("+", "||") for token in tokens) > bounds.operators:
        return f"The statement has more than {bounds.operators:,} operators (AND, OR, NOT, +): use lists and IN."
    if sum(token.is_word(*_CLAUSES) for token in tokens) > bounds.clauses:
        return f"The statement has more than {bounds.clauses:,} clauses: run it in parts, or use UNWIND."
    nearest = list(_nearest_asked(tokens, parameters))
    if any(most is None for most in nearest) and bounds is not OWN:  # in one's own it may be worked out
        return "A vector search must give its number of nodes as a plain number or a parameter here."
    if any(most is not None and most > bounds.nearest for most in nearest):
        return (
            f"A vector search may ask for at most {bounds.nearest:,} nodes: the server allocates memory for all of "
            "them first."
        )
    return _why_given_too_much(parameters, bounds)


def _nearest_asked(tokens: Sequence[Token], parameters: dict[str, Any]) -> Iterator[int | None]:
    """How many nodes each search by vectors asks for; None where that is not told by a number or a parameter."""
    for at, token in enumerate(tokens):
        if token.text.lower() not in _NEAREST or not tokens[at - 2].text.lower().endswith("vector"):
            continue
        depth, after = 0, at + 1
        while after < len(tokens) and not (depth == 1 and tokens[after].is_sign(",")):
            depth += tokens[after].is_sign(*"([{") - tokens[after].is_sign(*")]}")
            after += 1
        asked = [*tokens[after + 1 : after + 3]]
        is_plain = len(asked) == 2 and asked[1].is_sign(",")
        text = asked[0].text if is_plain else ""
        value = parameters.get(text.strip("$`")) if text.startswith("$") else _number(text)
        yield value if isinstance(value, int) else None


def _number(text: str) -> int | None:
    return int(text[:_DIGITS]) if text.isdecimal() else None


def _depth(tokens: Sequence[Token]) -> int:
    """How many brackets, CASEs and repeated signs (NOT NOT, - -) stand inside of one another."""
    depth = deepest = run = 0
    for before, token in zip((None, *tokens), tokens, strict=False):
        if before is not None and before.is_sign("."):  # a property that is called so
            continue
        is_prefix = token.is_word("not") or token.is_sign("-", "+", "!")
        run = run + 1 if is_prefix else 0
        depth += token.is_sign(*"([{") + token.is_word("case") - token.is_sign(*")]}") - token.is_word("end")
        depth = max(0, depth)
        deepest = max(deepest, depth, run)
    return deepest


def _why_given_too_much(parameters: dict[str, Any], bounds: Bounds) -> str:
    texts = 0
    for values, (value, depth) in enumerate(values_in(parameters)):
        texts += len(value) if isinstance(value, str | bytes | bytearray) else 0
        if depth > bounds.depth:
            return f"A parameter is nested more than {bounds.depth} lists or maps deep."
        if values > bounds.values:
            return f"The parameters have more than {bounds.values:,} values: run the statement for a part at a time."
        if texts > bounds.texts:
            return f"The parameters have more than {bounds.texts:,} characters: run the statement for a part at a time."
    return ""


def values_in(parameters: dict[str, Any]) -> Iterator[tuple[Any, int]]:
    """Every value and key in ``parameters``, with how deep it lies."""
    left: list[tuple[Iterator[Any], int]] = [(iter((parameters,)), 0)]
    while left:
        inner, depth = left[-1]
        for value in inner:
            yield value, depth
            if isinstance(value, dict):
                left.append((iter((*value.keys(), *value.values())), depth + 1))
                break
            if isinstance(value, list | tuple):
                left.append((iter(value), depth + 1))
                break
        else:
            left.pop()
