"""A data set in the making: questions and texts as they are found, what is wrong with them, and what comes of it.

draft = Draft("musique")
number = draft.text("Ada Lovelace", "She wrote the first program.")
draft.question("dev.jsonl, line 1", Question(id="q1", text="…", answers=("Ada",)), [number])
draft.finish(file, limit=None, sample=None)
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets.entries import UnusableError
from kgplatform.evaluate.terms import DataSet, Question, Text
from kgplatform.readers.choices import check_choices, letter
from kgplatform.sources.corpus_file import shown
from kgplatform.text import counted, node_id, normalise_name


@dataclass
class Draft:
    """What was found so far. ``apart``: as in ``DataSet``; a format sets it, at any time before the end.

    ``given``: a corpus that came with the questions; it takes the place of the questions' own texts unless they are
    apart.
    """

    name: str
    given: tuple[Text, ...] | None = None
    apart: bool = False
    questions: list[Question] = field(default_factory=list)
    skipped: int = 0
    _faults: dict[str, None] = field(default_factory=dict)
    _numbers: dict[Text, int] = field(default_factory=dict)
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
        return self._numbers.setdefault(Text(title, text), len(self._numbers))

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
        questions = _chosen(self.questions, limit, sample)
        if not questions:
            first, *more = *self._faults, ""
            others = f" (and {counted(len(more) - 1, 'other fault')})" if len(more) > 1 else ""
            raise InputError(f"{path} has no question that can be used. {first}{others}".rstrip())
        if self.apart:
            questions, corpus = self._apart(questions)
        else:
            corpus = tuple(text for text in self._numbers if text.text) if self.given is None else self.given
            questions = _by_title(questions, corpus)
            self._report_missing(questions, {text.title for text in corpus})
        return DataSet(
            self.name, tuple(questions), corpus, apart=self.apart, faults=tuple(self._faults), skipped=self.skipped
        )

    def _report_missing(self, questions: Iterable[Question], titles: set[str]) -> None:
        lacking = [each.id for each in questions if any(support.title not in titles for support in each.supports)]
        if titles and lacking:
            self.fault(
                self.name,
                f"of {counted(len(lacking), 'question')} a supporting passage is not in the corpus, so that it cannot "
                f"be found; the first is {shown(lacking[0])}",
            )

    def _apart(self, questions: Sequence[Question]) -> tuple[list[Question], tuple[Text, ...]]:
        """The questions with the titles of their texts, and just these texts, each under a title of its own."""
        texts = list(self._numbers)
        titles: dict[int, str] = {}
        taken: set[str] = set()
        copies: dict[str, int] = {}
        for number in sorted({number for each in questions for number in self._texts_of[each.id]}):
            titles[number] = _free(texts[number].title, taken, copies)
            taken.add(titles[number])

        def asked(question: Question) -> Question:
            numbers = [self._numbers.get(support, -1) for support in question.supports]
            supports = [
                Text(titles[number]) if number in titles else support
                for number, support in zip(numbers, question.supports, strict=True)
            ]
            within = tuple(titles[number] for number in self._texts_of[question.id])
            return replace(question, within=within, supports=tuple(supports))

        corpus = tuple(Text(title, texts[number].text) for number, title in titles.items())
        return list(map(asked, questions)), corpus


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
    letters = {letter(number): choice for number, choice in enumerate(question.choices)}
    right = [spelled[key] for key in map(normalise_name, question.answers) if key in spelled]
    right = right or [letters[answer] for answer in question.answers if answer in letters]
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
