"""The language of a text, and its words as a search compares them.

    language_of("Wer gründete die Gesellschaft?")        # "de"
    search_terms("Wer gründete die Gesellschaft?", "de") # ["grundet", "gesellschaft"]

A language is told by its script, and where several share one, by its commonest words; "" is one that is not told. Words
are stemmed by Snowball; scripts that are written without spaces, and Korean, count by pairs of letters. English has
its own full-text index (``cypher/neo4j/schema/fulltext_chunk.cypher``), so nothing here is for it.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from importlib import resources

import snowballstemmer  # type: ignore[import-untyped]  # it has no types

from kgplatform.text import UNSPACED

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


def language_names(codes: list[str]) -> str:
    """What languages are called: ``German and Chinese``."""
    *first, last = [NAMES.get(code, code) for code in codes]
    return f"{', '.join(first)} and {last}" if first else last


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
