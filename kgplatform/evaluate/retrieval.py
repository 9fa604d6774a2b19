"""What retrieval finds, without any language model: recall of supporting passages by route, and how long it takes.

    report = evaluate_retrieval(musique, graphs)
    report.measured[0].rows[0]      # RouteRow(route='all', recall=(Mean(…), …), …)
    print(retrieval_markdown(report))

Beside the platform's own routes stand the papers' baselines over the same passages and vectors (BM25, dense, the two
fused by reciprocal rank), and, where people took the questions apart, what searching their parts would find.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.evaluate import comparators
from kgplatform.evaluate.graphs import AS_USUAL, Graphs
from kgplatform.evaluate.metrics import CUTS, all_found_at, ranks, recall_at
from kgplatform.evaluate.outcome import estimate
from kgplatform.evaluate.report import interval, listed, percent, table, text
from kgplatform.evaluate.terms import Build, DataSet, Mean, Question, Text
from kgplatform.readers.baselines.retrieve import search_parts
from kgplatform.records import SILENT, FoundPassage, Progress
from kgplatform.text import WORD_RUN, counted

BY_PARTS = "all, by parts"
ROUTES = ("all", "passage", "triple", "entity", "path", "community", BY_PARTS, *comparators.ROUTES)
_WARM_UPS = 10
"""Searches of each route before its clock runs: the first ones load and compile what all others find ready."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class RouteRow:
    """One route. ``recall``: for each cut the mean share of a question's supporting passages among so many results;
    ``all_found``: the share of questions with all of them there. ``p50``, ``p95``: milliseconds of a search, the
    question's embedding included."""

    route: str
    recall: tuple[Mean, ...]
    all_found: tuple[Mean, ...]
    p50: float
    p95: float
    questions: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One data set. ``questions``: those with supporting passages; ``left_out``: those without, and those that could
    not be read. ``graph``: its name; ``seconds``: of building it in this run, 0 if it was there."""

    dataset: str
    questions: int
    left_out: int
    documents: int
    passages: int
    graph: str
    embedder: str
    seconds: float
    rows: tuple[RouteRow, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """``measured``: the one data set. ``cuts``: after how many results is counted, for ``RouteRow.recall`` and
    ``RouteRow.all_found``. ``seconds``: of the whole run, the graph and its server included."""

    cuts: tuple[int, ...]
    measured: tuple[Measured, ...]
    seconds: float


def evaluate_retrieval(
    dataset: DataSet, graphs: Graphs, build: Build = AS_USUAL, progress: Progress = SILENT
) -> RetrievalReport:
    """Search every question of ``dataset`` by each of ``ROUTES`` that the graph and the questions allow.

    No language model is asked, unless ``build`` has the extractor ``llm``. Raises ``InputError`` for a data set that
    does not say which passages support its answers.
    """
    started = time.perf_counter()
    if dataset.apart:
        raise InputError(
            f"Each question of {dataset.name} is about a text of its own, so that there is nothing to retrieve from "
            "all texts together. Evaluate it with readers, without retrieval_only.",
            "retrieval_only",
        )
    # They can be searched for (they have a word), and their supporting passages are known.
    questions = [question for question in dataset.questions if question.supports and WORD_RUN.search(question.text)]
    if not questions:
        raise InputError(
            f"Recall cannot be measured: none of the questions of {dataset.name} lists the passages that support its "
            'answer. In a file of your own, list them under "documents" or "passages".'
        )
    measured = _measure(dataset, questions, graphs, build, progress)
    return RetrievalReport(CUTS, (measured,), round(time.perf_counter() - started, 1))


def _measure(
    dataset: DataSet, questions: Sequence[Question], graphs: Graphs, build: Build, progress: Progress
) -> Measured:
    graph = graphs.for_data_set(dataset, build, without_model=True)
    try:
        name, counts = graphs.name_of(graph), graph.stats().nodes
        lacking = {}
        if not counts.get("Community"):
            lacking["community"] = "the graph has no knowledge tree (`kgplatform tree`)"
        if not any(question.parts for question in questions):
            lacking[BY_PARTS] = "no question was taken apart by people"
        notes = [f"{route} is not measured: {why}." for route, why in lacking.items()]
        notes += _unknown_supports(graph, questions)
        chosen, rows = [route for route in ROUTES if route not in lacking], []
        for at, route in enumerate(chosen):
            progress(f"{dataset.name}: searching", at, len(chosen))
            rows.append(_row(route, graph, questions))
            if rows[-1].questions < len(questions):
                notes.append(f"{route}: over the {counted(rows[-1].questions, 'question')} that people took apart.")
        progress(f"{dataset.name}: searching", len(chosen), len(chosen))
        return Measured(
            dataset.name,
            len(questions),
            len(dataset.questions) - len(questions) + dataset.skipped,
            counts.get("Document", 0),
            counts.get("Chunk", 0),
            name,
            graph.embedder.name,
            round(graphs.seconds.get(name, 0.0), 1),
            tuple(rows),
            tuple(notes),
        )
    finally:
        graphs.release(graph)


def _row(route: str, graph: KnowledgeGraph, questions: Sequence[Question]) -> RouteRow:
    """The figures of one route."""

    def find(question: Question) -> Sequence[FoundPassage]:
        if route == BY_PARTS:
            return search_parts(graph.search, question.parts, max(CUTS)).passages
        return graph.search(question.text, route=route, top_k=max(CUTS)).passages

    asked = [question for question in questions if question.parts] if route == BY_PARTS else questions
    for question in asked[-_WARM_UPS:]:
        find(question)
    found: list[tuple[int | None, ...]] = []
    seconds: list[float] = []
    for question in asked:
        started = time.perf_counter()
        passages = find(question)
        seconds.append(time.perf_counter() - started)
        found.append(ranks(question.supports, passages))
    p50, p95 = (round(1000 * float(value), 2) for value in np.percentile(seconds, (50, 95)))
    recall = tuple(estimate([recall_at(each, cut) for each in found]) for cut in CUTS)
    complete = tuple(estimate([all_found_at(each, cut) for each in found]) for cut in CUTS)
    return RouteRow(route, recall, complete, p50, p95, len(asked))


def _unknown_supports(graph: KnowledgeGraph, questions: Sequence[Question]) -> list[str]:
    """Says so if supporting passages are in no document, by their titles: no search can find them."""
    titles = list(dict.fromkeys(support.title for question in questions for support in question.supports))
    documents = [FoundPassage(info.id, info.uri, info.title, 0, 0, None, "", 0.0, ()) for info in graph.documents()]
    found = ranks([Text(title) for title in titles], documents)
    unknown = [title for title, rank in zip(titles, found, strict=True) if rank is None]
    if not unknown:
        return []
    named = ", ".join(repr(title) for title in unknown[:_SHOWN]) + (" …" if len(unknown) > _SHOWN else "")
    return [f"The titles of {counted(len(unknown), 'supporting passage')} are no document's: {named}."]


def retrieval_markdown(report: RetrievalReport) -> str:
    """The report as Markdown: a table for each data set, percent with 95 % confidence intervals."""
    parts = ["# Retrieval", explained(report)]
    for measured in report.measured:
        parts += [
            f"## {text(measured.dataset)}",
            text(in_words(measured)),
            table(*by_route(report.cuts, measured.rows, interval, " ms")),
            listed(measured.notes),
        ]
    return "\n\n".join(filter(None, parts)) + "\n"


def explained(report: RetrievalReport) -> str:
    """What the figures are."""
    return (
        "R@k: the share of a question's supporting passages among the first k results, mean over the questions, in "
        "percent. all@k: the share of questions with all of them there. In the report, with 95 % confidence intervals "
        "(bootstrap over the questions). p50, p95: milliseconds of a search, the question's embedding included, one "
        f"search at a time. The whole run took {report.seconds:,.0f} s."
    )


def in_words(measured: Measured) -> str:
    """What was searched, in a line."""
    left_out = f" ({measured.left_out:,} left out)" if measured.left_out else ""
    built = f"built in {measured.seconds:,.0f} s" if measured.seconds else "as it was"
    return (
        f"{counted(measured.questions, 'question')}{left_out} over {counted(measured.documents, 'document')} in "
        f"{counted(measured.passages, 'passage')}; graph {measured.graph}, {built}; embedded by {measured.embedder}."
    )


def by_route(
    cuts: Sequence[int], rows: Sequence[RouteRow], recall: Callable[[Mean], str] = percent, unit: str = ""
) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows of a table. ``recall``: how the means of recall are written; ``unit``: of p50 and p95."""
    cells = [
        [row.route, *map(recall, row.recall), *map(percent, row.all_found), f"{row.p50:.0f}", f"{row.p95:.0f}"]
        for row in rows
    ]
    heads = ["route", *(f"R@{k}" for k in cuts), *(f"all@{k}" for k in cuts), f"p50{unit}", f"p95{unit}"]
    return heads, cells
