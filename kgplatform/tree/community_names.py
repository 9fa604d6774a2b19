"""Names and summaries of communities: put together from their members and facts, or by a language model.

A model names several communities a call, several calls at once: it writes the names, and of the summaries it says by
number which facts they are.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from kgplatform.concurrency.threads import Breaker, Work, run_works
from kgplatform.errors import ModelError
from kgplatform.extract.grounded_names import lacks_a_number
from kgplatform.models.chat import Chat, Wanted
from kgplatform.models.forms import Form, items
from kgplatform.models.reply import ask
from kgplatform.prompt import render
from kgplatform.text import counted, node_id, normalise_name, tidy
from kgplatform.text.sentences import numbers_in

LONGEST_NAME = 80
LONGEST_SUMMARY = 100
"""Words."""
CENTRAL = 10
"""Members that speak for a community: those with the highest scores."""

_LONGEST_LETTERS = 900
_SENTENCES = 5
_TURNS = "\u202a\u202b\u202d\u202e"
"""Marks that turn the direction of writing."""
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
            whole = tidy(f"{self.subject} {predicate} {self.object}")
        elif self.kind == "attribute":
            whole = tidy(f"{self.subject}: {predicate} {self.object}")
        else:
            whole = tidy(self.text)
        return whole if whole.endswith(_ENDS) else f"{whole}."


def clean_name(text: str, limit: int = LONGEST_NAME) -> str:
    """``text`` as a name of one line: no control characters, not too long. It may be empty."""
    strange = ("Cc", "Cs", "Co", "Cn")  # control characters, halves of surrogate pairs
    kept = (" " if unicodedata.category(each) in strange or each in _TURNS else each for each in text)
    return shortened(tidy("".join(kept)), limit)


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


def name_of(members: Sequence[tuple[str, str | None]], size: int) -> str:
    """A community's name from its central members, ``(name, type)``, best first; ``size`` counts all of them.

    >>> name_of([("Cyrus Field", "Person"), ("Great Eastern", "Ship"), ("Valentia", "Place")], 12)
    'Cyrus Field, Great Eastern and others (Person, Ship)'
    """
    shown: list[tuple[str, str]] = []
    taken: list[str] = []
    for name, kind in members:  # whose name neither contains one before nor is part of it
        key = normalise_name(name)
        if not any(key in other or other in key for other in taken):
            taken.append(key)
            shown.append((clean_name(name), clean_name(kind or "", 24)))
    chosen = [each for each in shown if each[0]][: 3 if size == 3 else 2]
    if not chosen:
        return f"{size} without a name"
    if size == 1:
        return chosen[0][0]
    for count in range(len(chosen), 0, -1):
        names, left = [name for name, _ in chosen[:count]], size - count
        last = "others" if left > 1 else "another" if left else names.pop()
        listed = f"{', '.join(names)} and {last}"
        types = ", ".join(dict.fromkeys(kind for _, kind in chosen[:count] if kind))
        for name in (f"{listed} ({types})" if types else listed, listed):
            if len(name) <= LONGEST_NAME:
                return name
    return f"{shortened(chosen[0][0], LONGEST_NAME - len(' and another'))} and {last}"


def central_facts(facts: Sequence[SaidFact], members: Sequence[str], count: int = _SENTENCES) -> list[SaidFact]:
    """At most ``count`` of ``facts``, which together say most about ``members`` (ids, the most central first). A member
    counts less with every fact that has it already, and sentences come before triples that say as much."""
    weights = {member: 1 / (2 + rank) for rank, member in enumerate(members)}
    left = list({fact.sentence: fact for fact in reversed(facts)}.values())[::-1]
    chosen, used = list[SaidFact](), Counter[str]()

    def worth(fact: SaidFact) -> tuple[float, bool]:
        own = sum(weights[member] / (1 + 2 * used[member]) for member in fact.members)
        return round(own, 9), fact.kind == "atomic"

    while left and len(chosen) < count:
        best = max(left, key=worth)
        chosen.append(best)
        used.update(best.members)
        left.remove(best)
    return chosen


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
_TOKENS = 80
"""Of the reply, for each community: its name in a language with many tokens to the word, and some numbers."""
_MOST_FACTS = 3
_INCOMPLETE = (
    "The language model left communities out, named one twice, by words of its instructions, or by a number that its "
    "facts do not have."
)


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


class NamesReply(Form):
    """A model's reply: of each community its name, and then the numbers of facts, such as "2.1"."""

    communities: list[list[str]] = items(PER_CALL, ...)

    def names(self, count: int) -> dict[int, tuple[str, list[int]]]:
        """The name and the numbers of facts by the number, 1 to ``count``, of each community that is named once. It is
        that of its facts; of one without facts, its place."""
        found: dict[int, tuple[str, list[int]]] = {}
        several: set[int] = set()
        for place, item in enumerate(filter(None, self.communities), 1):
            pairs = [
                (int(part), int(fact)) for part, _, fact in (n.partition(".") for n in numbers_in(item[1:])) if fact
            ]
            community = pairs[0][0] if pairs else place
            named = clean_name(item[0]).strip('"“”'), [fact for part, fact in pairs if part == community]
            if not 1 <= community <= count or not named[0]:
                continue
            if found.get(community, named) != named:
                several.add(community)
            found[community] = named
        return {number: named for number, named in found.items() if number not in several}


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
    shown = []
    for number, community in enumerate(batch, 1):
        named_members = [(clean_name(name), kind) for name, kind in community.members]
        members = "; ".join(f"{name} ({kind})" if kind else name for name, kind in named_members)
        facts = (shortened(fact.sentence, _LONGEST_FACT) for fact in community.facts)
        lines = (f"[{number}.{place}] {fact}" for place, fact in enumerate(facts, 1))
        head = f"Community {number}, {counted(community.size, 'member')}: {members}"
        shown.append("\n".join([head, *lines]))
    whole = "\n\n".join(shown)
    # The fence is derived from what it surrounds: nothing that a document says can contain it.
    messages = render("tree/name_communities", fence=f"communities-{node_id(whole)[:12]}", communities=whole)
    wanted = Wanted(NamesReply, _TOKENS * len(batch))
    reply, _ = ask(chat, messages, NamesReply, stage=STAGE, tokens=wanted.tokens)
    names = reply.names(len(batch))
    told = "\n".join(message["content"] for message in messages).replace(whole, "").casefold()
    named = []
    for number, community in enumerate(batch, 1):
        name, numbers = names.get(number, ("", []))
        is_echo = " " in name and name.casefold() in told and name.casefold() not in whole.casefold()
        if name and not is_echo and not lacks_a_number(name, shown[number - 1]):
            told_of = [community.facts[n - 1] for n in numbers if 1 <= n <= len(community.facts)][:_MOST_FACTS]
            summary = summary_of(told_of or community.facts, community.members, community.size)
            named.append(Named(community.id, name, summary))
    if len(named) < len(batch):
        chat.forget(messages, wanted=wanted)  # the next run is to ask the model, and not its cache
    return named
