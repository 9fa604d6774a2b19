"""The readers ``chunkread`` and ``chunknotes``: all passages, one after the other (GraphReader, appendix D).

``chunkread`` sees one passage at a time and stops at the first that answers the question. ``chunknotes`` carries brief
notes on from passage to passage. Nothing is left out: a passage that is larger than the window is read in parts. That
costs a call for every passage up to the answer; ``calls`` bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kgplatform.prompt import Messages, render
from kgplatform.readers.answer import NONE, fence_for, without_model
from kgplatform.readers.calls import Calls, StepFound
from kgplatform.readers.marked import (
    LARGEST_FENCE,
    Said,
    ask_marked,
    asked,
    finish,
    read_reply,
    room_for,
)
from kgplatform.readers.reader import AnswerMode, Reader, check, mode_option, option, window_option
from kgplatform.readers.run import Run
from kgplatform.readers.window import cut, head
from kgplatform.records import Answer, FoundPassage, QueryRun
from kgplatform.retrieve.evidence import Evidence

_PROMPT, _PROMPT_WITH_NOTES = "baselines/chunk_read", "baselines/chunk_notes"
_MARKS = "[answerable] and the answer, or [unanswerable]"
_PAGE = 100
"""Passages that are read from the graph at once."""

_NOTES_SHARE = 8
"""Of the window, the part that notes may fill."""

_NOTED = 20
"""Passages with something to note that are kept as evidence: the last ones."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works: at most ``calls`` calls to the model, by default as many as there are passages."""

    mode: AnswerMode = mode_option()
    calls: int | None = option(None, "the most calls to the model, by default as many as the text needs", least=1)
    window_tokens: int = window_option()

    def __post_init__(self) -> None:
        check(self)


def answer(question: str, run: Run, options: Options) -> Answer:
    """Chunk Read: each passage by itself, until one answers. Raises ``ModelError``."""
    return _answer(READER.name, question, run, options)


def answer_with_notes(question: str, run: Run, options: Options) -> Answer:
    """Chunk Read with Notes: each passage with the notes on those before it. Raises ``ModelError``."""
    return _answer(READER_WITH_NOTES.name, question, run, options)


@dataclass
class _Reading:
    """One question on its way through the text."""

    reader: str
    question: str
    calls: Calls
    options: Options
    notes: str = ""
    noted: list[FoundPassage] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, name: str, number: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + number

    @property
    def takes_notes(self) -> bool:
        """Whether notes go on from passage to passage."""
        return self.reader == READER_WITH_NOTES.name

    @property
    def calls_left(self) -> int:
        """How many calls may still be made."""
        return 1_000_000_000 if self.options.calls is None else self.options.calls - self.calls.made


def _answer(reader: str, question: str, run: Run, options: Options) -> Answer:
    question = asked(question)
    if run.chat is None:
        return without_model(question, reader, run.evidence.search(question), run.tell)
    reading = _Reading(reader, question, Calls(run.chat, run.ledger, run.tell), options)
    _room(reading)
    text, note = None, ""
    read: list[FoundPassage] = []
    for part, queries in _parts(reading, run.evidence):
        if reading.calls_left < 1:
            note = f"Not all was read: the {options.calls:,} calls were made before the end of the text."
            break
        text = _read(reading, part, queries)
        if text is not None:
            read.append(part)
            break
    read += reading.noted[::-1]
    return finish(reader, question, text, read, run.evidence, reading.calls, options.mode, reading.counts, note)


def _parts(reading: _Reading, evidence: Evidence) -> Iterator[tuple[FoundPassage, tuple[QueryRun, ...]]]:
    """All passages in reading order, in parts that fit; with the first of a page the statement that read it."""
    for passages, queries in evidence.in_reading_order(_PAGE):
        for passage in passages:
            at = 0
            for text in cut(passage.text, _room(reading)):
                start = passage.start + at
                yield replace(passage, text=text, start=start, end=start + len(text)), queries
                at, queries = at + len(text), ()


def _read(reading: _Reading, part: FoundPassage, queries: tuple[QueryRun, ...]) -> str | None:
    """The answer, if ``part`` has it. The notes are brought up to it."""
    calls = reading.calls
    mark = calls.mark(queries)
    said, broken = ask_marked(
        calls,
        _messages(reading, part.text),
        read_reply,
        stage="read",
        marks=_MARKS,
        again=reading.calls_left > 1,
    )
    _note_down(reading, part, said)
    outcome = "answerable" if said.answer is not None else "unanswerable"
    reading.count(f"read.{outcome}")
    reading.count("malformed.no mark", broken)
    told = f"{outcome}; no reply that can be used" if not said.marked else outcome
    detail = f"{part.title}, characters {part.start:,}-{part.end:,}: {told}"
    found = StepFound(queries, passages=(part.id,))
    calls.add("read passage", detail, mark, prompt=_prompt(reading), found=found, notebook=reading.notes or None)
    return said.answer


def _note_down(reading: _Reading, part: FoundPassage, said: Said) -> None:
    """New notes replace the old ones; what of them is too long is cut off at the end of a sentence, and counted."""
    if not (reading.takes_notes and said.notes):
        return
    room = reading.options.window_tokens // _NOTES_SHARE
    reading.notes = said.notes[: head(said.notes, room)].rstrip()
    reading.count("cut.notes", int(len(reading.notes) < len(said.notes)))
    reading.noted = [*reading.noted, part][-_NOTED:]


def _prompt(reading: _Reading) -> str:
    return _PROMPT_WITH_NOTES if reading.takes_notes else _PROMPT


def _room(reading: _Reading) -> int:
    """Tokens of a part: next to the longest notes that there may be. Raises ``InputError`` where there is no room."""
    notes = reading.options.window_tokens // _NOTES_SHARE if reading.takes_notes else 0
    return room_for(reading.options.window_tokens, _messages(reading, ""), _MARKS, notes)


def _messages(reading: _Reading, text: str) -> Messages:
    notes = reading.notes or NONE
    inputs = {"question": reading.question, "text": text}
    if reading.takes_notes:
        words = reading.options.window_tokens // _NOTES_SHARE // 2
        inputs |= {"notes": notes if text else NONE, "words": str(words)}
    return render(_prompt(reading), fence=fence_for(text, notes) if text else LARGEST_FENCE, **inputs)


def _read_last(answered: Answer) -> list[FoundPassage]:
    """The passage, or the part of one, that was before the model at the end; of several parts the latest."""
    read = [step.passages for step in answered.trace if step.prompt == _PROMPT_WITH_NOTES]
    last = set(read[-1]) if read else set()
    return [each for each in answered.evidence.passages if each.id in last][:1]


READER = Reader(
    "chunkread", "To compare with: passage after passage, until one answers.", Options, answer, needs=lambda options: ()
)
READER_WITH_NOTES = Reader(
    "chunknotes",
    "To compare with: passage after passage, with notes carried on.",
    Options,
    answer_with_notes,
    needs=lambda options: (),
    kept=_read_last,
)
