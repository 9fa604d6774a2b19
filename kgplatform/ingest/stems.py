"""When two names are one by rule, and when nothing may make them one (GraphReader, section 3.2, normalisation).

``stem_of`` is a function of the name alone: compatibility forms and case folded, punctuation to space, and each English
plural to its singular. More is not taken away: a Porter stem joins organ with organization, and a rule for -ed and
-ing hard with Harding (docs/decisions.md).
"""

from __future__ import annotations

import re
import unicodedata

from kgplatform.ingest.extract.lexicon import DAYS, MONTHS, words
from kgplatform.text import normalise_name

_POSSESSIVE = re.compile(r"(?<=[^\W\d_])['’]s?(?=\s|\Z)")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
# What stands between digits, or as a sign before or behind them, belongs to the number.
_IN_NUMBER = re.compile(r"(?<=\d)[^\w\s](?=\d)|(?<=\d)[%‰](?!\w)|(?<!\S)-(?=\d)|#(?=\d)")
_HAS_NUMBER = re.compile(r"[\d#]")
_LATIN = re.compile(r"[a-z\u00df-\u00f6\u00f8-\u024f]+")
_ROMAN = re.compile(r"[ivx]+")
_SHORTEST = 4
_NO_PLURALS = words("aids series species news always perhaps besides has was does goes gives this thus less lens kans")
_SIBILANT = re.compile(r"(?:ss|x|ch|sh)es\Z")
_SILENT_E = re.compile(r"(?:[^s]s|z|ch|sh)e\Z")
_IES = {"movies": "movie", "calories": "calorie", "cookies": "cookie", "zombies": "zombie", "genies": "genie"}

_TELLING = (
    DAYS
    | MONTHS
    | words(
        """
        one two three four five six seven eight nine ten eleven twelve hundred thousand million billion half double
        first second third fourth fifth sixth seventh eighth ninth tenth once twice both former latter
        north south east west northern southern eastern western northeast northwest southeast southwest
        left right upper lower top bottom high low higher lower highest lowest inner outer front back
        before after pre post early late earlier later old new young long short large small big little
        mild moderate severe acute chronic benign malignant hard soft positive negative good bad
        male female man woman men women boy girl husband wife mother father brother sister son daughter uncle aunt
        king queen prince princess actor actress buyer seller employer employee winner loser teacher student
        increase decrease increased decreased win lose won lost born died birth death begin end start finish
        buy sell open close alpha beta gamma delta not no non
        red orange yellow green blue white black
        """
    )
)
"""Words of which one may not stand for another, however near their vectors are: husband and wife are at 0.87."""


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
    return sorted(word for word in _words(name) if _tells(word))


def _tells(word: str) -> bool:
    if len(word) == 1 or any(letter.isdigit() for letter in word):
        return True
    return word in _TELLING or _ROMAN.fullmatch(word) is not None


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
    return _without_silent_e(_without_s(word))


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


def _without_silent_e(word: str) -> str:
    """``word`` without the e behind a sibilant: whether it is the plural's own or the word's cannot be told."""
    return word[:-1] if len(word) > _SHORTEST and _SILENT_E.search(word) else word
