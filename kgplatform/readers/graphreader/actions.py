"""What a model may do on its walk over the graph, and the replies that say so (GraphReader, figures 9 to 11).

ask_step(calls, messages, "facts", tokens=900)    # Done('read_chunk', 'It was built in 1904 [2.3].', (2, 7))
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import WithJsonSchema

from kgplatform.models.chat import Chat, Wanted
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages
from kgplatform.text import normalise_name
from kgplatform.text.numbered import numbers_in

Stage = Literal["facts", "chunk", "neighbours"]

FALLBACK: dict[Stage, str] = {"facts": "stop_and_read_neighbor", "chunk": "search_more", "neighbours": "termination"}
"""What is done where a model's reply cannot be used, nor the next one."""

_THOUGHTS = 300
"""Characters."""
_Numbers = Annotated[list[str], WithJsonSchema({"type": "array", "items": {"type": "integer"}, "maxItems": 20})]


class _Facts(Form):
    reasoning: str = text(_THOUGHTS)
    notebook: str = ""
    action: Literal["read_chunk", "stop_and_read_neighbor"]
    chunks: _Numbers = []


class _Chunk(Form):
    reasoning: str = text(_THOUGHTS)
    notebook: str = ""
    action: Literal["search_more", "read_previous_chunk", "read_subsequent_chunk", "termination"]


class _Neighbours(Form):
    reasoning: str = text(_THOUGHTS)
    action: Literal["read_neighbor_node", "termination"]
    node: str = text(200)


FORMS: dict[Stage, type[Form]] = {"facts": _Facts, "chunk": _Chunk, "neighbours": _Neighbours}


@dataclass(frozen=True, slots=True)
class Done:
    """A function call: the ``action``, the new ``notebook``, empty where it stays, and what the action is about:
    the numbers of ``passages``, or a ``node``."""

    action: str
    notebook: str = ""
    passages: tuple[int, ...] = ()
    node: str = ""


def ask_step(chat: Chat, messages: Messages, stage: Stage, *, tokens: int) -> Done:
    """What the model does, in a reply of at most ``tokens``. Raises ``ReplyError`` where two replies say nothing."""
    said = ask(chat, messages, FORMS[stage], stage=stage, tokens=tokens)[0].model_dump()
    passages = dict.fromkeys(int(number.partition(".")[0]) for number in numbers_in(said.get("chunks")))
    return Done(said["action"], said.get("notebook", "").strip(), tuple(passages), said.get("node", ""))


def wanted_step(stage: Stage, tokens: int) -> Wanted:
    """How ``ask_step`` wants the reply, to have the chat forget it."""
    return Wanted(FORMS[stage], tokens)


def same_name(words: str, names: Collection[str]) -> str | None:
    """``words`` if they are one of ``names``, else the first of them that is the same name normalised."""
    if words in names:
        return words
    wanted = normalise_name(words)
    return next((name for name in names if normalise_name(name) == wanted), None) if wanted else None
