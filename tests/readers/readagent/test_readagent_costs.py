"""From a text to answers over a server on loopback: gists are paid for once, and what each question costs on top."""

import os.path
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import opened
from corpora import put
from gists import labels, paused, shortened
from readagent_runs import Asked, chosen, page, pages, said
from texts import lines

from kgplatform.client import KnowledgeGraph
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.testing import OpenAIServer, ScriptedChat

PLACES = ("tower", "pier", "mill", "chapel", "quarry")
TEXT = "\n\n".join(f"The keeper of the {place} was Mara {place.title()}.\n\n{lines(22, place)}" for place in PLACES)


def plays(messages: Messages) -> str:
    """Pauses as soon as it may, shortens to who is told of, looks up the page that tells of it, and reads the name."""
    asked = Asked(messages)
    if asked.kind == "pause":
        return paused(labels(messages)[0])
    if asked.kind == "gist":
        kept = re.findall(r"The keeper of the \w+", asked.user)
        return shortened(f"{' and '.join(kept)} had a name." if kept else "It rained.")
    place = asked.question.rstrip("?").rpartition(" ")[2]
    wanted = [n for n, text in asked.memory.items() if f"keeper of the {place}" in text]
    if asked.kind == "lookup":
        return pages(*wanted[:1])
    if asked.kind == "next":
        return page(wanted[0] if wanted and asked.read == "(none)" else "STOP")
    if asked.kind == "choose":
        return chosen("A")
    found = re.search(rf"keeper of the {place} was (Mara \w+)", asked.data)
    return said(found[1], asked.number_of(found[1])) if found else said("", sufficient=False)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(plays) as server:
        yield server


@pytest.fixture
def graph(store: Store, server: OpenAIServer, tmp_path: Path) -> KnowledgeGraph:
    graph = opened(store, tmp_path / "home", openai_base_url=server.base_url)
    graph.ingest(put(tmp_path / "texts", {"keepers.txt": TEXT}), extractor="local")
    return graph


def test_gists_are_paid_for_once_and_each_question_adds_its_own_calls(
    graph: KnowledgeGraph, server: OpenAIServer
) -> None:
    report = graph.gist()
    assert report.pages == report.written > 2
    made = len(server.requests_to("/chat/completions"))
    assert made <= 2 * report.pages
    for number, place in enumerate(PLACES, start=1):
        done = graph.ask(f"Who was the keeper of the {place}?", "readagent")
        assert done.text == f"Mara {place.title()} [1]"
        assert done.usage.calls == 2, "a look-up and the answer"
        assert len(server.requests_to("/chat/completions")) == made + 2 * number
        assert done.counts["words.of_text"] == len(TEXT.split())
    before = len(server.requests_to("/chat/completions"))
    done = graph.ask("Who was the keeper of the chapel?", "readagent", lookup="sequential", pages=3)
    assert (done.usage.calls, done.usage.cached_calls) == (2, 1), "a page, STOP; the answer's prompt is known"
    assert len(server.requests_to("/chat/completions")) == before + 2
    again = graph.ask("Who was the keeper of the chapel?", "readagent", lookup="sequential", pages=3)
    assert (again.text, again.usage.calls, again.usage.cached_calls) == (done.text, 0, 3)
    assert len(server.requests_to("/chat/completions")) == before + 2

    chat = ScriptedChat(plays)
    reading = KnowledgeGraph(graph.store, graph.settings, embedder=graph.embedder, chat=chat)
    for place in ("chapel", "quarry"):
        reading.ask(f"Who was the keeper of the {place}?", "readagent")
    look_up, answer, next_look_up, _ = ("".join(each["content"] for each in call.messages) for call in chat.calls)
    same = os.path.commonprefix([look_up, next_look_up])
    assert same.endswith("Question: Who was the keeper of the "), "so that a server can use what it has read"
    same = os.path.commonprefix([look_up, answer])
    (read,) = (n for n, text in Asked(chat.calls[0].messages).memory.items() if "keeper of the chapel" in text)
    assert read > 0
    assert f"<Page {read}>" in same, "the same up to the page that is read again"
