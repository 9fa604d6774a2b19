"""What kind of corpus a corpus is: how long its passages are, how its words and its names recur.

of_recorded(items) → Statistics, for {"title", "text", "extracted_entities", "extracted_triples"} each
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from measure import growth, percentile

from kgplatform.resolution.alike import are_alike, consonants_of, shortened, words_of
from kgplatform.text import normalise_name

_WORD = re.compile(r"\w+")
_ZIPF_RANKS = 5_000
_WARM = 50
"""Passages before which a growth is not looked at."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """``lines``: what was measured, as text, by what it is; only of words where nothing was recorded."""

    lines: Mapping[str, str]


class _Recurring:
    """Things that passages have, counted as they come."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.seen = 0
        self._growth: list[tuple[int, int]] = []

    def add(self, things: Iterable[str]) -> None:
        """One passage more."""
        before = self.counts.total()
        self.counts.update(things)
        self.seen += 1
        if self.seen > _WARM:
            self._growth.append((before, len(self.counts)))

    @property
    def exponent(self) -> float:
        """Of rank and frequency (Zipf), over what recurs, ``_ZIPF_RANKS`` ranks at most."""
        found = np.array(sorted(self.counts.values(), reverse=True)[:_ZIPF_RANKS])
        recurring = found[found > 1]
        return -growth(np.arange(1, len(recurring) + 1).tolist(), recurring.tolist())

    @property
    def heaps(self) -> float:
        """The exponent with which the number of different ones grows."""
        return growth(*zip(*self._growth, strict=True))

    @property
    def once(self) -> float:
        """Percent of the different ones that are there once."""
        return 100 * sum(count == 1 for count in self.counts.values()) / len(self.counts)

    def at(self, *ranks: int) -> str:
        """How many passages, of a hundred, have the commonest, the tenth … of them."""
        found = sorted(self.counts.values(), reverse=True)
        return ", ".join(f"{100 * found[rank - 1] / self.seen:.1f}" for rank in ranks)


def of_texts(texts: Iterable[str]) -> Statistics:
    """What passages without a recording show."""
    words, lengths = _Recurring(), list[int]()
    for text in texts:
        lengths.append(len(text.split()))
        words.add(_WORD.findall(text.lower()))
    return Statistics(_of_words(lengths, words))


def of_recorded(items: Iterable[Mapping[str, Any]]) -> Statistics:
    """What passages with their recording show."""
    words, names, predicates = _Recurring(), _Recurring(), _Recurring()
    lengths, per_passage, triples, in_text, parts = list[int](), list[int](), list[int](), 0, Counter[int]()
    for item in items:
        lengths.append(len(item["text"].split()))
        words.add(_WORD.findall(item["text"].lower()))
        stated = [triple for triple in item["extracted_triples"] if _is_triple(triple)]
        mentioned = {*item["extracted_entities"], *(name for one, _, other in stated for name in (one, other))}
        found = {normalise_name(name) for name in mentioned if isinstance(name, str)} - {""}
        said = normalise_name(f"{item['title']} {item['text']}")
        names.add(found)
        predicates.add(normalise_name(predicate) for _, predicate, _ in stated)
        per_passage.append(len(found))
        triples.append(len(stated))
        in_text += sum(name in said for name in found)
        parts.update(min(4, len(name.split())) for name in found)
    alike = _like_pairs(list(names.counts))
    shares = ", ".join(f"{100 * parts[count] / parts.total():.0f}" for count in (1, 2, 3, 4))
    return Statistics(
        {
            **_of_words(lengths, words),
            "names a passage: mean; 5, 50, 95 %": _spread(per_passage),
            "names that stand in the text": f"{100 * in_text / parts.total():.0f} %",
            "names of 1, 2, 3, more words": f"{shares} %",
            "names: exponent of rank and frequency": f"{names.exponent:.2f}",
            "different names grow with": f"n^{names.heaps:.2f}",
            "names that one passage mentions": f"{names.once:.0f} %",
            "passages with the 1st, 2nd, 10th, 30th, 300th name": f"{names.at(1, 2, 10, 30, 300)} %",
            "pairs of like names, for a name": f"{alike[len(names.counts)] / len(names.counts):.2f}",
            "the pairs grow with the names to the power": f"{growth(list(alike), list(alike.values())):.2f}",
            "triples a passage: mean; 5, 50, 95 %": _spread(triples),
            "predicates: exponent; once": f"{predicates.exponent:.2f}; {predicates.once:.0f} %",
        }
    )


def _like_pairs(names: Sequence[str]) -> dict[int, int]:
    """How many pairs of like names there are among an eighth, a quarter, a half and all of them, in reading order."""
    parts = [names[: len(names) // part] for part in (8, 4, 2, 1)]
    return {len(set(part)): _like_names(set(part)) for part in parts}


def _like_names(names: Collection[str]) -> int:
    """How many pairs of ``names`` are alike: those that share words or consonants are looked at."""
    found, shared = set[tuple[str, str]](), defaultdict[object, list[str]](list)
    words = {name: words_of(name) for name in sorted(names)}
    for name, its in words.items():
        for key in {its, *shortened(its), consonants_of(its)} - {""}:
            found.update((other, name) for other in shared[key] if are_alike(words[other], its))
            shared[key].append(name)
    return len(found)


def _of_words(lengths: Sequence[int], words: _Recurring) -> dict[str, str]:
    total = words.counts.total()
    (_, first), (_, second) = words.counts.most_common(2)
    return {
        "passages": f"{len(lengths):,}",
        "words a passage: mean; 5, 50, 95 %": _spread(lengths),
        "words: exponent of rank and frequency": f"{words.exponent:.2f}",
        "different words grow with": f"n^{words.heaps:.2f}",
        "different words; once": f"{len(words.counts):,}; {words.once:.0f} %",
        "shares of the two commonest words": f"{100 * first / total:.1f}, {100 * second / total:.1f} %",
    }


def _spread(values: Sequence[int]) -> str:
    shown = ", ".join(f"{percentile(values, share):.0f}" for share in (5, 50, 95))
    return f"{np.mean(values):.1f}; {shown}"


def _is_triple(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 3 and all(isinstance(each, str) for each in value)
