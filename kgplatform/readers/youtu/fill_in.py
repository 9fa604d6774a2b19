"""Answers of sub-questions that later ones need: one call answers all that a level of searches waits for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, RootModel, model_validator

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.reply import ask
from kgplatform.prompt import render
from kgplatform.readers.answer import fence_for, shown_facts, shown_passages, within
from kgplatform.readers.calls import Calls
from kgplatform.records import SearchResult
from kgplatform.text import normalise_name, tidy

_STAGE = "fill_in"
_PROMPT = "youtu/fill_in"
_LONGEST = 200
"""Characters: what is longer is no name, date, number or thing."""
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


class _Reply(RootModel[_Answers]):
    """A root model, so that ``reply.ask`` hands over what models make of the form."""


def fill_in(asked: Mapping[int, tuple[str, SearchResult]], calls: Calls, tokens: int) -> dict[int, str]:
    """Short answers by number, for those of ``asked`` (number to question and its evidence) that have one.

    A failure answers none: the step says so. Raises ``BudgetError`` alone. ``tokens`` bound the whole evidence.
    """
    mark = calls.mark()
    parts = "\n\n".join(_part(n, text, found, tokens // len(asked)) for n, (text, found) in asked.items())
    try:
        reply, _ = ask(calls, render(_PROMPT, fence=fence_for(parts), parts=parts), _Reply, stage=_STAGE)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add("fill in", f"failed, so the words of the sub-questions are used: {error}", mark, prompt=_PROMPT)
        return {}
    given = reply.root.answers
    answers = {n: given[n] for n in asked if normalise_name(given.get(n, "")) not in _NO_ANSWERS}
    detail = "; ".join(f"#{n}: {answers.get(n, 'not answered, its words are used')}" for n in asked)
    calls.add("fill in", detail, mark, prompt=_PROMPT)
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
