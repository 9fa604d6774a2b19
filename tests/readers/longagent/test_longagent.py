"""The worked examples of LongAgent (arXiv 2402.11550, appendix B and figure 2) over a server on loopback.

The texts are our own.
"""

import re
from pathlib import Path

import pytest
from answers import cited, steps_of
from longagent_runs import Asked, Script, actions, answers, ask, by_note, fill, instructs, notes, responds

from kgplatform.client import KnowledgeGraph
from kgplatform.neo4j.store import Store

SANDER = "In which publication did Sander publish an article questioning racial preferences in law schools?"
SAID = "Note 5: Sander's doubts about admissions were printed in the Yale Law Journal."
WRONG = [1, 7, 8, 13, 15, 17, 18, 22, 23, 24, 28, 29, 31, 32, 33, 34, 35, 37, 39, 42, 43]
TEAM = "Which team does the player named 2015 Diamond Head Classic MVP play for?"
WHO = "Who was the most valuable player of the 2015 Diamond Head Classic?"
WHICH = "Which team does Buddy Hield play for?"
KEY = "2b114db0-d87e-42d2-9b4c-0b1f115976ad"
VALUE = "f1ec3dd8-b6e7-4af5-a589-fda0b7693f93"
INVENTED = ("d3999999-9999-4999-8999-999999999999", "d9999999-9999-4999-8999-999999999999")


def pair(number: int) -> str:
    """A line of a dictionary; the first is the one that is asked for."""
    key, value = (KEY, VALUE) if number == 1 else (f"{number:08d}-1{KEY[10:]}", f"{number:08d}-2{VALUE[10:]}")
    return f'"{key}": "{value}".'


TEXTS = {
    "law.txt": notes(43, {5: "Sander's doubts about admissions were printed in the Yale Law Journal."}),
    "games.txt": notes(
        9,
        {
            2: "Mark Gibson coached at the Diamond Head Classic.",
            4: "Buddy Hield was named the most valuable player of the 2015 Diamond Head Classic.",
            8: "Buddy Hield now plays for the Sacramento Kings.",
        },
    ),
    "keys.txt": notes(12, {n: pair(n) for n in range(1, 13)}),
}


@pytest.fixture(scope="module")
def graph(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The texts of the examples; they are only read."""
    fill(shared_kg.store, tmp_path_factory.mktemp("longagent"), TEXTS)
    return shared_kg.store


def test_21_members_that_err_against_one_that_does_not(graph: Store, tmp_path: Path) -> None:
    said: dict[tuple[int, ...], str] = {(number,): "the Wall Street Journal" for number in WRONG}
    said |= {
        (5,): "the Yale Law Journal",
        (20,): "The Wall-Street Journal",
        (43, 5): "the Yale Law Journal",
        (5, 20): "The Yale Law Journal",
    }
    script = Script([instructs(SANDER), answers("Yale Law Journal")], by_note(said))
    done = ask(graph, script, tmp_path, SANDER, documents=("law",), conflict="once", seed=7)
    assert done.counts["members"] == 43
    assert script.merges() == [(43, 5), (5, 20)]
    assert script.of("decide")[0].replies == ["Member 1: The Yale Law Journal"]
    assert [each.detail for each in steps_of(done, "merge")] == [
        "members 43 and 5: ‘the Yale Law Journal’ stays, ‘the Wall Street Journal’ is dropped",
        "members 5 and 20: ‘The Yale Law Journal’ stays, ‘The Wall-Street Journal’ is dropped",
    ]
    assert actions(done) == ["QUERY", "CONFLICT", "ANSWER"]
    assert done.text == "Yale Law Journal [1]"
    assert cited(done) == [("law", SAID)]
    calls = {name: number for name, number in done.counts.items() if name.startswith("calls.")}
    assert calls == {"calls.leader": 2, "calls.member": 43, "calls.merge": 2}
    assert done.counts["no mention"] == 43 - 23


@pytest.mark.parametrize(("way", "right"), [("group", True), ("once", True), ("off", False)])
def test_with_conflict_resolution_the_needle_is_found_and_without_it_not(
    graph: Store, tmp_path: Path, way: str, right: bool
) -> None:
    """Every other member invents an answer of its own; who reads the part with the needle says what that has."""

    def member(prompt: Asked) -> str:
        is_alone, number = len(prompt.numbers) == 1, prompt.numbers[0]
        invented = f"the Journal of Note {number}" if is_alone and number % 2 else ""
        return responds("Yale Law Journal" if 5 in prompt.numbers else invented, prompt)

    def leader(prompt: Asked) -> str:
        """It believes the first reply."""
        return instructs(SANDER) if prompt.kind == "instruct" else answers(prompt.replies[0].partition(": ")[2])

    done = ask(graph, Script(leader, member), tmp_path, SANDER, documents=("law",), conflict=way)
    assert ((done.text or "").startswith("Yale Law Journal"), "calls.merge" in done.counts) == (right, right)
    assert cited(done) == ([("law", SAID)] if right else [])


def test_the_running_example(graph: Store, tmp_path: Path) -> None:
    found: dict[str, dict[tuple[int, ...], str]] = {
        WHO: {(2,): "Mark Gibson", (4,): "Buddy Hield", (2, 4): "Buddy Hield", (4, 2): "Buddy Hield"},
        WHICH: {(8,): "Sacramento Kings"},
    }
    script = Script(
        [instructs(WHO), instructs(WHICH), answers("Sacramento Kings")],
        lambda prompt: by_note(found[prompt.section("Instruction")])(prompt),
    )
    done = ask(graph, script, tmp_path, TEAM, documents=("games",))
    assert actions(done) == ["QUERY", "CONFLICT", "QUERY", "ANSWER"]
    first, second = script.of("decide")
    assert (first.replies, second.replies) == (["Member 1: Buddy Hield"], ["Member 1: Sacramento Kings"])
    assert [each["role"] for each in second.messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    history = "\n".join(each["content"] for each in second.messages[1:-1])
    assert "Member 1: Buddy Hield" in history
    assert instructs(WHICH) in history
    assert all(TEAM not in each.user for each in script.of("member"))
    shown = script.of("joint")[0].section("Answers")
    assert re.search(r"^- Buddy Hield \[\d+\.\d+\]$", shown, re.MULTILINE), "with the number of its sentence"
    assert done.text == "Sacramento Kings [1]"
    assert {name: number for name, number in done.counts.items() if name.startswith("actions.")} == {
        "actions.answer": 1,
        "actions.conflict": 1,
        "actions.query": 2,
    }
    assert done.counts["rounds"] == 2


def test_the_value_of_a_key(graph: Store, tmp_path: Path) -> None:
    instruction = f'Finding the corresponding value from a dictionary and a key. Key: "{KEY}" The value is:'
    said = {(1,): VALUE, (9,): INVENTED[0], (12,): INVENTED[1], (1, 9): VALUE, (1, 12): VALUE}
    kind = '{"type": "member", "content": "KV member"}'
    script = Script([kind, instructs(instruction), answers(VALUE)], by_note(said))
    done = ask(
        graph, script, tmp_path, f'Key: "{KEY}"', documents=("keys",), task="auto", conflict="once", member_tokens=130
    )
    assert [each.section("Instruction") for each in script.of("member")] == [instruction] * 14
    assert script.merges() == [(1, 9), (1, 12)]
    assert script.of("decide")[0].replies == [f"Member 1: {VALUE}"]
    assert "Kind of work: Find the value that belongs to a key in a dictionary." in script.of("decide")[0].user
    assert done.text == f"{VALUE} [1]"
    assert steps_of(done, "expert")[0].detail == "KV member"
    assert [VALUE in words for _, words in cited(done)] == [True]
