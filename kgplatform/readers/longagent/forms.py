"""LongAgent's replies: one JSON object with a type and a content, as in the paper, and room to reason before it.

said, repairs = ask(calls, messages, Decided, stage="leader", tokens=1024)
said.type, said.content                  # 'answer', 'Kingston'
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, model_validator

from kgplatform.models.forms import Form, items, text

NO_MENTION = "No Mention"


class Said(Form):
    """What a reply says: the paper's envelope. An answer without content says that there is none."""

    reasoning: str = text(600)
    type: str
    content: str = text(2000)

    @model_validator(mode="after")
    def _has_content(self) -> Said:
        if not self.content and self.type in ("instruction", "member"):
            raise ValueError("its content is empty")
        if not self.content and self.type == "answer":
            self.content = NO_MENTION
        return self

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those in the content, which name members where the type is a conflict."""
        return tuple(map(int, re.findall(r"\d{1,7}", self.content)))


class Chosen(Said):
    """A kind of members."""

    type: Literal["member"] = "member"


class Instructed(Said):
    """The first instruction. ``collect``: the members' replies are to be put together, since each has a part of a list
    or of a count."""

    type: Literal["instruction"] = "instruction"
    collect: bool = False


class Decided(Said):
    """What follows from a round. ``collect`` is as for the first instruction."""

    type: Literal["answer", "instruction", "conflict"]
    collect: bool = False


class Settled(Said):
    """What follows from a round whose conflicts were resolved. ``collect`` is as for the first instruction."""

    type: Literal["answer", "instruction"]
    collect: bool = False


class Ended(Said):
    """The answer after the last round."""

    type: Literal["answer"] = "answer"


class Responded(Said):
    """What a member says, or the sum of some replies. ``quote``: the words of its part that say so."""

    type: Literal["response"] = "response"
    quote: str = text(400)


Relation = Literal["same", "complementary", "conflicting"]


class Group(Form):
    """Replies by number, two or more, and how they stand to each other."""

    members: list[int] = Field(min_length=2)
    relation: Relation


class Grouped(Form):
    """How replies stand to each other; one that is in no group stands by itself."""

    reasoning: str = text(600)
    groups: list[Group] = items(30)
