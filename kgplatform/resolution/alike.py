"""When two names mean one thing: the rules, which look at nothing but the names.

``best_name``: what an entity is called of all the names that passages use.

``are_alike``: entities that are likely the same (``SAME_AS``). Whether two names are alike depends on the two alone,
never on what else is in the graph, so that adding and removing documents in any order gives the same edges. Like names
share properties (``found_by``), by which the graph finds them (``settle.py``). Two names are alike if, accents,
case and punctuation apart,

- they have the same words, in any order ("Obama, Barack"; also one name under two types),
- one has all words of the other and exactly one more, which is not a number ("Lord Kelvin", "Kelvin"), or
- their consonants agree and they are spelt nearly alike ("Mendeleev", "Mendeleyev").

``stem_of``, ``may_be_one``: key elements that are one in different words (GraphReader, section 3.2, normalisation). A
stem is a function of the name alone: compatibility forms and case folded, punctuation to space, and each English plural
to its singular. More is not taken away: a Porter stem joins organ with organization, and a rule for -ed and -ing hard
with Harding (docs/explanation/decisions.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from rapidfuzz import fuzz

from kgplatform.extract.lexicon import DAYS, MONTHS, WORDS
from kgplatform.text import normalise_name

_WORD = re.compile(r"[^\W_]+")
_UNSAID = frozenset(("the", "a", "an", "of", "and"))
_VOWELS = str.maketrans("", "", "aeiouy")
_FEWEST_CONSONANTS = 4
_LEAST_RATIO = 85.0


def best_name(forms: Iterable[str]) -> tuple[str, list[str]]:
    """The form that most passages use (then the first in order), and the others: a function of the set of mentions."""
    counts = Counter(forms)
    ranked = sorted(counts, key=lambda form: (-counts[form], form))
    return ranked[0], sorted(ranked[1:])


Words = tuple[str, ...]
"""The words of a name, sorted, without accents and without words that say nothing."""


def are_alike(one: Words, other: Words) -> bool:
    """Whether two names are alike, by their words.

    >>> are_alike(words_of("lord kelvin"), words_of("kelvin")), are_alike(words_of("apollo 11"), words_of("apollo"))
    (True, False)
    """
    if abs(len(one) - len(other)) == 1:
        shorter, longer = sorted((one, other), key=len)
        return shorter in shortened(longer) or _are_spelt_alike(one, other)
    return bool(one) and (one == other or _are_spelt_alike(one, other))


def words_of(name: str) -> Words:
    """The words of a normalised name."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    words = sorted(word for word in _WORD.findall(plain) if word not in _UNSAID)
    return tuple(words or _WORD.findall(plain))


def shortened(words: Words) -> list[Words]:
    """``words`` without one of them, but for numbers: "1866 cable" is not another name of "cable"."""
    if len(words) < 2:
        return []
    found = []
    for position, word in enumerate(words):
        rest = words[:position] + words[position + 1 :]
        if not any(c.isdigit() for c in word) and not all(each.isdigit() for each in rest):
            found.append(rest)
    return found


def consonants_of(words: Words) -> str:
    """The consonants of a name in Latin letters, doubles folded; empty if they are too few to mean anything."""
    joined = "".join(words)
    if not joined.isascii():
        return ""
    bare = joined.translate(_VOWELS)
    folded = "".join(c for position, c in enumerate(bare) if position == 0 or bare[position - 1] != c)
    return folded if len(folded) >= _FEWEST_CONSONANTS and not folded.isdigit() else ""


def counted_words(words: Words) -> str:
    """``words`` as a property, with how many they are: an index of whole values and one of single words can use it.

    >>> counted_words(words_of("obama, barack"))
    '#2 barack obama'
    """
    return " ".join((f"#{len(words)}", *words))


def found_by(key: str) -> dict[str, str | None]:
    """The properties by which an entity of this normalised name is found; None for what it does not have."""
    words = words_of(key)
    return {
        "stem": stem_of(key),
        "nameWords": counted_words(words) if words else None,
        "consonants": consonants_of(words) or None,
    }


def _are_spelt_alike(one: Words, other: Words) -> bool:
    consonants = consonants_of(one)
    if not consonants or consonants != consonants_of(other):
        return False
    digits = [sorted(word for word in words if any(c.isdigit() for c in word)) for words in (one, other)]
    return digits[0] == digits[1] and fuzz.ratio(" ".join(one), " ".join(other)) >= _LEAST_RATIO


_POSSESSIVE = re.compile(r"(?<=[^\W\d_])['’]s?(?=\s|\Z)")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
# What stands between digits, or as a sign before or behind them, belongs to the number.
_IN_NUMBER = re.compile(r"(?<=\d)[^\w\s](?=\d)|(?<=\d)[%‰](?!\w)|(?<!\S)-(?=\d)|#(?=\d)")
_HAS_NUMBER = re.compile(r"[\d#]")
_LATIN = re.compile(r"[a-z\u00df-\u00f6\u00f8-\u024f]+")
_HAS_DIGIT = re.compile(r"\d")
_ROMAN = re.compile(r"[ivx]+")
_SHORTEST = 4
_NO_PLURALS = WORDS["no plurals"]
_TELLING = DAYS | MONTHS | WORDS["opposites"]
_SIBILANT = re.compile(r"(?:ss|x|ch|sh)es\Z")
_SILENT_E = re.compile(r"(?:[^s]s|z|ch|sh)e\Z")
_IES = {"movies": "movie", "calories": "calorie", "cookies": "cookie", "zombies": "zombie", "genies": "genie"}


class _Spaces(dict[int, int]):
    """Punctuation to space, found once per character."""

    def __missing__(self, code: int) -> int:
        self[code] = found = ord(" ") if unicodedata.category(chr(code)).startswith("P") else code
        return found


_SPACES = _Spaces()


def stem_of(name: str) -> str:
    """What all forms of ``name`` have in common; never empty for a name that is not.

    >>> stem_of("Hard-Rock  Bands"), stem_of("Alzheimer's disease"), stem_of("World War II"), stem_of("1,000")
    ('hard rock band', 'alzheimer disease', 'world war ii', '1,000')
    """
    key = normalise_name(name)
    return " ".join(map(_singular, _words(key))) or key


def may_be_one(name: str, other: str) -> bool:
    """Whether numbers, single letters and words of opposite meaning agree in two normalised names.

    >>> may_be_one("stage ii", "stage iii"), may_be_one("hard rock trio", "hard rock band")
    (False, True)
    """
    return _telling(name) == _telling(other)


def _telling(name: str) -> list[str]:
    return sorted(
        word
        for word in _words(name)
        if len(word) == 1 or _HAS_DIGIT.search(word) or word in _TELLING or _ROMAN.fullmatch(word)
    )


def _words(key: str) -> list[str]:
    """The words of a normalised name; symbols such as + and what belongs to a number are kept, punctuation is not."""
    plain = _POSSESSIVE.sub("", key.translate(_DASHES))
    if not _HAS_NUMBER.search(plain):
        return plain.translate(_SPACES).split()
    kept = {found.start() for found in _IN_NUMBER.finditer(plain)}
    return "".join(
        letter if place in kept or not _is_punctuation(plain, place) else " " for place, letter in enumerate(plain)
    ).split()


def _is_punctuation(text: str, place: int) -> bool:
    """Whether the character at ``place`` only parts words; the sign of C# does not."""
    if text[place] == "#" and text[max(0, place - 1) : place].isalpha():
        return False
    return unicodedata.category(text[place]).startswith("P")


def _singular(word: str) -> str:
    """The singular of an English noun, also for words that are none; words in other scripts stay (after Harman, 1991,
    "How effective is suffixing?", with the plurals on -es that sibilants take)."""
    if len(word) < _SHORTEST or word in _NO_PLURALS or not _LATIN.fullmatch(word):
        return word
    bare = _without_s(word)
    # Without the e behind a sibilant: whether it is the plural's own or the word's cannot be told.
    return bare[:-1] if len(bare) > _SHORTEST and _SILENT_E.search(bare) else bare


def _without_s(word: str) -> str:
    if word in _IES:
        return _IES[word]
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _SHORTEST:
        return word[:-3] + "y"
    if _SIBILANT.search(word) or (word.endswith("uses") and len(word) > _SHORTEST + 2 and word[-5] not in "aou"):
        return word[:-2]
    return word[:-1]
