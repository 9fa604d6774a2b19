"""A question taken apart by the schema: sub-questions, the types involved, whether it is about a group (section 3.3).

plan = decompose("When was the director of Jaws born?", schema, calls, 4, window)
[(part.text, part.needs) for part in plan.parts]
# [('Who directed Jaws?', ()), ('When was #1 born?', (0,))]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.forms import Form, several, worded
from kgplatform.models.reply import ask
from kgplatform.prompt import render
from kgplatform.readers.answer import LARGEST_FENCE, fence_for
from kgplatform.readers.run import Calls, SchemaTypes
from kgplatform.readers.window import Window, head
from kgplatform.readers.youtu.sub_questions import SubQuestion, arrange
from kgplatform.text import type_key

_STAGE = "decompose"
_PROMPT = "youtu/decompose"
_REPLY = 800
"""Tokens of a decomposition at most."""
_NO_SCHEMA = "(no schema: leave the lists of involved_types empty)"
_LONGEST = 300


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


class _Involved(Form):
    nodes: list[str] = several(12)
    relations: list[str] = several(12)
    attributes: list[str] = several(12)


class _Plan(Form):
    reasoning: str = worded(600)
    sub_questions: list[str] = several(8)
    involved_types: _Involved = _Involved()
    group: bool = False


def decompose(question: str, schema: SchemaTypes | None, calls: Calls, most: int, window: Window) -> Decomposition:
    """At most ``most`` sub-questions, and the involved types that ``schema`` has; a schema too long is cut.

    Without a usable answer the question itself, and no types: the step says so. Raises ``BudgetError`` alone.
    """
    mark = calls.mark()
    inputs = {"most": str(most), "question": question}
    room = window.room(render(_PROMPT, schema="", fence=LARGEST_FENCE, **inputs))
    shown = schema.text[: head(schema.text, max(1, room))] if schema and schema.text else _NO_SCHEMA
    messages = render(_PROMPT, schema=shown, fence=fence_for(shown), **inputs)
    try:
        plan, _ = ask(calls, messages, _Plan, stage=_STAGE, tokens=_REPLY)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add(_STAGE, f"failed, so the question is asked as it is: {error}", mark, prompt=_PROMPT)
        return Decomposition((SubQuestion(question),))
    parts = arrange([each[:_LONGEST] for each in plan.sub_questions], question, most)
    types, unknown = known_types(plan.involved_types.model_dump(), schema)
    why = "not in the schema" if schema and schema.text else "left out, since no schema was shown"
    calls.add(_STAGE, _in_words(plan.sub_questions, parts, types, unknown, why), mark, prompt=_PROMPT)
    return Decomposition(parts, types, plan.group)


def known_types(named: Mapping[str, Sequence[str]], schema: SchemaTypes | None) -> tuple[tuple[str, ...], list[str]]:
    """The named types that ``schema`` has, under its names, and those that it lacks. Case, spaces, ``_`` and ``-``
    make no difference; a type under the wrong kind counts all the same."""
    index: dict[str, str] = {}
    if schema is not None:
        for name in (*schema.nodes, *schema.relations, *schema.attributes):
            index.setdefault(type_key(name), name)
    asked = [name for kind in _Involved.model_fields for name in named.get(kind, ())]
    types = dict.fromkeys(index[type_key(name)] for name in asked if type_key(name) in index)
    return tuple(types), [name for name in dict.fromkeys(asked) if type_key(name) not in index]


def _in_words(
    given: Sequence[str], parts: Sequence[SubQuestion], types: Sequence[str], unknown: Sequence[str], why: str
) -> str:
    """The detail of the step. ``why``: what is the matter with the ``unknown`` types."""
    words = ["; ".join(f"{n}. {part.text}" for n, part in enumerate(parts, 1))]
    if len(given) > len(parts):
        words.append(f"{len(given) - len(parts)} more were left out")
    words.append(f"types: {', '.join(types)}" if types else "no types")
    if unknown:
        words.append(f"{why}: {', '.join(unknown)}")
    return " | ".join(words)
