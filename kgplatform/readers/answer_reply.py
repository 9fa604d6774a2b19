"""The reply to the prompt that asks for an answer: read field by field, so that a bad field loses only itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from kgplatform.models.forms import ANSWER, Form, Words, is_json, is_placeholder, named, thinking
from kgplatform.models.labels import labelled
from kgplatform.models.lenient import first_of, plain_keys, truth_of, words_of
from kgplatform.readers.marks import label_of, squared

_BROKEN = re.compile(r"(?:```\w*\s*)?[{\[]\s*[\"'}\]]")


def _cited_in(value: Any) -> Iterator[dict[str, str]]:
    """What a field of citations says, whatever its form: a list or one, numbers, marks, objects, bare quotes."""
    if isinstance(value, list):
        for each in value:
            yield from _cited_in(each)
    elif isinstance(value, dict):
        label = label_of(first_of(value, "passage fact source number id index"))
        quote = words_of(first_of(value, "quote text words content"))
        if label or quote:
            yield {"passage": f"F{label}" if "fact" in plain_keys(value) and label.isdigit() else label, "quote": quote}
        else:
            yield from ({"passage": label_of(key), "quote": words_of(each)} for key, each in value.items())
    elif isinstance(value, str) and not re.fullmatch(r"\W*(?:passage|fact|F)?\W*\d+\W*", value, re.IGNORECASE):
        yield {"passage": "", "quote": value.strip()}
    elif value is not None and label_of(value):
        yield {"passage": label_of(value), "quote": ""}


class Cited(BaseModel):
    """``passage``: its label, "2" or "F1"; empty where the words alone are given."""

    passage: str = ""
    quote: str = Field("", json_schema_extra={"maxLength": 300})


class AnswerReply(Form):
    """Its fields stand in the order in which they are written: thoughts before decisions."""

    PROMPT: ClassVar[str] = "readers/answer_old"
    COUNTS: ClassVar[str] = "answer"
    enough: ClassVar[bool] = True

    reasoning: Words = thinking(800)
    answer: Words = named(ANSWER, "", most=4000)
    citations: Annotated[list[Cited], BeforeValidator(lambda value: list(_cited_in(value)))] = named(
        "citations citation sources quotes", [], items=12
    )
    sufficient: Annotated[bool, BeforeValidator(lambda value: truth_of(value) is not False)] = True

    @model_validator(mode="after")
    def _has_words(self) -> AnswerReply:
        self.answer = squared(self.answer, {each.passage for each in self.citations})
        if is_placeholder(re.sub(r"\[\w+\]", "", self.answer)):
            raise ValueError("the answer stands for words, and has none; answer the question that is asked")
        return self


def read_free(text: str) -> AnswerReply | None:
    """An answer in prose with its marks: what stands after the last "Answer:", if one does. None for broken JSON."""
    said = labelled(text, "answer").get("answer") or text
    said = said.strip().strip("*").strip()
    if not any(letter.isalnum() for letter in said) or _BROKEN.match(said) or is_json(text, ANSWER.split()):
        return None
    return AnswerReply.of(answer=said)
