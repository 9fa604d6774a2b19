"""The paper's worked examples as conversations with a model on loopback, over real graphs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from answers import cited, steps_of
from model_by_prompt import Model
from youtu_runs import REFUSES, TYPES, concludes, entities, fill_graph, plan, says, triple

from kgplatform.client import KnowledgeGraph
from kgplatform.models.chat import Ledger
from kgplatform.models.openai_chat import make_chat
from kgplatform.readers.run import Run, SchemaTypes
from kgplatform.readers.youtu.reader import Options, answer
from kgplatform.records import Answer
from kgplatform.search.evidence import Evidence
from kgplatform.settings import Settings
from kgplatform.testing import OpenAIServer

Ask = Callable[[str, Evidence, Model, Options], Answer]


@pytest.fixture
def ask(settings: Settings) -> Ask:
    """The reader with the real client's chat, against a server on loopback that plays the model."""

    def run(question: str, evidence: Evidence, model: Model, options: Options, types: SchemaTypes = TYPES) -> Answer:
        with OpenAIServer(model) as server:
            ledger = Ledger()
            chat = make_chat(settings.model_copy(update={"openai_base_url": server.base_url}), ledger)
            done = answer(question, Run(evidence, chat, ledger, lambda: types), options)
            requests = server.requests_to("/chat/completions")
        assert len(requests) == len(model.kinds) == done.usage.calls == ledger.total.calls
        assert done.usage == sum((step.usage for step in done.trace), type(done.usage)())
        return done

    return run


# ----------------------------------------------------------------------------------------------------------------- Y1

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


def test_y1_a_new_query_finds_what_step_0_lacked(kg: KnowledgeGraph, tmp_path: Path, ask: Ask) -> None:
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
    done = ask(GOAL_QUESTION, evidence, model, Options(top_k=1))

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


# ----------------------------------------------------------------------------------------------------------------- Y2

FILMS = {
    "notions.txt": "Ethnic Notions is a film of 1987 about caricatures. It was directed by Marlon Riggs.",
    "riggs.txt": "Marlon Riggs taught in Berkeley. He died on 5 April 1994.",
    "gordon.txt": "Gordon of Ghost City is a serial of 1933 in twelve parts, directed by Ray Taylor.",
    "taylor.txt": "Ray Taylor made some hundred westerns. He died on 15 February 1952.",
    "other.txt": "The harbour of Esbjerg is large, and its fish is sold in Hamburg.",
}
FILM_LINES = [
    {
        "document": "notions.txt",
        "entities": entities({"Ethnic Notions": "Creative work", "Marlon Riggs": "Person"}),
        "triples": [triple("Ethnic Notions", "directed by", "Marlon Riggs")],
    },
    {
        "document": "riggs.txt",
        "entities": entities({"Marlon Riggs": "Person", "Berkeley": "Place"}),
        "triples": [triple("Marlon Riggs", "visited", "Berkeley")],
        "attributes": [{"entity": "Marlon Riggs", "key": "death date", "value": "5 April 1994"}],
    },
    {
        "document": "gordon.txt",
        "entities": entities({"Gordon of Ghost City": "Creative work", "Ray Taylor": "Person"}),
        "triples": [triple("Gordon of Ghost City", "directed by", "Ray Taylor")],
    },
    {
        "document": "taylor.txt",
        "entities": entities({"Ray Taylor": "Person"}),
        "attributes": [{"entity": "Ray Taylor", "key": "death date", "value": "15 February 1952"}],
    },
]
FILM_QUESTION = "Which film has the director who died earlier, Ethnic Notions or Gordon of Ghost City?"


def test_y2_four_sub_questions_bounded_by_the_types(kg: KnowledgeGraph, tmp_path: Path, ask: Ask) -> None:
    evidence = fill_graph(kg, tmp_path, FILMS, FILM_LINES)
    parts = (
        "Who directed Ethnic Notions?",
        "Who directed Gordon of Ghost City?",
        "When did the director of Ethnic Notions die?",
        "When did the director of Gordon of Ghost City die?",
    )
    quotes = "He died on 15 February 1952.", "He died on 5 April 1994."
    model = Model(
        decompose=plan(*parts, nodes=["creative_work", "person"], relations=["directed_by"]),
        answer=says("Gordon of Ghost City", *quotes),
        reflect=concludes("Gordon of Ghost City"),
    )
    done = ask(FILM_QUESTION, evidence, model, Options())
    assert model.kinds == ["decompose", "answer", "reflect"]
    searches = steps_of(done, "search")
    assert [step.detail.partition(": ")[2].rpartition(": ")[0] for step in searches] == [*parts, FILM_QUESTION]
    assert steps_of(done, "decompose")[0].detail.endswith("types: Creative work, Person, directed by")
    bounded = ["search/fact_types" in [run.name for run in step.queries] for step in searches]
    assert bounded == [True, True, True, True, False], "the whole question is not bounded by types"
    assert [len(step.facts) for step in searches] == [4, 4, 4, 4, 5], "facts of other types are left out"
    assert [len(step.passages) for step in searches] == [5] * 5, "passages never are"
    assert done.text == "Gordon of Ghost City [1][2]"
    assert cited(done) == [("taylor", quotes[0]), ("riggs", quotes[1])]
