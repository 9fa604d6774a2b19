"""The times that words say, as intervals of days, in English and German.

    times_in("He was chief engineer from 1842 to 1861.")
    # [Time(start=22, end=39, since="1842-01-01", until="1862-01-01", granularity="year")]
    times_in("Seit März 2024 leitet sie das Werk.")     # since="2024-03-01", until=None
    period("2019-06")                                   # ("2019-06-01", "2019-07-01")

An interval has its first day and lacks its last, ``[since, until)``; an end that is open is None. "Until 1861" has the
year, "before 1861" does not; the 19th century begins with 1801, the 1800s with 1800. A time without a year says
nothing, nor does a year before Christ. A bare number of four digits is a year only where the words around it say so,
and where they may also count something, it is none: a fact without a time is kept, one with a wrong time is lost.

dateparser 1.5 reads single days: of the labelled set (tests/text) 0.87 of the dates that it gives lie inside the right
interval, and it has no open ends, decades and centuries. The names of months are CLDR's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from babel import Locale

from kgplatform.text.languages import ENGLISH, is_common, language_of
from kgplatform.text.matching import find_names
from kgplatform.text.sentences import numbered

GRANULARITIES = ("day", "month", "year", "decade", "century")


@dataclass(frozen=True, slots=True)
class Time:
    """What the characters ``text[start:end]`` say: the days ``[since, until)`` as ISO dates, and how exactly."""

    start: int
    end: int
    since: str | None
    until: str | None
    granularity: str

    def meets(self, days: tuple[str, str]) -> bool:
        """Whether it has one of ``days``, the first and that after the last."""
        return (self.since or "") < days[1] and days[0] < (self.until or "~")


class _Point(NamedTuple):
    """A date, year or the like: its days ``[first, after)``. ``lacks``: what another of a range has to say."""

    start: int
    end: int
    first: date
    after: date
    granularity: str
    lacks_year: bool = False


_LEAP = 4
"""Stands for a year that is not said."""
_Y = r"(?:1\d{3}|20\d\d)(?!\d)"
_D = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?(?!\w)"
_DASH = "[-–—−]"
_TO = rf"(?:\s?(?:{_DASH}|/)\s?|\s(?:to|and|or|until|through|bis|bis\szum|und|oder)\s)"
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    *("twentieth", "twenty-first"),
)
_ORDINAL = rf"(?:(?:[1-9]|1\d|2[01])(?:st|nd|rd|th|\.)|{'|'.join(reversed(_ORDINALS))})"
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_NUMBERS |= {"ten": 10, "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7}
_NUMBERS |= {"acht": 8, "neun": 9, "zehn": 10}
_UNITS = {"year": "year", "jahr": "year", "month": "month", "monat": "month", "decade": "decade"}
_UNITS |= {"jahrzehnt": "decade", "century": "century", "jahrhundert": "century"}
_SHIFTS = {"last": -1, "previous": -1, "letzt": -1, "vergangen": -1, "vorig": -1, "this": 0, "current": 0, "dies": 0}
_SHIFTS |= {"laufend": 0, "next": 1, "nächst": 1, "kommend": 1}
_NO_NUMBER = r"(?<![\w.,:/$€£#§+=@])"
"""Before a number that is no part of another."""
_ALONE = rf"(?![\w%°/+=@]|[.,:]\d|{_DASH}\d|-\w|\s?[%€$£°²])"
_CHRIST = r"(?:A\.?D\.?\b|C\.?E\.?\b|n\.\s?Chr\.|nach\sChristus)"
_BEFORE_CHRIST = r"(?:B\.?\s?C\b\.?(?:E\b\.?)?|v\.\s?Chr\.|v\.\s?u\.\s?Z\.|vor\sChristus)"


@lru_cache(maxsize=1)
def _months() -> dict[str, int]:
    """The number of each month by its names in English and German, in full and in short."""
    kinds = ((code, kind, width) for code in _MONTHS_OF for kind in _KINDS for width in ("wide", "abbreviated"))
    names = (Locale.parse(code).months[kind][width] for code, kind, width in kinds)
    return {name.rstrip("."): month for of_code in names for month, name in of_code.items()}


_MONTHS_OF = ("en", "en_GB", "de", "de_AT")
_KINDS = ("format", "stand-alone")


@lru_cache(maxsize=2)
def _pattern(*, relative: bool) -> re.Pattern[str]:
    """What may be a point of time; ``relative``: to the day of the text, too. Each piece is of bounded length, so that
    the time grows with the text."""
    month = "|".join(sorted(_months(), key=lambda name: (-len(name), name)))
    day = rf"(?:(?P<d0>{_D}){_TO})?(?P<d1>{_D})\s?(?:of\s)?"
    numbers = rf"{'|'.join(_NUMBERS)}|\d{{1,3}}"
    kinds = (
        rf"\d{{1,4}}(?:{_TO}\d{{1,4}})?(?:st|nd|rd|th|\.)?(?:\s(?:century|Jahrhunderts?))?\s?{_BEFORE_CHRIST}",
        rf"(?<!-)(?P<iy>{_Y})-(?P<im>\d\d)-(?P<id>\d\d)(?!\d|-\d)",
        rf"(?P<n1>\d\d?)(?P<sep>[./])\s?(?P<n2>\d\d?)(?P=sep)\s?(?P<ny>{_Y})(?!\w|[./]\d)",
        rf"(?:{day})?\b(?P<m>{month})\b\.?(?:\s(?P<d2>{_D})(?:{_TO}(?P<d3>{_D}))?(?![:.]\d))?"
        rf"(?:,?\s(?:of\s|the\syear\s)?(?P<y>{_Y}))?",
        r"(?P<decade>(?:1\d|20)\d0)(?:['’]?s\b|ern?\b(?:[\s-]Jahren?\b)?)",
        rf"(?:(?P<c0>{_ORDINAL})(?:[\s-](?i:century|Jahrhunderts?))?(?:{_TO}|{_DASH}\sund\s)"
        rf"(?:(?:the|zum|dem|early|late|mid|frühen|späten)[\s-]){{0,3}})?"
        rf"(?P<c1>{_ORDINAL})[\s-](?i:century|centuries|Jahrhunderts?\b|Jhs?\b\.?|Jhdt\b\.?)",
        rf"A\.?D\.?\s(?P<ad>[1-9]\d{{0,3}})\b|(?P<ce>[1-9]\d{{0,3}})\s?{_CHRIST}",
        rf"(?<!-)(?P<y1>{_Y})\s?(?P<dash>{_DASH}|/)\s?(?P<y2>{_Y}|\d\d)"
        rf"(?![\w%°/]|[.,:]\d|{_DASH}\d|\.?\s(?:{month})\b)",
        rf"(?<!-)(?P<year>{_Y}){_ALONE}",
        r"(?i:(?P<shift>last|previous|this|current|next|(?:letzt|vergangen|vorig|dies|laufend|nächst|kommend)e[mnrs])"
        r"\s(?P<unit>year|month|decade|century|Jahr|Monat|Jahrzehnt|Jahrhundert)(?:e?s)?)\b",
        rf"(?i:(?P<n>{numbers})\s(?P<back>year|month)s?\sago|vor\s(?P<n_de>{numbers})\s"
        r"(?P<back_de>Jahr|Monat)(?:en?)?|(?P<eve>yesterday|gestern))\b",
    )
    first = "\\w" if relative else r"\dADFJMNOSefnst"
    return re.compile(rf"{_NO_NUMBER}(?=[{first}])(?:{'|'.join(kinds if relative else kinds[:-2])})")


_PARTS = r"early|late|mid|middle|beginning|start|end|spring|summer|autumn|fall|winter|season|Anfang|Mitte|Ende|Beginn"
_PARTS += r"|Frühjahr|Frühling|Sommer|Herbst|Winter|years?|Jahre?[sn]?"
_FILL = (
    rf"(?:(?:{_PARTS}|at|least|the|latest|about|around|approximately|circa|c\.|ca\.?|etwa|rund|of|in|im|am|den?|dem|der"
    r"|des|zum|zur|spätestens|mindestens|wenigstens)[\s-]+){0,5}"
)
_LEAD = re.compile(
    r"\b(?i:(?P<not>not|never|nicht)\s+(?:\w+\s+){0,5}?)?(?i:(?P<between>between|zwischen)|(?P<plain>from|von|vom)"
    r"|(?P<since>since|seit(?:dem)?|ab|effective(?:\s(?:as\sof|from|on))?|starting|beginning(?=\s(?:in|on))|commencing"
    r"|as\sfrom|with\seffect\sfrom|mit\sWirkung\s(?:vom|zum))"
    r"|(?P<until>up\suntil|up\sto|until|till|til|through|bis)|(?P<before>before|prior\sto|vor)|(?P<after>after|nach))"
    rf"\s+(?P<fill>(?i:{_FILL}))\Z"
)
"""What before a point of time says that it is an end of an interval."""
_EVENT = re.compile(
    r"\b(?i:(?P<since>since|seit)|(?P<until>until|till|bis))\s(?i:(?:zu\w?\s)?(?:the|its|his|her|their|de[rmsn]|die|das"
    r"|sein\w*|ihre\w*)\s(?:[^\s,;:.()]+\s){1,6}?(?:in|on|of|from|am|im|von|vom|aus)\s)"
    rf"(?i:{_FILL})\Z"
)
"""The same with an event between, "until the amendment of 12 May 2020"."""
_JOIN = re.compile(rf"\s*(?:{_DASH}\s*|(?i:to|until|up\sto|till?|through|bis)\s+)(?i:{_FILL})")
_AND = re.compile(rf"\s+(?:and|und)\s+(?i:{_FILL})")
_LIST = re.compile(r"\s*(?:,|/|&|,?\s(?:and|or|und|oder|sowie))\s*(?:(?:in|the)\s)?")
_GOES_ON = re.compile(
    rf"\s?{_DASH}\s?(?:(?=[)\]])|(?i:(?:the\s)?present|today|now|heute)\b)"
    r"|\s(?i:(?:to|until|bis)\s(?:the\s)?(?:present(?:\sday)?|today|now|this\sday|heute|jetzt)"
    r"|onwards?|and\slater|an(?=[\s,.]+(?!\w+n\b)|\Z))\b"
)
"""What after a point of time says that it is the beginning of what has no end."""
_WINDOW = 96
"""Characters before a point of time that may say what it is."""


def times_in(text: str, written: str = "") -> list[Time]:
    """The times that ``text`` says, in order. ``written``: the ISO date of the text, by which "last year" is one."""
    points = _points(text, written)
    found: list[Time] = []
    number = before = 0
    while number < len(points):
        one = points[number]
        lead = _lead(text, max(before, one.start - _WINDOW), one.start)
        said = _range(text, one, points[number + 1], lead) if number + 1 < len(points) else None
        number += 1 if said is None else 2
        said = said or _one(text, one, lead)
        if said is not None:
            found.append(said)
            before = said.end
    return found


def _lead(text: str, start: int, end: int) -> dict[str, str | None]:
    """What ``text[start:end]`` says of the point of time after it, by the names of the groups; ``all`` is its words."""
    found = _LEAD.search(text[start:end]) or _EVENT.search(text[start:end])
    groups = dict.fromkeys(_LEAD.groupindex) | (found.groupdict() if found else {})
    return groups | {"all": found[0] if found else ""}


def period(text: str) -> tuple[str, str]:
    """The first day of a year, month or day, "2019-06", and the one after its last. Raises ``ValueError``."""
    parts = re.fullmatch(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?", text.strip())
    if parts is None:
        raise ValueError(text)
    first, after, _ = _days(*(int(each or 0) for each in parts.groups()))
    return first.isoformat(), after.isoformat()


def _range(text: str, one: _Point, other: _Point, lead: Mapping[str, str | None]) -> Time | None:
    """From ``one`` to ``other``, if what is between them, and the ``lead``, say so."""
    gap = text[one.end : other.start]
    if len(gap) > _WINDOW or not (_AND if lead["between"] else _JOIN).fullmatch(gap):
        return None
    if other.lacks_year:
        return None
    first = one.first
    if one.lacks_year:
        year = other.first.year - (first.month > other.first.month)
        try:
            first = first.replace(year=year)
        except ValueError:
            return None
    if first >= other.after:
        return None
    coarser = max(one.granularity, other.granularity, key=GRANULARITIES.index)
    return Time(one.start - len(lead["all"] or ""), other.end, first.isoformat(), other.after.isoformat(), coarser)


def _one(text: str, one: _Point, lead: Mapping[str, str | None]) -> Time | None:
    """What a single point says, by the words before and after it."""
    if one.lacks_year:
        return None
    since, until = one.first.isoformat(), one.after.isoformat()
    whole = Time(one.start, one.end, since, until, one.granularity)
    ended = replace(whole, start=one.start - len(lead["all"] or ""))
    goes_on = _GOES_ON.match(text, one.end)
    if goes_on and (lead["all"] or goes_on[0].strip() != "an"):
        return replace(ended, end=goes_on.end(), until=None)
    plain = (lead["plain"] or "").lower()
    is_origin = plain and (plain != "from" or one.granularity in ("decade", "century"))
    if is_origin or lead["between"] or (plain and "the" in (lead["fill"] or "").split()):  # "from the 1910 census"
        return whole
    ends = lead["until"] or lead["before"]
    if lead["since"] or plain or (lead["not"] and ends and ends.lower() != "bis"):  # "was not king until 1861"
        return replace(ended, until=None)
    if ends:
        return replace(ended, since=None, until=until if lead["until"] else since)
    return replace(ended, since=until, until=None) if lead["after"] else whole


def _points(text: str, written: str) -> list[_Point]:
    """The points of time in ``text``; ranges whose parts one expression has are one."""
    german: bool | None = None
    points: list[_Point] = []
    for found in _pattern(relative=bool(written)).finditer(text):
        try:
            days = _read(found, written)
        except (ValueError, OverflowError):  # the 31st of April
            continue
        if days is None:
            continue
        start, end = found.span()
        bare = found["year"] or (found["y1"] and "-")
        german = language_of(text) == "de" if bare and german is None else german
        if bare and not _is_year(text, start, end, bool(german), points[-1:], is_range=bare == "-"):
            if points and _JOIN.fullmatch(text[points[-1].end : start]):  # then what it goes on from is no year either
                points.pop()
            continue
        points.append(_Point(start, end, *days))
    return points


Days = tuple[date, date, str]


def _days(year: int, month: int = 0, day: int = 0) -> Days:
    if day:
        return date(year, month, day), date(year, month, day) + timedelta(1), "day"
    if month:
        return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1), "month"
    return date(year, 1, 1), date(year + 1, 1, 1), "year"


def _read(found: re.Match[str], written: str) -> tuple[date, date, str] | tuple[date, date, str, bool] | None:
    """The days of a match, None where it is none or says no year. Raises ``ValueError`` for days that there are not."""
    kind = found.groupdict()
    if kind["iy"]:
        return _days(*(int(kind[each]) for each in ("iy", "im", "id")))
    if kind["n1"]:
        day, month = int(kind["n1"]), int(kind["n2"])
        if kind["sep"] == "/" and month > 12:
            day, month = month, day
        is_sure = kind["sep"] == "." or day > 12 or day == month
        return _days(int(kind["ny"]), month, day) if is_sure else None
    if kind["m"]:
        return _of_month(kind)
    if kind["decade"]:
        year = int(kind["decade"])
        is_century = year % 100 == 0 and year < 2000 and found[0].endswith("s")
        size = 100 if is_century else 10
        return date(year, 1, 1), date(year + size, 1, 1), "century" if is_century else "decade"
    if kind["c1"]:
        last = _ordinal(kind["c1"])
        first = _ordinal(kind["c0"]) if kind["c0"] else last
        return (date(100 * first - 99, 1, 1), date(100 * last + 1, 1, 1), "century") if first <= last else None
    if kind["ad"] or kind["ce"]:
        return _days(int(kind["ad"] or kind["ce"]))
    if kind["y1"]:
        return _of_years(kind)
    if kind["year"]:
        return _days(int(kind["year"]))
    return _relative(kind, date.fromisoformat(written[:10])) if written else None


def _ordinal(words: str) -> int:
    return _ORDINALS.index(words) + 1 if words in _ORDINALS else int(re.sub(r"\D", "", words))


def _of_month(kind: dict[str, str | None]) -> tuple[date, date, str, bool]:
    month, year = _months()[kind["m"] or ""], int(kind["y"] or _LEAP)
    first, last = (kind["d0"], kind["d1"]) if kind["d1"] else (kind["d2"], kind["d3"])
    named = [int(re.sub(r"\D", "", each)) for each in (first, last) if each]
    if not named:
        return *_days(year, month), kind["y"] is None
    return date(year, month, named[0]), date(year, month, named[-1]) + timedelta(1), "day", kind["y"] is None


def _of_years(kind: dict[str, str | None]) -> Days | None:
    """ "1842–1861", "1914–18", "2011/12"; "2019-06" is a month."""
    first, short = int(kind["y1"] or 0), kind["y2"] or ""
    if len(short) == 4:
        return (date(first, 1, 1), date(int(short) + 1, 1, 1), "year") if first < int(short) else None
    last = first - first % 100 + int(short)
    if last > first:
        return date(first, 1, 1), date(last + 1, 1, 1), "year"
    return _days(first, int(short)) if kind["dash"] == "-" and int(short) else None


def _relative(kind: dict[str, str | None], day: date) -> Days | None:
    if kind["eve"]:
        return _days(*(day - timedelta(1)).timetuple()[:3])
    if kind["shift"]:
        shift = next(by for word, by in _SHIFTS.items() if (kind["shift"] or "").lower().startswith(word))
        unit = _UNITS[(kind["unit"] or "").lower()]
    else:
        number = (kind["n"] or kind["n_de"] or "").lower()
        shift = -int(number if number.isdecimal() else _NUMBERS[number])
        unit = _UNITS[(kind["back"] or kind["back_de"] or "").lower()]
    if unit == "month":
        months = day.year * 12 + day.month - 1 + shift
        return _days(months // 12, months % 12 + 1)
    size = {"year": 1, "decade": 10, "century": 100}[unit]
    year = day.year - (day.year - (unit == "century")) % size + shift * size
    return date(year, 1, 1), date(year + size, 1, 1), unit


_SURE = re.compile(rf"\b(?i:{_PARTS}|since|seit|anno|copyright)(?:\sof)?[\s-]\Z|[(\[©†]\s?\Z")
_CUE = re.compile(
    r"(?:\b(?:[Ii]n|[Ff]rom|[Uu]ntil|[Tt]ill?|[Bb]efore|[Aa]fter|[Dd]uring|[Bb]etween|[Tt]he|[Tt]his|[Hh]is|[Hh]er"
    r"|[Ii]ts|[Tt]heir|[Aa]n?|By|circa|c\.|ca\.|through|dated|throughout"
    rf"|\w+ed|born|built|held|made|won)\s(?i:{_FILL}))\Z|,\sby\s\Z"
)
"""What makes a number after it a year, if nothing after that speaks against it."""
_OF = re.compile(r"\bof\s\Z")
_AMOUNT = re.compile(
    r"\b(?:[Aa]n?|[Ww]ith|[Tt]otal|average|number|most|some|out|over)\s(?:\S+\s){0,3}of\s\Z|\b(?:out|all)\sof\s\Z"
)
_CUE_DE = re.compile(
    r"(?:\A|[.;:!?(]\s|,\s|\b[a-zäöüß]+[\s-]|\b(?:In|Im|Seit|Ab|Von|Bis|Vor|Nach|Um|Zwischen)\s)" rf"(?i:{_FILL})\Z"
)
_AMOUNT_DE = re.compile(
    r"\b(?i:auf|mit|über|etwa|rund|fast|knapp|circa|ca\.?|mindestens|höchstens|maximal|als|je|pro|aus|für|zu|bei|unter"
    r"|durch|an|gut|weitere[nr]?|jeweils|insgesamt)\s\Z"
)
_LABEL = re.compile(r"\b(?i:pp?|s|seiten?|pages?|lines?|zeilen?|verses?|nos?|nrs?|vol|art|abs)\.?\s\Z|§+\s?\Z")
_DESCRIBED = re.compile(r"\s[a-zäöüß]+e[nrm]?\s[A-ZÄÖÜ]")
"""An adjective and a noun, which may be what is counted: "2000 neue Wohnungen"."""
_NEXT = re.compile(r"\s([^\W\d_]+)")
_COUNTED = re.compile(
    r"(?:\w{3,}[^su]s|people|men|women|children|feet|fish|sheep|percent|per|prozent|hundred|thousand|million|billion"
    r"|mil(?:es?|l)|metres?|meters?|foot|square|cubic|k?m|[cm]m|k?g|lb|ft|mi|mph|kmh|hp|[km]?w|[kmgt]b|[kmg]?hz|rpm|ha|t)\Z"
)
"""What numbers count, in lower case: plurals, and units."""


def _is_year(text: str, start: int, end: int, german: bool, before: list[_Point], *, is_range: bool) -> bool:
    """Whether a number of four digits is a year, or two joined by a dash are (``is_range``). ``before``: the last point
    of time before it."""
    lead = text[max(0, start - _WINDOW) : start]
    after = _NEXT.match(text, end)
    word = after[1] if after else ""
    if _LABEL.search(lead):
        return False
    gap = text[before[0].end : start] if before and before[0].granularity != "century" else "."
    listed = len(gap) < _WINDOW and _LIST.fullmatch(gap) is not None
    joined = len(gap) < _WINDOW and any(each.fullmatch(gap) for each in (_JOIN, _AND))
    sure = is_range or _SURE.search(lead) is not None
    if _COUNTED.match(word) and not is_common(word, ENGLISH) and (is_range or not (sure and german)):
        return False
    is_round = text[end - 2 : end] == "00"  # as amounts mostly are
    may_count = german and (is_range or not sure) and (is_round or not joined)
    if may_count and (word[:1].isupper() or word == "auf" or _DESCRIBED.match(text, end)):
        return False
    if sure or joined or listed:
        return True
    if german:
        return _CUE_DE.search(lead) is not None and _AMOUNT_DE.search(lead) is None
    return _AMOUNT.search(lead) is None if _OF.search(lead) else _CUE.search(lead) is not None


def stated_time(text: str, start: int, end: int, names: Sequence[str], written: str = "") -> Time | None:
    """When that is so which the sentences of ``text[start:end]`` say of ``names``, the last of which is what is said of
    the others. Of several times it is that which the names have, else that of the clauses that have the last name.
    None where no time is said, or where it is not certain which."""
    around = [each for each in numbered(text) if each.start < end and start < each.end]
    if not around:
        return None
    first, last = around[0].start, around[-1].end
    times = [each for each in _times_of(text, written) if first <= each.start and each.end <= last]
    if len(_intervals(times)) < 2:
        return times[0] if times else None
    words = set(_WORDS.findall(" ".join(names)))
    named = [each for each in times if words.issuperset(_FIGURES.findall(text[each.start : each.end]) or [""])]
    if len(_intervals(named)) == 1:
        return named[0]
    places = [each.start for each in find_names(names[-1], text) if first <= each.start < last] if names else []
    clauses = _clauses(text, first, last, times)
    own = [each for left, right, of in clauses if any(left <= place < right for place in places) for each in of]
    return own[0] if len(_intervals(own)) == 1 else None


_WORDS, _FIGURES = re.compile(r"\w+"), re.compile(r"\d+\w*")


@lru_cache(maxsize=32)
def _times_of(text: str, written: str) -> tuple[Time, ...]:
    return tuple(times_in(text, written))


def _intervals(times: Sequence[Time]) -> set[tuple[str | None, str | None]]:
    return {(each.since, each.until) for each in times}


def _clauses(text: str, first: int, last: int, times: Sequence[Time]) -> list[tuple[int, int, list[Time]]]:
    """The clauses of ``text[first:last]`` with the times in them. What is only a time goes with what is before it, "was
    engineer (1857–1861)"; at the beginning, and after a word that joins, with what follows, "in 1990, he came"."""
    found: list[tuple[int, int, list[Time]]] = []
    start, leads, carried = first, True, list[Time]()
    cuts = [(each.start(), each.end(), each["and"] is not None) for each in _CLAUSE.finditer(text, first, last)]
    cuts = [cut for cut in cuts if not any(each.start < cut[1] - 1 and cut[0] < each.end for each in times)]
    for left, right, joins in [*cuts, (last, last, False)]:
        own = [each for each in times if start <= each.start and each.end <= left]
        said = sum(map(str.isalnum, text[start:left]))
        said -= sum(letter.isalnum() for each in own for letter in text[each.start : each.end])
        if said > (_ONLY if own else 0):
            found.append((start, left, carried + own))
            carried = []
        elif leads or not found:
            carried += own
        else:
            found[-1][2].extend(own)
        start, leads = right, joins
    return found


_CLAUSE = re.compile(r"[;:()\[\]—]|,\s|\s(?P<and>and|but|while|then|und|aber|sowie|dann)\s|\s–\s")
_ONLY = 6
"""Letters that stand with a time that is a clause by itself: "in the", "since"."""
