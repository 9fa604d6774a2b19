"""Where the walks begin (GraphReader, section 3.3.1): the model scores names of nodes, the best few are taken.

All names of the graph are shown, in as many prompts as the window needs; a few prompts are sent at a time, and only
their names are in memory. What the model names and the graph does not have is counted and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.chat import Chat, metered
from kgplatform.models.json_text import without_thoughts
from kgplatform.readers.graphreader.actions import first_of, json_values, undecorated
from kgplatform.readers.graphreader.brief import Brief, reminded
from kgplatform.readers.run import Calls, StepFound
from kgplatform.readers.window import pack, short_name
from kgplatform.records import QueryRun
from kgplatform.retrieve.nodes import Names, Nodes
from kgplatform.retrieve.question import is_name, longest_names, names_in
from kgplatform.text import listed, normalise_name
from kgplatform.work.threads import side_by_side

STEP = "initial nodes"
_PROMPT = "graphreader/nodes"
_STAGE = "nodes"
_AT_ONCE = 4
_LINE = re.compile(
    r"^[ \t]*(?:[-*+•][ \t]+|\(?\d{1,4}[.)][ \t]+)?[*_`\"']*node[*_`\"']*[ \t]*[:：][*_`]*[ \t]*(?P<name>.+?)"
    r"(?:[*_`\"' \t]*[,;|\-–—(\t ][*_`\"' \t(]*score[*_`\"']*[ \t]*[:：=]?[*_` \t]*(?P<score>\d+(?:\.\d+)?)[^\n]*)?$",
    re.IGNORECASE | re.MULTILINE,
)
_FORM = "Node: <a name from the list>, Score: <0-100>"


@dataclass(frozen=True, slots=True)
class _Batch:
    """Names for one prompt, and the statements that read them. ``shown`` leads from what is shown to the name."""

    number: int
    shown: dict[str, str]
    queries: tuple[QueryRun, ...]


@dataclass
class _Gathered:
    """What came of all batches; ``in_question``: normalised names that stand in the question, with the names."""

    scores: dict[str, float] = field(default_factory=dict)
    in_question: dict[str, str] = field(default_factory=dict)
    names: int = 0
    batches: int = 0
    errors: list[ModelError] = field(default_factory=list)


def initial_nodes(brief: Brief, nodes: Nodes, planned: Nodes, chat: Chat, calls: Calls) -> list[str]:
    """The names of up to ``nodes`` starts, best first; none for a graph without nodes. The steps go into ``calls``.

    ``planned`` are the nodes as seen from the question and the plan. Raises ``BudgetError``, and ``ModelError`` where
    the model answered no prompt at all.
    """
    options = brief.options
    if options.random_nodes is not None:
        drawn = nodes.some(options.nodes, options.random_nodes)
        detail = f"drawn at random with seed {options.random_nodes} from {drawn.total:,} nodes: {listed(drawn.names)}"
        calls.note(STEP, detail, drawn.queries)
        return list(drawn.names)
    pages: Iterable[Names] = nodes.pages()
    if options.prefilter is not None:
        near = planned.near(options.prefilter)
        calls.note(STEP, f"prefilter: only the {len(near.names):,} nodes nearest by meaning are shown", near.queries)
        pages = [replace(near, queries=())]
    gathered = _gather(brief, pages, chat, calls)
    if gathered.errors and len(gathered.errors) == gathered.batches:
        raise gathered.errors[0]
    best = sorted(gathered.scores.items(), key=lambda scored: -scored[1])[: options.nodes]
    if best:
        calls.amend(f"{gathered.names:,} nodes shown; begins at {listed([f'{name} ({s:g})' for name, s in best])}")
        return [name for name, _ in best]
    return _without_proposal(brief, nodes, gathered, calls)


def _gather(brief: Brief, pages: Iterable[Names], chat: Chat, calls: Calls) -> _Gathered:
    """All batches asked about, a few at a time."""
    gathered = _Gathered()
    runs = set(names_in(brief.question))
    batches = _batches(brief, pages)
    while some := list(islice(batches, _AT_ONCE)):
        replies = side_by_side([partial(_ask, brief, batch, chat) for batch in some], _AT_ONCE)
        for batch, (scores, made, error) in zip(some, replies, strict=True):
            gathered.batches += 1
            gathered.names += len(batch.shown)
            folded = {normalise_name(name): name for name in batch.shown.values()}
            gathered.in_question |= {key: folded[key] for key in folded if key in runs and is_name(key, brief.question)}
            calls.counts += made.counts
            for step in made.steps:
                calls.take(step)
            gathered.errors += [error] if error else []
            for name, score in scores.items():
                gathered.scores[name] = max(score, gathered.scores.get(name, 0.0))
    return gathered


def _batches(brief: Brief, pages: Iterable[Names]) -> Iterator[_Batch]:
    """The names of ``pages`` in lists that fill the window."""
    room = brief.nodes_room()
    waiting: list[str] = []
    queries: tuple[QueryRun, ...] = ()
    number = 0
    for page in pages:
        waiting += page.names
        queries += page.queries
        shown = [short_name(name) for name in waiting]
        full = pack(shown, room)
        for group in full[:-1]:
            number += 1
            yield _Batch(number, {shown[each]: waiting[each] for each in group}, queries)
            queries = ()
        waiting = [waiting[each] for each in full[-1]] if full else []
    if waiting:
        yield _Batch(number + 1, {short_name(name): name for name in waiting}, queries)


def _ask(brief: Brief, batch: _Batch, chat: Chat) -> tuple[dict[str, float], Calls, ModelError | None]:
    """Scores of nodes by name, in the model's order; its calls, with their step; and the error where it failed.

    One prompt, and once more where nothing in the reply is a node's line. Raises ``BudgetError`` alone.
    """
    calls = Calls(*metered(chat))
    mark, found = calls.mark(batch.queries), StepFound(batch.queries)
    try:
        lines = _lines(brief, batch, calls)
    except BudgetError:
        raise
    except ModelError as error:
        calls.counts["failed.nodes"] += 1
        calls.add(STEP, f"batch {batch.number} failed: {error}", mark, prompt=_PROMPT, found=found)
        return {}, calls, error
    scores, fabricated = _scores(lines, batch)
    calls.counts["malformed.fabricated node"] += len(fabricated)
    detail = f"batch {batch.number}, {len(batch.shown):,} names: {len(scores)} nodes proposed"
    invented = f", {len(fabricated)} not in the list: {listed(fabricated)}" if fabricated else ""
    calls.add(STEP, detail + invented, mark, prompt=_PROMPT, found=found)
    return scores, calls, None


def _lines(brief: Brief, batch: _Batch, calls: Calls) -> list[tuple[str, float]]:
    messages = brief.nodes_messages("\n".join(batch.shown))
    lines = read_proposals(calls.send(messages, stage=_STAGE).text)
    if not lines:
        calls.counts["malformed.no node"] += 1
        again = reminded(messages, "there was no line in it that names a node.", _FORM)
        lines = read_proposals(calls.send(again, stage=_STAGE).text)
        if not lines:
            calls.counts["malformed.no node"] += 1
            calls.forget(messages)
            calls.forget(again)
    return lines


def _scores(lines: Sequence[tuple[str, float]], batch: _Batch) -> tuple[dict[str, float], list[str]]:
    """The scores of the batch's own nodes, and the names that are not in it."""
    normal = {normalise_name(shown): name for shown, name in reversed(batch.shown.items())}
    scores: dict[str, float] = {}
    fabricated: list[str] = []
    for words, score in lines:
        forms = (words, undecorated(words))
        name = next((n for form in forms if (n := batch.shown.get(form) or normal.get(normalise_name(form)))), None)
        if name is not None:
            scores[name] = max(score, scores.get(name, 0.0))
        elif normalise_name(undecorated(words)) != "none":
            fabricated.append(words)
    return scores, fabricated


def read_proposals(reply: str) -> list[tuple[str, float]]:
    """Names and scores of a reply, in its order; a name without a score has 0.

    >>> read_proposals("1. **Node**: Danko Jones, **Score**: 95/100")
    [('Danko Jones', 95.0)]
    """
    text = without_thoughts(reply, cut_off=False)
    found = [(line["name"].strip(), line["score"]) for line in _LINE.finditer(text)]
    return [(name, min(100.0, float(score or 0))) for name, score in found or _json_proposals(text) if name]


def _json_proposals(text: str) -> list[tuple[str, str]]:
    """``[{"node": "…", "score": 95}]``, also inside of an object."""
    for value in json_values(text):
        if items := [pair for item in _items(value) if (pair := _pair(item))]:
            return items
    return []


def _items(value: object) -> list[object]:
    if isinstance(value, dict):
        inner = next((each for each in value.values() if isinstance(each, list)), None)
        return [value] if inner is None else inner
    return value if isinstance(value, list) else []


def _pair(item: object) -> tuple[str, str] | None:
    name = first_of(item, ("node", "name", "keyelement"))
    score = re.match(r"\d+(?:\.\d+)?", str(first_of(item, ("score",))))
    return (name, score[0] if score else "0") if isinstance(name, str) else None


def _without_proposal(brief: Brief, nodes: Nodes, gathered: _Gathered, calls: Calls) -> list[str]:
    """The nodes whose names stand in the question, the longest first; else the nearest by meaning."""
    calls.counts["malformed.no initial node"] += 1
    standing = longest_names(brief.question, gathered.in_question)
    names = [gathered.in_question[key] for key in sorted(standing, key=lambda key: (-len(key), key))]
    if names := names[: brief.options.nodes]:
        calls.note(STEP, f"none of the nodes was proposed; those that the question names: {listed(names)}")
        return names
    near = nodes.near(brief.options.nodes)
    calls.note(STEP, f"none of the nodes was proposed; the nearest by meaning: {listed(near.names)}", near.queries)
    return list(near.names)
