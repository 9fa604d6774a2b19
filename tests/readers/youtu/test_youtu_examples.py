"""A worked example of the paper as a conversation with a model on loopback, over a real graph."""

import json
from pathlib import Path

from answers import cited
from model_by_prompt import Model
from youtu_runs import REFUSES, TYPES, concludes, entities, fill_graph, plan, says, triple

from kgplatform.client import KnowledgeGraph
from kgplatform.models.chat import Ledger
from kgplatform.models.openai_chat import make_chat
from kgplatform.readers.run import Run
from kgplatform.readers.youtu.reader import Options, answer
from kgplatform.records import Usage
from kgplatform.settings import Settings
from kgplatform.testing import OpenAIServer

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
