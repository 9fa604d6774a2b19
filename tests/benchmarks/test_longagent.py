"""LongAgent where no model can be reached: what conflict resolution is worth, and what a question costs.

The language model plays a team by rules (``simulated_team``): a member whose part does not have the answer invents one,
with a probability that is set. So what is right, the discussion got right. It is a server on loopback, which is asked
over HTTP.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import nlargest

import numpy as np
from corpora import put, put_jsonl
from data_sets import Place
from graphs import new_graph
from measure import MEMORY_LIMIT, PeakMemory
from simulated_team import SimulatedTeam, expected_by_chance, knows_needles
from tables import Section, Table

from kgplatform import KnowledgeGraph
from kgplatform.evaluate.needles import Needles, NeedleTask, WantedTask, filler, hide, paragraphs, single_statement
from kgplatform.prompt import Messages
from kgplatform.readers.window import cost
from kgplatform.records import Answer
from kgplatform.testing import OpenAIServer

LENGTHS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
DEPTHS = tuple(step / 14 for step in range(15))
INVENTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
RESOLVED = 0.3
"""Up to so many members that invent, every needle is to be found."""
WAYS = ("group", "once", "off")
"""At ``RESOLVED``; "once" is left out elsewhere, for its time."""
WINDOW = 4096
LINEAR = 99
"""Percent at least of what calls and tokens vary that a straight line over the length explains: R²."""

SHOWN = 20
"""The longest prompts by their letters; their tokens are counted."""


@dataclass(slots=True)
class Asked:
    """What the questions about one text came to, for one share of members that invent and one way of resolution."""

    members: int = 0
    right: list[bool] = field(default_factory=list)
    calls: int = 0
    merges: int = 0
    tokens: int = 0

    def add(self, answer: Answer, told: str) -> None:
        """Count one question, whose right answer is ``told``; without a citation an answer does not count."""
        self.right.append(told in (answer.text or "") and bool(answer.citations))
        self.members = answer.counts["members"]
        self.calls += answer.usage.calls + answer.usage.cached_calls
        self.tokens += answer.usage.input_tokens + answer.usage.output_tokens
        self.merges += answer.counts.get("calls.merge", 0)

    @property
    def accuracy(self) -> float:
        """Percent."""
        return 100 * sum(self.right) / len(self.right)


@dataclass(frozen=True, slots=True)
class Text:
    """A text with a needle at each depth, each about something else, and a question for each."""

    task: NeedleTask
    needles: tuple[Needles, ...]


Runs = dict[tuple[int, float, str], Asked]
"""By length, share of members that invent, and way of resolution."""


def test_teams(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("teams", "LongAgent: needles in long texts, with a team that invents answers")
    memory = PeakMemory()
    texts = {length: _text(length) for length in LENGTHS}
    runs: Runs = {}
    with _library(place, texts.values()) as graph:
        largest = max(_ask(graph, texts[length], invents, runs) for length in LENGTHS for invents in INVENTS)
    for invents in INVENTS:
        wanted = {"exactly": 100.0} if invents <= RESOLVED else {}
        what = f"needles found and cited, {invents:.0%} of members invent"
        found.add(what, _accuracy(runs, invents, "group"), "%", **wanted)
    for what in ("calls", "tokens"):
        explained = _linear(runs, texts, what)
        found.add(f"{what} of a question, explained by the length of the text (R²)", explained, "%", at_least=LINEAR)
    found.add("largest prompt, in tokens", largest, at_most=WINDOW)
    found.add("peak memory of the Python process", memory.megabytes(), "MB", at_most=MEMORY_LIMIT)
    found.tables += [_by_share(runs), _by_length(runs), _costs(runs, texts)]
    found.notes += [
        f"{len(DEPTHS)} needles in one text at even depths, each about something else, and a question for each, so "
        "that a percentage has steps of 7. Texts are invented, and so are the answers of the needles.",
        "A member whose part has the needle says its answer. Another one invents an answer with the given probability, "
        "each time a different one, else it says that there is none; the same to the same text and instruction. The "
        "leader draws one of the answers that are left, each with the same chance.",
        "The team is behind a server on loopback that speaks OpenAI's protocol.",
        "With, group: the leader groups the answers, and a member reads for two that contradict each other, a second "
        "one in doubt. Once: the paper's way. Without: the leader sees all answers. By chance: (1 - (1 - p)^m) / "
        "(m p), the mean of 1 / (1 + B) over B invented answers besides the true one, B binomial over the m - 1 "
        "members without the needle.",
    ]


def _text(length: int) -> Text:
    """Needles about as many different things, in an invented text."""
    chance = random.Random(length)
    chosen: dict[str, Needles] = {}
    while len(chosen) < len(DEPTHS):
        each = single_statement(chance)
        chosen.setdefault(each.question, each)
    needles = tuple(chosen.values())
    together = Needles("", (), tuple(said for each in needles for said in each.statements))
    wanted = WantedTask("qa", "many", length, DEPTHS, seed=0)
    return Text(hide(wanted, together, paragraphs(filler(chance, length))), needles)


@contextmanager
def _library(place: Place, texts: Iterable[Text]) -> Iterator[KnowledgeGraph]:
    """A new graph with the texts, a document each, and nothing extracted; its server is stopped afterwards."""
    files = put(place.folder / "texts of teams", {f"{each.task.length}.txt": each.task.text for each in texts})
    nothing = put_jsonl(place.folder / "nothing.jsonl", [{"document": each.name} for each in files])
    with new_graph(place, "teams", embedder="hash:64") as graph:
        graph.ingest(files, recorded=nothing)
        yield graph


def _ask(graph: KnowledgeGraph, text: Text, invents: float, runs: Runs) -> int:
    """All questions about one text by one team, in all ways; the tokens of its largest prompt."""
    truths = [(each.question, each.statements[0], each.answers[0]) for each in text.needles]
    length = text.task.length
    team = SimulatedTeam(knows_needles(truths), invents=invents, seed=length + round(100 * invents))
    largest = 0
    for way in WAYS if invents == RESOLVED else ("group", "off"):
        asked = runs[length, invents, way] = Asked()
        with OpenAIServer(team) as server:
            settings = graph.settings.model_copy(update={"openai_base_url": server.base_url})
            asker = KnowledgeGraph(graph.store, settings, embedder=graph.embedder)
            for each in text.needles:
                options = {"documents": [str(length)], "window_tokens": WINDOW, "conflict": way}
                asked.add(asker.ask(each.question, "longagent", **options), each.answers[0])
            sent = [each.body["messages"] for each in server.requests_to("/chat/completions")]
        largest = max(largest, _largest(sent))
    return largest


def _largest(prompts: list[Messages]) -> int:
    """The tokens of the largest."""
    longest = nlargest(SHOWN, prompts, key=lambda messages: sum(len(each["content"]) for each in messages))
    return max(map(cost, longest))


def _accuracy(runs: Runs, invents: float, way: str) -> float:
    """Percent, over all lengths."""
    return float(np.mean([runs[length, invents, way].accuracy for length in LENGTHS]))


def _linear(runs: Runs, texts: dict[int, Text], what: str) -> float:
    """Percent of what the costs vary at ``RESOLVED`` that a straight line over the length explains."""
    lengths = [texts[length].task.tokens for length in LENGTHS]
    costs = [getattr(runs[length, RESOLVED, "group"], what) for length in LENGTHS]
    return float(100 * np.corrcoef(lengths, costs)[0, 1] ** 2)


def _by_share(runs: Runs) -> Table:
    """Over all lengths."""
    rows = []
    for invents in INVENTS:
        chance = np.mean([100 * expected_by_chance(runs[each, invents, "off"].members, invents) for each in LENGTHS])
        found = (f"{_accuracy(runs, invents, way):.1f}%" for way in ("group", "off"))
        rows.append((f"{invents:.0%} of members invent", *found, f"{chance:.1f}%"))
    return Table("Right answers, over all lengths", ("", "with", "without", "by chance"), rows)


def _by_length(runs: Runs) -> Table:
    """At the share that is to be resolved."""
    rows = []
    for length in LENGTHS:
        asked = {way: runs[length, RESOLVED, way] for way in WAYS}
        members = asked["off"].members
        chance = f"{100 * expected_by_chance(members, RESOLVED):.1f}%"
        rows.append((f"{length:,}", str(members), *(f"{each.accuracy:.1f}%" for each in asked.values()), chance))
    title = f"Right answers by tokens of the text, where {RESOLVED:.0%} of members invent"
    return Table(title, ("tokens", "members", "group", "once", "without", "by chance"), rows)


def _costs(runs: Runs, texts: dict[int, Text]) -> Table:
    """What one question takes."""
    rows = []
    for length in LENGTHS:
        none, some = runs[length, 0.0, "group"], runs[length, RESOLVED, "group"]
        per = len(DEPTHS)
        calls = (f"{each.calls / per:.1f}" for each in (none, some))
        tokens = (f"{each.tokens / per:,.0f}" for each in (none, some))
        rows.append((f"{texts[length].task.tokens:,}", *calls, f"{some.merges / per:.1f}", *tokens))
    columns = ("tokens of the text", "calls, none invent", f"{RESOLVED:.0%} invent", "of them in conflicts",
               "tokens, none invent", f"{RESOLVED:.0%} invent")  # fmt: skip
    return Table("What a question costs (group)", columns, rows)
