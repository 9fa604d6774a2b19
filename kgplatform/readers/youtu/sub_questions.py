"""A question taken apart by the schema: sub-questions, what each waits for, the types involved (section 3.3).

    plan = decompose("When was the director of Jaws born?", schema, calls, 4)
    [(part.text, part.needs) for part in plan.parts]
    # [('Who directed Jaws?', ()), ('When was #1 born?', (0,))]

A mark ``#1`` stands for the answer of the first sub-question, as in MuSiQue's decompositions. Sub-questions without
marks are at level 0 and are searched at the same time; one that needs another is a level above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, RootModel, model_validator

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.reply import ask
from kgplatform.prompt import render
from kgplatform.readers.answer import fence_for, shown_facts, shown_passages, within
from kgplatform.readers.run import Calls, SchemaTypes
from kgplatform.records import SearchResult
from kgplatform.text import normalise_name, tidy, type_key

_STAGE = "decompose"
_PROMPT = "youtu/decompose"
_NO_SCHEMA = "(none: leave the lists of involved_types empty)"
_MARK = re.compile(r"\[\s*#(\d{1,3})\s*\]|(?<!\w)#(\d{1,3})\b")
_KINDS = {
    "nodes": ("nodes", "node", "entities", "entity_types"),
    "relations": ("relations", "relation", "relation_types"),
    "attributes": ("attributes", "attribute", "attribute_types"),
}
_PARTS = ("sub_questions", "subquestions", "sub_queries", "questions")
_TEXTS = ("sub_question", "subquestion", "question", "sub_query", "query", "text")


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """``needs``: positions (from 0) of the earlier sub-questions whose answers replace the marks in ``text``."""

    text: str
    needs: tuple[int, ...] = ()
    level: int = 0


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The sub-questions in order, and the names of the schema's types that the question involves."""

    parts: tuple[SubQuestion, ...]
    types: tuple[str, ...] = ()

    @property
    def levels(self) -> int:
        """How many rounds of searches it takes."""
        return 1 + max(part.level for part in self.parts)


class _Plan(BaseModel):
    sub_questions: list[str]
    types: dict[str, list[str]]

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: object) -> dict[str, Any]:
        content = _content_of(raw)
        parts: Any = next((content[key] for key in _PARTS if key in content), [])
        involved = _plain_keys(content.get("involved_types", {}))
        types = {kind: _names(next((involved[k] for k in keys if k in involved), [])) for kind, keys in _KINDS.items()}
        return {"sub_questions": _texts(parts), "types": types}


class _Reply(RootModel[_Plan]):
    """A root model, so that ``reply.ask`` hands over bare lists as they are."""


def decompose(question: str, schema: SchemaTypes | None, calls: Calls, most: int) -> Decomposition:
    """At most ``most`` sub-questions, and the involved types that ``schema`` has.

    Without a usable answer the question itself, and no types: the step says so. Raises ``BudgetError`` alone.
    """
    mark = calls.mark()
    shown = schema.text if schema and schema.text else _NO_SCHEMA
    messages = render(_PROMPT, schema=shown, most=str(most), fence=fence_for(question), question=question)
    try:
        reply, _ = ask(calls, messages, _Reply, stage=_STAGE)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add(_STAGE, f"failed, so the question is asked as it is: {error}", mark, prompt=_PROMPT)
        return Decomposition((SubQuestion(question),))
    parts = arrange(reply.root.sub_questions, question, most)
    types, unknown = known_types(reply.root.types, schema)
    why = "not in the schema" if schema and schema.text else "left out, since no schema was shown"
    calls.add(_STAGE, _in_words(reply.root.sub_questions, parts, types, unknown, why), mark, prompt=_PROMPT)
    return Decomposition(parts, types)


def arrange(texts: Sequence[str], question: str, most: int) -> tuple[SubQuestion, ...]:
    """Sub-questions in order, numbered again; what says nothing, comes twice or is beyond ``most`` is left out.

    A mark of an earlier one makes it needed. Any other mark gives way to the words of the sub-question that it names,
    or to nothing; one that the question itself has ("the #1 hit") is a word like others. So no two wait for each other.
    """
    kept: list[tuple[int, str]] = []
    places: dict[int, int] = {}
    known: dict[str, int] = {}
    for number, text in enumerate(map(tidy, texts), 1):
        key = same_words(text)
        if key and key not in known and len(kept) < most:
            known[key] = len(kept)
            kept.append((number, text))
        if key in known:
            places[number] = known[key]
    parts: list[SubQuestion] = []
    for position, (number, text) in enumerate(kept):
        filled, needs = _with_marks(text, number, position, places, texts, question)
        level = 1 + max((parts[need].level for need in needs), default=-1)
        parts.append(SubQuestion(filled if same_words(filled) else question, tuple(sorted(needs)), level))
    return tuple(parts) or (SubQuestion(question),)


def _with_marks(
    text: str, number: int, position: int, places: Mapping[int, int], texts: Sequence[str], question: str
) -> tuple[str, set[int]]:
    """``text`` with the marks that count, and the positions that they name."""
    own = {int(mark[1] or mark[2]) for mark in _MARK.finditer(question)}
    needs: set[int] = set()

    def put(mark: re.Match[str]) -> str:
        named = int(mark[1] or mark[2])
        place = places.get(named)
        if named in own:
            return mark[0]
        if place is not None and place < position:
            needs.add(place)
            return f"#{place + 1}"
        other = 1 <= named <= len(texts) and named != number and place != position
        return bare(_MARK.sub("", texts[named - 1])) if other else ""

    return tidy(_MARK.sub(put, text)), needs


def fill(part: SubQuestion, words: Mapping[int, str]) -> str:
    """``part`` with ``words`` (by position) in place of its marks."""

    def put(mark: re.Match[str]) -> str:
        place = int(mark[1] or mark[2]) - 1
        return words[place] if place in part.needs else mark[0]

    return tidy(_MARK.sub(put, part.text))


def bare(text: str) -> str:
    """A question as words inside of another one: without its question mark."""
    return tidy(text).rstrip("?？؟ ")


def same_words(text: str) -> str:
    """Equal for texts that differ in case, spaces and punctuation only; empty if there is no letter or digit."""
    return " ".join(re.findall(r"\w+", normalise_name(text).replace("_", " ")))


def known_types(named: Mapping[str, Sequence[str]], schema: SchemaTypes | None) -> tuple[tuple[str, ...], list[str]]:
    """The named types that ``schema`` has, under its names, and those that it lacks. Case, spaces, ``_`` and ``-``
    make no difference; a type under the wrong kind counts all the same."""
    index: dict[str, str] = {}
    if schema is not None:
        for name in (*schema.nodes, *schema.relations, *schema.attributes):
            index.setdefault(type_key(name), name)
    asked = [name for kind in _KINDS for name in named.get(kind, ())]
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


def _content_of(raw: object) -> dict[str, Any]:
    """The mapping with the sub-questions: the reply, what it is wrapped in, or a bare list as models write it."""
    if isinstance(raw, list):
        only = raw[0] if len(raw) == 1 else None
        return _content_of(only) if isinstance(only, dict) and _is_plan(only) else {"sub_questions": raw}
    content = _plain_keys(raw)
    if _is_plan(content):
        return content
    inner = list(content.values())
    if len(inner) == 1 and isinstance(inner[0], dict | list):
        return _content_of(inner[0])
    raise ValueError("the reply must be one JSON object with the keys sub_questions and involved_types")


def _is_plan(content: Mapping[Any, Any]) -> bool:
    return bool(_plain_keys(content).keys() & {*_PARTS, "involved_types"})


def _plain_keys(raw: object) -> dict[str, Any]:
    """A mapping with its keys in one spelling; of anything else, nothing."""
    if not isinstance(raw, dict):
        return {}
    return {str(key).strip().lower().replace("-", "_").replace(" ", "_"): value for key, value in raw.items()}


def _texts(raw: object) -> list[str]:
    """The texts of sub-questions. What cannot be read stays as an empty text: the others' numbers count on it."""
    items: Iterable[object] = raw if isinstance(raw, list) else [raw]
    return [_text(item) for item in items]


def _text(item: object) -> str:
    if isinstance(item, dict):
        plain = _plain_keys(item)
        item = next((plain[key] for key in _TEXTS if key in plain), next(iter(plain.values()), ""))
    return item if isinstance(item, str) else ""


def _names(raw: object) -> list[str]:
    items: Iterable[object] = raw if isinstance(raw, list) else [raw]
    names = [item.get("name") if isinstance(item, dict) else item for item in items]
    return [tidy(name) for name in names if isinstance(name, str) and name.strip()]


_FILL_PROMPT = "youtu/fill_in"
_LONGEST = 200
"""Characters: what is longer is not a name, a date, a number or a thing."""
_NO_ANSWERS = frozenset({"", "unknown", "none", "null", "n/a", "not stated", "not found", "not mentioned"})


class _Answers(BaseModel):
    answers: dict[int, str]

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: object) -> dict[str, Any]:
        """``{"answers": [{"number": 1, "answer": "…"}]}``, and what models make of it: a mapping from number to
        answer, a bare list, answers without numbers in the order of the questions."""
        if isinstance(raw, dict) and len(raw) == 1 and isinstance(next(iter(raw.values())), dict | list):
            raw = next(iter(raw.values()))
        if isinstance(raw, dict) and "answer" in raw:
            raw = [raw]
        if isinstance(raw, dict):
            pairs = [(key, value) for key, value in raw.items()]
        elif isinstance(raw, list):
            pairs = [_pair(item, place) for place, item in enumerate(raw, 1)]
        else:
            pairs = []
        answers = {number: _words(value) for key, value in pairs if (number := _number(key))}
        if pairs and not answers:
            raise ValueError("the reply must have answers, each with its number")
        return {"answers": answers}


class _FillReply(RootModel[_Answers]):
    """A root model, so that ``reply.ask`` hands over what models make of the form."""


def fill_in(asked: Mapping[int, tuple[str, SearchResult]], calls: Calls, tokens: int) -> dict[int, str]:
    """Short answers by number, for those of ``asked`` (number to question and its evidence) that have one.

    A failure answers none: the step says so. Raises ``BudgetError`` alone. ``tokens`` bound the whole evidence.
    """
    mark = calls.mark()
    parts = "\n\n".join(_part(n, text, found, tokens // len(asked)) for n, (text, found) in asked.items())
    try:
        reply, _ = ask(calls, render(_FILL_PROMPT, fence=fence_for(parts), parts=parts), _FillReply, stage="fill_in")
    except BudgetError:
        raise
    except ModelError as error:
        calls.add("fill in", f"failed, so the words of the sub-questions are used: {error}", mark, prompt=_FILL_PROMPT)
        return {}
    given = reply.root.answers
    answers = {n: given[n] for n in asked if normalise_name(given.get(n, "")) not in _NO_ANSWERS}
    detail = "; ".join(f"#{n}: {answers.get(n, 'not answered, its words are used')}" for n in asked)
    calls.add("fill in", detail, mark, prompt=_FILL_PROMPT)
    return answers


def _part(number: int, text: str, found: SearchResult, tokens: int) -> str:
    shown = within(found, tokens)
    facts, passages = shown_facts(shown.facts), shown_passages(shown.passages)
    return f"Question {number}: {text}\n\nFacts:\n{facts}\n\nPassages:\n{passages}"


def _pair(item: object, place: int) -> tuple[object, object]:
    if isinstance(item, dict):
        return item.get("number", place), item.get("answer", "")
    return place, item


def _number(key: object) -> int:
    digits = str(key).strip().lstrip("#")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 4 else 0


def _words(value: object) -> str:
    text = tidy(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    return text if len(text) <= _LONGEST else ""
