"""An evaluation in this process: what is asked again, failures, scores that change with their gold, recall alone."""

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import emptied, settings_at, wipe
from corpora import put
from model_by_prompt import Prompt
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.threads import MOST_FAILURES
from kgplatform.errors import BudgetError, InputError, ModelError
from kgplatform.evaluate.evaluation import EvaluationPlan, evaluate
from kgplatform.evaluate.graphs import CURRENT, Graphs
from kgplatform.evaluate.kept_answers import inquiry_for
from kgplatform.evaluate.retrieval import ROUTES, Measured, RouteRow, evaluate_retrieval
from kgplatform.evaluate.setups import names, parse_setups, resolved
from kgplatform.evaluate.terms import Build, DataSet, Mean, Question, Results, Setup, Text, Timing
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages, source_of
from kgplatform.readers.answer import STYLES
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import OpenAIServer, ScriptedChat

TEXTS = {
    "lamp.txt": "Ann Ottley kept the Red Lamp. She lit it every evening for thirty years.",
    "ship.txt": "The ship Heron sailed to Bergen in May. Its master was Tom Pell.",
    "mill.txt": "The mill of Stockbridge burned down in 1871. Nobody built it again.",
}
LAMP = Question("q1", "Who kept the Red Lamp?", ("Ann Ottley",), kind="who", facts=("Ann Ottley kept the Red Lamp.",))
SHIP = Question("q2", "Where did the ship Heron sail?", ("Bergen",), kind="where")
MILL = Question("q3", "When did the mill of Stockbridge burn down?", ("1871",), kind="when")
ASKED = DataSet("own", (LAMP, SHIP, MILL))


@pytest.fixture
def settings(neo4j_server: Connection, tmp_path: Path) -> Settings:
    """The tests' server as the one that is given."""
    return settings_at(neo4j_server, tmp_path / "home")


@pytest.fixture(scope="module")
def texts(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Three small documents, which no test changes but the last ones: those have a graph of their own."""
    with emptied(neo4j_server, tmp_path_factory.mktemp("home")) as graph:
        graph.ingest(put(tmp_path_factory.mktemp("corpus"), TEXTS), extractor="local")


@pytest.fixture
def graph(kg: KnowledgeGraph, tmp_path: Path) -> KnowledgeGraph:
    """Three small documents in a graph that the test may change. The texts of the module are gone then."""
    kg.ingest(put(tmp_path / "corpus", TEXTS), extractor="local")
    return kg


class Desk:
    """Runs plans with one model, and knows what it was asked."""

    def __init__(self, settings: Settings, out: Path) -> None:
        self.settings = settings
        self.chat: ScriptedChat | None = ScriptedChat(reply)
        self.out = out
        self.notes: list[str] = []

    def run(self, readers: str, dataset: DataSet = ASKED, **changes: Any) -> tuple[Results, Timing]:
        plan = replace(EvaluationPlan(dataset, parse_setups(readers), self.out), **changes)
        if self.chat is not None:
            self.chat.calls.clear()
        with Graphs(self.settings, embedder=HashEmbedder(64), chat=self.chat) as graphs:
            return evaluate(graphs, plan, self.notes.append)

    @property
    def asked(self) -> list[str]:
        """The prompts that were sent by the last run."""
        assert self.chat is not None
        return [Prompt(each.messages).name for each in self.chat.calls]


@pytest.fixture
def desk(texts: None, settings: Settings, tmp_path: Path) -> Desk:
    return Desk(settings, tmp_path / "out")


def test_answers_scores_and_costs_and_what_further_runs_ask(desk: Desk, tmp_path: Path) -> None:
    results, timing = desk.run("retrieve,closed")
    assert [(each.setup, each.question) for each in results.answers] == [
        (setup, question) for setup in ("retrieve", "closed") for question in ("q1", "q2", "q3")
    ]
    retrieve, closed = results.setups
    assert results.metrics[0] == "judge"
    assert (retrieve.scores["judge"].mean, closed.scores["judge"].mean) == (1.0, 0.0)
    assert list(retrieve.by_kind) == ["who", "where", "when"]
    (judged,) = [each for each in results.pairs if each.metric == "judge"]
    assert (judged.first, judged.second, judged.difference, judged.count) == ("retrieve", "closed", 1.0, 3)
    assert results.raters == {"judge": "scripted"}
    assert [each.rpartition(":")[2] for each in results.notes if each.startswith("Facts read")] == [
        " retrieve 1 of 1 (100.0 %), closed 0 of 1 (0.0 %)."
    ]
    assert [each for each in results.notes if each.startswith("The graph has no knowledge tree")]
    assert set(timing.seconds["closed"]) == {"q1", "q2", "q3"}
    again, _ = desk.run("retrieve,closed")
    assert (again, desk.asked) == (results, [])
    more, _ = desk.run("retrieve,bm25,closed")
    assert desk.asked == ["readers/answer"] * 3  # of bm25 alone; its answers are those of retrieve, and rated already
    assert [each.setup.name for each in more.setups] == ["retrieve", "bm25", "closed"]
    assert [each for each in more.answers if each.setup != "bm25"] == list(results.answers)
    at_once, _ = desk.run("retrieve,bm25,closed", parallel=4, out=tmp_path / "at once")
    assert at_once == more


def test_a_gold_answer_that_was_put_right_is_scored_again_without_asking(desk: Desk) -> None:
    wrong = replace(ASKED, questions=(replace(LAMP, answers=("Tom Pell",)), SHIP, MILL))
    before, _ = desk.run("retrieve", wrong, raters=())
    after, _ = desk.run("retrieve", raters=())
    assert desk.asked == []
    assert [each.answers[0].scores["contains"] for each in (before, after)] == [0.0, 1.0]


def test_a_failure_is_wrong_told_at_once_and_asked_again(desk: Desk) -> None:
    def moody(messages: Messages) -> str:
        if "Heron" in messages[1]["content"] and Prompt(messages).name == "evaluate/zero_shot":
            raise ModelError("The model is tired.")
        return reply(messages)

    desk.chat = ScriptedChat(moody)
    results, timing = desk.run("closed")
    assert desk.notes == ["closed failed on q2: The model is tired."]
    failed = results.answers[1]
    assert (failed.text, failed.error) == (None, "The model is tired.")
    assert (failed.scores["failed"], failed.scores["f1"], failed.scores["judge"]) == (1.0, 0.0, 0.0)
    assert (results.setups[0].answered, results.setups[0].failed) == (2, 1)
    assert "Failed: 1 answer, counted as wrong; the next run asks again." in results.notes
    assert set(timing.seconds["closed"]) == {"q1", "q3"}
    desk.chat = ScriptedChat(reply)
    assert desk.run("closed")[0].setups[0].failed == 0
    assert desk.asked.count("evaluate/zero_shot") == 1


def test_a_server_that_is_down_ends_it(desk: Desk) -> None:
    def down(messages: Messages) -> str:
        raise ModelError("Nobody answers.")

    desk.chat = ScriptedChat(down)
    many = replace(ASKED, questions=tuple(replace(LAMP, id=str(number)) for number in range(40)))
    with pytest.raises(ModelError, match=rf"^{MOST_FAILURES} questions in a row failed, the last: Nobody answers\. "):
        desk.run("closed", many)
    assert len(desk.asked) <= MOST_FAILURES + 2


def test_a_budget_keeps_what_was_under_way(desk: Desk) -> None:
    """Two questions at once: one finds the budget used up while the other is still being answered."""
    stopped = threading.Event()

    def dear(messages: Messages) -> str:
        if "Heron" in messages[1]["content"]:
            stopped.set()
            raise BudgetError("The budget is used up.")
        stopped.wait()
        return reply(messages)

    desk.chat = ScriptedChat(dear)
    with pytest.raises(BudgetError):
        desk.run("closed", parallel=2, raters=())
    lines = (desk.out / "answers.jsonl").read_text().splitlines()
    assert "q1" in {json.loads(line)["question"] for line in lines} <= {"q1", "q3"}


def test_choices_and_the_texts_that_a_question_is_about(desk: Desk) -> None:
    chosen = replace(LAMP, choices=("Tom Pell", "Ann Ottley"), within=("lamp",))
    desk.run("fulltext", replace(ASKED, questions=(chosen,)))
    assert desk.chat is not None
    (sent,) = (each.messages[1]["content"] for each in desk.chat.calls)
    assert "begin with its letter: (A) Tom Pell (B) Ann Ottley" in sent
    assert "Red Lamp" in sent
    assert "Stockbridge" not in sent


def test_a_plan_that_cannot_be_followed_is_refused_before_any_call(desk: Desk) -> None:
    """Here the graph has no tree."""
    tree = r"reads communities, and the graph has no knowledge tree\. Run `kgplatform tree` first, or add prepare\."
    for readers, changes, said in (
        ("global,closed", {}, tree),
        ("retrieve:route=community,closed", {}, tree),
        ("closed", {"raters": ("jugde",)}, r'^Unknown rater "jugde"\. Did you mean judge\? Choose one of judge, lr'),
        ("closed", {"dataset": DataSet("own", ())}, r"^own has no question\.$"),
        ("closed", {"setups": (*parse_setups("closed"), *parse_setups("closed"))}, r"^closed is given twice"),
        (
            "closed",
            {"setups": (Setup("closed", "closed", {}, Build(passage_tokens=50)),)},
            r"about the connected graph",
        ),
    ):
        with pytest.raises(InputError, match=said):
            desk.run(readers, **{"raters": (), **changes})
        assert desk.asked == []


def test_costs_are_what_was_paid_and_not_what_the_cache_gave(desk: Desk, settings: Settings, tmp_path: Path) -> None:
    """A reply from the cache counts with what it once cost; the seconds of such questions are marked."""
    desk.chat = None
    with OpenAIServer(reply) as server:
        desk.settings = settings.model_copy(update={"openai_base_url": server.base_url})
        paid, first = desk.run("retrieve,closed")
        sent = len(server.requests)
        free, second = desk.run("retrieve,closed", out=tmp_path / "elsewhere")
    assert len(server.requests) == sent
    assert free == paid
    retrieve, closed = paid.setups
    assert retrieve.spent["answer"].calls == closed.spent["answer"].calls == 3
    assert retrieve.spent["answer"].input_tokens > closed.spent["answer"].input_tokens > 0
    assert (dict(first.cached), dict(second.cached)) == ({"retrieve": 0, "closed": 0}, {"retrieve": 3, "closed": 3})
    assert first.rating["judge"].calls > 0


def test_only_what_is_a_phrase_is_asked_for_in_one() -> None:
    (setup,) = parse_setups("retrieve")
    assert inquiry_for(setup, LAMP, ASKED).options["answer_style"] == "phrase"
    hidden = replace(LAMP, placeholders={"[PERSON#1]": ("Ann Ottley",)})
    assert "answer_style" not in inquiry_for(setup, hidden, ASKED).options
    assert resolved(setup)["answer_style"] == "phrase"


def test_what_changed_is_asked_again_and_nothing_else(
    graph: KnowledgeGraph, settings: Settings, tmp_path: Path
) -> None:
    desk = Desk(settings, tmp_path / "out")
    desk.run("retrieve,closed", raters=())
    desk.run("retrieve:top_k=1,closed", raters=())
    assert desk.asked == ["readers/answer"] * 3
    other = replace(ASKED, questions=(LAMP, replace(SHIP, text="Where did the ship Heron sail in May?"), MILL))
    desk.run("retrieve,closed", other, raters=())
    assert sorted(desk.asked) == ["evaluate/zero_shot", "readers/answer"]
    graph.ingest(put(tmp_path / "corpus", {**TEXTS, "new.txt": "The ship Petrel sailed to Cork."}), extractor="local")
    desk.run("retrieve", raters=())
    assert desk.asked == ["readers/answer"] * 3
    desk.chat = ScriptedChat(reply, model="another")
    desk.run("retrieve", raters=())
    assert desk.asked == ["readers/answer"] * 3


def test_prepared_it_has_pages_tree_and_facts_and_every_reader_is_asked_for_a_phrase(
    graph: KnowledgeGraph, settings: Settings, tmp_path: Path
) -> None:
    desk, lamp = Desk(settings, tmp_path / "out"), replace(ASKED, questions=(LAMP,))
    with pytest.raises(InputError, match=r"^readagent reads gists of pages, and 3 documents have none\. "):
        desk.run("readagent,graphreader")
    assert desk.asked == []
    there = ",".join(names())
    results, _ = desk.run(there, lamp, prepare=True, raters=())
    assert not [each for each in results.notes if "no knowledge tree" in each or "atomic facts" in each]
    assert all(each.pages for each in graph.documents())
    assert [each.setup.name for each in results.setups if each.failed] == []
    assert desk.chat is not None
    sent = [Prompt(each.messages) for each in desk.chat.calls]
    answers = [prompt for prompt in sent if not prompt.name.startswith("gist/")]  # whose style is that of gists
    styled = [prompt for prompt in answers if "$style" in source_of(prompt.name)]
    wanted = {
        *("readers/answer", "graphreader/answer", "readagent/answer", "longagent/decide"),
        *("baselines/chunk_notes", "evaluate/zero_shot"),
    }
    assert wanted - {prompt.name for prompt in styled} == set()
    assert [prompt.name for prompt in styled if STYLES["phrase"] not in prompt.system + prompt.user] == []
    assert not any(STYLES[other] in prompt.system + prompt.user for prompt in sent for other in ("sentences", "report"))
    assert desk.run(there, lamp, prepare=True, raters=())[0] == results
    assert desk.asked == []


@pytest.mark.usefixtures("graph")
def test_what_building_and_rating_cost_is_told_by_later_runs_too(settings: Settings, tmp_path: Path) -> None:
    desk = Desk(settings, tmp_path / "out")
    desk.chat = None
    with OpenAIServer(reply) as server:
        desk.settings = settings.model_copy(update={"openai_base_url": server.base_url})
        _, first = desk.run("readagent", prepare=True)
        sent = len(server.requests)
        _, later = desk.run("readagent", prepare=True)
        assert len(server.requests) == sent
        _, last = desk.run("readagent")
    assert first.construction["current"]["gist"].calls > 0
    assert first.rating["judge"].calls > 0
    assert (later.construction, later.rating) == (last.construction, last.rating) == (first.construction, first.rating)


CORPUS = (
    Text("Marigold", "The Marigold was a paddle steamer. Ida Fenn drew its plans in Dunmouth."),
    Text("Ida Fenn", "Ida Fenn was born at Aske in 1840, and drew ships."),
    Text("Aske", "Aske is a village of weavers."),
    Text("Teal", "The teal is a small duck."),
    Text("Smew", "The smew is a duck that dives."),
)
QUESTIONS = (
    Question(
        "born",
        "Where was the designer of the paddle steamer Marigold born?",
        ("Aske",),
        supports=CORPUS[:2],
        parts=("Who drew the plans of the Marigold?", "Where was Ida Fenn born?"),
    ),
    Question("dives", "Which duck dives?", ("the smew",), supports=(Text("Smew"),)),
    Question("unknown", "What does nobody say?", ("nothing",)),
    Question("signs", "?!", ("nothing",), supports=(Text("Teal"),)),
)
SHIPS = DataSet("ships", QUESTIONS, CORPUS, skipped=1)


@pytest.fixture(scope="module")
def given(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings that name the tests' own server: the first test puts the texts there, and the last one builds a tree."""
    with Store(neo4j_server) as store:
        wipe(store)
    return settings_at(neo4j_server, tmp_path_factory.mktemp("home"))


def measured(given: Settings) -> Measured:
    chat = ScriptedChat([])
    with Graphs(given, chat=chat) as graphs:
        report = evaluate_retrieval(SHIPS, graphs)
    assert chat.calls == [], "no model is asked"
    assert report.cuts == (2, 5, 10)
    return report.measured[0]


def rows_of(found: Measured) -> dict[str, RouteRow]:
    return {row.route: row for row in found.rows}


def test_every_route_is_measured(given: Settings) -> None:
    found = measured(given)
    assert [row.route for row in found.rows] == [route for route in ROUTES if route != "community"]
    assert (found.dataset, found.questions, found.left_out) == ("ships", 2, 3)
    assert (found.documents, found.passages, found.graph, found.embedder) == (5, 5, CURRENT, "hash:64")
    assert found.seconds > 0
    rows = rows_of(found)
    for route in ("all", "bm25"):
        assert rows[route].recall[1].mean == 1.0, route
        assert rows[route].all_found[1] == Mean(1.0, 1.0, 1.0, 2)
    assert all(row.p95 >= row.p50 > 0 for row in found.rows)
    assert rows["all, by parts"].questions == 1
    assert rows["all, by parts"].recall[1].mean == 1.0
    assert found.notes == (
        "community is not measured: the graph has no knowledge tree (`kgplatform tree`).",
        "all, by parts: over the 1 question that people took apart.",
    )


def test_the_tree_has_a_row_where_there_is_one(given: Settings) -> None:
    """The last, for it changes the graph."""
    with Graphs(given) as graphs:
        graphs.current().build_tree()
    assert rows_of(measured(given))["community"].questions == 2


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        (replace(SHIPS, apart=True), "Each question of ships is about a text of its own"),
        (replace(SHIPS, questions=QUESTIONS[2:3]), "none of the questions of ships lists the passages"),
    ],
)
def test_what_cannot_be_measured(tmp_path: Path, dataset: DataSet, words: str) -> None:
    """It is said before any graph is opened."""
    settings = load_settings(home=tmp_path / "home", embedder="hash:64")
    with Graphs(settings) as graphs, pytest.raises(InputError, match=words):
        evaluate_retrieval(dataset, graphs)
    assert not (settings.home_folder / "evaluation").exists()
