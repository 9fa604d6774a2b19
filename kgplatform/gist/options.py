"""The options of ``kgplatform gist``, with the paper's sizes as presets (Table 10), and what a run reports."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from kgplatform.errors import InputError
from kgplatform.records import Usage
from kgplatform.shown import Shown
from kgplatform.text import tidy, unknown

Style = Literal["prose", "turns", "scenes"]
"""What begins a paragraph besides a blank line: nothing; whoever speaks next; the next scene."""
_MERGED_PAGES = 3  # the longest page that merging makes, in times ``max_words``
SHRINK = ("merge", "older")


@dataclass(frozen=True, slots=True)
class Preset:
    """A row of the paper's Table 10, and what its texts are like. ``noun``: what a prompt calls the text.

    ``pause`` and ``gist`` are rules of the prompts for such texts. ``part``: of the words of a page, the part that its
    gist is asked to have: 6 for a sixth. ``shows_last_page``: the prompt for a pause shows the page before, which
    helped with transcripts and nothing else (appendix E).
    """

    max_words: int
    min_words: int
    noun: str
    style: Style = "prose"
    whole_lines: bool = False
    shows_last_page: bool = False
    pause: str = ""
    gist: str = ""
    part: int = 6


PRESETS = {
    "report": Preset(
        600,
        280,
        "a report",
        pause="Where a section begins, pause before its number and its title, which belong to it. A table and what is "
        "said of it stay together.",
        gist="Keep each figure with its unit and with what it measures, each date, and what is found, decided or "
        "demanded, and by whom.",
        part=4,
    ),
    "article": Preset(600, 280, "an article or a story"),
    "book": Preset(
        3000,
        500,
        "a book",
        pause="Where a chapter or a section begins, pause before its number and its title, which belong to it.",
        part=10,
    ),
    "script": Preset(
        1000,
        600,
        "a film script",
        style="scenes",
        whole_lines=True,
        pause="Where a scene begins, pause before its heading.",
        gist="Give people their full names. Where nothing of meaning happens, write: Nothing of importance happens.",
        part=8,
    ),
    "transcript": Preset(
        600,
        280,
        "the transcript of a meeting",
        style="turns",
        shows_last_page=True,
        gist="Say who said, asked, proposed or decided what.",
    ),
}
"""By name. QuALITY: ``article``; NarrativeQA: ``book`` and ``script``; QMSum: ``transcript``. ``report`` is ours."""
USUAL = "report"


@dataclass(frozen=True, slots=True)
class GistOptions:
    """How pages are made and shortened; ``GistOptions.of`` reads what a user gave.

    ``question``: '' for a memory that suits any question (appendix F). ``fit``: the most tokens of a document's gists;
    ``shrink``: what is done where there are more, "merge" pages (appendix I) or shorten "older" gists again (F.3).
    """

    preset: str = USUAL
    min_words: int = 280
    max_words: int = 600
    uniform: bool = False
    question: str = ""
    instruction: str = ""
    fit: int | None = None
    shrink: str = "merge"

    @classmethod
    def of(
        cls,
        preset: str = USUAL,
        min_words: int | None = None,
        max_words: int | None = None,
        *,
        uniform: bool = False,
        question: str | None = None,
        instruction: str = "",
        fit: int | None = None,
        shrink: str = "merge",
    ) -> GistOptions:
        """The options, checked. ``max_words`` alone scales the preset's ``min_words`` with it, as the paper does (Table
        6). Raises ``InputError``."""
        if preset not in PRESETS:
            raise InputError(unknown("preset", preset, PRESETS))
        if shrink not in SHRINK:
            raise InputError(unknown("shrink", shrink, SHRINK))
        for name, value in (("min_words", min_words), ("max_words", max_words), ("fit", fit)):
            if value is not None and value < 1:
                raise InputError(f"{name} is {value}: it must be 1 or more.", name)
        known = PRESETS[preset]
        most = known.max_words if max_words is None else max_words
        least = max(1, round(known.min_words * most / known.max_words)) if min_words is None else min_words
        if least > most:
            said = f"A page cannot have at least {least} and at most {most} words. Give max_words too."
            raise InputError(said, "max_words")
        asked = "" if question is None else tidy(question)
        if question is not None and not asked:
            raise InputError("The question is empty. Write one, or leave it out.")
        return cls(preset, least, most, uniform, asked, tidy(instruction), fit, shrink)

    @property
    def kind(self) -> Preset:
        """The preset, for what its texts are like; the sizes are those of the options."""
        return PRESETS[self.preset]

    @property
    def longest_paragraph(self) -> int:
        """Words of the longest paragraph that is not cut. What is collected, if too short for a page, has room for one
        more: so no page is longer than ``max_words`` for want of a place to pause. Uniform pages need places closer by.
        """
        room = self.max_words - self.min_words
        return max(1, room // 2 if self.uniform else room)

    @property
    def longest_merged(self) -> int:
        """Words of the longest page that merging makes."""
        return _MERGED_PAGES * self.max_words

    @property
    def made(self) -> str:
        """What boundaries and gists depend on, as one string. The question is part of the memory's identity instead."""
        sizes = {"min": self.min_words, "max": self.max_words, "uniform": self.uniform}
        made = {"preset": self.preset, **sizes, "instruction": self.instruction}
        return json.dumps(made, ensure_ascii=False, sort_keys=True)

    @property
    def made_to_fit(self) -> str:
        """The same, for a memory that had to be made to fit."""
        fitted = {**json.loads(self.made), "fit": self.fit, "shrink": self.shrink}
        return json.dumps(fitted, ensure_ascii=False, sort_keys=True)

    @property
    def accepted(self) -> tuple[str, ...]:
        """What memories that may stay as they are say of themselves."""
        return (self.made,) if self.fit is None else (self.made, self.made_to_fit)


@dataclass(frozen=True, slots=True)
class FailedPage:
    """A page that could not be gisted, or could not be found an end for; the next run tries again."""

    document: str
    page: int
    reason: str


@dataclass(frozen=True, slots=True)
class LongMemory:
    """A document whose gists have more tokens than was asked for, whatever was done."""

    document: str
    gist_tokens: int


@dataclass(frozen=True, slots=True, repr=False)
class GistReport(Shown):
    """What a run did, and how the memories of the documents named are after it.

    ``kept``: gists that were there before; ``written``: gists of pages that had none; ``shortened``: gists that were
    shortened once more. ``gisted_words``: of the pages that have a gist; ``words`` of all. ``flags``: gists that are
    not the model's. ``merged``: what came of the questions about pages that follow each other, and the pairs that were
    merged for being the shortest. ``replaced``: documents whose pages were made in another way before.
    """

    preset: str
    min_words: int
    max_words: int
    uniform: bool
    question: str
    documents: int = 0
    complete_documents: int = 0
    replaced: int = 0
    pages: int = 0
    pages_new: int = 0
    written: int = 0
    kept: int = 0
    shortened: int = 0
    words: int = 0
    gisted_words: int = 0
    gist_words: int = 0
    gist_tokens: int = 0
    flags: Counter[str] = field(default_factory=Counter)
    malformed: Counter[str] = field(default_factory=Counter)
    merged: Counter[str] = field(default_factory=Counter)
    failed: list[FailedPage] = field(default_factory=list)
    too_long: list[LongMemory] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    stopped: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do for these documents."""
        return not (self.stopped or self.failed or self.too_long) and self.complete_documents == self.documents

    @property
    def compression(self) -> float | None:
        """Percent of the words that the gists save, of the pages that have one (section 4.1); None without any."""
        return 100 * (1 - self.gist_words / self.gisted_words) if self.gisted_words else None
