"""What comparators are made of: a question that was taken apart, passages that another retriever found.

search_parts(graph.search, ("Who directed Jaws?", "When was Steven Spielberg born?"), 10)
found = found_elsewhere(graph.evidence, question, {"passage id": 0.9}, "official-vector")
with graph.run() as run: answer_from(found, run, "reject", "official-vector").text
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from kgplatform.readers.answer import without_model, write_answer
from kgplatform.readers.calls import Calls, search_step
from kgplatform.readers.reader import AnswerMode
from kgplatform.readers.run import Run
from kgplatform.records import Answer, SearchResult
from kgplatform.retrieve.evidence import Evidence, Retrieved
from kgplatform.retrieve.search import round_robin


class Search(Protocol):
    """A search by all routes, as ``kgplatform.client.KnowledgeGraph.search`` is one."""

    def __call__(self, question: str, *, top_k: int) -> SearchResult:
        """What is near ``question``."""


def search_parts(search: Search, parts: Sequence[str], top_k: int) -> SearchResult:
    """Each part of a question searched by all routes, and the results merged by turns, as Youtu-GraphRAG does."""
    return round_robin([search(part, top_k=top_k) for part in parts], top_k)


def found_elsewhere(
    evidence: Evidence, question: str, scores: Mapping[str, float], route: str, seconds: float = 0.0
) -> SearchResult:
    """The passages with the ids of ``scores``, best first, as if ``route`` had found them.

    Of equal scores, the first of ``scores`` comes first. Ids that are no passage's are left out.
    """
    stored = evidence.stored(list(scores))
    ids = sorted((each for each in scores if each in stored.passages), key=lambda each: -scores[each])
    passages = tuple(replace(stored.passages[each], score=round(scores[each], 6), routes=(route,)) for each in ids)
    return SearchResult(question, passages, (), seconds)


def answer_from(found: SearchResult, run: Run, mode: AnswerMode, reader: str) -> Answer:
    """The answer to ``found``'s question from its passages, with checked citations. Raises ``ModelError``."""
    retrieved = Retrieved(found, ())
    if run.chat is None:
        return without_model(found.question, reader, retrieved, run.tell)
    calls = Calls(run.chat, run.ledger, run.tell)
    calls.take(search_step(retrieved, reader))
    answered = write_answer(found.question, found, run.evidence, calls, mode)
    return Answer(
        found.question,
        reader,
        answered.text,
        answered.citations,
        found,
        tuple(calls.steps),
        calls.usage,
        answered.note,
    )
