"""Numbers and dates by their value, in figures or in letters, in five languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kgplatform.places import fold_words
from kgplatform.readers.families import Word

_MONTHS = (
    "january jan januar janvier enero gennaio januari",
    "february feb februar février febrero febbraio",
    "march mar märz mars marzo maart",
    "april apr avril abril aprile",
    "may mai mayo maggio mei",
    "june jun juni juin junio giugno",
    "july jul juli juillet julio luglio",
    "august aug août agosto",
    "september sep sept septembre septiembre settembre",
    "october oct oktober octobre octubre ottobre",
    "november nov novembre noviembre",
    "december dec dezember décembre diciembre dicembre",
)

_MONTH = {fold_words(name): n for n, names in enumerate(_MONTHS, 1) for name in names.split()}

MONTH_NAMES = "|".join(
    sorted({form for name in " ".join(_MONTHS).split() for form in (name, fold_words(name))}, key=len)[::-1]
)

DAY = r"(?:0?[1-9]|[12]\d|3[01])"

OF = r"(?:\s+(?:of|de|del|d[’'])\s*|\s+|\s*-\s*)"

_UNITS = (
    "zero null zéro cero|one eins uno|two zwei deux dos|three drei trois tres|four vier quatre cuatro|"
    "five fünf cinq cinco|six sechs seis|seven sieben sept siete|eight acht huit ocho|nine neun neuf nueve|"
    "ten zehn dix diez|eleven elf onze|twelve zwölf douze doce|thirteen dreizehn treize trece|"
    "fourteen vierzehn catorce quatorze|fifteen fünfzehn quinze quince|sixteen sechzehn seize|seventeen siebzehn|"
    "eighteen achtzehn|nineteen neunzehn"
)
_TENS = (
    "twenty zwanzig vingt veinte|thirty dreissig trente treinta|forty vierzig quarante cuarenta|"
    "fifty fünfzig cinquante cincuenta|sixty sechzig soixante sesenta|seventy siebzig setenta|eighty achtzig ochenta|"
    "ninety neunzig noventa"
)
_ORDINALS = (
    "second|third dritte troisième tercer|fourth vierte|fifth fünfte|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|"
    "thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth"
)

SMALL = {
    **{fold_words(w): n for n, ws in enumerate(_UNITS.split("|")) for w in ws.split()},
    **{fold_words(w): 10 * n for n, ws in enumerate(_TENS.split("|"), 2) for w in ws.split()},
}

NTH = {fold_words(w): n for n, ws in enumerate(_ORDINALS.split("|"), 2) for w in ws.split()}

SCALE = {
    **dict.fromkeys(("hundred", "hundert", "cent", "cents", "ciento", "cientos"), 100),
    **dict.fromkeys(("thousand", "tausend", "mille", "mil", "k"), 1000),
    **dict.fromkeys(("million", "millions", "millionen", "millones", "millon", "mio", "mn"), 10**6),
    **dict.fromkeys(("billion", "billions", "milliarde", "milliarden", "milliards", "bn", "mrd"), 10**9),
}

_HAN = {letter: n for n, letter in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}

_HAN_SCALE = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}


def _date_word(found: re.Match[str], year: str, pairs: Sequence[tuple[int, int]], month: int = 0) -> Word:
    """A date by its parts; ``pairs``: (month, day), two where the order of the figures is not known."""
    keys, full = set(), set()
    for month_, day in pairs:
        full |= {f"D:{year}-{month_}-{day}", f"?d:{month_}-{day}"} if year else {f"d:{month_}-{day}"}
        keys |= {f"d:{month_}-{day}", f"m:{month_}", f"#{day}"}
        keys |= {f"D:{year}-{month_}-{day}", f"M:{year}-{month_}"} if year else {f"?d:{month_}-{day}", f"?m:{month_}"}
    if month:
        full = {f"M:{year}-{month}", f"?m:{month}"} if year else {f"m:{month}"}
        keys = {f"m:{month}", f"M:{year}-{month}" if year else f"?m:{month}"}
    needs = [frozenset(full)] if full else []
    if year:
        keys.add(f"#{year}")
        needs.append(frozenset((f"#{year}",)))
    return Word(found.start(), found.end(), "date", frozenset(keys), tuple(needs), found[0])


def dated(found: re.Match[str]) -> Word:
    """What the patterns of dates found."""
    figures = [int(each) for each in re.findall(r"\d+", found[0])]
    if found.lastgroup in ("iso", "asian"):
        year, *rest = figures
        return _date_word(
            found, str(year), [(rest[0], rest[1])] if len(rest) > 1 else [], rest[0] if len(rest) == 1 else 0
        )
    if found.lastgroup == "sep" or found["figures"]:
        one, other, year = figures
        pairs = [(month, day) for month, day in ((other, one), (one, other)) if month <= 12]
        return _date_word(found, str(year if year > 99 else 1900 + year), pairs)
    name = next(_MONTH[word] for word in re.findall(r"[^\W\d_]+", fold_words(found[0])) if word in _MONTH)
    year_ = str(figures.pop()) if figures and figures[-1] > 31 else ""
    return _date_word(found, year_, [(name, figures[0])] if figures else [], 0 if figures else name)


def values_of(figures: str) -> set[float]:
    """What a number in figures may be worth: 3.500 is three and a half, or three thousand five hundred."""
    bare = re.sub(r"[\s'’]", "", figures)
    values = set()
    if re.fullmatch(r"\d+(?:[.,]\d{3})*", bare) or re.fullmatch(
        r"\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:\.\d{3})+,\d+", bare
    ):
        whole, _, part = bare.rpartition(".") if re.search(r"\.\d+$", bare) and "," in bare else bare.rpartition(",")
        mixed = "." in bare and "," in bare
        values.add(float(re.sub(r"[.,]", "", whole) + "." + part) if mixed else float(re.sub(r"[.,]", "", bare)))
    if re.fullmatch(r"\d+(?:[.,]\d+)?", bare):
        values.add(float(bare.replace(",", ".")))
    return values or {float(each) for each in re.findall(r"\d+", bare)}


def _number_key(value: float) -> str:
    return f"#{int(value)}" if value == int(value) else f"#{round(value, 6)}"


def numbered(start: int, end: int, values: set[float], plain: str, *more: str) -> Word:
    keys = frozenset({_number_key(value) for value in values} | set(more))
    return Word(start, end, "number", keys, (keys,), plain)


def han_value(numeral: str) -> float:
    total = part = digit = 0
    for letter in numeral:
        if letter in _HAN:
            digit = _HAN[letter]
        elif (scale := _HAN_SCALE[letter]) >= 10**4:
            total, part, digit = (total + part + digit) * scale, 0, 0
        else:
            part, digit = part + (digit or 1) * scale, 0
    return total + part + digit


def joined_numbers(words: list[Word]) -> Iterator[Word]:
    """``words`` with numbers that several make as one: two hundred and twelve, 2.4 million, two and a half million."""
    at = 0
    while at < len(words):
        end, value = _run_of_numbers(words, at)
        if end > at + 1:
            yield numbered(words[at].start, words[end - 1].end, {value}, words[at].plain)
        else:
            yield words[at]
        at = end


def _run_of_numbers(words: list[Word], at: int) -> tuple[int, float]:
    """The end of the number that begins at ``at``, and its value."""
    first = _worth(words[at])
    if first is None:
        return at + 1, 0.0
    total, part, end = 0.0, first, at + 1
    while end < len(words):
        word = words[end]
        scale, worth = SCALE.get(word.plain), _worth(word)
        plain_next = words[end + 1].plain if end + 1 < len(words) else ""
        if word.plain == "and" and plain_next == "a" and end + 2 < len(words) and words[end + 2].plain == "half":
            part, end = part + 0.5, end + 3
        elif scale:
            total, part = (total + part * scale, 0.0) if scale > 100 else (total, part * scale)
            end += 1
        elif word.plain == "and" and plain_next in SMALL and part >= 100:
            end += 1
        elif worth is not None and word.plain in SMALL and (part >= 100 or total or (part in _ROUND and worth < 10)):
            part, end = part + worth, end + 1
        else:
            break
    return end, total + part


_ROUND = frozenset(range(20, 100, 10))


def _worth(word: Word) -> float | None:
    if word.kind != "number" or word.plain in NTH:
        return None
    if word.plain in SMALL:
        return float(SMALL[word.plain])
    if word.plain in SCALE:
        return float(SCALE[word.plain])
    values = (
        values_of(word.plain)
        if word.plain[0].isdigit() and word.plain[-1].isdigit() and ":" not in word.plain
        else set()
    )
    return min(values) if values else None
