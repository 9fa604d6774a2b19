"""``verify``: the model is asked once more whether the cited sentences support each statement."""

import json
from typing import Any

import pytest
from corpora import put

from kgplatform.client import KnowledgeGraph
from kgplatform.records import Answer
from kgplatform.testing import ScriptedChat

QUESTION = "Where did Ada Lovelace live, and when?"
TEXT = "Ada Lovelace lived in London, near the river. She moved there in 1835."
SAID = json.dumps({"answer": "In London [1.1]. From 1847 on [1.2]. She liked it.", "sufficient": True})
VERDICTS = json.dumps({"supported": [True, False]})


@pytest.fixture(scope="module")
def graph(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    shared_kg.ingest(put(tmp_path_factory.mktemp("texts"), {"ada.txt": TEXT}))
    return shared_kg


def asked(graph: KnowledgeGraph, *replies: str, **more: Any) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat(replies)
    with_chat = KnowledgeGraph(graph.store, graph.settings, embedder=graph.embedder, chat=chat)
    done = with_chat.ask(QUESTION, **more)
    assert len(chat.calls) == len(replies)
    return done, chat


def test_each_cited_statement_has_what_the_model_finds_of_it(graph: KnowledgeGraph) -> None:
    done, chat = asked(graph, SAID, VERDICTS, verify=True)
    assert [each.supported for each in done.statements] == [True, False, None]
    assert [each.marks for each in done.statements] == [
        ("the model finds this supported by its citation",),
        ("not in the cited text: 1847", "the model finds this not supported by its citation"),
        (),
    ]
    shown = chat.calls[1].messages[-1]["content"]
    assert "Statement 1: In London.\nSentences: Ada Lovelace lived in London, near the river.\n" in shown
    assert "She liked it" not in shown, "what cites nothing is not asked for"
    assert [step.name for step in done.trace] == ["search", "answer", "verify"]
    assert done.trace[-1].detail == "the model finds 1 of 2 statements supported"


def test_nothing_is_asked_unless_it_is_wanted_and_something_is_cited(graph: KnowledgeGraph) -> None:
    done, _ = asked(graph, SAID)
    assert [each.supported for each in done.statements] == [None, None, None]
    done, _ = asked(graph, json.dumps({"answer": "In London.", "sufficient": True}), verify=True)
    assert done.text == "In London."
    assert graph.ask(QUESTION, verify=True).text is None, "without a model the evidence speaks"


def test_an_answer_stays_where_verifying_fails(graph: KnowledgeGraph) -> None:
    done, _ = asked(graph, SAID, "no", "no", verify=True)
    assert (done.text or "").startswith("In London [1].")
    assert "Its statements were not verified: The language model's answer in stage verify cannot be used" in done.note


def test_a_kept_answer_a_thread_and_a_stream_show_the_same(graph: KnowledgeGraph) -> None:
    done, _ = asked(graph, SAID, VERDICTS, verify=True, keep=True)
    run, steps = graph.look.run(str(done.run))
    assert (run.statements, run.sufficient) == (done.statements, True)
    assert graph.look.citations(str(done.run)) == done.citations
    assert steps[-1]["name"] == "verify"
    assert graph.look.runs()[0].statements == done.statements

    chat = ScriptedChat([SAID, VERDICTS] * 2)
    with_chat = KnowledgeGraph(graph.store, graph.settings, embedder=graph.embedder, chat=chat)
    thread = with_chat.chat()
    done = thread.ask(QUESTION, verify=True)
    (turn,) = thread.turns
    assert (turn.statements, turn.sufficient, turn.citations) == (done.statements, True, done.citations)

    *steps, last = with_chat.stream(QUESTION, verify=True)
    assert isinstance(last, Answer)
    assert [getattr(each, "name", None) for each in steps if not isinstance(each, str)][-1] == "verify"
    assert last.statements[1].supported is False
