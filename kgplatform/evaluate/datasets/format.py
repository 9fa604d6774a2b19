"""What a format of questions is: how to know it, and how to read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kgplatform.evaluate.datasets.draft import Draft
from kgplatform.evaluate.datasets.entries import Entry
from kgplatform.evaluate.datasets.fields import Values


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of one data set. ``folder``: where the questions lie, with what they may name beside them."""

    folder: Path
    questions: tuple[Path, ...]
    corpus: tuple[Path, ...] = ()
    recording: Path | None = None
    aliases: Path | None = None


ReadEntry = Callable[[Entry], None]
"""Reads one object into the draft; raises ``UnusableError`` for one that is no question."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format. ``expects``: the keys by which it is known, for people. ``fits``: whether an object is of it.

    ``begin``: what is needed before the first object; returns the reader of objects. ``several``: whether its
    questions are published in several files that belong together.
    """

    name: str
    expects: str
    fits: Callable[[Values], bool]
    begin: Callable[[Sources, Draft], ReadEntry]
    several: bool = False
