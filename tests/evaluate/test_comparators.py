"""Comparators of readers: neo4j-graphrag's own retrievers over a graph of the platform's, and the model alone."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from conftest import emptied

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ModelError
from kgplatform.evaluate.comparators import ClosedOptions, Official, answer_closed, official_answer
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection
from kgplatform.prompt import source_of
from kgplatform.readers.answer import OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.run import Calls
from kgplatform.records import Answer, FoundPassage
from kgplatform.testing import OpenAIServer, ScriptedChat

pytestmark = pytest.mark.filterwarnings("ignore:The default returned 'id' field:DeprecationWarning")

TEXTS = {
    "The Marigold": "The Marigold was a paddle steamer that laid the harbour cable in 1871.",
    "Ida Fenn": "Ida Fenn drew the plans of the Marigold in her shop at Dunmouth.",
    "Dunmouth": "Dunmouth is a fishing town whose harbour froze in the winter of 1880.",
    "AC/DC": "AC/DC is a band, and also what two kinds of current are called (one word of each).",
}


def official_search(kg: KnowledgeGraph, question: str, kind: str, top_k: int = 10) -> tuple[FoundPassage, ...]:
    return Official(kg, kind).search(question, top_k).passages


@pytest.fixture(scope="module")
def graph(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """Four short texts, each a passage. No test changes it."""
    folder = tmp_path_factory.mktemp("texts")
    file = folder / "texts.json"
    file.write_text(json.dumps([{"title": title, "text": text} for title, text in TEXTS.items()]))
    with emptied(neo4j_server, folder) as kg:
        kg.ingest(file, extractor="local")
        yield kg


def test_by_vectors_they_find_what_the_nearest_vectors_are(graph: KnowledgeGraph) -> None:
    question = "Who drew the plans of the Marigold?"
    theirs = official_search(graph, question, "official-vector", 4)
    ours = graph.search(question, route="dense", top_k=4).passages
    assert [each.id for each in theirs] == [each.id for each in ours]
    assert {each.routes for each in theirs} == {("official-vector",)}
    assert theirs[0].score >= theirs[1].score > 0


def test_signs_of_lucene_are_words_like_others(graph: KnowledgeGraph) -> None:
    for question in ("What is AC/DC?", "(unclosed", 'say "it', "a AND", "title:x^~", "NOT [a TO", "x\\"):
        assert official_search(graph, question, "official-hybrid"), question
    with pytest.raises(InputError, match="The question is empty"):
        official_search(graph, "*", "official-hybrid")


def test_a_model_that_is_away_is_no_fault_of_theirs(graph: KnowledgeGraph) -> None:
    away = {"embedder": "openai:x", "openai_base_url": "http://127.0.0.1:9/v1", "model_retries": 0}
    kg = KnowledgeGraph(graph.store, graph.settings.model_copy(update=away))
    with pytest.raises(ModelError, match="127.0.0.1:9"):
        official_search(kg, "Who?", "official-vector")


def test_an_answer_is_ours_from_what_they_found(graph: KnowledgeGraph) -> None:
    reply = {"evidence": ["2.1"], "answer": "The Marigold [2.1].", "sufficient": True}
    with OpenAIServer([json.dumps(reply)]) as server:
        settings = graph.settings.model_copy(update={"openai_base_url": server.base_url})
        asked = KnowledgeGraph(graph.store, settings, embedder=HashEmbedder(64))
        answer = official_answer(asked, "Which paddle steamer laid the harbour cable?", "official-vector", top_k=2)
    assert answer.text == "The Marigold [1]."
    assert answer.reader == "official-vector"
    assert [each.title for each in answer.citations] == ["The Marigold"]
    assert len(answer.evidence.passages) == 2
    assert answer.usage.calls == 1
    assert [step.name for step in answer.trace] == ["search", "answer"]


def closed(*replies: str) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat(list(replies))
    return answer_closed(
        "Who designed the Great Eastern?", Calls(chat, Ledger()), ClosedOptions("open", "phrase")
    ), chat


def test_what_cannot_be_read_is_asked_for_once_more() -> None:
    copied = next(line for line in source_of("evaluate/zero_shot").splitlines() if line.startswith("{"))
    answer, chat = closed('{"reasoning": "Not Watt: it was Brunel.", "answer": "Brunel"}')
    assert (answer.text, answer.note, [step.name for step in answer.trace]) == ("Brunel", OWN_KNOWLEDGE, ["answer"])
    assert (chat.calls[0].stage, chat.calls[0].wanted.tokens) == ("answer", 400)
    for useless in ("", copied, '{"reasoning": "It was', '{"reasoning": "No.", "answer": ""}'):
        answer, _ = closed(useless, '{"answer": "Brunel"}')
        assert answer.text == "Brunel"
        answer, _ = closed(useless, useless)
        assert (answer.text, answer.note) == (REFUSAL, "The language model gave no answer from its own knowledge.")
