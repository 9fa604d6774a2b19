"""LongAgent with a simulated team behind a real server: what the discussion gets right, and what it costs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import wipe
from corpora import put, put_jsonl
from simulated_team import (
    REFUSAL,
    Knows,
    SimulatedTeam,
    compares,
    expected_by_chance,
    finds_extremes,
    finds_number,
    finds_value,
    hops,
    told,
)

from kgplatform.client import KnowledgeGraph
from kgplatform.evaluate.needles import (
    RANKS,
    NeedleTask,
    grid,
    hidden_number,
    key_value,
    math_find,
    multi_needle,
    pass_key,
    single_needle,
)
from kgplatform.models.hash_embedder import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import render
from kgplatform.records import Answer
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import OpenAIServer, ScriptedChat
from kgplatform.text.numbered import lines

MEMBER_TOKENS = 400
"""Less than by default, so that a short text needs many members."""

SINGLE = [*grid(single_needle, (1_000, 4_000), (0, 0.5, 1), seed=1), single_needle(16_000, 0.5, 1)]
LONG = SINGLE[-1]
PAIRS = list(grid(multi_needle, (3_000,), ((0, 1), (0.33, 0.66)), seed=1))
RETRIEVAL: list[tuple[NeedleTask, Knows]] = [
    (pass_key(2_000, 0.7, 1), finds_number),
    (hidden_number(2_000, 0.2, 1), finds_number),
    (key_value(2_000, 0.9, 1), finds_value),
]
RANKED = {rank: math_find(1_500, 0.4, 1, rank=rank) for rank in RANKS}
ALL = [*SINGLE, *PAIRS, *(task for task, _ in RETRIEVAL), *RANKED.values()]


@pytest.fixture(scope="module")
def store(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A graph of all the tasks' texts, each a document of its own, with nothing extracted; it is only read."""
    folder = tmp_path_factory.mktemp("tasks")
    files = put(folder / "texts", {f"{each.id}.txt": each.text for each in ALL})
    nothing = put_jsonl(folder / "nothing.jsonl", [{"document": each.name} for each in files])
    with Store(neo4j_server) as store:
        wipe(store)
        graph = KnowledgeGraph(
            store, load_settings(home=folder / "home", embedder="hash:64"), embedder=HashEmbedder(64)
        )
        graph.ingest(files, recorded=nothing)
        yield store


@contextmanager
def led(store: Store, team: SimulatedTeam, home: Path) -> Iterator[KnowledgeGraph]:
    """The graph with ``team`` as its language model."""
    with OpenAIServer(team) as server:
        settings = load_settings(home=home, embedder="hash:64", openai_base_url=server.base_url)
        yield KnowledgeGraph(store, settings, embedder=HashEmbedder(64))


def ask(graph: KnowledgeGraph, task: NeedleTask, **options: object) -> Answer:
    return graph.ask(
        task.question, "longagent", task=task.kind, documents=[task.id], member_tokens=MEMBER_TOKENS, **options
    )


def is_right(answer: Answer, task: NeedleTask) -> bool:
    """The answer says it, and cites words of the text in which it stands."""
    right = task.answers[0]
    return right in (answer.text or "") and any(right in task.text[each.start : each.end] for each in answer.citations)


def merge_calls(answer: Answer) -> int:
    return answer.counts.get("calls.merge", 0)


# ----------------------------------------------------------------------------------------------------- with invention


@pytest.mark.parametrize("invents", [0.1, 0.3])
def test_with_conflict_resolution_every_needle_is_found_and_without_it_fewer(
    store: Store, tmp_path: Path, invents: float
) -> None:
    with led(store, SimulatedTeam(told(*SINGLE), invents=invents, seed=2), tmp_path / "home") as graph:
        found = {way: [ask(graph, task, conflict=way) for task in SINGLE] for way in ("group", "once", "off")}
    right = {way: [is_right(*pair) for pair in zip(answers, SINGLE, strict=True)] for way, answers in found.items()}
    assert right["group"] == right["once"] == [True] * len(SINGLE)
    assert sum(right["off"]) < len(SINGLE)
    assert sum(map(merge_calls, found["off"])) == 0 < sum(map(merge_calls, found["group"]))


def test_without_invention_nothing_is_merged(store: Store, tmp_path: Path) -> None:
    with led(store, SimulatedTeam(told(*SINGLE)), tmp_path / "home") as graph:
        answers = [ask(graph, task) for task in SINGLE]
    assert all(is_right(*pair) for pair in zip(answers, SINGLE, strict=True))
    assert all(each.counts.get("actions.conflict", 0) == merge_calls(each) == 0 for each in answers)
    assert all(each.counts.get("no mention", 0) == each.counts["members"] - 1 for each in answers)


@pytest.mark.parametrize(("way", "calls_of_a_merge"), [("group", 2), ("once", 1)])
def test_where_all_others_invent_there_is_one_merge_less_than_members_at_most(
    store: Store, tmp_path: Path, way: str, calls_of_a_merge: int
) -> None:
    with led(store, SimulatedTeam(told(LONG), invents=1.0), tmp_path / "home") as graph:
        answer = ask(graph, LONG, conflict=way)
    assert is_right(answer, LONG)
    assert 0 < merge_calls(answer) <= calls_of_a_merge * (answer.counts["members"] - 1)


def test_many_members_with_the_same_wrong_answer_do_not_outvote_one(store: Store, tmp_path: Path) -> None:
    team = SimulatedTeam(told(LONG), invents=0.6, wrong="Aldermoor")
    with led(store, team, tmp_path / "home") as graph:
        ask(graph, LONG, conflict="off")
        votes = Counter(team.replies)
        answer = ask(graph, LONG)
    del votes[REFUSAL]
    assert votes.most_common(1)[0][0] == "Aldermoor"
    assert votes[LONG.answers[0]] == 1
    assert is_right(answer, LONG)


def test_with_readers_that_err_grouping_keeps_more_right_answers_than_the_papers_way(
    store: Store, settings: Settings
) -> None:
    """A member that reads two parts errs one time in ten, and so does the leader where it groups."""
    right = dict.fromkeys(("group", "once"), 0)
    for way in right:
        for seed in range(10):
            chat = ScriptedChat(SimulatedTeam(told(LONG), invents=0.3, errs=0.1, seed=seed))
            graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)
            right[way] += is_right(ask(graph, LONG, conflict=way), LONG)
    assert right["group"] >= right["once"] + 2
    assert right["group"] >= 7


def test_what_is_lost_without_resolution_grows_with_the_number_of_members(store: Store, settings: Settings) -> None:
    """And not only by chance: the same twelve teams, each over a short text and over a long one."""
    right: dict[int, list[bool]] = {}
    members: dict[int, int] = {}
    for task in (SINGLE[1], LONG):
        for seed in range(12):
            chat = ScriptedChat(SimulatedTeam(told(task), invents=0.3, seed=seed))
            answer = ask(KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat), task, conflict="off")
            right.setdefault(task.length, []).append(is_right(answer, task))
            members[task.length] = answer.counts["members"]
    short, long = (sum(right[length]) for length in (1_000, 16_000))
    assert members[1_000] <= 5 < 40 < members[16_000]
    assert long <= 3 < 6 <= short < 12
    assert expected_by_chance(members[16_000], 0.3) < 0.1 < 0.5 < expected_by_chance(members[1_000], 0.3)


# -------------------------------------------------------------------------------------------------------- other tasks


@pytest.mark.parametrize(("task", "knows"), RETRIEVAL, ids=[task.kind for task, _ in RETRIEVAL])
def test_keys_numbers_and_values_are_found(store: Store, tmp_path: Path, task: NeedleTask, knows: Knows) -> None:
    with led(store, SimulatedTeam(knows, invents=0.5, seed=1), tmp_path / "home") as graph:
        answer = ask(graph, task)
    assert is_right(answer, task)
    assert merge_calls(answer) > 0


@pytest.mark.parametrize("task", PAIRS, ids=lambda task: task.id)
def test_two_needles_are_put_together_in_two_rounds(store: Store, tmp_path: Path, task: NeedleTask) -> None:
    with led(store, SimulatedTeam(told(task), invents=0.3, seed=1, plan=hops(task)), tmp_path / "home") as graph:
        answer = ask(graph, task)
    assert is_right(answer, task)
    assert (answer.counts["rounds"], answer.counts["actions.query"], answer.counts["actions.answer"]) == (2, 2, 1)


@pytest.mark.parametrize("rank", RANKS)
def test_a_number_is_found_by_its_rank_and_nothing_is_merged(store: Store, tmp_path: Path, rank: str) -> None:
    with led(store, SimulatedTeam(finds_extremes, concludes=compares), tmp_path / "home") as graph:
        answer = ask(graph, RANKED[rank])
    assert is_right(answer, RANKED[rank])
    assert answer.counts["members"] > 2
    assert answer.counts.get("actions.conflict", 0) == merge_calls(answer) == 0


# ------------------------------------------------------------------------------------------------------ the team itself


def member(instruction: str, passage: str) -> list[dict[str, str]]:
    fence = "data-0123456789ab"
    shown = f"Passage 1: days\n{lines(passage, '1')}"
    return render("longagent/member", fence=fence, asked=fence, instruction=instruction, passage=shown)


def test_a_member_says_the_same_to_the_same_and_about_so_often_something_as_it_is_to() -> None:
    team = SimulatedTeam(lambda instruction, passage: "gold" if "gold" in passage else "", invents=0.3, seed=4)
    texts = [f"Nothing of note on day {day}." for day in range(1_000)]
    first, again = ([team(member("What?", text)) for text in texts] for _ in range(2))
    invented = [said for said in team.replies[:1_000] if said != REFUSAL]
    assert first == again
    assert 250 < len(invented) < 350
    assert len(set(invented)) == len(invented)
    assert '"gold"' in team(member("What?", f"{texts[0]}\n\nThere is gold."))


@pytest.mark.parametrize(("members", "invents"), [(2, 0.5), (16, 0.1), (64, 0.2), (128, 0.5)])
def test_what_is_expected_without_resolution(members: int, invents: float) -> None:
    chance = random.Random(1)
    drawn = [1 / (1 + sum(chance.random() < invents for _ in range(members - 1))) for _ in range(4_000)]
    assert expected_by_chance(members, invents) == pytest.approx(sum(drawn) / len(drawn), rel=0.06)
    assert expected_by_chance(members, 0) == 1
