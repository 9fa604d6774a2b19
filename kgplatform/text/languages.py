"""The language of a text, and its words as a search compares them: by their stems, and as they were typed.

    language_of("Wer gründete die Gesellschaft?")         # "de"
    search_terms("Wer gründete die Gesellschaft?", "de")  # ["grundet", "gesellschaft"]
    exact_words("Driver v2.31.1 (C++) cost 1,019.50.")    # "driver v2.31.1 c++ cost 1019.50 1 31 c v2"

A language is told by its script, and where several share one, by its commonest words; "" is one that is not told. Words
are stemmed by Snowball; scripts that are written without spaces, and Korean, count by pairs of letters. English has
its own full-text index (``cypher/neo4j/schema/fulltext_chunk.cypher``), so no stems of it are stored.

A full-text index over the exact words (``cypher/neo4j/schema/fulltext_chunk_exact.cypher``) finds what a question types
(amounts, addresses, versions, part numbers, names), since both are cut and spelt by the same function: compatibility
forms, case, accents, apostrophes, dashes, soft hyphens and the separators of thousands make no difference, what joins
the parts of a word does. The parts follow the words, so that one of them alone is found as well.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import snowballstemmer  # type: ignore[import-untyped]  # it has no types

from kgplatform.text import UNSPACED
from kgplatform.text.matching import bare_letter

ENGLISH = "en"
NAMES = {
    **{"ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish"},
    **{"de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fa": "Persian", "fi": "Finnish"},
    **{"fr": "French", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian"},
    **{"it": "Italian", "ja": "Japanese", "ka": "Georgian", "km": "Khmer", "ko": "Korean", "lo": "Lao"},
    **{"my": "Burmese", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian"},
    **{"ru": "Russian", "sr": "Serbian", "sv": "Swedish", "ta": "Tamil", "th": "Thai", "tr": "Turkish"},
    **{"uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese"},
}
"""Of each code (ISO 639-1) that ``language_of`` returns, what the language is called."""


def word_lists(package: str, file: str) -> dict[str, frozenset[str]]:
    """The lists of a ``file`` of ``package``, a paragraph each: its name, a colon, its words. # begins a comment."""
    source = re.sub("^#.*\n", "", (resources.files(package) / file).read_text("utf-8"), flags=re.M)
    lists = (each.partition(":") for each in source.split("\n\n"))
    return {name.strip(): frozenset(words.split()) for name, _, words in lists}


_COMMON = word_lists("kgplatform.text", "common.txt")
"""The commonest words, where languages share a script."""

_SCRIPTS = (
    ("ja", r"[\u3040-\u30ff]"),  # before Han: Japanese has both
    ("ko", r"[\uac00-\ud7af\u1100-\u11ff]"),
    ("zh", r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
    ("th", r"[\u0e00-\u0e7f]"),
    ("lo", r"[\u0e80-\u0eff]"),
    ("my", r"[\u1000-\u109f]"),
    ("km", r"[\u1780-\u17ff]"),
    ("hi", r"[\u0900-\u097f]"),
    ("bn", r"[\u0980-\u09ff]"),
    ("ta", r"[\u0b80-\u0bff]"),
    ("el", r"[\u0370-\u03ff\u1f00-\u1fff]"),
    ("he", r"[\u0590-\u05ff]"),
    ("hy", r"[\u0530-\u058f]"),
    ("ka", r"[\u10a0-\u10ff]"),
    ("cyrillic", r"[\u0400-\u04ff]"),
    ("arabic", r"[\u0600-\u06ff]"),
)
_SCRIPT = re.compile("|".join(f"(?P<{name}>{letters})" for name, letters in _SCRIPTS) + r"|(?P<latin>[^\W\d_])")
_SHARED = {
    "cyrillic": ("ru", "uk", "bg", "sr"),
    "arabic": ("ar", "fa", "ur"),
    "latin": tuple(code for code in _COMMON if code not in ("ru", "uk", "bg", "sr", "ar", "fa", "ur")),
}
_LETTERS = {
    **{"tr": "ığ", "ro": "ăț", "pl": "łżź", "cs": "řěů", "hu": "őű", "vi": "ơưđạảấầậắặẹếềệọốồộớờợụứừựị", "uk": "іїєґ"},
    **{"sr": "јљњђћџ", "fa": "پچژگ", "ur": "ٹڈڑے", "pt": "ãõ", "es": "ñ"},
}
"""Letters that of the languages of a script one has nearly alone: a word with one counts as a common one."""
_CODES_OF = {
    word: tuple(code for code, words in _COMMON.items() if word in words)
    for word in sorted(frozenset().union(*_COMMON.values()))
}
_OWN_LETTERS = {code: frozenset(_LETTERS.get(code, "")) for code in _COMMON}
_DENSE = 3
"""One letter of scripts that have a letter for a syllable or a word counts as so many of others: a Chinese sentence
with a long Latin name is Chinese."""
_READ = 4000
"""Characters of a text that are looked at."""
_LEAST = 0.05
"""Of the words of a longer text that are a language's commonest; in prose it is a third and more."""
_SHORT = 20
"""Words of a text that may be a question: there one common word is enough."""

_SPOKEN = {"uk": "ru", "bg": "ru"}
"""Languages without a stemmer, and the nearest that has one: most endings are the same."""

_MARKS = r"\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09d7\u0b82-\u0bd7"
_RUN = re.compile(rf"(?P<unspaced>[{UNSPACED}]+)|(?:[^\W_{UNSPACED}]|[{_MARKS}])+")
_NO_LETTER = re.compile(r"[\u064b-\u065f\u0670\u0640\u05b0-\u05c7]")
"""Vowel marks of Arabic and Hebrew, which most texts leave out, and the stroke that stretches a word."""


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """The language of most of ``text``, as ISO 639-1 has it (``NAMES``); "" where nothing tells it."""
    text = text[:_READ]
    scripts = scripts_of(text)
    if not scripts:
        return ""
    script = max(scripts, key=lambda name: scripts[name])
    if script == "zh" and scripts["ja"] * 10 >= scripts["zh"]:
        return "ja"
    return _by_words(text, _SHARED[script]) if script in _SHARED else script


def scripts_of(text: str) -> Counter[str]:
    """How many letters of each script ``text`` has; those that stand for a syllable or a word count three times.

    >>> scripts_of("ABC商事")
    Counter({'zh': 6, 'latin': 3})
    """
    scripts = Counter[str]()
    for letter, times in Counter(text).items():
        if (found := _SCRIPT.match(letter)) is not None:
            name = found.lastgroup or ""
            scripts[name] += times * (1 if name in _SHARED else _DENSE)
    return scripts


def _by_words(text: str, codes: tuple[str, ...]) -> str:
    """That of ``codes`` whose common words ``text`` has most of."""
    words = [found[0] for found in _RUN.finditer(_folded(text))]
    counts = dict.fromkeys(codes, 0)
    for word in words:
        for code in _CODES_OF.get(word, ()):
            if code in counts:
                counts[code] += 1
        if not word.isascii():
            for code in codes:
                counts[code] += not _OWN_LETTERS[code].isdisjoint(word)
    best = max(counts, key=lambda code: counts[code])  # the first of those that are alike
    least = 1 if len(words) <= _SHORT else _LEAST * len(words)
    if counts[best] >= least:
        return best
    return "" if "en" in codes else codes[0]


def search_terms(text: str, language: str) -> list[str]:
    """The words of ``text`` as a search in texts of ``language`` compares them, in order, without the commonest."""
    return [] if not language or language == ENGLISH else stems(text, language)


def stems(text: str, language: str) -> list[str]:
    """The words of ``text`` without the commonest of ``language``, in order, each without its ending; of scripts
    written without spaces, pairs of letters."""
    common, stem = _COMMON.get(language, frozenset()), _stemmer(language)
    terms: list[str] = []
    for found in _RUN.finditer(_folded(text)):
        run = found[0]
        if found["unspaced"]:
            terms += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        elif run not in common:
            terms.append(stem(run))
    return terms


def full_text_query(terms: list[str]) -> str:
    """``terms``, each once, as a query in which Lucene finds no syntax."""
    return " ".join(f'"{term}"' for term in dict.fromkeys(terms))


def is_common(word: str, language: str) -> bool:
    """Whether a folded ``word`` is one of the commonest of ``language``."""
    return word in _COMMON.get(language, frozenset())


def _folded(text: str) -> str:
    return _NO_LETTER.sub("", unicodedata.normalize("NFKC", text).casefold())


_ONE_AT_A_TIME = threading.Lock()


@lru_cache(maxsize=len(NAMES))
def _stemmer(language: str) -> Callable[[str], str]:
    """Stems are kept: a text has few different words."""
    name = NAMES.get(_SPOKEN.get(language, language), "").lower()
    if name not in snowballstemmer.algorithms():
        return str
    stemmer = snowballstemmer.stemmer(name)

    def stem(word: str) -> str:
        with _ONE_AT_A_TIME:  # a stemmer keeps the word that it is at
            return str(stemmer.stemWord(word))

    return lru_cache(maxsize=16384)(stem)


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
    in the ``spellings`` of which any will do. ``is_sign``: one has a digit or a sign, so that it is no common word."""

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
    parts = {joined for _, _, joined in _numbers(text)}
    for word in dict.fromkeys(words):  # what it is joined of, in large and in small
        if _NUMBER.fullmatch(word):
            parts.add(word.strip("$€£¥+-%"))
        elif _JOINTS.search(word):
            parts.update(found[0] for piece in _STRONG.split(word) if (found := _WORD.search(piece)) and piece != word)
            parts.update(piece for piece in _JOINTS.split(word) if piece)
    return " ".join([*words, *sorted(parts)])


def spellings_of(text: str) -> list[str]:
    """The words of ``text`` in one spelling."""
    return [word.spelling for word in _words(_in_one_form(text))]


def named_in(question: str) -> list[list[Phrase]]:
    """What ``question`` may name: runs of names and signs, of each the whole run first, then all that is in it. Each
    word of a few counts as a sign; a word that begins the question has its capital from that, and may not belong."""
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


def _numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Numbers whose digits blanks part, and those of telephones, also without their first groups: where each stands,
    and its digits without what parts them."""
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
