"""Follow-up questions: made to stand alone by one call, or asked as they are; and threads, kept turn by turn."""

import json

import pytest
from corpora import FIELD, OTHERS, RECORDING, put, put_jsonl
from graph_state import snapshot
from model_by_prompt import Model, Prompt
from youtu_runs import says

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ModelError
from kgplatform.explore.runs import ThreadInfo
from kgplatform.models.embed import HashEmbedder
from kgplatform.readers.thread import FAILED, Exchange, standalone_messages, why_not
from kgplatform.testing import ScriptedChat

FOUNDER = "Who founded the Atlantic Telegraph Company?"
BORN = "Where was Cyrus Field born?"
EARLIER = [
    Exchange("Which ship laid the cable of 1866?", "The Great Eastern [1]."),
    Exchange("Who was the captain of the Great Eastern?", "James Anderson [1]."),
]


def asked_as(text: str) -> str:
    return json.dumps({"reasoning": "He is Cyrus Field.", "question": text})


@pytest.fixture
def model() -> Model[Prompt]:
    return Model(
        answer=lambda prompt: says(
            *(
                ("Cyrus Field", "Cyrus Field founded the Atlantic Telegraph Company")
                if "founded" in prompt.question
                else ("In Stockbridge", "Cyrus Field was born in Stockbridge")
            )
        )(prompt),
        standalone=asked_as(BORN),
    )


@pytest.fixture(scope="module")
def filled(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    """The texts, which are only read, without a model."""
    folder = tmp_path_factory.mktemp("threads")
    texts, recording = put(folder / "texts", FIELD | OTHERS), put_jsonl(folder / "recording.jsonl", RECORDING)
    shared_kg.ingest(texts, recorded=recording)
    return shared_kg


@pytest.fixture
def graph(filled: KnowledgeGraph, model: Model[Prompt]) -> KnowledgeGraph:
    """With nothing that was asked before."""
    filled.cypher("MATCH (n) WHERE n:Run OR n:Step DETACH DELETE n", write=True)
    return KnowledgeGraph(filled.store, filled.settings, embedder=HashEmbedder(64), chat=ScriptedChat(model))


def test_a_follow_up_is_asked_as_it_stands_alone(graph: KnowledgeGraph, model: Model[Prompt]) -> None:
    thread = graph.chat()
    first = thread.ask(FOUNDER)
    assert (first.text, first.note, model.kinds) == ("Cyrus Field [1]", "", ["answer"]), (
        "a first question costs no call"
    )
    told: list[str] = []
    second = thread.ask("And where was he born?", on_step=lambda step: told.append(step.name))
    assert (second.question, second.text) == (BORN, "In Stockbridge [1]")
    assert second.note == f"Asked as: {BORN}"
    assert model.kinds == ["answer", "standalone", "answer"]
    assert model.asked[2].question == BORN
    assert told == [step.name for step in second.trace]
    assert (told[0], second.trace[0].detail) == ("stand alone", f"asked as: {BORN}")
    data = model.asked[1].data
    assert data == f"Question: {FOUNDER}\nAnswer: Cyrus Field"
    assert model.asked[1].user.endswith("The follow-up question: And where was he born?")


def test_a_thread_goes_on_where_it_was_left(graph: KnowledgeGraph, model: Model[Prompt]) -> None:
    thread = graph.chat()
    first = thread.ask(FOUNDER)
    again = graph.chat(thread.id)
    second = again.ask("Where was he born?", "retrieve", top_k=3)
    turns = graph.chat(thread.id).turns
    assert [(turn.number, turn.asked, turn.question, turn.reader) for turn in turns] == [
        (1, FOUNDER, FOUNDER, "retrieve"),
        (2, "Where was he born?", BORN, "retrieve"),
    ]
    assert [(turn.text, turn.note, turn.citations, turn.run) for turn in turns] == [
        (answer.text, answer.note, answer.citations, answer.run) for answer in (first, second)
    ]
    other = graph.chat()
    other.ask(FOUNDER)
    listed = graph.look.threads()
    assert [(each.id, each.question, each.turns) for each in listed] == [
        (other.id, FOUNDER, 1),
        (thread.id, FOUNDER, 2),
    ]
    assert all(isinstance(each, ThreadInfo) and each.at for each in listed)
    follows = graph.cypher("MATCH (b:Run)-[:FOLLOWS]->(a:Run) RETURN b.id, a.id").rows
    assert follows == [[second.run, first.run]]


def test_a_question_for_which_the_model_fails_can_be_referred_to(graph: KnowledgeGraph, model: Model[Prompt]) -> None:
    thread = graph.chat()
    answers = model.rules["answer"]
    model.rules["answer"] = ModelError("The model is gone.")
    with pytest.raises(ModelError, match="The model is gone") as caught:
        thread.ask(FOUNDER)
    assert caught.value.evidence is not None
    (failed,) = thread.turns
    assert (failed.asked, failed.text, failed.failed) == (FOUNDER, None, True)
    assert failed.note == "It failed: The model is gone."
    model.rules["answer"] = ModelError("Gone again.")
    with pytest.raises(ModelError, match="Gone again"):
        thread.ask("And where was he born?")
    model.rules["answer"] = answers
    second = thread.ask("And where was he born?")  # the same once more
    assert (second.question, second.text, second.note) == (BORN, "In Stockbridge [1]", f"Asked as: {BORN}")
    assert model.of("standalone")[0].data == f"Question: {FOUNDER}\nAnswer: (no answer)"
    assert [turn.failed for turn in thread.turns] == [True, True, False]
    assert sorted(run.failed for run in graph.look.runs()) == [False, True, True]


def test_a_removed_thread_leaves_nothing(graph: KnowledgeGraph) -> None:
    graph.ask(FOUNDER, keep=True)
    before = snapshot(graph.store)
    thread = graph.chat()
    assert snapshot(graph.store) == before, "a thread without a question is nowhere"
    thread.ask(FOUNDER)
    thread.ask("Where was he born?")
    graph.remove_thread(thread.id)
    assert snapshot(graph.store) == before
    for gone in (graph.chat, graph.remove_thread, graph.look.thread):
        with pytest.raises(InputError, match="There is no thread"):
            gone(thread.id)


def test_a_thread_without_a_model(filled: KnowledgeGraph) -> None:
    thread = filled.chat()
    thread.ask(FOUNDER)
    second = thread.ask("Where was he born?")
    assert (second.text, second.question) == (None, "Where was he born?")
    assert second.note.startswith(FAILED)
    assert [turn.text for turn in thread.turns] == [None, None]


def test_what_cannot_be_the_question_is_not_asked(graph: KnowledgeGraph, model: Model[Prompt]) -> None:
    for reply in (ModelError("The model is gone."), asked_as(FOUNDER), "I cannot do that.", asked_as("In 1066?")):
        thread = graph.chat()
        thread.ask(FOUNDER)
        model.rules["standalone"] = reply
        second = thread.ask("Where was he born?")
        assert (second.question, second.note) == ("Where was he born?", FAILED)
        assert model.asked[-1].question == "Where was he born?"
        assert "failed: " in second.trace[0].detail or "not used: " in second.trace[0].detail
        assert thread.turns[1].note == FAILED


@pytest.mark.parametrize(
    ("made", "question", "fault"),
    [
        ("When did James Anderson command the Great Eastern?", "When did he command it?", ""),
        ("Was the cable of 1866 mended?", "Was it mended?", ""),
        ("Was the cable mended?", "Was it mended in 1867?", "it leaves out 1867"),
        ("Was the cable of 1858 mended?", "Was it mended?", "nobody named 1858"),
        ("which ship laid the cable of 1866?", "And which ship?", "it is an earlier question"),
        ("Which ship laid the cable of 1866? The answer is the Hawk.", "And who?", "it goes on after the question"),
        ("Which ship laid the cable of 1866? Only its name.", "Which one? Only its name.", ""),
        ("No information was found.", "And which ship?", "it asks nothing"),
        ("James Anderson was " + "a captain of great renown, " * 20, "And who?", "it is too long for a question"),
    ],
)
def test_why_a_rewriting_is_not_used(made: str, question: str, fault: str) -> None:
    assert why_not(made, question, EARLIER) == fault


def test_what_does_not_fit_into_the_window_is_left_out() -> None:
    long = [Exchange(f"Question {number}?", "word " * 200) for number in range(8)]
    whole = standalone_messages("And then?", long, 32_768)[1]["content"]
    assert [f"Question {number}?" in whole for number in range(8)] == [True] * 8
    small = standalone_messages("And then?", long, 2_000)[1]["content"]
    assert "Question 7?" in small and "Question 0?" not in small
    assert whole.index("Question 7?") < whole.index("The follow-up question: And then?")
