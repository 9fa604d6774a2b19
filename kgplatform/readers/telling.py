"""The words of a text that tell something, in a form in which two texts that say the same have the same words.

    [word.keys for word in telling("It opened on 15 September 1859.")]    # …, {'D:1859-9-15', 'd:9-15', '#1859', …}

Numbers and dates count by their value, words by their stems and by families of words that stand for each other
(``word_families.yaml``), scripts without spaces by pairs of letters. English is known best; German, French and Spanish
have their months, numbers and commonest verbs. The time grows with the length of the text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Literal

import yaml

from kgplatform.places import fold_words
from kgplatform.text import UNSPACED

Kind = Literal["name", "number", "date", "word", "little", "not", "break"]
"""``little``: a word that says nothing by itself; ``not``: one that denies; ``break``: where a clause ends."""


@dataclass(frozen=True, slots=True)
class Word:
    """``text[start:end]``. ``keys``: the forms under which it is found; ``needs``: what another text must have to say
    the same: one key of each of these sets. ``plain``: folded."""

    start: int
    end: int
    kind: Kind
    keys: frozenset[str]
    needs: tuple[frozenset[str], ...]
    plain: str


_LITTLE = frozenset(
    """the a an in on at by from it its he she they this that these those there his her their him them and but so as for
    to of i we you both who whom whose which what when where why how is are was were be been being has have had do does
    did will would can could shall should may might with into onto upon about also than then or if while though
    although however because since since's s t d l m n c j qu re ve ll very some any each other another such same own
    just only even still yet too more over under up out off through during between among along within per via
    der die das den dem des ein eine einen einem einer eines und oder in im am an auf zu zum zur von vom mit fur bei aus
    nach ist sind war waren wird wurde wurden hat haben hatte er sie es sich als auch wer wen wem was wann wo wie warum
    seit uber um
    le la les un une du de des et ou au aux en dans sur par pour avec est sont etait ete a il elle ils elles se qui que
    quoi quand ou comment sa ses leur ce cet cette ces
    el los las una unos unas del al y o con para por es son fue fueron ha se lo su sus este esta que quien cuando donde
    desde ser era como mr mrs ms dr prof sir saint st""".split()
)
_GENERIC = frozenset(
    """yes ja oui si according passage passages text texts document documents source sources fact facts answer following
    person people place thing time name known call well likely approximately about some around roughly circa ca nearly
    together respectively namely specifically particular take took taken work order year jahr number total amount first
    then later located part degree degrees grad include including come go went happen occur be exist become know
    say says said state states stated tell tells told mention mentions mentioned describe describes described indicate
    indicates indicated report reports question asked above below listed finally overall therefore thus also hence
    moreover furthermore additionally""".split()
)
"""Words that an answer may add: they say next to nothing about what they stand beside."""

_NOT = frozenset(
    """not no never none nobody nothing neither nor without cannot unable failed fail fails nicht kein keine keinen
    keiner nie niemals ohne ne pas jamais aucun aucune sans nunca jamas ningun ninguno ninguna sin seldom rarely hardly""".split()
)

# -------------------------------------------------------------------------------------------------- numbers and dates

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
_MONTH_RE = "|".join(
    sorted({form for name in " ".join(_MONTHS).split() for form in (name, fold_words(name))}, key=len)[::-1]
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_OF = r"(?:\s+(?:of|de|del|d[’'])\s*|\s+|\s*-\s*)"
_UNITS = (
    "zero null zéro cero|one eins uno|two zwei deux dos|three drei trois tres|four vier quatre cuatro|five fünf cinq cinco|"
    "six sechs seis|seven sieben sept siete|eight acht huit ocho|nine neun neuf nueve|ten zehn dix diez|eleven elf onze|"
    "twelve zwölf douze doce|thirteen dreizehn treize trece|fourteen vierzehn catorce quatorze|fifteen fünfzehn quinze quince|"
    "sixteen sechzehn seize|seventeen siebzehn|eighteen achtzehn|nineteen neunzehn"
)
_TENS = (
    "twenty zwanzig vingt veinte|thirty dreissig trente treinta|forty vierzig quarante cuarenta|fifty fünfzig cinquante "
    "cincuenta|sixty sechzig soixante sesenta|seventy siebzig setenta|eighty achtzig ochenta|ninety neunzig noventa"
)
_ORDINALS = (
    "second|third dritte troisième tercer|fourth vierte|fifth fünfte|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
)
_SMALL = {
    **{fold_words(w): n for n, ws in enumerate(_UNITS.split("|")) for w in ws.split()},
    **{fold_words(w): 10 * n for n, ws in enumerate(_TENS.split("|"), 2) for w in ws.split()},
}
_NTH = {fold_words(w): n for n, ws in enumerate(_ORDINALS.split("|"), 2) for w in ws.split()}
_SCALE = {
    **dict.fromkeys(("hundred", "hundert", "cent", "cents", "ciento", "cientos"), 100),
    **dict.fromkeys(("thousand", "tausend", "mille", "mil", "k"), 1000),
    **dict.fromkeys(("million", "millions", "millionen", "millones", "millon", "mio", "mn"), 10**6),
    **dict.fromkeys(("billion", "billions", "milliarde", "milliarden", "milliards", "bn", "mrd"), 10**9),
}
_HAN = {letter: n for n, letter in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_SCALE = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}

_PIECE = re.compile(
    rf"(?P<iso>(?<!\d)\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d))"
    rf"|(?P<figures>(?<![\d.,/]){_DAY}(?P<sep>[./]){_DAY}(?P=sep)(?:\d{{4}}|\d{{2}})(?![\d/]))"
    rf"|(?P<asian>\d{{4}}\s?[年년](?:\s?\d{{1,2}}\s?[月월](?:\s?\d{{1,2}}\s?[日일])?)?)"
    rf"|(?P<daymonth>(?<![\d.,]){_DAY}(?:st|nd|rd|th|er|\.|º)?{_OF}(?:{_MONTH_RE})\b\.?(?:(?:,|\s+(?:of|de|del))?\s*(?:\d{{4}})(?!\d))?)"
    rf"|(?P<monthday>\b(?:{_MONTH_RE})\b\.?\s+(?:the\s+)?{_DAY}(?:st|nd|rd|th)?(?![\d:.%]\d|\d)(?:,?\s+\d{{4}}(?!\d))?)"
    rf"|(?P<month>\b(?:{_MONTH_RE})\b\.?(?:(?:,|\s+of|\s+de|\s+del)?\s+\d{{4}}(?!\d))?)"
    r"|(?P<clock>\d{1,2}:\d{2}(?!\d))"
    r"|(?P<nth>(?<![\d.,])\d+(?:st|nd|rd|th|e|º|ª|ème)(?!\w))"
    r"|(?P<number>\d{1,3}(?:[  \u202f'’]\d{3})+(?![\d\w])|\d+(?:[.,]\d+)*)"
    r"|(?P<sign>°\s?C\b|[%€$£¥])"
    rf"|(?P<unspaced>[{UNSPACED}]+)"
    r"|(?P<word>(?:[A-Z]\.){2,}|[^\W\d_](?:[^\W_]|[\u0300-\u036f])*)"
    r"|(?P<break>[,;:()\[\]–—\n]|\s-\s|[.!?](?=\s))",
    re.IGNORECASE,
)


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


def _dated(found: re.Match[str]) -> Word:
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


def _values(figures: str) -> set[float]:
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


def _numbered(start: int, end: int, values: set[float], plain: str, *more: str) -> Word:
    keys = frozenset({_number_key(value) for value in values} | set(more))
    return Word(start, end, "number", keys, (keys,), plain)


# -------------------------------------------------------------------------------------------------------------- words

_ENDINGS = sorted(
    "isations ization isation ations ation itions ition tions tion ings ing iest ied ies ier ments ment ness ists ist "
    "ers er ors or eurs eur euse ed es s en em e ly al ern age ung ungen ees ee ado ada idos ido ando es o a i y n".split(),
    key=len,
    reverse=True,
)
_SHORTEST_STEM = 4
_SPELT = {"iz": "is", "our": "or", "tre": "ter"}  # British and American
_SPELLING = re.compile(r"(?<=\w{3})(?:iz(?=[eia])|our(?!$)|our$|tre$)")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"})


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """``word``, folded before, without endings, the same for most forms of a word; of no use to people.

    >>> stem("designed") == stem("designer") == stem("designs")
    True
    """
    word = _SPELLING.sub(lambda found: _SPELT[found[0]], word)
    while len(word) > _SHORTEST_STEM:
        ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= _SHORTEST_STEM - 1), None)
        if ending is None:
            break
        word = word[: -len(ending)]
        if len(word) > _SHORTEST_STEM and word[-1] == word[-2]:
            word = word[:-1]
    return word


@dataclass(frozen=True, slots=True)
class _Families:
    """``keys``: the further keys of a stem. ``opposed``: keys that contradict a key. ``converse``: keys that say the
    same of two things in the other order."""

    keys: dict[str, frozenset[str]]
    opposed: dict[str, frozenset[str]]
    converse: dict[str, frozenset[str]]
    verbs: frozenset[str]


@cache
def _families() -> _Families:
    said = yaml.safe_load((resources.files("kgplatform.readers") / "word_families.yaml").read_text("utf-8"))
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for line in said["alike"]:
        head, *_ = words = line.split()
        for word in words:
            keys[_form(word)].add(f"={head}")
    for line in said["kinds"]:
        head, *words = line.split()
        for word in words:
            keys[_form(word)].add(f"w:{_form(head)}")
    pairs = {name: _others(said[name], keys) for name in ("opposed", "converse")}
    verbs = frozenset(f"w:{_form(word)}" for line in said["verbs"] for word in line.split())
    return _Families({root: frozenset(more) for root, more in keys.items()}, **pairs, verbs=verbs)


def _others(lines: Sequence[str], keys: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    """For each key of a word of a line, the keys of the line's other words."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in lines:
        forms = [
            {f"w:{_form(word)}", *(key for key in keys.get(_form(word), ()) if key[0] == "=")} for word in line.split()
        ]
        for at, one in enumerate(forms):
            for key in one:
                found[key] |= set().union(*forms[:at], *forms[at + 1 :]) - one
    return {key: frozenset(others) for key, others in found.items()}


def _form(word: str) -> str:
    return stem(fold_words(word))


def opposites(keys: frozenset[str]) -> frozenset[str]:
    """The keys of words that contradict a word with these ``keys``."""
    known = _families().opposed
    return frozenset(other for key in keys for other in known.get(key, ()))


def converses(keys: frozenset[str]) -> frozenset[str]:
    """The keys of words that say the same the other way round: "learn" of "teach"."""
    known = _families().converse
    return frozenset(other for key in keys for other in known.get(key, ()))


def is_relation(word: Word) -> bool:
    """Whether a word that is missing changes what is said: a verb, or one of the families' words."""
    if any(key in _families().opposed or key in _families().verbs or key[0] == "=" for key in word.keys):
        return True
    return word.plain.endswith(("ed", "ing", "ado", "ada", "ido", "ida", "iert", "te", "ten", "é", "ée"))


def is_generic(word: Word) -> bool:
    """Whether an answer may have this word although its text has not."""
    return word.plain in _GENERIC or (word.kind != "name" and word.plain.rstrip("s") in _GENERIC) or (word.kind == "word" and len(word.plain) < 2)


_GERMAN = frozenset(("die", "war", "hat"))
"""Little words of German that are none in English."""

_ENGLISH = re.compile(r"\b(?:did|does|the|of|to|would|could)\b", re.IGNORECASE)


def _worded(found: re.Match[str]) -> Word:
    written = found[0]
    plain = fold_words(written).translate(_LETTERS).replace(".", "")
    if plain in _NOT and found.string[max(0, found.start() - 1) : found.start()] != "`":
        return Word(found.start(), found.end(), "not", frozenset((f"w:{plain}",)), (), plain)
    is_little = plain in _LITTLE and not (plain in _GERMAN and _ENGLISH.search(found.string))
    kind: Kind = "little" if is_little else "word"
    is_code = bool(re.search(r"[`_=]$|\w\.$", found.string[max(0, found.start() - 2) : found.start()]))
    is_name = is_code or written[0].isupper() or any(letter.isupper() or letter.isdigit() for letter in written)
    if is_name and (kind == "word" or written.isupper()):
        kind = "name" if len(written) > 1 else "little"
    root = stem(plain)
    more = set(_families().keys.get(root, ()))
    if plain.startswith("ge") and plain.endswith(("t", "en")) and len(plain) > 6:
        more.add(f"w:{stem(plain[2:-1] if plain.endswith('t') else plain[2:])}")
    keys = frozenset({f"n:{plain}", f"w:{root}", *more})
    wanted = (
        frozenset({f"n:{plain}", f"w:{root}", *more})
        if kind != "name" or len(root) > 5 or more
        else frozenset({f"n:{plain}", f"n:{plain.rstrip('s')}", f"n:{plain}s"})
    )
    return Word(found.start(), found.end(), kind, keys, (wanted,), written.casefold())


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


def _with_numerals(run: str, start: int) -> Iterator[Word]:
    at = 0
    for numeral in re.finditer(r"[零〇一二两三四五六七八九十百千万亿]{2,}", run):
        yield from _letters(run[at : numeral.start()], start + at)
        yield _numbered(start + numeral.start(), start + numeral.end(), {_han_value(numeral[0])}, numeral[0])
        at = numeral.end()
    yield from _letters(run[at:], start + at)


def _letters(run: str, start: int) -> Iterator[Word]:
    kind: Kind = "name" if len(run) > 1 else "little"
    for at, letter in enumerate(run):
        key = frozenset((f"c:{letter}",))
        yield Word(start + at, start + at + 1, kind, key, (key,), letter)


def _han_value(numeral: str) -> float:
    total = part = digit = 0
    for letter in numeral:
        if letter in _HAN:
            digit = _HAN[letter]
        elif (scale := _HAN_SCALE[letter]) >= 10**4:
            total, part, digit = (total + part + digit) * scale, 0, 0
        else:
            part, digit = part + (digit or 1) * scale, 0
    return total + part + digit


# ------------------------------------------------------------------------------------------------------ the whole text


@lru_cache(maxsize=256)
def telling(text: str) -> tuple[Word, ...]:
    """All words of ``text`` in order, and where its clauses end."""
    return tuple(_joined(list(_words(text))))


def _words(text: str) -> Iterator[Word]:
    for found in _PIECE.finditer(text):
        group = found.lastgroup
        if group in ("iso", "figures", "sep", "asian", "daymonth", "monthday", "month"):
            if group == "month" and _is_verb(found):
                yield from _plain(found)
            else:
                yield _dated(found)
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
    if plain in _SMALL and not (plain == "one" and _is_pronoun(found)):
        yield _numbered(found.start(), found.end(), {_SMALL[plain]}, plain)
    elif plain in _NTH:
        yield _numbered(found.start(), found.end(), {_NTH[plain]}, plain, f"w:{stem(plain)}")
    elif plain in _SCALE and len(plain) > 2:
        yield _numbered(found.start(), found.end(), {_SCALE[plain]}, plain)
    elif re.match(r"n?['’]t\b", found.string[found.end() : found.end() + 3]) and len(plain) > 1:
        yield Word(found.start(), found.end() + 2, "not", frozenset(), (), plain)
    else:
        yield _worded(found)


def _is_pronoun(found: re.Match[str]) -> bool:
    """Whether "one" counts nothing: "one of them", "the one that", "this one"."""
    before, after = found.string[: found.start()].rstrip(), found.string[found.end() :]
    return bool(
        re.search(r"\b(?:the|this|that|which|no)$", before, re.I) or re.match(r"\s+(?:of|who|that|which)\b|\W*$", after)
    )


def _figured(found: re.Match[str]) -> Word:
    start, end = found.span()
    if found["clock"]:
        key = frozenset((f"t:{found[0].lstrip('0')}",))
        return Word(start, end, "number", key, (key,), found[0])
    if found["nth"]:
        return _numbered(start, end, {float(re.sub(r"\D", "", found[0]))}, found[0])
    if found["sign"]:
        plain = found[0].replace(" ", "").lower()
        keys = frozenset({f"n:{plain}", *_families().keys.get(_form(plain), ())})
        return Word(start, end, "word", keys, (keys,), plain)
    return _numbered(start, end, _values(found[0]), found[0])


def _joined(words: list[Word]) -> Iterator[Word]:
    """``words`` with numbers that several make as one: two hundred and twelve, 2.4 million, two and a half million."""
    at = 0
    while at < len(words):
        end, value = _run_of_numbers(words, at)
        if end > at + 1:
            yield _numbered(words[at].start, words[end - 1].end, {value}, words[at].plain)
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
        scale, worth = _SCALE.get(word.plain), _worth(word)
        plain_next = words[end + 1].plain if end + 1 < len(words) else ""
        if word.plain == "and" and plain_next == "a" and end + 2 < len(words) and words[end + 2].plain == "half":
            part, end = part + 0.5, end + 3
        elif scale:
            total, part = (total + part * scale, 0.0) if scale > 100 else (total, part * scale)
            end += 1
        elif word.plain == "and" and plain_next in _SMALL and part >= 100:
            end += 1
        elif worth is not None and word.plain in _SMALL and (part >= 100 or total or (part in _ROUND and worth < 10)):
            part, end = part + worth, end + 1
        else:
            break
    return end, total + part


_ROUND = frozenset(range(20, 100, 10))


def _worth(word: Word) -> float | None:
    if word.kind != "number" or word.plain in _NTH:
        return None
    if word.plain in _SMALL:
        return float(_SMALL[word.plain])
    if word.plain in _SCALE:
        return float(_SCALE[word.plain])
    values = (
        _values(word.plain) if word.plain[0].isdigit() and word.plain[-1].isdigit() and ":" not in word.plain else set()
    )
    return min(values) if values else None
