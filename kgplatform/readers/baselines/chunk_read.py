"""The readers ``chunkread`` and ``chunknotes``: all passages, one after the other (GraphReader, appendix D).

``chunkread`` sees a piece at a time, as many whole passages as the window holds, and stops at the first that answers
the question. ``chunknotes`` carries brief notes on from piece to piece. Nothing is left out: a passage that is larger
than the window is read in parts. That costs a call for every window of text up to the answer; ``calls`` bounds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import model_validator

from kgplatform.errors import ReplyError
from kgplatform.models.forms import text
from kgplatform.models.reply import ask
from kgplatform.prompt import LARGEST_FENCE, Messages, fence_for, render
from kgplatform.readers.answer import (
    NONE,
    NOTHING_NEAR,
    REFUSAL,
    Answered,
    AnswerReply,
    answer_messages,
    answer_of,
    cited_manner,
    record,
    reply_room,
    without_model,
    write_answer,
)
from kgplatform.readers.baselines.full_text import PAPER_WINDOW
from kgplatform.readers.reader import AnswerOptions, Preset, Reader, option, preset_option, window_option
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.selection import Selection
from kgplatform.readers.window import Numbering, Window, cost_of, head, pieces, room_for, window_of
from kgplatform.records import Answer, FoundPassage, QueryRun, SearchResult
from kgplatform.search.evidence import Evidence
from kgplatform.search.question import asked
from kgplatform.text.sentences import numbers_in

_PROMPT, _PROMPT_WITH_NOTES = "readers/answer", "baselines/chunk_notes"
_NOTES_SHARE = 8  # of the window, the part that notes may fill
_IN_BRACKETS = re.compile(r"\[[\d.,\s-]+\]")
_NOTED = 100  # passages of which something was noted that are kept as evidence: the last ones


class NotesReply(AnswerReply):
    """An answer from a piece and notes, with notes for what comes after; notes alone say: not yet."""

    notes: str = text(4000)

    @model_validator(mode="before")
    @classmethod
    def _notes_are_no_answer(cls, value: object) -> object:
        if isinstance(value, dict) and value.get("notes") and not value.get("answer"):
            return {**value, "sufficient": False}
        return value


@dataclass(frozen=True, slots=True)
class Options(AnswerOptions):
    """How the reader works: at most ``calls`` calls to the model, by default as many as there are passages."""

    calls: int | None = option(None, "maximum model calls; by default as many as the text needs", least=1)
    window_tokens: int | None = window_option()
    preset: Preset = preset_option()


@dataclass
class _Pass:
    """One question on its way through the text.

    ``takes_notes``: whether notes are carried on from piece to piece. ``last``: the latest reply that says anything to
    the question, of ``last_piece``; with notes, the last piece of all.
    """

    takes_notes: bool
    question: str
    calls: Calls
    options: Options
    size: int
    shown: Numbering = field(default_factory=Numbering)
    notes: str = ""
    noted: list[FoundPassage] = field(default_factory=list)
    last: AnswerReply | None = None
    last_piece: Sequence[FoundPassage] = ()

    @property
    def notes_room(self) -> int:
        """The most tokens of the notes."""
        return self.size // _NOTES_SHARE if self.takes_notes else 0

    @property
    def window(self) -> Window:
        """The window, with what is kept for a reply and the notes in it."""
        return Window(self.size, reply_room(self.options.answer_style, self.size) + self.notes_room)

    def messages(self, evidence: str, fence: str) -> Messages:
        """The prompt that shows ``evidence``; with notes, in tags of the name ``fence``."""
        if not self.takes_notes:
            return answer_messages(self.question, evidence, "reject", style=self.options.answer_style)
        asks = cited_manner(self.options.answer_style)
        inputs = {"style": asks["style"], "example": asks["example"], "words": str(self.notes_room // 2)}
        notes = self.notes or NONE
        return render(_PROMPT_WITH_NOTES, question=self.question, evidence=evidence, notes=notes, fence=fence, **inputs)


def _answer(question: str, run: Run, options: Options, *, reader: str, takes_notes: bool) -> Answer:
    """The answer of the first piece that has one, or what the last piece said that had anything; else, in open mode,
    what the model knows by itself. Raises ``ModelError``."""
    question, mode, style = asked(question), options.mode, options.answer_style
    if run.chat is None:
        return without_model(question, reader, run.evidence.search(question), run.tell)
    size = window_of(options.window_tokens, options.preset, run.context, PAPER_WINDOW)
    calls = Calls(run.chat, run.ledger, run.tell, limit=options.calls, hear=run.hear)
    reading = _Pass(takes_notes, question, calls, options, size)
    note = ""
    # A piece stands next to the longest notes that there may be.
    room = room_for(reading.window, question, reading.messages("", LARGEST_FENCE), reading.notes_room)
    for piece, queries in _pieces(room, run.evidence):
        if calls.left < 1:
            note = f"Not all was read: the {options.calls:,} calls were made before the end of the text."
            break
        if _read(reading, piece, queries):
            break
    if reading.last is not None:
        answered = answer_of(reading.last, reading.shown, "reject")
    elif mode == "open":
        answered = write_answer(question, Selection.of(question), calls, mode, name="own knowledge", style=style)
    else:
        answered = Answered(REFUSAL, sufficient=False) if calls.made else Answered(REFUSAL, note=NOTHING_NEAR)
    result = SearchResult(question, (*reading.last_piece, *reversed(reading.noted)), (), 0.0)
    return record(reader, answered, result, calls, note, is_shown=False)


answer = partial(_answer, reader="chunkread", takes_notes=False)
"""Chunk Read: each passage by itself, until one answers. Raises ``ModelError``."""
answer_with_notes = partial(_answer, reader="chunknotes", takes_notes=True)
"""Chunk Read with Notes: each passage with the notes on those before it. Raises ``ModelError``."""


def _pieces(room: int, evidence: Evidence) -> Iterator[tuple[list[FoundPassage], tuple[QueryRun, ...]]]:
    """All passages in reading order: as many as fit into ``room`` tokens together, or parts of one that does not; with
    the statements that read them."""
    piece: list[FoundPassage] = []
    ran: tuple[QueryRun, ...] = ()
    left = room
    for passages, queries in evidence.in_reading_order():
        ran += queries
        for part in (part for passage in passages for part in pieces(passage, room)):
            weight = cost_of(part.text, part.title)
            if piece and weight > left:
                yield piece, ran
                piece, ran, left = [], (), room
            piece.append(part)
            left -= weight
    if piece:
        yield piece, ran


def _read(reading: _Pass, piece: list[FoundPassage], queries: tuple[QueryRun, ...]) -> bool:
    """Whether ``piece`` answers the question. The notes are brought up to it."""
    calls, mark = reading.calls, reading.calls.mark(queries)
    form = NotesReply if reading.takes_notes else AnswerReply
    tokens, show = reading.window.reply, calls.shown("answer")
    told, is_done = "no reply that can be used", False
    evidence = reading.shown.passages(piece)
    messages = reading.messages(evidence, fence_for(evidence, reading.notes))
    try:
        said, _ = ask(calls, messages, form, stage="read", tokens=tokens, show=show)
    except ReplyError:
        calls.counts["malformed.no answer"] += 1
    else:
        is_done = said.sufficient
        told = "answerable" if is_done else "unanswerable"
        if said.answer or reading.takes_notes:
            reading.last, reading.last_piece = (said if said.answer else reading.last), piece
        if isinstance(said, NotesReply) and (notes := said.notes.strip()):
            # They replace the old ones; what of them is too long is cut off at the end of a sentence, and counted.
            reading.notes = notes[: head(notes, reading.notes_room)].strip()
            calls.counts["cut.notes"] += len(reading.notes) < len(notes)
            named = {number.partition(".")[0] for number in numbers_in(_IN_BRACKETS.findall(reading.notes))}
            of_them = [part for part in piece if str(reading.shown.number_of(part)) in named]
            reading.noted = [*reading.noted, *(of_them or piece)][-_NOTED:]
    calls.counts[f"read.{'answerable' if is_done else 'unanswerable'}"] += 1
    found = StepFound(queries, passages=tuple(dict.fromkeys(part.id for part in piece)))
    prompt = _PROMPT_WITH_NOTES if reading.takes_notes else _PROMPT
    first, end = piece[0], piece[-1]
    where = f"{first.title}, characters {first.start:,}-{end.end:,}"
    if first.document != end.document:
        where = f"{first.title}, character {first.start:,}, to {end.title}, character {end.end:,}"
    calls.add("read passage", f"{where}: {told}", mark, prompt=prompt, found=found, notebook=reading.notes or None)
    return is_done


READER = Reader(
    "chunkread",
    "Baseline: reads passage after passage until one answers.",
    Options,
    answer,
    title="To compare: passage after passage",
    takes="1 call for each passage until one answers",
    needs=lambda options: (),
)
READER_WITH_NOTES = Reader(
    "chunknotes",
    "Baseline: reads passage after passage and carries notes along.",
    Options,
    answer_with_notes,
    title="To compare: passage after passage, with notes",
    takes="1 call for each passage",
    needs=lambda options: (),
)
