"""What of a statement stands in none of the texts that it rests on: names, numbers and dates.

    unread("The council rejected PEP 649.", ["The council rejected PEP 637 in March."])   # words ("PEP 649",)
    unread("Der Rat hat es abgelehnt.", ["The council rejected PEP 637 in March."])       # not compared

Numbers and dates count by their value (``quantities``). Names are what has a capital, and count by their stems: names
of scripts without capitals (Chinese, Japanese, Korean, Thai, Arabic, Hebrew, those of India) are not compared, nor is
in German a single word, because every noun has a capital there. A relation is not seen: "A beat B" for "B beat A".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

import stopwordsiso

from kgplatform.readers.quantities import MONTHS, Date, dates_in, numbers_in
from kgplatform.text import UNSPACED
from kgplatform.text.languages import ENGLISH, is_common, language_of, scripts_of, stems
from kgplatform.text.matching import fold_words

_LETTER = rf"[^\W\d_{UNSPACED}]"
_SIGN = rf"[^\W{UNSPACED}]"
_WORD = re.compile(rf"{_LETTER}(?:{_LETTER}|[\d\u0300-\u036f])*(?:\.{_LETTER}(?!{_LETTER}))*")
_IDENTIFIER = re.compile(
    rf"(?<!{_SIGN})(?:(?P<label>[A-Z]{{2,}})[ \u00a0](?P<number>\d+)(?!\w|[.,]\d)"
    rf"|(?P<signs>{_LETTER}{_SIGN}*(?:[-.:/@#+]{_SIGN}+)*)|(?P<parts>\d+(?:\.\d+){{3,}})(?![\w.]\w))"
)
_LETTERS = str.maketrans(dict(zip("'’øłđðıæœ", (" ", " ", "o", "l", "d", "d", "i", "ae", "oe"), strict=True)))
"""Letters that Unicode does not take apart, as they are written where a keyboard lacks them; "Vik's" is two words."""
_HAS_SIGNS = re.compile(r"\d|[^\W\d_]{2}[._/@:][^\W\d_]{2}")
_START = re.compile(r"(?:\A|[.!?…:;\n•*»“”\"(])\W*\Z")
_BESIDE = re.compile(r"[ \u00a0]?(?:[.\-‐‑'’][ \u00a0]?)?\Z")
_BARE = 3
"""Words of an answer that is no sentence: there a German noun alone may be a name."""
_LEAST = 0.2
"""Of the letters of the sources that are of a script, in a text that is written in it too."""

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
    found, rest = list[Found](), statement
    for look in (_dates, _identifiers, _numbers, _names):
        places = list(look(rest, read))
        found += places
        rest = _without(rest, places)
    missing = [statement[start:end] for start, end, fits in sorted(found) if not fits]
    return Unread(tuple(dict.fromkeys(missing)), compared=True)


def _without(text: str, places: Sequence[tuple[int, int, object]]) -> str:
    letters = list(text)
    for start, end, _ in places:
        letters[start:end] = "_" * (end - start)
    return "".join(letters)


class _Read(NamedTuple):
    """What sources have. ``labelled``: the numbers of names such as "PEP 649"; ``initials``: the first letters of all
    words with a capital; ``acronyms``: "US", of "U.S." too; ``shortened``: ("J", "smith") of "J. Smith"."""

    text: str
    language: str
    folded: str
    dates: frozenset[Date]
    numbers: frozenset[Decimal]
    labelled: frozenset[Decimal]
    words: frozenset[str]
    initials: str
    acronyms: frozenset[str]
    shortened: frozenset[tuple[str, str]]


@lru_cache(maxsize=64)
def _read(text: str, language: str) -> _Read:
    words = _WORD.findall(text)
    capitals = [word for word in words if word[0].isupper()]
    dated = list(dates_in(text))
    dates = {date for _, _, same in dated for date in same}
    alone = map(str.lower, _WORD.findall(_without(text, dated)))
    dates |= {(0, MONTHS[word], 0) for word in alone if word in MONTHS}
    numbers = {value for start, end, values in numbers_in(text, language) for value in values | _apart(text[start:end])}
    return _Read(
        text,
        language,
        _folded(text),
        frozenset(dates),
        frozenset(numbers | {Decimal(part) for year, _, day in dates for part in (year, day) if part}),
        frozenset(Decimal(each["number"]) for each in _IDENTIFIER.finditer(text) if each["label"]),
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
        is_known = found["label"] and Decimal(found["number"]) in read.labelled
        has = [Decimal(each) in read.numbers if each.isdecimal() else _has_name(each, "", read) for each in parts]
        whole = re.search(rf"(?<!\w){re.escape(_folded(found[0]))}(?![^\W{UNSPACED}])", read.folded)
        yield *found.span(), whole is not None or (len(parts) > 1 and not is_known and all(has))


def _numbers(statement: str, read: _Read) -> Iterator[Found]:
    """A Chinese letter alone is mostly no number that is meant: 十分 is "very"."""
    for start, end, values in numbers_in(statement, read.language):
        said = statement[start:end]
        if len(said) > 1 or said.isdecimal():
            both = len(_apart(said)) > 1 and _apart(said) <= read.numbers
            yield start, end, both or not values.isdisjoint(read.numbers)


def _apart(figures: str) -> set[Decimal]:
    """The two numbers that "985 200" may be as well, as in "in 985 200 people came"."""
    parts = figures.split()
    return set(map(Decimal, parts)) if all(part.isdecimal() for part in parts) else set()


def _names(statement: str, read: _Read) -> Iterator[Found]:
    """Words with a capital, but for those that say nothing, and for what opens a sentence and is no name for sure."""
    words = list(_WORD.finditer(statement))
    for run in _runs(words, read.language):
        opens = _opens(run[0]) and len(statement) > len(run[0][0]) + 1
        is_noun = read.language == "de" and len(words) > _BARE
        is_inflected = len(run[0][0]) - len(_stem(run[0][0], read.language)) > 1
        if len(run) == 1 and (is_noun or (opens and is_inflected)):
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
    says_something = said.isupper() or _folded(said) not in _says_nothing(language)
    inside = len(said) > 2 and language != "de" and not _opens(word)
    return said != said.lower() and len(said) > 1 and (says_something or inside)


def _opens(word: re.Match[str]) -> bool:
    return _START.search(word.string, max(0, word.start() - 12), word.start()) is not None


@lru_cache(maxsize=64)
def _says_nothing(language: str) -> frozenset[str]:
    """The folded words without a meaning of their own, of a language and of English."""
    known = [code for code in (language, ENGLISH) if stopwordsiso.has_lang(code)]
    return frozenset(map(_folded, stopwordsiso.stopwords(known)))


def _has_name(word: str, following: str, read: _Read) -> bool:
    """Whether the sources have ``word`` in any form, or in short ("J. Smith", "EU") or in full."""
    short = word.replace(".", "")
    return (
        not _keys(word, read.language).isdisjoint(read.words)
        or (word[0], _folded(following)) in read.shortened
        or (short.isupper() and len(short) > 1 and short in read.initials)
        or (word.lower() in MONTHS and any(month == MONTHS[word.lower()] for _, month, _ in read.dates))
        or any(_are_forms(_folded(word), other, read.language) for other in read.words)
    )


def _are_forms(one: str, other: str, language: str) -> bool:
    """Whether two folded words are one with other endings: "Iceland" and "Icelandic"; outside English, of a case."""
    short, long = sorted((one, other), key=len)
    longer = len(long) - len(short)
    return len(short) > 3 and long.startswith(short) and (longer > 1 or language != ENGLISH) and longer < 5


def _folded(words: str) -> str:
    return fold_words(words.lower().translate(_LETTERS))


@lru_cache(maxsize=8192)
def _keys(word: str, language: str) -> frozenset[str]:
    """What a word is compared by: itself, and its stem."""
    return frozenset({_folded(word), _folded(_stem(word, language))})


def _stem(word: str, language: str) -> str:
    return "".join(stems(word, language or ENGLISH)) or word


def _is_of_another_language(statement: str, read: _Read) -> bool:
    """Whether a statement is in another script than its sources, or surely in another language."""
    words = _WORD.findall(statement.lower())
    own, theirs = scripts_of(statement), scripts_of(read.text)
    if not own or not theirs or (own.total() == own["latin"] and read.words.issuperset(map(_folded, words))):
        return False
    script = max(own, key=lambda script: own[script])
    same = {"zh", "ja"} if script in ("zh", "ja") else {script}
    if sum(theirs[each] for each in same) < _LEAST * theirs.total():
        return True
    language, other = language_of(statement), language_of(read.text)
    if not language or not other or language == other:
        return False
    only_own = sum(is_common(word, language) and not is_common(word, other) for word in words)
    only_theirs = sum(is_common(word, other) and not is_common(word, language) for word in words)
    return only_own >= max(2, 2 * only_theirs)
