"""Synthetic tasks: their texts have the length, the needles the places, and the answers stand nowhere else."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import settings_at
from doc_pages import blocks, page
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.evaluate.evaluation import EvaluationPlan, evaluate
from kgplatform.evaluate.graphs import AS_USUAL, Graphs
from kgplatform.evaluate.needles import (
    _KNOWN,
    DEPTH_PAIRS,
    DEPTHS,
    KINDS,
    LENGTHS,
    RANKS,
    HeatMap,
    Needles,
    NeedleTask,
    heat_map,
    hidden_number,
    joined_statements,
    key_value,
    math_find,
    multi_needle,
    needle_data_set,
    parse_lengths,
    pass_key,
    reader_options,
    single_needle,
    single_statement,
    write_tasks,
)
from kgplatform.evaluate.outcome import outcome
from kgplatform.evaluate.setups import option_names, parse_setups
from kgplatform.evaluate.terms import Build, DataSet, Question, Results, Scored, Setup
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.testing import OpenAIServer
from kgplatform.text import count_tokens

PARAGRAPH = 100
"""Tokens of the longest piece of a haystack."""
ONE_DEPTH: list[Callable[[int, float, int], NeedleTask]] = [
    single_needle,
    pass_key,
    hidden_number,
    key_value,
    math_find,
]


def check_places(task: NeedleTask) -> None:
    """Depths are met within a paragraph, and are the share of the haystack's tokens before each needle."""
    starts = [task.text.index(said) for said in task.hidden]
    haystack = task.tokens - sum(map(count_tokens, task.hidden))
    for start, depth, wanted in zip(starts, task.depths, task.wanted, strict=True):
        others = (said for said, at in zip(task.hidden, starts, strict=True) if at < start)
        counted = count_tokens(task.text[:start]) - sum(map(count_tokens, others))
        assert abs(counted - depth * haystack) <= 8  # brackets and commas of lists and dictionaries
        assert abs(depth - wanted) * haystack <= PARAGRAPH


@pytest.mark.parametrize("make", ONE_DEPTH, ids=lambda each: each.__name__)
@pytest.mark.parametrize(("length", "depth"), [(1_000, 0.0), (1_000, 1.0), (3_001, 1 / 3)])
def test_the_answer_stands_at_its_depth_and_nowhere_else(
    make: Callable[[int, float, int], NeedleTask], length: int, depth: float
) -> None:
    task = make(length, depth, 5)
    assert (task.length, task.wanted, task.id.rpartition("-")[2]) == (length, (depth,), "5")
    assert task.tokens == count_tokens(task.text)
    assert length - PARAGRAPH <= task.tokens <= length
    check_places(task)
    (hidden,) = task.hidden
    (answer,) = task.answers
    assert hidden.count(answer) == task.text.count(answer) >= 1


@pytest.mark.parametrize("depths", DEPTH_PAIRS)
def test_two_needles_stand_apart_and_only_together_answer(depths: tuple[float, float]) -> None:
    task = multi_needle(6_000, depths, 2)
    check_places(task)
    first, second = task.hidden
    shared = set(re.findall(r"[A-Z][a-z]{7,}", first)) & set(re.findall(r"[A-Z][a-z]{7,}", second))
    assert shared
    assert not any(name in task.question for name in shared)
    assert task.answers[0] not in first + task.question
    assert task.text.count(task.answers[0]) == second.count(task.answers[0]) == 1
    assert task.text.index(second) - task.text.index(first) > 0.25 * len(task.text)


@pytest.mark.parametrize("invent", [single_statement, joined_statements])
def test_statements_are_counterfactual(invent: Callable[[random.Random], Needles]) -> None:
    told = [invent(random.Random(seed)) for seed in range(400)]
    facts = {subject: said for kind in _KNOWN.values() for subject, said in kind.items()}
    for each in told:
        world = [said for subject, said in facts.items() if f" {subject}" in each.question]
        assert world
        assert not any(str(said) in " ".join((*each.statements, *each.answers)) for said in world)
    assert len({each.question for each in told}) >= 45
    assert len({each.answers for each in told}) >= 380


@pytest.mark.parametrize("rank", RANKS)
def test_a_list_has_one_number_of_each_rank(rank: str) -> None:
    task = math_find(3_000, 0.5, 4, rank=rank)
    numbers = json.loads(task.text)
    assert len(numbers) == len(set(numbers)) == 999
    assert task.answers == task.hidden == (str(sorted(numbers)[-RANKS[rank]]),)
    assert numbers.index(int(task.answers[0])) == 499
    assert task.question == f"What is the {rank} number of the list?"


def test_a_dictionary_is_json_and_has_the_key_once() -> None:
    task = key_value(4_000, 0.9, 1)
    pairs = json.loads(task.text)
    key = re.search(r'key "([^"]+)"', task.question)
    assert key is not None
    assert pairs[key[1]] == task.answers[0]
    assert len(pairs) == task.text.count("\n") - 1 == len(set(pairs.values()))


def test_the_same_seed_gives_the_same_task_and_another_one_another() -> None:
    """Of this release and of every other."""
    for make in ONE_DEPTH:
        assert make(2_000, 0.4, 7) == make(2_000, 0.4, 7)
        assert make(2_000, 0.4, 7).text != make(2_000, 0.4, 8).text
    assert pass_key(1_000, 0.5, 1).answers == ("63102",)
    assert single_needle(1_000, 0.5, 1).hidden == ("The island on which Napoleon died is Dunnevfinkel.",)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: single_needle(0, 0.5), "A text cannot have 0 tokens: ask for a length of 1 or more."),
        (lambda: single_needle(1_000, 1.5), "1.5 is not a depth: give a share of the text from 0 to 1, such as 0.5."),
        (lambda: pass_key(10, 0.5), "A text of 10 tokens has no room for what is to be hidden: ask for 19."),
        (lambda: math_find(2_700_004, 0.5), "A list of 2,700,004 tokens cannot be made: ask for 10 to 2,700,001."),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_refused_in_a_sentence(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError) as error:
        make()
    assert says in str(error.value)
    assert str(error.value).endswith(".")


def test_the_grids_are_those_of_the_paper() -> None:
    assert (len(LENGTHS), LENGTHS[0], LENGTHS[-1]) == (15, 1_000, 128_000)
    assert {b - a for a, b in zip(LENGTHS, LENGTHS[1:], strict=False)} <= {9_071, 9_072}
    assert (len(DEPTHS), DEPTHS[0], DEPTHS[-1]) == (10, 0, 1)
    assert set(DEPTH_PAIRS) == {(0, 0.33), (0, 0.66), (0, 1), (0.33, 0.66), (0.33, 1), (0.66, 1)}


TASK = pass_key(300, 0.5)


def test_a_line_is_a_json_object_with_the_published_keys(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    odd = replace(TASK, text=TASK.text + "\u2028\x85\r\n\t\"'🏴‍☠️ d\u0301 第三", question="¿Cuál?")
    two = multi_needle(500, (0.33, 0.66))
    assert write_tasks(file, iter([odd, two])) == 2
    first, second = map(json.loads, file.read_text("utf-8").removesuffix("\n").split("\n"))
    assert first == {
        **{"id": TASK.id, "context": odd.text, "context_length": 300, "depth_percent": 50, "input": "¿Cuál?"},
        **{"dataset": "needle_pass-key", "answers": list(TASK.answers)},
    }
    assert (second["depth_percent"], second["dataset"]) == ([33, 66], "needle_multi")
    with pytest.raises(InputError, match="The tasks cannot be written to"):
        write_tasks(tmp_path / "half.jsonl", [replace(TASK, question="half a pair: \ud83d")])


PAGE = page("needle-tasks.md")
EXAMPLES = [each for each in blocks(PAGE, "python") if "connect()" not in each]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.splitlines()[0])
def test_an_example_runs_as_it_stands(example: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(example, "needle-tasks.md", "exec"), {"__name__": "example"})
    printed = capsys.readouterr().out
    assert printed.strip()
    if "needles.jsonl" in example:
        assert "60 tasks" in printed
        assert (tmp_path / "needles.jsonl").exists()


def test_a_reader_is_asked_as_the_page_says(
    store: Store, at_server: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = blocks(PAGE, "python")[:2]
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(first, "needle-tasks.md", "exec"), names)
    with OpenAIServer(reply) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        exec(compile(second, "needle-tasks.md", "exec"), names)
    assert capsys.readouterr().out.splitlines()[-1] == "True"


def test_the_page_tells_every_key_of_a_task_and_every_rank() -> None:
    table = PAGE.partition("## The file")[2]
    assert TASK.as_published().keys() - set(re.findall(r"`(\w+)`", table)) == set()
    assert {name for name in RANKS if name not in PAGE} == set()


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
