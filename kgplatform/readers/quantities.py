"""Numbers and dates of a text by their values, in digits of all scripts and in words.

    list(numbers_in("fifty percent of 1 200", "en"))   # the values {50} and {1200, 1, 200}, with their places
    list(dates_in("on May 3, 1931"))                   # the dates {(1931, 5, 3)}

What can be read in several ways has several values: "1.200" is 1200, and it is 1.2. Words for numbers are those of CLDR
(``unicode_rbnf``), of every language that has them there; names of months are those of ten languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from unicode_rbnf import FormatPurpose, RbnfEngine
from unicode_rbnf.engine import RbnfError

from kgplatform.text import UNSPACED, in_word
from kgplatform.text.matching import fold_words

Date = tuple[int, int, int]
"""Year, month and day; 0 is what is not said."""

_MONTHS = (
    "january jan januar janvier enero gennaio januari janeiro января stycznia ledna",
    "february feb februar février febrero febbraio februari fevereiro февраля lutego února",
    "march mar märz mars marzo maart março марта marca března",
    "april apr avril abril aprile апреля kwietnia dubna",
    "may mai mayo maggio mei maio мая maja května maj",
    "june jun juni juin junio giugno junho июня czerwca června",
    "july jul juli juillet julio luglio julho июля lipca července",
    "august aug août agosto augustus августа sierpnia srpna augusti",
    "september sep sept septembre septiembre settembre setembro сентября września září",
    "october oct oktober octobre octubre ottobre outubro октября października října okt",
    "november nov novembre noviembre novembro ноября listopada listopadu",
    "december dec dezember décembre diciembre dicembre dezembro декабря grudnia prosince dez",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
"""The number of each month by its names, in lower case."""

_MONTH = "(?P<month>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")(?!\w)\.?"
_OF = r"\s{0,3}(?:de[ln]?|of|d['’])?\s{0,3}"
_DAY = r"(?:(?P<first>\d{1,2})\.?\s?[-–/]\s?)?(?P<day>\d{1,2})(?:st|nd|rd|th|er|e|[.ºª°])?"
_YEAR = r"(?P<year>\d{3,4})"
_WRITTEN = (
    rf"{_DAY}[\s-]{_OF}{_MONTH}(?:[\s,-]{_OF}{_YEAR})?",
    rf"(?<!\w){_MONTH}\s?(?:the )?{_DAY}(?!\w)(?:,?\s+(?:of )?{_YEAR})?",
    rf"(?<!\w){_MONTH},?{_OF}{_YEAR}",
    r"(?P<year>\d{4})[-./](?P<month>\d{1,2})[-./](?P<day>\d{1,2})",
    r"(?P<day>\d{1,2})(?P<mark>[-./])\s?(?P<month>\d{1,2})(?P=mark)\s?(?P<year>\d{4}|\d{2})",
    r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월](?:\s?(?P<day>\d{1,2})\s?[日号號일])?",
    r"(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日号號일]",
)
_DATES = [re.compile(rf"(?<![\d.,/]){each}(?!\d|[.,/-]\d)", re.IGNORECASE) for each in _WRITTEN]


def dates_in(text: str) -> Iterator[tuple[int, int, set[Date]]]:
    """Where ``text`` writes a date out, at least a month with a day or a year, and all that it may be."""
    for pattern in _DATES:
        for found in pattern.finditer(text):
            parts = found.groupdict()
            year, day = int(parts.get("year") or 0), int(parts.get("day") or 0)
            month = MONTHS.get(parts["month"].lower()) or int(parts["month"])
            years = (1900 + year, 2000 + year) if len(parts.get("year") or "") == 2 else (year,)
            pairs = [(month, day), (day, month)] if "mark" in parts else [(month, day)]
            pairs += [(month, int(parts["first"]))] if parts.get("first") else []
            dates = {(year, month, day) for year in years for month, day in pairs if 0 < month <= 12 and day <= 31}
            if dates:
                yield found.start(), found.end(), dates
                text = text[: found.start()] + "\0" * len(found[0]) + text[found.end() :]


_BLANK = " \u00a0\u2009\u202f"
_FIGURES = re.compile(
    rf"(?P<minus>(?<![\w.,)\]%°])(?<!\d\s)[-−–‑](?=\d)|(?<!\w)(?:minus|menos|meno|минус)\s|マイナス|零下|[负負])?"
    rf"(?P<figures>\d{{1,3}}(?:[{_BLANK}]\d{{3}}(?!\d))+(?:[.,٫]\d+)?|\d+(?:[.,'’٫٬]\d+)*)"
    rf"(?:[{_BLANK}-]?(?P<scale>[^\W\d_{UNSPACED}]+))?",
    re.IGNORECASE,
)
_END_OF_RANGE = re.compile(r"(\d\d)\d\d[-–/](\d\d)\Z")
"""Of "1936-41", 1941."""
_DIGITS = {letter: value for value, letter in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_HANGUL = {"백": 100, "천": 1000, "만": 10**4, "억": 10**8}
_HAN = re.compile(
    rf"(?:(?<![\d.,])\d+(?:\.\d+)?[{''.join((*_SCALES, *_HANGUL))}]\s?)+(?:\d+(?![\d.,年年月日]))?"
    rf"|[{''.join((*_DIGITS, *_SCALES))}]+"
)
_SHORT_SCALES = {"tsd": 1000, "mio": 10**6, "mn": 10**6, "mln": 10**6, "bn": 10**9, "mrd": 10**9, "mld": 10**9}
_WORD = re.compile(rf"(?:[^\W\d_{UNSPACED}]|[\u00ad\u0300-\u036f\u0900-\u0963])+")
_BETWEEN = frozenset(" -\u00a0\u2010\u2011")
_MOST_WORDS, _MOST_LETTERS = 8, 80
_LONGEST_JOINING = 3


def numbers_in(text: str, language: str) -> Iterator[tuple[int, int, set[Decimal]]]:
    """Where ``text`` has a number, in figures, in Chinese letters or in words of ``language``, and what it is worth.
    No words for one: they are articles in many languages."""
    spelled = _spelled(language)
    for found in _HAN.finditer(text):
        if (value := _han_value(found[0])) > 1:
            yield found.start(), found.end(), {value}
        text = text[: found.start()] + "\0" * len(found[0]) + text[found.end() :]
    written = text
    for found in _FIGURES.finditer(written):
        scale = spelled.scales.get(_plain(found["scale"] or ""), 1)
        sign = -1 if found["minus"] else 1
        end = found.end() if scale > 1 else found.end("figures")
        values = {sign * scale * value for value in _values(found["figures"])}
        if (range_ := _END_OF_RANGE.search(written, max(0, found.start() - 5), found.end("figures"))) is not None:
            values.add(Decimal(range_[1] + range_[2]))
        yield found.start(), end, values
        text = text[: found.start()] + "\0" * (end - found.start()) + text[end:]
    words = list(_WORD.finditer(text)) if spelled.small else []
    at = 0
    while at < len(words):
        stop, worth = _in_words(text, words, at, spelled)
        if worth > 1:
            yield words[at].start(), words[stop - 1].end(), {Decimal(worth)}
        at = max(stop, at + 1)


def _values(figures: str) -> set[Decimal]:
    """What a number in figures may be worth, whatever its marks between thousands and before decimals."""
    first, *more = parts = re.findall(r"\d+", figures)
    mark = re.sub(r"\d", "", figures)[-1:]
    values = set()
    if all(len(part) == 3 for part in more) or (len(more[-1]) == 3 and all(len(part) == 2 for part in more[:-1])):
        values.add(Decimal("".join(parts)))
    if mark and mark in ".,٫" and figures.count(mark) == 1:
        values.add(Decimal("".join([first, *more[:-1]]) + "." + more[-1]))
    return values or set(map(Decimal, parts))


def _han_value(numeral: str) -> Decimal:
    """The value of a number with Chinese or Korean letters: 二百一十 is 210, 一九三四 is 1934, 8만 5천 is 85000."""
    total = part = digits = Decimal(0)
    for sign in re.findall(r"[\d.]+|\S", numeral):
        if (scale := _SCALES.get(sign) or _HANGUL.get(sign, 0)) >= 10**4:
            total, part, digits = (total + part + digits) * scale, Decimal(0), Decimal(0)
        elif scale:
            part, digits = part + (digits or 1) * scale, Decimal(0)
        else:
            digits = digits * 10 + _DIGITS[sign] if sign in _DIGITS else Decimal(sign)
    return total + part + digits


class _Spelled(NamedTuple):
    """The words for numbers of a language: up to 99 and the hundreds, and what multiplies, the largest first."""

    small: dict[str, int]
    scales: dict[str, int]

    def value(self, letters: str) -> int:
        """What number ``letters`` spell; 0 if they spell none."""
        if letters in self.small:
            return self.small[letters]
        for form, scale in self.scales.items():
            if form in letters:
                before, _, after = letters.partition(form)
                times, rest = self.value(before) if before else 1, self.value(after) if after else 0
                if times and bool(rest) == bool(after) and rest < scale:
                    return times * scale + rest
        for cut in range(3, len(letters)):
            if (hundreds := self.small.get(letters[:cut], 0)) >= 100 > self.small.get(letters[cut:], 100):
                return hundreds + self.small[letters[cut:]]
        return 0


@lru_cache(maxsize=64)
def _spelled(language: str) -> _Spelled:
    try:
        engine = RbnfEngine.for_language(language)
    except ValueError:  # CLDR spells no numbers of it
        return _Spelled({}, _SHORT_SCALES)
    small: dict[str, int] = {}
    scales: dict[str, int] = {}
    for number in (*range(1, 100), *range(100, 1000, 100)):
        for form in _forms(engine, number):
            small.setdefault(_plain(form), number)
            small.setdefault("".join(word for word in map(_plain, form.split()) if not _joins(word, small)), number)
    for number in range(3, 100):
        for form in _forms(engine, number, FormatPurpose.ORDINAL):
            small.setdefault(_plain(form), number)
    for number in range(100, 1000, 100):  # Spanish "cien", but "ciento uno"
        for first in (_plain(form.split()[0]) for form in _forms(engine, number + 1) if " " in form):
            if len(first) > _LONGEST_JOINING:
                small.setdefault(first, number)
    for scale in (10**9, 10**7, 10**6, 10**5, 1000, 100):  # 10**5 and 10**7 have words in India
        for times in (1, 2, 5):
            for form in _forms(engine, times * scale):
                starts = [start for start in small if small[start] == times and _plain(form).startswith(start)]
                after = _plain(form.partition(" ")[2]) or _plain(form).removeprefix(max(starts, key=len, default=""))
                scales |= {after: scale} if after and (starts or times == 1) else {}
    return _Spelled(small, scales | _SHORT_SCALES)


def _in_words(text: str, words: Sequence[re.Match[str]], at: int, spelled: _Spelled) -> tuple[int, int]:
    """One past the last word of the longest number that begins with the word ``at``, and its value; 0 without one."""
    best, whole, without_joining = (at, 0), "", ""
    for place in range(at, min(at + _MOST_WORDS, len(words))):
        gap = text[words[place - 1].end() : words[place].start()] if place > at else ""
        word = _plain(words[place][0])
        if len(gap) > 1 or not set(gap) <= _BETWEEN or len(whole + word) > _MOST_LETTERS:
            break
        if place == at and not spelled.value(word):
            break
        whole += word
        joins = _joins(word, spelled.small)
        without_joining += "" if joins else word
        if value := spelled.value(whole) or (0 if joins else spelled.value(without_joining)):
            best = place + 1, value
    return best


def _joins(word: str, small: Mapping[str, int]) -> bool:
    """Whether ``word`` may stand between the words of a number: "and", "und", "et", "y"."""
    return len(word) <= _LONGEST_JOINING and word not in small


def _forms(engine: RbnfEngine, number: int, purpose: FormatPurpose = FormatPurpose.CARDINAL) -> list[str]:
    """``number`` in words: in some languages one form for each gender and case; none where CLDR has no rule for it."""
    try:
        return list(engine.format_number(number, purpose).text_by_ruleset.values())
    except (ValueError, RbnfError):
        return []


@lru_cache(maxsize=8192)
def _plain(words: str) -> str:
    """The letters of ``words`` without case, accents and what stands between them."""
    return "".join(filter(in_word, fold_words(words)))
