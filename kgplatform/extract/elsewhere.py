"""What the names of texts in other languages than English and German lose: articles, conjunctions, years, loan words.

found = corrected(text, start, found, "fr")      # "d'Allemagne" is Allemagne, "XIXe" is none
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kgplatform.extract.lexicon import WORDS, known_name
from kgplatform.extract.tokens import Span
from kgplatform.text.languages import is_common, language_of

_ELIDED = re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|dell|nell|all|dall|sull|un)['’](?=\w)")
"""French, Italian and Catalan, in lower case: "d'Allemagne", but not "D'Annunzio"."""
_NUMERAL = re.compile(r"[IVXLC]+(?:e|er|ème|º|°)?\Z")
"""Of a century, an emperor, a chapter: "le XIXe siècle", "el siglo XIX"."""
_AND = {"ca": "i", "es": "y", "it": "e", "pt": "e", "pl": "i"}
_JOINED = {code: re.compile(rf"\s{word}\s(?:(?:la|el|los|las|les|il|gli|o|a|os|as)\s)?") for code, word in _AND.items()}
_YEAR = re.compile(r"\s\d{3,4}\Z")
_YEAR_AFTER = re.compile(r"\s(?:год|г\.|роц|рок|р\.)")
"""Russian and Ukrainian: "Великобритании 1981 года"."""
_READ = 5000
"""Characters of a text that tell its language."""
_OPENERS = WORDS["openers elsewhere"]
_QUOTES = frozenset('«“„"‘—–')
_LOAN_WORDS = re.compile(f"(?:{'|'.join(sorted(WORDS['loan words of Japanese']))})+\\Z")
_LIST = re.compile(r"[\u3400-\u9fff]+・[\u3400-\u9fff・]+\Z")
"""In Japanese, of words ("冷夏・多雨"); in Chinese it is a name."""


def language_without_elisions(text: str) -> str:
    """The language of ``text``; that it has "d'Artagnan" and "l'Oréal" makes it no French."""
    return language_of(re.sub(r"\b[dDlL]['’](?=\w)", "", text[:_READ]))


def corrected(text: str, start: int, found: Iterable[Span], language: str) -> list[Span]:
    """The names ``found`` in the sentence that begins at ``start`` of ``text``, a text of ``language``."""
    parts = (part for span in found for part in _parted(text, span, language))
    return [span for span in (_bare(text, start, part, language) for part in parts) if span is not None]


def _parted(text: str, span: Span, language: str) -> Iterator[Span]:
    """What "and" joins, each by itself, unless the whole is known: "Castilla y León"."""
    joined = _JOINED.get(language)
    if joined is None or joined.search(span.name) is None or known_name(span.name) is not None:
        yield span
        return
    at = span.start
    for gap in [*(found.span() for found in joined.finditer(text, span.start, span.end)), (span.end, span.end)]:
        yield Span(" ".join(text[at : gap[0]].split()), at, gap[0])
        at = gap[1]


def _bare(text: str, start: int, span: Span, language: str) -> Span | None:
    """The name without what is no part of it; None where nothing is left that is one."""
    opens = _opens(text, start, span)
    elided = _ELIDED.match(span.name.lower() if opens else span.name)
    if elided is not None and text[span.start :].lower().startswith(elided[0]):
        span = _from(span, elided.end())
    if opens and _is_word(first := span.name.partition(" ")[0], language):
        span = _from(span, len(first))
    year = _YEAR.search(span.name)
    if year is not None and _YEAR_AFTER.match(text, span.end):
        span = replace(span, name=span.name[: year.start()], end=span.end - len(year[0]))
    if not span.name or _NUMERAL.match(span.name) or span.name.isdecimal():
        return None
    return None if language == "ja" and _is_no_japanese_name(span.name) else span


def _opens(text: str, start: int, span: Span) -> bool:
    """Whether the name begins its sentence or what is quoted there: its first word may be any."""
    before = text[start : span.start]
    return not any(letter.isalnum() for letter in before) or before.rstrip()[-1:] in _QUOTES


def _is_word(word: str, language: str) -> bool:
    return is_common(word.lower(), language) or word.lower() in _OPENERS


def _from(span: Span, at: int) -> Span:
    """The name without its first ``at`` characters."""
    left = span.name[at:].lstrip()
    return replace(span, name=left, start=span.end - len(left))


def _is_no_japanese_name(name: str) -> bool:
    """Whether ``name`` is an ordinary word in katakana or made of some ("メディア", "メインスタジアム"), or a list."""
    return _LOAN_WORDS.match(name) is not None or _LIST.match(name) is not None
