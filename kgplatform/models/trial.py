"""A call of the language model that only shows whether it answers: no retries, nothing from the cache.

trial = try_model(chat, settings, [ledger], stop)
trial.reply                # 'ready'
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from kgplatform.errors import SettingError
from kgplatform.models.chat import Chat, Ledger, Wanted, within
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.prompt import render
from kgplatform.records import Usage
from kgplatform.settings import Settings
from kgplatform.text import clipped, tidy
from kgplatform.work.stopping import Stop

_STAGE = "trial"
_TOKENS = 50
"""Of the reply, which is one word."""
_SHOWN = 200
"""Characters of the reply that are shown."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What the model ``model`` replied, shortened, after how many seconds, and what that cost."""

    model: str
    reply: str
    seconds: float
    usage: Usage


def try_model(chat: Chat | None, settings: Settings, ledgers: Sequence[Ledger], stop: Stop) -> Trial:
    """Call ``chat`` once; all ``ledgers`` count it. Raises ``SettingError`` for None, and what the call raises."""
    if chat is None:
        raise SettingError("No language model is set. Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.")
    if not isinstance(chat, OpenAIChat):
        return _tried(chat)
    first, *others = ledgers
    fresh = OpenAIChat(settings.model_copy(update={"model_retries": 0}), first, None)
    try:
        for ledger in others:
            fresh = within(fresh, meter=ledger)
        return _tried(within(fresh, stop=stop))
    finally:
        fresh.close()


def _tried(chat: Chat) -> Trial:
    started = time.perf_counter()
    reply = chat.send(render("models/trial"), stage=_STAGE, wanted=Wanted(tokens=_TOKENS))
    return Trial(chat.model, clipped(tidy(reply.text), _SHOWN), round(time.perf_counter() - started, 3), reply.usage)
