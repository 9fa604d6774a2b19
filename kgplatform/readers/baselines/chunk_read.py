"""The readers ``chunkread`` and ``chunknotes``: all passages, one after the other (GraphReader, appendix D).

``chunkread`` sees a piece at a time, as many whole passages as the window holds, and stops at the first that answers
the question. ``chunknotes`` carries brief notes on from piece to piece. Nothing is left out: a passage that is larger
than the window is read in parts. That costs a call for every window of text up to the answer; ``calls`` bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from kgplatform.prompt import Messages, render
from kgplatform.readers.answer_old import LARGEST_FENCE, NONE, STYLES, fence_for, without_model
from kgplatform.readers.reader import (
    AnswerMode,
    AnswerStyle,
    Preset,
    Reader,
    check,
    mode_option,
    option,
    preset_option,
    style_option,
    window_option,
)
from kgplatform.readers.replies import (
    NotesReply,
    PieceReply,
    Said,
    ask_said,
    asked,
    finish,
    reply_tokens,
    room_for,
    window_of,
)
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.support import nearest
from kgplatform.readers.window import Window, cut, head, tokens
from kgplatform.records import Answer, FoundPassage, QueryRun
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.found import part_of

_PROMPT, _PROMPT_WITH_NOTES = "baselines/chunk_read", "baselines/chunk_notes"
_PAPER_WINDOW = 4096
"""Tokens (GraphReader, section 4.1)."""

_NOTES_SHARE = 8
"""Of the window, the part that notes may fill."""

_BETWEEN_TOKENS = 2
_NOTED = 100
"""Passages of which something was noted that are kept as evidence: the last ones."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works: at most ``calls`` calls to the model, by default as many as there are passages."""

    mode: AnswerMode = mode_option()
    calls: int | None = option(None, "the most calls to the model, by default as many as the text needs", least=1)
    window_tokens: int | None = window_option()
    preset: Preset = preset_option()
    answer_style: AnswerStyle = style_option()

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
    window: Window
    notes: str = ""
    noted: list[FoundPassage] = field(default_factory=list)

    @property
    def takes_notes(self) -> bool:
        """Whether notes are carried on from piece to piece."""
        return self.reader == READER_WITH_NOTES.name

    @property
    def notes_room(self) -> int:
        """The most tokens of the notes."""
        return self.window.tokens // _NOTES_SHARE if self.takes_notes else 0

    @property
    def prompt(self) -> str:
        """The name of its prompt."""
        return _PROMPT_WITH_NOTES if self.takes_notes else _PROMPT


Piece = tuple[list[FoundPassage], tuple[QueryRun, ...]]
"""Passages that are shown together, and the statements that read them."""


def _answer(reader: str, question: str, run: Run, options: Options) -> Answer:
    question = asked(question)
    if run.chat is None:
        return without_model(question, reader, run.evidence.search(question), run.tell)
    size = window_of(options.window_tokens, options.preset, run.context, _PAPER_WINDOW)
    window = Window(size, reply_tokens(options.answer_style, size))
    calls = Calls(run.chat, run.ledger, run.tell, limit=options.calls, hear=run.hear)
    reading = _Pass(reader, question, calls, options, window)
    text, note = None, ""
    read: list[FoundPassage] = []
    for parts, queries in _pieces(reading, run.evidence):
        if reading.calls.left < 1:
            note = f"Not all was read: the {options.calls:,} calls were made before the end of the text."
            break
        text = _read(reading, parts, queries)
        if text is not None or reading.takes_notes:
            read = parts
        if text is not None:
            break
    read = [*read, *reading.noted[::-1]]
    return finish(reader, question, text, read, run.evidence, reading.calls, options.mode, note)


def _pieces(reading: _Pass, evidence: Evidence) -> Iterator[Piece]:
    """All passages in reading order: as many as fit together, or parts of one that does not."""
    room = _room(reading)
    piece: list[FoundPassage] = []
    ran: tuple[QueryRun, ...] = ()
    left = room
    for passages, queries in evidence.in_reading_order():
        ran += queries
        for part in (part for passage in passages for part in _parts(passage, room)):
            weight = tokens(part.text) + _BETWEEN_TOKENS
            if piece and weight > left:
                yield piece, ran
                piece, ran, left = [], (), room
            piece.append(part)
            left -= weight
    if piece:
        yield piece, ran


def _parts(passage: FoundPassage, room: int) -> Iterator[FoundPassage]:
    start = passage.start
    for text in cut(passage.text, room):
        yield part_of(passage, start, start + len(text))
        start += len(text)


def _shown(parts: Sequence[FoundPassage]) -> str:
    """Passages below each other; parts of one as it has them."""
    joints = ("" if one.id == other.id else "\n\n" for one, other in pairwise(parts))
    return "".join(chain.from_iterable(zip(("", *joints), (part.text for part in parts), strict=True)))


def _read(reading: _Pass, parts: list[FoundPassage], queries: tuple[QueryRun, ...]) -> str | None:
    """The answer, if ``parts`` have it. The notes are brought up to them."""
    calls, messages = reading.calls, _messages(reading, _shown(parts))
    mark = calls.mark(queries)
    form = NotesReply if reading.takes_notes else PieceReply
    said, broken = ask_said(calls, messages, form, stage="read", tokens=reading.window.reply)
    _note_down(reading, parts, said)
    outcome = "answerable" if said.answer is not None else "unanswerable"
    calls.counts.update({f"read.{outcome}": 1, "malformed.no answer": broken})
    told = outcome if said.marked else f"{outcome}; no reply that can be used"
    found = StepFound(queries, passages=tuple(dict.fromkeys(part.id for part in parts)))
    detail = f"{_told(parts)}: {told}"
    calls.add("read passage", detail, mark, prompt=reading.prompt, found=found, notebook=reading.notes or None)
    return said.answer


def _told(parts: Sequence[FoundPassage]) -> str:
    first, last = parts[0], parts[-1]
    if first.document == last.document:
        return f"{first.title}, characters {first.start:,}-{last.end:,}"
    return f"{first.title}, character {first.start:,}, to {last.title}, character {last.end:,}"


def _note_down(reading: _Pass, parts: Sequence[FoundPassage], said: Said) -> None:
    """New notes replace the old ones; what of them is too long is cut off at the end of a sentence, and counted."""
    if not (reading.takes_notes and said.notes):
        return
    reading.notes = said.notes[: head(said.notes, reading.notes_room)].rstrip()
    reading.calls.counts["cut.notes"] += len(reading.notes) < len(said.notes)
    of_them = [part for part in parts if nearest(reading.notes, part.text)]
    reading.noted = [*reading.noted, *(of_them or parts)][-_NOTED:]


def _room(reading: _Pass) -> int:
    """Tokens of a piece: next to the longest notes that there may be. Raises ``InputError`` where there is no room."""
    return room_for(reading.window, _messages(reading, ""), reading.notes_room)


def _messages(reading: _Pass, text: str) -> Messages:
    notes = reading.notes or NONE
    inputs = {"question": reading.question, "text": text, "style": STYLES[reading.options.answer_style]}
    if reading.takes_notes:
        inputs |= {"notes": notes if text else NONE, "words": str(reading.notes_room // 2)}
    return render(reading.prompt, fence=fence_for(text, notes) if text else LARGEST_FENCE, **inputs)


def _read_last(answered: Answer) -> list[FoundPassage]:
    """The passages, or parts of them, that were before the model at the end; of several parts the latest."""
    read = [step.passages for step in answered.trace if step.prompt == _PROMPT_WITH_NOTES]
    last = set(read[-1]) if read else set()
    latest: dict[str, FoundPassage] = {}
    for passage in answered.evidence.passages:
        if passage.id in last:
            latest.setdefault(passage.id, passage)
    return list(latest.values())


READER = Reader(
    "chunkread",
    "To compare with: passage after passage, until one answers.",
    Options,
    answer,
    title="To compare: passage after passage",
    takes="1 call for each passage until one answers",
    needs=lambda options: (),
)
READER_WITH_NOTES = Reader(
    "chunknotes",
    "To compare with: passage after passage, with notes carried on.",
    Options,
    answer_with_notes,
    title="To compare: passage after passage, with notes",
    takes="1 call for each passage",
    needs=lambda options: (),
    kept=_read_last,
)
