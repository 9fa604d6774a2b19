"""One question to one setup, whatever it is: a reader of the platform, a comparator, the model alone."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import BudgetError, InputError, ModelError, SettingError, StatementError
from kgplatform.evaluate.closed import answer_closed
from kgplatform.evaluate.needles import reader_options
from kgplatform.evaluate.official import official_answer
from kgplatform.evaluate.question import DataSet, Question
from kgplatform.evaluate.results import Setup, Spent
from kgplatform.evaluate.setups import CLOSED, OFFICIAL, option_names
from kgplatform.llm import Ledger, metered
from kgplatform.readers.choices import shown
from kgplatform.records import Answer

_CHOICES = "\nChoose one of these answers, and begin with its letter:\n"


@dataclass(frozen=True, slots=True)
class Task:
    """A question for a setup. ``text``: as it is put; ``options``: all that the reader is given."""

    setup: Setup
    question: Question
    text: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: an answer, or the ``error`` for which there is none. ``spent``: as if nothing was cached, by
    stage. ``cached``: how many replies came from the cache, so that ``seconds`` are fewer than the model's."""

    answer: Answer | None
    error: str | None
    spent: dict[str, Spent]
    seconds: float
    cached: int


def task_for(setup: Setup, question: Question, dataset: DataSet) -> Task:
    """The question as ``setup`` is to be asked: with the texts that it is about, and its choices, where it has any.

    A reader without an option for choices finds them below the question.
    """
    names = option_names(setup.reader)
    added: dict[str, Any] = dict(reader_options(setup, question))
    if question.within and not dataset.apart and "documents" in names:
        added["documents"] = question.within
    text = question.text
    if question.choices and "choices" in names:
        added["choices"] = question.choices
    elif question.choices:
        text += _CHOICES + shown(question.choices)
    return Task(setup, question, text, {**added, **setup.options})


def ask(kg: KnowledgeGraph, task: Task) -> Outcome:
    """Ask once. What concerns this question alone is in the outcome; what would meet the next one too is raised.

    Raises ``StoreError`` where the database does not work, ``BudgetError``, and ``SettingError``.
    """
    started = time.perf_counter()
    answer, error = None, None
    with metered() as meter:
        try:
            answer = _answer(kg, task)
        except (BudgetError, SettingError):
            raise
        except (ModelError, InputError, StatementError) as fault:
            error = str(fault)
    seconds = round(time.perf_counter() - started, 4)
    return Outcome(answer, error, worth(meter), seconds, meter.total.cached_calls)


def worth(meter: Ledger) -> dict[str, Spent]:
    """What a ledger counted, by stage, cached replies at what they once cost."""
    return {
        stage: Spent(each.calls, each.input_tokens, each.output_tokens)
        for stage, each in sorted(meter.worth_by_stage().items())
    }


def added(first: Mapping[str, Spent], second: Mapping[str, Spent]) -> dict[str, Spent]:
    """Two counts by stage as one."""
    return {stage: first.get(stage, Spent()) + second.get(stage, Spent()) for stage in sorted({*first, *second})}


def less(after: Mapping[str, Spent], before: Mapping[str, Spent]) -> dict[str, Spent]:
    """What a count by stage grew by; stages that did not grow are left out."""
    grown = {}
    for stage, spent in after.items():
        known = before.get(stage, Spent())
        if spent != known:
            pairs = zip(astuple(spent), astuple(known), strict=True)
            grown[stage] = Spent(*(now - then for now, then in pairs))
    return grown


def _answer(kg: KnowledgeGraph, task: Task) -> Answer:
    reader = task.setup.reader
    if reader == CLOSED and kg.chat is not None:
        return answer_closed(task.text, kg.chat)
    if reader in OFFICIAL:
        return official_answer(kg, task.text, reader, **task.options)
    return kg.ask(task.text, reader, **task.options)
