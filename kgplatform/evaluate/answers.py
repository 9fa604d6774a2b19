"""The answers that an evaluation has: read from its journal, and written there as they come.

A line of the journal says that the answer's trace is there too, so an answer that was paid for can be scored again
when its right answer was put right, without asking anybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from kgplatform.evaluate.asking import Outcome, Task
from kgplatform.evaluate.journal import Journal, last_by_key
from kgplatform.evaluate.keys import question_fingerprint
from kgplatform.evaluate.metrics import of_failure, ordered, without_model
from kgplatform.evaluate.question import Question
from kgplatform.evaluate.results import Scored, Spent
from kgplatform.evaluate.traces import FOLDER, read_trace, trace_file, write_trace
from kgplatform.evaluate.words import is_refusal
from kgplatform.records import Answer

Record = Mapping[str, Any]


class Answers:
    """``folder/answers.jsonl`` and the traces beside it. One thread writes."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._traces = folder / FOLDER
        self._journal = journal
        self._records = last_by_key(journal.records)

    def known(self, key: str, task: Task) -> Record | None:
        """What is known by ``key``, scored by what the question says now; None where it is to be asked."""
        record = self._records.get(key)
        file = trace_file(self._traces, task.setup.name, task.question.id)
        if record is None or not file.is_file():
            return None
        if record["scored"] != question_fingerprint(task.question):
            record = {**record, **_scores(task.question, read_trace(file))}
            self._add(record)
        return record

    def keep(self, key: str, task: Task, outcome: Outcome, notes: Sequence[str]) -> Record:
        """Write the trace, then the line of the journal. ``notes``: on the graph that was asked.

        Raises ``KgError`` where there is no space for them, ``ValueError`` where ``outcome`` has no answer.
        """
        answer = outcome.answer
        if answer is None:
            raise ValueError("a failure is not kept")
        write_trace(self._traces, task.setup, task.question, answer)
        record = {
            "key": key,
            "question": task.question.id,
            "setup": task.setup.name,
            "text": answer.text,
            "note": answer.note,
            "notes": list(notes),
            "citations": len(answer.citations),
            "refused": is_refusal(answer.text),
            "spent": {stage: list(astuple(each)) for stage, each in outcome.spent.items()},
            "counts": answer.counts,
            "seconds": outcome.seconds,
            "cached": outcome.cached,
            **_scores(task.question, answer),
        }
        self._add(record)
        return record

    def trace(self, task: Task) -> Answer:
        """The whole answer as it was given."""
        return read_trace(trace_file(self._traces, task.setup.name, task.question.id))

    def _add(self, record: Record) -> None:
        self._journal.add(record)
        self._records[str(record["key"])] = record


def scored(task: Task, record: Record, ratings: Mapping[str, float]) -> Scored:
    """An answer with all of its scores. ``ratings``: those that a model gave."""
    spent = {stage: Spent(*each) for stage, each in record["spent"].items()}
    scores = ordered_scores({**record["scores"], **ratings})
    question = task.question
    return Scored(question.id, question.kind, task.setup.name, record["text"], None, record["refused"], scores, spent)


def unanswered(task: Task, outcome: Outcome, ratings: Mapping[str, float]) -> Scored:
    """A question on which a setup failed: wrong by every metric that applies to it, and counted as failed."""
    question = task.question
    scores = {**of_failure(question), **ratings}
    return Scored(
        question.id, question.kind, task.setup.name, None, outcome.error, False, ordered_scores(scores), outcome.spent
    )


def ordered_scores(scores: Mapping[str, float]) -> dict[str, float]:
    """The same scores in the order in which metrics are shown."""
    return {name: scores[name] for name in ordered(scores)}


def _scores(question: Question, answer: Answer) -> dict[str, Any]:
    return {"scores": without_model(question, answer), "scored": question_fingerprint(question)}
