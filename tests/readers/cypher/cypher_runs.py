"""Runs of the reader ``cypher`` with what a model says written beforehand."""

import json
from typing import Any

from kgplatform.client import KnowledgeGraph
from kgplatform.records import Answer, Step
from kgplatform.testing import ScriptedChat
from kgplatform.text import rejoin

QUESTION = "Who founded the Atlantic Telegraph Company?"


def statement(text: str, **parameters: Any) -> str:
    return json.dumps({"statement": text, "parameters": parameters})


def said(text: str, *, sufficient: bool = True) -> str:
    return json.dumps({"sufficient": sufficient, "answer": text})


def asked(
    graph: KnowledgeGraph, *replies: str, question: str = QUESTION, **options: Any
) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat(replies)
    with_chat = KnowledgeGraph(graph.store, graph.settings, embedder=graph.embedder, chat=chat)
    done = with_chat.ask(question, "cypher", **options)
    assert len(chat.calls) == len(replies), "every scripted reply was asked for"
    return done, chat


def named(answer: Answer, name: str) -> list[Step]:
    return [step for step in answer.trace if step.name == name]


def cited_words(graph: KnowledgeGraph, answer: Answer) -> list[str]:
    """The characters of the documents that an answer cites."""
    found = []
    for each in answer.citations:
        pieces = graph.cypher(
            "MATCH (c:Chunk)-[:FROM_DOCUMENT]->(:Document {uri: $uri}) RETURN c.start, c.text ORDER BY c.start",
            {"uri": each.document},
        )
        found.append(rejoin([(start, text) for start, text in pieces.rows], each.start, each.end))
    return found
