"""Reader ``youtu`` (Youtu-GraphRAG, section 3.3): take the question apart by the schema, search, answer, reflect.

    answer(question, run, Options(mode="open"))

Calls of the model: 1 to take the question apart, 1 for the first answer, up to 5 for reflection, 1 for the final
answer; 8 as in the paper. Each level of sub-questions that waits for earlier answers adds one, so 11 at most. An easy
question takes 3: where the reflection brings nothing new, the first answer stands. Calls that ask again for a broken
answer count too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import BudgetError, InputError, ModelError, ReplyError
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, fence_for, render
from kgplatform.readers.answer import NONE, Answered, joined, record, reply_room, without_model, write_answer
from kgplatform.readers.grounding import without_numbers
from kgplatform.readers.numbering import Numbering
from kgplatform.readers.reader import AnswerOptions, Reader, option, window_option
from kgplatform.readers.run import Calls, Run, search_step
from kgplatform.readers.selection import PASSAGES, Selection, select
from kgplatform.readers.window import Window, cut, tokens
from kgplatform.readers.youtu.sub_questions import Decomposition, bare, decompose, fill, fill_in, same_words
from kgplatform.records import Answer, SearchResult
from kgplatform.search.evidence import Evidence, Retrieved
from kgplatform.search.question import asked
from kgplatform.search.search import fuse_results
from kgplatform.text import counted, tidy

_MOST_GROUPS = 5
"""Communities whose summaries are shown."""
_LONGEST = 80
"""Tokens of a summary."""
_GROUPS = "Groups near the question (their facts and passages are in the evidence):"

PARTS = ("entity", "triple", "path", "community", "passage")
"""The routes that a search takes at the same time (eq. 10), and the passages."""

_WHOLE = -1
"""Stands for the whole question among the positions of sub-questions."""

_RULES = 600
"""Tokens of the longest prompt without evidence, question and notes."""
_LEAST = 100


@dataclass(frozen=True, slots=True)
class Options(AnswerOptions):
    """How the reader works. ``agent``, ``community`` and ``schema`` set to False are the paper's ablations (table 3).

    ``top_k`` passages and facts are kept of each search.
    """

    agent: bool = option(True, "reflection, which searches again after the first answer")
    community: bool = option(True, "the route community")
    schema: bool = option(True, "the schema when splitting the question")
    top_k: int = option(20, "number of passages and facts", least=1)
    steps: int = option(5, "maximum steps of reflection", least=0)
    sub_questions: int = option(4, "maximum number of sub-questions", least=1)
    evidence_tokens: int = option(1100, "maximum tokens of evidence in a prompt", least=100, example="6000")
    without: tuple[str, ...] = option(
        (), "exclude this route from searches; may be repeated", choices=PARTS, example="path", one="route"
    )
    window_tokens: int | None = window_option()

    def __post_init__(self) -> None:
        AnswerOptions.__post_init__(self)
        if set(self.left_out) == set(PARTS):
            raise InputError("Without all of its routes a search finds nothing. Leave at least one in.")

    @property
    def left_out(self) -> tuple[str, ...]:
        """The routes that take no part, ``community`` among them where it is turned off."""
        return self.without if self.community else (*self.without, "community")


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer, its citations, and how it came about, step by step.

    Raises ``ModelError`` where the model failed before there was an answer, ``BudgetError`` where the tokens ran out.
    """
    question = asked(question)
    if run.chat is None:
        return without_model(question, READER.name, _find(run.evidence, options, question), run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, limit=3 + options.steps, hear=run.hear)
    size = options.window_tokens or run.context
    window = Window(size, reply_room(options.answer_style, size))
    memory = AgentMemory(question, _room(window, question, options), queries=[question])
    schema = run.schema() if options.schema else None
    plan = decompose(question, schema, calls, options.sub_questions, window)
    calls.limit = 3 + options.steps + plan.levels - 1
    _search_parts(memory, plan, run.evidence, calls, options)
    if plan.group and "community" not in options.left_out:
        _look_at_groups(memory, run.evidence, calls, options)
    seen = memory.evidence().result
    first = _write("first answer", memory, calls, options)
    if isinstance(first, BudgetError):
        raise first
    if not (options.agent and options.steps and seen.passages):
        return record(READER.name, _standing(first, None), seen, calls)
    reflected = Reflected()
    if isinstance(first, (Answered, ReplyError)):
        memory.thoughts.append(_first_thought(first))
        reflected = _reflect(memory, run.evidence, calls, options)
    if isinstance(first, Answered) and _stands(first, reflected):
        calls.note("final answer", "the first answer is kept: reflection found nothing new")
        return record(READER.name, first, seen, calls, reflected.note)
    final: Answered | ModelError | None = reflected.error
    if not isinstance(final, BudgetError):
        final = _write("final answer", memory, calls, options)
    if isinstance(final, Answered):
        return record(READER.name, final, memory.evidence().result, calls, reflected.note)
    return record(READER.name, _standing(first, final), seen, calls, reflected.note)


def _room(window: Window, question: str, options: Options) -> int:
    """Tokens of evidence in a prompt, beside its rules, the question and notes. Raises ``InputError`` for too few."""
    room = window.limit - _RULES - 2 * tokens(question)
    if room < _LEAST:
        raise InputError(
            f"The question leaves no room for evidence in a window of {window.tokens:,} tokens. "
            "Shorten it, or raise window_tokens.",
            "window_tokens",
        )
    return min(options.evidence_tokens, room * 2 // 3)


def _search_parts(memory: AgentMemory, plan: Decomposition, evidence: Evidence, calls: Calls, options: Options) -> None:
    """Put into ``memory`` what the sub-questions find; those of one level are searched at the same time.

    The whole question is one more list, and not bounded by types: decomposition can lose a name or a condition, and
    involved types can be wrong.
    """
    texts: dict[int, tuple[str, ...]] = {}
    found: dict[int, SearchResult] = {}
    answers: dict[int, tuple[str, ...]] = {}
    tried: set[int] = set()
    for level in range(plan.levels):
        here = [place for place, part in enumerate(plan.parts) if part.level == level]
        needed = sorted({need for place in here for need in plan.parts[place].needs} - tried)
        if needed:
            wanted = {need + 1: (" ".join(texts[need]), found[need]) for need in needed}
            answers.update({n - 1: words for n, words in fill_in(wanted, calls, memory.room).items()})
            tried.update(needed)
        words = {place: answers.get(place, (bare(each[0]),)) for place, each in texts.items()}
        texts.update({place: fill(plan.parts[place], words) for place in here})
        searches = [(place, text) for place in here for text in texts[place]]
        alike = not plan.types and same_words(memory.question) in (same_words(text) for _, text in searches)
        if level == 0 and not alike:
            searches.append((_WHOLE, memory.question))
        found.update(_search_at_once(searches, plan.types, evidence, calls, options))
    memory.results += [found[place] for place in sorted(found, key=lambda p: (p == _WHOLE, p))]
    memory.thoughts += [f"{' '.join(texts[place])} {', '.join(answers[place])}" for place in sorted(answers)]
    memory.queries = list(
        {same_words(t): t for t in [memory.question, *(t for ts in texts.values() for t in ts)]}.values()
    )


def _look_at_groups(memory: AgentMemory, evidence: Evidence, calls: Calls, options: Options) -> None:
    """Put into ``memory`` the communities near a question about a group, if there is a finished tree, and what stands
    under them."""
    try:
        found = evidence.search(memory.question, route="community", top_k=options.top_k)
    except InputError:
        return
    near = found.result.communities
    calls.take(search_step(found, f"groups near the question: {counted(len(near), 'community')}"))
    lines = []
    for each in near[:_MOST_GROUPS]:
        summary = cut(each.summary, _LONGEST)[0].strip() if each.summary.strip() else "no summary"
        lines.append(f"- {each.name} ({each.size:,} members): {summary}")
    memory.groups = "\n".join([_GROUPS, *lines]) if lines else ""
    memory.results.append(found.result)


def _search_at_once(
    searches: Sequence[tuple[int, str]], types: tuple[str, ...], evidence: Evidence, calls: Calls, options: Options
) -> Mapping[int, SearchResult]:
    """What ``searches`` (places and texts) found, by place; a step each. The first step has the tokens of all of them.

    What several texts of one place found is merged by rank.
    """
    since = calls.mark()
    works = [partial(_find, evidence, options, text, () if place == _WHOLE else types) for place, text in searches]
    found = side_by_side(works, len(works))
    spent = calls.mark().spent - since.spent
    lists: dict[int, list[SearchResult]] = {}
    for (place, searched_for), searched in zip(searches, found, strict=True):
        name = "the whole question" if place == _WHOLE else f"sub-question {place + 1}"
        step = search_step(searched, f"{name}: {searched_for}")
        calls.take(replace(step, usage=spent) if searched is found[0] else step)
        lists.setdefault(place, []).append(searched.result)
    return {place: fuse_results(results, options.top_k) for place, results in lists.items()}


def _find(evidence: Evidence, options: Options, text: str, types: tuple[str, ...] = ()) -> Retrieved:
    """The routes entity, triple, community, path and passages at once (eq. 10), fused."""
    return evidence.search(text, route="all", top_k=options.top_k, types=types, without=options.left_out)


def _write(name: str, memory: AgentMemory, calls: Calls, options: Options) -> Answered | ModelError:
    """The answer to the original question from all evidence so far and the thoughts about it; or why there is none."""
    selected, notes, style = memory.evidence(), memory.notes(), options.answer_style
    told = {"notes": notes, "fence": memory.tags(selected.text(memory.shown), notes)}
    try:
        return write_answer(
            memory.question, selected, calls, options.mode, shown=memory.shown, name=name, style=style, **told
        )
    except ModelError as error:
        return error


def _first_thought(first: Answered | ReplyError) -> str:
    """What is remembered of the first answer. A refusal is none: only why there is no answer yet is said.

    Where the replies were of no use too: the same words would bring the same once more.
    """
    if isinstance(first, ReplyError):
        return "There is no answer yet."
    return f"First answer: {first.plain}" if first.holds else joined("There is no answer yet.", first.note)


def _stands(first: Answered, reflected: Reflected) -> bool:
    """Whether another answer would have nothing to go by that the first had not, nor say anything else."""
    if reflected.grew or isinstance(reflected.error, BudgetError):
        return False
    words, said = same_words(first.plain).split(), same_words(reflected.answer).split()
    return not said or (first.holds and set(said) <= set(words))


def _standing(first: Answered | ModelError, final: ModelError | None) -> Answered:
    """The first answer, where it is the last one or ``final`` says why there is no other.

    Raises the error where there was none, and where the first was a refusal that more evidence could have changed.
    """
    if isinstance(first, ModelError):
        raise final or first
    if final is None:
        return first
    if not (first.holds or isinstance(final, BudgetError)):
        raise final
    note = f"This is the first answer: there was no final one. {final}"
    return replace(first, note=joined(first.note, note))


_NOTES_SHARE = 4
"""Notes take at most the room of a quarter of the evidence."""


@dataclass
class AgentMemory:
    """``results`` of searches and ``thoughts`` in the order in which they came; ``queries``: what was searched.

    ``room``: tokens of evidence in a prompt. ``groups`` are notes on near communities, ``fence`` the tags of the last
    prompt. ``shown``: what the prompts of the run have shown, by number.
    """

    question: str
    room: int
    results: list[SearchResult] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    groups: str = ""
    fence: str = ""
    shown: Numbering = field(default_factory=Numbering)
    _order: dict[str, None] = field(default_factory=dict)

    def evidence(self) -> Selection:
        """What a prompt shows: the best of all searches by rank, as far as its tokens reach.

        By rank, because the scores of two searches cannot be compared. Before the first answer they are as many as
        after one search, for a small model answers worse from more; each search after it adds its best that is new.
        What was shown before comes first, in its order, so that servers can reuse what they have read.
        """
        merged = fuse_results(self.results[::-1], sum(len(r.passages) + len(r.facts) for r in self.results))
        order = {id: place for place, id in enumerate(self._order)}
        passages = tuple(sorted(merged.passages, key=lambda each: order.get(each.id, len(order))))
        asked = replace(merged, question=f"{self.question} {' '.join(self.queries)}", passages=passages)
        chosen = select(asked, self.room, max(PASSAGES, len(order)))
        self._order.update(dict.fromkeys(each.id for each in chosen.result.passages))
        return replace(chosen, result=replace(chosen.result, question=self.question))

    def tags(self, *texts: str) -> str:
        """The name of the tags round ``texts``: that of the last prompt, where it can be."""
        self.fence = fence_for(*texts, used=self.fence)
        return self.fence

    def adds(self, result: SearchResult) -> bool:
        """Remember ``result``; whether a prompt now shows a passage of it that none has shown before."""
        self.results.append(result)
        new = next((each.id for each in result.passages if each.id not in self._order), None)
        if new is None:
            return False
        self._order[new] = None
        return new in {each.id for each in self.evidence().result.passages}

    def notes(self) -> str:
        """Groups and thoughts as a prompt shows them, of many thoughts the newest; empty without any."""
        left = self.room // _NOTES_SHARE
        kept: list[str] = []
        for thought in reversed(self.thoughts):
            if left > 0:
                kept.append(thought if tokens(thought) <= left else f"… {cut(thought, left)[-1]}")
                left -= tokens(kept[-1])
        return "\n".join(filter(None, (self.groups, *reversed(kept))))


_STAGE = "reflect"
_PROMPT = "youtu/reflect"
_REPLY = 400
"""Tokens of a reply at most."""
_LONGEST_QUERY = 500


class StepReply(Form):
    """A thought and its one exit: a query, or else the answer, or neither."""

    ASIDE: ClassVar[frozenset[str]] = frozenset()

    reasoning: str = text(600)
    query: str = text(300)
    answer: str = text(300)


@dataclass(frozen=True, slots=True)
class Reflected:
    """What came of the reflection. ``answer``: the one that it ended with; empty for none.

    ``grew``: it brought evidence. ``error``: what ended it, with a ``note`` for who reads the answer.
    """

    answer: str = ""
    grew: bool = False
    note: str = ""
    error: ModelError | None = None


def _reflect(memory: AgentMemory, evidence: Evidence, calls: Calls, options: Options) -> Reflected:
    """Thoughts, each of which names an answer or a new query (eq. 9); ``memory`` gets them, and what the query finds.

    An answer ends it, and so does a query that brings nothing that no prompt has shown. Only the model's own reply is
    read: never a passage, never a fact. One call is left for the final answer.
    """
    calls.limit = None if calls.limit is None else calls.limit - 1
    query, grew, steps = memory.question, False, options.steps
    try:
        for step in range(1, steps + 1):
            if calls.left < 1:
                calls.note("reflect", "stopped: the last call is kept for the final answer")
                return Reflected(grew=grew)
            thought, answer, query = _think(memory, query, step, steps, calls)
            memory.thoughts.append(thought)
            if not query:
                return Reflected(answer, grew)
            if same_words(query) in {"", *map(same_words, memory.queries)}:
                calls.note(f"reflect {step}", f"stopped: this was searched before: {query}")
                return Reflected(grew=grew)
            memory.queries.append(query)
            since = calls.mark()
            found = _find(evidence, options, query)  # not bounded by types: these were chosen before anything was known
            calls.take(replace(search_step(found, f"new query: {query}"), usage=calls.mark().spent - since.spent))
            if not memory.adds(found.result):
                calls.note(f"reflect {step}", f"stopped: this brought nothing new: {query}")
                return Reflected(grew=grew)
            grew = True
    except ModelError as error:
        note = f"The reflection stopped in step {step}; the answer is from what was found until then. {error}"
        return Reflected("", grew, "" if isinstance(error, BudgetError) else note, error)
    finally:
        calls.limit = None if calls.limit is None else calls.limit + 1
    calls.note("reflect", f"stopped after {steps} steps")
    return Reflected(grew=grew)


def reflect_messages(memory: AgentMemory, query: str, step: int, steps: int) -> Messages:
    """The prompt of a step: all evidence so far, the earlier thoughts, the question, the current query."""
    evidence = memory.evidence().text(memory.shown)
    queries, notes = "\n".join(f"- {each}" for each in memory.queries), memory.notes() or NONE
    return render(
        _PROMPT,
        question=memory.question,
        query=query,
        step=str(step),
        steps=str(steps),
        fence=memory.tags(queries, notes, evidence),
        queries=queries,
        notes=notes,
        evidence=evidence,
    )


def _think(memory: AgentMemory, query: str, step: int, steps: int, calls: Calls) -> tuple[str, str, str]:
    """What to remember of a reply, and its exit: an answer, a query, or neither (both empty)."""
    mark, name = calls.mark(), f"reflect {step}"
    messages = reflect_messages(memory, query, step, steps)
    try:
        reply, _ = ask(calls, messages, StepReply, stage=_STAGE, tokens=_REPLY)
    except ModelError as error:
        calls.add(name, f"failed: {error}", mark, prompt=_PROMPT)
        raise
    query = tidy(reply.query)[:_LONGEST_QUERY]
    answer = "" if query else without_numbers(tidy(reply.answer))
    if query:
        told, leads_to = f"the new query is: {query}", f"New query: {query}"
    elif answer:
        told, leads_to = f"the answer is: {answer}", f"Answer: {answer}"
    else:
        told, leads_to = "neither an answer nor a new query", ""
    calls.add(name, told, mark, prompt=_PROMPT)
    return "\n".join(filter(None, (tidy(reply.reasoning), leads_to))), answer, query


READER = Reader(
    "youtu",
    "Splits the question by the schema, searches for each part along all routes, and reflects.",
    Options,
    answer,
    title="Deep (Youtu-GraphRAG)",
    takes="3 to 11 calls",
    needs=lambda options: ("entities",) if "community" in options.left_out else ("entities", "tree"),
    usual=True,
)
