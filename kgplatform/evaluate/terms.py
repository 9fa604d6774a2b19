"""What is asked in an evaluation, and what it comes to: every answer with its scores, the scores of every setup, and
who is better.

    question = Question(id="q1", text="Who laid the first cable?", answers=("Cyrus Field",), kind="who")

All scores are shares from 0 to 1; they are shown as percent. Nothing here depends on the clock: what time and money
a run took is in ``Timing``, apart, so that the same questions give the same results, to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from kgplatform.records import Usage

PLACEHOLDER = re.compile(r"\[([^\W\d_](?:\w*[^\W_])?)#(\d{1,9})\]")
"""What stands for a hidden name, ``[PERSON#12]``: its label and its number."""


def first_of(lines: Sequence[str], most: int) -> list[str]:
    """The first ``most`` of ``lines``, and how many more there are."""
    more = len(lines) - most
    return [*lines[:most], *([f"… and {more:,} more."] if more > 0 else [])]


def file_name(uri: str) -> str:
    """The name of the file at ``uri``, by which a question may name a document; empty for a part of a file."""
    address = urlsplit(uri)
    return "" if address.fragment else unquote(address.path.rsplit("/", 1)[-1])


@dataclass(frozen=True, slots=True)
class Text:
    """A text with its title: one of a corpus, or the passage that supports an answer.

    Of a supporting passage ``text`` may be empty: then the title alone tells it.
    """

    title: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question with all that its data set knows of it.

    ``answers``: each of them is right; empty only where the texts hold no answer (``answerable`` is False) or where
    nothing but retrieval can be scored. ``keywords``: the answer's essential words (LV-Eval). ``choices``: the answers
    to choose from, the right one among ``answers``. ``supports``: the passages that are needed. ``facts``: the
    statements that are needed, in words. ``parts``: the question taken apart by people, with the answers to earlier
    parts filled in. ``within``: titles of the texts that the question is about; empty: the whole graph. ``kind``: what
    the data set calls this sort of question.
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    supports: tuple[Text, ...] = ()
    facts: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    kind: str = ""
    answerable: bool = True
    placeholders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataSet:
    """Questions with the corpus that they are about.

    ``name``: "musique", "own" … ``corpus``: the texts to be ingested, each once; empty: the graph that is there.
    ``apart``: each question is about its own texts
    (``within``) alone, and a graph that holds others too would be another task. ``faults``: what could not be used,
    a sentence each, with the place where it stands; ``skipped``: how many questions that were. ``text_of``: in place
    of a ``corpus`` that is too large to be held, makes the text of a title, the same each time.
    """

    name: str
    questions: tuple[Question, ...]
    corpus: tuple[Text, ...] = ()
    apart: bool = False
    faults: tuple[str, ...] = field(default=())
    skipped: int = 0
    text_of: Callable[[str], Text] | None = None

    def texts_of(self, question: Question) -> tuple[Text, ...]:
        """The texts that ``question`` is about, in the order in which it names them."""
        if self.text_of is not None:
            return tuple(map(self.text_of, question.within))
        by_title = {document.title: document for document in self.corpus}
        return tuple(by_title[title] for title in question.within)


@dataclass(frozen=True, slots=True)
class Build:
    """How the graph of a setup is built, where that is not as by default; part of what an ablation may vary.

    ``gist``: the options of ``KnowledgeGraph.gist`` (preset, min_words, max_words, uniform, fit, shrink).
    """

    passage_tokens: int | None = None
    extractor: str | None = None
    schema: str | None = None
    mode: str | None = None
    gist: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setup:
    """One way to answer: a reader with its options over a graph built in one way. ``name`` is unique and is shown."""

    name: str
    reader: str
    options: Mapping[str, Any] = field(default_factory=dict)
    build: Build = Build()


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer to one question. ``text`` is None where the reader failed, and ``error`` says why.

    ``scores``: by metric; a metric that does not apply to the question is missing. ``spent``: by stage, as if nothing
    came from a cache.
    """

    question: str
    kind: str
    setup: str
    text: str | None
    error: str | None
    refused: bool
    scores: Mapping[str, float]
    spent: Mapping[str, Usage]

    @property
    def total(self) -> Usage:
        """What all stages spent."""
        return sum(self.spent.values(), Usage())


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over ``count`` questions with the bounds of its 95 % confidence interval (bootstrap)."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class SetupScores:
    """The scores of one setup: over all questions, and by kind of question. ``failed``: how many had no answer."""

    setup: Setup
    scores: Mapping[str, Mean]
    by_kind: Mapping[str, Mapping[str, Mean]]
    spent: Mapping[str, Usage]
    answered: int
    failed: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two setups compared on the questions that both were scored on, by one metric.

    ``difference``: mean of first minus second; ``p``: of a two-sided paired test, ``adjusted`` for the number of
    comparisons (Holm).
    """

    metric: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    count: int


@dataclass(frozen=True, slots=True)
class Results:
    """All of it. ``metrics``: the names of those that were computed, the chief one first. ``notes``: what a person
    must know to read the figures, a sentence each. ``embedder``: the model that the stage embed is paid for."""

    dataset: str
    questions: int
    skipped: int
    model: str
    raters: Mapping[str, str]
    metrics: tuple[str, ...]
    setups: tuple[SetupScores, ...]
    pairs: tuple[Pair, ...]
    answers: tuple[Scored, ...]
    notes: tuple[str, ...] = ()
    embedder: str = ""


@dataclass(frozen=True, slots=True)
class Timing:
    """What it took, which no two runs do alike. ``seconds``: by setup, the seconds of each question by its id.

    ``construction``: by graph, what all runs spent on building it, by stage; ``rating``: likewise, by rater.
    ``cached``: by setup, how many of its questions took replies from the cache, so that they took less than the model.
    """

    seconds: Mapping[str, Mapping[str, float]]
    construction: Mapping[str, Mapping[str, Usage]] = field(default_factory=dict)
    rating: Mapping[str, Usage] = field(default_factory=dict)
    cached: Mapping[str, int] = field(default_factory=dict)
