"""Words and their families: which words stand for each other, contradict each other, or say next to nothing.

``word_families.yaml`` has them. A word is known by its stem, which is the same for most of its forms.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal

import yaml

from kgplatform.places import fold_words

Kind = Literal["name", "number", "date", "word", "little", "not", "break"]
"""``little``: a word that says nothing by itself; ``not``: one that denies; ``break``: where a clause ends."""


@dataclass(frozen=True, slots=True)
class Word:
    """``text[start:end]``. ``keys``: the forms under which it is found; ``needs``: what another text must have to say
    the same: one key of each of these sets. ``plain``: folded; ``written``: as it stands there, if otherwise."""

    start: int
    end: int
    kind: Kind
    keys: frozenset[str]
    needs: tuple[frozenset[str], ...]
    plain: str
    written: str = ""

    @property
    def shown(self) -> str:
        """The word as it stands in its text, for people."""
        return self.written or self.plain


@cache
def _lists() -> dict[str, Any]:
    said: dict[str, Any] = yaml.safe_load(
        (resources.files("kgplatform.readers") / "word_families.yaml").read_text("utf-8")
    )
    return said


LITTLE = frozenset(_lists()["little"].split())
_GENERIC = frozenset(_lists()["generic"].split())
NOT = frozenset(_lists()["not"].split())
LINKS = frozenset(_lists()["links"].split())

_ENDINGS = sorted(_lists()["endings"].split(), key=len, reverse=True)

_SHORTEST_STEM = 4

_SPELT = {"iz": "is", "our": "or", "tre": "ter"}  # British and American

_LOST_E = re.compile(r"[^aeiouy][aeiou][^aeiouhswxyz]")
"""What is left of "gales" and "dating"; what has no "e" of its own doubles its last letter: "hopping"."""

_SPELLING = re.compile(r"(?<=\w{3})(?:iz(?=[eia])|our(?!$)|our$|tre(?=s?$))")


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """``word``, folded before, without endings, the same for most forms of a word; of no use to people.

    >>> stem("designed") == stem("designer") == stem("designs")
    True
    >>> stem("gales") == stem("gale")
    True
    """
    word = _SPELLING.sub(lambda found: _SPELT[found[0]], word)
    while len(word) > _SHORTEST_STEM:
        ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= _SHORTEST_STEM - 1), None)
        if ending is None:
            break
        word = word[: -len(ending)]
        if len(word) > _SHORTEST_STEM and word[-1] == word[-2]:
            word = word[:-1]
        elif ending[0] in "ei" and _LOST_E.fullmatch(word):
            word += "e"
    return word


@dataclass(frozen=True, slots=True)
class _Families:
    """``keys``: the further keys of a stem. ``opposed``: keys that contradict a key. ``converse``: keys that say the
    same of two things in the other order."""

    keys: dict[str, frozenset[str]]
    opposed: dict[str, frozenset[str]]
    converse: dict[str, frozenset[str]]
    verbs: frozenset[str]


@cache
def families() -> _Families:
    said = _lists()
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for line in said["alike"]:
        head, *_ = words = line.split()
        for word in words:
            keys[form(word)].add(f"={head}")
    for line in said["kinds"]:
        head, *words = line.split()
        for word in words:
            keys[form(word)].add(f"w:{form(head)}")
    pairs = {name: _others(said[name], keys) for name in ("opposed", "converse")}
    verbs = frozenset(f"w:{form(word)}" for line in said["verbs"] for word in line.split())
    return _Families({root: frozenset(more) for root, more in keys.items()}, **pairs, verbs=verbs)


def _others(lines: Sequence[str], keys: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    """For each key of a word of a line, the keys of the line's other words."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in lines:
        forms = [
            {f"w:{form(word)}", *(key for key in keys.get(form(word), ()) if key[0] == "=")} for word in line.split()
        ]
        for at, one in enumerate(forms):
            for key in one:
                found[key] |= set().union(*forms[:at], *forms[at + 1 :]) - one
    return {key: frozenset(others) for key, others in found.items()}


def form(word: str) -> str:
    return stem(fold_words(word))


def opposites(keys: frozenset[str]) -> frozenset[str]:
    """The keys of words that contradict a word with these ``keys``."""
    known = families().opposed
    return frozenset(other for key in keys for other in known.get(key, ()))


def converses(keys: frozenset[str]) -> frozenset[str]:
    """The keys of words that say the same the other way round: "learn" of "teach"."""
    known = families().converse
    return frozenset(other for key in keys for other in known.get(key, ()))


def is_relation(word: Word) -> bool:
    """Whether a word that is missing changes what is said: a verb, or one of the families' words."""
    if any(key in families().opposed or key in families().verbs or key[0] == "=" for key in word.keys):
        return True
    return word.plain.endswith(("ed", "ing", "ado", "ada", "ido", "ida", "iert", "te", "ten", "é", "ée"))


def is_generic(word: Word) -> bool:
    """Whether an answer may have this word although its text has not."""
    return (
        word.plain in _GENERIC
        or (word.kind != "name" and word.plain.rstrip("s") in _GENERIC)
        or (word.kind == "word" and len(word.plain) < 2)
    )
