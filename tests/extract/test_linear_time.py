"""What cuts, reads and lays out a text takes a time in proportion to it, whatever it says."""

import hashlib
from collections.abc import Callable, Sequence
from random import Random
from time import process_time

import pytest
from campaigns import sampled

from kgplatform.extract.local import LocalExtractor
from kgplatform.extract.schema import load_schema
from kgplatform.ingest.window import Reading
from kgplatform.records import Document
from kgplatform.sources.cut import cut_document
from kgplatform.sources.html_text import html_tree, main_text

SEED = 20
GROWTH = 1.2
TIMES = 50
SMALL = 2000
GENERAL = load_schema("general")


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

PAGES = {"cells": "<td></td>", "blank elements": "<b> </b>", "items": "<li>", "open tags": "<a ", "entities": "&nbsp;"}


def took(work: Callable[[], object], times: int) -> float:
    """The least processor time of several runs."""
    seconds = []
    for _ in range(times):
        start = process_time()
        work()
        seconds.append(process_time() - start)
    return min(seconds)


def exponent(work: Callable[[int], Callable[[], object]]) -> float:
    """By which power of its size the work grows over a fiftyfold; a small one is measured several times."""
    from math import log

    small, large = work(SMALL), work(SMALL * TIMES)
    least = took(large, 1), took(small, 5)
    for _ in range(2):  # on a busy machine the caches are others' too
        if log(least[0] / least[1], TIMES) > GROWTH:
            least = min(least[0], took(large, 1)), least[1]
    return log(least[0] / least[1], TIMES)


def reading(name: str, size: int) -> Callable[[], object]:
    text = TEXTS[name](Random(SEED), size)
    assert size - 60 <= len(text) <= size, len(text)
    document = Document("d", "Notes", "file:///n", "file:///n", text, hashlib.sha256(text.encode()).hexdigest())

    def read() -> None:
        how = Reading(LocalExtractor(), GENERAL, "flexible")
        for passage in cut_document(document, 400):
            how.read(passage, document, GENERAL)

    return read


@pytest.mark.long
@pytest.mark.parametrize("name", sampled(list(TEXTS)))
def test_cutting_and_reading_grow_with_the_text(name: str) -> None:
    assert exponent(lambda size: reading(name, size)) <= GROWTH


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_laying_out_a_page_grows_with_the_page(name: str) -> None:
    def work(size: int) -> Callable[[], object]:
        unit = PAGES[name]
        source = f"<html><body>{unit * (size // len(unit))}x</body></html>".encode()
        return lambda: main_text(html_tree(source))

    assert exponent(work) <= GROWTH
