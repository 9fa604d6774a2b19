"""Needles as a data set: what is asked, texts that are made again to the letter, the map, and a run with readers."""

import re
from pathlib import Path

import pytest
from conftest import settings_at
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.evaluate.evaluation import EvaluationPlan, evaluate
from kgplatform.evaluate.graphs import AS_USUAL, Graphs
from kgplatform.evaluate.needles import (
    KINDS,
    HeatMap,
    heat_map,
    needle_data_set,
    parse_lengths,
    reader_options,
)
from kgplatform.evaluate.outcome import outcome
from kgplatform.evaluate.setups import option_names, parse_setups
from kgplatform.evaluate.terms import Build, DataSet, Question, Results, Scored, Setup
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection
from kgplatform.prompt import Messages
from kgplatform.testing import OpenAIServer
from kgplatform.text import count_tokens


def test_lengths_and_depths_as_people_write_them() -> None:
    assert [parse_lengths(text) for text in ("1000", " 1000, 8000")] == [(1000,), (1000, 8000)]
    for text in ("1k", "0", "1000-8000:4"):
        with pytest.raises(InputError, match=f"'{text}' is not a length. Write the tokens of each text, as in"):
            parse_lengths(text)
    with pytest.raises(InputError, match='Unknown needle task "singel". Did you mean single?'):
        needle_data_set("singel", (300,))


@pytest.mark.parametrize("kind", KINDS)
def test_every_task_is_about_a_text_of_its_own_that_is_made_again_to_the_letter(kind: str) -> None:
    depths = ((0.0, 0.5), (0.0, 1.0), (0.5, 1.0)) if kind == "multi" else (0.0, 0.5, 1.0)
    found, again = (needle_data_set(kind, (300, 600), depths) for _ in range(2))
    assert found.questions == again.questions
    assert len({each.id for each in found.questions}) == len(found.questions) == 6
    assert (found.apart, found.corpus) == (True, ())
    for question in found.questions:
        (text,) = found.texts_of(question)
        assert (text,) == again.texts_of(question) == found.texts_of(question)
        assert text.title == question.id == question.within[0]
        assert all(fact in text.text for fact in question.facts)
        assert any(question.answers[0] in fact for fact in question.facts)
        length = 300 if ", 300 tokens, " in question.kind else 600
        assert 0.6 * length < count_tokens(text.text) <= length
    assert len(needle_data_set(kind, (300,)).questions) == (10 if kind == "multi" else 5)


def test_longagent_is_told_the_kind_of_work_unless_the_setup_says_it() -> None:
    plain, auto, other = parse_setups("longagent,longagent:task=auto,retrieve")
    tasks = {kind: needle_data_set(kind, (300,)).questions[0] for kind in KINDS}
    assert {
        kind: reader_options(plain, each, option_names(plain.reader)).get("task") for kind, each in tasks.items()
    } == {
        **{"single": "qa", "multi": "qa", "pass-key": "passkey"},
        **{"number": "number", "key-value": "kv", "math": "math"},
    }
    assert all(
        reader_options(setup, each, option_names(setup.reader)) == {}
        for setup in (auto, other)
        for each in tasks.values()
    )
    assert reader_options(plain, Question("1", "Who?", kind="2 hops"), ("task",)) == {}


def scored(setup: str, kind: str, number: int, found: float | None) -> Scored:
    return Scored(f"q{number}", kind, setup, "text", None, False, {} if found is None else {"contains": found}, {})


def results(*answers: Scored) -> Results:
    setups = [Setup(name, "retrieve") for name in dict.fromkeys(each.setup for each in answers)]
    return outcome(DataSet("needles, single", ()), setups, answers, model="scripted", raters={})


def shares(found: HeatMap, setup: str) -> list[list[float | None]]:
    return [[cell and cell.mean for cell in row] for row in found.found[setup]]


def test_the_map_has_a_cell_for_every_length_and_depth() -> None:
    told = results(
        scored("b", "single, 1000 tokens, depth 1", 1, 1.0),
        scored("b", "single, 1000 tokens, depth 1", 2, 0.0),
        scored("b", "single, 800 tokens, depth 0", 3, 0.0),
        scored("b", "single, 800 tokens, depth 0.25", 4, None),
        scored("a", "single, 800 tokens, depth 0.25", 4, 1.0),
    )
    found = heat_map(told)
    assert found is not None
    assert (list(found.found), found.lengths, found.depths) == (["b", "a"], (800, 1000), ("0", "0.25", "1"))
    assert shares(found, "b") == [[0.0, None], [None, None], [None, 0.5]]
    assert shares(found, "a") == [[None, None], [1.0, None], [None, None]]
    assert [cell.count for row in found.found["b"] for cell in row if cell] == [1, 2]


class OnTheTestsServer(Graphs):
    """In place of a managed server, which ``test_evaluate_graphs.py`` starts."""

    def empty(self, name: str, build: Build = AS_USUAL) -> KnowledgeGraph:
        return self.current()


@pytest.mark.usefixtures("store")
@pytest.mark.long
def test_readers_find_needles_and_a_full_text_ends_at_its_window(neo4j_server: Connection, tmp_path: Path) -> None:
    asked: list[str] = []

    def listening(messages: Messages) -> str:
        asked.extend(re.findall(r"^Kind of work: (.*)$", messages[-1]["content"], re.MULTILINE))
        return reply(messages)

    data_set = needle_data_set("pass-key", (600, 3000), (0.0, 1.0))
    with OpenAIServer(listening) as server:
        settings = settings_at(neo4j_server, tmp_path / "home", openai_base_url=server.base_url)
        setups = parse_setups("longagent:member_tokens=300,retrieve,fulltext:window_tokens=2000")
        plan = EvaluationPlan(data_set, setups, tmp_path / "out", raters=(), chief="contains")
        with OnTheTestsServer(settings, embedder=HashEmbedder(64)) as graphs:
            found, _ = evaluate(graphs, plan)
        sent = len(server.requests)
        with OnTheTestsServer(settings, embedder=HashEmbedder(64)) as graphs:
            again, _ = evaluate(graphs, plan)
        assert (again, len(server.requests)) == (found, sent)
    map_ = heat_map(found)
    assert map_ is not None
    assert shares(map_, "longagent member_tokens=300") == shares(map_, "retrieve") == [[1.0, 1.0], [1.0, 1.0]]
    end = shares(map_, "fulltext window_tokens=2000")
    assert end == [[1.0, 1.0], [1.0, 0.0]], "the end of the longer text is not shown"
    assert set(asked) == {"Find the pass key that is hidden in a long text of noise."}
    facts = {each.kind: each.scores["facts"] for each in found.answers if each.setup == "fulltext window_tokens=2000"}
    assert facts["pass-key, 3000 tokens, depth 1"] == 0.0
    assert facts["pass-key, 3000 tokens, depth 0"] == 1.0
