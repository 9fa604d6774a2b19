"""Reader ``retrieve``: one search, then one answer whose every citation is checked against the store.

Without a language model the evidence is the answer, and that is said.
"""

from __future__ import annotations

from dataclasses import dataclass

from kgplatform.errors import InputError
from kgplatform.llm import Chat, Ledger
from kgplatform.readers.answering import AnswerMode, without_model, write_answer
from kgplatform.readers.calls import Calls, search_step
from kgplatform.records import Answer
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.search import check_route

READER = "retrieve"


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works: ``top_k`` passages and facts by one ``route``, or by all."""

    mode: AnswerMode = "reject"
    route: str = "all"
    top_k: int = 10

    def __post_init__(self) -> None:
        check_route(self.route)
        if self.top_k < 1:
            raise InputError("top_k must be at least 1.")


def answer(question: str, evidence: Evidence, chat: Chat | None, ledger: Ledger, options: Options) -> Answer:
    """Search, let the model answer from what was found, and keep the citations that hold. Raises ``ModelError``."""
    found = evidence.search(question, route=options.route, top_k=options.top_k)
    if chat is None:
        return without_model(found.result.question, READER, found)
    calls = Calls(chat, ledger)
    calls.take(search_step(found))
    answered = write_answer(found.result.question, found.result, evidence, calls, options.mode)
    return Answer(
        found.result.question,
        READER,
        answered.text,
        answered.citations,
        found.result,
        tuple(calls.steps),
        calls.usage,
        answered.note,
    )
