"""What cuts, reads and lays out a text takes a time in proportion to it, whatever it says."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from random import Random
from time import process_time

import pytest
from campaigns import sampled
from hostile_texts import TEXTS

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

PAGES = {
    "cells": "<td></td>",
    "blank elements": "<b> </b>",
    "items": "<li>",
    "open tags": "<a ",
    "entities": "&nbsp;",
}


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
