"""The readers ``chunkread`` and ``chunknotes``: all passages, one after the other (GraphReader, appendix D).

``chunkread`` sees one passage at a time and stops at the first that answers the question. ``chunknotes`` carries brief
notes on from passage to passage. Nothing is left out: a passage that is larger than the window is read in parts. That
costs a call for every passage up to the answer; ``calls`` bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kgplatform.prompt import Messages, render
from kgplatform.readers.answer import LARGEST_FENCE, NONE, fence_for, without_model
from kgplatform.readers.reader import AnswerMode, Reader, check, mode_option, option, window_option
from kgplatform.readers.replies import Said, ask_marked, asked, finish, read_reply, room_for
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.window import cut, head
from kgplatform.records import Answer, FoundPassage, QueryRun
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.found import part_of

_PROMPT, _PROMPT_WITH_NOTES = "baselines/chunk_read", "baselines/chunk_notes"
_MARKS = "[answerable] and the answer, or [unanswerable]"
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
class _Pass:
    """One question on its way through the text."""

    reader: str
    question: str
    calls: Calls
    options: Options
    notes: str = ""
    noted: list[FoundPassage] = field(default_factory=list)

    @property
    def takes_notes(self) -> bool:
        """Whether notes are carried on from passage to passage."""
        return self.reader == READER_WITH_NOTES.name

    @property
    def notes_room(self) -> int:
        """The most tokens of the notes."""
        return self.options.window_tokens // _NOTES_SHARE if self.takes_notes else 0

    @property
    def prompt(self) -> str:
        """The name of its prompt."""
        return _PROMPT_WITH_NOTES if self.takes_notes else _PROMPT

    @property
    def calls_left(self) -> int:
        """How many calls may still be made."""
        return 1_000_000_000 if self.options.calls is None else self.options.calls - self.calls.made


def _answer(reader: str, question: str, run: Run, options: Options) -> Answer:
    question = asked(question)
    if run.chat is None:
        return without_model(question, reader, run.evidence.search(question), run.tell)
    reading = _Pass(reader, question, Calls(run.chat, run.ledger, run.tell), options)
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
    return finish(reader, question, text, read, run.evidence, reading.calls, options.mode, note)


def _parts(reading: _Pass, evidence: Evidence) -> Iterator[tuple[FoundPassage, tuple[QueryRun, ...]]]:
    """All passages in reading order, in parts that fit; with the first of a page the statement that read it."""
    for passages, queries in evidence.in_reading_order():
        for passage in passages:
            start = passage.start
            for text in cut(passage.text, _room(reading)):
                yield part_of(passage, start, start + len(text)), queries
                start, queries = start + len(text), ()


def _read(reading: _Pass, part: FoundPassage, queries: tuple[QueryRun, ...]) -> str | None:
    """The answer, if ``part`` has it. The notes are brought up to it."""
    calls, messages = reading.calls, _messages(reading, part.text)
    mark = calls.mark(queries)
    said, broken = ask_marked(calls, messages, read_reply, stage="read", marks=_MARKS, again=reading.calls_left > 1)
    _note_down(reading, part, said)
    outcome = "answerable" if said.answer is not None else "unanswerable"
    calls.counts.update({f"read.{outcome}": 1, "malformed.no mark": broken})
    told = outcome if said.marked else f"{outcome}; no reply that can be used"
    detail = f"{part.title}, characters {part.start:,}-{part.end:,}: {told}"
    found = StepFound(queries, passages=(part.id,))
    calls.add("read passage", detail, mark, prompt=reading.prompt, found=found, notebook=reading.notes or None)
    return said.answer


def _note_down(reading: _Pass, part: FoundPassage, said: Said) -> None:
    """New notes replace the old ones; what of them is too long is cut off at the end of a sentence, and counted."""
    if not (reading.takes_notes and said.notes):
        return
    reading.notes = said.notes[: head(said.notes, reading.notes_room)].rstrip()
    reading.calls.counts["cut.notes"] += len(reading.notes) < len(said.notes)
    reading.noted = [*reading.noted, part][-_NOTED:]


def _room(reading: _Pass) -> int:
    """Tokens of a part: next to the longest notes that there may be. Raises ``InputError`` where there is no room."""
    return room_for(reading.options.window_tokens, _messages(reading, ""), _MARKS, reading.notes_room)


def _messages(reading: _Pass, text: str) -> Messages:
    notes = reading.notes or NONE
    inputs = {"question": reading.question, "text": text}
    if reading.takes_notes:
        inputs |= {"notes": notes if text else NONE, "words": str(reading.notes_room // 2)}
    return render(reading.prompt, fence=fence_for(text, notes) if text else LARGEST_FENCE, **inputs)


def _read_last(answered: Answer) -> list[FoundPassage]:
    """The passage, or the part of one, that was before the model at the end; of several parts the latest."""
    read = [step.passages for step in answered.trace if step.prompt == _PROMPT_WITH_NOTES]
    last = set(read[-1]) if read else set()
    return [passage for passage in answered.evidence.passages if passage.id in last][:1]


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
