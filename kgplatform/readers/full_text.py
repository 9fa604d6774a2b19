"""The reader ``fulltext``: as much of the text as the window holds, read at once (GraphReader, appendix D).

The beginning of all documents in reading order, in whole paragraphs. What comes after it is not read, and the trace
says how much that is. A text that fits into the window is read in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kgplatform.llm import Chat, Ledger
from kgplatform.prompt import Messages, render
from kgplatform.readers.answering import AnswerMode, fence_for, without_model
from kgplatform.readers.calls import Calls
from kgplatform.readers.marked import (
    LARGEST_FENCE,
    ask_marked,
    asked,
    check_window,
    finish,
    read_answer,
    room_for,
)
from kgplatform.readers.window import head, tokens
from kgplatform.records import Answer, Passage, QueryRun, Step
from kgplatform.retrieve.evidence import Evidence

READER = "fulltext"
_PROMPT = "full_text"
_MARKS = "the answer, or reply with [unanswerable]"
_PAGE = 100
"""Passages that are read from the graph at once."""

_PARAGRAPH = re.compile(r"\S(?:(?!\n[^\S\n]*\n).)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works: ``window_tokens`` is the most that a prompt may have, with what the server adds to it."""

    mode: AnswerMode = "reject"
    window_tokens: int = 4096

    def __post_init__(self) -> None:
        check_window(self.window_tokens)


def answer(question: str, evidence: Evidence, chat: Chat | None, ledger: Ledger, options: Options) -> Answer:
    """Show the model the beginning of the text, and look up where its answer stands in it. Raises ``ModelError``."""
    question = asked(question)
    if chat is None:
        return without_model(question, READER, evidence.search(question))
    calls = Calls(chat, ledger)
    beginning = read_beginning(evidence, room_for(options.window_tokens, _messages(question, ""), _MARKS))
    calls.steps.append(_step(beginning, evidence))
    mark = calls.mark()
    said, broken = ask_marked(calls, _messages(question, beginning.text), read_answer, stage="answer", marks=_MARKS)
    calls.add("answer", "answered" if said.answer else "not in the text", mark, prompt=_PROMPT)
    counts = {"malformed.no answer": broken}
    return finish(READER, question, said.answer, beginning.passages, evidence, calls, options.mode, counts)


@dataclass(frozen=True, slots=True)
class Beginning:
    """The part that is read: ``passages`` are cut to it, ``whole`` says that it is everything."""

    text: str
    passages: tuple[Passage, ...]
    whole: bool
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """What a passage has of one paragraph: ``passage.text[start:end]``."""

    passage: Passage
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


def read_beginning(evidence: Evidence, room: int) -> Beginning:
    """The longest beginning of all texts that ``room`` tokens hold, in whole paragraphs.

    Of a first paragraph that is larger the sentences, or words, that fit.
    """
    queries: list[QueryRun] = []
    kept: list[_Piece] = []
    paragraph: list[_Piece] = []
    last: _Piece | None = None
    left = room
    for piece in _pieces(evidence, queries):
        if not piece.goes_on(last):
            kept += paragraph
            paragraph = []
        joint = _joint(last, piece)
        needed = tokens(joint + piece.text)
        if needed > left:  # each piece was rounded up: all of them at once are less
            left = room - tokens(_shown([*kept, *paragraph]))
        if needed > left:
            kept = kept or [*paragraph, *_part_of(piece, left - tokens(joint))]
            return Beginning(_shown(kept), _read(kept), False, tuple(queries))
        paragraph.append(piece)
        last, left = piece, left - needed
    kept += paragraph
    return Beginning(_shown(kept), _read(kept), True, tuple(queries))


def _pieces(evidence: Evidence, queries: list[QueryRun]) -> Iterator[_Piece]:
    for passages, ran in evidence.in_reading_order(_PAGE):
        queries += ran
        for passage in passages:
            yield from (_Piece(passage, found.start(), found.end()) for found in _PARAGRAPH.finditer(passage.text))


def _part_of(piece: _Piece, room: int) -> list[_Piece]:
    return [replace(piece, end=piece.start + head(piece.text, room))] if room > 0 else []


def _joint(before: _Piece | None, piece: _Piece) -> str:
    """What stands before ``piece``: the title, where a document begins."""
    if before is None or before.passage.document != piece.passage.document:
        return f"{chr(10) * 2 if before else ''}# {piece.passage.title}\n\n"
    return " " if piece.goes_on(before) else "\n\n"


def _shown(pieces: Sequence[_Piece]) -> str:
    return "".join(_joint(before, piece) + piece.text for before, piece in zip((None, *pieces), pieces, strict=False))


def _read(pieces: Sequence[_Piece]) -> tuple[Passage, ...]:
    """The passages, each cut to what of it is shown."""
    ends = {piece.passage.id: piece for piece in pieces}
    return tuple(
        replace(each.passage, text=each.passage.text[: each.end], end=each.passage.start + each.end)
        for each in ends.values()
    )


def _step(beginning: Beginning, evidence: Evidence) -> Step:
    """What is read, of how much: ``characters 0-14,213 of 1,050,000 (3 of 40 documents)``."""
    size = evidence.size()
    lengths = {each.document: each.end for each in beginning.passages}
    read = size.characters if beginning.whole else sum(lengths.values())
    documents = size.documents if beginning.whole else len(lengths)
    detail = f"characters 0-{read:,} of {size.characters:,} ({documents:,} of {size.documents:,} documents)"
    queries = (*beginning.queries, *size.queries)
    seconds = round(sum(run.seconds for run in queries), 4)
    return Step("read", detail, seconds, queries=queries, passages=tuple(each.id for each in beginning.passages))


def _messages(question: str, text: str) -> Messages:
    return render(_PROMPT, question=question, fence=fence_for(text) if text else LARGEST_FENCE, text=text)
