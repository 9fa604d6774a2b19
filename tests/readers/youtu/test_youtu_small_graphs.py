"""The reader ``youtu`` on graphs that hardly hold anything. Each test has a graph of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from answers import cited
from corpora import put
from model_by_prompt import Model
from youtu_runs import TYPES, concludes, entities, fill_graph, plan, says

from kgplatform.client import KnowledgeGraph
from kgplatform.models.chat import Ledger
from kgplatform.readers.answer import NOTHING_NEAR, OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.run import Run
from kgplatform.readers.youtu.reader import Options, answer
from kgplatform.records import Answer
from kgplatform.search.evidence import Evidence
from kgplatform.testing import ScriptedChat

QUESTION = "Who built a mill?"


def run(evidence: Evidence, model: Model, **options: Any) -> Answer:
    return answer(QUESTION, Run(evidence, ScriptedChat(model), Ledger(), lambda: TYPES), Options(**options))


def test_a_graph_of_one_entity(kg: KnowledgeGraph, tmp_path: Path) -> None:
    known = {"document": "one.txt", "entities": entities({"Anna Reed": "Person"})}
    evidence = fill_graph(kg, tmp_path, {"one.txt": "Anna Reed."}, [known])
    told = plan("Who?", nodes=["Person"])
    model = Model(decompose=told, answer=says("Anna Reed", "Anna Reed"), reflect=concludes(""))
    done = run(evidence, model)
    assert (done.text, cited(done)) == ("Anna Reed [1]", [("one", "Anna Reed.")]), "the sentence"
    assert model.kinds == ["decompose", "answer", "reflect"]


def test_a_graph_without_passages_refuses_and_asks_no_more(kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg.ingest(put(tmp_path, {"one.txt": "Anna Reed built a mill."}), extractor="local")
    kg.remove("one")
    evidence = Evidence(kg.store, kg.embedder)
    model = Model(decompose=plan(QUESTION))
    done = run(evidence, model)
    assert (done.text, done.note, model.kinds) == (REFUSAL, NOTHING_NEAR, ["decompose"])
    model = Model(decompose=plan(QUESTION), answer='{"sufficient": false, "answer": "A miller."}')
    done = run(evidence, model, mode="open")
    assert (done.text, done.note, model.kinds) == ("A miller.", OWN_KNOWLEDGE, ["decompose", "answer"])
