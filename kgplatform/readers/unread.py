"""What of a statement stands in none of the texts that it rests on: names, numbers and dates.

    unread("The council rejected PEP 649.", ["The council rejected PEP 637 in March."])   # words ("PEP 649",)
    unread("Der Rat hat es abgelehnt.", ["The council rejected PEP 637 in March."])       # not compared

Numbers and dates count by their value (``quantities``). Names are what has a capital, and count by their stems: names
of scripts without capitals (Chinese, Japanese, Korean, Thai, Arabic, Hebrew, those of India) are not compared, nor is
in German a single word, because every noun has a capital there. A relation is not seen: "A beat B" for "B beat A".
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

import snowballstemmer  # type: ignore[import-untyped]  # it has no types
import stopwordsiso

from kgplatform.places import fold_words
from kgplatform.readers.quantities import MONTHS, Date, dates_in, numbers_in
from kgplatform.text import UNSPACED
from kgplatform.text.languages import ENGLISH, is_common, language_of, search_terms

_LETTER = rf"[^\W\d_{UNSPACED}]"
_SIGN = rf"[^\W{UNSPACED}]"
_WORD = re.compile(rf"{_LETTER}(?:{_LETTER}|[\d\u0300-\u036f])*(?:\.{_LETTER}(?!{_LETTER}))*")
_IDENTIFIER = re.compile(
    rf"(?<!{_SIGN})(?:(?P<label>[A-Z]{{2,}})[ \u00a0](?P<number>\d+)(?!\w|[.,]\d)"
    rf"|(?P<signs>{_LETTER}{_SIGN}*(?:[-.:/@#+]{_SIGN}+)*)|(?P<parts>\d+(?:\.\d+){{3,}})(?![\w.]\w))"
)
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
"""Letters that Unicode does not take apart, as they are written where a keyboard lacks them."""
_HAS_SIGNS = re.compile(r"\d|[^\W\d_]{2}[._/@:][^\W\d_]{2}")
_START = re.compile(r"(?:\A|[.!?…:;\n•*»“”\"(])[^\w\0]*\Z")
_BESIDE = re.compile(r"[ \u00a0]?(?:[.\-‐‑'’][ \u00a0]?)?\Z")
_BARE = 3
"""Words of an answer that is no sentence: all its capitals may be names'."""
_SURE_WORDS = 2
_DENSE = 3
"""How many letters of other scripts one of Chinese, Japanese or Korean counts for."""

Found = tuple[int, int, bool]
"""Where something that can be compared stands in a statement, and whether the sources have it."""


class Unread(NamedTuple):
    """``words``: what stands in none of the sources, as the statement writes it, each once and in order. ``compared``:
    False for a statement in another script or language than its sources, of which nothing can be said."""

    words: tuple[str, ...]
    compared: bool


def unread(statement: str, sources: Sequence[str]) -> Unread:
    """The names, numbers and dates of ``statement``, a sentence without marks of citation, that none of ``sources``
    has: the sentences that it cites, those beside them, the title of the passage."""
    text = "\n".join(sources)
    read = _read(text, language_of(f"{text}\n{statement}"))
    if _is_of_another_language(statement, read):
        return Unread((), compared=False)
    found: list[Found] = []
    rest = statement
    for look in (_dates, _identifiers, _numbers, _names):
        places = list(look(rest, read))
        found += places
        for start, end, _ in places:
            rest = rest[:start] + "\0" * (end - start) + rest[end:]
    missing = [statement[start:end] for start, end, fits in sorted(found) if not fits]
    return Unread(tuple(dict.fromkeys(missing)), compared=True)


class _Read(NamedTuple):
    """What sources have. ``labelled``: the numbers of names such as "PEP 649", with what stands before them;
    ``initials``: the first letters of all words with a capital; ``acronyms``: "US", of "U.S." too; ``shortened``:
    ("J", "smith") of "J. Smith"."""

    text: str
    language: str
    folded: str
    dates: frozenset[Date]
    numbers: frozenset[Decimal]
    labelled: dict[Decimal, str]
    words: frozenset[str]
    initials: str
    acronyms: frozenset[str]
    shortened: frozenset[tuple[str, str]]


@lru_cache(maxsize=64)
def _read(text: str, language: str) -> _Read:
    words = _WORD.findall(text)
    capitals = [word for word in words if word[0].isupper()]
    dates, rest = set[Date](), text
    for start, end, same in dates_in(text):
        dates |= same
        rest = rest[:start] + "\0" * (end - start) + rest[end:]
    dates |= {(0, MONTHS[word.lower()], 0) for word in _WORD.findall(rest) if word.lower() in MONTHS}
    numbers = {value for _, _, values in numbers_in(text, language) for value in values}
    labels = [each for each in _IDENTIFIER.finditer(text) if each["label"]]
    return _Read(
        text,
        language,
        _folded(text),
        frozenset(dates),
        frozenset(numbers | {Decimal(part) for year, _, day in dates for part in (year, day)}),
        {Decimal(each["number"]): each["label"] for each in labels},
        frozenset(key for word in words for key in _keys(word, language)),
        "".join(word[0] for word in capitals),
        frozenset(short for word in capitals if len(short := word.replace(".", "")) > 1 and short.isupper()),
        frozenset((one, _folded(two)) for one, two in zip(capitals, capitals[1:], strict=False) if len(one) == 1),
    )


def _dates(statement: str, read: _Read) -> Iterator[Found]:
    for start, end, dates in dates_in(statement):
        yield start, end, any(_is_same(date, other, read.numbers) for date in dates for other in read.dates)


def _is_same(date: Date, other: Date, numbers: frozenset[Decimal]) -> bool:
    """Whether two dates may be one: what the ``other`` leaves out may stand beside it, among the ``numbers``."""
    pairs = list(zip(date, other, strict=True))
    return date[1] == other[1] and all(not one or one == two or (not two and one in numbers) for one, two in pairs)


def _identifiers(statement: str, read: _Read) -> Iterator[Found]:
    """What has letters and digits, or words with signs between them, counts as a whole; else by its parts."""
    for found in _IDENTIFIER.finditer(statement):
        if found["signs"] and not _HAS_SIGNS.search(found[0]):
            continue
        parts = [part for part in re.split(r"[ \u00a0\-‐‑]", found[0]) if part]
        label = read.labelled.get(Decimal(found["number"])) if found["label"] else None
        apart = len(parts) > 1 and label is None and all(_has(part, read) for part in parts)
        yield *found.span(), _stands_in(found[0], read) or apart


def _has(part: str, read: _Read) -> bool:
    return Decimal(part) in read.numbers if part.isdecimal() else _has_name(part, "", read)


def _stands_in(words: str, read: _Read) -> bool:
    """Whether the sources have ``words`` as they are, but for case, accents and hyphens."""
    folded = _folded(words)
    return (
        folded in read.folded and re.search(rf"(?<!\w){re.escape(folded)}(?![^\W{UNSPACED}])", read.folded) is not None
    )


def _numbers(statement: str, read: _Read) -> Iterator[Found]:
    for start, end, values in numbers_in(statement, read.language):
        yield start, end, not values.isdisjoint(read.numbers)


def _names(statement: str, read: _Read) -> Iterator[Found]:
    """Words with a capital, but for those that say nothing, and for what opens a sentence and is no name for sure."""
    words = list(_WORD.finditer(statement))
    for run in _runs(words, read.language):
        opens = _opens(run[0]) and len(statement) > len(run[0][0]) + 1
        is_noun = read.language == "de" and len(words) > _BARE
        if len(run) == 1 and (is_noun or (opens and _is_inflected(run[0][0], read.language))):
            continue
        in_short = len(run) > 1 and "".join(word[0][0] for word in run) in read.acronyms
        for word, following in zip(run, [*run[1:], None], strict=True):
            yield *word.span(), in_short or _has_name(word[0], following[0] if following else "", read)


def _runs(words: Sequence[re.Match[str]], language: str) -> list[list[re.Match[str]]]:
    """Those of ``words`` that may be names, with those that stand beside each other together."""
    runs: list[list[re.Match[str]]] = []
    for word in filter(lambda word: _may_be_name(word, language), words):
        if runs and _BESIDE.match(word.string, runs[-1][-1].end(), word.start()):
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def _may_be_name(word: re.Match[str], language: str) -> bool:
    """Whether it has a capital that says something: function words have one at the beginning, and in German."""
    said = word[0]
    if said == said.lower() or len(said) == 1:
        return False
    return (
        said.isupper()
        or _folded(said) not in _says_nothing(language)
        or (len(said) > 2 and language != "de" and not _opens(word))
    )


def _opens(word: re.Match[str]) -> bool:
    return _START.search(word.string, 0, word.start()) is not None


@lru_cache(maxsize=64)
def _says_nothing(language: str) -> frozenset[str]:
    """The folded words without a meaning of their own, of a language and of English."""
    known = [code for code in (language, ENGLISH) if stopwordsiso.has_lang(code)]
    return frozenset(map(_folded, stopwordsiso.stopwords(known)))


def _has_name(word: str, following: str, read: _Read) -> bool:
    """Whether the sources have ``word`` in any form, or in short ("J. Smith", "EU") or in full."""
    keys = _keys(word, read.language)
    short = word.replace(".", "")
    return (
        not keys.isdisjoint(read.words)
        or (word[0], _folded(following)) in read.shortened
        or (short.isupper() and len(short) > 1 and short in read.initials)
        or (word.lower() in MONTHS and any(month == MONTHS[word.lower()] for _, month, _ in read.dates))
        or any(_are_forms(_folded(word), other, read.language) for other in read.words)
    )


def _are_forms(one: str, other: str, language: str) -> bool:
    """Whether two folded words are one with other endings: "Iceland" and "Icelandic"; outside English, of a case."""
    short, long = sorted((one, other), key=len)
    if len(short) < 4 or len(long) - len(short) > 4:
        return False
    if long.startswith(short):
        return len(long) - len(short) > 1 or language != ENGLISH
    return False


def _folded(words: str) -> str:
    return fold_words(words).translate(_LETTERS)


@lru_cache(maxsize=8192)
def _keys(word: str, language: str) -> frozenset[str]:
    """What a word is compared by: itself, and its stem."""
    return frozenset({_folded(word), _folded(_stem(word, language))})


def _stem(word: str, language: str) -> str:
    if language in ("", ENGLISH):
        stem: str = _english(word.lower())
        return stem
    return "".join(search_terms(word, language)) or word


_english = snowballstemmer.stemmer("english").stemWord


def _is_inflected(word: str, language: str) -> bool:
    return len(word) - len(_stem(word, language)) > 1


def _is_of_another_language(statement: str, read: _Read) -> bool:
    """Whether a statement is in another script than its sources, or surely in another language."""
    words = [each.lower() for each in _WORD.findall(statement)]
    scripts = _scripts(statement)
    script = max(scripts, key=lambda name: scripts[name], default="")
    theirs = _scripts(read.text)
    if (
        not script
        or not theirs
        or (words and not scripts["CJK"] and all(_folded(word) in read.words for word in words))
    ):
        return False
    if theirs[script] < 0.2 * sum(theirs.values()):
        return True
    own, other = language_of(statement), language_of(read.text)
    if not own or not other or own == other:
        return False
    only_own = sum(is_common(word, own) and not is_common(word, other) for word in words)
    only_theirs = sum(is_common(word, other) and not is_common(word, own) for word in words)
    return only_own >= max(_SURE_WORDS, 2 * only_theirs)


def _scripts(text: str) -> Counter[str]:
    """How many letters of each script ``text`` has; Chinese and Japanese are one."""
    counts = Counter[str]()
    for letter, times in Counter(text).items():
        if letter.isalpha():
            name = unicodedata.name(letter, "").split(" ")[0].removesuffix("-")
            name = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "FULLWIDTH": "LATIN", "HALFWIDTH": "CJK"}.get(name, name)
            counts[name] += times * (_DENSE if name in ("CJK", "HANGUL") else 1)
    return counts
