"""What the tests of the reader graphreader share: graphs of given facts, and a model that plays by rules."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from conftest import DIMENSION
from corpora import put
from model_by_prompt import Line, Model, Prompt

from kgplatform.client import KnowledgeGraph
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder, Vectors, unit
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.readers.graphreader.reader import Options, answer
from kgplatform.readers.run import Run
from kgplatform.records import Answer
from kgplatform.search.evidence import Evidence
from kgplatform.settings import Settings
from kgplatform.testing import ScriptedChat


class Asked(Prompt):
    """A prompt of the reader, taken apart. ``here``: the node, or the title of the passage, that it is about."""

    @property
    def here(self) -> str:
        found = re.search(r"^(?:Node|Passage \d+): (.+)$", self.user, re.MULTILINE)
        return found[1] if found else ""

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
        inside = self.user[self.user.index("<data-") :].partition(">\n")[2].partition("\n</data-")[0]
        if self.kind == "nodes":
            return inside.removeprefix("Nodes:\n")
        if self.kind in ("plan", "answer"):
            return inside
        shown = inside.partition("Notebook:\n")[2].partition("\n\n")[2]
        return shown if self.kind == "chunk" else shown.partition(":\n")[2]

    @property
    def numbers(self) -> dict[str, str]:
        """The shown sentences or facts, with their numbers."""
        return {said: number for number, said in re.findall(r"^\[([\d.-]+)\] (.*)$", self.data, re.MULTILINE)}

    @property
    def passages_shown(self) -> list[int]:
        """The numbers of the passages that stand in it."""
        return [int(number) for number in re.findall(r"^Passage (\d+): ", self.data, re.MULTILINE)]

    def number_of(self, words: str) -> str:
        """The number of the sentence in which ``words`` stand."""
        return next(number for said, number in self.numbers.items() if words in said)

    def passage_of(self, words: str) -> int:
        """The number of the passage that states ``words``."""
        return int(self.number_of(words).partition(".")[0])

    def _between(self, start: str, end: str) -> str:
        return self.user.partition(start)[2].partition(end)[0] if start in self.user else ""


class Walker(Model[Asked]):
    """A model by rules, one for each kind of prompt; what has none says that there is nothing."""

    def __init__(self, starts: Sequence[str] = (), **rules: Line) -> None:
        nothing: dict[str, Line] = {
            "plan": plan("Find it."),
            "nodes": proposals({name: 90 - n for n, name in enumerate(starts)}),
            "facts": step("stop_and_read_neighbor"),
            "chunk": step("search_more"),
            "neighbours": go(),
            "answer": final("", sufficient=False),
        }
        super().__init__({**nothing, **rules}, Asked)


def plan(*steps: str) -> str:
    return json.dumps({"steps": steps})


def proposals(scores: Mapping[str, float]) -> str:
    return json.dumps({"nodes": [{"node": name, "score": score} for name, score in scores.items()]})


def step(action: str, notebook: str = "", **more: Any) -> str:
    """What a model does at facts or a text."""
    return json.dumps({"reasoning": "It is what is next.", "notebook": notebook, "action": action, **more})


def reads(*chunks: int, notebook: str = "") -> str:
    return step("read_chunk", notebook, chunks=chunks)


def go(node: str = "") -> str:
    """On to a neighbour; without one the walk ends."""
    action = "read_neighbor_node" if node else "termination"
    return json.dumps({"reasoning": "It is what is next.", "action": action, "node": node})


def final(text: str, sufficient: bool = True) -> str:
    return json.dumps({"evidence": [], "answer": text, "sufficient": sufficient})


class Mixed(HashEmbedder):
    """Every word has a place of its own among 256, and those are mixed into as many numbers as most tests have."""

    def __init__(self) -> None:
        super().__init__(256)
        self.name = f"mixed:{DIMENSION}"
        self._places = np.random.default_rng(3).standard_normal((256, DIMENSION)).astype(np.float32)

    @property
    def dimension(self) -> int:
        """See ``Embedder.dimension``."""
        return DIMENSION

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See ``Embedder.embed``."""
        return unit(super().embed(texts) @ self._places)


def fill(store: Store, settings: Settings, folder: Path, texts: Mapping[str, str], elements: Sequence[str]) -> Evidence:
    """A graph of ``texts``: every sentence that has some of ``elements`` is an atomic fact about those.

    No two names have the same vector: they would be one node then.
    """

    def extract(messages: Messages) -> str:
        told = Prompt(messages).sentences.items()
        facts = [[str(number), *(name for name in elements if name in said)] for number, said in told]
        return json.dumps({"facts": [fact for fact in facts if len(fact) > 1], "entities": []})

    kg = KnowledgeGraph(store, settings, embedder=Mixed(), chat=ScriptedChat(extract))
    kg.ingest(put(folder / "texts", dict(texts)))
    return Evidence(store, kg.embedder)


def ask(evidence: Evidence, model: Walker, question: str, **options: Any) -> Answer:
    """One passage is read at once, unless ``reading_tokens`` say otherwise."""
    return answer(question, Run(evidence, ScriptedChat(model), Ledger()), Options(**{"reading_tokens": 1, **options}))


def walked(done: Answer, path: int = 1) -> list[str]:
    return [each.name for each in done.trace if each.path == path]


def walk(kg: KnowledgeGraph, question: str, *names: str, keep: bool = False) -> Answer:
    """A path from each of ``names``: its facts, the first passage that states one, then no neighbour.

    The reply about each first passage has no action, so that it is asked for again.
    """
    model = Walker(
        names,
        facts=lambda asked: reads(asked.passages_shown[0]),
        chunk=_first_words,
        answer=lambda asked: final(asked.data.partition("\n")[2].partition("\n")[0]),
    )
    scripted = KnowledgeGraph(kg.store, kg.settings, embedder=HashEmbedder(64), chat=ScriptedChat(model))
    return scripted.ask(question, "graphreader", nodes=len(names), keep=keep)


def _first_words(asked: Asked) -> str:
    """Notes the first sentence of the passage that has a full stop, which the answer repeats."""
    if "could not be used" not in asked.user:
        return "Hm."
    said, number = next(((said, number) for said, number in asked.numbers.items() if said.endswith(".")), ("", ""))
    return step("search_more", f"{said} [{number}]")
