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
    "letters": _any_of("abcdefghij"),
    "long words": _of("w" * 999 + " "),
    "dots": _of("."),
    "spaced dots": _of(". "),
    "ellipses": _of("… "),
    "exclamations": _of("?!"),
    "hyphens": _of("-"),
    "hyphened words": _of("Ab-"),
    "apostrophes": _of("a'"),
    "possessives": _of("Ada's "),
    "combining marks": _of("\u0301"),
    "marks on a letter": lambda _, size: "e" + "\u0301" * (size - 1),
    "open angle brackets": _of("<a "),
    "quotes": _of('"'),
    "quotes of all kinds": _any_of("“”„«»‘’ A"),
    "open quotes": _of("“Ada "),
    "open brackets": _of("("),
    "brackets": _any_of("()[]{} a"),
    "closers": _of(".)”"),
    "capitals": _of("A"),
    "capital words": _of("Ada "),
    "shouts": _of("ADA QUILL "),
    "initials": _of("A. B. C. "),
    "tight initials": _of("A.B."),
    "abbreviations": _of("Dr. etc. No. U.S. "),
    "digits": _of("7"),
    "ordinals": _of("12. "),
    "years": _of("Ada (1815–1852) "),
    "tabs": _of("a\t"),
    "blanks between two letters": lambda _, size: "x" + " " * (size - 2) + "x",
    "line ends between two letters": lambda _, size: "x" + "\n " * (size // 2 - 1) + "x",
    "short lines": _of("Ada\r\n"),
    "joined emoji": _of("\U0001f468\u200d"),
    "flags": _of("\U0001f1e9"),
    "zero-width": _of("a\u200b"),
    "bidi": _any_of("\u202e\u202d\u2066\u2069ab "),
    "headings": _of("# Ada\n\n"),
    "short paragraphs": _of("Ada Quill\n\n"),
    "nested lists": lambda _, size: "".join("  " * (at % 50) + "- Ada\n" for at in range(size // 40 + 50))[:size],
    "bars": _of("| "),
    "rows": _of("| Ada | Bo |\n"),
    "addresses": _of("http://a.example/b?c=d&e "),
    "one address": lambda _, size: ("http://a.example/" + "b/" * size)[:size],
    "scripts": _any_of("aЖ中あ한ث1 "),
    "Han": _any_of("的是大学在于人中国公司"),
    "Kana": _of("カカ・"),
    "full ends": _of("。」"),
    "repeated names": _of("Ada Quill met Bo Lund. "),
    "new names": _new_names,
    "of the": _of("Ada of the "),
    "and": _of("Ada and Bo and "),
    "commas": _of("Ada, Duke of Lund, who, "),
    "participles": _of("Ada, starring Bo, directed by "),
    "births": _of("Ada (born in "),
    "terms": _of("the green stone under the old water table of the river house "),
    "German": _of("Der Mann und die Frau ist mit dem Odo Brandt nach Haus. "),
    "sections": _of("Chapter 1, "),
    "footnotes": _of("a.[1] "),
    "underscores": _of("_a*"),
}
"""Of ``size`` characters, or a few less."""
