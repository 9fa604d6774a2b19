"""Reader ``graphreader`` (GraphReader, arXiv 2406.14550): agents walk the graph, each with a notebook, then one answer.

    answer(question, evidence, chat, ledger, Options(nodes=3))

Calls of the model: 1 for the rational plan, as many as the names of all nodes need for the initial nodes, at most 10
function calls on each of 5 paths, and 1 for the answer. Pages of what does not fit into the window, and replies that
are asked for again, are calls of the model and no function calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from kgplatform.errors import BudgetError, ModelError
from kgplatform.json_text import without_thoughts
from kgplatform.llm import Chat, Ledger
from kgplatform.readers.answering import without_model
from kgplatform.readers.briefing import Brief, Options, make_brief
from kgplatform.readers.calls import Calls
from kgplatform.readers.explore import explore
from kgplatform.readers.initial_nodes import initial_nodes
from kgplatform.readers.notebooks import conclude
from kgplatform.readers.path import Path
from kgplatform.records import Answer, FoundFact, SearchResult
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.found import at_once
from kgplatform.text import tidy

__all__ = ["READER", "Options", "answer"]

READER = "graphreader"
_PLAN_STEP = "rational plan"
_PLAN_PROMPT = "graphreader_plan"


def answer(question: str, evidence: Evidence, chat: Chat | None, ledger: Ledger, options: Options) -> Answer:
    """The answer, its citations checked, and the walks that led to it, step by step.

    Raises ``InputError`` for a question that is empty or leaves no room in the window, ``BudgetError`` where the
    tokens ran out, ``ModelError`` where the model failed before anything was noted, or at the answer itself.
    """
    question = tidy(question)
    if chat is None:
        return without_model(question, READER, evidence.search(question))
    brief = make_brief(question, options)
    calls = Calls(chat, ledger)
    counts: Counter[str] = Counter()
    nodes = evidence.nodes(question)
    if options.plan:
        brief = _plan(brief, calls, counts)
    planned = evidence.nodes(f"{question} {brief.plan}") if options.prefilter and brief.plan else nodes
    starts = initial_nodes(brief, nodes, planned, chat, calls, counts)
    walks = [partial(explore, number, start.name, brief, nodes, chat) for number, start in enumerate(starts, 1)]
    paths: list[Path] = at_once(*walks) if walks else []
    _stop_if_all_failed(paths)
    for path in paths:
        calls.steps += path.steps
        counts.update(path.counts)
    answered = conclude(paths, brief, evidence, calls, counts)
    notes = [answered.note, *map(_failure, paths)]
    return Answer(
        question,
        READER,
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
