"""Questions about groups in invented corpora: what ``global`` brings before a model's eyes, and what ``retrieve`` does.

Both readers have the same model, which answers by rule from the sentences that a prompt shows. So what is right was
shown, and put together without loss.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from data_sets import Place
from graphs import new_graph
from group_questions import Corpus, GroupModel, planted
from measure import MEMORY_LIMIT, PeakMemory
from tables import Section, Table

from kgplatform import KnowledgeGraph
from kgplatform.readers.window import cost
from kgplatform.testing import ScriptedChat

CORPORA = ((60, 4), (105, 7), (150, 10))
"""Documents, a town each, and the valleys that they lie in."""

READERS: dict[str, tuple[str, dict[str, Any]]] = {
    "global": ("global", {"part_tokens": 3000}),
    "retrieve": ("retrieve", {}),
    "retrieve, 40 passages": ("retrieve", {"top_k": 40}),
}
LEAST = 95

Counts = Counter[tuple[str, str]]


def test_groups(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("groups", "Questions about groups, with a model that answers by rule")
    memory = PeakMemory()
    right, asked, sums = Counter[tuple[str, str]](), Counter[str](), Counter[str]()
    for towns, valleys in CORPORA:
        corpus = planted(seed=towns, towns=towns, valleys=valleys)
        asked.update(each.kind for each in corpus.questions)
        home = f"groups {towns}"
        with new_graph(place, home, embedder="hash:256") as graph:
            corpus.ingest(graph, place.folder / f"{home} texts")
            for name in READERS:
                _ask(graph, corpus, name, right, sums)
    total = sum(asked.values())
    found.add("questions of global answered right", 100 * _right(right, "global") / total, "%", at_least=LEAST)
    found.add("the same of retrieve", 100 * _right(right, "retrieve") / total, "%", at_most=50)
    found.add(
        "facts that a question rests on, before the model", 100 * sums["shown"] / sums["needed"], "%", exactly=100
    )
    found.add("facts that were shown twice", sums["twice"], exactly=0)
    found.add("peak memory of the Python process", memory.megabytes(), "MB", at_most=MEMORY_LIMIT)
    found.tables += [_by_kind(right, asked), _costs(sums, total)]
    found.notes += [
        f"Corpora of {', '.join(str(towns) for towns, _ in CORPORA)} documents, a town each, invented, embedded by a "
        "hash of their words. How many towns keep an animal; which themes the songs of a valley have; what all towns "
        "of a valley have in common, where all but one have each of four other things too.",
        "The model reads sentences by rule, the same ones for all readers.",
    ]


def _ask(graph: KnowledgeGraph, corpus: Corpus, name: str, right: Counts, sums: Counter[str]) -> None:
    reader, options = READERS[name]
    for question in corpus.questions:
        model = GroupModel()
        chat = ScriptedChat(model)
        own = KnowledgeGraph(graph.store, graph.settings, embedder=graph.embedder, chat=chat)
        answer = own.ask(question.text, reader, **options)
        right[name, question.kind] += question.is_right(answer)
        sums[f"calls {name}"] += len(chat.calls)
        sums[f"tokens {name}"] += sum(cost(prompt.messages) for prompt in model.asked)
        if name == "global":
            data = "\n".join(prompt.data for prompt in model.asked if prompt.kind == "map")
            shown = re.findall(r"^\[\d+\] (.+)$", data, re.MULTILINE)
            sums["needed"] += len(question.needs)
            sums["shown"] += len({each.replace(" the ", " ") for each in question.needs} & set(shown))
            sums["twice"] += len(shown) - len(set(shown))


def _right(right: Counts, name: str) -> int:
    return sum(number for (reader, _), number in right.items() if reader == name)


def _by_kind(right: Counts, asked: Counter[str]) -> Table:
    kinds = sorted(asked)
    rows = [[name, *(f"{right[name, kind]} of {asked[kind]}" for kind in kinds)] for name in READERS]
    return Table("Right and cited, by kind of question", ("", *kinds), rows)


def _costs(sums: Counter[str], total: int) -> Table:
    rows = [
        [name, f"{sums[f'calls {name}'] / total:.1f}", f"{sums[f'tokens {name}'] / total:,.0f}"] for name in READERS
    ]
    return Table("A question", ("", "calls", "tokens of prompts"), rows)
