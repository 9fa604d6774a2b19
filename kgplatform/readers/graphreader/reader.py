"""Reader ``graphreader`` (GraphReader, arXiv 2406.14550): agents walk the graph, each with a notebook, then one answer.

    answer(question, run, Options(nodes=3))

Calls of the model: 1 for the rational plan, as many as the names of all nodes need for the initial nodes, at most 10
function calls on each of 5 paths, and 1 for the answer. Pages of what does not fit into the window, and replies that
are asked for again, are calls of the model and no function calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.json_text import without_thoughts
from kgplatform.readers.answer import without_model
from kgplatform.readers.calls import Calls
from kgplatform.readers.graphreader.brief import Brief, Options, make_brief
from kgplatform.readers.graphreader.explore import explore
from kgplatform.readers.graphreader.initial_nodes import initial_nodes
from kgplatform.readers.graphreader.notebooks import conclude
from kgplatform.readers.graphreader.path import Path
from kgplatform.readers.reader import Reader
from kgplatform.readers.run import Run
from kgplatform.records import Answer, FoundFact, SearchResult
from kgplatform.text import tidy
from kgplatform.work.threads import side_by_side

_PLAN_STEP = "rational plan"
_PLAN_PROMPT = "graphreader/plan"


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer, its citations checked, and the walks that led to it, step by step.

    Raises ``InputError`` for a question that is empty or leaves no room in the window, ``BudgetError`` where the
    tokens ran out, ``ModelError`` where the model failed before anything was noted, or at the answer itself.
    """
    question = tidy(question)
    if run.chat is None:
        return without_model(question, READER.name, run.evidence.search(question), run.tell)
    brief = make_brief(question, options)
    calls = Calls(run.chat, run.ledger, run.tell)
    counts: Counter[str] = Counter()
    nodes = run.evidence.nodes(question)
    if options.plan:
        brief = _plan(brief, calls, counts)
    planned = run.evidence.nodes(f"{question} {brief.plan}") if options.prefilter and brief.plan else nodes
    starts = initial_nodes(brief, nodes, planned, run.chat, calls, counts)
    walks = [
        partial(explore, number, start.name, brief, nodes, run.chat, run.tell) for number, start in enumerate(starts, 1)
    ]
    paths = side_by_side(walks, len(walks))
    _stop_if_all_failed(paths)
    for path in paths:
        calls.steps += path.steps
        counts.update(path.counts)
    answered = conclude(paths, brief, run.evidence, calls, counts)
    notes = [answered.note, *map(_failure, paths)]
    return Answer(
        question,
        READER.name,
        answered.text,
        answered.citations,
        _seen(question, paths, calls),
        tuple(calls.steps),
        calls.usage,
        " ".join(filter(None, notes)),
        counts=dict(sorted(counts.items())),
    )


def _plan(brief: Brief, calls: Calls, counts: Counter[str]) -> Brief:
    """The brief with the rational plan. Without a usable one the run goes on. Raises ``BudgetError`` alone."""
    mark = calls.mark()
    try:
        plan = without_thoughts(calls.send(brief.plan_messages(), stage="plan").text, cut_off=False).strip()
    except BudgetError:
        raise
    except ModelError as error:
        counts["failed.plan"] += 1
        calls.add(_PLAN_STEP, f"failed, so there is none: {error}", mark, prompt=_PLAN_PROMPT)
        return brief
    brief = brief.with_plan(plan)
    detail = tidy(brief.plan)
    if not plan:
        counts["malformed.no plan"] += 1
        detail = "the reply was empty, so there is none"
    elif len(brief.plan) < len(plan):
        counts["cut.plan"] += 1
        detail = f"cut to {len(brief.plan):,} of {len(plan):,} characters: {detail}"
    calls.add(_PLAN_STEP, detail, mark, prompt=_PLAN_PROMPT)
    return brief


def _stop_if_all_failed(paths: Sequence[Path]) -> None:
    """Raise the first error where every path ended with one and no notebook has anything."""
    errors = [path.error for path in paths if path.error is not None]
    if errors and len(errors) == len(paths) and not any(path.notebook for path in paths):
        raise errors[0]


def _failure(path: Path) -> str:
    return f"Path {path.number} ended early: {path.error}" if path.error else ""


def _seen(question: str, paths: Sequence[Path], calls: Calls) -> SearchResult:
    """The passages that were read and the facts that were shown, in order of reading, path by path."""
    passages = {each.id: each for path in paths for each in path.read.values()}
    facts = {id_: text for path in paths for id_, text in path.facts.items()}
    found = tuple(FoundFact(id_, text, 0.0, (), ()) for id_, text in facts.items())
    return SearchResult(question, tuple(passages.values()), found, sum(step.seconds for step in calls.steps))


READER = Reader(
    "graphreader",
    "Makes a plan and walks over the graph, node by node, with a notebook.",
    Options,
    answer,
    needs=lambda options: ("entities", "facts"),
    kept=lambda answered: (),  # the answer is written from the notebooks alone
    usual=True,
)
