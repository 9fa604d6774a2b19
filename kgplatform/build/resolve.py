"""Which entities are likely the same thing: by the likeness of names first, then of their vectors.

Whether two names are alike depends on the two names alone, never on what else is in the graph, so that adding and
removing documents in any order gives the same ``SAME_AS`` edges. Candidates come from keys that like names share,
hence in time proportional to the number of names. Two names are alike if, accents, case and punctuation apart,

- they have the same words, in any order ("Obama, Barack"; also one name under two types),
- one has all words of the other and exactly one more, which is no number ("Lord Kelvin", "Kelvin"), or
- their consonants agree and they are spelt nearly alike ("Mendeleev", "Mendeleyev").
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from rapidfuzz import fuzz

_WORD = re.compile(r"[^\W_]+")
_UNSAID = frozenset(("the", "a", "an", "of", "and"))
_VOWELS = str.maketrans("", "", "aeiouy")
_SHORTEST_SKELETON = 4
_LEAST_RATIO = 85.0

Pair = tuple[str, str]


def best_name(forms: Iterable[str]) -> tuple[str, list[str]]:
    """The form that most chunks use (then the first in order), and the others: a function of the set of mentions."""
    counts = Counter(forms)
    ranked = sorted(counts, key=lambda form: (-counts[form], form))
    return ranked[0], sorted(ranked[1:])


def like_names(new: Mapping[str, str], every: Mapping[str, str]) -> list[Pair]:
    """Pairs of ids whose names are alike, at least one of them in ``new``; sorted, the smaller id first.

    Both map ids to normalised names; ``every`` holds ``new`` too.
    """
    words = {each: _words(name) for each, name in every.items()}
    same, longer, skeletons = _buckets(words)
    pairs: set[Pair] = set()
    for each in new:
        mine = words[each]
        others = [*same.get(mine, ()), *longer.get(mine, ())]
        for shorter in _shortened(mine):
            others += same.get(shorter, ())
        skeleton = _skeleton(mine)
        if skeleton:
            others += (o for o in skeletons[skeleton] if _spelt_alike(mine, words[o]))
        pairs.update((min(each, other), max(each, other)) for other in others if other != each)
    return sorted(pairs)


Words = tuple[str, ...]


def _buckets(words: Mapping[str, Words]) -> tuple[dict[Words, list[str]], dict[Words, list[str]], dict[str, list[str]]]:
    """Ids by their words, by their words but one, and by their consonants."""
    same: dict[Words, list[str]] = defaultdict(list)
    longer: dict[Words, list[str]] = defaultdict(list)
    skeletons: dict[str, list[str]] = defaultdict(list)
    for each, mine in words.items():
        if not mine:
            continue
        same[mine].append(each)
        for shorter in _shortened(mine):
            longer[shorter].append(each)
        skeleton = _skeleton(mine)
        if skeleton:
            skeletons[skeleton].append(each)
    return dict(same), dict(longer), dict(skeletons)


def _words(name: str) -> Words:
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    words = sorted(word for word in _WORD.findall(plain) if word not in _UNSAID)
    return tuple(words or _WORD.findall(plain))


def _shortened(words: Words) -> Iterator[Words]:
    """``words`` without one of them, but for numbers: "1866 cable" is no other name of "cable"."""
    if len(words) < 2:
        return
    for position, word in enumerate(words):
        rest = words[:position] + words[position + 1 :]
        if not any(c.isdigit() for c in word) and not all(each.isdigit() for each in rest):
            yield rest


def _skeleton(words: Words) -> str:
    """The consonants of a name in Latin letters, doubles folded; empty if they are too few to mean anything."""
    joined = "".join(words)
    if not joined.isascii():
        return ""
    bare = joined.translate(_VOWELS)
    folded = "".join(c for position, c in enumerate(bare) if position == 0 or bare[position - 1] != c)
    return folded if len(folded) >= _SHORTEST_SKELETON and not folded.isdigit() else ""


def _spelt_alike(one: Words, other: Words) -> bool:
    digits = [sorted(word for word in words if any(c.isdigit() for c in word)) for words in (one, other)]
    return digits[0] == digits[1] and fuzz.ratio(" ".join(one), " ".join(other)) >= _LEAST_RATIO
