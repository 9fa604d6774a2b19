"""A data set in the making: questions and texts as they are found, what is wrong with them, and what comes of it.

draft = Draft("musique")
number = draft.text("Ada Lovelace", "She wrote the first program.")
draft.question("dev.jsonl, line 1", Question(id="q1", text="…", answers=("Ada",)), [number])
draft.finish(limit=None, sample=None)

Also what a format of questions is, and how a corpus is written.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets.entries import Entry, shown
from kgplatform.evaluate.datasets.fields import UnusableError, Values
from kgplatform.evaluate.results import DataSet, Question, Text
from kgplatform.readers.choices import check_choices
from kgplatform.text import counted, node_id, normalise_name

ReadText = Callable[[], str]


@dataclass(slots=True)
class _Stored:
    title: str
    content: str | ReadText


class Draft:
    """What was found so far. ``apart``: as in ``DataSet``; a format sets it, at any time before the end.

    ``given``: a corpus that came with the questions; it takes the place of the questions' own texts unless they are
    apart.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.apart = False
        self.given: tuple[Text, ...] | None = None
        self.recording: Path | None = None
        self.questions: list[Question] = []
        self.skipped = 0
        self._faults: dict[str, None] = {}
        self._stored: list[_Stored] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._texts_of: dict[str, tuple[int, ...]] = {}
        self._by_id: dict[str, Question] = {}
        self._copies: dict[str, int] = {}

    # ---------------------------------------------------------------------------------------- as it is found

    def fault(self, where: str, reason: str) -> None:
        """Tell, once, what cannot be used; the question, if it is about one, stays."""
        self._faults[f"{where}: {reason}."] = None

    def skip(self, where: str, reason: str, questions: int = 1) -> None:
        """Tell why ``questions`` of the file are left out."""
        self._faults[f"{where}: {reason}; skipped."] = None
        self.skipped += questions

    def text(self, title: str, text: str) -> int:
        """Put a text into the corpus, once; returns its number there."""
        if (title, text) not in self._numbers:
            self._numbers[title, text] = self.later(title, text)
        return self._numbers[title, text]

    def later(self, title: str, read: str | ReadText) -> int:
        """Put a text into the corpus that is read only if a question that was chosen is about it."""
        self._stored.append(_Stored(title, read))
        return len(self._stored) - 1

    def question(self, where: str, question: Question, texts: Sequence[int] = ()) -> None:
        """Add a question about the texts with these numbers, or tell why it cannot be asked."""
        try:
            question = _with_right_choice(question)
        except (InputError, UnusableError) as error:
            self.skip(where, _lowered(str(error)))
            return
        if not (question.answers or question.placeholders) and question.answerable:
            if not question.supports:
                self.skip(where, "there is no answer")
                return
            self.fault(where, "there is no answer, so that only the retrieval of its passages is scored")
        if question == self._by_id.get(question.id):
            self.skip(where, f"the same question stands there before, with the id {shown(question.id)}")
            return
        question = self._with_own_id(where, question)
        self._by_id[question.id] = question
        self._texts_of[question.id] = tuple(dict.fromkeys(texts))
        self.questions.append(question)

    def _with_own_id(self, where: str, question: Question) -> Question:
        if question.id not in self._by_id:
            return question
        renamed = _free(question.id, self._by_id, self._copies)
        self.fault(where, f"another question has the id {shown(question.id)} already; this one is called {renamed}")
        return replace(question, id=renamed)

    # ------------------------------------------------------------------------------------------ what comes of it

    def finish(self, path: Path, *, limit: int | None = None, sample: int | None = None) -> DataSet:
        """The data set, with the first ``limit`` questions, or ``sample`` of them (see ``chosen``).

        Raises ``InputError`` if there is no question.
        """
        self._refuse_none(path)
        questions: tuple[Question, ...]
        if self.apart:
            questions, corpus = self._apart(chosen(self.questions, limit, sample))
            self._refuse_none(path, questions)
        else:
            corpus = self._pooled()
            questions = self._by_title(chosen(self.questions, limit, sample), corpus)
            self._tell_missing(questions, corpus)
        return DataSet(
            name=self.name,
            questions=questions,
            corpus=corpus,
            recording=self.recording,
            apart=self.apart,
            faults=tuple(self._faults),
            skipped=self.skipped,
        )

    def _refuse_none(self, path: Path, questions: Collection[Question] | None = None) -> None:
        if not (self.questions if questions is None else questions):
            first = next(iter(self._faults), "")
            others = f" (and {counted(len(self._faults) - 1, 'other fault')})" if len(self._faults) > 1 else ""
            raise InputError(f"{path} has no question that can be used. {first}{others}".rstrip())

    def _pooled(self) -> tuple[Text, ...]:
        if self.given is not None:
            return self.given
        found = (Text(each.title, each.content) for each in self._stored if isinstance(each.content, str))
        return tuple(each for each in found if each.text)

    def _by_title(self, questions: Iterable[Question], corpus: Iterable[Text]) -> tuple[Question, ...]:
        """Supports without their texts where their titles tell them: white space in them cannot mislead then."""
        texts: dict[str, list[str]] = {}
        for each in corpus:
            texts.setdefault(each.title, []).append(each.text)

        def short(support: Text) -> Text:
            return Text(support.title) if texts.get(support.title) == [support.text] else support

        return tuple(replace(each, supports=tuple(map(short, each.supports))) for each in questions)

    def _tell_missing(self, questions: Iterable[Question], corpus: Collection[Text]) -> None:
        titles = {each.title for each in corpus}
        lacking = [each.id for each in questions if any(s.title not in titles for s in each.supports)] if titles else []
        if lacking:
            self.fault(
                self.name,
                f"of {counted(len(lacking), 'question')} a supporting passage is not in the corpus, so that it cannot "
                f"be found; the first is {shown(lacking[0])}",
            )

    def _apart(self, questions: Sequence[Question]) -> tuple[tuple[Question, ...], tuple[Text, ...]]:
        """The questions with the titles of their texts, and just these texts, each under a title of its own."""
        needed = sorted({number for each in questions for number in self._texts_of[each.id]})
        contents = {number: self._content(number) for number in needed}
        titles = _unique({number: self._stored[number].title for number in needed})
        usable = tuple(self._asked(each, titles) for each in questions if self._is_whole(each, contents))
        asked = {number for each in usable for number in self._texts_of[each.id]}
        corpus = tuple(Text(titles[number], contents[number] or "") for number in needed if number in asked)
        return usable, corpus

    def _content(self, number: int) -> str | None:
        """The text with this number, None if it cannot be read or is empty."""
        stored = self._stored[number]
        try:
            content = stored.content if isinstance(stored.content, str) else stored.content()
        except UnusableError as error:
            self.fault(shown(stored.title), str(error))
            return None
        if not content.strip():
            self.fault(shown(stored.title), "its text is empty")
            return None
        return content

    def _is_whole(self, question: Question, contents: dict[int, str | None]) -> bool:
        if all(contents[number] is not None for number in self._texts_of[question.id]):
            return True
        self.skip(shown(question.id), "a text that it is about cannot be used")
        return False

    def _asked(self, question: Question, titles: dict[int, str]) -> Question:
        def renamed(support: Text) -> Text:
            number = self._numbers.get((support.title, support.text))
            return Text(titles[number]) if number in titles else support

        within = tuple(titles[number] for number in self._texts_of[question.id])
        return replace(question, within=within, supports=tuple(map(renamed, question.supports)))


def chosen(questions: Sequence[Question], limit: int | None, sample: int | None) -> list[Question]:
    """The first ``limit`` questions; or ``sample`` of them, in the order of the file: those whose ids have the least
    hashes, so that a larger sample holds a smaller one, whatever stands beside them in the file.
    """
    if sample is None or sample >= len(questions):
        return list(questions[:limit])
    drawn = sorted(questions, key=lambda each: (node_id("sample", each.id), each.id))[:sample]
    ids = {each.id for each in drawn}
    return [each for each in questions if each.id in ids]


def _with_right_choice(question: Question) -> Question:
    """``question`` with its right answers spelled as among the choices."""
    if not question.choices:
        return question
    check_choices(question.choices)
    if not question.answerable:
        return question
    if not question.answers:
        raise UnusableError("no choice is told to be the right one")
    spelled = {normalise_name(each): each for each in question.choices}
    right = tuple(spelled[key] for key in map(normalise_name, question.answers) if key in spelled)
    if not right:
        raise UnusableError(f"its answer {shown(question.answers[0])} is none of the choices")
    return replace(question, answers=tuple(dict.fromkeys(right)))


def _unique(titles: dict[int, str]) -> dict[int, str]:
    """A title for each number; the second of the same is "Title (2)"."""
    taken: set[str] = set()
    copies: dict[str, int] = {}
    found: dict[int, str] = {}
    for number, title in titles.items():
        found[number] = _free(title, taken, copies)
        taken.add(found[number])
    return found


def _free(name: str, taken: Container[str], copies: dict[str, int]) -> str:
    """``name``, or "name (2)" … if that is ``taken``. ``copies``: the last number of each, to go on from there."""
    own, copy = name, copies.get(name, 1)
    while own in taken:
        copy += 1
        own = f"{name} ({copy})"
    copies[name] = copy
    return own


def _lowered(sentence: str) -> str:
    return (sentence[:1].lower() + sentence[1:]).rstrip(".")


# -------------------------------------------------------------------------------------------------------------- formats


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


# -------------------------------------------------------------------------------------------------------------- writing


def write_corpus(dataset: DataSet, file: Path) -> Path:
    """Write the corpus of ``dataset`` for ``ingest``, an object with title and text a line; returns ``file``.

    The file is written whole or not at all. Raises ``InputError`` where that fails.
    """
    return write_lines(file, ({"title": each.title, "text": each.text} for each in dataset.corpus))


def write_lines(file: Path, values: Iterable[dict[str, Any]]) -> Path:
    """Write one JSON object a line. Raises ``InputError`` where that fails."""
    temporary = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            for each in values:
                stream.write(json.dumps(each, ensure_ascii=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(file)
    except OSError as error:
        with suppress(OSError):
            Path(temporary).unlink()
        raise InputError(f"{file} cannot be written: {(error.strerror or str(error)).lower()}.") from error
    return file
