"""The options of the reader ``longagent``, how they divide the window, and a member's prompt, which must fit it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from kgplatform.errors import InputError
from kgplatform.prompt import Messages, render
from kgplatform.readers.answer import LARGEST_FENCE
from kgplatform.readers.longagent.conflict import Way
from kgplatform.readers.longagent.envelope import reminder_tokens
from kgplatform.readers.reader import AnswerMode, check, documents_option, mode_option, option, window_option
from kgplatform.readers.window import Window, cost

TaskKind = Literal["qa", "kv", "number", "passkey", "math", "auto"]

MEMBER_PROMPT = "longagent/member"
MEMBER_TYPES = ("response",)

_LEAST_TEXT = 50
"""Tokens of a member's text, at least."""

_INSTRUCTION_PART = 8
_REPLY_PART = 7
_SHOWN_PART = 16
_LONGEST_REPLY = 512
"""Tokens that a reply is left room for, as in the paper's experiments; less in a small window."""

_JOINT = 2
_RETRIEVED = re.compile(r"retrieved:([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works. ``documents``: ids of those to read, by default all. ``seed`` chooses who speaks for those
    that agree."""

    mode: AnswerMode = mode_option()
    documents: tuple[str, ...] = documents_option()
    members: str = option(
        "all",
        "who sits at the table: all, a member for each part of the text, or retrieved:K, a member for each of the K "
        "best passages of a search",
        example="retrieved:500",
    )
    member_tokens: int = option(
        1024, "the most tokens of a member's text; two of them must fit into the window", least=_LEAST_TEXT
    )
    member_model: str | None = option(
        None, "another model for the members, at the same server; by default the leader's", example="gpt-4.1-nano"
    )
    rounds: int = option(5, "the most rounds of questions", least=1)
    task: TaskKind = option("qa", "what the team works at; auto lets the leader choose")
    conflict: Way = option(
        "each",
        "two members that differ both read both texts (each), one of them does (once), or the leader sees all answers "
        "(off)",
    )
    seed: int = option(0, "draws the member that speaks for those that agree")
    window_tokens: int = window_option()

    def __post_init__(self) -> None:
        check(self)
        if self.members != "all" and not _RETRIEVED.fullmatch(self.members):
            raise InputError(
                f"members={self.members} cannot be used: it must be all, or retrieved:K with K from 1, as "
                "retrieved:500.",
                "members",
            )
        if self.retrieved and self.documents:
            raise InputError(
                "Who is retrieved is chosen from all documents: leave out documents, or members.",
                "documents",
                "members",
            )
        _check_text(self)

    @property
    def retrieved(self) -> int:
        """How many passages are retrieved; 0 where everything is read."""
        found = _RETRIEVED.fullmatch(self.members)
        return int(found[1]) if found else 0


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of a prompt in all, of an instruction, of a reply, and of a member's answer as the leader is shown it."""

    prompt: int
    instruction: int
    reply: int
    shown: int


def sizes_of(options: Options) -> Sizes:
    """The window divided."""
    limit = Window(options.window_tokens).limit
    reply = min(_LONGEST_REPLY, limit // _REPLY_PART)
    return Sizes(limit - reply, limit // _INSTRUCTION_PART, reply, limit // _SHOWN_PART)


def member_messages(instruction: str, passage: str, fence: str) -> Messages:
    """Asks a member for what its text says."""
    return render(MEMBER_PROMPT, instruction=instruction, passage=passage, fence=fence)


def _check_text(options: Options) -> None:
    """Raise ``InputError`` where the texts of two members do not fit into one prompt."""
    sizes = sizes_of(options)
    spare = sizes.prompt - cost(member_messages("", "", LARGEST_FENCE)) - reminder_tokens(MEMBER_TYPES)
    texts = 2 if options.conflict != "off" else 1
    largest = (spare - sizes.instruction - _JOINT) // texts
    if largest < _LEAST_TEXT:
        raise InputError(
            f"A window of {options.window_tokens:,} tokens has no room for members' texts. Raise window_tokens.",
            "window_tokens",
        )
    if not _LEAST_TEXT <= options.member_tokens <= largest:
        raise InputError(
            f"member_tokens must be from {_LEAST_TEXT} to {largest:,} with a window of {options.window_tokens:,} tokens"
            f"{', since a conflict puts the texts of two members into one prompt' if texts == 2 else ''}. "
            "Stay within that, or raise window_tokens.",
            "member_tokens",
            "window_tokens",
        )
