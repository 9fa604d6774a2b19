"""Whether the passages that answer a question stand in the prompt of ``youtu``'s first answer.

The model takes each question of MuSiQue apart as the data set does, fills in the answers to the parts, and then
refuses; HotpotQA has no parts, there the question is asked as it is. What the prompt shows is counted, at a number of
tokens, beside the first passages of a search that fill as many. A passage counts for its facts where one of them is
shown.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from data_sets import Data
from graphs import Built, Graphs
from model_by_prompt import Model, Prompt
from tables import Section, Table
from youtu_runs import REFUSES, concludes, filled, plan

from kgplatform import FoundPassage, KnowledgeGraph, SearchResult
from kgplatform.evaluate.metrics import ranks, recall_at
from kgplatform.evaluate.terms import Question
from kgplatform.models.chat import Ledger
from kgplatform.readers.run import Run
from kgplatform.readers.window import tokens
from kgplatform.readers.youtu.reader import Options, answer
from kgplatform.search.evidence import Evidence
from kgplatform.search.found import passages_by_id
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


def _cut(passages: Sequence[FoundPassage], size: int) -> list[FoundPassage]:
    """The first of ``passages`` that have at most ``size`` tokens together."""
    kept: list[FoundPassage] = []
    for passage in passages:
        size -= tokens(passage.title) + tokens(passage.text)
        if size < 0:
            break
        kept.append(passage)
    return kept
