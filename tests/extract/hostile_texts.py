"""Texts that are made to take a cutter's time: each of a kind, of any length, the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

Make = Callable[[Random, int], str]


def _of(unit: str) -> Make:
    return lambda _, size: (unit * (size // len(unit) + 1))[:size]


def _any_of(parts: Sequence[str]) -> Make:
    return lambda random, size: "".join(random.choices(parts, k=size))[:size]


def _new_names(random: Random, size: int) -> str:
    """Every name once."""
    count = size // 30 + 1
    names = [
        "".join(random.choices(("ba", "de", "fi", "go", "lu", "mi", "ra", "so"), k=5)).title() for _ in range(count)
    ]
    return "".join(f"We met {name} in {name[::-1].title()}. " for name in names)[:size]


TEXTS: dict[str, Make] = {
    "no break": _of("x"),
    "long words": _of("w" * 999 + " "),
    "dots": _of("."),
    "exclamations": _of("?!"),
    "hyphened words": _of("Ab-"),
    "apostrophes": _of("a'"),
    "marks on a letter": lambda _, size: "e" + "\u0301" * (size - 1),
    "open angle brackets": _of("<a "),
    "quotes": _of('"'),
    "quotes of all kinds": _any_of("“”„«»‘’ A"),
    "brackets": _any_of("()[]{} a"),
    "closers": _of(".)”"),
    "capital words": _of("Ada "),
    "initials": _of("A. B. C. "),
    "abbreviations": _of("Dr. etc. No. U.S. "),
    "years": _of("Ada (1815–1852) "),
    "blanks between two letters": lambda _, size: "x" + " " * (size - 2) + "x",
    "short lines": _of("Ada\r\n"),
    "joined emoji": _of("\U0001f468\u200d"),
    "bidi": _any_of("\u202e\u202d\u2066\u2069ab "),
    "headings": _of("# Ada\n\n"),
    "nested lists": lambda _, size: "".join("  " * (at % 50) + "- Ada\n" for at in range(size // 40 + 50))[:size],
    "rows": _of("| Ada | Bo |\n"),
    "addresses": _of("http://a.example/b?c=d&e "),
    "one address": lambda _, size: ("http://a.example/" + "b/" * size)[:size],
    "scripts": _any_of("aЖ中あ한ث1 "),
    "Han": _any_of("的是大学在于人中国公司"),
    "full ends": _of("。」"),
    "new names": _new_names,
    "and": _of("Ada and Bo and "),
    "participles": _of("Ada, starring Bo, directed by "),
    "terms": _of("the green stone under the old water table of the river house "),
    "German": _of("Der Mann und die Frau ist mit dem Odo Brandt nach Haus. "),
    "sections": _of("Chapter 1, "),
}
"""Of ``size`` characters, or a few less."""
