"""A data set in the making: questions and texts as they are found, what is wrong with them, and what comes of it.

draft = Draft("musique", SetFiles(folder, (file,)))
number = draft.text("Ada Lovelace", "She wrote the first program.")
draft.question("dev.jsonl, line 1", Question(id="q1", text="…", answers=("Ada",)), [number])
draft.finish(file, limit=None, sample=None)

Also what a format of questions is, and how a corpus is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets.entries import Entry, UnusableError, Values
from kgplatform.evaluate.journal import write_whole
from kgplatform.evaluate.terms import DataSet, Question, Text
from kgplatform.readers.choices import check_choices, letter
from kgplatform.sources.corpus_file import shown
from kgplatform.text import counted, node_id, normalise_name


@dataclass(frozen=True, slots=True)
class SetFiles:
    """The files of one data set. ``folder``: where the questions lie, with what they may name beside them."""

    folder: Path
    questions: tuple[Path, ...]
    corpus: tuple[Path, ...] = ()
    recording: Path | None = None
    aliases: Path | None = None


@dataclass
class Draft:
    """What was found so far. ``apart``: as in ``DataSet``; a format sets it, at any time before the end.

    ``given``: a corpus that came with the questions; it takes the place of the questions' own texts unless they are
    apart. ``known``: numbers of texts by whatever a format knows them by.
    """

    name: str
    sources: SetFiles
    apart: bool = False
    given: tuple[Text, ...] | None = None
    known: dict[str, int] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    skipped: int = 0
    _faults: dict[str, None] = field(default_factory=dict)
    _stored: list[tuple[str, str | Callable[[], str]]] = field(default_factory=list)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _texts_of: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _by_id: dict[str, Question] = field(default_factory=dict)
    _copies: dict[str, int] = field(default_factory=dict)

    def fault(self, where: str, reason: str) -> None:
        """Report, once, what cannot be used; the question, if it is about one, stays."""
        self._faults[f"{where}: {reason}."] = None

    def skip(self, where: str, reason: str) -> None:
        """Report why a question is left out."""
        self.fault(where, f"{reason}; skipped")
        self.skipped += 1

    def text(self, title: str, text: str) -> int:
        """Put a text into the corpus, once; returns its number there."""
        if (title, text) not in self._numbers:
            self._numbers[title, text] = self.later(title, text)
        return self._numbers[title, text]

    def later(self, title: str, read: str | Callable[[], str]) -> int:
        """Put a text into the corpus that is read only if a question that was chosen is about it."""
        self._stored.append((title, read))
        return len(self._stored) - 1

    def question(self, where: str, question: Question, texts: Sequence[int] = ()) -> None:
        """Add a question about the texts with these numbers, or report why it cannot be asked."""
        try:
            question = _with_right_choice(question)
        except (InputError, UnusableError) as error:
            said = str(error).rstrip(".")
            self.skip(where, said[:1].lower() + said[1:])
            return
        if not (question.answers or question.placeholders) and question.answerable:
            if not question.supports:
                self.skip(where, "there is no answer")
                return
            self.fault(where, "there is no answer, so that only the retrieval of its passages is scored")
        if question == self._by_id.get(question.id):
            self.skip(where, f"the same question is there already, with the id {shown(question.id)}")
            return
        own = _free(question.id, self._by_id, self._copies)
        if own != question.id:
            self.fault(where, f"another question has the id {shown(question.id)} already; this one is called {own}")
        self._by_id[own] = replace(question, id=own)
        self._texts_of[own] = tuple(dict.fromkeys(texts))
        self.questions.append(self._by_id[own])

    def finish(self, path: Path, *, limit: int | None = None, sample: int | None = None) -> DataSet:
        """The data set, with the first ``limit`` questions, or ``sample`` of them (see ``_chosen``).

        Raises ``InputError`` if there is no question.
        """
        questions, corpus = _chosen(self.questions, limit, sample), self.given
        if self.apart:
            questions, corpus = self._apart(questions)
        elif corpus is None:
            corpus = tuple(Text(title, text) for title, text in self._stored if isinstance(text, str) and text)
        if not questions:
            first, *more = *self._faults, ""
            others = f" (and {counted(len(more) - 1, 'other fault')})" if len(more) > 1 else ""
            raise InputError(f"{path} has no question that can be used. {first}{others}".rstrip())
        if not self.apart:
            questions = _by_title(questions, corpus)
            self._report_missing(questions, corpus)
        return DataSet(
            self.name, tuple(questions), corpus, apart=self.apart, faults=tuple(self._faults), skipped=self.skipped
        )

    def _report_missing(self, questions: Iterable[Question], corpus: Sequence[Text]) -> None:
        titles = {document.title for document in corpus}
        lacking = (
            [question.id for question in questions if any(s.title not in titles for s in question.supports)]
            if titles
            else []
        )
        if lacking:
            self.fault(
                self.name,
                f"of {counted(len(lacking), 'question')} a supporting passage is not in the corpus, so that it cannot "
                f"be found; the first is {shown(lacking[0])}",
            )

    def _apart(self, questions: Sequence[Question]) -> tuple[list[Question], tuple[Text, ...]]:
        """The questions with the titles of their texts, and just these texts, each under a title of its own."""
        needed = sorted({number for each in questions for number in self._texts_of[each.id]})
        contents = {number: content for number in needed if (content := self._content(number)) is not None}
        titles: dict[int, str] = {}
        taken: set[str] = set()
        copies: dict[str, int] = {}
        for number in needed:
            titles[number] = _free(self._stored[number][0], taken, copies)
            taken.add(titles[number])
        usable = []
        for question in questions:
            if contents.keys() >= set(self._texts_of[question.id]):
                usable.append(self._asked(question, titles))
            else:
                self.skip(shown(question.id), "a text that it is about cannot be used")
        asked = {title for each in usable for title in each.within}
        return usable, tuple(Text(titles[at], contents[at]) for at in needed if titles[at] in asked)

    def _content(self, number: int) -> str | None:
        """The text with this number, None if it cannot be read or is empty."""
        title, text = self._stored[number]
        try:
            content = text if isinstance(text, str) else text()
            if not content.strip():
                raise UnusableError("its text is empty")
        except UnusableError as error:
            self.fault(shown(title), str(error))
            return None
        return content

    def _asked(self, question: Question, titles: dict[int, str]) -> Question:
        numbers = [self._numbers.get((support.title, support.text), -1) for support in question.supports]
        supports = [
            Text(titles[number]) if number in titles else each
            for number, each in zip(numbers, question.supports, strict=True)
        ]
        within = tuple(titles[number] for number in self._texts_of[question.id])
        return replace(question, within=within, supports=tuple(supports))


def _chosen(questions: Sequence[Question], limit: int | None, sample: int | None) -> list[Question]:
    """The first ``limit`` questions; or ``sample`` of them, in the order of the file: those whose ids have the least
    hashes, so that a larger sample holds a smaller one, whatever stands beside them in the file.
    """
    if sample is None or sample >= len(questions):
        return list(questions[:limit])
    drawn = sorted(questions, key=lambda each: (node_id("sample", each.id), each.id))[:sample]
    ids = {each.id for each in drawn}
    return [question for question in questions if question.id in ids]


def _by_title(questions: Iterable[Question], corpus: Iterable[Text]) -> list[Question]:
    """Supports without their texts where their titles identify them: white space in them cannot mislead then."""
    texts: dict[str, list[str]] = {}
    for document in corpus:
        texts.setdefault(document.title, []).append(document.text)

    def short(support: Text) -> Text:
        return Text(support.title) if texts.get(support.title) == [support.text] else support

    return [replace(question, supports=tuple(map(short, question.supports))) for question in questions]


def _with_right_choice(question: Question) -> Question:
    """``question`` with its right answers spelled as among the choices; given by its words, or else by its letter."""
    if not question.choices:
        return question
    check_choices(question.choices)
    if not question.answerable:
        return question
    if not question.answers:
        raise UnusableError("no choice is marked as the right one")
    spelled = {normalise_name(choice): choice for choice in question.choices}
    right = tuple(spelled[key] for key in map(normalise_name, question.answers) if key in spelled)
    if not right:
        letters = {letter(number): choice for number, choice in enumerate(question.choices)}
        right = tuple(letters[answer] for answer in question.answers if answer in letters)
    if not right:
        raise UnusableError(f"its answer {shown(question.answers[0])} is none of the choices")
    return replace(question, answers=tuple(dict.fromkeys(right)))


def _free(name: str, taken: Container[str], copies: dict[str, int]) -> str:
    """``name``, or "name (2)" … if that is ``taken``. ``copies``: the last number of each, to continue from there."""
    own, copy = name, copies.get(name, 1)
    while own in taken:
        copy += 1
        own = f"{name} ({copy})"
    copies[name] = copy
    return own


ReadEntry = Callable[[Entry], None]
"""Reads one object into the draft; raises ``UnusableError`` for one that is not a question."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format. ``expects``: the keys by which it is known, for people. ``fits``: whether an object is of it.

    ``begin``: what is needed before the first object; returns the reader of objects. ``several``: whether its
    questions are published in several files that belong together. ``apart``: as in ``DataSet``.
    """

    name: str
    expects: str
    fits: Callable[[Values], bool]
    begin: Callable[[Draft], ReadEntry]
    several: bool = False
    apart: bool = False


def write_corpus(dataset: DataSet, file: Path) -> Path:
    """Write the corpus of ``dataset`` for ``ingest``, an object with title and text a line; returns ``file``.

    The file is written whole or not at all. Raises ``KgError`` where that fails.
    """
    return write_lines(file, ({"title": document.title, "text": document.text} for document in dataset.corpus))


def write_lines(file: Path, values: Iterable[dict[str, Any]]) -> Path:
    """Write one JSON object a line, all or none. Raises ``KgError`` where that fails."""
    lines = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    write_whole(file, lines.encode(), kept="Nothing was changed")
    return file
