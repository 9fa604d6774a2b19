"""The reader ``fulltext``: as much of the text as the window holds, read at once (GraphReader, appendix D).

The beginning of all documents in reading order, or of the chosen ones, in whole paragraphs; with ``from_end`` their end
(ReadAgent truncates so too, section 4.2). What comes after it, or before, is not read, and the trace says how much that
is. A text that fits into the window is read in full.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

from kgplatform.prompt import Messages, render
from kgplatform.readers.answer_old import LARGEST_FENCE, STYLES, fence_for, without_model
from kgplatform.readers.reader import (
    AnswerMode,
    AnswerStyle,
    Preset,
    Reader,
    check,
    documents_option,
    mode_option,
    option,
    preset_option,
    style_option,
    window_option,
)
from kgplatform.readers.replies import AnswerReply, ask_said, asked, finish, reply_tokens, room_for, window_of
from kgplatform.readers.run import Calls, Run
from kgplatform.readers.window import Window, head, tokens
from kgplatform.records import Answer, FoundPassage, QueryRun, Step
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.found import part_of
from kgplatform.text.sentences import sentences

_PROMPT = "baselines/full_text"
_PAPER_WINDOW = 4096
"""Tokens (GraphReader, section 4.1)."""
_WORD = re.compile(r"\S+")
_PARAGRAPH = re.compile(r"\S(?:(?!\n[^\S\n]*\n).)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works: ``window_tokens`` is the most that a prompt may have, with what the server adds to it."""

    mode: AnswerMode = mode_option()
    window_tokens: int | None = window_option()
    preset: Preset = preset_option()
    answer_style: AnswerStyle = style_option()
    from_end: bool = option(False, "the end of the text, not its beginning")
    documents: tuple[str, ...] = documents_option()

    def __post_init__(self) -> None:
        check(self)


def answer(question: str, run: Run, options: Options) -> Answer:
    """Show the model a part of the text, and look up where its answer stands in it. Raises ``ModelError``."""
    question = asked(question)
    if run.chat is None:
        found = run.evidence.search(question, documents=options.documents)
        return without_model(question, READER.name, found, run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    size = window_of(options.window_tokens, options.preset, run.context, _PAPER_WINDOW)
    window = Window(size, reply_tokens(options.answer_style, size))
    room = room_for(window, _messages(question, "", options))
    part = read_part(run.evidence, room, options.documents, from_end=options.from_end)
    calls.take(_step(part, run.evidence, options))
    mark, messages = calls.mark(), _messages(question, part.text, options)
    said, broken = ask_said(calls, messages, _Reply, stage="answer", tokens=window.reply)
    calls.add("answer", "answered" if said.answer else "not in the text", mark, prompt=_PROMPT)
    calls.counts["malformed.no answer"] = broken
    return finish(READER.name, question, said.answer, part.passages, run.evidence, calls, options.mode)


class _Reply(AnswerReply):
    PROMPT: ClassVar[str] = _PROMPT


@dataclass(frozen=True, slots=True)
class Part:
    """The part that is read: ``passages`` are cut to it, ``whole`` says that it is everything."""

    text: str
    passages: tuple[FoundPassage, ...]
    whole: bool
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """What a passage has of one paragraph: ``passage.text[start:end]``."""

    passage: FoundPassage
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]

    def continues(self, before: _Piece | None) -> bool:
        """Whether it is of the same paragraph as the piece before: passages are cut at sentence ends too."""
        if before is None or before.passage.id == self.passage.id or before.passage.document != self.passage.document:
            return False
        return self.passage.start + self.start - before.passage.start - before.end < len("\n\n")


def read_part(evidence: Evidence, room: int, documents: Sequence[str] = (), *, from_end: bool = False) -> Part:
    """The longest beginning of all texts, or of ``documents`` (ids), that ``room`` tokens hold, in whole paragraphs.

    Of a first paragraph that is larger, the sentences or words that fit. ``from_end``: the longest end, and the last
    ones of its last paragraph.
    """
    queries: list[QueryRun] = []
    pieces: list[_Piece] = []
    size = 0
    for passages, ran in evidence.in_reading_order(documents=documents, from_end=from_end):
        queries += ran
        in_order = reversed(passages) if from_end else passages
        page = [_Piece(each, *found.span()) for each in in_order for found in _PARAGRAPH.finditer(each.text)]
        pieces = [*page, *pieces] if from_end else [*pieces, *page]
        size += sum(tokens(piece.text) for piece in page)
        if size > room and (size := tokens(_shown(pieces))) > room:  # each piece was rounded up: all at once are less
            break
    paragraphs = _paragraphs(pieces)

    def of(count: int) -> list[_Piece]:
        return list(chain.from_iterable(paragraphs[len(paragraphs) - count :] if from_end else paragraphs[:count]))

    fitting = bisect_right(range(1, len(paragraphs) + 1), room, key=lambda count: tokens(_shown(of(count))))
    shown = of(fitting)
    if not shown and paragraphs:
        shown = _tail(paragraphs[-1], room) if from_end else _beginning(paragraphs[0], room)
    return Part(_shown(shown), _read(shown), fitting == len(paragraphs), tuple(queries))


def _paragraphs(pieces: Iterable[_Piece]) -> list[list[_Piece]]:
    """Pieces in order, those of one paragraph together."""
    paragraphs: list[list[_Piece]] = []
    last: _Piece | None = None
    for piece in pieces:
        if piece.continues(last):
            paragraphs[-1].append(piece)
        else:
            paragraphs.append([piece])
        last = piece
    return paragraphs


def _beginning(paragraph: Sequence[_Piece], room: int) -> list[_Piece]:
    """The first sentences of a paragraph that fit; of a first sentence that is larger its first words."""
    kept: list[_Piece] = []
    for piece in paragraph:
        joint = _joint(kept[-1] if kept else None, piece)
        left = room - tokens(_shown(kept))
        if tokens(joint + piece.text) > left:
            end = head(piece.text, left - tokens(joint)) if left > tokens(joint) else 0
            return [*kept, replace(piece, end=piece.start + end)] if end else kept
        kept.append(piece)
    return kept


def _tail(paragraph: Sequence[_Piece], room: int) -> list[_Piece]:
    """The last sentences of a paragraph that fit; of a last sentence that is larger its last words."""
    kept: list[_Piece] = []
    for piece in reversed(paragraph):
        starts = [0, *(sentence.start for sentence in sentences(piece.text))]
        starts += [] if kept else [each.start() for each in _WORD.finditer(piece.text)]
        parts = (replace(piece, start=piece.start + start) for start in starts)
        fitting = next((part for part in parts if tokens(_shown([part, *kept])) <= room), None)
        kept = [fitting, *kept] if fitting else kept
        if fitting is None or fitting.start > piece.start:
            break
    return kept


def _joint(before: _Piece | None, piece: _Piece) -> str:
    """What stands before ``piece``: the title, where a document begins."""
    if before is None or before.passage.document != piece.passage.document:
        return f"{chr(10) * 2 if before else ''}# {piece.passage.title}\n\n"
    return " " if piece.continues(before) else "\n\n"


def _shown(pieces: Sequence[_Piece]) -> str:
    return "".join(_joint(before, piece) + piece.text for before, piece in zip((None, *pieces), pieces, strict=False))


def _read(pieces: Sequence[_Piece]) -> tuple[FoundPassage, ...]:
    """The passages, each cut to what of it is shown."""
    starts = {piece.passage.id: piece.start for piece in reversed(pieces)}
    ends = {piece.passage.id: piece for piece in pieces}
    return tuple(
        part_of(last.passage, last.passage.start + starts[id_], last.passage.start + last.end)
        for id_, last in ends.items()
    )


def _step(part: Part, evidence: Evidence, options: Options) -> Step:
    """What is read, of how much: ``characters 0-14,213 of 1,050,000 (3 of 40 documents)``."""
    size = evidence.size(options.documents)
    reached = {passage.document: passage.end for passage in part.passages}
    if options.from_end:
        firsts = {passage.document: passage.start for passage in reversed(part.passages)}
        reached = {document: end - firsts[document] for document, end in reached.items()}
    read = size.characters if part.whole else sum(reached.values())
    documents = size.documents if part.whole else len(reached)
    shown = f"the last {read:,} characters" if options.from_end else f"characters 0-{read:,}"
    detail = f"{shown} of {size.characters:,} ({documents:,} of {size.documents:,} documents)"
    queries = (*part.queries, *size.queries)
    seconds = round(sum(run.seconds for run in queries), 4)
    return Step("read", detail, seconds, queries=queries, passages=tuple(passage.id for passage in part.passages))


def _messages(question: str, text: str, options: Options) -> Messages:
    fence = fence_for(text) if text else LARGEST_FENCE
    return render(_PROMPT, question=question, style=STYLES[options.answer_style], fence=fence, text=text)


READER = Reader(
    "fulltext",
    "To compare with: the beginning of the text, as far as the window holds it.",
    Options,
    answer,
    title="To compare: the beginning of the text",
    takes="1 call",
    needs=lambda options: (),
)
