"""LongAgent's replies: the paper's type and content, with the numbers of the sentences that say so.

said, _ = ask(calls, messages, Decided, stage="leader", tokens=1024)
said.type, said.content                  # 'answer', 'In Kingston [2.3]'
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import field_validator, model_validator

from kgplatform.models.forms import Form, items, text
from kgplatform.readers.answer import AnswerReply
from kgplatform.readers.grounding import without_numbers


class Chosen(Form):
    """The kind of members, by its name."""

    content: str


class Instructed(Form):
    """The first instruction. ``collect``: the members' replies are to be put together, since each has a part of a list
    or of a count."""

    reasoning: str = text(300)
    content: str
    collect: bool = False


class Decided(Form):
    """What follows from a round. Raises ``ValueError`` where there is no content, unless an answer is none.

    ``sufficient``: of an answer, whether the replies give it.
    """

    reasoning: str = text(300)
    type: Literal["answer", "instruction", "conflict"]
    content: str = text(6000)
    collect: bool = False
    sufficient: bool = True

    @field_validator("type", mode="before")
    @classmethod
    def _in_the_papers_words(cls, value: object) -> object:
        said = str(value).replace(" ", "_").casefold()
        return "instruction" if said in ("query", "new_state") else said

    @field_validator("content", mode="before")
    @classmethod
    def _of_a_list(cls, value: object) -> object:
        return ", ".join(map(str, value)) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _says_something(self) -> Decided:
        if not without_numbers(self.content) and (self.type != "answer" or self.sufficient):
            raise ValueError('write the "content", or set "sufficient" to false')
        return self

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those in the content, which name members where the type is a conflict."""
        return tuple(map(int, re.findall(r"\d+", self.content)))

    @property
    def reply(self) -> AnswerReply:
        """An answer as every reader reads it."""
        return AnswerReply(answer=self.content, sufficient=self.sufficient)


class Settled(Decided):
    """What follows from a round whose conflicts were resolved."""

    type: Literal["answer", "instruction"]


class Responded(Form):
    """What a member says. ``mentioned``: whether its part has what is asked for; ``sentences``: the numbers of those
    that say so."""

    reasoning: str = text(300)
    mentioned: bool = True
    content: str = text(1500)
    sentences: list[str] = items(12)

    @property
    def answer(self) -> str:
        """The content; empty where its part does not mention it."""
        return self.content.strip() if self.mentioned else ""


class Summed(Form):
    """The sum of some replies."""

    content: str = text(4000)


Relation = Literal["same", "complementary", "conflicting"]


class Group(Form):
    """Replies by number, and how they stand to each other."""

    members: list[int]
    relation: Relation


class Grouped(Form):
    """How replies stand to each other; one that is in no group stands by itself."""

    reasoning: str = text(300)
    groups: list[Group] = items(30)
