"""Named things of a sentence: capitalised spans, acronyms and quoted titles, in cased and in caseless scripts.

Everything is decided by the sentence and by what the document does elsewhere with the same words
(``DocumentWords``), so that a passage's names do not depend on the rest of the corpus.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgplatform.ingest.extract.lexicon import (
    DAYS,
    FUNCTION_WORDS,
    INNER_PARTICLES,
    MONTHS,
    OPENERS,
    WORDS,
)
from kgplatform.sentences import ABBREVIATIONS, sentences

MOST_WORDS = 12
"""Words in a name; a longer run of capitals is a heading or a list, and is cut there."""

_GO_ON = ABBREVIATIONS - {"ca", "corp", "etc", "inc", "ltd"}
"""Abbreviations with a name behind them; "CA" is California more often than circa."""


def _letters(test: str) -> str:
    """The letters below U+2C00 whose ``str`` method ``test`` is true, as ranges for a class of a regex."""
    ranges: list[list[int]] = []
    for code in (code for code in range(0x2C00) if chr(code).isalpha() and getattr(chr(code), test)()):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_UPPER = _letters("isupper")
_LOWER = _letters("islower")
_WORD = f"0-9{_UPPER}{_LOWER}\u0300-\u036f"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Initials with their full stops, or a word of a cased script; a possessive ending is not a part of it.
_TOKEN = re.compile(
    rf"(?P<word>(?:[{_UPPER}]\.)+(?![{_LOWER}])|[{_WORD}]+(?:(?!['’]s(?![{_WORD}]))['’\-\u2010\u2011&][{_WORD}]+)*)"
    rf"(?P<possessive>['’]s(?![{_WORD}]))?"
)
_QUOTED = re.compile(r'"([^"“”\n]{2,80})"|“([^"“”\n]{2,80})”|«\s?([^«»\n]{2,80}?)\s?»|„([^„“”\n]{2,80})[“”]')
_CASELESS = re.compile(
    r"《([^《》\n]{1,60})》|〈([^〈〉\n]{1,60})〉|「([^「」\n]{1,40})」|『([^『』\n]{1,40})』"
    rf"|([\u30a1-\u30fa\u30fc]{{2,}}(?:[・＝][\u30a1-\u30fa\u30fc]{{2,}})+|[\u30a1-\u30fa\u30fc]{{4,}})"
    rf"|([{_HAN}]{{1,6}}(?:[·・‧](?:(?![的是在和与與及于於了曾为為出也被])[{_HAN}]){{1,6}})+)"
)
# In Chinese, what stands between punctuation or function characters and ends like an institution or a place.
_INSTITUTION = re.compile(
    rf"(?<![{_HAN}])(?:[{_HAN}]*?[于於在的是和与與及或由从從到向为為至去往对對被把，])?"
    rf"([{_HAN}]{{2,10}}?(?:大学|大學|公司|学院|學院|研究所|研究院|银行|銀行|博物馆|博物館|出版社|委员会|委員會))"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A name and where it stands: ``text[start:end]`` names it, give or take white space."""

    name: str
    start: int
    end: int


_GERMAN = WORDS["german function words"]
_GERMAN_SHARE = 0.2
"""Of a text's words in lower case, so many are German function words if it is German; of an English text, 0.05."""
_LEAST_GERMAN = 6
"""Different ones that must be there: a short English text may hold "in", "so" and "was" alone."""


@dataclass(frozen=True, slots=True)
class DocumentWords:
    """How a document writes its words: in lower case anywhere, and capitalised where no sentence begins.

    ``german``: it writes every noun with a capital, so that one tells nothing.
    """

    lower: Mapping[str, int]
    capital: Mapping[str, int]
    german: bool

    @classmethod
    def of(cls, text: str, title: str) -> DocumentWords:
        """The words of ``text``; the words of ``title`` count as capitalised, whatever its case."""
        lower: Counter[str] = Counter()
        capital = Counter(match["word"] for match in _TOKEN.finditer(title) if _is_capital(match["word"]))
        for sentence in sentences(text):
            words = [match["word"] for match in _TOKEN.finditer(text, sentence.start, sentence.end)]
            lower.update(word for word in words if word[0].islower())
            if not _is_shouted(words):
                inner = words[1:] if _opens_with_word(text, sentence.start, sentence.end) else words
                capital.update(word for word in inner if word[0].isupper())
        known = [count for word, count in lower.items() if word in _GERMAN]
        return cls(lower, capital, len(known) >= _LEAST_GERMAN and sum(known) > _GERMAN_SHARE * lower.total())

    def is_proper(self, word: str) -> bool:
        """Whether the document writes ``word`` with a capital inside sentences, and so more often than without."""
        return self.capital.get(word, 0) > self.lower.get(word.lower(), 0)


_LEADERS = re.compile(r"\.{4}|(?:\. ){4}|…{2}")
_SYMBOLS = re.compile(r"[{}=;<>$\\`_|]|->|::|\(\)")
_LEAST_SYMBOLS = 3
_SYMBOL_SHARE = 0.03


def is_prose(line: str) -> bool:
    """Whether ``line`` may state something: not a row of a table, not code, not a line of a list of contents."""
    if line.count("|") >= 3 or line.count("\t") >= 3 or _LEADERS.search(line):
        return False
    symbols = len(_SYMBOLS.findall(line))
    return symbols < _LEAST_SYMBOLS or symbols < _SYMBOL_SHARE * len(line)


def names(text: str, start: int, end: int, words: DocumentWords) -> list[Span]:
    """The names in the sentence ``text[start:end]`` in reading order; a name inside a quoted title is not one more."""
    found = list(_quoted(text, start, end))
    taken = [(span.start, span.end) for span in found]
    for span in _capitalised(text, start, end, words):
        if not any(left <= span.start and span.end <= right for left, right in taken):
            found.append(span)
    found.extend(_caseless(text, start, end))
    return sorted(found, key=lambda span: (span.start, -span.end))


def _quoted(text: str, start: int, end: int) -> Iterator[Span]:
    """Quoted titles: short, beginning with a capital or a digit, with most of their longer words capitalised."""
    for match in _QUOTED.finditer(text, start, end):
        number = match.lastindex or 0
        inner = match[number].strip().rstrip(",.;:")
        long_words = [word for word in inner.split() if len(word) > 3] or inner.split()
        titled = sum(1 for word in long_words if not word[0].islower())
        short = any(letter.isalpha() for letter in inner) and len(inner.split()) <= MOST_WORDS
        if short and not inner[0].islower() and 2 * titled > len(long_words):
            left = text.index(inner, match.start(number))
            yield Span(inner, left, left + len(inner))


def _caseless(text: str, start: int, end: int) -> Iterator[Span]:
    for pattern in (_CASELESS, _INSTITUTION):
        for match in pattern.finditer(text, start, end):
            number = match.lastindex or 0
            yield Span(match[number].strip(), match.start(number), match.end(number))


def _capitalised(text: str, start: int, end: int, words: DocumentWords) -> Iterator[Span]:
    tokens = list(_TOKEN.finditer(text, start, end))
    if _is_shouted([token["word"] for token in tokens]):
        return
    position = 0
    while position < len(tokens):
        if not _is_capital(tokens[position]["word"]):
            position += 1
            continue
        stop = _run_end(text, tokens, position)
        if words.german:
            position, stop = _german_name(tokens, position, stop)
            if position == stop:
                continue
        opens = position == 0 and _opens_with_word(text, start, end)
        first = _first_of_name(tokens, position, stop, words, opens)
        if first < stop and _is_name(tokens[first:stop], words, opens and first == 0):
            first = _with_number_before(text, tokens, first)
            left, right = tokens[first].start("word"), tokens[stop - 1].end("word")
            yield Span(" ".join(text[left:right].split()), left, right)
        position = stop


def _german_name(tokens: Sequence[re.Match[str]], first: int, stop: int) -> tuple[int, int]:
    """What of the run may be a name where nouns have capitals: what stands before function words ("Liste der Pakete"),
    without such words before it ("Unter Linux"). One word is a name only by a second capital ("HTTP-Server"): a
    town and a thing are written alike.
    """
    while first < stop and tokens[first]["word"].lower() in _GERMAN:
        first += 1
    end = first
    while end < stop and (tokens[end]["word"].lower() not in _GERMAN or tokens[end]["word"] in ("von", "zu")):
        end += 1
    while end > first and not _is_capital(tokens[end - 1]["word"]) and not tokens[end - 1]["word"].isdecimal():
        end -= 1
    alone = end - first == 1 and not any(letter.isupper() for letter in tokens[first]["word"][1:])
    return (stop, stop) if alone or end == first else (first, end)


def _is_capital(word: str) -> bool:
    """``Word``, ``WORD``, ``W.``, and names such as ``iPhone`` and ``d'Artagnan``."""
    return word[0].isupper() or (len(word) > 3 and word[0].islower() and any(letter.isupper() for letter in word[1:4]))


def _is_shouted(words: Sequence[str]) -> bool:
    """Whether a sentence stands in capitals, so that they tell nothing: a heading, a warning."""
    cased = [word for word in words if word[0].isalpha()]
    upper = sum(len(word) for word in cased if word.isupper())
    total = sum(len(word) for word in cased)
    if len(cased) < 3:
        return total > 0 and upper == total and max(len(word) for word in cased) > 5
    return upper > 0.7 * total


def _run_end(text: str, tokens: Sequence[re.Match[str]], first: int) -> int:
    """One past the last token of the run of capitalised words, inner particles and numbers that begins at ``first``."""
    stop = first + 1
    while stop < len(tokens) and stop - first < MOST_WORDS:
        before = tokens[stop - 1]["word"]
        if not _joins(text, tokens, stop):
            break
        word = tokens[stop]["word"]
        goes_on = _is_capital(word) and not (before.endswith(".") and word.lower() in FUNCTION_WORDS)
        numbered = word.isdecimal() and len(word) <= 4 and before.lower() not in MONTHS
        if goes_on or numbered:
            stop += 1
        elif (after := _past_particles(text, tokens, stop)) is not None:
            stop = after + 1
        else:
            break
    return stop


def _past_particles(text: str, tokens: Sequence[re.Match[str]], position: int) -> int | None:
    """The capitalised token after one to three particles at ``position``, if that is what stands there."""
    for after in range(position + 1, min(position + 4, len(tokens))):
        if tokens[after - 1]["word"] not in INNER_PARTICLES or not _joins(text, tokens, after):
            return None
        if _is_capital(tokens[after]["word"]):
            dated = tokens[after]["word"].lower() in MONTHS and tokens[after - 1]["word"] in ("on", "in")
            return None if dated else after
    return None


def _joins(text: str, tokens: Sequence[re.Match[str]], position: int) -> bool:
    """Whether the token at ``position`` can go on the name of the token before it."""
    before = tokens[position - 1]
    gap = text[before.end() : tokens[position].start()]
    if before["possessive"]:
        return False
    if gap == ". ":
        return before["word"].lower() in _GO_ON
    return gap in (" ", "\n", "\u00a0", " & ", "\r\n")


def _opens_with_word(text: str, start: int, end: int) -> bool:
    """Whether a word of a cased script is the first thing in the sentence that is a letter or a digit."""
    match = _TOKEN.search(text, start, end)
    return match is not None and not any(letter.isalnum() for letter in text[start : match.start()])


def _first_of_name(tokens: Sequence[re.Match[str]], first: int, stop: int, words: DocumentWords, opens: bool) -> int:
    """``first`` moved past words that stand before a name but are not a part of it; ``opens``: it begins a sentence."""
    while first < stop:
        word = tokens[first]["word"]
        low = word.lower()
        last = first == stop - 1
        droppable = low in {"the", "a", "an"} or low in WORDS["formal honorifics"] or low in INNER_PARTICLES
        if opens and not last:
            droppable |= low in OPENERS or (low in FUNCTION_WORDS and low not in {"will", "may"})
            droppable |= low in words.lower and word not in words.capital
        if not droppable and not word.isdecimal():
            return first
        first += 1
    return first


def _is_name(tokens: Sequence[re.Match[str]], words: DocumentWords, opens: bool) -> bool:
    """Whether the run is a name: not a date, not a function word, not a word that only its sentence capitalises."""
    run = [token["word"] for token in tokens]
    if all(word.isdecimal() or word.lower() in MONTHS or word.lower() in DAYS for word in run):
        return False
    if len(run) > 1:
        return True
    word = run[0]
    if len(word.strip(".")) < 2 or word.lower() in FUNCTION_WORDS:
        return word.isupper() and len(word) > 1 and word.lower() in {"us", "it"} and not opens
    if word.isupper() or any(letter.isupper() for letter in word[1:]):
        return True
    return words.is_proper(word) and (not opens or word.lower() not in OPENERS)


def _with_number_before(text: str, tokens: Sequence[re.Match[str]], first: int) -> int:
    """``first`` moved before "2018" in "the 2018 FIFA World Cup" and "20th" in "20th Century Fox"."""
    if first == 0:
        return first
    number = tokens[first - 1]["word"]
    if text[tokens[first - 1].end() : tokens[first].start()] != " ":
        return first
    if re.fullmatch(r"\d{1,3}(?:st|nd|rd|th)", number):
        return first - 1
    after_article = first >= 2 and tokens[first - 2]["word"].lower() == "the"
    return first - 1 if after_article and re.fullmatch(r"(?:1[5-9]|20)\d\d", number) else first


FEWEST_REPEATS = 3
MOST_TERMS = 2000
_MOST_WORDS = 4

_PIECE = re.compile(r"(?P<word>[^\W\d_]+(?:['’\-\u2010\u2011][^\W\d_]+)*)|(?P<space>[ \n])|(?P<stop>.)", re.DOTALL)
_BREAKS = FUNCTION_WORDS | OPENERS | WORDS["verbs"]


def recurring_terms(text: str) -> frozenset[str]:
    """Folded terms of ``text`` that stand in it at least three times, the most frequent ones if there are many.

    Domain texts (medicine, law, manuals) write what they are about in lower case. A term is two to four words between
    function words and punctuation that the document repeats (after Rose and others, 2010, "Automatic keyword
    extraction from individual documents").
    """
    counts = Counter(term for term, _, _ in _candidates(text))
    frequent = [(-count, term) for term, count in counts.items() if count >= FEWEST_REPEATS]
    return frozenset(term for _, term in sorted(frequent)[:MOST_TERMS])


def terms(text: str, start: int, end: int, known: frozenset[str]) -> list[Span]:
    """The ``known`` terms in ``text[start:end]``, in reading order."""
    part = text[start:end]
    return [Span(term, start + left, start + right) for term, left, right in _candidates(part) if term in known]


def _candidates(text: str) -> Iterator[tuple[str, int, int]]:
    """Every run of two to four content words: its folded form and its characters."""
    run: list[re.Match[str]] = []
    for piece in _PIECE.finditer(text):
        if piece["space"]:
            continue
        if piece["word"] and piece["word"].lower() not in _BREAKS and len(piece["word"]) > 1:
            run.append(piece)
            continue
        yield from _term(run)
        run = []
    yield from _term(run)


def _term(run: list[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    if 2 <= len(run) <= _MOST_WORDS and not run[-1][0].lower().endswith(("ly", "ing", "ed")):
        yield " ".join(piece[0].lower() for piece in run), run[0].start(), run[-1].end()
