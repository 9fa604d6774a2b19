"""Reasoning and reflection: the model thinks about the evidence, and names an answer or a new query (eq. 9).

A reply ends with ``So the answer is: …``, which ends the loop, or with ``The new query is: …``, which is searched; what
it brings is in the next prompt. Only the model's own reply is read for these marks: never a passage, never a fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kgplatform.errors import BudgetError, ModelError
from kgplatform.prompt import Messages, render
from kgplatform.readers.answer import NONE, fence_for, shown_facts, shown_passages, within
from kgplatform.readers.run import Calls
from kgplatform.readers.youtu.sub_questions import same_words
from kgplatform.records import SearchResult
from kgplatform.retrieve.search import round_robin
from kgplatform.text import tidy

_LONGEST_THOUGHT = 2000


@dataclass
class AgentMemory:
    """``results`` and ``thoughts`` in the order in which they came; ``tokens`` bound the evidence in a prompt."""

    question: str
    tokens: int
    results: list[SearchResult] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

    def evidence(self) -> SearchResult:
        """The best of each step in turn, the newest step first, as far as ``tokens`` reach.

        In turn, because the scores of two searches cannot be compared, and because the newest step alone could fill
        the prompt: so the best of every step is in it.
        """
        most = max(1, sum(max(len(result.passages), len(result.facts)) for result in self.results))
        merged = round_robin(list(reversed(self.results)), most)
        return within(replace(merged, question=self.question), self.tokens)

    def notes(self) -> str:
        """The thoughts as a prompt shows them; empty without any."""
        # Of a long thought its end: what came of it stands there.
        most = _LONGEST_THOUGHT
        return "\n\n".join(thought if len(thought) <= most else f"… {thought[-most:]}" for thought in self.thoughts)


_STAGE = "reflect"
_PROMPT = "youtu/reflect"
_LONGEST_QUERY = 500
_TAG = r"(?:think|thinking|thought|reasoning)"
_THOUGHT = re.compile(rf"<({_TAG})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_BEFORE_END = re.compile(rf".*</{_TAG}>", re.DOTALL | re.IGNORECASE)
_AFTER_START = re.compile(rf"<{_TAG}>.*", re.DOTALL | re.IGNORECASE)
_DECORATION = r"[\s*_`#>\"'“”„«»]*"
_ANSWER = re.compile(rf"so\s+the\s+answer\s+is[*_`\s]*[:：]{_DECORATION}(?P<text>[^\n]*)", re.IGNORECASE)
_QUERY = re.compile(rf"the\s+new\s+query\s+is[*_`\s]*[:：]{_DECORATION}(?P<text>[^\n]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Thought:
    """A reply without its hidden thoughts, and its exit: an answer, a query (that may be empty), or neither."""

    text: str
    answer: str | None = None
    query: str | None = None


def reflect(
    memory: AgentMemory, calls: Calls, search: Callable[[str], SearchResult], steps: int
) -> tuple[str, ModelError | None]:
    """Up to ``steps`` calls of the model. ``memory`` gets their thoughts, and what ``search`` finds for new queries.

    One call is left for the final answer. Returns a note for who reads the answer, and the error that ended it, if any.
    """
    query, was_empty = memory.question, False
    for step in range(1, steps + 1):
        if calls.left < 2:
            calls.note("reflect", "stopped: the last call is kept for the final answer")
            return "", None
        try:
            thought = _think(memory, query, step, steps, calls)
            memory.thoughts += [thought.text] if thought.text else []
            # Another step follows a query, and the first of two empty replies.
            is_last = thought.query is None and (bool(thought.text) or was_empty)
            if thought.query is not None and thought.answer is None:
                is_last = not _is_new(thought.query, memory, calls, step)
                if not is_last:
                    query = thought.query
                    memory.queries.append(query)
                    memory.results.append(search(query))
        except ModelError as error:
            note = f"The reflection stopped in step {step}; the answer is from what was found until then. {error}"
            return "" if isinstance(error, BudgetError) else note, error
        if is_last:
            return "", None
        was_empty = not thought.text
    calls.note("reflect", f"stopped after {steps} steps")
    return "", None


def read_thought(reply: str) -> Thought:
    """What a reply says. The answer wins over a query; marks inside of hidden thoughts do not count.

    >>> read_thought("The signing is missing. **The new query is:** When did the club sign her?").query
    'When did the club sign her?'
    """
    text = _AFTER_START.sub("", _BEFORE_END.sub("", _THOUGHT.sub("", reply))).strip()
    answers, queries = list(_ANSWER.finditer(text)), list(_QUERY.finditer(text))
    if answers:
        return Thought(text, answer=_undecorated(answers[-1]["text"]))
    return Thought(text, query=_undecorated(queries[-1]["text"])[:_LONGEST_QUERY] if queries else None)


def reflect_messages(memory: AgentMemory, query: str, step: int, steps: int) -> Messages:
    """The prompt of a step: the question, the current query, all evidence so far, the earlier thoughts."""
    evidence = memory.evidence()
    facts, passages = shown_facts(evidence.facts), shown_passages(evidence.passages)
    queries, thoughts = "\n".join(f"- {each}" for each in memory.queries), memory.notes() or NONE
    return render(
        _PROMPT,
        question=memory.question,
        query=query,
        step=str(step),
        steps=str(steps),
        fence=fence_for(queries, thoughts, facts, passages),
        queries=queries,
        thoughts=thoughts,
        facts=facts,
        passages=passages,
    )


def _think(memory: AgentMemory, query: str, step: int, steps: int, calls: Calls) -> Thought:
    mark, name = calls.mark(), f"reflect {step}"
    messages = reflect_messages(memory, query, step, steps)
    try:
        thought = read_thought(calls.send(messages, stage=_STAGE).text)
    except ModelError as error:
        calls.add(name, f"failed: {error}", mark, prompt=_PROMPT)
        raise
    calls.add(name, _in_words(thought), mark, prompt=_PROMPT)
    if not thought.text:
        calls.forget(messages)  # hidden thoughts alone may be in the cache, and nobody can use them
    return thought


def _is_new(query: str, memory: AgentMemory, calls: Calls, step: int) -> bool:
    if not same_words(query):
        calls.note(f"reflect {step}", "stopped: the new query is empty")
        return False
    if same_words(query) in {same_words(each) for each in memory.queries}:
        calls.note(f"reflect {step}", f"stopped: this was searched before: {query}")
        return False
    return True


def _in_words(thought: Thought) -> str:
    if not thought.text:
        return "an empty reply"
    if thought.answer is not None:
        return f"the answer is: {thought.answer}"
    return "neither an answer nor a new query" if thought.query is None else f"the new query is: {thought.query}"


def _undecorated(text: str) -> str:
    return tidy(text).strip("*_`\"'“”„«» ")
