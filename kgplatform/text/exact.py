"""The words of a text as they were typed, in one spelling: amounts, addresses, versions, part numbers, names.

    exact_words("Driver v2.31.1 (C++) cost 1,019.50.")    # "driver v2.31.1 c++ cost 1019.50 1 31 c v2"

A full-text index over these (``cypher/neo4j/schema/fulltext_chunk_exact.cypher``) finds what a question types, since
both are cut and spelt by the same function: compatibility forms, case, accents, apostrophes, dashes, soft hyphens and
the separators of thousands make no difference, what joins the parts of a word does. The parts follow the words, so that
one of them alone is found as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from kgplatform.text import UNSPACED
from kgplatform.text.languages import ENGLISH, is_common, language_of
from kgplatform.text.matching import bare_letter

_ALIKE = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bc\u02b9\u2032\u00b4\u0060\uff07"), "'"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"), "-"),
    ord("\\"): "/",
}
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_BLANK_OF_THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u2007\u2009\u202f](?=\d{3}(?!\d))")
_PIECE = re.compile(rf"[^\s\"“”„«»‹›()\[\]{{}}<>…{UNSPACED}]+")
"""What white space, quotation marks, brackets and letters of scripts without white space part."""
_WORD = re.compile(r"(?:(?<!\.)\.(?=\w)|[#@$€£¥~+-])*\w(?:.*[\w+#%])?")
"""A piece without the punctuation around it; signs that belong to it stay: ``.NET``, ``C++``, ``#tag``, ``50%``."""
_POSSESSIVE = re.compile(r"(?<=\w)'s\Z", re.IGNORECASE)
_SIGN = re.compile(r"[\d#@$€£¥+%./:=_&|~]")
"""What makes a word a sign: a number, a file's name, an address, a version."""
_JOINTS = re.compile(r"[!-/:-@\[-`{-~·]+")
_STRONG = re.compile(r"[=:/|,@;&?]+")
"""What joins things that have joints of their own: ``host=10.0.0.1``, ``ada@moe.no``, ``/etc/winch7.conf``."""
_NUMBER = re.compile(
    r"(?P<sign>[$€£¥]?[+-]?)(?P<whole>\d{1,3}(?P<by>[,.'])\d{3}(?:(?P=by)\d{3})*|\d+)(?:[.,](?P<part>\d+))?(?P<share>%?)"
)
_SPACED_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?!\w)")
_TELEPHONE = re.compile(r"\d[\d ()./-]*\d")
_DIGITS_OF_TELEPHONE = range(7, 16)
"""How many a telephone number has (ITU-T E.164)."""
_LONGEST = 200
"""Characters of a word: what is longer is data."""
_FEW = 2
"""A question of no more words is no sentence, but what is looked for."""
_LONGEST_RUN = 8


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words of a question that may name something: the characters ``[start, end)``, as they stand there (``text``) and
    in the ``spellings`` of which any will do. ``is_sign``: one has a digit or a sign, so that it is no common word.
    """

    start: int
    end: int
    text: str
    spellings: tuple[str, ...]
    is_sign: bool


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    spelling: str
    is_sign: bool
    is_name: bool


def exact_words(text: str) -> str:
    """The words of ``text`` in one spelling, in order, then their parts; joined by blanks."""
    text = _in_one_form(text)
    words = [word.spelling for word in _words(text)]
    parts = {part for word in dict.fromkeys(words) for part in _parts(word)}
    parts.update(joined for _, _, joined in _numbers(text))
    return " ".join([*words, *sorted(parts)])


def spellings_of(text: str) -> list[str]:
    """The words of ``text`` in one spelling."""
    return [word.spelling for word in _words(_in_one_form(text))]


def named_in(question: str) -> list[list[Phrase]]:
    """What ``question`` may name: runs of names and signs, of each the whole run first, then all that is in it. Each
    word of a few counts as a sign; a word that begins the question has its capital from that, and may not belong.
    """
    text = _in_one_form(question)
    words = list(_words(text))
    language = language_of(text) or ENGLISH
    runs: list[list[_Word]] = []
    for word in words:
        if len(words) <= _FEW or word.is_sign or (word.is_name and not is_common(word.spelling, language)):
            beside = runs and runs[-1][-1].end + 1 == word.start and len(runs[-1]) < _LONGEST_RUN
            runs[-1].append(word) if beside else runs.append([word])
    numbers = list(_numbers(text))
    found: list[list[Phrase]] = []
    for run in runs:
        parts = [run[first:last] for first in range(len(run)) for last in range(len(run), first, -1)]
        found.append([])
        for part in sorted(parts, key=len, reverse=True):
            start, end = part[0].start, part[-1].end
            ways = [part, part[1:]] if part[0] is words[0] and len(part) > 1 else [part]
            spellings = [" ".join(word.spelling for word in way) for way in ways]
            spellings += [joined for first, last, joined in numbers if start <= first and last <= end]
            is_sign = len(words) <= _FEW or any(word.is_sign for word in part)
            found[-1].append(Phrase(start, end, text[start:end], tuple(spellings), is_sign))
    return found


def _in_one_form(text: str) -> str:
    text = unicodedata.normalize("NFKC", _BLANK_OF_THOUSANDS.sub("", _HIDDEN.sub("", text).translate(_ALIKE)))
    return text.translate(_ALIKE)


def _words(text: str) -> Iterator[_Word]:
    for piece in _PIECE.finditer(text):
        if (found := _WORD.search(piece[0])) is not None and len(found[0]) <= _LONGEST:
            word = _POSSESSIVE.sub("", found[0])
            spelling, is_name = _spelling(word), word[0].isupper()
            start = piece.start() + found.start()
            is_sign = _SIGN.search(spelling) is not None or (is_name and "'" in word)  # O'Neill
            yield _Word(start, start + len(found[0]), spelling, is_sign, is_name)


def _spelling(word: str) -> str:
    if (number := _NUMBER.fullmatch(word)) is not None:
        whole = re.sub(r"\D", "", number["whole"])
        return f"{number['sign']}{whole}{'.' * bool(number['part'])}{number['part'] or ''}{number['share']}"
    return "".join(map(bare_letter, word.replace("'", "")))


def _parts(word: str) -> Iterator[str]:
    """What a word in one spelling is joined of, in large and in small."""
    if _NUMBER.fullmatch(word):
        yield word.strip("$€£¥+-%")
    elif _JOINTS.search(word):
        yield from (found[0] for piece in _STRONG.split(word) if (found := _WORD.search(piece)) and piece != word)
        yield from (piece for piece in _JOINTS.split(word) if piece)


def _numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Numbers whose digits blanks part, and those of telephones, also without their first groups: where each stands,
    and its digits without what parts them.
    """
    for found in _SPACED_NUMBER.finditer(text):
        yield *found.span(), _spelling(found[0].replace(" ", ","))
    for found in _TELEPHONE.finditer(text):
        groups = list(re.finditer(r"\d+", found[0]))
        digits = "".join(group[0] for group in groups)
        if len(digits) not in _DIGITS_OF_TELEPHONE:
            continue
        for group in groups[:-1]:
            if len(digits) in _DIGITS_OF_TELEPHONE:
                yield found.start() + group.start(), found.end(), digits
            digits = digits[len(group[0]) :]
