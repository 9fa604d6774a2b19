"""Where the walks begin (GraphReader, section 3.3.1): the model scores names of nodes, the best few are taken.

All names of the graph are shown, in as many prompts as the window needs; a few prompts are under way at a time, and
only their names are in memory. What the model names and the graph does not have is counted and left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.chat import Chat, metered
from kgplatform.models.json_text import without_thoughts
from kgplatform.prompt import render
from kgplatform.readers.calls import Calls, StepFound
from kgplatform.readers.graphreader.actions import json_values, undecorated
from kgplatform.readers.graphreader.brief import Brief, short_name
from kgplatform.readers.window import pack
from kgplatform.records import QueryRun, Step
from kgplatform.retrieve.nodes import Names, Nodes
from kgplatform.retrieve.question import is_name, longest_names, names_in
from kgplatform.text import normalise_name, type_key
from kgplatform.work.threads import side_by_side

STEP = "initial nodes"
_PROMPT = "graphreader/nodes"
_STAGE = "nodes"
_AT_ONCE = 4
_SHOWN = 10
_LINE = re.compile(
    r"^[ \t]*(?:[-*+•][ \t]+|\(?\d{1,4}[.)][ \t]+)?[*_`\"']*node[*_`\"']*[ \t]*[:：][*_`]*[ \t]*(?P<name>.+?)"
    r"(?:[*_`\"' \t]*[,;|\-–—(\t ][*_`\"' \t(]*score[*_`\"']*[ \t]*[:：=]?[*_` \t]*(?P<score>\d+(?:\.\d+)?)[^\n]*)?$",
    re.IGNORECASE | re.MULTILINE,
)
_FORM = "Node: <a name from the list>, Score: <0-100>"


@dataclass(frozen=True, slots=True)
class Start:
    """A node that a walk begins at. ``score``: what the model gave it, 0 to 100; None if nothing did."""

    name: str
    score: float | None = None


@dataclass
class _Batch:
    """Names for one prompt, and the statements that read them. ``shown`` leads from what is shown to the name."""

    number: int
    shown: dict[str, str]
    queries: tuple[QueryRun, ...]


@dataclass
class _Proposed:
    """What the model said to a batch: scores of nodes by name, in its order, and the step of the trace."""

    scores: dict[str, float] = field(default_factory=dict)
    step: Step | None = None
    counts: Counter[str] = field(default_factory=Counter)
    error: ModelError | None = None


@dataclass
class _Gathered:
    """What came of all batches; ``in_question``: normalised names that stand in the question, with the names."""

    scores: dict[str, float] = field(default_factory=dict)
    in_question: dict[str, str] = field(default_factory=dict)
    names: int = 0
    batches: int = 0
    errors: list[ModelError] = field(default_factory=list)


def initial_nodes(
    brief: Brief, nodes: Nodes, planned: Nodes, chat: Chat, calls: Calls, counts: Counter[str]
) -> list[Start]:
    """Up to ``nodes`` starts, best first; none for a graph without nodes. The steps are added to ``calls``.

    ``planned`` are the nodes as seen from the question and the plan. Raises ``BudgetError``, and ``ModelError`` where
    the model answered no prompt at all.
    """
    options = brief.options
    if options.random_nodes is not None:
        drawn = nodes.some(options.nodes, options.random_nodes)
        detail = f"drawn at random with seed {options.random_nodes} from {drawn.total:,} nodes: {_listed(drawn.names)}"
        calls.note(STEP, detail, drawn.queries)
        return [Start(name) for name in drawn.names]
    pages: Iterable[Names] = nodes.pages()
    if options.prefilter is not None:
        near = planned.near(options.prefilter)
        calls.note(STEP, f"prefilter: only the {len(near.names):,} nodes nearest by meaning are shown", near.queries)
        pages = [replace(near, queries=())]
    gathered = _gather(brief, pages, chat, calls, counts)
    if gathered.errors and len(gathered.errors) == gathered.batches:
        raise gathered.errors[0]
    best = sorted(gathered.scores.items(), key=lambda each: -each[1])[: options.nodes]
    if best:
        _conclude(calls, f"{gathered.names:,} nodes shown; begins at {_listed([f'{n} ({s:g})' for n, s in best])}")
        return [Start(name, score) for name, score in best]
    return _without_proposal(brief, nodes, gathered, calls, counts)


def _gather(brief: Brief, pages: Iterable[Names], chat: Chat, calls: Calls, counts: Counter[str]) -> _Gathered:
    """All batches asked about, a few at a time."""
    gathered = _Gathered()
    batches = _batches(brief, pages, gathered)
    while some := list(islice(batches, _AT_ONCE)):
        for said in side_by_side([partial(_ask, brief, batch, chat) for batch in some], _AT_ONCE):
            gathered.batches += 1
            counts.update(said.counts)
            if said.step is not None:
                calls.take(said.step)
            if said.error is not None:
                gathered.errors.append(said.error)
            for name, score in said.scores.items():
                gathered.scores[name] = max(score, gathered.scores.get(name, 0.0))
    return gathered


def _batches(brief: Brief, pages: Iterable[Names], gathered: _Gathered) -> Iterator[_Batch]:
    """The names of ``pages`` in lists that fill the window; names that stand in the question are noted."""
    room = brief.nodes_room()
    runs = set(names_in(brief.question))
    waiting: list[str] = []
    queries: tuple[QueryRun, ...] = ()
    number = 0
    for page in pages:
        gathered.names += len(page.names)
        gathered.in_question.update(
            {
                folded: name
                for name in page.names
                if (folded := normalise_name(name)) in runs and is_name(folded, brief.question)
            }
        )
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


def _ask(brief: Brief, batch: _Batch, chat: Chat) -> _Proposed:
    """One prompt, and once more where nothing in the reply is a node's line. Raises ``BudgetError`` alone."""
    said = _Proposed()
    calls = Calls(*metered(chat))
    mark, found = calls.mark(batch.queries), StepFound(batch.queries)
    try:
        lines = _lines(brief, batch, calls, said)
    except BudgetError:
        raise
    except ModelError as error:
        said.error = error
        said.counts["failed.nodes"] += 1
        calls.add(STEP, f"batch {batch.number} failed: {error}", mark, prompt=_PROMPT, found=found)
    else:
        fabricated = _take(lines, batch, said)
        detail = f"batch {batch.number}, {len(batch.shown):,} names: {len(said.scores)} nodes proposed"
        invented = f", {len(fabricated)} not in the list: {_listed(fabricated)}" if fabricated else ""
        calls.add(STEP, detail + invented, mark, prompt=_PROMPT, found=found)
    said.step = calls.steps[-1]
    return said


def _lines(brief: Brief, batch: _Batch, calls: Calls, said: _Proposed) -> list[tuple[str, float]]:
    messages = brief.nodes_messages("\n".join(batch.shown))
    lines = read_proposals(calls.send(messages, stage=_STAGE).text)
    if not lines:
        said.counts["malformed.no node"] += 1
        fault = "there was no line in it that names a node."
        reminder = render("graphreader/again", fault=fault, forms=_FORM)[1]["content"]
        again = [messages[0], {**messages[1], "content": f"{messages[1]['content']}\n\n{reminder}"}]
        lines = read_proposals(calls.send(again, stage=_STAGE).text)
        if not lines:
            said.counts["malformed.no node"] += 1
            calls.forget(messages)
            calls.forget(again)
    return lines


def _take(lines: Sequence[tuple[str, float]], batch: _Batch, said: _Proposed) -> list[str]:
    """The scores of the batch's own nodes; returns the names that are none of its."""
    normal = {normalise_name(shown): name for shown, name in reversed(batch.shown.items())}
    fabricated = []
    for words, score in lines:
        name = next(
            (n for w in (words, undecorated(words)) if (n := batch.shown.get(w) or normal.get(normalise_name(w)))), None
        )
        if name is not None:
            said.scores[name] = max(score, said.scores.get(name, 0.0))
        elif normalise_name(undecorated(words)) != "none":
            fabricated.append(words)
    if fabricated:
        said.counts["malformed.fabricated node"] += len(fabricated)
    return fabricated


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
    if not isinstance(item, dict):
        return None
    keys = {type_key(str(key)): value for key, value in item.items()}
    name = next((keys[key] for key in ("node", "name", "keyelement") if key in keys), None)
    score = re.match(r"\d+(?:\.\d+)?", str(keys.get("score", 0)))
    return (name, score[0] if score else "0") if isinstance(name, str) else None


def _without_proposal(
    brief: Brief, nodes: Nodes, gathered: _Gathered, calls: Calls, counts: Counter[str]
) -> list[Start]:
    """The nodes whose names stand in the question, the longest first; else the nearest by meaning."""
    counts["malformed.no initial node"] += 1
    standing = longest_names(brief.question, gathered.in_question)
    names = [gathered.in_question[each] for each in sorted(standing, key=lambda each: (-len(each), each))]
    if names := names[: brief.options.nodes]:
        calls.note(STEP, f"none of the nodes was proposed; those that the question names: {_listed(names)}")
        return [Start(name) for name in names]
    near = nodes.near(brief.options.nodes)
    calls.note(STEP, f"none of the nodes was proposed; the nearest by meaning: {_listed(near.names)}", near.queries)
    return [Start(name) for name in near.names]


def _conclude(calls: Calls, words: str) -> None:
    """What came of all batches, said in the step of the last one."""
    last = calls.steps[-1]
    calls.steps[-1] = replace(last, detail=f"{last.detail}; {words}")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more if names else "none"
