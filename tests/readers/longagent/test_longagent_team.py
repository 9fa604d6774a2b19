"""LongAgent's team: who reads what, what it costs, what is kept of it, and the options."""

import math
import re
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from answers import steps_of
from conftest import opened
from longagent_runs import (
    NOTE_TOKENS,
    Asked,
    Rule,
    Script,
    answers,
    ask,
    by_note,
    fill,
    graph_with,
    instructs,
    notes,
    responds,
)

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.explore.runs import steps_before
from kgplatform.interfaces.cli.show.answers import show_trace
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.readers.longagent.options import Options, sizes_of
from kgplatform.readers.longagent.reader import READ, Member, answer, read_parts
from kgplatform.readers.run import Run
from kgplatform.readers.window import Numbering, tokens
from kgplatform.records import Step, Usage
from kgplatform.search.evidence import Evidence
from kgplatform.testing import Fault, OpenAIServer
from kgplatform.text import rejoin
from kgplatform.text.sentences import lines

QUESTION = "Who kept the lamp of the tower?"
ASKED = "Who kept the lamp?"
SCRIPTS = "灯台の灯はマラが守った。海は静かだった。" * 30
SMILES = " ".join(f"Zoë saw {n} 👩‍👩‍👧 on the quay of Łódź, नमस्ते." for n in range(60))
LONG_NAME = f"a {'very ' * 30}long name"
TEXTS = {
    "lamp.txt": notes(20, {3: "The lamp was cleaned by Jon Reed.", 7: "The lamp was kept by Mara Voss from 1871 on."}),
    "long paragraph.txt": " ".join(f"In the year {n} the sea took stones from the tower." for n in range(1700, 1800)),
    "scripts.txt": f"{SCRIPTS}\n\n{SMILES}",
    f"{LONG_NAME}.txt": "The harbour was dug in 1702.",
    "small a.txt": "The pier was built of oak.",
    "small b.txt": "The quay was built of stone.",
}


@pytest.fixture(scope="module")
def graph(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Store:
    fill(shared_kg.store, tmp_path_factory.mktemp("team"), TEXTS)
    return shared_kg.store


@pytest.fixture(scope="module")
def evidence(graph: Store) -> Evidence:
    return Evidence(graph, HashEmbedder(64))


SMALL = "Passage 1: small a\n[1.1] The pier was built of oak.\n\nPassage 2: small b\n[2.1] The quay was built of stone."


def team() -> Script:
    """Note 7 knows who kept the lamp; the others do not."""
    return Script([instructs(ASKED), answers("Mara Voss")], by_note({(7,): "Mara Voss"}))


def by_shown(words: str) -> Rule:
    """A member finds ``words`` where it is shown them."""
    return lambda prompt: responds(words if words in prompt.data else "", prompt)


def members_of(evidence: Evidence, room: int) -> tuple[Member, ...]:
    return read_parts(QUESTION, evidence, Options(), room)[0]


@pytest.mark.parametrize("room", [64, 400, 1024])
def test_the_parts_together_are_the_text_and_each_is_within_its_bound(evidence: Evidence, room: int) -> None:
    members = members_of(evidence, room)
    assert [each.number for each in members] == list(range(1, len(members) + 1))
    assert max(tokens(Numbering().passages(each.passages)) for each in members) <= room
    total = sum(tokens(lines(text, "10")) for text in TEXTS.values())
    assert room < 400 or math.ceil(total / room) <= len(members) <= math.ceil(1.5 * total / room) + 1
    pieces: dict[str, list[tuple[int, str]]] = {}
    for passage in (each for member in members for each in member.passages):
        assert TEXTS[f"{passage.title}.txt"][passage.start : passage.end] == passage.text, "the span is known"
        pieces.setdefault(passage.title, []).append((passage.start, passage.text))
    for name, text in TEXTS.items():
        found = pieces[name.removesuffix(".txt")]
        assert found == sorted(found)
        assert rejoin(found, 0, len(text)) == text
        assert all(after[0] >= start + len(said) for (start, said), after in zip(found, found[1:], strict=False))


def test_paragraphs_are_whole_and_long_ones_are_cut_where_sentences_end(evidence: Evidence) -> None:
    for member in members_of(evidence, 170):
        for passage in member.passages:
            if passage.title == "lamp":
                assert passage.text.startswith("Note ")
                assert passage.text.rstrip().endswith(".")
            if passage.title == "long paragraph":
                assert re.fullmatch(r"(In the year \d{4} the sea took stones from the tower\.\s*)+", passage.text)


def test_documents_are_chosen_by_name(graph: Store, tmp_path: Path) -> None:
    script = team()
    done = ask(graph, script, tmp_path, QUESTION, documents=("small b", "small a"))
    assert [each.data for each in script.of("member")] == [SMALL]
    assert done.trace[0].name == "team"
    assert done.trace[0].detail.startswith("all text; documents: 2, parts: 1, each of at most 70 tokens; ")


def test_retrieved_passages_are_packed_into_parts_in_reading_order(graph: Store, tmp_path: Path) -> None:
    script = team()
    done = ask(graph, script, tmp_path, "pier of oak, quay of stone", members="retrieved:2", member_tokens=1024)
    assert [each.data for each in script.of("member")] == [SMALL]
    assert done.counts["members"] == 1
    assert done.trace[0].queries


def test_of_a_long_part_a_member_sees_what_is_near_the_instruction_and_all_of_it_where_nobody_finds_it(
    graph: Store, tmp_path: Path
) -> None:
    """A part with no word of the instruction is shown whole at once."""
    room = {"documents": ("long paragraph", "lamp"), "member_tokens": 8000}
    near = Script([instructs("Who kept the lamp?"), answers("Mara Voss")], by_shown("kept by Mara Voss"))
    ask(graph, near, tmp_path / "a", QUESTION, **room)
    (shown,) = near.of("member")
    assert tokens(shown.data) <= 1.2 * READ
    assert "kept by Mara Voss" in shown.data
    assert "…" in shown.data
    far = Script([instructs("Who kept the lamp?"), answers("")], by_shown("no such words"))
    done = ask(graph, far, tmp_path / "b", QUESTION, rounds=1, **room)
    assert [tokens(each.data) > READ for each in far.of("member")] == [False, True]
    assert [each.name for each in steps_of(done, "members")] == ["members"] * 2
    other = Script([instructs("Où naquit Ostrel ?"), answers("")], by_shown("no such words"))
    ask(graph, other, tmp_path / "c", QUESTION, rounds=1, **room)
    assert all(tokens(each.data) > READ for each in other.of("member"))


def test_members_see_their_own_part_and_the_instruction_alone(graph: Store, tmp_path: Path) -> None:
    said = {(7,): "Mara Voss", (3,): "Jon Reed", (3, 7): "Mara Voss"}
    script = Script([instructs("Who lit it?"), instructs("Since when?"), answers("Mara Voss")], by_note(said))
    done = ask(graph, script, tmp_path, QUESTION, documents=("lamp",))
    alone, together = script.of("member"), script.of("joint")
    assert sorted(each.numbers for each in alone) == sorted([(n,) for n in range(1, 21)] * 2)
    assert [each.numbers for each in together] == [(3, 7)] * 2
    for prompt in (*alone, *together):
        shown = prompt.messages[0]["content"] + prompt.user
        assert len(prompt.messages) == 2, "members remember nothing"
        assert QUESTION not in shown
        assert ("Jon Reed" in shown) is (3 in prompt.numbers), "they are not told what others replied"
        assert prompt.section("Instruction") in ("Who lit it?", "Since when?")
    assert all(QUESTION in each.section("Objective") for each in script.of("instruct", "decide"))
    assert done.counts["rounds"] == 2


def test_members_that_found_something_are_steps_side_by_side(
    graph: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {(3,): "Jon Reed", (7,): "Mara Voss", (9,): "Mara Voss", (3, 7): "Mara Voss", (7, 3): "Mara Voss"}
    said |= {(3, 9): "Mara Voss", (9, 3): "Mara Voss"}
    script = Script([instructs(ASKED), instructs("Who?"), answers("Mara Voss")], by_note(said))
    done = ask(graph, script, tmp_path, QUESTION, documents=("lamp",))
    each_round = ["members", "member 3", "member 7", "member 9", "groups", "conflict", "merge", "decision"]
    assert [each.name for each in done.trace] == ["team", "instruction", *each_round, *each_round]
    members = done.counts["members"]
    paths = [3, 7, 9, members + 3, members + 7, members + 9]
    assert [each.path for each in done.trace if each.path] == paths, "each has its own in each round"
    show_trace(done)
    assert "Path" not in capsys.readouterr().out, "members are no walks"
    assert sum((each.usage for each in done.trace), Usage()) == done.usage
    assert done.usage.calls == len(script.asked)
    before = steps_before([each.path for each in done.trace])
    assert before[3] == before[4] == before[5] == [3], "beside each other, after the round's step"
    assert before[6] == [4, 5, 6], "and before the conflict"
    first = steps_of(done, "member 7")[0]
    assert (first.detail, len(first.passages), first.prompt) == ("Mara Voss", 1, "longagent/member")
    assert '"reasoning"' in first.reply
    assert steps_of(done, "conflict")[0].detail.endswith(": ‘Jon Reed’ (member 3); ‘Mara Voss’ (members 7, 9)")
    assert [each.detail for each in steps_of(done, "decision")] == ["QUERY: Who?", "ANSWER: Mara Voss"]


def test_members_are_told_as_they_answer_before_their_round(graph: Store, tmp_path: Path) -> None:
    """Member 3 is not waited for: it answers once member 7 was told."""
    told: list[str] = []
    heard = threading.Event()
    found = by_note({(3,): "Mara Voss", (7,): "Mara Voss"})

    def member(prompt: Asked) -> str | Fault:
        if prompt.numbers == (3,):
            heard.wait()
        return found(prompt)

    def listen(step: Step) -> None:
        told.append(step.name)
        if step.name == "member 7":
            heard.set()

    with graph_with(graph, Script([instructs(ASKED), answers("Mara Voss")], member), tmp_path) as kg:
        options = {"documents": ("lamp",), "member_tokens": NOTE_TOKENS}
        done = kg.ask(QUESTION, "longagent", on_step=listen, **options)
    assert told[2:5] == ["member 7", "member 3", "members"]
    assert [each.name for each in done.trace][2:5] == ["members", "member 3", "member 7"], "always by their numbers"


def test_where_the_leader_overlooks_what_members_found_it_is_asked_once_more(graph: Store, tmp_path: Path) -> None:
    script = Script([instructs(ASKED), answers(""), answers("Mara Voss")], by_note({(7,): "Mara Voss"}))
    done = ask(graph, script, tmp_path, QUESTION, documents=("lamp",))
    assert done.text == "Mara Voss [1]"
    assert done.counts["forced answer"] == 1
    papers = Script([instructs(ASKED), answers("")], by_note({(7,): "Mara Voss"}))
    done = ask(graph, papers, tmp_path / "paper", QUESTION, documents=("lamp",), conflict="once")
    assert (done.citations, papers.kinds[-1]) == ((), "decide"), "the paper's way believes the leader"


def test_members_may_have_a_model_of_their_own(graph: Store, tmp_path: Path) -> None:
    script = team()
    with OpenAIServer(script) as server:
        kg = opened(graph, tmp_path, openai_base_url=server.base_url, chat_model="large")
        done = kg.ask(QUESTION, "longagent", documents=("small a",), member_model="small")
        bodies = {Asked(each.body["messages"]).kind: each.body for each in server.requests_to("/chat/completions")}
    models = {kind: body["model"] for kind, body in bodies.items()}
    assert models == {"instruct": "large", "member": "small", "decide": "large"}
    assert all("response_format" in body for body in bodies.values()), "every reply is asked for as JSON"
    assert done.trace[0].detail.endswith("the leader's model: large, the members': small")


def test_another_model_needs_a_server_that_has_it(evidence: Evidence) -> None:
    with pytest.raises(InputError, match="one is the only language model here. Leave out member_model."):
        answer(QUESTION, Run(evidence, SimpleNamespace(model="one"), Ledger()), Options(member_model="two"))


def test_the_largest_part_that_fits_is_named_and_fits() -> None:
    def text(member_tokens: int | None, **options: Any) -> int:
        return sizes_of(Options(member_tokens=member_tokens, **options), 4096).text

    with pytest.raises(InputError, match="since a conflict puts the texts of two members into one prompt") as refused:
        text(2048)
    largest = int(re.findall(r"to ([\d,]+) with", str(refused.value))[0].replace(",", ""))
    assert 1000 < largest < 2048
    assert text(largest) == text(None) == largest
    with pytest.raises(InputError):
        text(largest + 1)
    assert text(2 * largest, conflict="off") == 2 * largest


def test_the_window_of_the_model_sets_the_sizes_unless_the_papers_are_wanted() -> None:
    large, small, paper = (
        sizes_of(options, context)
        for options, context in ((Options(), 1_000_000), (Options(), 32_768), (Options(preset="paper"), 32_768))
    )
    assert (large.window, large.text, large.reply) == (1_000_000, 8192, 1024)
    assert (small.window, small.text) == (32_768, 8192)
    assert (paper.window, paper.text) == (4096, 1024)
    assert 500 < paper.reply <= 512 + 20
    assert sizes_of(Options(window_tokens=8192), 32_768).window == 8192
    for each in (large, small, paper):
        assert 2 * each.text + each.instruction + 4 * each.claim + each.reply < 0.9 * each.window
