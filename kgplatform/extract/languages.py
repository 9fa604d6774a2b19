"""Names in other languages than English.

In German every noun has a capital, and only what shows by itself is a name: a first name and what follows it, a title
and what follows it, institutions by their first or last word, acronyms, words with a second capital, what is known, and
the surnames of the document's people. Towns that are not known are lost.

In other languages the names lose articles, conjunctions, years and loan words:

    found = corrected(text, start, found, "fr")      # "d'Allemagne" is Allemagne, "XIXe" is none
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kgplatform.extract.lexicon import GIVEN_NAMES, KNOWN_LISTS, WORDS, is_common, known_name
from kgplatform.extract.names import is_acronym, is_name
from kgplatform.extract.tokens import (
    GERMAN,
    TOKEN,
    DocumentWords,
    Span,
    Tokens,
    is_capital,
    is_glued,
    is_shouted,
    joins,
)
from kgplatform.text.languages import is_common as is_common_in
from kgplatform.text.languages import language_of

_TITLES = WORDS["german titles"]
_PARTICLES = frozenset({"von", "van", "de", "zu", "der", "den", "vom", "zum", "del", "da", "di", "la"})
_LEAD = WORDS["german nouns before names"]
_MOST_WORDS = 6
_NUMBERED = frozenset({"RFC", "ISO", "DIN", "PEP", "IEEE"})
_GENDERED = re.compile(r"[a-zäöüß]Innen\Z|[a-zäöüß]In\Z|\*|_")
_ARTICLES = WORDS["german articles"]
_HYPHENED = re.compile(r"[A-Z]{2,5}(?:[-\u2010\u2011][A-Z\d]{1,5})+")
"""What in capitals goes on behind a hyphen: "UTF-8", "PA-RISC"; of "HTTP-Server", HTTP is the name."""
_HUMP = re.compile(r"[A-ZÄÖÜ][a-zäöüß]{3,}")
_GERMAN_HUMP = re.compile(r"[äöüß]|\d[a-z]|(?:ung|ungen|heit|keit|schaft|en)\Z")
"""In a word with a capital inside, what no name has: it is two cells of a table without the space, or a key."""


def german_names(
    text: str, start: int, end: int, words: DocumentWords, surnames: frozenset[str] = frozenset()
) -> list[Span]:
    """The names of the German sentence ``text[start:end]``; ``surnames``: of people whom the document names in full."""
    tokens = list(TOKEN.finditer(text, start, end))
    if is_shouted([token["word"] for token in tokens]):
        return []
    found: list[Span] = []
    at = 0
    while at < len(tokens):
        span, at = _name_at(text, tokens, at, words, surnames)
        if span is not None:
            found.append(span)
    return found


def _name_at(
    text: str, tokens: Tokens, at: int, words: DocumentWords, surnames: frozenset[str]
) -> tuple[Span | None, int]:
    """The name that begins at the token ``at``, if one does, and the token to go on with."""
    word = tokens[at]["word"]
    if not is_capital(word) or is_glued(text, tokens[at]) or (word.lower() in GERMAN and not word.isupper()):
        return None, at + 1
    stop = _run_end(text, tokens, at)
    for last, kind in _candidates(tokens, at, stop, manual=words.technical):
        return _span(text, tokens, at, last, kind, words), last
    if word.lower() in _TITLES and stop - at > 1:
        return None, at + 1
    if word in surnames:
        return _span(text, tokens, at, at + 1, "Person", words), at + 1
    beside = [token["word"] for token in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])]
    if any(word.isupper() and len(word) > 1 and known_name(word) is None for word in beside):
        return None, at + 1  # a heading in capitals, or a table's
    return _alone(tokens[at], words), at + 1


def _run_end(text: str, tokens: Tokens, first: int) -> int:
    """One past the last of the capitalised words and particles that stand side by side from ``first`` on."""
    stop = first + 1
    while stop < len(tokens) and stop - first < _MOST_WORDS and joins(text, tokens, stop):
        word = tokens[stop]["word"]
        if not (is_capital(word) or word in _PARTICLES or word == "für" or word.isdecimal()) or word.lower() in _ENDS:
            break
        stop += 1
    while stop > first + 1 and (tokens[stop - 1]["word"].islower()):
        stop -= 1
    return stop


_ENDS = (GERMAN - _PARTICLES - {"für"}) | {"uhr", "euro", "prozent", "januar", "februar", "märz", "mai", "juni", "juli"}


def _candidates(tokens: Tokens, at: int, stop: int, *, manual: bool) -> Iterator[tuple[int, str | None]]:
    """Where a name that begins at ``at`` ends, and its kind: a person, what is known, an institution."""
    words = [token["word"] for token in tokens[at:stop]]
    titled = at > 0 and tokens[at - 1]["word"].lower() in _TITLES
    last = _person_end(words, titled)
    if last is not None and (titled or not (manual and is_common(words[last - 1]))):  # "Bill Search" is on a screen
        yield at + last, "Person"
    if words[0] in _NUMBERED and len(words) > 1 and words[1].isdecimal():
        yield at + 2, "Work"
    if words[0].lower() in _LEAD:
        return
    article = at > 0 and tokens[at - 1]["word"].lower() in _ARTICLES
    for last in range(len(words), 0, -1):
        name = " ".join(words[:last])
        # A town has no article in German: "das Essen" is a meal.
        is_meal = article and last == 1 and name.lower().replace(" ", "_") in KNOWN_LISTS["known city"]
        kind = None if is_meal else known_name(name)
        if kind is None and last > 1 and _is_institution(words[:last]):
            kind = "Organization"
        if kind is not None and not words[last - 1].islower():
            yield at + last, kind


def _is_institution(words: Sequence[str]) -> bool:
    lowered = [word.lower().strip(".") for word in words]
    first = lowered[0] in WORDS["german institutions"] and lowered[-1][0].isalpha()
    return first or (lowered[-1] in WORDS["german companies"] and not set(lowered) & GERMAN)


def _person_end(words: Sequence[str], titled: bool) -> int | None:
    """How many of ``words`` are a person's name: given names, initials and particles, and one surname."""
    end = 0
    while end < len(words) - 1:
        is_given = all(part in GIVEN_NAMES for part in words[end].lower().split("-"))
        if not is_given and (end == 0 or len(words[end].strip(".")) != 1):
            break
        end += 1
    if end == 0 and not titled:
        return None
    while end < len(words) - 1 and words[end] in _PARTICLES:
        end += 1
    surname = words[end]
    lowered = surname.lower()
    if not surname[0].isupper() or lowered in GERMAN | _LEAD | _TITLES | {"the", "and"} or len(surname) < 2:
        return None
    return None if titled and end == 0 and _is_institution(words) else end + 1


def _alone(token: re.Match[str], words: DocumentWords) -> Span | None:
    """One word that is a name by its capitals, or the first part of a compound that is: "HTTP" of "HTTP-Server"."""
    word = token["word"]
    head = word if _HYPHENED.fullmatch(word) else re.split(r"[-\u2010\u2011]", word)[0]
    inner = any(letter.isupper() for letter in head[1:])
    is_whole = head == word and not head.isupper() and not _GENDERED.search(word)
    if inner and is_whole and is_name([word], words, opens=False):
        # Not one with a noun of the document in it, "SteuernKonto", and no genitive.
        parts = _HUMP.findall(word)
        joined = any(part in words.capital and not is_common(part) and not known_name(part) for part in parts)
        joined |= _GERMAN_HUMP.search(word) is not None or (word[-1] == "s" and word[:-1] in words.capital)
        if known_name(word) or not joined:
            return Span(word, token.start("word"), token.end("word"))
    known = known_name(head) if head != word else None
    text, start = token.string, token.start()
    is_reference = "-" in word and text[:start].endswith("[") and text.startswith("]", token.end())
    if known is None and ("." in head or is_reference):  # "Z.B.", "[ABC-DEF]"
        return None
    long = len(head) > 2 or (not words.technical and words.capital.get(head, 0) > 1)
    plain = head.lower() in GERMAN or head.capitalize() in words.capital
    acronym = head.isupper() and long and is_acronym(head, words) and not plain
    acronym |= _HYPHENED.fullmatch(word) is not None
    if known is None and not acronym:
        return None
    return Span(head, token.start("word"), token.start("word") + len(head), known)


def _span(text: str, tokens: Tokens, first: int, last: int, kind: str | None, words: DocumentWords) -> Span:
    """The span of the tokens; a genitive before a noun loses its "s": "Ada Quills Haus"."""
    left, right = tokens[first].start("word"), tokens[last - 1].end("word")
    if kind == "Person" and text[right - 1] == "s" and last < len(tokens) and is_capital(tokens[last]["word"]):
        stem = tokens[last - 1]["word"][:-1]
        if text[right : tokens[last].start()] == " " and stem in words.capital:
            right -= 1
    return Span(" ".join(text[left:right].split()), left, right, kind)


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
    # What begins a sentence, or is quoted there, may have any first word.
    before = text[start : span.start]
    opens = not any(letter.isalnum() for letter in before) or before.rstrip()[-1:] in _QUOTES
    elided = _ELIDED.match(span.name.lower() if opens else span.name)
    if elided is not None and text[span.start :].lower().startswith(elided[0]):
        span = _from(span, elided.end())
    first = span.name.partition(" ")[0]
    if opens and (is_common_in(first.lower(), language) or first.lower() in _OPENERS):
        span = _from(span, len(first))
    year = _YEAR.search(span.name)
    if year is not None and _YEAR_AFTER.match(text, span.end):
        span = replace(span, name=span.name[: year.start()], end=span.end - len(year[0]))
    if not span.name or _NUMERAL.match(span.name) or span.name.isdecimal():
        return None
    # An ordinary word in katakana, or made of some ("メディア", "メインスタジアム"), or a list.
    is_plain = language == "ja" and (_LOAN_WORDS.match(span.name) or _LIST.match(span.name))
    return None if is_plain else span


def _from(span: Span, at: int) -> Span:
    """The name without its first ``at`` characters."""
    left = span.name[at:].lstrip()
    return replace(span, name=left, start=span.end - len(left))
