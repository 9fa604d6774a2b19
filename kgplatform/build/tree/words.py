"""Names and summaries of communities put together from their members and facts, where no model writes them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgplatform.text import normalise_name, tidy

LONGEST_NAME = 80
LONGEST_SUMMARY = 100
"""Words."""
CENTRAL = 10
"""Members that speak for a community: those with the highest scores."""

_LONGEST_LETTERS = 900
_SENTENCES = 5
_TURNS = "\u202a\u202b\u202d\u202e\u2066\u2067"
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
