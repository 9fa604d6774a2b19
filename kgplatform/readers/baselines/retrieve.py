"""Reader ``retrieve``: one search, then one answer from the few passages that it profits from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kgplatform.readers.answer import answer_messages, record, reply_room, without_model, write_answer
from kgplatform.readers.reader import AnswerOptions, Need, Reader, option
from kgplatform.readers.run import Calls, Run, search_step
from kgplatform.readers.selection import MORE, PASSAGES, select
from kgplatform.readers.window import Window
from kgplatform.records import Answer, SearchResult
from kgplatform.search.search import SEARCHES, fuse_results

_OF_TEXTS = ("bm25", "dense", "hybrid", "passage")
"""Routes that search the passages alone."""


@dataclass(frozen=True, slots=True)
class Options(AnswerOptions):
    """How the reader works: ``top_k`` passages and facts by one ``route``, or by all, in ``evidence_tokens``."""

    route: str = option("all", "the search route", choices=SEARCHES)
    top_k: int = option(
        PASSAGES,
        "number of passages, and maximum number of facts; up to twice as many if more are equally relevant",
        least=1,
    )
    evidence_tokens: int = option(1100, "maximum tokens of evidence for the model", least=100)


def answer(question: str, run: Run, options: Options) -> Answer:
    """Search, and let the model answer from what was found. Raises ``ModelError``."""
    looked = options.top_k if run.chat is None else MORE * options.top_k
    found = run.evidence.search(question, route=options.route, top_k=looked)
    question, mode, style = found.result.question, options.mode, options.answer_style
    if run.chat is None:
        return without_model(question, READER.name, found, run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    calls.take(search_step(found))
    window = Window(run.context, reply_room(style, run.context))
    room = min(options.evidence_tokens, window.room(answer_messages(question, "", mode)))
    shown = select(found.result, room, options.top_k, options.top_k, run.evidence.days)
    # A small model cites more of what is needed if the best passage is nearest to the question, which comes last
    # (docs/explanation/benchmarks/answers.md).
    best_last = replace(shown, result=replace(shown.result, passages=shown.result.passages[::-1]))
    return record(READER.name, write_answer(question, best_last, calls, mode, style=style), shown.result, calls)


def search_parts(search: Callable[..., SearchResult], parts: Sequence[str], top_k: int) -> SearchResult:
    """Each part of a question searched by ``search``, and the results merged by rank, as Youtu-GraphRAG does."""
    return fuse_results([search(part, top_k=top_k) for part in parts], top_k)


def _needs(options: Options) -> tuple[Need, ...]:
    if options.route in _OF_TEXTS:
        return ()
    return ("entities", "tree") if options.route in ("all", "community") else ("entities",)


READER = Reader(
    "retrieve",
    "One search, one answer.",
    Options,
    answer,
    title="Quick answer",
    takes="1 call",
    needs_model=False,
    needs=_needs,
    usual=True,
)
