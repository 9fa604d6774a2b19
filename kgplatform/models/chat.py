"""Language models: one small interface, what is asked of one and what it replies, and one ledger for what it costs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar, cast, runtime_checkable

from pydantic import BaseModel, ConfigDict

from kgplatform.concurrency.threads import Stop
from kgplatform.errors import BudgetError
from kgplatform.prompt import Messages
from kgplatform.records import Usage

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, less its thoughts.

    ``cut_off``: it stopped at its length limit, not at the end of what it had to say. ``worth``: what it cost when it
    was paid for, if it cost nothing now. ``lack``: what came in place of a text, where that is known. ``full``: it was
    cut off, and no more room can be had: user, server or window bound it.
    """

    text: str
    usage: Usage
    cut_off: bool
    worth: Usage | None = field(default=None, compare=False)
    lack: str = field(default="", compare=False)
    full: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a reply is wanted.

    ``form``: the pydantic model that it is read as, as JSON; None for free text. ``tokens``: the most that it may have,
    thoughts apart; None where nothing is known of it. ``again``: the same was asked before, to no use.
    ``on_text`` is called with the text so far, while it is written, and at a new try with an empty one.
    """

    form: type[BaseModel] | None = None
    tokens: int | None = None
    again: bool = False
    on_text: Callable[[str], None] | None = field(default=None, compare=False)


FREE_TEXT = Wanted()


class AnyObject(BaseModel):
    """The form of a JSON object of which nothing is known."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")


ANY_OBJECT = Wanted(AnyObject)


class Chat(Protocol):
    """Something that answers messages."""

    model: str

    def send(self, messages: Messages, *, stage: str, wanted: Wanted = FREE_TEXT) -> Reply:
        """The reply to ``messages``. Raises ``ModelError``; ``BudgetError`` if the budget is used up."""

    def forget(self, messages: Messages, *, wanted: Wanted = FREE_TEXT) -> None:
        """Keep no answer to ``messages``: nobody could use it, and the next ``send`` is to ask the model again."""


@runtime_checkable
class ManyModels(Chat, Protocol):
    """A ``Chat`` of a server that has other models too."""

    def with_model(self, model: str) -> Chat:
        """Another model of the same server, on the same connections, cache and budget."""


class Ledger:
    """Tokens spent per stage, over all threads, and the budget: ``budget`` in tokens of input and output together."""

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        self._stages: dict[str, Usage] = {}
        self._worth: dict[str, Usage] = {}
        self._lock = threading.Lock()

    def add(self, stage: str, usage: Usage, worth: Usage | None = None) -> None:
        """Count ``usage``, also beyond the budget: what was running when it ran out is paid for. ``worth``: what it
        would have been without a cache, if it came from one."""
        with self._lock:
            self._stages[stage] = self._stages.get(stage, Usage()) + usage
            self._worth[stage] = self._worth.get(stage, Usage()) + (worth or usage)

    def check(self) -> None:
        """Raise ``BudgetError`` if nothing more may be sent."""
        total = self.total
        spent = total.input_tokens + total.output_tokens
        if self.budget is not None and spent >= self.budget:
            raise BudgetError(
                f"The budget of {self.budget:,} tokens is used up ({spent:,} spent); what was done is kept. "
                "Run the same command again with a larger token_budget to continue from here."
            )

    def by_stage(self) -> dict[str, Usage]:
        """A copy, in the order of the stages' names."""
        with self._lock:
            return dict(sorted(self._stages.items()))

    def worth_by_stage(self) -> dict[str, Usage]:
        """Like ``by_stage``, as if every call had been paid for: the same whatever a cache held."""
        with self._lock:
            return dict(sorted(self._worth.items()))

    @property
    def total(self) -> Usage:
        """The sum over all stages."""
        return sum(self.by_stage().values(), Usage())


@runtime_checkable
class Metered(Protocol):
    """A model, for language or for embeddings, that can work for a run of its own."""

    def within(self, *, meter: Ledger | None = None, stop: Stop | None = None) -> Any:
        """The same model, on the same connections and cache, for a piece of work. ``meter`` counts what that spends,
        beside the ledgers that count it already; ``stop`` ends its waits, in place of the one before."""


def within(model: M, *, meter: Ledger | None = None, stop: Stop | None = None) -> M:
    """``model`` for a piece of work (``Metered.within``); the model itself, uncounted, if it does not know of such."""
    return cast(M, model.within(meter=meter, stop=stop)) if isinstance(model, Metered) else model


def metered(chat: Chat) -> tuple[Chat, Ledger]:
    """``chat`` for a part of its work, and the ledger that counts what this part spends, beside the others."""
    ledger = Ledger()
    return within(chat, meter=ledger), ledger
