"""GraphReader where no model can be reached: needles in long texts, and what a step costs on large graphs.

The language model is a server on loopback that matches strings (``rule_reader``): what it finds, the walk found for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from data_sets import Data, Place
from graphs import Built, Graphs, Step, new_graph
from haystack import Haystack, cut_needle, joined_needles, single_needles
from measure import MEMORY_LIMIT, PeakMemory, percentile
from rule_reader import RuleReader, Wanderer
from tables import Section, Table

from kgplatform import KnowledgeGraph
from kgplatform.readers.graphreader.brief import FORMS
from kgplatform.records import Answer
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer, ScriptedChat
from kgplatform.text import count_tokens

SIZES = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
DEPTHS = 15
WINDOW = 4096
STEP_LIMIT = 100.0
"""Milliseconds of a step without the model, at p95."""
CALLS = 10
QUESTIONS = 20
_FUNCTION_NAMES = {name for form in FORMS.values() for name in get_args(form.model_fields["action"].annotation)}


@dataclass(slots=True)
class Asked:
    """What some questions came to. ``longest``: the most functions that a path called."""

    right: int = 0
    of: int = 0
    calls: int = 0
    longest: int = 0
    full_text: int = 0

    def add(self, answer: Answer, full: Answer, told: str) -> None:
        """Count one question, whose right answer is ``told``; without a citation an answer does not count."""
        self.of += 1
        self.right += told in (answer.text or "") and bool(answer.citations)
        self.full_text += told in (full.text or "")
        self.calls += answer.usage.calls + answer.usage.cached_calls
        self.longest = max(self.longest, longest_path(answer))

    def take(self, other: Asked) -> None:
        """Add the questions of ``other``."""
        self.right, self.of = self.right + other.right, self.of + other.of
        self.calls, self.full_text = self.calls + other.calls, self.full_text + other.full_text
        self.longest = max(self.longest, other.longest)


def longest_path(answer: Answer) -> int:
    """The most functions that one path called; a step that shows an earlier page of the facts is none."""
    called = Counter(step.path for step in answer.trace if step.path and step.name in _FUNCTION_NAMES)
    return max(called.values(), default=0)


def test_needles(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("needles", "GraphReader: needles in long texts, with a reader that matches strings")
    memory = PeakMemory()
    totals = {"single": Asked(), "joined": Asked(), "cut": Asked()}
    rows: list[tuple[str, ...]] = []
    with (
        OpenAIServer(RuleReader()) as model,
        new_graph(place, "needles", embedder="hash:64", openai_base_url=model.base_url) as graph,
    ):
        for size in SIZES:
            for kind, hay in _haystacks(size).items():
                asked = _ask(graph, place.folder / f"{kind} {size}.txt", hay)
                totals[kind].take(asked)
                shares = (f"{count} of {asked.of}" for count in (asked.right, asked.full_text))
                rows.append((kind, f"{hay.tokens:,}", *shares, f"{asked.calls / asked.of:.1f}", str(asked.longest)))
        largest = max(_tokens(each.body) for each in model.requests_to("/chat/completions") if _is_reading(each.body))
    for kind, total in totals.items():
        found.add(f"{kind} needles found and cited", 100 * total.right / total.of, "%", exactly=100)
        found.add(f"{kind} needles, from the text that fits the window", 100 * total.full_text / total.of, "%")
    found.add("largest prompt of a reader, in tokens", largest, at_most=WINDOW)
    found.add("most functions that a path called", max(each.longest for each in totals.values()), at_most=CALLS)
    found.add("peak memory of the Python process", memory.megabytes(), "MB", at_most=MEMORY_LIMIT)
    columns = ("needles", "tokens of the text", "found", "in the first window", "model calls", "functions of a path")
    found.tables.append(Table("By size", columns, rows))
    found.notes += [
        f"Single: {DEPTHS} needles in one text at even depths, each about something else, and a question for each. "
        "Joined: two statements far apart that share one name, neither of them enough. Cut: a statement in two "
        "sentences with a passage's border between them.",
        f"In the first window: reader fulltext, which sees the longest beginning that fits {WINDOW:,} tokens.",
        "Texts are invented; the model is a program that matches strings, for extraction and for reading.",
    ]


def _haystacks(size: int) -> dict[str, Haystack]:
    passage_tokens = load_settings().passage_tokens
    return {
        "single": single_needles(size, DEPTHS),
        "joined": joined_needles(size),
        "cut": cut_needle(size, passage_tokens),
    }


def _ask(graph: KnowledgeGraph, text: Path, hay: Haystack) -> Asked:
    """All questions about one text, alone in the graph, by GraphReader and from what the window holds of the text."""
    text.write_text(hay.text, "utf-8")
    asked = Asked()
    graph.ingest(text, extractor="local", facts=True)
    for needle in hay.needles:
        answer = graph.ask(needle.question, "graphreader", window_tokens=WINDOW)
        asked.add(answer, graph.ask(needle.question, "fulltext", window_tokens=WINDOW), needle.answer)
    graph.remove(str(text))
    return asked


def _is_reading(body: dict[str, object]) -> bool:
    return "serial number" not in str(body["messages"])


def _tokens(body: dict[str, list[dict[str, str]]]) -> int:
    return sum(count_tokens(message["content"]) + 4 for message in body["messages"])


def test_steps(section: Callable[[str, str], Section], graphs: Graphs, data: Data) -> None:
    found = section("steps", "GraphReader: what a step costs, with a reader that never ends by itself")
    memory = PeakMemory()
    medical = graphs.once("medical", [Step(data.file("medical/corpus.json"))])
    asked = [each["question"] for each in data.read("medical/questions.json")[:QUESTIONS]]
    questions = [each.text for each in data.musique_questions()[:QUESTIONS]]
    rows = [_walked(found, "medical", graphs, medical, asked)]
    rows.append(_walked(found, "10,232 passages", graphs, graphs.combined(), questions))
    found.add("peak memory of the Python process", memory.megabytes(), "MB", at_most=MEMORY_LIMIT)
    columns = ("graph", "steps", "batches of names", "p50", "p95", "slowest", "statements alone, p95")
    found.tables.append(Table("Steps without the model", columns, rows))
    found.notes += [
        f"{QUESTIONS} questions on each graph, facts by the local extractor, and as recorded for MuSiQue. The reader "
        "reads two passages at each node and goes on to a neighbour, so that each path calls all the functions it may.",
        "A step's time is from its first statement to its reply; five paths run side by side. The model is a function "
        "in the same process, which answers in about a millisecond.",
    ]


def _walked(found: Section, name: str, graphs: Graphs, built: Built, questions: list[str]) -> tuple[str, ...]:
    with graphs.open(built.home) as opened:
        graph = KnowledgeGraph(opened.store, opened.settings, embedder=graphs.embedder, chat=ScriptedChat(Wanderer()))
        graph.ask(questions[0], "graphreader", nodes=1)  # to warm up: the statements are planned once
        answers = [graph.ask(each, "graphreader") for each in questions]
    steps = [step for answer in answers for step in answer.trace if step.path]
    seconds = [1000 * step.seconds for step in steps]
    alone = [1000 * sum(run.seconds for run in step.queries) for step in steps]
    found.add(f"{name}: a step of a walk, p95", percentile(seconds, 95), "ms", at_most=STEP_LIMIT)
    found.add(f"{name}: most functions that a path called", max(map(longest_path, answers)), at_most=CALLS)
    times = (percentile(seconds, 50), percentile(seconds, 95), max(seconds), percentile(alone, 95))
    batches = sum(step.prompt == "graphreader/nodes" for step in answers[0].trace)
    return name, f"{len(steps):,}", str(batches), *(f"{each:.1f} ms" for each in times)
