"""Short answers to sub-questions, to be put into those that wait for them.

fill_in({1: ("Which rivers meet at Ilsen?", found)}, calls, room=800)      # {1: ('Aldbeck', 'Wend')}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.forms import Form
from kgplatform.models.reply import ask
from kgplatform.prompt import fence_for, render
from kgplatform.readers.grounding import without_numbers
from kgplatform.readers.numbering import Numbering
from kgplatform.readers.run import Calls
from kgplatform.readers.selection import select
from kgplatform.readers.youtu.sub_questions import MOST_ANSWERS
from kgplatform.records import SearchResult
from kgplatform.text import tidy

_PROMPT = "youtu/fill_in"
_REPLY = 200
"""Tokens of a reply at most."""
_PASSAGES = 3
_LONGEST = 200
"""Characters: what is longer is not a name, a date, a number or a thing."""

Words = Annotated[str, Field(json_schema_extra={"maxLength": _LONGEST})]


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
    parts = "\n\n".join(_part(n, text, found, room // len(asked)) for n, (text, found) in enumerate(asked.values(), 1))
    messages = render(_PROMPT, most=str(MOST_ANSWERS), fence=fence_for(parts), parts=parts)
    try:
        reply, _ = ask(calls, messages, Filled, stage="fill_in", tokens=_REPLY)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add("fill in", f"failed, so the words of the sub-questions are used: {error}", mark, prompt=_PROMPT)
        return {}
    given = dict(zip(asked, map(_named, reply.answers), strict=False))
    answers = {number: words for number, words in given.items() if words}
    told = {n: " or ".join(answers.get(n, ("not answered, its words are used",))) for n in asked}
    calls.add("fill in", "; ".join(f"#{n}: {words}" for n, words in told.items()), mark, prompt=_PROMPT)
    return answers


def _part(number: int, text: str, found: SearchResult, room: int) -> str:
    selected = select(replace(found, question=text), room, _PASSAGES, _PASSAGES)
    return f"{selected.text(Numbering())}\n\nQuestion {number}: {text}"


def _named(answers: list[str]) -> tuple[str, ...]:
    """Answers that name something, each once."""
    said = (without_numbers(tidy(each)) for each in answers)
    return tuple(dict.fromkeys(each for each in said if each and len(each) <= _LONGEST))[:MOST_ANSWERS]
