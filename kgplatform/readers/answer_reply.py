"""The reply to the prompt that asks for an answer: read field by field, so that a bad field loses only itself."""

from __future__ import annotations

from typing import ClassVar

from pydantic import model_validator

from kgplatform.models.forms import Form, items, text
from kgplatform.readers.marks import label_of, squared


class Cited(Form):
    """``passage``: its label, "2" or "F1"; empty where the words alone are given."""

    passage: str = ""
    quote: str = text(300)


class AnswerReply(Form):
    """Its fields stand in the order in which they are written: thoughts before decisions."""

    PROMPT: ClassVar[str] = "readers/answer_old"

    reasoning: str = text(800)
    answer: str = text(4000)
    citations: list[Cited] = items(12)
    sufficient: bool = True

    @model_validator(mode="after")
    def _has_labels(self) -> AnswerReply:
        self.citations = [each.model_copy(update={"passage": label_of(each.passage)}) for each in self.citations]
        self.answer = squared(self.answer, {each.passage for each in self.citations})
        return self
