"""A question taken apart by the schema: sub-questions, the types involved, whether it is about a group (section 3.3).

plan = decompose("When was the director of Jaws born?", schema, calls, 4, window)
[(part.text, part.needs) for part in plan.parts]
# [('Who directed Jaws?', ()), ('When was #1 born?', (0,))]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.forms import Form, items
from kgplatform.models.reply import ask
from kgplatform.prompt import LARGEST_FENCE, fence_for, render
from kgplatform.readers.run import Calls, SchemaTypes
from kgplatform.readers.window import Window, head
from kgplatform.readers.youtu.sub_questions import SubQuestion, arrange
from kgplatform.text import tidy, type_key

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
