"""The paper's worked example (appendix I) over a server on loopback. The texts are our own."""

import re
from pathlib import Path

import pytest
from answers import cited
from corpora import put, put_jsonl
from graphreader_runs import Asked, Walker, ask, final, go, plan, proposals, reads, step, walked

from kgplatform.client import KnowledgeGraph
from kgplatform.models.chat import Ledger
from kgplatform.models.openai_chat import make_chat
from kgplatform.readers.answer import NOTHING_NEAR, OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.graphreader.reader import Options, answer
from kgplatform.readers.run import Run
from kgplatform.records import Answer, Usage
from kgplatform.search.evidence import Evidence
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

TEXTS = {
    "Record reviews.txt": (
        "This autumn brought many guitars. Never Too Loud, the fourth studio album by Danko Jones, a hard rock band "
        "from Canada, came out on vinyl as well. The drums were recorded in a barn."
    ),
    "Toronto notes.txt": (
        "Three players are enough for a lot of noise. Danko Jones, a hard rock band, was formed in Toronto, Canada, "
        "where they still rehearse above a bakery."
    ),
    "Old houses.txt": (
        "Whoever comes to Toronto should climb the hill. Casa Loma, a castle-style mansion in the Gothic Revival "
        "style, stands there in Toronto, Canada. Tickets are sold at the gate."
    ),
    "Bakeries.txt": "The bread of the north is dark, and the ovens are hot before dawn.",
}
FACTS = {
    "Record reviews.txt": (
        "Never Too Loud is the fourth studio album by the Canadian hard rock band Danko Jones.",
        ["Never Too Loud", "studio album", "Canada", "hard rock band", "Danko Jones"],
    ),
    "Toronto notes.txt": (
        "Danko Jones is a hard rock band that was formed in Toronto, Canada.",
        ["Danko Jones", "Canada", "hard rock band", "Toronto"],
    ),
    "Old houses.txt": (
        "Casa Loma is a castle-style mansion in the Gothic Revival style in Toronto, Canada.",
        ["Casa Loma", "Gothic Revival", "castle-style mansion", "Toronto", "Canada"],
    ),
}
QUESTION = "What is the castle called in the city where the performer of Never Too Loud was formed?"
PLAN = "First find the performer, then the city in which that band was formed, then a castle in that city."
NOTED = {
    "Record reviews": ("The performer is Danko Jones", "fourth studio album by Danko Jones"),
    "Toronto notes": ("It was formed in Toronto", "was formed in Toronto"),
    "Old houses": ("A castle there is Casa Loma", "Casa Loma, a castle-style mansion in the Gothic Revival style"),
}
NEXT = {"Never Too Loud": "Danko Jones", "Danko Jones": "Toronto"}
CHOSEN = {"Never Too Loud": "fourth studio album", "Danko Jones": "formed in", "Toronto": "Casa Loma"}


def read_chunk(asked: Asked) -> str:
    said, words = NOTED[asked.here]
    notebook = f"{asked.notebook.replace('(empty)', '')} {said} [{asked.number_of(words)}].".strip()
    return step("termination" if asked.here == "Old houses" else "search_more", notebook)


def conclude(asked: Asked) -> str:
    numbers = re.findall(r"\[[\d.]+\]", asked.data)
    return final(f"Casa Loma {numbers[2]}, in the city of the band {numbers[1]}.")


def model() -> Walker:
    return Walker(
        plan=plan(PLAN),
        nodes=proposals({"Danko Jones": 60, "Never Too Loud": 95, "Casa Lomax": 50}),
        facts=lambda asked: reads(asked.passage_of(CHOSEN[asked.here])),
        chunk=read_chunk,
        neighbours=lambda asked: go(NEXT[asked.here]),
        answer=conclude,
    )


@pytest.fixture(scope="module")
def evidence(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """The texts with their facts; they are only read."""
    folder = tmp_path_factory.mktemp("walk")
    lines = [
        {"document": name, "facts": [{"text": text, "key_elements": elements}]}
        for name, (text, elements) in FACTS.items()
    ]
    recorded = put_jsonl(folder / "facts.jsonl", [*lines, {"document": "Bakeries.txt"}])
    shared_kg.ingest(put(folder / "texts", TEXTS), recorded=recorded)
    return Evidence(shared_kg.store, shared_kg.embedder)


def sentence(name: str, number: int) -> str:
    """A sentence of a text, from 0."""
    return re.split(r"(?<=\.) ", TEXTS[name])[number]


def walk(evidence: Evidence, played: Walker, folder: Path, **options: int) -> tuple[Answer, int]:
    """The answer over the real client's chat, and how many requests came to the server."""
    with OpenAIServer(played) as server:
        ledger = Ledger()
        chat = make_chat(load_settings(home=folder, openai_base_url=server.base_url), ledger)
        done = answer(QUESTION, Run(evidence, chat, ledger), Options(**options))  # type: ignore[arg-type]  # all are numbers
        requests = server.requests_to("/chat/completions")
    assert done.usage.calls == ledger.total.calls == len(requests)
    assert done.usage == sum((each.usage for each in done.trace), Usage())
    return done, len(requests)


@pytest.fixture(scope="module")
def once(evidence: Evidence, tmp_path_factory: pytest.TempPathFactory) -> tuple[Answer, int, list[Asked]]:
    """The walk from one node: the answer, how many requests came, and what the model was asked."""
    played = model()
    return *walk(evidence, played, tmp_path_factory.mktemp("once"), nodes=1), played.asked


def test_eight_calls_lead_to_the_castle(once: tuple[Answer, int, list[Asked]]) -> None:
    done, requests, played = once
    assert requests == 11
    assert walked(done) == [
        *("read_chunk", "search_more", "read_neighbor_node"),
        *("read_chunk", "search_more", "read_neighbor_node"),
        *("read_chunk", "termination"),
    ]
    assert [each.kind for each in played] == [
        *("plan", "nodes"),
        *("facts", "chunk", "neighbours", "facts", "chunk", "neighbours", "facts", "chunk"),
        "answer",
    ]
    assert done.counts == {
        **{"chunk.search_more": 2, "chunk.termination": 1, "facts.read_chunk": 3, "malformed.fabricated node": 1},
        "neighbours.read_neighbor_node": 2,
    }
    assert done.text == "Casa Loma [1], in the city of the band [2]."
    assert cited(done) == [
        ("Old houses", sentence("Old houses.txt", 1)),
        ("Toronto notes", sentence("Toronto notes.txt", 1)),
    ]
    assert done.note == ""
    assert [each.title for each in done.evidence.passages] == ["Record reviews", "Toronto notes", "Old houses"]
    assert {each.text for each in done.evidence.facts} == {text for text, _ in FACTS.values()}
    steps = [each for each in done.trace if each.path == 1]
    assert all(each.seconds > 0 and each.reply and each.prompt for each in steps)
    assert [each.name for each in steps[3].queries] == ["search/node_facts"]
    assert steps[4].passages == (done.evidence.passages[1].id,)


def test_each_prompt_has_what_the_paper_gives_it(once: tuple[Answer, int, list[Asked]]) -> None:
    *_, played = once
    plan, selection, *rest = played
    assert plan.data == QUESTION
    assert set(selection.data.splitlines()) == {name for _, names in FACTS.values() for name in names}
    assert all(QUESTION in each.user for each in played)
    steps = rest[:-1]
    assert all(PLAN in each.user for each in [selection, *steps])
    assert [len(each.actions) for each in steps] == list(range(8))
    assert steps[-1].actions == [
        *("1. at Never Too Loud: read_chunk(1)", "2. at passage 1: search_more()"),
        *("3. at Never Too Loud: read_neighbor_node(Danko Jones)", "4. at Danko Jones: read_chunk(2)"),
        *("5. at passage 2: search_more()", "6. at Danko Jones: read_neighbor_node(Toronto)"),
        "7. at Toronto: read_chunk(3)",
    ]
    first, text, _, second, _, neighbours, third, _ = steps
    facts = [text for text, _ in FACTS.values()]
    assert first.data == f"Passage 1: Record reviews\n[1.2] {facts[0]}"
    assert list(text.numbers) == [sentence("Record reviews.txt", n) for n in range(3)], "the original text"
    assert second.data == f"Passage 2: Toronto notes\n[2.1-2] {facts[1]}", "the first was read"
    assert len(neighbours.data.splitlines()) == 5
    assert "Never Too Loud" in neighbours.data, "where the walk was already is listed too"
    assert "Casa Loma" in third.data
    assert [each.notebook == "(empty)" for each in steps] == [True, True, *[False] * 6]
    assert "Danko Jones [1.2]" in steps[2].notebook
    assert played[-1].data.count("Notebook ") == 1


def test_a_second_path_has_numbers_of_its_own(evidence: Evidence, tmp_path: Path) -> None:
    played = model()
    done, _ = walk(evidence, played, tmp_path, nodes=2)
    assert walked(done, 2) == ["read_chunk", "search_more", "read_neighbor_node", "read_chunk", "termination"]
    assert {each.path for each in done.trace} == {0, 1, 2}
    assert [each.path for each in done.trace] == [0, 0, *[1] * 8, *[2] * 5, 0]
    assert (done.text or "").startswith("Casa Loma [1]")
    noted = played.of("answer")[0].data
    assert re.findall(r"Toronto (\[[\d.]+\])", noted) == ["[2.2]"] * 2, "and the answer one numbering for all"


# Another graph, which replaces this one.


def test_a_graph_without_nodes_is_refused_without_a_last_question(kg: KnowledgeGraph, tmp_path: Path) -> None:
    recording = put_jsonl(tmp_path / "none.jsonl", [{"document": "Bakeries.txt"}])
    kg.ingest(put(tmp_path / "texts", {"Bakeries.txt": TEXTS["Bakeries.txt"]}), recorded=recording)
    evidence = Evidence(kg.store, kg.embedder)
    for mode, text, note, asked in (
        ("reject", REFUSAL, NOTHING_NEAR, ["plan"]),
        ("open", "Casa Loma", OWN_KNOWLEDGE, ["plan", "answer"]),
    ):
        played = Walker(answer=final("Casa Loma", sufficient=False))
        done = ask(evidence, played, QUESTION, mode=mode)
        assert (done.text, done.note) == (text, note)
        assert [each.kind for each in played.asked] == asked
