"""The reader ``youtu`` on graphs of each test's own: with a tree, hardly with anything, and of the paper's example."""

import json
from pathlib import Path
from typing import Any

from answers import cited, steps_of
from corpora import put
from model_by_prompt import Model
from youtu_runs import MILL_LINES, REFUSES, TYPES, concludes, entities, fill_graph, plan, says, triple

from kgplatform.client import KnowledgeGraph
from kgplatform.models.chat import Ledger
from kgplatform.models.openai_chat import make_chat
from kgplatform.readers.answer import NOTHING_NEAR, OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.run import Run
from kgplatform.readers.youtu.reader import Options, answer
from kgplatform.records import Answer, Usage
from kgplatform.search.evidence import Evidence
from kgplatform.settings import Settings
from kgplatform.testing import OpenAIServer, ScriptedChat

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


GOALS = {
    "season.txt": (
        "In the cup of the 2006-07 season Lionel Messi ran from his own half past five players of Getafe and scored. "
        "The newspapers compared the goal to the goal of the century, which Diego Maradona had scored in Mexico."
    ),
    "transfer.txt": (
        "Diego Maradona left Boca Juniors in June 1982, when the Catalans paid five million pounds for him. "
        "Two years later he went on to Napoli."
    ),
    "museum.txt": "When the museum was opened, a person of few words was signed by Barcelona to look after the cups.",
    "getafe.txt": "Getafe is a town to the south of Madrid, and its team plays in blue.",
}
GOAL_LINES = [
    {
        "document": "season.txt",
        "entities": entities(
            {"Lionel Messi": "Person", "Diego Maradona": "Person", "goal of the century": "Creative work"}
        ),
        "triples": [triple("Lionel Messi", "compared to", "Diego Maradona")],
    },
    {
        "document": "transfer.txt",
        "entities": entities({"Diego Maradona": "Person", "Boca Juniors": "Organization"}),
        "triples": [triple("Diego Maradona", "transferred from", "Boca Juniors")],
    },
]
GOAL_QUESTION = "When was the person whose goal Messi's cup goal was compared to signed by Barcelona?"


def test_y1_a_new_query_finds_what_step_0_lacked(kg: KnowledgeGraph, settings: Settings, tmp_path: Path) -> None:
    """With the real client's chat."""
    evidence = fill_graph(kg, tmp_path, GOALS, GOAL_LINES)
    parts = "To whose goal was Messi's goal compared?", "When did Barcelona sign the person?"
    june = "Diego Maradona left Boca Juniors in June 1982, when the Catalans paid five million pounds for him."
    query = "When did Diego Maradona leave Boca Juniors?"
    missing = json.dumps({"reasoning": "When he was signed is missing.", "query": query, "answer": ""})
    model = Model(
        decompose=plan(*parts, nodes=["Person", "club"], relations=["signed", "compared-to"]),
        answer=[REFUSES, says("In June 1982", june)],
        reflect=[missing, concludes("June 1982")],
    )
    with OpenAIServer(model) as server:
        ledger = Ledger()
        chat = make_chat(settings.model_copy(update={"openai_base_url": server.base_url}), ledger)
        done = answer(GOAL_QUESTION, Run(evidence, chat, ledger, lambda: TYPES), Options(top_k=1))
        requests = server.requests_to("/chat/completions")
    assert len(requests) == len(model.kinds) == done.usage.calls == ledger.total.calls
    assert done.usage == sum((step.usage for step in done.trace), Usage())

    assert model.kinds == ["decompose", "answer", "reflect", "reflect", "answer"]
    assert (done.text, done.note) == ("In June 1982 [1]", "")
    assert cited(done) == [("transfer", june)]
    decompose, first, one, two, final = (prompt.user for prompt in model.asked)
    assert "compared to" in decompose
    assert all(GOAL_QUESTION in prompt.user for prompt in model.asked)
    assert "compared the goal" in first
    assert june not in first
    assert f"Current query: {GOAL_QUESTION}" in one
    assert "Step 1 of at most 5." in one
    assert "First answer" not in one, "a refusal is no thought"
    assert "There is no answer yet." in one
    assert june not in one
    assert f"Current query: {query}" in two
    assert "When he was signed is missing." in two, "the first thought is shown to the second"
    for prompt in (two, final):
        assert june in prompt
        assert "compared the goal" in prompt, "the evidence of every step is in it"
    assert [step.name for step in done.trace] == [
        *("decompose", "search", "search", "search", "first answer"),
        *("reflect 1", "search", "reflect 2", "final answer"),
    ]
    again = done.trace[6]
    assert again.detail.startswith(f"new query: {query}: 1 passage, ")
    assert again.queries
