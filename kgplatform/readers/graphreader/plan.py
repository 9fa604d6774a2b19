"""The rational plan (GraphReader, section 3.3.1, figure 7): the steps to an answer, and what has to be found for it."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, field_validator

from kgplatform.models.chat import Chat
from kgplatform.models.forms import Form, named
from kgplatform.models.labels import labelled
from kgplatform.models.lenient import first_of, items_of, words_of
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages
from kgplatform.text import normalise_name

_NONE = frozenset({"", "none", "n/a", "no plan", "null", "keiner", "aucun", "ninguno", "无", "なし"})
_PLACEHOLDER = re.compile(r"<[^<>]*>|\.\.\.|…")


def _lines(value: object) -> list[str]:
    """A list of short texts, whatever it was written as: a text, objects with a number and a text, a list."""
    items = [item for item in value.values() if isinstance(item, str)] if isinstance(value, dict) else items_of(value)
    told = [first_of(item, "description text step action task") or item for item in items]
    lines = [words_of(each, "\n").strip() for each in told]
    return [re.sub(r"^(?:\d+[.)]|[-*•])\s+", "", line) for line in lines if line and not _PLACEHOLDER.fullmatch(line)]


class _Plan(Form):
    steps: Annotated[list[str], BeforeValidator(_lines)] = named(
        "steps plan rational_plan step schritte étapes pasos 步骤 計画 计划", items=8
    )
    key_information: Annotated[list[str], BeforeValidator(_lines)] = named(
        "key_information information key_info schlüsselinformationen 关键信息 重要な情報", [], items=12
    )

    @field_validator("steps")
    @classmethod
    def _has_steps(cls, steps: list[str]) -> list[str]:
        if not steps:
            raise ValueError("it has no steps")
        return steps

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
    return _Plan(steps=[words])
