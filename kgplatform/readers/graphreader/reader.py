"""Reader ``graphreader`` (GraphReader, arXiv 2406.14550): agents walk the graph, each with a notebook, then one answer.

    answer(question, run, Options(nodes=3))

Calls of the model: 1 for the rational plan, 1 for the initial nodes (with ``preset=paper`` as many as the names of all
nodes need), at most 10 function calls on each of 5 paths, and 1 for the answer. Pages of what does not fit into the
window, and replies that are asked for again, are calls of the model and no function calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice

from pydantic import Field

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import BudgetError, ModelError, ReplyError
from kgplatform.models.chat import Chat, metered
from kgplatform.models.forms import Form, items
from kgplatform.models.reply import ask
from kgplatform.prompt import LARGEST_FENCE, fence_for, render
from kgplatform.readers.answer import NOTHING_NEAR, REFUSAL, REPLY_TOKENS, Answered, ask_answer, record, without_model
from kgplatform.readers.graphreader.brief import PROMPTS, RESERVE, Brief, Options, make_brief, plan_size
from kgplatform.readers.graphreader.explore import Walk, gathered
from kgplatform.readers.reader import Reader
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.window import head, pack, short_name
from kgplatform.records import Answer, FoundFact, QueryRun, SearchResult
from kgplatform.search.evidence import Names, NearNodes, NodePlaces, Nodes, Retrieved
from kgplatform.search.found import rank_scores
from kgplatform.text import WORD_RUN, counted, listed, normalise_name, tidy


class _Plan(Form):
    steps: list[str] = items(6)
    key_information: list[str] = items(8)


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
    walks = [
        Walk(number, node, brief, nodes, Calls(*metered(run.chat), run.tell, path=number))
        for number, node in enumerate(starts, 1)
    ]
    paths = side_by_side([walk.walk for walk in walks], len(walks))
    errors = [path.error for path in paths if path.error]
    if errors and len(errors) == len(paths) and not any(path.notebook for path in paths):
        raise errors[0]
    for path in paths:
        calls.steps += path.calls.steps
        calls.counts += path.calls.counts
    answered = conclude(paths, brief, calls)
    failures = [f"Path {path.number} ended early: {path.error}" for path in paths if path.error]
    # The passages that were read and the facts that were shown, in order of reading, path by path.
    passages = {each.id: each for path in paths for each in path.read.values()}
    facts = {id_: FoundFact(id_, text, 0.0, (), ()) for path in paths for id_, text in path.facts.items()}
    seconds = sum(step.seconds for step in calls.steps)
    seen = SearchResult(question, tuple(passages.values()), tuple(facts.values()), seconds)
    return record(READER.name, answered, seen, calls, *failures)


def _plan(brief: Brief, calls: Calls) -> Brief:
    """The brief with the rational plan. Without a usable one the run continues. Raises ``BudgetError`` alone."""
    mark = calls.mark()
    plan = ""
    messages = render(_PLAN_PROMPT, question=brief.question, fence=fence_for(brief.question))
    try:
        said, _ = ask(calls, messages, _Plan, stage="plan", tokens=brief.window.reply)
        needed = [f"Needed: {'; '.join(said.key_information)}"] if said.key_information else []
        plan = "\n".join([*(f"{number}. {step}" for number, step in enumerate(said.steps, 1)), *needed])
    except BudgetError:
        raise
    except ReplyError:
        calls.counts["malformed.no plan"] += 1
    except ModelError as error:
        calls.counts["failed.plan"] += 1
        calls.add(_PLAN_STEP, f"failed, so there is no plan: {error}", mark, prompt=_PLAN_PROMPT)
        return brief
    brief = replace(brief, plan=plan[: head(plan, plan_size(brief.window))].strip())
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


class _Scored(Form):
    node: str
    score: float = Field(50.0, json_schema_extra={"minimum": 0, "maximum": 100})


class _Reply(Form):
    nodes: list[_Scored] = items(20)


_NODES_STEP = "initial nodes"
_NODES_PROMPT = "graphreader/nodes"
_AT_ONCE = 4
_MOST_PROMPTS = 2
"""Prompts in which candidates are shown: more are needed only where the window is small and the names are long."""
_REDUNDANT = 0.5  # what the score of a node is worth that leads where another one leads
_FOUND = 30  # passages of a search that nodes are to open
_FOUND_SHIFT = 10
_OPENS = 3  # how many passages a node counts for
_OPENED = 0.2  # what a passage is worth that a node before opens too
_NEARNESS = 0.1
_ORDERED = 15  # nodes at the head of the list that are put in order so: more than are chosen


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the model proposes of ``names``: nodes with ``scores``, 0 to 100, and how many that it ``invented``; the
    ``error`` where it failed. ``calls`` has the step."""

    names: Sequence[str]
    calls: Calls
    scores: dict[str, float] = field(default_factory=dict)
    invented: int = 0
    error: ModelError | None = None


def initial_nodes(
    brief: Brief, nodes: Nodes, planned: Nodes, search: Callable[..., Retrieved], chat: Chat, calls: Calls
) -> list[str]:
    """The names of up to ``nodes`` starts, best first; none for a graph without nodes. The steps go into ``calls``.

    The model scores names of nodes, and the best few are taken (section 3.3.1). The paper shows the names of all nodes.
    Here the model sees those that are nearest to the question and the plan, by name and by meaning, in one prompt
    whatever the size of the graph; with ``preset=paper`` all, in as many prompts as the window needs. First in the list
    stand those that open what a search finds, each something else. What the model names and the graph does not have is
    counted, and one that the question names, else the first of the list, takes its place.

    ``planned`` are the nodes as seen from the question and the plan; ``search`` finds ``top_k`` passages
    for the question. Raises ``BudgetError``, and ``ModelError`` where the model answered no prompt at all.
    """
    options = brief.options
    if options.random_nodes is not None:
        drawn = nodes.some(options.nodes, options.random_nodes)
        detail = f"drawn at random with seed {options.random_nodes} from {drawn.total:,} nodes: {listed(drawn.names)}"
        calls.note(_NODES_STEP, detail, drawn.queries)
        return list(drawn.names)
    if options.is_paper:
        asked = _ask_all(_batches(brief, nodes.pages()), brief, chat, calls)
        scores = _scores(asked)
        nearest = [] if scores else _fused([nodes.near(options.nodes)])
        return _begin(sorted(scores, key=lambda name: -scores[name]), nearest, brief, asked, calls)
    near = [nodes.near(options.candidates), *([planned.near(options.candidates)] if planned is not nodes else [])]
    candidates = _fused(near)[: options.candidates]
    found, (places, led) = search(top_k=_FOUND), nodes.places(candidates)
    candidates = opening(candidates, places, [passage.id for passage in found.result.passages])
    queries = chain(*(each.queries for each in near), found.queries, led)
    page = Names(tuple(candidates), len(candidates), tuple(queries))
    asked = _ask_all(islice(_batches(brief, [page]), _MOST_PROMPTS), brief, chat, calls)
    ordered = sorted(_scores(asked).items(), key=lambda scored: (-scored[1], candidates.index(scored[0])))
    first = dict.fromkeys([*(name for each in near for name in each.named), *candidates])
    return _begin(diverse(ordered, places, options.nodes), list(first), brief, asked, calls)


def opening(candidates: Sequence[str], places: Mapping[str, NodePlaces], found: Sequence[str]) -> list[str]:
    """``candidates``, at their head those that open most of the passages ``found`` (best first) that none before opens.

    A node of many passages is worth less, since few of them can be read. Without it the first nodes are those of the
    passage that is nearest to the question, all of it (docs/explanation/decisions.md has what it brings).
    """
    worth = {passage: 1 / (_FOUND_SHIFT + rank) for rank, passage in enumerate(found)}
    left = {name: _NEARNESS / (_FOUND_SHIFT + rank) for rank, name in enumerate(candidates)}
    head: list[str] = []

    def opens(name: str) -> float:
        passages = places[name].passages if name in places else frozenset[str]()
        best = sorted((worth.get(passage, 0.0) for passage in passages), reverse=True)[:_OPENS]
        return left[name] + sum(best) / math.sqrt(max(1, len(passages)))

    while left and len(head) < _ORDERED:
        head.append(max(left, key=opens))
        del left[head[-1]]
        for passage in places[head[-1]].passages & worth.keys() if head[-1] in places else ():
            worth[passage] *= _OPENED
    return [*head, *left]


def diverse(scored: Sequence[tuple[str, float]], places: Mapping[str, NodePlaces], count: int) -> list[str]:
    """``count`` of ``scored`` nodes, best first; one that leads where those before it lead counts half.

    It does if all its facts are theirs, or if it is one of them in other words: its name has all words of another's, or
    the other way round, and a passage names both.
    """
    left = list(scored)
    chosen: list[str] = []
    words = {name: set(WORD_RUN.findall(normalise_name(name))) or {name} for name, _ in scored}

    def is_redundant(name: str) -> bool:
        if (own := places.get(name)) is None or not chosen:
            return False
        others = [(words[each], places[each]) for each in chosen if each in places]
        return own.facts <= {fact for _, other in others for fact in other.facts} or any(
            (words[name] <= theirs or theirs <= words[name]) and own.passages & other.passages
            for theirs, other in others
        )

    while left and len(chosen) < count:
        worth = [score * (_REDUNDANT if is_redundant(name) else 1) for name, score in left]
        best = max(range(len(left)), key=lambda place: (worth[place], -place))
        chosen.append(left.pop(best)[0])
    return chosen


def _fused(near: Sequence[NearNodes]) -> list[str]:
    """All nodes of ``near``, best first: those that are named, then the others by their ranks in all rankings."""
    named = [name for each in near for name in each.named]
    scores = rank_scores(ranking for each in near for ranking in each.rankings)
    return list(dict.fromkeys([*named, *sorted(scores, key=lambda name: -scores[name])]))


def _begin(
    best: Sequence[str], nearest: Sequence[str], brief: Brief, asked: Sequence[_Asked], calls: Calls
) -> list[str]:
    """The starts: the ``best`` that the model proposed, and the nearest in place of those that it invented."""
    errors = [each.error for each in asked if each.error]
    if errors and len(errors) == len(asked):
        raise errors[0]
    starts, scores = list(best[: brief.options.nodes]), _scores(asked)
    invented = sum(each.invented for each in asked)
    lacking = min(invented, brief.options.nodes - len(starts)) if starts else brief.options.nodes
    added = [name for name in nearest if name not in starts][:lacking]
    if starts:
        told = listed([f"{name} ({scores[name]:g})" for name in starts])
        more = f", and at {listed(added)} for what was invented" if added else ""
        calls.amend(f"{sum(len(each.names) for each in asked):,} nodes shown; begins at {told}{more}")
    else:
        calls.counts["malformed.no initial node"] += 1
        calls.note(_NODES_STEP, f"none of the nodes was proposed; the nearest: {listed(added)}")
    return [*starts, *added]


def _scores(asked: Iterable[_Asked]) -> dict[str, float]:
    """The best score of each node, in the order in which they were proposed."""
    scores: dict[str, float] = {}
    for name, score in (scored for each in asked for scored in each.scores.items()):
        scores[name] = max(score, scores.get(name, 0.0))
    return scores


_Names = tuple[dict[str, str], tuple[QueryRun, ...]]
"""Names for one prompt, by what is shown of them, and the statements that read them."""


def _batches(brief: Brief, pages: Iterable[Names]) -> Iterator[_Names]:
    """The names of ``pages`` in lists that fill the window."""
    room = brief.window.room(brief.nodes_messages("", fence=LARGEST_FENCE)) - RESERVE
    waiting: list[str] = []
    queries: tuple[QueryRun, ...] = ()
    for page in pages:
        waiting += page.names
        queries += page.queries
        shown = [short_name(name) for name in waiting]
        full = pack(shown, room)
        for group in full[:-1]:
            yield {shown[each]: waiting[each] for each in group}, queries
            queries = ()
        waiting = [waiting[each] for each in full[-1]] if full else []
    if waiting:
        yield {short_name(name): name for name in waiting}, queries


def _ask_all(batches: Iterable[_Names], brief: Brief, chat: Chat, calls: Calls) -> list[_Asked]:
    """All ``batches`` asked about, a few at a time."""
    asked: list[_Asked] = []
    numbered = enumerate(batches, 1)
    while some := list(islice(numbered, _AT_ONCE)):
        replies = side_by_side([partial(_ask, brief, chat, number, *batch) for number, batch in some], _AT_ONCE)
        asked += replies
        for each in replies:
            calls.counts += each.calls.counts
            for step in each.calls.steps:
                calls.steps.append(step)  # it is a span already
                calls.tell(step)
    return asked


def _ask(brief: Brief, chat: Chat, number: int, shown: dict[str, str], queries: tuple[QueryRun, ...]) -> _Asked:
    """What the model proposes of a batch. A reply that says nothing, twice, proposes nothing. Raises ``BudgetError``
    alone."""
    calls = Calls(*metered(chat))
    mark, found, names = calls.mark(queries), StepFound(queries), list(shown.values())
    scores: dict[str, float] = {}
    invented: list[str] = []
    proposed: list[_Scored] = []
    try:
        messages = brief.nodes_messages("\n".join(shown))
        proposed = ask(calls, messages, _Reply, stage="nodes", tokens=brief.window.reply)[0].nodes
    except BudgetError:
        raise
    except ReplyError:
        calls.counts["malformed.no node"] += 1
    except ModelError as error:
        calls.counts["failed.nodes"] += 1
        calls.add(_NODES_STEP, f"batch {number} failed: {error}", mark, prompt=_NODES_PROMPT, found=found)
        return _Asked(names, calls, error=error)
    calls.counts["malformed.no node"] += calls.made - 1
    normal = {normalise_name(each): name for each, name in reversed(shown.items())}
    for each in proposed:
        name = shown.get(each.node) or normal.get(normalise_name(each.node))
        if name is None:
            invented.append(each.node)
        else:
            scores[name] = max(each.score, scores.get(name, 0.0))
    calls.counts["malformed.fabricated node"] += len(invented)
    detail = f"batch {number}, {len(shown):,} names: {counted(len(scores), 'node')} proposed"
    strange = f", {len(invented)} not in the list: {listed(invented)}" if invented else ""
    calls.add(_NODES_STEP, detail + strange, mark, prompt=_NODES_PROMPT, found=found)
    return _Asked(names, calls, scores, len(invented))


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
