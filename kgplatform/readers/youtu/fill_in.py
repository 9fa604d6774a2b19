"""Short answers to sub-questions, to be put into those that wait for them.

fill_in({1: ("Which rivers meet at Ilsen?", found)}, calls, room)      # {1: ('Aldbeck', 'Wend')}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, RootModel, model_validator

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.reply import ask
from kgplatform.prompt import render
from kgplatform.readers.answer import fence_for, shown_facts, shown_passages
from kgplatform.readers.run import Calls
from kgplatform.readers.youtu.forms import fields, number_of, plain_keys, says_nothing, texts_of, whole_objects
from kgplatform.readers.youtu.sub_questions import MOST_ANSWERS
from kgplatform.records import SearchResult

_PROMPT = "youtu/fill_in"
_REPLY = 600
"""Tokens of a reply at most."""
_LONGEST = 200
"""Characters: what is longer is not a name, a date, a number or a thing."""
_ALL = {"answers": ("answers", "results", "antworten", "réponses", "respuestas", "答案")}
_FIELDS = {
    "number": ("number", "no", "n", "id", "question_number", "question", "nummer", "numéro", "número", "编号"),
    "answers": ("answers", "answer", "value", "text", "antwort", "antworten", "réponse", "respuesta", "答案"),
}
_LINE = re.compile(
    r"^[\s>*_`#-]*(?:(?:question|answer|frage|antwort|réponse|pregunta|respuesta|q|问题|答案)\s*)?[#(\[]?"
    r"(?P<number>\d{1,2})[\])]?[*_`\s]*[.):：–-]\s*(?P<text>.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(
    r"\A(?:the\s+)?(?:answer|antwort|réponse|respuesta|答案)\s*(?:is|ist|lautet|est|es|是)?\s*[:：]\s*", re.IGNORECASE
)


class _Answer(BaseModel):
    number: int
    answers: list[str] = Field(json_schema_extra={"maxItems": MOST_ANSWERS})


class _Answers(BaseModel):
    reasoning: str = Field("", json_schema_extra={"maxLength": 600})
    answers: list[_Answer] = Field(json_schema_extra={"maxItems": 8})

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: object) -> dict[str, Any]:
        """The form, and what models make of it: a mapping from number to answer, a bare list, answers without numbers
        in the order of the questions. One answer alone may be the first of several lines: ``read_free`` reads those."""
        if plain_keys(raw).keys() & {"number"}:
            raise ValueError("the reply must have answers")
        pairs = _pairs(raw)
        answers = [{"number": number, "answers": _short(value)} for key, value in pairs if (number := number_of(key))]
        if pairs and not answers:
            raise ValueError("the reply must have answers, each with its number")
        return {"answers": answers}


class _Reply(RootModel[_Answers]):
    # A root model, so that ``reply.ask`` hands over what models make of the form; servers get the form itself.

    @classmethod
    def model_json_schema(cls, *args: Any, **more: Any) -> dict[str, Any]:
        return _Answers.model_json_schema(*args, **more)


def fill_in(
    asked: Mapping[int, tuple[str, SearchResult]], calls: Calls, within: Callable[[SearchResult, int], SearchResult]
) -> dict[int, tuple[str, ...]]:
    """Short answers by number, for those of ``asked`` (number to question and its evidence) that have any.

    A failure answers none: the step says so. Raises ``BudgetError`` alone. ``within(result, n)``: what of a result fits
    into one of ``n`` equal shares of the prompt.
    """
    mark = calls.mark()
    parts = "\n\n".join(_part(n, text, within(found, len(asked))) for n, (text, found) in asked.items())
    questions = "\n".join(f"{n}. {text}" for n, (text, _) in asked.items())
    messages = render(_PROMPT, most=str(MOST_ANSWERS), fence=fence_for(parts), parts=parts, questions=questions)
    try:
        reply, _ = ask(calls, messages, _Reply, stage="fill_in", tokens=_REPLY, free=read_free)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add("fill in", f"failed, so the words of the sub-questions are used: {error}", mark, prompt=_PROMPT)
        return {}
    given = {each.number: tuple(each.answers) for each in reversed(reply.root.answers) if each.answers}
    answers = {n: given[n] for n in asked if n in given}
    told = {n: " or ".join(answers.get(n, ("not answered, its words are used",))) for n in asked}
    calls.add("fill in", "; ".join(f"#{n}: {words}" for n, words in told.items()), mark, prompt=_PROMPT)
    return answers


def read_free(text: str) -> _Reply | None:
    """A reply in prose: a numbered line for each answer, or objects one a line; None where it has neither."""
    values = whole_objects(text)
    pairs = [pair for value in values for pair in _pairs(value)]
    pairs = pairs or [(line["number"], _LABEL.sub("", line["text"].strip(" *_`"))) for line in _LINE.finditer(text)]
    if not pairs:
        return None
    return _Reply.model_validate([{"number": number, "answers": words} for number, words in pairs])


def _part(number: int, text: str, shown: SearchResult) -> str:
    facts, passages = shown_facts(shown.facts), shown_passages(shown.passages)
    return f"Question {number}: {text}\n\nFacts:\n{facts}\n\nPassages:\n{passages}"


def _pairs(raw: object) -> Sequence[tuple[object, object]]:
    """Each answer of ``raw`` with its number, or with its place where it has none."""
    items = raw
    if isinstance(raw, dict) and not plain_keys(raw).keys() & {"number"}:
        try:
            items = fields(raw, _ALL)["answers"]
        except ValueError:
            items = next(iter(raw.values())) if len(raw) == 1 and isinstance(next(iter(raw.values())), list) else raw
    if isinstance(items, dict) and plain_keys(items).keys() & {"answer", "number"}:
        items = [items]
    if isinstance(items, dict):
        return [(key, value) for key, value in items.items() if number_of(key)] or [("", "")]
    return [_pair(item, place) for place, item in enumerate(items if isinstance(items, list) else [], 1)]


def _pair(item: object, place: int) -> tuple[object, object]:
    if not isinstance(item, dict):
        return place, item
    plain = plain_keys(item)
    if len(plain) == 1 and number_of(next(iter(plain))):
        return next(iter(plain.items()))
    found = {name: next((plain[key] for key in keys if key in plain), None) for name, keys in _FIELDS.items()}
    return number_of(found["number"]) or place, found["answers"]


def _short(value: object) -> list[str]:
    """The answers in ``value`` that name something, each once."""
    said = (text.strip(" \"'“”*_`") for text in texts_of(value))
    kept = [text for text in said if len(text) <= _LONGEST and not says_nothing(text)]
    return list(dict.fromkeys(kept))[:MOST_ANSWERS]
