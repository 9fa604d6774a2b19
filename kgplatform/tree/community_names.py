"""Names and summaries of communities: put together from their members and facts, or by a language model.

A model names several communities a call, several calls at once.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from kgplatform.errors import ModelError
from kgplatform.ingest.named import lacks_a_number, without_invented_sentences
from kgplatform.models.chat import Chat, Wanted
from kgplatform.models.forms import Form, items, text
from kgplatform.models.reply import ask, is_looped
from kgplatform.prompt import Messages, render
from kgplatform.text import node_id, normalise_name, tidy
from kgplatform.work.threads import Breaker, Work, run_works

LONGEST_NAME = 80
LONGEST_SUMMARY = 100
"""Words."""
CENTRAL = 10
"""Members that speak for a community: those with the highest scores."""

_LONGEST_LETTERS = 900
_SENTENCES = 5
_ENDS = (".", "!", "?", "…", "。", "！", "？", ".”", ".”", ".)")


@dataclass(frozen=True, slots=True)
class SaidFact:
    """A fact about members of a community; ``members`` are the ids of those central ones that it is about."""

    kind: str
    text: str
    subject: str | None
    predicate: str | None
    object: str | None
    members: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The fact as a sentence of its own."""
        predicate = tidy((self.predicate or "").replace("_", " "))
        if self.kind == "triple":
            return _closed(f"{self.subject} {predicate} {self.object}")
        if self.kind == "attribute":
            return _closed(f"{self.subject}: {predicate} {self.object}")
        return _closed(self.text)


def clean_name(text: str, limit: int = LONGEST_NAME) -> str:
    """``text`` as a name of one line: no control characters, not too long. It may be empty."""
    kept = "".join(each if _is_shown(each) else " " for each in text)
    return shortened(tidy(kept), limit)


def clean_summary(text: str) -> str:
    """``text`` as one paragraph: no control characters, at most 100 words. It may be empty."""
    words = clean_name(text, 10 * _LONGEST_LETTERS).split(" ")
    whole = " ".join(words[:LONGEST_SUMMARY]) + (" …" if len(words) > LONGEST_SUMMARY else "")
    return shortened(whole, _LONGEST_LETTERS)


def shortened(text: str, limit: int) -> str:
    """``text``, cut after a word where it is longer than ``limit`` characters, the mark of the cut included."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    words = cut.rsplit(" ", 1)[0]
    return (words if len(words) > limit // 2 else cut).rstrip(" ,;:") + "…"


def _is_shown(character: str) -> bool:
    """Not a control character, half a surrogate pair, or a mark that turns the direction of writing."""
    return (
        unicodedata.category(character) not in ("Cc", "Cs", "Co", "Cn") and character not in "\u202a\u202b\u202d\u202e"
    )


def _closed(text: str) -> str:
    whole = tidy(text)
    return whole if whole.endswith(_ENDS) else f"{whole}."


def name_of(members: Sequence[tuple[str, str | None]], size: int) -> str:
    """A community's name from its central members, ``(name, type)``, best first; ``size`` counts all of them.

    >>> name_of([("Cyrus Field", "Person"), ("Great Eastern", "Ship"), ("Valentia", "Place")], 12)
    'Cyrus Field, Great Eastern and others (Person, Ship)'
    """
    shown = [(clean_name(name), clean_name(kind or "", 24)) for name, kind in _unlike(members)]
    chosen = [each for each in shown if each[0]][: 3 if size == 3 else 2]
    if not chosen:
        return f"{size} without a name"
    if size == 1:
        return chosen[0][0]
    for count in range(len(chosen), 0, -1):
        listed = _listed([name for name, _ in chosen[:count]], size)
        types = ", ".join(dict.fromkeys(kind for _, kind in chosen[:count] if kind))
        for name in (f"{listed} ({types})" if types else listed, listed):
            if len(name) <= LONGEST_NAME:
                return name
    return _listed([shortened(chosen[0][0], LONGEST_NAME - len(" and another"))], size)


def _listed(names: list[str], size: int) -> str:
    left = size - len(names)
    if left:
        return f"{', '.join(names)} and {'others' if left > 1 else 'another'}"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _unlike(members: Sequence[tuple[str, str | None]]) -> Iterator[tuple[str, str | None]]:
    """The members whose names neither contain the name of one before nor are part of it."""
    taken: list[str] = []
    for name, kind in members:
        key = normalise_name(name)
        if not any(key in other or other in key for other in taken):
            taken.append(key)
            yield name, kind


def central_facts(facts: Sequence[SaidFact], members: Sequence[str], count: int = _SENTENCES) -> list[SaidFact]:
    """At most ``count`` of ``facts``, which together say most about ``members`` (ids, the most central first).

    A member counts less with every fact that has it already, and sentences come before triples that say as much.
    """
    weights = {member: 1 / (2 + rank) for rank, member in enumerate(members)}
    left = list({fact.sentence: fact for fact in reversed(facts)}.values())[::-1]
    chosen, used = list[SaidFact](), Counter[str]()
    while left and len(chosen) < count:
        best = max(left, key=lambda fact: (_worth(fact, weights, used), fact.kind == "atomic"))
        chosen.append(best)
        used.update(best.members)
        left.remove(best)
    return chosen


def _worth(fact: SaidFact, weights: dict[str, float], used: Counter[str]) -> float:
    return round(sum(weights[member] / (1 + 2 * used[member]) for member in fact.members), 9)


def summary_of(facts: Sequence[SaidFact], members: Sequence[tuple[str, str | None]], size: int) -> str:
    """A summary of at most 100 words from facts, the most central first; else from the members' names."""
    sentences: list[str] = []
    words = 0
    for fact in facts:
        sentence = shortened(clean_name(fact.sentence, _LONGEST_LETTERS), 300)
        words += len(sentence.split())
        if sentences and words > LONGEST_SUMMARY:
            break
        sentences.append(sentence)
    if sentences:
        return clean_summary(" ".join(sentences))
    names = [clean_name(name) for name, _ in members[:CENTRAL]]
    more = f" and {size - len(names):,} more" if size > len(names) else ""
    return clean_summary(f"{', '.join(names)}{more}.")


STAGE = "tree"
PER_CALL = 5
"""Communities of one call."""
_LONGEST_FACT = 160
_TOKENS = 300
"""Of the reply, for each community: a summary of 100 words in a language with many tokens to the word, and its name."""
_INCOMPLETE = "The language model left communities out, named one twice, or said what their facts do not have."


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


@dataclass(frozen=True, slots=True)
class Naming:
    """What came of it: how many calls there were, which ids got no usable name, and why."""

    calls: int = 0
    failed: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    stopped: str = ""


class CommunityForm(Form):
    """One community."""

    id: int
    name: str = text(LONGEST_NAME, ...)
    summary: str = text(_LONGEST_LETTERS, ...)


class NamesReply(Form):
    """A model's reply."""

    communities: list[CommunityForm] = items(PER_CALL, ...)

    def names(self, count: int) -> dict[int, tuple[str, str]]:
        """Name and summary by the number, 1 to ``count``, of each community that is named once, and usably."""
        found: dict[int, tuple[str, str]] = {}
        several_times: set[int] = set()
        for item in self.communities:
            if not 1 <= item.id <= count:
                continue
            named = clean_name(item.name).strip('"“”'), clean_summary(item.summary)
            if found.get(item.id, named) != named:
                several_times.add(item.id)
            found[item.id] = named
        return {number: words for number, words in found.items() if all(words) and number not in several_times}


def name_communities(
    chat: Chat,
    batches: Iterable[Sequence[str]],
    describe: Callable[[Sequence[str]], list[Unnamed]],
    at_once: int,
    commit: Callable[[list[Named]], None],
) -> Naming:
    """Have ``chat`` name the communities of each batch (ids), with ``at_once`` calls at the same time.

    ``describe`` reads what a prompt says of a batch, and ``commit`` gets its names as soon as they are there.
    Communities that the model leaves out or names twice, or whose call fails, are reported. When the budget is used up,
    or one call after another fails, nothing more is asked, and the result says so.
    """
    outcomes: list[tuple[list[str], str]] = []  # of each call: who got no name, and why

    def done(batch: Sequence[str], named: list[Named], reason: str = _INCOMPLETE) -> Iterable[Work]:
        if named:
            commit(named)
        outcomes.append(([id_ for id_ in batch if id_ not in {name.id for name in named}], reason))
        return ()

    def failed(batch: Sequence[str], error: ModelError) -> Iterable[Work]:
        return done(batch, [], str(error))

    works = (
        Work(0, partial(_ask, chat, describe, batch), partial(done, batch), partial(failed, batch)) for batch in batches
    )
    stopped = run_works(works, at_once, Breaker("calls to name communities", "named"))
    nameless = [id_ for batch, _ in outcomes for id_ in batch]
    reasons = dict.fromkeys(reason for batch, reason in outcomes if batch)
    return Naming(len(outcomes), nameless, list(reasons), stopped)


def _ask(chat: Chat, describe: Callable[[Sequence[str]], list[Unnamed]], ids: Sequence[str]) -> list[Named]:
    batch = describe(ids)
    messages = naming_messages(batch)
    wanted = Wanted(NamesReply, _TOKENS * len(batch))
    reply, _ = ask(chat, messages, NamesReply, stage=STAGE, tokens=wanted.tokens)
    names = reply.names(len(batch))
    named = [
        Named(community.id, names[number][0], summary)
        for number, community in enumerate(batch, 1)
        if number in names and (summary := _stated(*names[number], _shown(number, community)))
    ]
    if len(named) < len(batch):
        chat.forget(messages, wanted=wanted)  # the next run is to ask the model, and not its cache
    return named


def _stated(name: str, summary: str, shown: str) -> str:
    """What of ``summary`` may be so, as far as names and numbers say; empty where nothing is left of it, where it goes
    round in circles, or where ``name`` has a number that was not ``shown``."""
    if is_looped(summary) or lacks_a_number(name, shown):
        return ""
    return without_invented_sentences(summary, shown)


def naming_messages(batch: Sequence[Unnamed]) -> Messages:
    """The prompt for the communities of ``batch``, which it numbers from 1.

    The fence is derived from what it surrounds: nothing that a document says can contain it.
    """
    shown = "\n\n".join(_shown(number, community) for number, community in enumerate(batch, 1))
    return render("tree/name_communities", fence=f"communities-{node_id(shown)[:12]}", communities=shown)


def _shown(number: int, community: Unnamed) -> str:
    shown = [(clean_name(name), kind) for name, kind in community.members]
    members = "; ".join(f"{name} ({kind})" if kind else name for name, kind in shown)
    facts = "\n".join(f"- {shortened(fact.sentence, _LONGEST_FACT)}" for fact in community.facts)
    head = f"Community {number}, {community.size} members\ncentre: {shown[0][0]}\nmembers: {members}"
    return f"{head}\nfacts:\n{facts}" if facts else head
