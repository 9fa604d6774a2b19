"""An evaluation from its first question to its results: every setup answers every question, and every answer is kept.

    with Graphs(settings, note, progress) as graphs:
        results, timing = evaluate(graphs, EvaluationPlan(dataset, parse_setups("retrieve,youtu"), Path("evaluation")))

It may be stopped at any time, and resumes: an answer is on disk before the next thing happens. A second run asks
no model for what the first one has, as long as nothing changed that the answer depends on (``keys``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.threads import Breaker, Work, run_works
from kgplatform.errors import BudgetError, InputError, ModelError, SettingError
from kgplatform.evaluate.costs import Costs, less, worth
from kgplatform.evaluate.graphs import Graphs, check_prepared, prepare
from kgplatform.evaluate.journal import claimed
from kgplatform.evaluate.kept_answers import (
    Answers,
    Attempt,
    Inquiry,
    InWords,
    Record,
    answer_key,
    as_record,
    ask,
    fingerprint,
    graph_fingerprint,
    inquiry_for,
    scored,
)
from kgplatform.evaluate.metrics import rouge_scorer
from kgplatform.evaluate.outcome import outcome
from kgplatform.evaluate.raters import RATERS, Ratings, ToRate, remarks
from kgplatform.evaluate.setups import check_distinct, needs
from kgplatform.evaluate.terms import Build, DataSet, Question, Results, Setup, Timing
from kgplatform.models.chat import Chat, ManyModels
from kgplatform.models.embed import embedding_model
from kgplatform.records import SILENT, Progress, Usage
from kgplatform.text import counted, unknown

Cell = tuple[str, str]
"""Where an answer stands among all: the names of its setup and of its question."""

NO_MODEL = (
    "An evaluation needs a language model for the answers. Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server; "
    "retrieval_only needs none."
)


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is to be evaluated. ``out``: the folder of all that comes of it. ``parallel``: questions at once.

    ``prepare``: build what the readers lack (gists, tree, facts). ``raters``: names from ``raters.RATERS``;
    ``judge_model``: who rates, if it is not the model that answers. ``chief``: the metric that counts most.
    ``in_words``: what is written of an answer into the file of its trace that people read.
    """

    dataset: DataSet
    setups: tuple[Setup, ...]
    out: Path
    parallel: int = 1
    prepare: bool = False
    raters: tuple[str, ...] = ("judge",)
    judge_model: str | None = None
    chief: str | None = None
    in_words: InWords = lambda answer: f"{answer.text}\n"


def evaluate(
    graphs: Graphs, plan: EvaluationPlan, note: Callable[[str], None] = lambda line: None, progress: Progress = SILENT
) -> tuple[Results, Timing]:
    """Ask, score, rate, and compare. What failed is in the results, and is asked again by the next run.

    Raises ``InputError`` for a plan that cannot be followed, ``BudgetError`` where the tokens ran out, ``ModelError``
    after ``MOST_FAILURES`` failures in a row, ``StoreError``, and ``KgError`` where a file cannot be written. Every
    answer until then is kept.
    """
    chat = _checked(graphs, plan)
    with (
        claimed(plan.out),
        Answers(plan.out, plan.in_words) as answers,
        Costs(plan.out / "costs.jsonl", chat.model) as costs,
    ):
        for fault in (*answers.faults, *costs.faults):
            note(fault)
        graphs.built = costs.built
        asked = _Round(graphs, plan, chat, answers, costs, note, progress)
        # Setups whose graph is built in the same way are asked together; the first of each decides the order.
        groups: dict[str, list[Setup]] = {}
        for setup in plan.setups:
            groups.setdefault(repr(setup.build), []).append(setup)
        for setups in groups.values():
            asked.ask_all(setups[0].build, setups)
        return asked.results()


def _checked(graphs: Graphs, plan: EvaluationPlan) -> Chat:
    """The model, once nothing is found wrong that can be seen before anything is asked."""
    check_distinct(plan.setups)
    rouge_scorer()  # which says what is missing, before anything is paid for
    for rater in plan.raters:
        if rater not in RATERS:
            raise InputError(unknown("rater", rater, RATERS))
    if not plan.dataset.questions:
        raise InputError(f"{plan.dataset.name} has no question.")
    if graphs.chat is None:
        raise SettingError(NO_MODEL, "retrieval_only")
    return graphs.chat


@dataclass
class _Round:
    """The questions of one plan on their way to the results."""

    graphs: Graphs
    plan: EvaluationPlan
    chat: Chat
    answers: Answers
    costs: Costs
    note: Callable[[str], None]
    progress: Progress
    notes: dict[str, None] = field(default_factory=dict)
    graph_notes: tuple[str, ...] = ()
    records: dict[Cell, tuple[Inquiry, Record]] = field(default_factory=dict)
    _breaker: Breaker = field(default_factory=lambda: Breaker("questions", "answered"))
    _told: set[str] = field(default_factory=set)

    def ask_all(self, build: Build, setups: Sequence[Setup]) -> None:
        """Ask ``setups``, all over graphs that are built in the same way."""
        if self.plan.dataset.apart:
            self._ask_apart(build, setups)
            return
        dataset = self.plan.dataset
        kg = self.graphs.for_data_set(dataset, build)
        self._prepare(kg, build, setups)
        self._ask(kg, self._pending(dataset.questions, setups, graph_fingerprint(kg)))
        self.graphs.release(kg)

    def _ask_apart(self, build: Build, setups: Sequence[Setup]) -> None:
        """Each group of questions over a graph of the texts that it is about, which is emptied after it."""
        # By a model only where some setup reads more than the texts themselves: it is much the dearest.
        extractor = build.extractor or ("llm" if any("entities" in needs(setup) for setup in setups) else "local")
        settings = self.graphs.settings
        how = {"extractor": extractor, "passage": settings.passage_tokens, "embedder": settings.embedder}
        how |= {"prepare": self.plan.prepare, "model": self.chat.model if extractor == "llm" else ""}
        kg = None
        groups: dict[tuple[str, ...], list[Question]] = {}
        for question in self.plan.dataset.questions:
            groups.setdefault(question.within, []).append(question)
        for questions in groups.values():
            texts = self.plan.dataset.texts_of(questions[0])  # of one group at a time: they may be large
            graph = fingerprint({"texts": texts, "build": build, "how": how})
            pending = self._pending(questions, setups, graph)
            if pending:
                kg = kg or self.graphs.empty(self.plan.dataset.name, build)
                dataset = DataSet(self.plan.dataset.name, (), texts)
                report = self.graphs.fill(
                    kg, dataset, replace(build, extractor=extractor), kg.settings.home_folder / "texts.jsonl"
                )
                if report.stopped:
                    raise BudgetError(report.stopped)
                if report.failed:
                    raise ModelError(
                        f"{texts[0].title} could not be read: {report.failed[0].reason} Run the same command again."
                    )
                self._prepare(kg, build, setups)
                self._ask(kg, pending)
                kg.remove([document.id for document in kg.documents()])
        if kg is not None:
            self.graphs.release(kg)

    def _prepare(self, kg: KnowledgeGraph, build: Build, setups: Sequence[Setup]) -> None:
        """Build what is missing, if that is wanted, and note what is missing then."""
        notes: tuple[str, ...] = ()
        if self.plan.prepare:
            with self.graphs.counting(kg):
                notes = prepare(kg, setups, build, self.progress)
        self.graph_notes = (*notes, *check_prepared(kg, setups))

    def _pending(self, questions: Sequence[Question], setups: Sequence[Setup], graph: str) -> list[tuple[str, Inquiry]]:
        """What is still to be asked, by its key; each question to all setups before the next one."""
        pending = []
        for inquiry in (inquiry_for(setup, question, self.plan.dataset) for question in questions for setup in setups):
            key = answer_key(inquiry, self.chat.model, graph)
            record = self.answers.known(key, inquiry)
            if record is None:
                pending.append((key, inquiry))
            else:
                self.records[inquiry.setup.name, inquiry.question.id] = (inquiry, record)
        return pending

    def _ask(self, kg: KnowledgeGraph, pending: Sequence[tuple[str, Inquiry]]) -> None:
        """Ask ``pending``, ``parallel`` at once; each answer is kept as it comes."""
        works = [
            Work(number, partial(ask, kg, inquiry), partial(self._keep, key, inquiry), lambda error: ())
            for number, (key, inquiry) in enumerate(pending)
        ]
        stopped = run_works(works, self.plan.parallel)
        if stopped:
            raise BudgetError(stopped)

    def _keep(self, key: str, inquiry: Inquiry, attempt: Attempt) -> Iterable[Work]:
        """Keep an answer; of failures say the first of each setup at once. Raises ``ModelError`` after too many in a
        row."""
        record = as_record(key, inquiry, attempt, self.graph_notes)
        if attempt.answer is not None and "error" not in record:
            self.answers.keep(inquiry, attempt.answer, record)
            self._breaker.worked()
        else:
            if inquiry.setup.name not in self._told:
                self._told.add(inquiry.setup.name)
                self.note(f"{inquiry.setup.name} failed on {inquiry.question.id}: {record['error']}")
            self._breaker.failed(record["error"])
            if self._breaker.broke:
                raise ModelError(self._breaker.broke)
        self.records[inquiry.setup.name, inquiry.question.id] = (inquiry, record)
        self.progress("answers", len(self.records), len(self.plan.setups) * len(self.plan.dataset.questions))
        return ()

    def results(self) -> tuple[Results, Timing]:
        """The answers with all their scores, in the order of setups and questions, and what they come to."""
        plan = self.plan
        cells = [(setup.name, each.id) for setup in plan.setups for each in plan.dataset.questions]
        ratings, models, spent = self._rated(cells)
        notes = {note: None for cell in cells for note in self.records[cell][1]["notes"]} | self.notes
        if failed := sum("error" in record for _, record in self.records.values()):
            notes[f"Failed: {counted(failed, 'answer')}, counted as wrong; the next run asks again."] = None
        found = outcome(
            plan.dataset,
            plan.setups,
            [scored(*self.records[cell], ratings[cell]) for cell in cells],
            model=self.chat.model,
            embedder=embedding_model(self.graphs.settings.embedder),
            raters=models,
            notes=tuple(notes),
            chief=plan.chief,
        )
        seconds: dict[str, dict[str, float]] = {setup.name: {} for setup in plan.setups}
        cached = dict.fromkeys(seconds, 0)
        for setup, question in cells:
            _, record = self.records[setup, question]
            if "error" not in record:
                seconds[setup][question] = record["seconds"]
                cached[setup] += record["cached"] > 0
        return found, Timing(seconds, self.costs.construction, spent, cached)

    def _rated(self, cells: Sequence[Cell]) -> tuple[dict[Cell, dict[str, float]], dict[str, str], dict[str, Usage]]:
        """Scores by models for each answer, the model of each rater, and what the raters have spent."""
        scores: dict[Cell, dict[str, float]] = {cell: {} for cell in cells}
        models: dict[str, str] = {}
        spent: dict[str, Usage] = {}
        judge, model = self.chat, self.plan.judge_model
        if model is not None and model != judge.model:
            if not isinstance(judge, ManyModels):
                raise InputError("This chat client offers one model only: leave judge_model out.", "judge_model")
            judge = judge.with_model(model)
        # Choices and placeholders are right or wrong by themselves: no model is asked what anybody can see.
        asked = {cell: self.records[cell][0].question for cell in cells}
        rated = [
            cell for cell, of in asked.items() if of.answerable and of.answers and not (of.choices or of.placeholders)
        ]
        with Ratings(self.plan.out / "ratings.jsonl", judge, self.graphs.settings.calls_at_once) as file:
            for fault in file.faults:
                self.note(fault)
            for rater in self.plan.raters if rated else ():
                found = [self.records[cell] for cell in rated]
                items = [ToRate(each.question, record["text"], record["refused"]) for each, record in found]
                before = worth(self.graphs.ledger)
                try:
                    ratings = file.all(rater, items, self.progress)
                finally:
                    self.costs.rated(rater, judge.model, less(worth(self.graphs.ledger), before))
                for cell, rating in zip(rated, ratings, strict=True):
                    scores[cell] |= rating.scores
                models[rater] = judge.model
                spent[rater] = self.costs.of_rater(rater, judge.model)
                self.notes |= dict.fromkeys(remarks(rater, ratings))
        return scores, models, spent
