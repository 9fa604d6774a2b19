"""What comes from outside: a question that somebody took apart, passages that another retriever found.

search_parts(graph, ("Who directed Jaws?", "When was Steven Spielberg born?"), 10)
found = found_elsewhere(graph, question, {"chunk id": 0.9}, "official-vector")
answer_from(found, graph, ledger, "reject", "official-vector").text
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from kgplatform.embed import Embedder
from kgplatform.llm import Chat, Ledger
from kgplatform.readers.answering import AnswerMode, without_model, write_answer
from kgplatform.readers.calls import Calls, search_step
from kgplatform.records import Answer, SearchResult
from kgplatform.retrieve.evidence import Evidence, Retrieved
from kgplatform.retrieve.merge import round_robin


class Graph(Protocol):
    """An open graph, as ``kgplatform.client.KnowledgeGraph`` is one."""

    store: Any
    """Readers hand it on to ``Evidence``, and know nothing of it."""

    @property
    def embedder(self) -> Embedder:
        """The model that embeds questions."""

    @property
    def chat(self) -> Chat | None:
        """The language model, if there is one."""

    def search(self, question: str, route: str = "all", top_k: int = 10) -> SearchResult:
        """What is near ``question``."""


def search_parts(graph: Graph, parts: Sequence[str], top_k: int) -> SearchResult:
    """Each part of a question searched by all routes, and the results merged by turns, as Youtu-GraphRAG does."""
    return round_robin([graph.search(part, top_k=top_k) for part in parts], top_k)


def found_elsewhere(
    graph: Graph, question: str, scores: Mapping[str, float], route: str, seconds: float = 0.0
) -> SearchResult:
    """The passages with the ids of ``scores``, best first, as if ``route`` had found them.

    Of equal scores, the first of ``scores`` comes first. Ids that are no passage's are left out.
    """
    stored = Evidence(graph.store, graph.embedder).stored(list(scores))
    ids = sorted((each for each in scores if each in stored.passages), key=lambda each: -scores[each])
    passages = tuple(replace(stored.passages[each], score=round(scores[each], 6), routes=(route,)) for each in ids)
    return SearchResult(question, passages, (), seconds)


def answer_from(found: SearchResult, graph: Graph, ledger: Ledger, mode: AnswerMode, reader: str) -> Answer:
    """The answer to ``found``'s question from its passages, with checked citations. Raises ``ModelError``."""
    retrieved = Retrieved(found, ())
    if graph.chat is None:
        return without_model(found.question, reader, retrieved)
    calls = Calls(graph.chat, ledger)
    calls.take(search_step(retrieved, reader))
    evidence = Evidence(graph.store, graph.embedder)
    answered = write_answer(found.question, found, evidence, calls, mode)
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
