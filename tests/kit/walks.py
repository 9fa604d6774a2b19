"""A run of the reader graphreader with a model that plays by rules, for tests of what is printed and kept of one."""

from __future__ import annotations

import re

from kgplatform.client import KnowledgeGraph
from kgplatform.models.hash_embedder import HashEmbedder
from kgplatform.prompt import Messages
from kgplatform.records import Answer
from kgplatform.testing import ScriptedChat


def walk(kg: KnowledgeGraph, question: str, *names: str, keep: bool = False) -> Answer:
    """A path from each of ``names``: its facts, the first passage that states one, then no neighbour.

    The reply about each first passage has no action, so that it is asked for again.
    """
    chat = ScriptedChat(lambda messages: _reply(messages, names))
    scripted = KnowledgeGraph(kg.store, kg.settings, embedder=HashEmbedder(64), chat=chat)
    return scripted.ask(question, "graphreader", nodes=len(names), keep=keep)


def _reply(messages: Messages, names: tuple[str, ...]) -> str:
    system, text = messages[0]["content"], messages[1]["content"]
    if system.startswith("You plan"):
        return "First one, then the other."
    if system.startswith("You choose where"):
        return "\n".join(f"Node: {name}, Score: {90 - number}" for number, name in enumerate(names))
    if system.startswith("You read the atomic facts"):
        (first, *_) = re.findall(r"^(ID-\d+) \(", text, re.MULTILINE)
        return (
            f"Updated Notebook: Nothing.\nRationale for Next Action: It may help.\nChosen Action: read_chunk({first})"
        )
    if system.startswith("You read a chunk"):
        found = re.search(r"^Chunk (ID-\d+).*:\n(\w+ \w+ \w+)", text, re.MULTILINE)
        mark = f'[{found[1]} "{found[2]}"]' if found else ""
        action = "Hm." if text.endswith(">") else "Chosen Action: search_more()"  # the reminder stands behind the tags
        return f"Updated Notebook: It is so {mark}.\nRationale for Next Action: There may be more.\n{action}"
    if system.startswith("You choose the next node"):
        return "Rationale for Next Action: Enough.\nChosen Action: termination()"
    marks = re.findall(r'\[ID-\d+ "[^"]*"\]', text)
    return f"Analyze: They agree.\nFinal answer: It is so {marks[0]}."
