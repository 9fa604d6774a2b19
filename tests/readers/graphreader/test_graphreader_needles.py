"""Needles in invented texts, found by GraphReader with a model that matches strings, behind a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from haystack import Haystack, cut_needle, joined_needles, single_needles
from rule_reader import RuleReader

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.records import Answer
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import OpenAIServer
from kgplatform.text import count_tokens

WINDOW = 4096


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(RuleReader()) as server:
        yield server


@pytest.fixture
def settings(model: OpenAIServer, tmp_path: Path) -> Settings:
    return load_settings(home=tmp_path / "home", embedder="hash:64", openai_base_url=model.base_url)


@pytest.fixture
def graph(store: Store, settings: Settings) -> KnowledgeGraph:
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(64))


def ingest(graph: KnowledgeGraph, hay: Haystack, folder: Path) -> None:
    """The text as one document, its facts read by the model."""
    file = folder / "hay.txt"
    file.write_text(hay.text, encoding="utf-8")
    graph.ingest(file, extractor="local", facts=True)


def is_right(answer: Answer, hay: Haystack, told: str) -> bool:
    """The answer says it, and cites words of the text that say it too."""
    return told in (answer.text or "") and any(told in hay.text[each.start : each.end] for each in answer.citations)


def test_every_single_needle_is_found_and_cited_at_every_depth(
    graph: KnowledgeGraph, model: OpenAIServer, tmp_path: Path
) -> None:
    hay = single_needles(12_000, depths=5)
    ingest(graph, hay, tmp_path)
    answers = [graph.ask(each.question, "graphreader", window_tokens=WINDOW) for each in hay.needles]
    assert [is_right(answer, hay, each.answer) for answer, each in zip(answers, hay.needles, strict=True)] == [True] * 5
    first, last = (graph.ask(hay.needles[at].question, "fulltext", window_tokens=WINDOW).text for at in (0, -1))
    assert first is not None
    assert hay.needles[0].answer in first
    assert hay.needles[-1].answer not in (last or "")
    bodies = [each.body["messages"] for each in model.requests_to("/chat/completions")]
    assert all(sum(count_tokens(message["content"]) for message in messages) <= WINDOW for messages in bodies)


def test_two_needles_that_one_name_joins_are_put_together(graph: KnowledgeGraph, tmp_path: Path) -> None:
    hay = joined_needles(6_000)
    ingest(graph, hay, tmp_path)
    answer = graph.ask(hay.needles[0].question, "graphreader", window_tokens=WINDOW)
    assert is_right(answer, hay, hay.needles[0].answer)
    assert answer.counts["neighbours.read_neighbor_node"] >= 1


def test_a_needle_that_a_passage_border_cuts_is_read_on_in_the_next_passage(
    graph: KnowledgeGraph, settings: Settings, tmp_path: Path
) -> None:
    hay = cut_needle(3_000, settings.passage_tokens)
    ingest(graph, hay, tmp_path)
    question, told = hay.needles[0].question, hay.needles[0].answer
    alone = graph.ask(question, "graphreader", window_tokens=WINDOW, reading_tokens=1)
    assert is_right(alone, hay, told)
    assert alone.counts["chunk.read_subsequent_chunk"] >= 1
    together = graph.ask(question, "graphreader", window_tokens=WINDOW, reading_tokens=2000)
    assert is_right(together, hay, told)
    assert "chunk.read_subsequent_chunk" not in together.counts, "the passages around it are read with it"
