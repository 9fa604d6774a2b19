"""What the tests of the reader graphreader share: graphs of given facts, and a model that plays by rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corpora import put
from model_by_prompt import Line, Model, Prompt

from kgplatform.client import KnowledgeGraph
from kgplatform.models.chat import Ledger
from kgplatform.models.hash_embedder import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.readers.graphreader.reader import Options, answer
from kgplatform.readers.run import Run
from kgplatform.records import Answer
from kgplatform.retrieve.evidence import Evidence
from kgplatform.settings import Settings
from kgplatform.testing import ScriptedChat


class Asked(Prompt):
    """A prompt of the reader, taken apart. ``here``: the node, or the passage's id, that it is about."""

    @property
    def here(self) -> str:
        found = re.search(r"^(?:Node: |Chunk (?=ID-))(.+)$", self.user, re.MULTILINE)
        return found[1].partition(" (")[0] if found and self.kind == "chunk" else found[1] if found else ""

    @property
    def notebook(self) -> str:
        return self._between("Notebook:\n", "\n\n")

    @property
    def actions(self) -> list[str]:
        listed = self._between("Previous actions:\n", "\n\n")
        return [] if listed == "(none)" else listed.splitlines()

    @property
    def data(self) -> str:
        """The facts, the text, the names, or the notebooks."""
        inside = self.user[self.user.index("<data-") :].partition(">\n")[2].rpartition("\n</data-")[0]
        if self.kind == "nodes":
            return inside.removeprefix("Nodes:\n")
        if self.kind in ("plan", "answer"):
            return inside
        head = {"facts": "Its atomic facts", "chunk": f"Chunk {self.here}", "neighbours": "Its neighbours"}[self.kind]
        return inside[inside.rindex(f"\n{head}") + 1 :].partition("\n")[2]

    @property
    def path(self) -> int:
        """The number of the walk, told from an id of a passage; 0 where there is none."""
        found = re.search(r"ID-(\d+)", self.user)
        return int(found[1]) // 1000 if found else 0

    def id_of(self, words: str) -> str:
        """The id of the passage in whose facts ``words`` stand."""
        groups = re.findall(r"^(ID-\d+) \(.*\)\n((?:- .*\n?)+)", self.data, re.MULTILINE)
        return next(id_ for id_, facts in groups if words in facts)

    def _between(self, start: str, end: str) -> str:
        return self.user.partition(start)[2].partition(end)[0] if start in self.user else ""


class Walker(Model[Asked]):
    """A model by rules, one for each kind of prompt; what has none says that there is nothing."""

    def __init__(self, starts: Sequence[str] = (), **rules: Line) -> None:
        nothing: dict[str, Line] = {
            "plan": "Find it.",
            "nodes": proposals({name: 90 - n for n, name in enumerate(starts)}),
            "facts": step("stop_and_read_neighbor()"),
            "chunk": step("search_more()"),
            "neighbours": step("termination()", None),
            "answer": "Analyze: nothing.\nFinal answer: The documents do not say.",
        }
        super().__init__({**nothing, **rules}, Asked)


def proposals(scores: Mapping[str, float]) -> str:
    return "\n".join(f"Node: {name}, Score: {score}" for name, score in scores.items())


def step(action: str, notebook: str | None = "None") -> str:
    """A reply in the paper's form; without a notebook if it is None."""
    first = "" if notebook is None else f"Updated Notebook: {notebook}\n"
    return f"{first}Rationale for Next Action: It is what is next.\nChosen Action: {action}"


def final(text: str) -> str:
    return f"Analyze: all is clear.\nFinal answer: {text}"


def fill(store: Store, settings: Settings, folder: Path, texts: Mapping[str, str], elements: Sequence[str]) -> Evidence:
    """A graph of ``texts``: every sentence that has some of ``elements`` is an atomic fact about those.

    In fewer dimensions than 256 two names can have the same vector, and are one node then.
    """

    def extract(messages: Messages) -> str:
        told = Prompt(messages).sentences.items()
        facts = [[str(number), *(name for name in elements if name in said)] for number, said in told]
        return json.dumps({"facts": [fact for fact in facts if len(fact) > 1], "entities": []})

    kg = KnowledgeGraph(store, settings, embedder=HashEmbedder(256), chat=ScriptedChat(extract))
    kg.ingest(put(folder / "texts", dict(texts)))
    return Evidence(store, kg.embedder)


def ask(evidence: Evidence, model: Walker, question: str, **options: Any) -> Answer:
    """One passage is read at once, unless ``reading_tokens`` say otherwise."""
    return answer(question, Run(evidence, ScriptedChat(model), Ledger()), Options(**{"reading_tokens": 1, **options}))


def walked(done: Answer, path: int = 1) -> list[str]:
    """The names of a walk's steps."""
    return [each.name for each in done.trace if each.path == path]


def walk(kg: KnowledgeGraph, question: str, *names: str, keep: bool = False) -> Answer:
    """A path from each of ``names``: its facts, the first passage that states one, then no neighbour.

    The reply about each first passage has no action, so that it is asked for again.
    """
    model = Walker(
        names,
        facts=lambda asked: step("read_chunk({})".format(*re.findall(r"^(ID-\d+) \(", asked.user, re.MULTILINE))),
        chunk=_first_words,
        answer=lambda asked: final("{1} {0}.".format(*re.findall(r'(\[ID-\d+ "([^"]*)"\])', asked.user)[0])),
    )
    scripted = KnowledgeGraph(kg.store, kg.settings, embedder=HashEmbedder(64), chat=ScriptedChat(model))
    return scripted.ask(question, "graphreader", nodes=len(names), keep=keep)


def _first_words(asked: Asked) -> str:
    """Notes the first sentence of the passage, below its headings, which the answer repeats."""
    found = re.search(r'^Chunk (ID-\d+).*:\n(?:[^".\n]*\n)*([^".\n]+)\.', asked.user, re.MULTILINE)
    mark = f'[{found[1]} "{found[2]}"]' if found else ""
    action = (
        "Hm." if asked.user.endswith("?") else "Chosen Action: search_more()"
    )  # the reminder is behind the question
    return f"Updated Notebook: It is so {mark}.\nRationale for Next Action: There may be more.\n{action}"
