"""How LongAgent's team works, and what each of its prompts may hold so that none leaves the window.

    options = Options(member_tokens=1024)
    sizes_of(options).instruction                # tokens of an instruction at most

A conflict sends the texts of two members in one prompt, so that a member's text is less than half of the window.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import get_args

from kgplatform.errors import InputError
from kgplatform.prompt import Messages, render
from kgplatform.readers.answering import AnswerMode
from kgplatform.readers.conflict import Way
from kgplatform.readers.envelope import reminder_tokens
from kgplatform.readers.experts import Task
from kgplatform.readers.marked import LARGEST_FENCE, check_window
from kgplatform.readers.window import Window, cost

MEMBER_PROMPT = "longagent_member"
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
_CHOICES = {"task": get_args(Task), "conflict": get_args(Way)}


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works.

    ``documents``: ids of those to read, by default all. ``members``: "all", so that everything is read, or
    "retrieved:K", a member for each of the K best passages of a search. ``member_tokens``: the most that a member
    reads; ``member_model``: the members' model, if it is not the leader's. ``rounds``: instructions at most.
    ``task``: what the team works at; "auto" has the leader choose. ``conflict``: of two members with different answers
    "each" reads both texts, or one of them "once"; "off" leaves both answers to the leader. ``seed`` chooses who
    speaks for those that agree. ``window_tokens``: no prompt is larger.
    """

    mode: AnswerMode = "reject"
    documents: tuple[str, ...] = ()
    members: str = "all"
    member_tokens: int = 1024
    member_model: str | None = None
    rounds: int = 5
    task: Task = "qa"
    conflict: Way = "each"
    seed: int = 0
    window_tokens: int = 4096

    def __post_init__(self) -> None:
        check_window(self.window_tokens)
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(f"There is no {name} {getattr(self, name)!r}. Choose one of {', '.join(choices)}.")
        if self.members != "all" and not _RETRIEVED.fullmatch(self.members):
            raise InputError(
                f"members is {self.members!r}. It must be all, or retrieved:K with K from 1, as retrieved:500."
            )
        if self.retrieved and self.documents:
            raise InputError(
                "Members of retrieved passages are chosen from all documents. Leave out --document or --members."
            )
        if self.rounds < 1:
            raise InputError("rounds must be at least 1.")
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
            f"A window of {options.window_tokens:,} tokens has no room for members' texts. Raise --window-tokens."
        )
    if not _LEAST_TEXT <= options.member_tokens <= largest:
        raise InputError(
            f"member_tokens must be from {_LEAST_TEXT} to {largest:,} with a window of {options.window_tokens:,} tokens"
            f"{', since a conflict puts the texts of two members into one prompt' if texts == 2 else ''}. "
            "Set --member-tokens within that, or raise --window-tokens."
        )
