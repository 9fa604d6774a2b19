"""Whether the passages that answer a question stand in the prompts of ``youtu`` and of GraphReader's first steps.

The model takes each question of MuSiQue apart as the data set does; HotpotQA has no parts, there the question is asked
as it is. For ``youtu`` it fills in the answers to the parts, and then refuses: what the prompt of the first answer
shows is counted, at a number of tokens, beside the first passages of a search that fill as many. For GraphReader it
understands nothing: it proposes the first nodes of the list, at each start has the passage read whose facts share most
words with question and plan, and stops; what all prompts of these two steps show is compared with a search of as many
tokens, question by question. A passage counts for its facts where one of them is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean
from typing import Any

import pytest
from data_sets import Data
from graphreader_runs import Asked, Walker, final
from graphs import Built, Graphs
from model_by_prompt import Model, Prompt
from tables import Section, Table
from youtu_runs import REFUSES, concludes, filled, plan

from kgplatform import FoundPassage, KnowledgeGraph, SearchResult
from kgplatform.evaluate.metrics import ranks, recall_at
from kgplatform.evaluate.terms import Question
from kgplatform.models.chat import Ledger
from kgplatform.readers.graphreader import explore
from kgplatform.readers.graphreader.brief import LEAST_PROPOSED
from kgplatform.readers.graphreader.reader import Options as WalkOptions
from kgplatform.readers.graphreader.reader import answer as walk
from kgplatform.readers.run import Run
from kgplatform.readers.window import tokens
from kgplatform.readers.youtu.reader import Options, answer
from kgplatform.search.evidence import Evidence
from kgplatform.search.found import passages_by_id
from kgplatform.search.nodes import Nodes
from kgplatform.testing import ScriptedChat
from kgplatform.text import normalise_name

SIZES = (500, 1_000, 2_000, 4_000)
"""Tokens of evidence in a prompt."""
QUESTIONS = 50
TOP_K = 50
CONTEXT = 32_768
Shown = Callable[[Question, int], Sequence[FoundPassage]]


def test_prompt_recall(section: Callable[[str, str], Section], graphs: Graphs, data: Data) -> None:
    found = section("prompt_recall", "Recall inside the prompts of youtu: supporting passages that a prompt shows")
    gold = {each["question"]: each["question_decomposition"] for each in data.read("musique/questions.json")}
    _measure(found, graphs, "MuSiQue, gold parts", graphs.musique(), data.musique_questions()[:QUESTIONS], gold)
    graphs.stop(graphs.musique().home)
    _measure(found, graphs, "HotpotQA, not taken apart", graphs.hotpotqa(), data.hotpotqa_questions()[:QUESTIONS], {})
    graphs.stop(graphs.hotpotqa().home)
    found.notes.append(f"top_k {TOP_K} for both. youtu shows facts too, in up to a quarter of the tokens; search none.")


def _measure(
    found: Section,
    graphs: Graphs,
    title: str,
    built: Built,
    questions: Sequence[Question],
    gold: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:
    with graphs.open(built.home) as graph:
        rows: dict[str, Shown] = {
            "youtu, passages and facts": lambda asked, size: _stating(
                graph, _by_youtu(graph, asked, gold.get(asked.text, ()), size)
            ),
            "search, passages alone": lambda asked, size: _cut(found_by(asked.text).passages, size),
        }

        @cache
        def found_by(text: str) -> SearchResult:
            return graph.search(text, top_k=TOP_K)

        shares = {name: [_recall(questions, shown, size) for size in SIZES] for name, shown in rows.items()}
    for size, mine, plain in zip(
        SIZES, shares["youtu, passages and facts"], shares["search, passages alone"], strict=True
    ):
        found.add(f"{title}: recall at {size:,} tokens, less that of search", mine - plain, "%", at_least=0)
    shown = [(name, *(f"{share:.1f}" for share in row), str(len(questions))) for name, row in shares.items()]
    found.tables.append(Table(title, ("", *(f"{size:,} tokens" for size in SIZES), "questions"), shown))


def _stating(graph: KnowledgeGraph, shown: SearchResult) -> Sequence[FoundPassage]:
    """The passages that a prompt shows, or that state one of the facts that it shows."""
    told = dict.fromkeys(place.passage for fact in shown.facts for place in fact.citations)
    return [*shown.passages, *passages_by_id(graph.store, list(told)).values()]


def _recall(questions: Sequence[Question], shown: Shown, size: int) -> float:
    found = [ranks(each.supports, list(shown(each, size))) for each in questions]
    return 100 * sum(recall_at(each, 2 * TOP_K) for each in found) / len(found)


def _by_youtu(graph: KnowledgeGraph, asked: Question, gold: Sequence[Mapping[str, Any]], size: int) -> SearchResult:
    """What the prompt of the first answer shows, with the parts and the answers of ``gold``."""
    model = Model(
        decompose=plan(*(_part(each["question"]) for each in gold)) if gold else plan(asked.text),
        fill_in=lambda prompt: filled(*(gold[n - 1]["answer"] for n in _numbers(prompt))),
        answer=REFUSES,
        reflect=concludes(""),
    )
    run = Run(Evidence(graph.store, graph.embedder), ScriptedChat(model), Ledger(), context=CONTEXT)
    done = answer(asked.text, run, Options(evidence_tokens=size, top_k=TOP_K))
    prompt = json.dumps(model.of("answer")[0].user)
    assert all(json.dumps(each.text)[1:-1] in prompt for each in (*done.evidence.passages, *done.evidence.facts))
    return done.evidence


def _part(question: str) -> str:
    """MuSiQue writes some parts as relations: "#1 >> country"."""
    return " ".join(question.replace(">>", " ").split())


def _numbers(prompt: Prompt) -> list[int]:
    return [int(n) for n in re.findall(r"^Question (\d+): ", prompt.data, re.MULTILINE)]


# --------------------------------------------------------------------------------------------------------- GraphReader


def test_first_steps(
    section: Callable[[str, str], Section], graphs: Graphs, data: Data, labelled: dict[str, str]
) -> None:
    found = section("first_steps", "Recall inside the prompts of GraphReader's first steps, and of a search as long")
    gold = {each["question"]: each["question_decomposition"] for each in data.read("musique/questions.json")}
    sets = (
        ("MuSiQue, gold parts", graphs.musique(), data.musique_questions()[:QUESTIONS]),
        ("HotpotQA, not taken apart", graphs.hotpotqa(), data.hotpotqa_questions()[:QUESTIONS]),
    )
    rows: list[list[str]] = []
    for title, built, questions in sets:
        with graphs.open(built.home) as graph:
            walked = [_walked(graph, each, gold.get(each.text, ()), labelled) for each in questions]
            nodes = graph.stats().elements.nodes
        found.add(
            f"{title}: calls until the first node is chosen, of {nodes:,} nodes",
            max(each.start for each in walked),
            "",
            at_most=2,
        )
        graphs.stop(built.home)
        size = mean(each.size for each in walked)
        mine, plain = 100 * mean(each.recall for each in walked), 100 * mean(each.of_search for each in walked)
        found.add(f"{title}: facts and the first passages read, less search", mine - plain, "%", at_least=0)
        rows.append([title, f"{size:,.0f}", f"{mine:.1f}", f"{plain:.1f}", str(len(questions))])
    columns = ("", "tokens, mean", "recall", "recall of search", "questions")
    found.tables.append(Table("Supporting passages, %", columns, rows))


@dataclass(frozen=True, slots=True)
class Walked:
    """Of one question: recall in the prompts with facts and with text, their tokens, and recall of what a search shows
    with as many. ``start``: calls for the plan and for the first nodes."""

    recall: float
    size: int
    of_search: float
    start: int


@pytest.fixture
def labelled(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Of each number of a walk, behind the node that it begins at, the passage."""
    known: dict[str, str] = {}
    number_of = explore.Walk.number_of

    def remembered(walk: explore.Walk, passage: FoundPassage) -> int:
        number = number_of(walk, passage)
        known[f"{walk.node} {number}"] = passage.id
        return number

    monkeypatch.setattr(explore.Walk, "number_of", remembered)
    return known


def _walked(
    graph: KnowledgeGraph, asked: Question, gold: Sequence[Mapping[str, Any]], labelled: dict[str, str]
) -> Walked:
    labelled.clear()
    parts = [_part(each["question"]) for each in gold] or [asked.text]
    wanted = _words(" ".join([asked.text, *parts]))
    model = Walker(
        plan=json.dumps({"steps": parts, "key_information": []}),
        nodes=lambda prompt: json.dumps({"nodes": _first_nodes(prompt)}),
        facts=lambda prompt: _reads(prompt, wanted),
        chunk=json.dumps({"notebook": "nothing", "action": "termination"}),
        answer=final("", sufficient=False),
    )
    evidence = Evidence(graph.store, graph.embedder)
    walk(asked.text, Run(evidence, ScriptedChat(model), Ledger(), context=CONTEXT), WalkOptions())
    prompts = model.of("facts", "chunk")
    shown = _passages(evidence.nodes(asked.text), labelled, prompts)
    size = sum(tokens(each.data) for each in prompts)
    searched = _cut(graph.search(asked.text, top_k=TOP_K).passages, size)
    recall, of_search = (recall_at(ranks(asked.supports, each), len(each) or 1) for each in (shown, searched))
    return Walked(recall, size, of_search, len(model.of("plan", "nodes")))


def _first_nodes(prompt: Asked) -> list[dict[str, Any]]:
    names = prompt.data.splitlines()[:LEAST_PROPOSED]
    return [{"node": name, "score": 99 - place} for place, name in enumerate(names)]


def _reads(prompt: Asked, wanted: set[str]) -> str:
    """Reads the passage whose facts share most words with what is ``wanted``."""
    best = max(prompt.numbers, key=lambda fact: len(_words(fact) & wanted))
    return json.dumps({"notebook": "nothing", "action": "read_chunk", "chunks": [prompt.passage_of(best)]})


def _words(text: str) -> set[str]:
    return set(normalise_name(text).split())


def _passages(nodes: Nodes, labelled: Mapping[str, str], prompts: Sequence[Asked]) -> list[FoundPassage]:
    """Those of the first steps of the walks, which are at the nodes where they begin."""
    starts = [re.search(r"^(?:1\. at (.+?): |Node: (.+))", each.user, re.MULTILINE) for each in prompts]
    names = [found[1] or found[2] if found else "" for found in starts]
    shown = [f"{name} {n}" for name, each in zip(names, prompts, strict=True) for n in each.passages_shown]
    ids = dict.fromkeys(labelled[label] for label in shown)
    read = [nodes.to_read(each, 0).passage for each in ids]
    return [passage for passage in read if passage]


def _cut(passages: Sequence[FoundPassage], size: int) -> list[FoundPassage]:
    """The first of ``passages`` that have at most ``size`` tokens together."""
    kept: list[FoundPassage] = []
    for passage in passages:
        size -= tokens(passage.title) + tokens(passage.text)
        if size < 0:
            break
        kept.append(passage)
    return kept
