"""Reasoning and reflection: the model thinks about the evidence, and names an answer or a new query (eq. 9).

An answer ends the loop; a new query is searched, and what it brings is in the next prompt. It ends, too, where a query
brings nothing that no prompt has shown. Only the model's own reply is read: never a passage, never a fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import model_validator

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.forms import ANSWER, Form, examples_of, named, thinking
from kgplatform.models.lenient import first_of, opened, truth_of, words_of
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, render
from kgplatform.readers.answer_old import NONE, shown_facts, shown_passages
from kgplatform.readers.refusals import says_nothing
from kgplatform.readers.run import Calls
from kgplatform.readers.youtu.memory import AgentMemory
from kgplatform.readers.youtu.sub_questions import same_words
from kgplatform.records import SearchResult
from kgplatform.text import tidy

_STAGE = "reflect"
_PROMPT = "youtu/reflect"
_REPLY = 1_000
"""Tokens of a reply at most."""
_LONGEST_QUERY = 500


def _mark(sentences: str, labels: str) -> re.Pattern[str]:
    """What announces an exit: one of ``sentences``, or one of ``labels`` with a colon behind it, or as a heading."""
    signs, text = r"[\s*_`#>\"'“”„«»]*", r"[^\n]*"
    return re.compile(
        rf"(?:{sentences})[*_`\"\s]*[:：]?{signs}(?P<said>{text})"
        rf"|^[\s\d.)*_`#>{{\"'“„«-]*(?:{labels})(?:[*_`\"\s]*[:：]|[*_`\s]*\n){signs}(?P<labelled>{text})",
        re.IGNORECASE | re.MULTILINE,
    )


_ANSWER = _mark(
    r"\bso,?\s+(?:the\s+)?(?:final\s+)?answer\s+is\b|^(?:the\s+)?(?:final\s+)?answer\s+is\b|\bdie\s+antwort\s+(?:ist|lautet)"
    r"|\bla\s+réponse\s+est|\bla\s+respuesta\s+es|答案是|答えは",
    r"(?:the\s+)?(?:final[ _])?answer|(?:endgültige\s+)?antwort|réponse(?:\s+finale)?|respuesta(?:\s+final)?"
    r"|(?:最终)?答案|答え",
)
_QUERY = _mark(
    r"\bnew\s+query\s+is\b|新的查询是",
    r"(?:the\s+)?(?:new|next|follow-?up|search)?[ _]*(?:query|search|sub-?question)|(?:neue\s+)?(?:such)?(?:an)?frage"
    r"|nouvelle\s+requête|nueva\s+(?:consulta|búsqueda)|新查询|新しい(?:検索|クエリ)",
)


class StepReply(Form):
    """A thought."""

    whole: ClassVar[bool] = True
    reasoning: str = thinking(1_500)
    missing: str = named("missing missing_information what_is_missing gaps fehlt manque falta 缺少", "", most=300)
    query: str = named(
        "query new_query the_new_query_is next_query search_query search follow_up next_question anfrage neue_anfrage "
        "suchanfrage nouvelle_requête nueva_consulta 新查询 查询",
        "",
        most=300,
    )
    answer: str = named(f"{ANSWER} so_the_answer_is the_answer_is conclusion", "", most=1_000)

    @model_validator(mode="before")
    @classmethod
    def _one_exit(cls, raw: object) -> dict[str, Any]:
        """The form with the one exit that it takes: a query while something is missing, else the answer.

        Refusals and forms of "none" are neither. Raises ``ValueError`` for what names no exit, and for the example.
        """
        read = opened(raw, cls)
        done = first_of(read, "done finished is_done sufficient complete")
        if not read.keys() & {"query", "answer"} and done is None:
            raise ValueError("the reply must have query or answer")
        texts = {name: _text(read.get(name)) for name in cls.model_fields}
        if any(example.items() <= texts.items() for example in examples_of(_PROMPT)):
            raise ValueError("the reply repeats an example of the prompt; think about the user's question")
        for name in ("missing", "query", "answer"):
            texts[name] = "" if says_nothing(texts[name]) else texts[name]
        ends = truth_of(done) or not texts["missing"]
        return {**texts, **({"query": ""} if texts["answer"] and ends else {"answer": ""} if texts["query"] else {})}


def _text(value: object) -> str:
    """A text in one line; true and false are none."""
    return "" if isinstance(value, bool) else tidy(words_of(value))


@dataclass(frozen=True, slots=True)
class Thought:
    """What a reply says: what to remember of it, and its exit: an answer, a query, or neither (both empty)."""

    text: str
    answer: str = ""
    query: str = ""


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
            thought = _think(memory, query, step, steps, calls)
            memory.thoughts.append(thought.text)
            if not thought.query or not _is_new(thought.query, memory, calls, step):
                return Reflected(thought.answer, grew)
            query = thought.query
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


def read_free(text: str) -> StepReply | None:
    """A reply in prose: the last mark that names something counts; None where nothing is said at all.

    >>> read_free("The signing is missing. **New query:** When did the club sign her?").query
    'When did the club sign her?'
    """
    text = text.strip()
    marks = {"answer": _ANSWER, "query": _QUERY}
    found = sorted((mark.start(), kind, _words(mark)) for kind in marks for mark in marks[kind].finditer(text))
    exits = [(kind, words) for _, kind, words in found if not says_nothing(words)]
    if not exits and (not same_words(text) or text.startswith("{")):
        return None
    step = StepReply.model_construct(reasoning=text, missing="", query="", answer="")
    return step.model_copy(update=dict(exits[-1:]))


def reflect_messages(memory: AgentMemory, query: str, step: int, steps: int) -> Messages:
    """The prompt of a step: all evidence so far, the earlier thoughts, the question, the current query."""
    evidence = memory.evidence()
    facts, passages = shown_facts(evidence.facts), shown_passages(evidence.passages)
    queries, notes = "\n".join(f"- {each}" for each in memory.queries), memory.notes() or NONE
    return render(
        _PROMPT,
        question=memory.question,
        query=query,
        step=str(step),
        steps=str(steps),
        fence=memory.tags(queries, notes, facts, passages),
        queries=queries,
        notes=notes,
        facts=facts,
        passages=passages,
    )


def _think(memory: AgentMemory, query: str, step: int, steps: int, calls: Calls) -> Thought:
    mark, name = calls.mark(), f"reflect {step}"
    messages = reflect_messages(memory, query, step, steps)
    try:
        reply, _ = ask(calls, messages, StepReply, stage=_STAGE, tokens=_REPLY, free=read_free)
    except ModelError as error:
        calls.add(name, f"failed: {error}", mark, prompt=_PROMPT)
        raise
    thought = thought_of(reply)
    calls.add(name, _in_words(thought), mark, prompt=_PROMPT)
    return thought


def thought_of(said: StepReply) -> Thought:
    """What is remembered of a reply, and its exit."""
    query = said.query[:_LONGEST_QUERY]
    lines = (
        said.reasoning,
        f"Missing: {said.missing}" if said.missing else "",
        f"New query: {query}" if query and query not in said.reasoning else "",
        f"Answer: {said.answer}" if said.answer and said.answer not in said.reasoning else "",
    )
    return Thought("\n".join(filter(None, lines)), said.answer, query)


def _is_new(query: str, memory: AgentMemory, calls: Calls, step: int) -> bool:
    if same_words(query) and same_words(query) not in {same_words(each) for each in memory.queries}:
        return True
    calls.note(f"reflect {step}", f"stopped: this was searched before: {query}")
    return False


def _in_words(thought: Thought) -> str:
    if thought.answer:
        return f"the answer is: {thought.answer}"
    return f"the new query is: {thought.query}" if thought.query else "neither an answer nor a new query"


def _words(mark: re.Match[str]) -> str:
    return tidy(next(filter(None, mark.groupdict().values()), "")).strip("*_`\"'“”„«»{}, ")
