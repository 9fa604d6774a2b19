"""Reasoning and reflection: the model thinks about the evidence, and names an answer or a new query (eq. 9).

An answer ends the loop; a new query is searched, and what it brings is in the next prompt. It ends, too, where a query
brings nothing that no prompt has shown. Only the model's own reply is read: never a passage, never a fact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, fence_for, render
from kgplatform.readers.answer import NONE
from kgplatform.readers.grounding import without_numbers
from kgplatform.readers.numbering import Numbering
from kgplatform.readers.run import Calls
from kgplatform.readers.selection import PASSAGES, Selection, select
from kgplatform.readers.window import cut, tokens
from kgplatform.readers.youtu.sub_questions import same_words
from kgplatform.records import SearchResult
from kgplatform.search.search import fuse_results
from kgplatform.text import tidy

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


def reflect(memory: AgentMemory, calls: Calls, search: Callable[[str], SearchResult], steps: int) -> Reflected:
    """Up to ``steps`` thoughts. ``memory`` gets them, and what ``search`` finds for new queries.

    One call is left for the final answer.
    """
    calls.limit = None if calls.limit is None else calls.limit - 1
    query, grew = memory.question, False
    try:
        for step in range(1, steps + 1):
            if calls.left < 1:
                calls.note("reflect", "stopped: the last call is kept for the final answer")
                return Reflected(grew=grew)
            text, answer, query = _think(memory, query, step, steps, calls)
            memory.thoughts.append(text)
            if not query:
                return Reflected(answer, grew)
            if same_words(query) in {"", *map(same_words, memory.queries)}:
                calls.note(f"reflect {step}", f"stopped: this was searched before: {query}")
                return Reflected(grew=grew)
            memory.queries.append(query)
            if not memory.adds(search(query)):
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
