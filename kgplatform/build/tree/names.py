"""Names and summaries of communities by a language model: several communities a call, several calls at once."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pydantic import BaseModel

from kgplatform.build.tree.words import SaidFact, clean_name, clean_summary, shortened
from kgplatform.errors import BudgetError, ModelError
from kgplatform.llm import Chat
from kgplatform.prompt import Messages, render
from kgplatform.reply import ask
from kgplatform.side_by_side import pool_of
from kgplatform.text import node_id

STAGE = "tree"
PER_CALL = 5
"""Communities of one call."""
_LONGEST_FACT = 160


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A community that a model is to name. ``members``: name and type of the central ones, the centre first."""

    id: str
    size: int
    members: Sequence[tuple[str, str | None]]
    facts: Sequence[SaidFact]


@dataclass(frozen=True, slots=True)
class Named:
    """What a model called a community."""

    id: str
    name: str
    summary: str


@dataclass(slots=True)
class Naming:
    """What came of it: how many calls there were, which ids got no usable name, and why."""

    calls: int = 0
    failed: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    stopped: str = ""


class NamesReply(BaseModel):
    """A model's reply. Its items are looked at one by one, so that a wrong one does not spoil the others."""

    communities: list[Any]

    def names(self, count: int) -> dict[int, tuple[str, str]]:
        """Name and summary by the number, 1 to ``count``, of each community that is named once, and usably."""
        found: dict[int, tuple[str, str]] = {}
        several: set[int] = set()
        for item in self.communities:
            number = _number(item)
            if number is None or not 1 <= number <= count:
                continue
            if number in found:
                several.add(number)
            found[number] = (clean_name(_text(item, "name")), clean_summary(_text(item, "summary")))
        return {number: words for number, words in found.items() if all(words) and number not in several}


def _number(item: object) -> int | None:
    given = item.get("id") if isinstance(item, dict) else None
    try:
        return int(str(given))
    except ValueError:
        return None


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def name_communities(
    chat: Chat,
    unnamed: Iterator[list[Unnamed]],
    at_once: int,
    commit: Callable[[list[Named]], None],
) -> Naming:
    """Have ``chat`` name the communities of each batch of ``unnamed``, with ``at_once`` calls under way.

    ``commit`` gets the names of each batch as soon as they are there. Communities that the model leaves out or names
    twice, or whose call fails, are reported. When the budget is used up nothing more is asked, and the result says so.
    """
    naming = Naming()
    halt = threading.Event()
    with pool_of(at_once) as pool:
        under_way: dict[Future[list[Named]], list[Unnamed]] = {}
        while not halt.is_set():
            for batch in islice(unnamed, at_once - len(under_way)):
                under_way[pool.submit(contextvars.copy_context().run, _ask, chat, batch, halt)] = batch
                naming.calls += 1
            if not under_way:
                break
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                _take(future, under_way.pop(future), naming, halt, commit)
        for future in under_way:  # paid for, so they are waited for
            _take(future, under_way[future], naming, halt, commit)
    return naming


def _take(
    future: Future[list[Named]],
    batch: list[Unnamed],
    naming: Naming,
    halt: threading.Event,
    commit: Callable[[list[Named]], None],
) -> None:
    try:
        named = future.result()
    except BudgetError as error:
        naming.stopped = naming.stopped or str(error)
        naming.calls -= 1
        halt.set()
        return
    except ModelError as error:
        named = []
        _remember(naming, str(error))
    else:
        if len(named) < len(batch):
            _remember(naming, "The language model left communities out, or named one twice.")
    if named:
        commit(named)
    known = {each.id for each in named}
    naming.failed += [each.id for each in batch if each.id not in known]


def _remember(naming: Naming, reason: str) -> None:
    if reason not in naming.reasons:
        naming.reasons.append(reason)


def _ask(chat: Chat, batch: list[Unnamed], halt: threading.Event) -> list[Named]:
    if halt.is_set():
        raise BudgetError("The run is stopping.")
    messages = naming_messages(batch)
    reply, _ = ask(chat, messages, NamesReply, stage=STAGE)
    names = reply.names(len(batch))
    if len(names) < len(batch):
        chat.forget(messages, json_mode=True)  # the next run is to ask the model, and not its cache
    return [Named(each.id, *names[number]) for number, each in enumerate(batch, 1) if number in names]


def naming_messages(batch: Sequence[Unnamed]) -> Messages:
    """The prompt for the communities of ``batch``, which it numbers from 1.

    The fence is derived from what it surrounds: nothing that a document says can contain it.
    """
    shown = "\n\n".join(_shown(number, each) for number, each in enumerate(batch, 1))
    return render("name_communities", fence=f"communities-{node_id(shown)[:12]}", communities=shown)


def _shown(number: int, community: Unnamed) -> str:
    shown = [(clean_name(name), kind) for name, kind in community.members]
    members = "; ".join(f"{name} ({kind})" if kind else name for name, kind in shown)
    facts = "\n".join(f"- {shortened(fact.sentence, _LONGEST_FACT)}" for fact in community.facts)
    head = f"Community {number}, {community.size} members\ncentre: {shown[0][0]}\nmembers: {members}"
    return f"{head}\nfacts:\n{facts}" if facts else head
