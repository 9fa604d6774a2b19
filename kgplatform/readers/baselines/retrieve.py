"""Reader ``retrieve``: one search, then one answer whose every citation is checked against the store.

Without a language model the evidence is the answer, and that is said.
"""

from __future__ import annotations

from dataclasses import dataclass

from kgplatform.readers.answer import without_model, write_answer
from kgplatform.readers.calls import Calls, search_step
from kgplatform.readers.reader import AnswerMode, Need, Reader, check, mode_option, option
from kgplatform.readers.run import Run
from kgplatform.records import Answer
from kgplatform.retrieve.search import SEARCHES

_OF_TEXTS = ("bm25", "dense", "hybrid", "passage")
"""Routes that search the passages alone."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works: ``top_k`` passages and facts by one ``route``, or by all."""

    mode: AnswerMode = mode_option()
    route: str = option("all", "which route to search by", choices=SEARCHES)
    top_k: int = option(10, "how many passages and facts", least=1)

    def __post_init__(self) -> None:
        check(self)


def answer(question: str, run: Run, options: Options) -> Answer:
    """Search, let the model answer from what was found, and keep the citations that hold. Raises ``ModelError``."""
    found = run.evidence.search(question, route=options.route, top_k=options.top_k)
    if run.chat is None:
        return without_model(found.result.question, READER.name, found, run.tell)
    calls = Calls(run.chat, run.ledger, run.tell)
    calls.take(search_step(found))
    answered = write_answer(found.result.question, found.result, run.evidence, calls, options.mode)
    return Answer(
        found.result.question,
        READER.name,
        answered.text,
        answered.citations,
        found.result,
        tuple(calls.steps),
        calls.usage,
        answered.note,
    )


def _needs(options: Options) -> tuple[Need, ...]:
    if options.route in _OF_TEXTS:
        return ()
    return ("entities", "tree") if options.route in ("all", "community") else ("entities",)


READER = Reader("retrieve", "One search, one answer.", Options, answer, needs_model=False, needs=_needs, usual=True)
