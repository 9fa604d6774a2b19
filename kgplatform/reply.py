"""Structured answers skeleton."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

from kgplatform.llm import Chat
from kgplatform.prompt import Messages

M = TypeVar("M", bound=BaseModel)


def ask(chat: Chat, messages: Messages, shape: type[M], *, stage: str, json_mode: bool = True) -> tuple[M, int]:
    """Skeleton."""
    return parse_reply(chat.send(messages, stage=stage, json_mode=json_mode).text, shape), 0


def parse_reply(text: str, shape: type[M]) -> M:
    """Skeleton."""
    import json_repair

    return shape.model_validate(json_repair.loads(text))
