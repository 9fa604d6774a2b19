"""Zero-shot filtering: what a model knows without any text measures its memory, not its retrieval, and is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kgplatform.evaluate.anonymity.questions import Item
from kgplatform.evaluate.anonymity.reversion import score_reversion
from kgplatform.llm import Chat
from kgplatform.prompt import render
from kgplatform.readers.answering import fence_for
from kgplatform.readers.choices import read_choice, shown
from kgplatform.side_by_side import side_by_side

POOL = 4
"""So many times the wanted questions are made, so that enough are left."""

_STAGE = "zero-shot"


def drop_known(items: Sequence[Item], wanted: int, chat: Chat, concurrency: int) -> tuple[list[Item], int]:
    """The first ``wanted`` items that the model does not answer right without texts, and how many it did.

    Asked are ``concurrency`` at a time, and no more once there are enough. Raises ``ModelError``.
    """
    kept: list[Item] = []
    dropped = 0
    for start in range(0, len(items), concurrency):
        batch = items[start : start + concurrency]
        known = side_by_side([partial(is_known, item, chat) for item in batch], concurrency)
        for item, right in zip(batch, known, strict=True):
            if len(kept) < wanted:
                dropped += right
                kept += [] if right else [item]
        if len(kept) >= wanted:
            break
    return kept, dropped


def is_known(item: Item, chat: Chat) -> bool:
    """Whether the model answers right without any text. Raises ``ModelError``."""
    choices = f"\n\nChoose one, and answer with its letter:\n{shown(item.choices)}" if item.choices else ""
    question = item.question + choices
    messages = render("anonymity_zero_shot", question=question, fence=fence_for(question))
    text = chat.send(messages, stage=_STAGE).text
    if item.choices:
        number = read_choice(text, item.choices)
        return number is not None and item.choices[number] == item.answer
    return score_reversion(text, item.placeholders).whole
