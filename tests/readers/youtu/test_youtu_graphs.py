"""The reader ``youtu`` on graphs with a tree, and on graphs that hardly hold anything. Each test has its own."""

from pathlib import Path
from typing import Any

from answers import steps_of
from corpora import put
from model_by_prompt import Model
from youtu_runs import MILL_LINES, REFUSES, TYPES, concludes, fill_graph, plan

from kgplatform.client import KnowledgeGraph
from kgplatform.models.chat import Ledger
from kgplatform.readers.answer import NOTHING_NEAR, OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.run import Run
from kgplatform.readers.youtu.reader import Options, answer
from kgplatform.records import Answer
from kgplatform.search.evidence import Evidence
from kgplatform.testing import ScriptedChat

TEXTS = {
    "mill.txt": "The mill at Hollow Ford was built by Anna Reed in 1704.",
    "reed.txt": "Anna Reed came from Saltmarsh, and learnt her trade from Joost Vink.",
    "vink.txt": "Joost Vink came from Leiden.",
    "lamp.txt": "Ebbing has a lighthouse of its own.",
}
SUMMARY = "All of them came to the valley over water."
QUESTION = "Who built a mill?"
IN_COMMON = "What do the people of the valley have in common?"


def lines(**said: Any) -> Model:
    return Model({"answer": REFUSES, "reflect": concludes(""), **said})


def run(evidence: Evidence, model: Model, question: str, **options: Any) -> Answer:
    return answer(question, Run(evidence, ScriptedChat(model), Ledger(), lambda: TYPES), Options(**options))


def test_groups_are_shown_with_what_stands_under_them(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Where there is a tree, to questions about groups alone, unless communities are left out."""
    evidence = fill_graph(kg, tmp_path, TEXTS, MILL_LINES)
    model = lines(decompose=plan(IN_COMMON, group=True))
    done = run(evidence, model, IN_COMMON)
    assert not any("Groups near" in prompt.user for prompt in model.asked)
    assert not any("groups near" in step.detail for step in done.trace)

    kg.build_tree()
    summed = f"MATCH (c:Community) SET c.summary = '{SUMMARY}'"
    kg.store.run_statement(summed, {}, write=True, timeout=30, limit=1)
    model = lines(decompose=plan(IN_COMMON, group=True))
    done = run(evidence, model, IN_COMMON, top_k=3)
    for prompt in model.of("answer", "reflect"):
        assert "Groups near the question" in prompt.user
        assert SUMMARY in prompt.user
    step = steps_of(done, "search")[-1]
    assert step.detail.startswith("groups near the question: ")
    assert step.facts
    assert {passage.id for passage in done.evidence.passages} & set(step.passages), "its passages are evidence"
    assert all(f"] {fact.text}" in model.of("answer")[0].user for fact in done.evidence.facts)

    for group, options in ((False, {}), (True, {"community": False}), (True, {"without": ("community",)})):
        model = lines(decompose=plan(IN_COMMON, group=group))
        run(evidence, model, IN_COMMON, **options)
        assert not any("Groups near" in prompt.user for prompt in model.asked)


def test_a_graph_without_passages_refuses_and_asks_no_more(kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg.ingest(put(tmp_path, {"one.txt": "Anna Reed built a mill."}), extractor="local")
    kg.remove("one")
    evidence = Evidence(kg.store, kg.embedder)
    model = Model(decompose=plan(QUESTION))
    done = run(evidence, model, QUESTION)
    assert (done.text, done.note, model.kinds) == (REFUSAL, NOTHING_NEAR, ["decompose"])
    model = Model(decompose=plan(QUESTION), answer='{"sufficient": false, "answer": "A miller."}')
    done = run(evidence, model, QUESTION, mode="open")
    assert (done.text, done.note, model.kinds) == ("A miller.", OWN_KNOWLEDGE, ["decompose", "answer"])
