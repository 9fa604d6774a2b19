"""A question taken apart by the schema: sub-questions, the types involved, whether it is about a group (section 3.3).

plan = decompose("When was the director of Jaws born?", schema, calls, 4, window)
[(part.text, part.needs) for part in plan.parts]
# [('Who directed Jaws?', ()), ('When was #1 born?', (0,))]
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, model_validator

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.forms import Flag, Form, Words, examples_of, named, thinking
from kgplatform.models.json_text import values_in
from kgplatform.models.lenient import first_of, keyed, opened
from kgplatform.models.reply import ask
from kgplatform.prompt import render
from kgplatform.readers.answer_old import LARGEST_FENCE, fence_for
from kgplatform.readers.run import Calls, SchemaTypes
from kgplatform.readers.window import Window, head
from kgplatform.readers.youtu.sub_questions import SubQuestion, arrange, same_words
from kgplatform.text import tidy, type_key

_STAGE = "decompose"
_PROMPT = "youtu/decompose"
_REPLY = 800
"""Tokens of a decomposition at most."""
_NO_SCHEMA = "(no schema: leave the lists of involved_types empty)"
_LONGEST = 300
_KINDS = {
    "nodes": ("nodes", "node", "entities", "entity_types"),
    "relations": ("relations", "relation", "relation_types"),
    "attributes": ("attributes", "attribute", "attribute_types"),
}
_TEXT = "sub_question question sub_query query text frage pregunta 问题"
_GROUP = re.compile(
    r"\bin common\b|\bwhich of\b|\bhow many\b|\bwhich (?:themes|topics|kinds|types|groups)\b|\bmain (?:themes|topics)\b"
    r"|\bgemeinsam\b|\ben commun\b|\ben común\b|共同",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"^[\s>*_`#]*(?:\(?\d{1,2}\s*[.):：]|[-*•–]\s|(?:sub|teil|sous)[- ]?(?:question|query|frage)\s*#?\d*\s*[:：]"
    r"|Q\s*\d+\s*[.:：])"
    r"[\s*_`\"“]*(?P<text>.*\w.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_TYPES_LINE = re.compile(
    r"^[\s>*_`#-]*(?P<kind>nodes|relations|attributes)[*_`\s]*[:：](?P<names>.*)$", re.IGNORECASE | re.MULTILINE
)
_TYPES_BEGIN = re.compile(
    r"^[\s>*_`#-]*(?:involved|schema)?[ _]?types\b|^[\s>*_`#-]*nodes\b", re.IGNORECASE | re.MULTILINE
)


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


def _texts(raw: object) -> list[str]:
    """The texts of sub-questions. What cannot be read stays as an empty text: the others' numbers count on it."""
    if isinstance(raw, dict) and first_of(raw, _TEXT) is None:
        raw = list(raw.values())  # by number
    if isinstance(raw, str):
        raw = raw.splitlines()
    return [_text(item) for item in (raw if isinstance(raw, list) else [raw])]


def _text(item: object) -> str:
    if isinstance(item, dict):
        item = first_of(item, _TEXT) or next(iter(item.values()), "")
    return _question(item) if isinstance(item, str) else ""


def _question(text: str) -> str:
    """A sub-question as it is searched: without its number, its decoration and what is said about it behind it."""
    text = re.sub(r"\A[\s*_`\"“>-]*(?:\(?\d{1,2}[.)]\s+)?[\s*_`\"“]*", "", text)
    end = re.search(r"[?？؟][\s*_`\"”]*", text)
    return tidy(text[: end.start() + 1] if end and len(text) - end.end() > 0 else text.rstrip(' *_`"”'))[:_LONGEST]


def _listed(raw: object) -> list[str]:
    names = [item.get("name") if isinstance(item, dict) else item for item in (raw if isinstance(raw, list) else [raw])]
    return [tidy(name) for name in names if isinstance(name, str) and name.strip()]


_Names = Annotated[list[str], BeforeValidator(_listed)]


class _Involved(Form):
    nodes: _Names = named("nodes node entities entity_types", [], items=12)
    relations: _Names = named("relations relation relation_types", [], items=12)
    attributes: _Names = named("attributes attribute attribute_types", [], items=12)


class _Plan(Form):
    whole: ClassVar[bool] = True
    reasoning: Words = thinking()
    sub_questions: Annotated[list[str], BeforeValidator(_texts)] = named(
        "sub_questions sub_queries questions decomposition steps teilfragen unterfragen sous_questions subpreguntas "
        "子问题 サブ質問",
        [],
        items=8,
    )
    involved_types: Annotated[_Involved, BeforeValidator(lambda raw: raw if isinstance(raw, dict) else {})] = named(
        "involved_types types schema_types", _Involved()
    )
    group: Flag = named("group is_group about_group", None)

    @model_validator(mode="before")
    @classmethod
    def _of_a_list(cls, raw: object) -> Any:
        """The form, also of a bare list of questions."""
        if not isinstance(raw, list) or (len(raw) == 1 and _is_plan(raw[0])):
            read = opened(raw, cls)
            if not read.keys() & {"sub_questions", "involved_types", "group"}:
                raise ValueError("the reply must have sub-questions")
            return read
        if not _asks(_texts(raw)):
            raise ValueError("the list has no question")
        return {"sub_questions": raw}

    @model_validator(mode="after")
    def _is_no_example(self) -> _Plan:
        if self.sub_questions and tuple(map(same_words, self.sub_questions)) in _examples():
            raise ValueError("the reply repeats an example of the prompt; take the user's question apart")
        return self


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
        plan, _ = ask(calls, messages, _Plan, stage=_STAGE, tokens=_REPLY, free=read_free)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add(_STAGE, f"failed, so the question is asked as it is: {error}", mark, prompt=_PROMPT)
        return Decomposition((SubQuestion(question),), group=is_about_group(question))
    parts = arrange(plan.sub_questions, question, most)
    types, unknown = known_types(plan.involved_types.model_dump(), schema)
    why = "not in the schema" if schema and schema.text else "left out, since no schema was shown"
    calls.add(_STAGE, _in_words(plan.sub_questions, parts, types, unknown, why), mark, prompt=_PROMPT)
    return Decomposition(parts, types, is_about_group(question) if plan.group is None else plan.group)


def read_free(text: str) -> _Plan | None:
    """A reply in prose: a numbered list of questions, or objects one a line; None where it has neither."""
    before = text[: found.start()] if (found := _TYPES_BEGIN.search(text)) else text
    texts = [_text(value) for value in values_in(text) if first_of(value, _TEXT) is not None]
    texts = texts or [_question(line["text"]) for line in _LISTED.finditer(before)]
    if not _asks(texts):
        return None
    types = {
        line["kind"].lower(): re.split(r"\s*[,;]\s*", line["names"].strip(" []*_`"))
        for line in _TYPES_LINE.finditer(text)
    }
    return _Plan.of(sub_questions=texts, involved_types=types)


def is_about_group(question: str) -> bool:
    """Whether the words of ``question`` say that it is about a group, where the model did not say."""
    return _GROUP.search(question) is not None


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


@cache
def _examples() -> frozenset[tuple[str, ...]]:
    """The sub-questions of the prompt's own examples."""
    return frozenset(tuple(map(same_words, plan["sub_questions"])) for plan in examples_of(_PROMPT))


def _asks(texts: Sequence[str]) -> bool:
    """Whether any of ``texts`` is a question."""
    return any(re.search(r"[?？؟#]", text) for text in texts)


def _is_plan(value: object) -> bool:
    """Whether it is a whole plan, and no sub-question."""
    return isinstance(value, dict) and bool(keyed(value, _Plan).keys() & {"sub_questions", "involved_types"})
