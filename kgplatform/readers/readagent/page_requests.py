"""What the replies of ReadAgent ask for or choose: pages, all at once or one by one, and an option.

read_request([8, 3, 99], known=range(9), most=5)     # Request((8, 3), (("99", "no such page"),))
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic import create_model

from kgplatform.models.forms import Form, items, text
from kgplatform.readers.choices import letter

NO_PAGE = "no such page"
TWICE = "named twice"
TOO_MANY = "too many pages"


@dataclass(frozen=True, slots=True)
class Request:
    """The numbers that are ``taken``, in the order of the reply, and what else it names, with the reason.

    A reply that names no page asks for none, which is right where the gists are enough (section 4.5).
    """

    taken: tuple[int, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


class PagesReply(Form):
    """Pages to read again; none where the gists are enough."""

    reasoning: str = text(300)
    pages: list[int]


class NextReply(Form):
    """One page to read again, or STOP."""

    reasoning: str = text(300)
    page: int | Literal["STOP"]


class ChoiceReply(Form):
    """The letter of an option, and the numbers of the sentences that speak for it."""

    evidence: list[str] = items(12)
    choice: str


@cache
def choice_reply(count: int) -> type[ChoiceReply]:
    """``ChoiceReply`` among so many options."""
    letters: Any = Literal[tuple(map(letter, range(count)))]
    return create_model("ChoiceReply", __base__=ChoiceReply, choice=(letters, ...))


@cache
def pages_reply(most: int) -> type[PagesReply]:
    """``PagesReply`` of at most so many pages."""
    return create_model("PagesReply", __base__=PagesReply, pages=(list[int], items(most, ...)))


def read_request(numbers: Sequence[int], known: Collection[int], most: int) -> Request:
    """What ``numbers`` ask for: at most ``most`` of ``known``, each once."""
    taken: list[int] = []
    refused: list[tuple[str, str]] = []
    for number in numbers:
        if reason := _refusal(number, taken, known, most):
            refused.append((str(number), reason))
        else:
            taken.append(number)
    return Request(tuple(taken), tuple(refused))


def _refusal(number: int, taken: Collection[int], known: Collection[int], most: int) -> str:
    if number not in known:
        return NO_PAGE
    if number in taken:
        return TWICE
    return TOO_MANY if len(taken) >= most else ""
