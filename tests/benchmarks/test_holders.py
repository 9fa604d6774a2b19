"""Questions about a time: who held an office then, where others held it at other times.

``holders.jsonl``: questions about passages of the data sets; of the first half two or more passages (``others``) name
who held it at other times. The question is asked with the year in its words ("… in 1930?"), or without it and with
``as_of``. What the evidence has first is measured; with ``KGPLATFORM_BENCH_ANSWERS_SERVER``, a llama.cpp server, also
what a small model answers: hours on one core, so that each answer is kept (``.kgplatform/bench/holders.jsonl``).
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from answer_ways import bare_answer
from conftest import RESULTS
from graphs import Graphs, nearest
from tables import Section, Table

from kgplatform import KnowledgeGraph, SearchResult
from kgplatform.evaluate.journal import Journal
from kgplatform.text import normalise_name

_SERVER = os.environ.get("KGPLATFORM_BENCH_ANSWERS_SERVER", "")
_KEPT = Path(os.environ.get("KGPLATFORM_BENCH_HOLDERS", RESULTS / "holders.jsonl")).absolute()
WORDS, AS_OF, DENSE = "year in words", "as_of", "year in words, vectors alone"
Asked = dict[str, Any]


def test_holders(section: Callable[[str, str], Section], graphs: Graphs) -> None:
    found = section("holders", "Questions about a time: who held an office then")
    questions = [json.loads(line) for line in Path(__file__).with_name("holders.jsonl").read_text("utf-8").splitlines()]
    settings = {"openai_base_url": _SERVER, "model_timeout": 1200, "concurrency": 1} if _SERVER else {}
    with graphs.open(graphs.encyclopedias().home, **settings) as graph:
        rows = []
        for kind, some in (("several", questions[:20]), ("one", questions[20:]), ("all", questions)):
            for way in (WORDS, AS_OF):
                found_by = [(each, _search(graph, each, way)) for each in some]
                first, three = ([_has_fact(*each, count) for each in found_by] for count in (1, 3))
                passage = [each["titles"][0] == result.passages[0].title for each, result in found_by]
                rows.append((kind, way, *map(_percent, (first, three, passage))))
        columns = ("holders", "asked with", "first fact, %", "first three facts, %", "first passage, %")
        found.tables.append(Table("What the evidence has first", columns, rows))
        of_way = {row[1]: row for row in rows if row[0] == "several"}
        found.add("first passage is the holder's, as_of", float(of_way[AS_OF][4]), "%")
        if _SERVER:
            _answer(graph, questions)
    if _KEPT.exists():
        found.tables.append(_answers(questions))


def _search(graph: KnowledgeGraph, asked: Asked, way: str) -> SearchResult:
    if way == AS_OF:
        return graph.search(asked["question"], top_k=5, as_of=asked["as_of"])
    return graph.search(_dated(asked), top_k=5)


def _dated(asked: Asked) -> str:
    return f"{asked['question'].removesuffix('?')} in {asked['as_of']}?"


def _has_fact(asked: Asked, result: SearchResult, count: int) -> bool:
    """Whether one of the first facts is of the right holder: it names them, or their passage states it."""
    return any(
        _is_right(asked, fact.text) or asked["titles"][0] in {place.title for place in fact.citations}
        for fact in result.facts[:count]
    )


def _is_right(asked: Asked, text: str | None) -> bool:
    said = f" {normalise_name(text or '')} "
    return any(normalise_name(answer) in said for answer in asked["answer"])


def _percent(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / len(values):.0f}"


def _answer(graph: KnowledgeGraph, questions: Sequence[Asked]) -> None:
    """Every question in each way; what is kept already is not asked again."""
    with Journal(_KEPT) as journal:
        known = {record["key"] for record in journal.records}
        for number, asked in enumerate(questions):
            for way in (AS_OF, WORDS, DENSE):
                key = f"{way}/{number}"
                if key in known:
                    continue
                if way == DENSE:
                    text = bare_answer(nearest(graph, _dated(asked), 5), _SERVER, _dated(asked))["text"]
                else:
                    text = graph.ask(
                        asked["question"] if way == AS_OF else _dated(asked),
                        "retrieve",
                        answer_style="phrase",
                        as_of=asked["as_of"] if way == AS_OF else None,
                    ).text
                journal.add({"key": key, "text": text})


def _answers(questions: Sequence[Asked]) -> Table:
    kept = map(json.loads, _KEPT.read_text("utf-8").splitlines())
    records = {each["key"]: each["text"] for each in kept if "key" in each}
    rows = []
    for way in (AS_OF, WORDS, DENSE):
        right = [_is_right(asked, records.get(f"{way}/{at}")) for at, asked in enumerate(questions)]
        rows.append((way, *map(_percent, (right[:20], right[20:], right))))
    return Table("Answers that have the right name", ("asked with", "several, %", "one, %", "all, %"), rows)
