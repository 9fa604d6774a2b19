"""The words of a text that tell something, in a form in which two texts that say the same have the same words.

    [word.keys for word in telling("It opened on 15 September 1859.")]    # …, {'D:1859-9-15', 'd:9-15', '#1859', …}

Numbers and dates count by their value, words by their stems and by families of words that stand for each other
(``word_families.yaml``), scripts without spaces by pairs of letters. English is known best; German, French and Spanish
have their months, numbers and commonest verbs. The time grows with the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from kgplatform.places import fold_words
from kgplatform.readers.families import LITTLE, NOT, Kind, Word, families, form, stem
from kgplatform.readers.figures import (
    DAY,
    MONTH_NAMES,
    NTH,
    OF,
    SCALE,
    SMALL,
    dated,
    han_value,
    joined_numbers,
    numbered,
    values_of,
)
from kgplatform.text import UNSPACED

_PIECE = re.compile(
    rf"(?P<iso>(?<!\d)\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d))"
    rf"|(?P<figures>(?<![\d.,/]){DAY}(?P<sep>[./]){DAY}(?P=sep)(?:\d{{4}}|\d{{2}})(?![\d/]))"
    rf"|(?P<asian>\d{{4}}\s?[年년](?:\s?\d{{1,2}}\s?[月월](?:\s?\d{{1,2}}\s?[日일])?)?)"
    rf"|(?P<daymonth>(?<![\d.,]){DAY}(?:st|nd|rd|th|er|\.|º)?{OF}(?:{MONTH_NAMES})\b\.?(?:(?:,|\s+(?:of|de|del))?\s*(?:\d{{4}})(?!\d))?)"
    rf"|(?P<monthday>\b(?:{MONTH_NAMES})\b\.?\s+(?:the\s+)?{DAY}(?:st|nd|rd|th)?(?![\d:.%]\d|\d)(?:,?\s+\d{{4}}(?!\d))?)"
    rf"|(?P<month>\b(?:{MONTH_NAMES})\b\.?(?:(?:,|\s+of|\s+de|\s+del)?\s+\d{{4}}(?!\d))?)"
    r"|(?P<clock>\d{1,2}:\d{2}(?!\d))"
    r"|(?P<nth>(?<![\d.,])\d+(?:st|nd|rd|th|e|º|ª|ème)(?!\w))"
    r"|(?P<number>\d{1,3}(?:[  \u202f'’]\d{3})+(?![\d\w])|\d+(?:[.,]\d+)*)"
    r"|(?P<sign>°\s?C\b|[%€$£¥])"
    rf"|(?P<unspaced>[{UNSPACED}]+)"
    r"|(?P<word>(?:[A-Z]\.){2,}|[^\W\d_](?:[^\W_]|[\u0300-\u036f])*)"
    r"|(?P<break>[,;:()\[\]–—\n]|\s-\s|[.!?](?=\s))",
    re.IGNORECASE,
)

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"})

LITTLE_IN_GERMAN = frozenset(("die", "war", "hat"))
"""Little words of German that are none in English."""

_ENGLISH = re.compile(r"\b(?:did|does|the|of|to|would|could)\b", re.IGNORECASE)


def _worded(found: re.Match[str]) -> Word:
    written, before = found[0], found.string[max(0, found.start() - 2) : found.start()]
    plain = fold_words(written).translate(_LETTERS).replace(".", "")
    refuses = plain in ("failed", "fails", "refused", "declined") and found.string[found.end() :].startswith(" to ")
    if refuses or (plain in NOT and not before.endswith("`")):
        return Word(found.start(), found.end(), "not", frozenset((f"w:{plain}",)), (), plain)
    is_unit = len(plain) == 1 and re.search(r"\d\s?$", before)
    is_little = plain in LITTLE and not is_unit and not (plain in LITTLE_IN_GERMAN and _ENGLISH.search(found.string))
    kind: Kind = "little" if is_little else "word"
    is_code = bool(re.search(r"[`_=]$|\w\.$", before))
    is_name = is_code or written[0].isupper() or any(letter.isupper() or letter.isdigit() for letter in written)
    if is_name and (kind == "word" or written.isupper()):
        kind = "name" if len(written) > 1 else "little"
    root = stem(plain)
    more = set(families().keys.get(root, ()))
    if plain.startswith("ge") and plain.endswith(("t", "en")) and len(plain) > 6:
        more.add(f"w:{stem(plain[2:-1] if plain.endswith('t') else plain[2:])}")
    keys = frozenset({f"n:{plain}", f"w:{root}", *more})
    wanted = (
        frozenset({f"n:{plain}", f"w:{root}", *more})
        if kind != "name" or len(root) > 5 or more
        else frozenset({f"n:{plain}", f"n:{plain.rstrip('s')}", f"n:{plain}s"})
    )
    return Word(found.start(), found.end(), kind, keys, (wanted,), written.casefold(), written)


# Particles and little words between which words of Chinese and Japanese stand, and endings of Korean ones.
_PARTICLES = re.compile(r"[的是在了和与由于被为有其这那个们位及者也都\u3040-\u309f]+")

_KOREAN_END = re.compile(
    r"(?:에서|으로|에게|까지|부터|이다|입니다|했다|했습니다|하였다|은|는|이|가|을|를|에|의|로|와|과|도)$"
)


def _unspaced(found: re.Match[str]) -> Iterator[Word]:
    """The letters of the words in a run that no white space parts; Han numerals as numbers."""
    run, start = found[0], found.start()
    if re.match(r"[\uac00-\ud7af]", run):
        run = _KOREAN_END.sub("", run)
    at = 0
    for gap in [*_PARTICLES.finditer(run), None]:
        end = gap.start() if gap else len(run)
        yield from _with_numerals(run[at:end], start + at)
        at = gap.end() if gap else end
        if gap:
            yield Word(start + end, start + at, "little", frozenset(), (), gap[0])


def _with_numerals(run: str, start: int) -> Iterator[Word]:
    at = 0
    for numeral in re.finditer(r"[零〇一二两三四五六七八九十百千万亿]{2,}", run):
        yield from _letters(run[at : numeral.start()], start + at)
        yield numbered(start + numeral.start(), start + numeral.end(), {han_value(numeral[0])}, numeral[0])
        at = numeral.end()
    yield from _letters(run[at:], start + at)


def _letters(run: str, start: int) -> Iterator[Word]:
    kind: Kind = "name" if len(run) > 1 else "little"
    for at, letter in enumerate(run):
        key = frozenset((f"c:{letter}",))
        yield Word(start + at, start + at + 1, kind, key, (key,), letter)


@lru_cache(maxsize=2048)
def telling(text: str) -> tuple[Word, ...]:
    """All words of ``text`` in order, and where its clauses end."""
    return tuple(joined_numbers(list(_words(text))))


def _words(text: str) -> Iterator[Word]:
    for found in _PIECE.finditer(text):
        group = found.lastgroup
        if group in ("iso", "figures", "sep", "asian", "daymonth", "monthday", "month"):
            if group == "month" and _is_verb(found):
                yield from _plain(found)
            else:
                yield dated(found)
        elif group == "unspaced":
            yield from _unspaced(found)
        elif group == "word":
            yield from _plain(found)
        elif group == "break":
            yield Word(found.start(), found.end(), "break", frozenset(), (), found[0])
        else:
            yield _figured(found)


def _is_verb(found: re.Match[str]) -> bool:
    """Whether "may", "march" and the like are no month here."""
    short = len(found[0]) <= 5 and found[0].isalpha()
    return short and (
        found[0].islower()
        or bool(re.match(r"\s+[a-z]+ed\b|\s+(?:not|be|he|she|it|they|bring|keep)\b", found.string[found.end() :]))
    )


def _plain(found: re.Match[str]) -> Iterator[Word]:
    """A word; a number in letters; "didn" before "'t" denies."""
    plain = fold_words(found[0])
    if plain in SMALL and not (plain == "one" and _is_pronoun(found)):
        yield numbered(found.start(), found.end(), {SMALL[plain]}, plain)
    elif plain in NTH:
        yield numbered(found.start(), found.end(), {NTH[plain]}, plain, f"w:{stem(plain)}")
    elif plain in SCALE and len(plain) > 2:
        yield numbered(found.start(), found.end(), {SCALE[plain]}, plain)
    elif re.match(r"n?['’]t\b", found.string[found.end() : found.end() + 3]) and len(plain) > 1:
        yield Word(found.start(), found.end() + 2, "not", frozenset(), (), plain)
    else:
        yield _worded(found)


def _is_pronoun(found: re.Match[str]) -> bool:
    """Whether "one" counts nothing: "one of them", "the one that", "this one"."""
    before, after = found.string[: found.start()].rstrip(), found.string[found.end() :]
    return bool(
        re.search(r"\b(?:the|this|that|which|no)$", before, re.I) or re.match(r"\s+(?:of|who|that|which)\b", after)
    )


_RANGE_BEGINS = re.compile(r"(?<!\d)(1\d|20)\d\d\s?[-–]$")
"""What stands before the "41" of "1936-41"."""


def _figured(found: re.Match[str]) -> Word:
    start, end = found.span()
    if found["clock"]:
        key = frozenset((f"t:{found[0].lstrip('0')}",))
        return Word(start, end, "number", key, (key,), found[0])
    if found["nth"]:
        return numbered(start, end, {float(re.sub(r"\D", "", found[0]))}, found[0])
    if found["sign"]:
        plain = found[0].replace(" ", "").lower()
        keys = frozenset({f"n:{plain}", *families().keys.get(form(plain), ())})
        return Word(start, end, "word", keys, (keys,), plain)
    values = values_of(found[0])
    if len(found[0]) == 2 and (begun := _RANGE_BEGINS.search(found.string[max(0, start - 6) : start])):
        values |= {100 * int(begun[1]) + value for value in values}
    return numbered(start, end, values, found[0])
