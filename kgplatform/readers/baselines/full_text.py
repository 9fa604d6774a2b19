"""The reader ``fulltext``: as much of the text as the window holds, read at once (GraphReader, appendix D).

The beginning of all documents in reading order, or of the chosen ones, in whole sentences; with ``from_end`` their end
(ReadAgent truncates so too, section 4.2). What comes after it, or before, is not read, and the trace says how much that
is. A text that fits into the window is read in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgplatform.readers.answer import answer_messages, record, reply_room, without_model, write_answer
from kgplatform.readers.reader import (
    AnswerOptions,
    Preset,
    Reader,
    documents_option,
    option,
    preset_option,
    window_option,
)
from kgplatform.readers.run import Calls, Run
from kgplatform.readers.selection import Selection
from kgplatform.readers.window import Window, cost_of, end_within, pieces, room_for, window_of
from kgplatform.records import Answer, FoundPassage, QueryRun, Step
from kgplatform.search.evidence import Evidence
from kgplatform.search.question import asked

PAPER_WINDOW = 4096
"""Tokens (GraphReader, section 4.1)."""
_SHORTEST = 40  # tokens of a beginning that is worth a title of its own


@dataclass(frozen=True, slots=True)
class Options(AnswerOptions):
    """How the reader works: ``window_tokens`` is the most that a prompt may have, with what the server adds to it."""

    window_tokens: int | None = window_option()
    preset: Preset = preset_option()
    from_end: bool = option(False, "read the end of the text instead of its beginning")
    documents: tuple[str, ...] = documents_option()


def answer(question: str, run: Run, options: Options) -> Answer:
    """Show the model a part of the text, and let it answer from that. Raises ``ModelError``."""
    question = asked(question)
    if run.chat is None:
        found = run.evidence.search(question, documents=options.documents)
        return without_model(question, READER.name, found, run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    mode, style = options.mode, options.answer_style
    size = window_of(options.window_tokens, options.preset, run.context, PAPER_WINDOW)
    room = room_for(Window(size, reply_room(style, size)), question, answer_messages(question, "", mode, style=style))
    part = read_part(run.evidence, room, options.documents, from_end=options.from_end)
    calls.take(_step(part, run.evidence, options))
    selected = Selection.of(question, part.passages)
    return record(READER.name, write_answer(question, selected, calls, mode, style=style), selected.result, calls)


@dataclass(frozen=True, slots=True)
class Part:
    """The part that is read: ``passages`` in reading order, cut to it; ``whole``: it is everything."""

    passages: tuple[FoundPassage, ...]
    whole: bool
    queries: tuple[QueryRun, ...]


def read_part(evidence: Evidence, room: int, documents: Sequence[str] = (), *, from_end: bool = False) -> Part:
    """The longest beginning of all texts, or of ``documents`` (ids), that ``room`` tokens hold, in whole sentences. Of
    a first sentence that is larger, its beginning. ``from_end``: the longest end."""
    queries: tuple[QueryRun, ...] = ()
    kept: list[FoundPassage] = []
    for passages, ran in evidence.in_reading_order(documents=documents, from_end=from_end):
        queries += ran
        for passage in passages:
            weight = cost_of(passage.text, passage.title)
            if weight > room:
                if room >= _SHORTEST or not kept:
                    cut = end_within(passage, room) if from_end else next(pieces(passage, room))
                    kept += [cut] if cut else [] if kept else [list(pieces(passage, room))[-1]]
                return Part(tuple(kept[::-1] if from_end else kept), False, queries)
            kept.append(passage)
            room -= weight
    return Part(tuple(kept[::-1] if from_end else kept), True, queries)


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


READER = Reader(
    "fulltext",
    "Baseline: reads the beginning of the text, as much as fits into the window.",
    Options,
    answer,
    title="To compare: the beginning of the text",
    takes="1 call",
    needs=lambda options: (),
)
