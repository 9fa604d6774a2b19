"""What is asked in an evaluation, whatever data set or generator it comes from.

question = Question(id="q1", text="Who laid the first cable?", answers=("Cyrus Field",), kind="who")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


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
    ``recording``: an extraction made elsewhere, of just these texts. ``apart``: each question is about its own texts
    (``within``) alone, and a graph that holds others too would be another task. ``faults``: what could not be used,
    a sentence each, with the place where it stands; ``skipped``: how many questions that were. ``text_of``: in place
    of a ``corpus`` that is too large to be held, makes the text of a title, the same each time.
    """

    name: str
    questions: tuple[Question, ...]
    corpus: tuple[Text, ...] = ()
    recording: Path | None = None
    apart: bool = False
    faults: tuple[str, ...] = field(default=())
    skipped: int = 0
    text_of: Callable[[str], Text] | None = None

    def texts_of(self, question: Question) -> tuple[Text, ...]:
        """The texts that ``question`` is about, in the order in which it names them."""
        if self.text_of is not None:
            return tuple(map(self.text_of, question.within))
        by_title = {each.title: each for each in self.corpus}
        return tuple(by_title[title] for title in question.within)
