"""A graph in which pages were read again, by a model that cites the first sentence that it is shown."""

from __future__ import annotations

import json
import re

from readagent_runs import pages, said
from written_pages import define_pages, write_pages

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.prompt import Messages
from kgplatform.testing import ScriptedChat


def model(messages: Messages) -> str:
    """Says the first sentence of the first passage."""
    found = re.search(r"^\[(\d+\.\d+)\] ([^.]+)", messages[-1]["content"], re.MULTILINE)
    number, words = found.groups() if found else ("", "")
    return json.dumps({"evidence": [number], "answer": f"{words} [{number}].", "sufficient": True})


def read_again(graph: KnowledgeGraph) -> None:
    """Two pages of one document, and a kept run that read the first of them again."""
    define_pages(graph.store)
    document = graph.documents()[0].title
    write_pages(graph.store, document, [("The first page.", "The first."), ("All the rest.", "The rest.")])
    chat = ScriptedChat([pages(0), said("It says so.", "1.1")])
    reading = KnowledgeGraph(graph.store, graph.settings, embedder=HashEmbedder(64), chat=chat)
    assert reading.ask("What does it say?", "readagent", documents=[document], keep=True).counts["pages.looked_up"] == 1
