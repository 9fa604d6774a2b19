"""Reader ``youtu`` (Youtu-GraphRAG, section 3.3): take the question apart by the schema, search, answer, reflect.

    answer(question, run, Options(mode="open"))

Calls of the model: 1 to take the question apart, 1 for the first answer, up to 5 for reflection, 1 for the final
answer; 8 as in the paper. Each level of sub-questions that waits for earlier answers adds one, so 11 at most. An easy
question takes 3: where the reflection brings nothing new, the first answer stands. Calls that ask again for a broken
answer count too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, product
from typing import Annotated, ClassVar

from pydantic import Field

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import BudgetError, InputError, ModelError, ReplyError
from kgplatform.models.forms import Form, items, text
from kgplatform.models.reply import ask
from kgplatform.prompt import LARGEST_FENCE, Messages, fence_for, render
from kgplatform.readers.answer import NONE, Answered, joined, record, reply_room, without_model, write_answer
from kgplatform.readers.grounding import without_numbers
from kgplatform.readers.reader import AnswerOptions, Reader, option, window_option
from kgplatform.readers.run import Calls, Run, SchemaTypes, search_step
from kgplatform.readers.selection import PASSAGES, Selection, select
from kgplatform.readers.window import Numbering, Window, cut, head, tokens
from kgplatform.records import Answer, SearchResult
from kgplatform.search.evidence import Evidence, Retrieved
from kgplatform.search.question import asked
from kgplatform.search.search import fuse_results
from kgplatform.text import counted, normalise_name, tidy, type_key

_MOST_GROUPS = 5  # communities whose summaries are shown
_LONGEST = 80  # tokens of a summary
_GROUPS = "Groups near the question (their facts and passages are in the evidence):"
PARTS = ("entity", "triple", "path", "community", "passage")
"""The routes that a search takes at the same time (eq. 10), and the passages."""
_WHOLE = -1  # stands for the whole question among the positions of sub-questions
_RULES = 600  # tokens of the longest prompt without evidence, question and notes
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
    """The answer, its citations, and how it came about, step by step. Raises ``ModelError`` where the model failed
    before there was an answer, ``BudgetError`` where the tokens ran out."""
    question = asked(question)
    if run.chat is None:
        return without_model(question, READER.name, _find(run.evidence, options, question), run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, limit=3 + options.steps, hear=run.hear)
    size = options.window_tokens or run.context
    window = Window(size, reply_room(options.answer_style, size))
    room = window.limit - _RULES - 2 * tokens(question)
    window.check(question, room // 2, _LEAST // 2, "evidence")  # the question stands in a prompt twice
    memory = AgentMemory(question, min(options.evidence_tokens, room * 2 // 3), queries=[question])
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
        if isinstance(first, Answered) and first.holds:
            memory.thoughts.append(f"First answer: {first.plain}")
        else:  # a refusal is no thought: only why there is no answer yet is said
            memory.thoughts.append(joined("There is no answer yet.", first.note if isinstance(first, Answered) else ""))
        reflected = _reflect(memory, run.evidence, calls, options)
    if isinstance(first, Answered) and not (reflected.grew or isinstance(reflected.error, BudgetError)):
        # Another answer would have nothing to go by that the first had not; would it say anything else?
        words, said = same_words(first.plain).split(), same_words(reflected.answer).split()
        if not said or (first.holds and set(said) <= set(words)):
            calls.note("final answer", "the first answer is kept: reflection found nothing new")
            return record(READER.name, first, seen, calls, reflected.note)
    final: Answered | ModelError | None = reflected.error
    if not isinstance(final, BudgetError):
        final = _write("final answer", memory, calls, options)
    if isinstance(final, Answered):
        return record(READER.name, final, memory.evidence().result, calls, reflected.note)
    return record(READER.name, _standing(first, final), seen, calls, reflected.note)


MOST_ANSWERS = 3
"""Answers of one sub-question that are filled in, and searches that a sub-question becomes by them."""
_MARK = re.compile(r"\[\s*#(\d{1,2})\s*\]|(?<![A-Za-z0-9])#(\d{1,2})(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """``needs``: positions (from 0) of the earlier sub-questions whose answers replace the marks in ``text``."""

    text: str
    needs: tuple[int, ...] = ()
    level: int = 0


def arrange(texts: Sequence[str], question: str, most: int) -> tuple[SubQuestion, ...]:
    """Sub-questions in order, numbered again; what says nothing, comes twice or is beyond ``most`` is left out.

    A mark of an earlier one makes it needed; another one gives way to nothing, unless the question itself has it ("the
    #1 hit"). A sub-question that is the only one is the question itself: in other words it would ask for no more.
    """
    own = {_number(mark) for mark in _MARK.finditer(question)}
    places: dict[int, int] = {}
    known: dict[str, int] = {}
    parts: list[SubQuestion] = []
    needs: set[int] = set()

    def put(mark: re.Match[str]) -> str:
        number = _number(mark)
        if number in own:
            return mark[0]
        if number not in places:
            return ""
        needs.add(places[number])
        return f"#{places[number] + 1}"

    for number, said in enumerate(map(tidy, texts), 1):
        needs.clear()
        filled = tidy(_MARK.sub(put, said))
        key = same_words(filled)
        if key and key not in known and len(parts) < most:
            known[key] = len(parts)
            level = 1 + max((parts[need].level for need in needs), default=-1)
            parts.append(SubQuestion(filled, tuple(sorted(needs)), level))
        if key in known:
            places[number] = known[key]
    return tuple(parts) if len(parts) > 1 else (SubQuestion(question),)


def _number(mark: re.Match[str]) -> int:
    return int(mark[1] or mark[2])


def fill(part: SubQuestion, answers: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
    """``part`` with ``answers`` (by position) in place of its marks: a text for each, at most ``MOST_ANSWERS``."""
    chosen = islice(product(*(answers[need] for need in part.needs)), MOST_ANSWERS)

    def filled(words: Mapping[int, str]) -> str:
        return tidy(_MARK.sub(lambda mark: words.get(_number(mark) - 1, mark[0]), part.text))

    return tuple(filled(dict(zip(part.needs, words, strict=True))) for words in chosen)


def same_words(text: str) -> str:
    """Equal for texts that differ in case, spaces and punctuation only; empty if there is no letter or digit."""
    return " ".join(re.findall(r"\w+", normalise_name(text).replace("_", " ")))


_SPLIT = "decompose"
_SPLIT_PROMPT = "youtu/decompose"
_SPLIT_REPLY = 300  # tokens of a decomposition at most
_LONGEST_PART = 300
_NO_SCHEMA = "(no schema: leave types empty)"


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The sub-questions in order, and the names of the schema's types that the question involves.

    ``group``: the question is about a group of things, such as what they have in common.
    """

    parts: tuple[SubQuestion, ...]
    types: tuple[str, ...] = ()
    group: bool = False

    @property
    def levels(self) -> int:
        """How many rounds of searches it takes."""
        return 1 + max(part.level for part in self.parts)


class Plan(Form):
    """The reply: sub-questions, names of types, and whether the question is about a group."""

    sub_questions: list[str] = items(8)
    types: list[str] = items(12)
    group: bool = False


def decompose(question: str, schema: SchemaTypes | None, calls: Calls, most: int, window: Window) -> Decomposition:
    """At most ``most`` sub-questions, and the involved types that ``schema`` has; a schema too long is cut. Without a
    usable answer the question itself, and no types: the step says so. Raises ``BudgetError`` alone."""
    mark = calls.mark()
    inputs = {"most": str(most), "question": question}
    room = window.room(render(_SPLIT_PROMPT, schema="", fence=LARGEST_FENCE, **inputs))
    # The names of the types alone: what they mean is not needed to choose among them.
    kinds = {"Entities": schema.nodes, "Relations": schema.relations, "Attributes": schema.attributes} if schema else {}
    listed = "\n".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names) or _NO_SCHEMA
    shown = listed[: head(listed, max(1, room))]
    messages = render(_SPLIT_PROMPT, schema=shown, fence=fence_for(shown), **inputs)
    try:
        plan, _ = ask(calls, messages, Plan, stage=_SPLIT, tokens=_SPLIT_REPLY)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add(_SPLIT, f"failed, so the question is asked as it is: {error}", mark, prompt=_SPLIT_PROMPT)
        return Decomposition((SubQuestion(question),))
    parts = arrange([text[:_LONGEST_PART] for text in plan.sub_questions], question, most)
    types, unknown = known_types(plan.types, schema)
    more = len(plan.sub_questions) - len(parts)
    words = [
        "; ".join(f"{n}. {part.text}" for n, part in enumerate(parts, 1)),
        f"{more} more were left out" if more > 0 else "",
        f"types: {', '.join(types)}" if types else "no types",
        f"not in the schema: {', '.join(unknown)}" if unknown else "",
    ]
    calls.add(_SPLIT, " | ".join(filter(None, words)), mark, prompt=_SPLIT_PROMPT)
    return Decomposition(parts, types, plan.group)


def known_types(named: Sequence[str], schema: SchemaTypes | None) -> tuple[tuple[str, ...], list[str]]:
    """The named types that ``schema`` has, under its names, and those that it lacks. Case, spaces, ``_`` and ``-``
    make no difference."""
    index: dict[str, str] = {}
    if schema is not None:
        for name in (*schema.nodes, *schema.relations, *schema.attributes):
            index.setdefault(type_key(name), name)
    asked = [name for name in map(tidy, named) if name]
    types = dict.fromkeys(index[type_key(name)] for name in asked if type_key(name) in index)
    return tuple(types), [name for name in dict.fromkeys(asked) if type_key(name) not in index]


_FILL_IN = "youtu/fill_in"
_FILL_IN_REPLY = 200  # tokens of a reply at most
_PASSAGES = 3
_LONGEST_NAME = 200  # characters: what is longer is not a name, a date, a number or a thing
Words = Annotated[str, Field(json_schema_extra={"maxLength": _LONGEST_NAME})]


class Filled(Form):
    """The reply: of each question, in order, its answers."""

    answers: Annotated[
        list[Annotated[list[Words], Field(json_schema_extra={"maxItems": MOST_ANSWERS})]],
        Field(json_schema_extra={"maxItems": 8}),
    ]


def fill_in(asked: Mapping[int, tuple[str, SearchResult]], calls: Calls, room: int) -> dict[int, tuple[str, ...]]:
    """Short answers by number, for those of ``asked`` (number to question and its evidence) that have any.

    ``room``: tokens of evidence, shared by the questions. A failure answers none: the step says so. Raises
    ``BudgetError`` alone.
    """
    mark = calls.mark()
    asked_parts = []
    for number, (part, found) in enumerate(asked.values(), 1):
        selected = select(replace(found, question=part), room // len(asked), _PASSAGES, _PASSAGES)
        asked_parts.append(f"{selected.text(Numbering())}\n\nQuestion {number}: {part}")
    parts = "\n\n".join(asked_parts)
    messages = render(_FILL_IN, most=str(MOST_ANSWERS), fence=fence_for(parts), parts=parts)
    try:
        reply, _ = ask(calls, messages, Filled, stage="fill_in", tokens=_FILL_IN_REPLY)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add("fill in", f"failed, so the words of the sub-questions are used: {error}", mark, prompt=_FILL_IN)
        return {}
    answers: dict[int, tuple[str, ...]] = {}
    for question, given in zip(asked, reply.answers, strict=False):
        said = (without_numbers(tidy(each)) for each in given)
        named = list(dict.fromkeys(each for each in said if each and len(each) <= _LONGEST_NAME))[:MOST_ANSWERS]
        answers |= {question: tuple(named)} if named else {}
    told = {n: " or ".join(answers.get(n, ("not answered, its words are used",))) for n in asked}
    calls.add("fill in", "; ".join(f"#{n}: {words}" for n, words in told.items()), mark, prompt=_FILL_IN)
    return answers


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
        # Without an answer, the question itself as words inside of another one.
        words = {place: answers.get(place, (tidy(each[0]).rstrip("?？؟ "),)) for place, each in texts.items()}
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
    What several texts of one place found is merged by rank."""
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


def _standing(first: Answered | ModelError, final: ModelError | None) -> Answered:
    """The first answer, where it is the last one or ``final`` says why there is no other. Raises the error where there
    was none, and where the first was a refusal that more evidence could have changed."""
    if isinstance(first, ModelError):
        raise final or first
    if final is None:
        return first
    if not (first.holds or isinstance(final, BudgetError)):
        raise final
    note = f"This is the first answer: there was no final one. {final}"
    return replace(first, note=joined(first.note, note))


_NOTES_SHARE = 4  # notes take at most the room of a quarter of the evidence


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
_REPLY = 400  # tokens of a reply at most
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
