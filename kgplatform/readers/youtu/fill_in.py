"""Short answers to sub-questions, to be put into those that wait for them.

fill_in({1: ("Which rivers meet at Ilsen?", found)}, calls, room)      # {1: ('Aldbeck', 'Wend')}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, Field, model_validator

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.forms import Form, Words, named, thinking
from kgplatform.models.json_text import values_in
from kgplatform.models.lenient import first_of, items_of, numbers_of, opened, plain_keys, words_of
from kgplatform.models.reply import ask
from kgplatform.prompt import render
from kgplatform.readers.answer_old import fence_for, shown_facts, shown_passages
from kgplatform.readers.refusals import says_nothing
from kgplatform.readers.run import Calls
from kgplatform.readers.youtu.sub_questions import MOST_ANSWERS
from kgplatform.records import SearchResult
from kgplatform.text import tidy

_PROMPT = "youtu/fill_in"
_REPLY = 600
"""Tokens of a reply at most."""
_LONGEST = 200
"""Characters: what is longer is not a name, a date, a number or a thing."""
_NUMBER = "number no n id question_number question nummer numéro número 编号"
_ANSWERS = "answers answer value text antwort antworten réponse respuesta 答案"
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


class _Answers(Form):
    whole: ClassVar[bool] = True
    reasoning: Words = thinking()
    answers: list[_Answer] = named("answers results antworten réponses respuestas 答案", items=8)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: object) -> dict[str, Any]:
        """The form, and what models make of it: a mapping from number to answer, a bare list, answers without numbers
        in the order of the questions. One answer alone may be the first of several lines: ``read_free`` reads those."""
        if "number" in plain_keys(raw):
            raise ValueError("the reply must have answers")
        pairs = _pairs(raw)
        answers = [{"number": number, "answers": _short(value)} for key, value in pairs if (number := _first(key))]
        if pairs and not answers:
            raise ValueError("the reply must have answers, each with its number")
        return {"answers": answers}


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
        reply, _ = ask(calls, messages, _Answers, stage="fill_in", tokens=_REPLY, free=read_free)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add("fill in", f"failed, so the words of the sub-questions are used: {error}", mark, prompt=_PROMPT)
        return {}
    given = {each.number: tuple(each.answers) for each in reversed(reply.answers) if each.answers}
    answers = {n: given[n] for n in asked if n in given}
    told = {n: " or ".join(answers.get(n, ("not answered, its words are used",))) for n in asked}
    calls.add("fill in", "; ".join(f"#{n}: {words}" for n, words in told.items()), mark, prompt=_PROMPT)
    return answers


def read_free(text: str) -> _Answers | None:
    """A reply in prose: a numbered line for each answer, or objects one a line; None where it has neither."""
    pairs = [pair for value in values_in(text) if isinstance(value, dict) for pair in _pairs(value)]
    pairs = pairs or [(line["number"], _LABEL.sub("", line["text"].strip(" *_`"))) for line in _LINE.finditer(text)]
    if not pairs:
        return None
    return _Answers.model_validate([{"number": number, "answers": words} for number, words in pairs])


def _part(number: int, text: str, shown: SearchResult) -> str:
    facts, passages = shown_facts(shown.facts), shown_passages(shown.passages)
    return f"Question {number}: {text}\n\nFacts:\n{facts}\n\nPassages:\n{passages}"


def _pairs(raw: object) -> Sequence[tuple[object, object]]:
    """Each answer of ``raw`` with its number, or with its place where it has none."""
    if isinstance(raw, list) and len(raw) == 1 and not plain_keys(raw[0]).keys() & {"number", "answer"}:
        raw = raw[0] if isinstance(raw[0], dict) else raw
    items = raw
    if isinstance(raw, dict) and "number" not in plain_keys(raw):
        alone = next(iter(raw.values())) if len(raw) == 1 else None
        try:
            items = opened(raw, _Answers).get("answers", raw)
        except ValueError:
            items = alone if isinstance(alone, list) else raw
    if plain_keys(items).keys() & {"answer", "number"}:
        items = [items]
    if isinstance(items, dict):
        return [(key, value) for key, value in items.items() if _first(key)] or [("", "")]
    return [_pair(item, place) for place, item in enumerate(items if isinstance(items, list) else [], 1)]


def _pair(item: object, place: int) -> tuple[object, object]:
    if not isinstance(item, dict):
        return place, item
    if len(item) == 1 and _first(next(iter(item))):
        return next(iter(item.items()))
    return _first(first_of(item, _NUMBER)) or place, first_of(item, _ANSWERS)


def _first(value: object) -> int:
    """The number that ``value`` names first; 0 where it names none."""
    return next(iter(numbers_of(value)), 0)


def _short(value: object) -> list[str]:
    """The answers in ``value`` that name something, each once."""
    said = (tidy(words_of(item)).strip(" \"'“”*_`") for item in items_of(value) if not isinstance(item, bool))
    kept = [text for text in said if len(text) <= _LONGEST and not says_nothing(text)]
    return list(dict.fromkeys(kept))[:MOST_ANSWERS]
