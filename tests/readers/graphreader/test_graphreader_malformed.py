"""The reader graphreader with replies that cannot be used: each has its fallback and its count."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import steps_of
from conftest import wipe
from graphreader_runs import Asked, Walker, ask, fill, final, go, proposals, reads, step, walked

from kgplatform.errors import ModelError
from kgplatform.models.chat import Ledger
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.neo4j.store import Connection, Store
from kgplatform.readers.graphreader.reader import Options, answer
from kgplatform.readers.run import Run
from kgplatform.records import Answer, Usage
from kgplatform.search.evidence import Evidence
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import Fault, OpenAIServer

TEXTS = {
    "mill.txt": "The mill at Hollow Ford was built by Anna Reed. It still grinds oats.",
    "bridge.txt": "The bridge at Hollow Ford was built by Thomas Pike. It was made of oak.",
}
ELEMENTS = ["Hollow Ford", "Anna Reed", "Thomas Pike", "mill", "bridge"]
QUESTION = "Who put up the crossing?"


@pytest.fixture(scope="module")
def evidence(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """Two texts that share a node, the same for all tests of this file: they only read it."""
    folder = tmp_path_factory.mktemp("malformed")
    with Store(neo4j_server) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr("kgplatform.ingest.settle.least_cosines", lambda embedder: (0.8, 1.0))
        wipe(store)
        settings = load_settings(home=folder / "home")
        yield fill(store, settings, folder, TEXTS, ELEMENTS)


def served(settings: Settings, evidence: Evidence, model: Walker, folder: Path | None = None) -> tuple[Answer, int]:
    """The answer by the real client from a server on loopback, and the number of requests. Nothing waits."""
    with OpenAIServer(model) as server:
        ledger = Ledger()
        given = settings.model_copy(update={"openai_base_url": server.base_url})
        chat = OpenAIChat(given, ledger, folder, sleep=lambda seconds: None)
        done = answer(QUESTION, Run(evidence, chat, ledger), Options(nodes=1))
        chat.close()
        return done, len(server.requests_to("/chat/completions"))


class Script:
    """Plays replies in order, the last one again and again."""

    def __init__(self, *replies: str | Fault) -> None:
        self.replies = list(replies)

    def __call__(self, asked: Asked) -> str | Fault:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


GOOD = {"facts": Script(step("stop_and_read_neighbor")), "neighbours": Script(go())}
GARBAGE = "Well, I would say that it depends."
ON = ["stop_and_read_neighbor", "termination"]
READ = ["read_chunk", "search_more", "termination"]


@pytest.mark.parametrize(
    ("stage", "replies", "names", "counts"),
    [
        # Each stage: garbage twice is the stage's fallback, garbage once is asked for again.
        ("facts", [GARBAGE], ON, {"malformed.no action": 2}),
        ("chunk", [GARBAGE, step("termination")], ["read_chunk", "termination"], {"malformed.no action": 1}),
        # An empty reply, and a function of another stage, are garbage too.
        ("chunk", ["", " "], READ, {"malformed.no action": 2}),
        ("facts", [step("termination")], ON, {"malformed.no action": 2}),
        ("neighbours", [GARBAGE], ON, {"malformed.no action": 2}),
        # Passages that were never shown: what is left is read; if nothing is, it is asked again, and then nothing.
        ("facts", [reads(77, 2, 2)], READ, {}),
        ("facts", [reads(77)], ON, {"malformed.unknown passage": 2}),
        # A node that is no neighbour, and one where the walk was before.
        (
            "neighbours",
            [go("Atlantis"), go("anna  reed"), go()],
            ["stop_and_read_neighbor", "read_neighbor_node", *ON],
            {"malformed.unknown node": 1},
        ),
        (
            "neighbours",
            [go("Anna Reed"), go("Hollow Ford")],
            ["stop_and_read_neighbor", "read_neighbor_node", *ON],
            {"malformed.visited node": 2},
        ),
    ],
)
def test_each_reply_has_its_fallback_and_its_count(
    evidence: Evidence, settings: Settings, stage: str, replies: list[str], names: list[str], counts: dict[str, int]
) -> None:
    rules = {**GOOD, "facts": Script(reads(1))} if stage == "chunk" else GOOD
    model = Walker(["Hollow Ford"], **{**rules, stage: Script(*replies)})
    done, requests = served(settings, evidence, model)
    assert walked(done) == names
    assert {name: n for name, n in done.counts.items() if name.startswith("malformed.")} == counts
    functions = sum(n for name, n in done.counts.items() if name.split(".")[0] in ("facts", "chunk", "neighbours"))
    assert functions == len(names), "what is asked again is no function call"
    assert requests == len(model.asked) == done.usage.calls
    assert done.usage == sum((each.usage for each in done.trace), Usage())
    told = " ".join(each.detail for each in done.trace)
    assert all(name.removeprefix("malformed.") in told for name in counts)


def test_replies_of_no_use_are_forgotten(evidence: Evidence, settings: Settings, tmp_path: Path) -> None:
    """Another run asks the model again, and not its cache."""
    cache = tmp_path / "cache"
    served(settings, evidence, Walker(["Hollow Ford"], facts=Script(GARBAGE)), cache)
    better = Walker(["Hollow Ford"], facts=Script(reads(1)))
    served(settings.model_copy(), evidence, better, cache)
    assert better.of("facts"), "this prompt was sent again"


def test_a_plan_that_fails_or_is_empty_is_done_without(evidence: Evidence, settings: Settings) -> None:
    for reply, count in ((Fault.refuse(500, "Broken."), "failed.plan"), ("<think>Hm.</think>", "malformed.no plan")):
        done, _ = served(settings, evidence, Walker(["Hollow Ford"], plan=Script(reply)))
        assert done.counts[count] == 1
        assert "there is no plan" in done.trace[0].detail
        assert walked(done) == ["stop_and_read_neighbor", "termination"]


def test_an_answer_that_cannot_be_read_is_asked_for_again_and_then_an_error(
    evidence: Evidence, settings: Settings
) -> None:
    model = Walker(["Anna Reed"], facts=Script(reads(1)), answer=Script(GARBAGE, final("Anna Reed")))
    done, _ = served(settings, evidence, model)
    assert (done.text, done.trace[-1].detail.endswith("after 1 repair")) == ("Anna Reed", True)
    model.rules["answer"] = Script("", final(""))
    with pytest.raises(ModelError, match="cannot be used"):
        served(settings, evidence, model)


def chosen(done: Answer) -> list[str]:
    """The nodes at which the walks began."""
    return [step.detail.partition(": ")[0] for step in done.trace if step.name == "stop_and_read_neighbor"]


SPELLED = [("ANNA  REED", 80), ("bridge", 95), ("mill", 7), ("mill", 99)]


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        # Shuffled scores, and names that are made up: the best real ones in the order of their scores.
        (
            proposals({"mill": 10, "Anna Reed": 70, "Atlantis": 100, "Hollow Ford": 90, "Thomas Pike": 50}),
            ["Hollow Ford", "Anna Reed", "Thomas Pike"],
        ),
        # Of equal scores the nearest first; the mill has no fact that Anna Reed has not.
        (proposals({"mill": 50, "bridge": 50, "Anna Reed": 50}), ["Anna Reed", "bridge", "mill"]),
        # Other spellings of what is in the list; a name twice counts once, with its better score.
        (
            json.dumps({"nodes": [["x"], *({"node": n, "score": s} for n, s in SPELLED)]}),
            ["mill", "bridge", "Anna Reed"],
        ),
    ],
)
def test_the_best_real_nodes_are_taken(evidence: Evidence, reply: str, names: list[str]) -> None:
    done = ask(evidence, Walker(nodes=lambda asked: reply), QUESTION, nodes=3)
    assert [each.removeprefix("at ").partition(";")[0] for each in chosen(done)] == names
    assert done.counts.get("malformed.fabricated node", 0) == int("Atlantis" in reply)


def test_a_selection_that_cannot_be_read_is_asked_for_again(evidence: Evidence) -> None:
    model = Walker(nodes=Script(GARBAGE, proposals({"mill": 5})))
    done = ask(evidence, model, QUESTION, nodes=1)
    assert chosen(done) == ["at mill; 1 fact of 1 passage shown"]
    assert done.counts["malformed.no node"] == 1
    assert len(model.of("nodes")) == 2


@pytest.mark.parametrize(
    ("question", "proposed", "begins"),
    [
        ("Did Anna Reed or Thomas Pike build the mill?", {"Atlantis": 100}, "Thomas Pike, Anna Reed"),
        ("who was it that did build a mill?", {}, "Hollow Ford, mill"),
    ],
)
def test_without_a_valid_node_those_that_the_question_names_are_taken_else_the_nearest(
    evidence: Evidence, question: str, proposed: dict[str, float], begins: str
) -> None:
    done = ask(evidence, Walker(nodes=proposals(proposed)), question, nodes=2)
    assert [each.removeprefix("at ").partition(";")[0] for each in chosen(done)] == begins.split(", ")
    assert not proposed or done.counts["malformed.no initial node"] == 1
    assert steps_of(done, "initial nodes")[-1].detail == f"none of the nodes was proposed; the nearest: {begins}"
