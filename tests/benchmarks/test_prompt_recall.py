"""Whether the passages that answer a question stand in the prompts of ``youtu``: recall at a number of tokens.

The model takes each question of MuSiQue apart as the data set does, fills in its answers to the parts, and then
refuses: what the prompt of the first answer shows is counted. HotpotQA has no parts: there the question is asked as it
is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from data_sets import Data
from graphs import Built, Graphs
from model_by_prompt import Model, Prompt
from tables import Section, Table
from youtu_runs import REFUSES, concludes, filled, plan

from kgplatform import FoundPassage, KnowledgeGraph
from kgplatform.evaluate.score.metrics import ranks, recall_at
from kgplatform.evaluate.terms import Question
from kgplatform.models.chat import Ledger
from kgplatform.readers.run import Run
from kgplatform.readers.window import Window, tokens
from kgplatform.readers.youtu.memory import AgentMemory
from kgplatform.readers.youtu.reader import Options, answer
from kgplatform.retrieve.evidence import Evidence
from kgplatform.testing import ScriptedChat

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
    found.notes.append(
        f"top_k {TOP_K} for both. youtu and search show facts too, in up to a quarter of the tokens; the last row none."
    )


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
            "youtu, first answer": lambda asked, size: _by_youtu(graph, asked, gold.get(asked.text, ()), size),
            "search": lambda asked, size: _by_search(graph, asked, size),
            "search, passages alone": lambda asked, size: _passages_alone(graph, asked, size),
        }
        shares = {name: [_recall(questions, shown, size) for size in SIZES] for name, shown in rows.items()}
    for size, mine, plain in zip(SIZES, shares["youtu, first answer"], shares["search"], strict=True):
        found.add(f"{title}: recall at {size:,} tokens, less that of search", mine - plain, "%", at_least=0)
    shown = [(name, *(f"{share:.1f}" for share in row), str(len(questions))) for name, row in shares.items()]
    found.tables.append(Table(title, ("", *(f"{size:,} tokens" for size in SIZES), "questions"), shown))


def _recall(questions: Sequence[Question], shown: Shown, size: int) -> float:
    found = [ranks(each.supports, list(shown(each, size))) for each in questions]
    return 100 * sum(recall_at(each, TOP_K) for each in found) / len(found)


def _by_youtu(
    graph: KnowledgeGraph, asked: Question, gold: Sequence[Mapping[str, Any]], size: int
) -> Sequence[FoundPassage]:
    """What the prompt of the first answer shows, with the parts and the answers of ``gold``."""
    model = Model(
        decompose=plan(*(_part(each["question"]) for each in gold)) if gold else plan(asked.text),
        fill_in=lambda prompt: filled(**{f"n{n}": gold[n - 1]["answer"] for n in _numbers(prompt)}),
        answer=REFUSES,
        reflect=concludes(""),
    )
    run = Run(Evidence(graph.store, graph.embedder), ScriptedChat(model), Ledger(), context=CONTEXT)
    done = answer(asked.text, run, Options(evidence_tokens=size, top_k=TOP_K))
    prompt = json.dumps(model.of("answer")[0].user)
    assert all(json.dumps(each.text)[1:-1] in prompt for each in done.evidence.passages)
    return done.evidence.passages


def _part(question: str) -> str:
    """MuSiQue writes some parts as relations: "#1 >> country"."""
    return " ".join(question.replace(">>", " ").split())


def _numbers(prompt: Prompt) -> list[int]:
    return [int(n) for n in re.findall(r"^Question (\d+): ", prompt.data, re.MULTILINE)]


def _by_search(graph: KnowledgeGraph, asked: Question, size: int) -> Sequence[FoundPassage]:
    """One search, cut to ``size`` as the reader cuts its evidence."""
    memory = AgentMemory(asked.text, Window(CONTEXT), size)
    return memory.within(graph.search(asked.text, top_k=TOP_K), 1).passages


def _passages_alone(graph: KnowledgeGraph, asked: Question, size: int) -> Sequence[FoundPassage]:
    kept: list[FoundPassage] = []
    for passage in graph.search(asked.text, top_k=TOP_K).passages:
        size -= tokens(passage.title) + tokens(passage.text)
        kept += [passage] if size >= 0 else []
    return kept
