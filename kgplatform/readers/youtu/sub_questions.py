"""A question taken apart by the schema (section 3.3): sub-questions, the types involved, whether it is about a group.
Sub-questions wait for each other's answers: "#1" stands for the answer of the first.

parts = arrange(["Who directed Jaws?", "When was #1 born?"], "When was the director of Jaws born?", 4)
fill(parts[1], {0: ("Steven Spielberg",)})        # ('When was Steven Spielberg born?',)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Annotated

from pydantic import Field

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.forms import Form, items
from kgplatform.models.reply import ask
from kgplatform.prompt import LARGEST_FENCE, fence_for, render
from kgplatform.readers.grounding import without_numbers
from kgplatform.readers.numbering import Numbering
from kgplatform.readers.run import Calls, SchemaTypes
from kgplatform.readers.selection import select
from kgplatform.readers.window import Window, head
from kgplatform.records import SearchResult
from kgplatform.text import normalise_name, tidy, type_key

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
    for number, text in enumerate(map(tidy, texts), 1):
        filled, needs = _with_places(text, places, own)
        key = same_words(filled)
        if key and key not in known and len(parts) < most:
            known[key] = len(parts)
            level = 1 + max((parts[need].level for need in needs), default=-1)
            parts.append(SubQuestion(filled, tuple(sorted(needs)), level))
        if key in known:
            places[number] = known[key]
    return tuple(parts) if len(parts) > 1 else (SubQuestion(question),)


def _with_places(text: str, places: Mapping[int, int], own: set[int]) -> tuple[str, set[int]]:
    """``text`` with the marks that count, by position, and the positions that they name."""
    needs: set[int] = set()

    def put(mark: re.Match[str]) -> str:
        number = _number(mark)
        if number in own:
            return mark[0]
        if number not in places:
            return ""
        needs.add(places[number])
        return f"#{places[number] + 1}"

    return tidy(_MARK.sub(put, text)), needs


def _number(mark: re.Match[str]) -> int:
    return int(mark[1] or mark[2])


def fill(part: SubQuestion, answers: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
    """``part`` with ``answers`` (by position) in place of its marks: a text for each, at most ``MOST_ANSWERS``."""
    chosen = islice(product(*(answers[need] for need in part.needs)), MOST_ANSWERS)

    def filled(words: Mapping[int, str]) -> str:
        return tidy(_MARK.sub(lambda mark: words.get(_number(mark) - 1, mark[0]), part.text))

    return tuple(filled(dict(zip(part.needs, words, strict=True))) for words in chosen)


def bare(text: str) -> str:
    """A question as words inside of another one: without its question mark."""
    return tidy(text).rstrip("?？؟ ")


def same_words(text: str) -> str:
    """Equal for texts that differ in case, spaces and punctuation only; empty if there is no letter or digit."""
    return " ".join(re.findall(r"\w+", normalise_name(text).replace("_", " ")))


_STAGE = "decompose"
_PROMPT = "youtu/decompose"
_REPLY = 300
"""Tokens of a decomposition at most."""
_LONGEST = 300
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
    """At most ``most`` sub-questions, and the involved types that ``schema`` has; a schema too long is cut.

    Without a usable answer the question itself, and no types: the step says so. Raises ``BudgetError`` alone.
    """
    mark = calls.mark()
    inputs = {"most": str(most), "question": question}
    room = window.room(render(_PROMPT, schema="", fence=LARGEST_FENCE, **inputs))
    shown = _shown(schema)[: head(_shown(schema), max(1, room))]
    messages = render(_PROMPT, schema=shown, fence=fence_for(shown), **inputs)
    try:
        plan, _ = ask(calls, messages, Plan, stage=_STAGE, tokens=_REPLY)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add(_STAGE, f"failed, so the question is asked as it is: {error}", mark, prompt=_PROMPT)
        return Decomposition((SubQuestion(question),))
    parts = arrange([text[:_LONGEST] for text in plan.sub_questions], question, most)
    types, unknown = known_types(plan.types, schema)
    calls.add(_STAGE, _in_words(plan.sub_questions, parts, types, unknown), mark, prompt=_PROMPT)
    return Decomposition(parts, types, plan.group)


def _shown(schema: SchemaTypes | None) -> str:
    """The names of the schema's types; what they mean is not needed to choose among them."""
    kinds = {"Entities": schema.nodes, "Relations": schema.relations, "Attributes": schema.attributes} if schema else {}
    return "\n".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names) or _NO_SCHEMA


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


def _in_words(given: Sequence[str], parts: Sequence[SubQuestion], types: Sequence[str], unknown: Sequence[str]) -> str:
    """The detail of the step."""
    words = ["; ".join(f"{n}. {part.text}" for n, part in enumerate(parts, 1))]
    if len(given) > len(parts):
        words.append(f"{len(given) - len(parts)} more were left out")
    words.append(f"types: {', '.join(types)}" if types else "no types")
    if unknown:
        words.append(f"not in the schema: {', '.join(unknown)}")
    return " | ".join(words)


_FILL_IN = "youtu/fill_in"
_FILL_IN_REPLY = 200
"""Tokens of a reply at most."""
_PASSAGES = 3
_LONGEST_NAME = 200
"""Characters: what is longer is not a name, a date, a number or a thing."""

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
    for number, (text, found) in enumerate(asked.values(), 1):
        selected = select(replace(found, question=text), room // len(asked), _PASSAGES, _PASSAGES)
        asked_parts.append(f"{selected.text(Numbering())}\n\nQuestion {number}: {text}")
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
