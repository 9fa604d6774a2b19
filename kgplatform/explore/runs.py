"""A run of a reader as nodes of the graph, so that Neo4j Browser shows what it asked and what it found.

    (:Run)-[:HAS_STEP]->(:Step)-[:NEXT_STEP]->(:Step)
    (:Step)-[:FOUND {rank}]->(:Fact), (:Step)-[:FOUND {rank}]->(:Chunk), (:Step)-[:FOUND {rank}]->(:Page),
    (:Step)-[:AT]->(:KeyElement)
    (:Run)-[:CITES {number, start, end, found, text}]->(:Chunk)

A run is an event: asked twice, there are two. It holds what it said in words, and the sentences that it rests on, so
that it stays readable and can be checked (``recheck``) when the documents behind it are changed or removed; the edges
to them go then. Paths of a reader that know nothing of each other are
chains of their own, between what led to them and what follows them.

Each turn of a thread of questions is a saved run, and remembers the thread and its number in it; a thread is there once
its first turn is kept, and is gone with its runs:

    (:Run {thread, turn, asked})-[:FOLLOWS]->(:Run {thread, turn, asked})
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from kgplatform.errors import InputError
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import pasteable
from kgplatform.records import Answer, Citation, FoundPassage, Statement, Step
from kgplatform.shown import as_fields, plain
from kgplatform.text import clipped, node_id, tidy
from kgplatform.text.sentences import sentences

_NAME = 60
"""Characters of a run's name, which Neo4j Browser writes into a circle."""
_FIRST = 3
"""Passages that an answer without a model rests on: as many as people are shown first."""
_MARK = 12
"""Hexadecimal digits that tell the sentences of a few passages apart."""


def keep_run(
    store: Store,
    answer: Answer,
    model: str | None,
    seconds: float,
    turn: Row | None = None,
    *,
    asked_with: Row | None = None,
    nearest: Sequence[FoundPassage] | None = None,
) -> Answer:
    """Write ``answer`` and its trace in one transaction; returns it with its id. ``seconds`` is what it took in all.

    ``model``: the name of the language model, None without one. ``turn``: the ``thread`` that it is the next turn of,
    what was ``asked`` in it, and whether the model ``failed``. ``asked_with``: the reader's ``options``, ``where`` and
    ``as_of``. ``nearest``: what a search without a model finds now; what it finds later is compared with that, unless
    it is None.
    """
    store.define("neo4j/schema/constraint_run")  # the graph may be older than the labels and the index
    store.define("neo4j/schema/constraint_step")
    if turn:
        store.define("neo4j/schema/index_run_thread")
    run = uuid.uuid4().hex
    steps = [(f"{run}-{number}", step) for number, step in enumerate(answer.trace, start=1)]
    elements = [{"step": id_, "element": each} for id_, step in steps for each in dict.fromkeys(step.elements)]
    found = [  # facts, passages and pages, each ranked for themselves
        {"step": id_, "rank": rank, "found": each}
        for id_, step in steps
        for kind in (step.facts, step.passages, step.pages)
        for rank, each in enumerate(dict.fromkeys(kind), start=1)
    ]
    citations = [
        {"number": number} | {name: getattr(cited, name) for name in ("passage", "start", "end", "found", "text")}
        for number, cited in enumerate(answer.citations, start=1)
    ]
    row = _run_row(run, answer, model, seconds) | {
        "restsOn": json.dumps(_rests_on(store, answer), ensure_ascii=False),
        "foundThen": None if nearest is None else sorted(marks(each.text for each in nearest)),
        "askedWith": json.dumps(plain(asked_with or {}), ensure_ascii=False, sort_keys=True, default=str),
    }
    store.write(
        ("explore/keep_run", {"rows": [row]}),
        ("explore/keep_steps", {"run": run, "rows": _step_rows(steps)}),
        ("explore/keep_found", {"rows": found}),
        ("explore/keep_elements", {"rows": elements}),
        ("explore/keep_citations", {"run": run, "rows": citations}),
        *([("explore/keep_turn", {"run": run, **turn})] if turn else []),
    )
    return replace(answer, run=run)


def _run_row(run: str, answer: Answer, model: str | None, seconds: float) -> Row:
    return {
        "id": run,
        "name": clipped(answer.question, _NAME),
        "question": answer.question,
        "reader": answer.reader,
        "answer": answer.text,
        "note": answer.note,
        "statements": json.dumps(plain(answer.statements), ensure_ascii=False),
        "sufficient": answer.sufficient,
        "model": model,
        "seconds": round(seconds, 4),
        "calls": answer.usage.calls,
        "inputTokens": answer.usage.input_tokens,
        "outputTokens": answer.usage.output_tokens,
        "countNames": list(answer.counts),
        "counts": list(answer.counts.values()),
    }


def _rests_on(store: Store, answer: Answer) -> list[Row]:
    """The sentences that ``answer`` cites, or, where no model wrote one, the best of the first passages: each with its
    very words, and the hash of its document's text."""
    cited = answer.citations or (answer.evidence.first_sentences(_FIRST) if answer.text is None else ())
    rows = store.read("explore/cited_texts", ids=[each.passage for each in cited])
    passages = {row["id"]: row for row in rows}
    kept = []
    for number, each in enumerate(cited, start=1):
        passage = passages.get(each.passage, {"text": "", "start": 0})
        words = passage["text"][each.start - passage["start"] : each.end - passage["start"]]
        if words and len(words) == each.end - each.start:  # else it is gone meanwhile
            values = as_fields(replace(each, text=words)) | {"number": number, "sha256": passage["sha256"]}
            kept.append({name: value for name, value in values.items() if value is not None})
    return kept


def marks(texts: Iterable[str]) -> set[str]:
    """What tells the sentences of ``texts`` from others, wherever they stand."""
    cut = ((text, place) for text in texts for place in sentences(text))
    return {node_id(tidy(text[place.start : place.end]))[:_MARK] for text, place in cut}


def kept_statements(row: Row) -> Row:
    """``row`` of a saved run with the ``Statement`` objects that its ``statements`` are the JSON of."""
    kept = json.loads(row["statements"])
    lists = ("citations", "unread")
    made = (Statement(**each | {name: tuple(each[name]) for name in lists}) for each in kept)
    return row | {"statements": tuple(made)}


def steps_before(paths: Sequence[int]) -> list[list[int]]:
    """Of each step, given the path that it belongs to, the numbers (from 1) of the steps that it comes after.

    >>> steps_before([0, 1, 1, 2, 0])
    [[], [1], [2], [1], [3, 4]]
    """
    before: list[list[int]] = []
    ends: dict[int, int] = {}
    open_ends: list[int] = []
    for number, path in enumerate(paths, start=1):
        if path == 0:
            before.append(sorted(open_ends) or [ends[0]] if ends else [])
            open_ends = []
        else:
            last = ends.get(path, ends.get(0))
            before.append([last] if last else [])
            open_ends = [end for end in open_ends if end != last] + [number]
        ends[path] = number
    return before


def _step_rows(steps: Sequence[tuple[str, Step]]) -> list[Row]:
    before = steps_before([step.path for _, step in steps])
    as_they_are = ("path", "name", "detail", "prompt", "reply", "seconds")
    return [
        {
            "id": id_,
            "before": [steps[number - 1][0] for number in before[place]],
            "index": place + 1,
            **{name: getattr(step, name) for name in as_they_are},
            "calls": step.usage.calls,
            "inputTokens": step.usage.input_tokens,
            "outputTokens": step.usage.output_tokens,
            "statements": [
                # The vectors on their own: they are long, and later statements of the step share them.
                text
                for each in pasteable(step.queries)
                for text in (*each.vectors, "\n".join((*each.parameters, each.statement)))
            ],
        }
        for place, (id_, step) in enumerate(steps)
    ]


@dataclass(frozen=True, slots=True)
class FunctionCalls:
    """How often one function was called; ``share`` of the calls of its stage, from 0 to 1."""

    name: str
    calls: int
    share: float


@dataclass(frozen=True, slots=True)
class StageCalls:
    """How many functions were called in one stage; ``share`` of all calls, from 0 to 1. The most frequent first."""

    stage: str
    calls: int
    share: float
    functions: tuple[FunctionCalls, ...]


@dataclass(frozen=True, slots=True)
class CallStatistics:
    """The function calls of all saved runs of the readers that call functions (GraphReader's Table 8).

    The paper counts three to four calls for a question and does not say whether a path or all five are meant, so both
    means are here: ``per_run`` and ``per_path``.
    """

    runs: int
    paths: int
    calls: int
    per_run: float
    per_path: float
    stages: tuple[StageCalls, ...]


def stages_of(counts: Mapping[str, int], by_reader: Mapping[str, Sequence[str]]) -> tuple[StageCalls, ...]:
    """The function calls among ``counts``, in the order of the readers' stages; a stage without a call is left out.

    A reader with stages (``Reader.stages``) counts under such names; what belongs to no stage is not a function call:

        stages_of({"facts.read_chunk": 3, "chunk.search_more": 2, "malformed.none": 1}, {"walker": ("facts", "chunk")})
    """
    by_stage: dict[str, dict[str, int]] = {stage: {} for stages in by_reader.values() for stage in stages}
    for name, number in counts.items():
        stage, _, function = name.partition(".")
        if stage in by_stage and function and number > 0:
            by_stage[stage][function] = number
    total = sum(sum(functions.values()) for functions in by_stage.values())
    stages = []
    for stage, functions in by_stage.items():
        calls = sum(functions.values())
        ranked = sorted(functions.items(), key=lambda each: (-each[1], each[0]))
        shares = tuple(FunctionCalls(name, number, round(number / calls, 4)) for name, number in ranked)
        stages += [StageCalls(stage, calls, round(calls / total, 4), shares)] if functions else []
    return tuple(stages)


def call_statistics(store: Store, by_reader: Mapping[str, Sequence[str]]) -> CallStatistics | None:
    """The function calls of all saved runs of some readers, each given with its stages; None where there is none."""
    rows = store.read("explore/call_statistics", readers=list(by_reader))
    if not rows:
        return None
    stages = stages_of({row["name"]: row["number"] for row in rows}, by_reader)
    calls, runs, paths = sum(stage.calls for stage in stages), rows[0]["runs"], max(1, rows[0]["paths"])
    return CallStatistics(runs, paths, calls, round(calls / runs, 2), round(calls / paths, 2), stages)


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer. ``asked``: the question as it was put; ``question``: as a reader was asked it.
    ``failed``: the model failed, as ``note`` says, so that there is no answer.

    ``number`` counts from 1. ``run``: the id of the saved run. ``citations``: number 1 first, None for those whose
    document is no longer in the graph. ``at``: when, in ISO 8601. ``statements``, ``sufficient``: as of an ``Answer``.
    """

    number: int
    asked: str
    question: str
    reader: str
    text: str | None
    note: str
    failed: bool
    citations: tuple[Citation | None, ...]
    run: str
    at: str
    statements: tuple[Statement, ...] = ()
    sufficient: bool | None = None


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A thread: its first question, how many turns it has, and when the last one was (ISO 8601)."""

    id: str
    question: str
    turns: int
    at: str


def turns_of(store: Store, thread: str) -> tuple[Turn, ...]:
    """The turns of a thread in order; empty for one that is not there."""
    turns = []
    for row in store.read("explore/thread", id=thread):
        values: dict[str, Any] = {field.name: row[field.name] for field in fields(Turn)}
        turns.append(Turn(**kept_statements(values) | {"citations": cited_in_order(row["citations"])}))
    return tuple(turns)


def cited_in_order(rows: Iterable[Sequence[Any]]) -> tuple[Citation | None, ...]:
    """The citations of a saved answer, number 1 first, of rows (number, place); None for those that are gone."""
    known = {number: Citation.of(place) for number, place in rows}
    return tuple(known.get(number) for number in range(1, max(known, default=0) + 1))


def remove_thread(store: Store, thread: str) -> None:
    """Remove a thread with its runs and their steps. Raises ``InputError`` if there is none."""
    check_thread(store, thread)
    store.write(("explore/remove_thread", {"id": thread}))


def check_thread(store: Store, thread: str) -> tuple[Turn, ...]:
    """The turns of a thread. Raises ``InputError`` if there is none."""
    if not (found := turns_of(store, thread)):
        raise InputError(f"There is no thread {thread!r} in the graph.")
    return found
