"""What a model may do on its walk over the graph, and the reply that says so (GraphReader, figures 9 to 11).

ask_step(calls, messages, "facts", tokens=900)    # Read(notebook='…', function='read_chunk', chunks=(1006,))
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from kgplatform.models.chat import Chat, Wanted
from kgplatform.models.forms import Form, items, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages
from kgplatform.text import normalise_name

Stage = Literal["facts", "chunk", "neighbours"]

FALLBACK: dict[Stage, str] = {"facts": "stop_and_read_neighbor", "chunk": "search_more", "neighbours": "termination"}
"""What is done where a model's reply cannot be used, nor the next one."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a reply says. ``function`` is one of its stage, or empty; then ``fault`` says why.

    ``notebook``: empty where it stays as it is. ``chunks``: numbers of passages; ``node``: a name.
    """

    notebook: str
    function: str
    chunks: tuple[int, ...] = ()
    node: str = ""
    fault: str = ""


class _Facts(Form):
    reasoning: str = text(800)
    notebook: str = ""
    action: Literal["read_chunk", "stop_and_read_neighbor"]
    chunks: list[str] = items(20)


class _Chunk(Form):
    reasoning: str = text(800)
    notebook: str = ""
    action: Literal["search_more", "read_previous_chunk", "read_subsequent_chunk", "termination"]


class _Neighbours(Form):
    reasoning: str = text(800)
    action: Literal["read_neighbor_node", "termination"]
    node: str = text(200)


FORMS: dict[Stage, type[_Facts | _Chunk | _Neighbours]] = {
    "facts": _Facts,
    "chunk": _Chunk,
    "neighbours": _Neighbours,
}


def ask_step(chat: Chat, messages: Messages, stage: Stage, *, tokens: int) -> Read:
    """What the model does, in a reply of at most ``tokens``. Raises ``ReplyError`` where two replies say nothing."""
    form, _ = ask(chat, messages, FORMS[stage], stage=stage, tokens=tokens)
    said = form.model_dump()
    return Read(said.get("notebook", ""), said["action"], _numbers(said.get("chunks", ())), said.get("node", ""))


def wanted_step(stage: Stage, tokens: int) -> Wanted:
    """How ``ask_step`` wants the reply, to have the chat forget it."""
    return Wanted(FORMS[stage], tokens)


def same_name(words: str, names: Collection[str]) -> str | None:
    """``words`` if they are one of ``names``, else the first of them that is the same name normalised."""
    if words in names:
        return words
    wanted = normalise_name(words)
    return next((name for name in names if normalise_name(name) == wanted), None) if wanted else None


def _numbers(chunks: Collection[str]) -> tuple[int, ...]:
    """The numbers of ids, each once: ``ID-1006``, or the number alone."""
    found = (re.search(r"\d{1,12}", chunk) for chunk in chunks)
    return tuple(dict.fromkeys(int(each[0]) for each in found if each))
