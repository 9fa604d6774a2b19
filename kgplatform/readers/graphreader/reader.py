"""Reader ``graphreader`` (GraphReader, arXiv 2406.14550): agents walk the graph, each with a notebook, then one answer.

    answer(question, run, Options(nodes=3))

Calls of the model: 1 for the rational plan, 1 for the initial nodes (with ``preset=paper`` as many as the names of all
nodes need), at most 10 function calls on each of 5 paths, and 1 for the answer. Pages of what does not fit into the
window, and replies that are asked for again, are calls of the model and no function calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import BudgetError, ModelError, ReplyError
from kgplatform.models.forms import Form, items
from kgplatform.models.reply import ask
from kgplatform.prompt import fence_for, render
from kgplatform.readers.answer import NOTHING_NEAR, REFUSAL, REPLY_TOKENS, Answered, ask_answer, record, without_model
from kgplatform.readers.graphreader.brief import PROMPTS, Brief, Options, make_brief
from kgplatform.readers.graphreader.explore import Walk, explore, gathered
from kgplatform.readers.graphreader.initial_nodes import initial_nodes
from kgplatform.readers.reader import Reader
from kgplatform.readers.run import Calls, Run
from kgplatform.records import Answer, FoundFact, SearchResult
from kgplatform.text import counted, tidy


class _Plan(Form):
    steps: list[str] = items(6)
    key_information: list[str] = items(8)

    @property
    def text(self) -> str:
        """As prompts show it."""
        steps = [f"{number}. {step}" for number, step in enumerate(self.steps, 1)]
        needed = [f"Needed: {'; '.join(self.key_information)}"] if self.key_information else []
        return "\n".join([*steps, *needed])


_PLAN_STEP = "rational plan"
_PLAN_PROMPT = "graphreader/plan"


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer, its citations, and the walks that led to it, step by step.

    Raises ``InputError`` for a question that is empty or leaves no room in the window, ``BudgetError`` where the
    tokens ran out, ``ModelError`` where the model failed before anything was noted, or at the answer itself.
    """
    question = tidy(question)
    if run.chat is None:
        return without_model(question, READER.name, run.evidence.search(question), run.tell)
    brief = make_brief(question, options, run.context)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    nodes = run.evidence.nodes(question)
    if options.plan:
        brief = _plan(brief, calls)
    planned = run.evidence.nodes(f"{question} {brief.plan}") if brief.plan and not options.is_paper else nodes
    starts = initial_nodes(brief, nodes, planned, partial(run.evidence.search, question), run.chat, calls)
    walks = [partial(explore, number, node, brief, nodes, run.chat, run.tell) for number, node in enumerate(starts, 1)]
    paths = side_by_side(walks, len(walks))
    errors = [path.error for path in paths if path.error]
    if errors and len(errors) == len(paths) and not any(path.notebook for path in paths):
        raise errors[0]
    for path in paths:
        calls.steps += path.calls.steps
        calls.counts += path.calls.counts
    answered = conclude(paths, brief, calls)
    failures = [f"Path {path.number} ended early: {path.error}" for path in paths if path.error]
    return record(READER.name, answered, _seen(question, paths, calls), calls, *failures)


def _plan(brief: Brief, calls: Calls) -> Brief:
    """The brief with the rational plan. Without a usable one the run continues. Raises ``BudgetError`` alone."""
    mark = calls.mark()
    plan = ""
    messages = render(_PLAN_PROMPT, question=brief.question, fence=fence_for(brief.question))
    try:
        plan = ask(calls, messages, _Plan, stage="plan", tokens=brief.window.reply)[0].text
    except BudgetError:
        raise
    except ReplyError:
        calls.counts["malformed.no plan"] += 1
    except ModelError as error:
        calls.counts["failed.plan"] += 1
        calls.add(_PLAN_STEP, f"failed, so there is no plan: {error}", mark, prompt=_PLAN_PROMPT)
        return brief
    brief = brief.with_plan(plan)
    detail = tidy(brief.plan) or "no reply had one, so there is no plan"
    if len(brief.plan) < len(plan):
        calls.counts["cut.plan"] += 1
        detail = f"cut to {len(brief.plan):,} of {len(plan):,} characters: {detail}"
    calls.add(_PLAN_STEP, detail, mark, prompt=_PLAN_PROMPT)
    return brief


def conclude(paths: Sequence[Walk], brief: Brief, calls: Calls) -> Answered:
    """The model's answer from all notebooks; the step is added to ``calls``. Raises ``ModelError``, with it too."""
    if brief.options.mode == "reject" and not paths:
        calls.note("answer", "the graph has no node to begin at, so the model was not asked")
        return Answered(REFUSAL, note=NOTHING_NEAR)
    notebooks, shown = gathered((path.notebook, path.shown) for path in paths)
    told = f"from {counted(len(paths), 'notebook')}, {sum(not each for each in notebooks)} of them empty: "
    messages, window = brief.answer_messages(notebooks), brief.window
    most = max(window.reply, min(REPLY_TOKENS[brief.options.answer_style], window.tokens // 4))
    return ask_answer(calls, messages, shown, brief.options.mode, prompt="graphreader/answer", tokens=most, told=told)


def _seen(question: str, paths: Sequence[Walk], calls: Calls) -> SearchResult:
    """The passages that were read and the facts that were shown, in order of reading, path by path."""
    passages = {each.id: each for path in paths for each in path.read.values()}
    facts = {id_: text for path in paths for id_, text in path.facts.items()}
    found = tuple(FoundFact(id_, text, 0.0, (), ()) for id_, text in facts.items())
    return SearchResult(question, tuple(passages.values()), found, sum(step.seconds for step in calls.steps))


READER = Reader(
    "graphreader",
    "Makes a plan and walks the graph node by node, taking notes.",
    Options,
    answer,
    title="Walk the graph (GraphReader)",
    takes="about 40 calls",
    needs=lambda options: ("entities", "facts"),
    usual=True,
    stages=tuple(PROMPTS),
    reads=PROMPTS.values(),
)
