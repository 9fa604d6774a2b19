"""What a question costs each reader on the sample corpus, and how much of a prompt a server may have read before.

The model answers by rule (``simulated_readers``), so that calls and tokens are those of the readers' own ways.
"""

import json
import os.path
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean, median

import simulated_readers
from conftest import ROOT
from data_sets import Place
from graphs import new_graph
from model_by_prompt import Prompt
from tables import Section, Table

from kgplatform import KnowledgeGraph
from kgplatform.readers import readers
from kgplatform.testing import ScriptedChat
from kgplatform.text import count_tokens

EXAMPLES = ROOT / "examples"
READERS = [each.name for each in readers.READERS]


@dataclass(slots=True)
class Spent:
    """Of all questions to one reader. ``asked``: the prompts of each question; ``seconds``: of each, by the clock."""

    calls: int = 0
    tokens: int = 0
    asked: list[Sequence[Prompt]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def test_costs(section: Callable[[str, str], Section], place: Place) -> None:
    found = section(
        "costs", "What a question costs each reader on the sample corpus, with a model that answers by rule"
    )
    lines = (EXAMPLES / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    with new_graph(place, "costs", embedder="hash:256") as graph:
        graph.ingest(EXAMPLES / "corpus", recorded=EXAMPLES / "extraction.jsonl")
        graph.build_tree()
        _by_rule(graph).gist()
        spent = {reader: _ask(graph, reader, questions) for reader in READERS}
    rows = []
    for reader, of in spent.items():
        now = (f"{of.calls / len(questions):.1f}", f"{of.tokens / len(questions):,.0f}")
        seconds = f"{median(of.seconds):.2f}"
        rows.append((reader, *now, seconds, _percent(_next(of)), _percent(_again(of))))
    columns = ("", "calls", "tokens", "seconds", "next prompt", "next question")
    found.tables.append(Table(f"Of a question, mean of {len(questions)}", columns, rows))
    found.add("questions that were asked", len(questions) * len(READERS))
    found.notes += [
        "Next prompt: how much of a prompt is to the letter how the one before it in the same question begins (of "
        "GraphReader: in the same walk). Next question: the same of that prompt of the question before that it is "
        "most like.",
        "Seconds: the median, all but the model's, which answers at once.",
    ]


def _by_rule(graph: KnowledgeGraph) -> KnowledgeGraph:
    chat = ScriptedChat(simulated_readers.reply)
    return KnowledgeGraph(graph.store, graph.settings, embedder=graph.embedder, chat=chat)


def _ask(graph: KnowledgeGraph, reader: str, questions: Sequence[str]) -> Spent:
    spent = Spent()
    for question in questions:
        asker = _by_rule(graph)
        began = time.perf_counter()
        asker.ask(question, reader)
        spent.seconds.append(time.perf_counter() - began)
        assert isinstance(asker.language_model, ScriptedChat)
        prompts = [Prompt(call.messages) for call in asker.language_model.calls]
        spent.calls += len(prompts)
        spent.tokens += sum(count_tokens(message["content"]) for each in prompts for message in each.messages)
        spent.asked.append(prompts)
    return spent


def _next(spent: Spent) -> list[float]:
    """Of prompts that follow each other."""
    lines = [line for prompts in spent.asked for line in _lines(prompts)]
    return [_share(one, other) for line in lines for one, other in pairwise(line)]


def _lines(prompts: Sequence[Prompt]) -> list[list[Prompt]]:
    """Prompts in the order in which they came; walks, side by side, are told apart by their first nodes."""
    lines: dict[str, list[Prompt]] = {}
    for prompt in prompts:
        is_step = prompt.name in ("graphreader/facts", "graphreader/chunk", "graphreader/neighbours")
        begun = re.search(r"^1\. at (.+?): |^Node: (.+)", prompt.data, re.MULTILINE) if is_step else None
        lines.setdefault(begun[1] or begun[2] if begun else "", []).append(prompt)
    return list(lines.values())


def _again(spent: Spent) -> list[float]:
    """Of the prompts of a question, each with the likest of the question before."""
    return [
        max((_share(one, prompt) for one in before if one.kind == prompt.kind), default=0.0)
        for before, prompts in pairwise(spent.asked)
        for prompt in prompts
    ]


def _share(one: Prompt, other: Prompt) -> float:
    texts = ["".join(message["content"] for message in each.messages) for each in (one, other)]
    return len(os.path.commonprefix(texts)) / len(texts[1])


def _percent(shares: Sequence[float]) -> str:
    return f"{100 * mean(shares):.0f} %" if shares else ""
