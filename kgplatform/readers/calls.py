"""The calls of one reader run: their number bounded, and what each step of the trace sent, got and cost."""

from __future__ import annotations

import time
from dataclasses import dataclass

from kgplatform.errors import ReplyError
from kgplatform.llm import Chat, Ledger, Reply
from kgplatform.prompt import Messages
from kgplatform.records import QueryRun, SearchResult, Step, Usage
from kgplatform.retrieve.evidence import Retrieved

_REPEATED = "This question has had its {} calls to the language model, some of them to ask again for a broken answer."


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment in a run: a step of the trace covers what came since."""

    at: float
    spent: Usage
    calls: int


class Calls:
    """A ``Chat`` that counts, keeps what the model wrote, and sends no more than ``limit`` times (None: no limit).

    Used by one thread; the steps are gathered in ``steps`` in the order in which they were made.
    """

    def __init__(self, chat: Chat, ledger: Ledger, limit: int | None = None) -> None:
        self.model = chat.model
        self.limit = limit
        self.made = 0
        self.steps: list[Step] = []
        self._chat = chat
        self._ledger = ledger
        self._start = ledger.total
        self._last = ""

    @property
    def left(self) -> int:
        """How many calls may still be made."""
        return 1_000_000 if self.limit is None else self.limit - self.made

    @property
    def usage(self) -> Usage:
        """What was spent since this object was made."""
        return difference(self._ledger.total, self._start)

    def send(self, messages: Messages, *, stage: str, json_mode: bool = False) -> Reply:
        """See ``Chat.send``. Raises ``ReplyError`` where no call is left."""
        if self.left < 1:
            raise ReplyError(f"{_REPEATED.format(self.limit)} A larger model (KGPLATFORM_CHAT_MODEL) may do better.")
        self.made += 1
        self._last = ""
        reply = self._chat.send(messages, stage=stage, json_mode=json_mode)
        self._last = reply.text
        return reply

    def forget(self, messages: Messages, *, json_mode: bool = False) -> None:
        """See ``Chat.forget``."""
        self._chat.forget(messages, json_mode=json_mode)

    def mark(self) -> Mark:
        """Now: what is spent from here on belongs to the next step."""
        return Mark(time.perf_counter(), self._ledger.total, self.made)

    def add(self, name: str, detail: str, since: Mark, *, prompt: str | None = None) -> None:
        """A step that asked the model with ``prompt``, or that only thought."""
        seconds = round(time.perf_counter() - since.at, 4) if prompt else 0.0
        reply = self._last if self.made > since.calls else ""
        usage = difference(self._ledger.total, since.spent)
        self.steps.append(Step(name, detail, seconds, prompt=prompt, reply=reply, usage=usage))

    def note(self, name: str, detail: str, queries: tuple[QueryRun, ...] = ()) -> None:
        """A step without the model; its time is that of its ``queries``."""
        seconds = round(sum(run.seconds for run in queries), 4)
        self.steps.append(Step(name, detail, seconds, queries=queries))


def search_step(found: Retrieved, detail: str = "") -> Step:
    """The step of a search: what ran, and the ids of what came back, best first."""
    result = found.result
    counted = f"{len(result.passages)} passages, {len(result.facts)} facts"
    return Step(
        "search",
        f"{detail}: {counted}" if detail else counted,
        result.seconds,
        queries=found.queries,
        facts=ids_of(result)[1],
        passages=ids_of(result)[0],
    )


def ids_of(result: SearchResult) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the passages and of the facts, best first."""
    return tuple(each.id for each in result.passages), tuple(each.id for each in result.facts)


def difference(after: Usage, before: Usage) -> Usage:
    """What was spent between two totals."""
    return Usage(
        after.calls - before.calls,
        after.input_tokens - before.input_tokens,
        after.output_tokens - before.output_tokens,
        after.cached_calls - before.cached_calls,
    )
