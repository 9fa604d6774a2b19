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
from dataclasses import dataclass, replace

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
class Typed:
    """A word in one spelling, from the characters ``[start, end)`` of the text. ``is_sign``: it has a digit or a sign,
    so that it is no common word; ``is_name``: a capital begins it.
    """

    start: int
    end: int
    spelling: str
    is_sign: bool
    is_name: bool


def exact_words(text: str) -> str:
    """The words of ``text`` in one spelling, in order, then their parts; joined by blanks."""
    text = _in_one_form(text)
    words = [word.spelling for word in _words(text)]
    parts = {part for word in dict.fromkeys(words) for part in _parts(word)} | {*_numbers(text)}
    return " ".join([*words, *sorted(parts)])


def spellings(question: str) -> list[str]:
    """The words of ``question`` in one spelling."""
    return [word.spelling for word in _words(_in_one_form(question))]


def terms_of(question: str) -> list[list[Typed]]:
    """Runs of words that may name something: signs and names beside each other; each word of a few counts as a sign."""
    text = _in_one_form(question)
    words = list(_words(text))
    if len(words) <= _FEW:
        words = [replace(word, is_sign=True) for word in words]
    language = language_of(text) or ENGLISH
    runs: list[list[Typed]] = []
    for word in words:
        if word.is_sign or word.is_name and not is_common(word.spelling, language):
            beside = runs and runs[-1][-1].end + 1 == word.start and len(runs[-1]) < _LONGEST_RUN
            runs[-1].append(word) if beside else runs.append([word])
    return runs + [[Typed(0, 0, number, is_sign=True, is_name=False)] for number in sorted({*_numbers(text)})]


def _in_one_form(text: str) -> str:
    text = unicodedata.normalize("NFKC", _BLANK_OF_THOUSANDS.sub("", _HIDDEN.sub("", text).translate(_ALIKE)))
    return text.translate(_ALIKE)


def _words(text: str) -> Iterator[Typed]:
    for piece in _PIECE.finditer(text):
        if (found := _WORD.search(piece[0])) is not None and len(found[0]) <= _LONGEST:
            word = _POSSESSIVE.sub("", found[0])
            spelling = _spelling(word)
            start = piece.start() + found.start()
            yield Typed(start, start + len(found[0]), spelling, _SIGN.search(spelling) is not None, word[0].isupper())


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


def _numbers(text: str) -> Iterator[str]:
    """Numbers whose digits blanks part, and those of telephones, without what parts them, and without their first
    groups."""
    yield from (_spelling(found[0].replace(" ", ",")) for found in _SPACED_NUMBER.finditer(text))
    for found in _TELEPHONE.finditer(text):
        groups = re.findall(r"\d+", found[0])
        if len(groups) > 1 and len("".join(groups)) in _DIGITS_OF_TELEPHONE:
            joined = ("".join(groups[at:]) for at in range(len(groups)))
            yield from (digits for digits in joined if len(digits) in _DIGITS_OF_TELEPHONE)
