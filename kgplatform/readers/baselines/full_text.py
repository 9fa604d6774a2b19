"""The reader ``fulltext``: as much of the text as the window holds, read at once (GraphReader, appendix D).

The beginning of all documents in reading order, or of the chosen ones, in whole paragraphs; with ``from_end`` their end
(ReadAgent truncates so too, section 4.2). What comes after it, or before, is not read, and the trace says how much that
is. A text that fits into the window is read in full.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from kgplatform.prompt import Messages, render
from kgplatform.readers.answer import fence_for, without_model
from kgplatform.readers.calls import Calls
from kgplatform.readers.marked import (
    LARGEST_FENCE,
    ask_marked,
    asked,
    finish,
    read_answer,
    room_for,
)
from kgplatform.readers.reader import AnswerMode, Reader, check, documents_option, mode_option, option, window_option
from kgplatform.readers.run import Run
from kgplatform.readers.window import head, tokens
from kgplatform.records import Answer, FoundPassage, QueryRun, Step
from kgplatform.retrieve.evidence import Evidence
from kgplatform.sentences import sentences

_PROMPT = "baselines/full_text"
_MARKS = "the answer, or reply with [unanswerable]"
_PAGE = 100
"""Passages that are read from the graph at once."""

_OVER = 1000
"""Tokens beyond the room that are read from the end before the count is made exactly."""

_WORD = re.compile(r"\S+")
_PARAGRAPH = re.compile(r"\S(?:(?!\n[^\S\n]*\n).)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works: ``window_tokens`` is the most that a prompt may have, with what the server adds to it."""

    mode: AnswerMode = mode_option()
    window_tokens: int = window_option()
    from_end: bool = option(False, "the end of the text, not its beginning")
    documents: tuple[str, ...] = documents_option()

    def __post_init__(self) -> None:
        check(self)


def answer(question: str, run: Run, options: Options) -> Answer:
    """Show the model a part of the text, and look up where its answer stands in it. Raises ``ModelError``."""
    question = asked(question)
    if run.chat is None:
        return without_model(question, READER.name, run.evidence.search_in(question, options.documents), run.tell)
    calls = Calls(run.chat, run.ledger, run.tell)
    read = read_end if options.from_end else read_beginning
    part = read(run.evidence, room_for(options.window_tokens, _messages(question, ""), _MARKS), options.documents)
    calls.take(_step(part, run.evidence, options))
    mark = calls.mark()
    said, broken = ask_marked(calls, _messages(question, part.text), read_answer, stage="answer", marks=_MARKS)
    calls.add("answer", "answered" if said.answer else "not in the text", mark, prompt=_PROMPT)
    counts = {"malformed.no answer": broken}
    return finish(READER.name, question, said.answer, part.passages, run.evidence, calls, options.mode, counts)


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

    def goes_on(self, before: _Piece | None) -> bool:
        """Whether it is of the same paragraph as the piece before: passages are cut at sentence ends too."""
        if before is None or before.passage.id == self.passage.id or before.passage.document != self.passage.document:
            return False
        return self.passage.start + self.start - before.passage.start - before.end < len("\n\n")


def read_beginning(evidence: Evidence, room: int, documents: Sequence[str] = ()) -> Part:
    """The longest beginning of all texts, or of ``documents`` (ids), that ``room`` tokens hold, in whole paragraphs.

    Of a first paragraph that is larger the sentences, or words, that fit.
    """
    queries: list[QueryRun] = []
    kept: list[_Piece] = []
    paragraph: list[_Piece] = []
    last: _Piece | None = None
    left = room
    for piece in _pieces(evidence.in_reading_order(_PAGE, documents), queries):
        if not piece.goes_on(last):
            kept += paragraph
            paragraph = []
        joint = _joint(last, piece)
        needed = tokens(joint + piece.text)
        if needed > left:  # each piece was rounded up: all of them at once are less
            left = room - tokens(_shown([*kept, *paragraph]))
        if needed > left:
            kept = kept or [*paragraph, *_part_of(piece, left - tokens(joint))]
            return Part(_shown(kept), _read(kept), False, tuple(queries))
        paragraph.append(piece)
        last, left = piece, left - needed
    kept += paragraph
    return Part(_shown(kept), _read(kept), True, tuple(queries))


def read_end(evidence: Evidence, room: int, documents: Sequence[str] = ()) -> Part:
    """The longest end of all texts, or of ``documents`` (ids), that ``room`` tokens hold, in whole paragraphs.

    Of a last paragraph that is larger the last sentences, or words, that fit.
    """
    queries: list[QueryRun] = []
    kept: deque[_Piece] = deque()
    size, whole = 0, True
    for piece in _pieces(evidence.from_the_end(_PAGE, documents), queries, backwards=True):
        if size > room + _OVER:  # surely more than fits, by a count that rounds each piece up
            whole = False
            break
        kept.appendleft(piece)
        size += tokens(piece.text)
    paragraphs = _paragraphs(kept)
    first = bisect_left(range(len(paragraphs)), True, key=lambda at: tokens(_shown(_flat(paragraphs[at:]))) <= room)
    pieces = _flat(paragraphs[first:]) or (_tail(paragraphs[-1], room) if paragraphs else [])
    return Part(_shown(pieces), _read(pieces), whole and first == 0, tuple(queries))


def _paragraphs(pieces: Iterable[_Piece]) -> list[list[_Piece]]:
    """Pieces in order, those of one paragraph together."""
    paragraphs: list[list[_Piece]] = []
    last: _Piece | None = None
    for piece in pieces:
        if piece.goes_on(last):
            paragraphs[-1].append(piece)
        else:
            paragraphs.append([piece])
        last = piece
    return paragraphs


def _flat(paragraphs: Iterable[Iterable[_Piece]]) -> list[_Piece]:
    return list(chain.from_iterable(paragraphs))


def _tail(paragraph: Sequence[_Piece], room: int) -> list[_Piece]:
    """The last sentences of a paragraph that fit; of a last sentence that is larger its last words."""
    kept: list[_Piece] = []
    for piece in reversed(paragraph):
        starts = [0, *(each.start for each in sentences(piece.text))]
        starts += [] if kept else [each.start() for each in _WORD.finditer(piece.text)]
        parts = (replace(piece, start=piece.start + start) for start in starts)
        fitting = next((part for part in parts if tokens(_shown([part, *kept])) <= room), None)
        kept = [fitting, *kept] if fitting else kept
        if fitting is None or fitting.start > piece.start:
            break
    return kept


def _pieces(
    pages: Iterable[tuple[Sequence[FoundPassage], tuple[QueryRun, ...]]],
    queries: list[QueryRun],
    *,
    backwards: bool = False,
) -> Iterator[_Piece]:
    for passages, ran in pages:
        queries += ran
        for passage in passages:
            found = [_Piece(passage, each.start(), each.end()) for each in _PARAGRAPH.finditer(passage.text)]
            yield from reversed(found) if backwards else found


def _part_of(piece: _Piece, room: int) -> list[_Piece]:
    return [replace(piece, end=piece.start + head(piece.text, room))] if room > 0 else []


def _joint(before: _Piece | None, piece: _Piece) -> str:
    """What stands before ``piece``: the title, where a document begins."""
    if before is None or before.passage.document != piece.passage.document:
        return f"{chr(10) * 2 if before else ''}# {piece.passage.title}\n\n"
    return " " if piece.goes_on(before) else "\n\n"


def _shown(pieces: Sequence[_Piece]) -> str:
    return "".join(_joint(before, piece) + piece.text for before, piece in zip((None, *pieces), pieces, strict=False))


def _read(pieces: Sequence[_Piece]) -> tuple[FoundPassage, ...]:
    """The passages, each cut to what of it is shown."""
    starts = {piece.passage.id: piece.start for piece in reversed(pieces)}
    ends = {piece.passage.id: piece for piece in pieces}
    return tuple(_cut(each.passage, starts[id_], each.end) for id_, each in ends.items())


def _cut(passage: FoundPassage, start: int, end: int) -> FoundPassage:
    return replace(passage, text=passage.text[start:end], start=passage.start + start, end=passage.start + end)


def _step(part: Part, evidence: Evidence, options: Options) -> Step:
    """What is read, of how much: ``characters 0-14,213 of 1,050,000 (3 of 40 documents)``."""
    size = evidence.size(options.documents)
    reached = {each.document: each.end for each in part.passages}
    if options.from_end:
        firsts = {each.document: each.start for each in reversed(part.passages)}
        reached = {document: end - firsts[document] for document, end in reached.items()}
    read = size.characters if part.whole else sum(reached.values())
    documents = size.documents if part.whole else len(reached)
    shown = f"the last {read:,} characters" if options.from_end else f"characters 0-{read:,}"
    detail = f"{shown} of {size.characters:,} ({documents:,} of {size.documents:,} documents)"
    queries = (*part.queries, *size.queries)
    seconds = round(sum(run.seconds for run in queries), 4)
    return Step("read", detail, seconds, queries=queries, passages=tuple(each.id for each in part.passages))


def _messages(question: str, text: str) -> Messages:
    return render(_PROMPT, question=question, fence=fence_for(text) if text else LARGEST_FENCE, text=text)


READER = Reader(
    "fulltext",
    "To compare with: the beginning of the text, as far as the window holds it.",
    Options,
    answer,
    needs=lambda options: (),
)
