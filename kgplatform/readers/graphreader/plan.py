"""The rational plan (GraphReader, section 3.3.1, figure 7): the steps to an answer, and what has to be found for it."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, Field, model_validator

from kgplatform.models.chat import Chat
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages
from kgplatform.readers.graphreader.labels import first_of, in_words, labelled
from kgplatform.text import normalise_name

_STEP_KEYS = ("steps", "plan", "rationalplan", "step", "schritte", "étapes", "pasos", "步骤", "計画", "计划")
_INFORMATION_KEYS = ("keyinformation", "information", "keyinfo", "schlüsselinformationen", "关键信息", "重要な情報")
_NONE = frozenset({"", "none", "n/a", "no plan", "null", "keiner", "aucun", "ninguno", "无", "なし"})
_PLACEHOLDER = re.compile(r"<[^<>]*>|\.\.\.|…")


class _Plan(BaseModel):
    steps: list[str] = Field(json_schema_extra={"maxItems": 8})
    key_information: list[str] = Field(json_schema_extra={"maxItems": 12})

    @model_validator(mode="before")
    @classmethod
    def _put_into_form(cls, value: Any) -> Any:
        steps = _lines(first_of(value, _STEP_KEYS))
        if not steps:
            raise ValueError("it has no steps")
        return {"steps": steps, "key_information": _lines(first_of(value, _INFORMATION_KEYS))}

    @property
    def text(self) -> str:
        steps = (
            [f"{number}. {step}" for number, step in enumerate(self.steps, 1)] if len(self.steps) > 1 else self.steps
        )
        needed = [f"Key information: {'; '.join(self.key_information)}"] if self.key_information else []
        return "\n".join([*steps, *needed])


def ask_plan(chat: Chat, messages: Messages, *, tokens: int) -> str:
    """The plan, in a reply of at most ``tokens``. Raises ``ReplyError`` where two replies have none."""
    plan, _ = ask(chat, messages, _Plan, stage="plan", tokens=tokens, free=_free)
    return plan.text


def _free(text: str) -> _Plan | None:
    """All of the text is the plan, or what stands under its label."""
    words = labelled(text, "plan").get("plan") or text.strip().strip("*#` \n")
    if normalise_name(words).strip("().[]\"'") in _NONE or _PLACEHOLDER.fullmatch(words) or words.startswith("{"):
        return None
    return _Plan(steps=[words], key_information=[])


def _lines(value: object) -> list[str]:
    """A list of short texts, whatever it was written as: a text, objects with a number and a text, a list."""
    if isinstance(value, dict):
        items: list[object] = [item for item in value.values() if isinstance(item, str)]
    else:
        items = value if isinstance(value, list) else [value]
    told = [first_of(item, ("description", "text", "step", "action", "task")) or item for item in items]
    lines = [in_words(each).strip() for each in told]
    return [re.sub(r"^(?:\d+[.)]|[-*•])\s+", "", line) for line in lines if line and not _PLACEHOLDER.fullmatch(line)]
