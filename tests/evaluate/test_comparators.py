"""Comparators of readers: neo4j-graphrag's own retrievers over a graph of the platform's, and the model alone."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import wipe

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ModelError, SettingError, StoreError, to_install
from kgplatform.evaluate import comparators
from kgplatform.evaluate.comparators import OFFICIAL, ClosedOptions, Official, answer_closed, official_answer
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import source_of
from kgplatform.readers.answer import OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.run import Calls
from kgplatform.records import Answer, FoundPassage
from kgplatform.settings import load_settings
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
    """Four short texts, each a passage. No test changes it but the last."""
    folder = tmp_path_factory.mktemp("texts")
    file = folder / "texts.json"
    file.write_text(json.dumps([{"title": title, "text": text} for title, text in TEXTS.items()]))
    with Store(neo4j_server) as store:
        wipe(store)
        settings = load_settings(home=folder, embedder="hash:64")
        kg = KnowledgeGraph(store, settings, embedder=HashEmbedder(64))
        kg.ingest(file, extractor="local")
        yield kg


@pytest.mark.parametrize("kind", OFFICIAL)
def test_they_find_what_the_question_is_about(graph: KnowledgeGraph, kind: str) -> None:
    passages = official_search(graph, "Which paddle steamer laid the harbour cable?", kind, 2)
    assert passages[0].title == "The Marigold"
    assert passages[0].text == TEXTS["The Marigold"]
    assert len(passages) == 2
    assert passages[0].score >= passages[1].score > 0
    assert {each.routes for each in passages} == {(kind,)}
    assert passages == official_search(graph, "Which paddle steamer laid the harbour cable?", kind, 2)


def test_by_vectors_they_find_what_the_nearest_vectors_are(graph: KnowledgeGraph) -> None:
    question = "Who drew the plans of the Marigold?"
    theirs = official_search(graph, question, "official-vector", 4)
    ours = graph.search(question, route="dense", top_k=4).passages
    assert [each.id for each in theirs] == [each.id for each in ours]


def test_signs_of_lucene_are_words_like_others(graph: KnowledgeGraph) -> None:
    for question in ("What is AC/DC?", "(unclosed", 'say "it', "a AND", "title:x^~", "NOT [a TO", "x\\"):
        assert official_search(graph, question, "official-hybrid"), question
    with pytest.raises(InputError, match="The question is empty"):
        official_search(graph, "*", "official-hybrid")


def test_what_they_fail_at_is_told_in_our_errors(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparators, "escaped", lambda text: text)
    with pytest.raises(StoreError, match="a search of neo4j-graphrag's hybrid retriever"):
        official_search(graph, "What is AC/DC?", "official-hybrid")


@pytest.mark.parametrize("kind", OFFICIAL)
def test_a_model_that_is_away_is_no_fault_of_theirs(graph: KnowledgeGraph, kind: str) -> None:
    away = {"embedder": "openai:x", "openai_base_url": "http://127.0.0.1:9/v1", "model_retries": 0}
    kg = KnowledgeGraph(graph.store, graph.settings.model_copy(update=away))
    with pytest.raises(ModelError, match="127.0.0.1:9"):
        official_search(kg, "Who?", kind)


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


def test_without_the_package(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparators, "_PACKAGE", "no_such_package")
    imported: list[str] = []
    load = builtins.__import__

    def watched(name: str, *more: Any) -> Any:
        imported.append(name)
        return load(name, *more)

    monkeypatch.setattr(builtins, "__import__", watched)
    with pytest.raises(SettingError, match=re.escape(to_install("graphrag"))):
        official_search(graph, "Who?", "official-vector")
    assert not [name for name in imported if name.startswith("neo4j_graphrag")]


def test_an_empty_graph(kg: KnowledgeGraph) -> None:
    with pytest.raises(InputError, match="The graph is empty"):
        official_search(kg, "Who?", "official-vector")


# ----------------------------------------------------------------------------------------------------- the model alone

COPIED = next(line for line in source_of("evaluate/zero_shot").splitlines() if line.startswith("{"))
USELESS = ["", COPIED, '{"reasoning": "It was', "Brunel", '{"reasoning": "No.", "answer": ""}']


def closed(*replies: str) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat(list(replies))
    return answer_closed(
        "Who designed the Great Eastern?", Calls(chat, Ledger()), ClosedOptions("open", "phrase")
    ), chat


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('{"reasoning": "Not Watt: it was Brunel.", "answer": "Brunel"}', "Brunel"),
        ('{"answer": "(B) Brunel"}', "(B) Brunel"),
        ('{"reasoning": "I cannot recall it.", "answer": "I do not know."}', "I do not know."),
    ],
)
def test_an_answer_is_read_without_its_thoughts(reply: str, text: str) -> None:
    answer, chat = closed(reply)
    assert (answer.text, answer.note) == (text, OWN_KNOWLEDGE)
    assert [step.name for step in answer.trace] == ["answer"]
    assert (chat.calls[0].stage, chat.calls[0].wanted.tokens) == ("answer", 400)


@pytest.mark.parametrize("useless", USELESS)
def test_what_cannot_be_read_is_asked_for_once_more(useless: str) -> None:
    answer, _ = closed(useless, '{"answer": "Brunel"}')
    assert answer.text == "Brunel"
    answer, _ = closed(useless, useless)
    assert (answer.text, answer.note) == (REFUSAL, "The language model gave no answer from its own knowledge.")
