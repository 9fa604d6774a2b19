"""What an answer rests on: the sentences whose numbers stand behind its statements.

    grounded = ground("In Kingston [2.3]. He was born in 1815 [2.4].", shown)
    grounded.text              # 'In Kingston [1]. He was born in 1815 [2].'
    grounded.citations[0]      # Citation(document='…', start=12, end=40, text='He grew up in Kingston.', …)
    grounded.statements[1]     # Statement(…, citations=(2,), unread=('1815',), compared=True)

A number *is* a place, so nothing is matched and nothing is refused. What of a statement can be compared, its names,
numbers and dates, is marked where its citation does not have it (``unread``); whether the citation supports the
statement is not decided here: a relation that was turned round has no mark (``verify`` asks the model).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import chain, product
from typing import NamedTuple

import stopwordsiso
from babel import Locale
from unicode_rbnf import FormatPurpose, RbnfEngine
from unicode_rbnf.engine import RbnfError

from kgplatform.readers.window import Numbering, joined
from kgplatform.records import Citation, Statement
from kgplatform.text import UNSPACED, WORD
from kgplatform.text.languages import ENGLISH, NAMES, is_common, language_of, scripts_of, stems
from kgplatform.text.matching import fold_words
from kgplatform.text.sentences import FULL_ENDS, numbers_in, sentences

_NUMBERS = r"(?:(?:passages?|sentences?|facts?|and|to)\b|[\d\s.,;:、&‐-―~-]){0,200}"
_OPEN_MARK = rf"[\[【]+{_NUMBERS}\d{_NUMBERS}(?:[\]】]+|\Z)|\(\d+\.\d+{_NUMBERS}\)"
_MARK = re.compile(rf"[ \t\u00a0]*(?P<said>{_OPEN_MARK})", re.IGNORECASE)
# "He was born. [2.3]": the mark belongs to what stands before it.
_AFTER_END = re.compile(rf"([.!?…{FULL_ENDS}]+[\"'”’»)\]]*)((?:[ \t\u00a0]*(?:{_OPEN_MARK}))+)", re.IGNORECASE)
_LEFT = re.compile(r"[ \t\u00a0]+(?=[.,;:!?](?:\s|$))")
_RUN = re.compile(r"(?:\[[\d.]+\]){2,}")


@dataclass(frozen=True, slots=True)
class Grounded:
    """``text`` with the numbers of ``citations``, from 1; ``dropped``: how many of its numbers were not shown."""

    text: str
    citations: tuple[Citation, ...] = ()
    statements: tuple[Statement, ...] = ()
    dropped: int = 0


def ground(answer: str, shown: Numbering, evidence: Sequence[str] = ()) -> Grounded:
    """What ``answer`` rests on among what was ``shown``. ``evidence``: numbers that the reply names apart from its
    statements; where none of these has a number itself, they stand at the end and are those of all."""
    answer = settled(answer)
    meant = marks_in(answer)
    named = {number: shown.sources(number) for number in (*meant, *evidence)}
    known = {number: sources for number, sources in named.items() if sources is not None}
    whole = not any(number in known for number in meant)
    if whole:
        at_end = "".join(f"[{number}]" for number in evidence if number in known)
        plain = without_numbers(answer)
        words = plain.rstrip(f".!?…{FULL_ENDS}")
        answer = f"{words} {at_end}{plain[len(words) :]}" if at_end else plain
    spans = [(0, len(answer))] if whole else [(each.start, each.end) for each in sentences(answer)]
    places: dict[Citation, int] = {}
    cited, near = dict[int, None](), list[str]()

    def put(numbers: Sequence[str]) -> list[int]:
        own = [source for number in numbers for source in known.get(number, ())]
        near.extend(text for source in own for text in source.near)
        new = [places.setdefault(each, len(places) + 1) for each in joined([source.citation for source in own])]
        cited.update(dict.fromkeys(new))
        return new

    statements, text, at = list[Statement](), "", 0
    for start, end in spans:
        cited.clear()
        near.clear()
        said = renumbered(answer[start:end], put)
        found = unread(without_numbers(answer[start:end]), near) if cited else Unread((), compared=False)
        statements.append(Statement(said, tuple(cited), *found))
        text, at = text + answer[at:start] + said, end
    return Grounded(
        _LEFT.sub("", text + answer[at:]).strip(), tuple(places), tuple(statements), len(named) - len(known)
    )


def _named(mark: re.Match[str]) -> list[str] | None:
    """The numbers that a mark names; None for what is none: numbers above 99 are years or quantities in brackets."""
    numbers = numbers_in(mark["said"])
    is_stray = all("." not in number and int(number) > 99 for number in numbers)
    return None if is_stray else numbers


def without_numbers(text: str) -> str:
    """``text`` without the numbers of sentences, or of citations, behind its statements."""
    return renumbered(text, lambda numbers: ()).strip()


def marks_in(text: str) -> list[str]:
    """The numbers that stand behind the statements of ``text``, each once, in order."""
    return list(dict.fromkeys(number for mark in _MARK.finditer(text) for number in _named(mark) or ()))


def settled(text: str) -> str:
    """``text`` with the numbers that stand behind the end of a sentence before it: they belong to what it says."""
    return _AFTER_END.sub(r"\2\1", text.strip())


def renumbered(text: str, own: Callable[[Sequence[str]], Iterable[object]]) -> str:
    """``text`` with the numbers of each mark behind its statements as ``own`` gives them, side by side each once;
    without any it goes."""

    def put(mark: re.Match[str]) -> str:
        numbers = _named(mark)
        if numbers is None:
            return mark[0]
        kept = "".join(f"[{number}]" for number in dict.fromkeys(own(numbers)))
        return f" {kept}" if kept and not text[: mark.start()].endswith(("]", "】")) else kept

    once = _RUN.sub(lambda run: "".join(dict.fromkeys(re.findall(r"\[[\d.]+\]", run[0]))), _MARK.sub(put, text))
    return _LEFT.sub("", once)


_LETTER = rf"[^\W\d_{UNSPACED}]"
_MARKED = r"[\u0300-\u036f\u0900-\u0963]"
_Key = str | Decimal | tuple[int, int]  # what is compared: a folded word, what a number is worth, month and day
_Told = tuple[int, int, Iterable[set[_Key]]]
"""Where a statement says what can be compared, and the keys that say it: sources need all of one of these sets."""


class Unread(NamedTuple):
    """``words``: what stands in none of the sources, as the statement writes it, each once and in order. ``compared``:
    False for a statement in another language than its sources, of which nothing can be said."""

    words: tuple[str, ...]
    compared: bool


def unread(statement: str, sources: Sequence[str]) -> Unread:
    """The names, numbers and dates of ``statement``, a sentence without marks of citation, that none of ``sources``
    has: the sentences that it cites, those beside them, the title of the passage.

    Numbers and dates count by their value, names by their stems. Names of scripts without capitals are not compared,
    nor is in German a single word, because every noun has a capital there.
    """
    text = "\n".join(sources)
    if _is_of_another_language(statement, text):
        return Unread((), compared=False)
    language = language_of(f"{text}\n{statement}") or ENGLISH
    known, missing, rest = _known(text, language), list[tuple[int, str]](), statement
    for look in (_dates, _identifiers, _numbers, _names):
        for start, end, ways in look(rest, known, language):
            if not any(way <= known for way in ways):
                missing.append((start, statement[start:end]))
            rest = f"{rest[:start]}{'_' * (end - start)}{rest[end:]}"
    return Unread(tuple(dict.fromkeys(said for _, said in sorted(missing))), compared=True)


def _is_of_another_language(statement: str, text: str) -> bool:
    """Whether a statement is surely in another language than ``text``, which has but few of its words."""
    own, theirs = language_of(statement), language_of(text)
    if not own or not theirs or own == theirs:
        return False
    words = {word for word in WORD.findall(statement) if word == word.lower() and not word.isdecimal()}
    scripts = [max(letters, key=letters.__getitem__) for letters in map(scripts_of, (statement, text))]
    common = [word for word in WORD.findall(statement.lower()) if is_common(word, own) and not is_common(word, theirs)]
    is_sure = scripts[0] != scripts[1] or len(common) > 1
    return is_sure and 4 * len(words.intersection(WORD.findall(text))) < len(words)


@lru_cache(maxsize=64)
def _known(text: str, language: str) -> frozenset[_Key]:
    """All that ``text`` has: words, their stems and their beginnings; names in short ("US") and what they are in short
    ("N.A.T.O"), or with a letter for the first ("J smith"); numbers, months and days, identifiers and their labels."""
    words = _WORD.findall(text)
    capitals = [word for word in words if word[0].isupper()]
    initials = "".join(word[0] for word in capitals)
    known: set[_Key] = {key for word in words for key in (_folded(word), _stem(word, language))}
    known |= {f"{stump}…" for word in words for stump in _stumps(_folded(word), language)}
    known |= {short for word in capitals if (short := word.replace(".", "")).isupper()}
    known |= {".".join(initials[at : at + size]) for size in range(2, 7) for at in range(len(initials))}
    known |= {f"{one} {_folded(two)}" for one, two in zip(capitals, capitals[1:], strict=False) if len(one) == 1}
    known |= {key for *_, values, words in _numbers_in(text, language) for key in chain[_Key](values, [words])}
    for year, month, day in (date for *_, dates in dates_in(text) for date in dates):
        known |= {(month, 0), (month, day), *map(Decimal, filter(None, (year, day)))}
    for found in _IDENTIFIER.finditer(text):
        known |= {"".join(map(_folded, _PARTED.split(found[0]))), f"{found['label']} 0"}
    return frozenset(known)


Date = tuple[int, int, int]  # year, month and day; 0 is what is not said
_MONTH = 0xE000  # private letters stand in place of the name of a month: this, but first this and the month's number
_MAY_BE_MONTH = re.compile(rf"(?:[^\W\d_]|{_MARKED})+|(?<!\d)\d{{1,2}}[月월]")
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|e|[.ºª°日일])?(?!\d)"
_OF = r"[\s,-]{0,2}(?:(?:of|the|del?)\s|d['’])?"
_DATE = re.compile(
    rf"(?<![\d.,/])(?:(?:(?:{_DAY}\s?[-–/]\s?)?{_DAY}|\d{{4}}[年년]){_OF})?(?P<month>[\ue001-\ue00c])\ue000*\.?"
    rf"(?:{_OF}{_DAY})?(?:{_OF}\d{{3,4}}(?!\d|[.,/-]\d))?"
    r"|(?<![\d.,/])(?:\d{4}([-./])\d\d?\2\d\d?|\d\d?([-./])\s?\d\d?\3\s?(?:\d{4}|\d\d))(?!\d|[.,/-]\d)"
)


@lru_cache(maxsize=1)
def _months() -> dict[str, int]:
    """The number of each month by its names, in lower case: in full in all languages, in short in English."""
    widths = [*product(NAMES, ["wide"]), *product((ENGLISH, "en_GB"), ["abbreviated"])]
    names = (Locale.parse(code).months[each][width] for code, width in widths for each in ("format", "stand-alone"))
    return {name.lower(): month for of_code in names for month, name in of_code.items()}


def dates_in(text: str) -> Iterator[tuple[int, int, set[Date]]]:
    """Where ``text`` has a date, or a month by its name, and all that it may be."""
    months = _months()

    def put(word: re.Match[str]) -> str:
        month = months.get(word[0].lower())
        return chr(_MONTH + month) + chr(_MONTH) * (len(word[0]) - 1) if month else word[0]

    for found in _DATE.finditer(_MAY_BE_MONTH.sub(put, text)):
        figures = re.findall(r"\d+", found[0])
        years = [int(each) for each in figures if len(each) > 2]
        days = [int(each) for each in figures if len(each) < 3]
        if found["month"]:
            pairs = [(ord(found["month"]) - _MONTH, day) for day in days or [0]]
        else:
            years = years or [century + days[2] for century in (1900, 2000)]
            pairs = [(days[0], days[1])] if len(figures[0]) > 2 else [(days[0], days[1]), (days[1], days[0])]
        dates = {(year, month, day) for year in years or [0] for month, day in pairs if month < 13}
        if dates and all(day < 32 for *_, day in dates):
            yield found.start(), found.end(), dates


def _dates(statement: str, known: Collection[_Key], language: str) -> Iterator[_Told]:
    """Day and month stand together; the year may stand elsewhere, as the other dates of a text leave it out."""
    for start, end, dates in dates_in(statement):
        if any(map(str.isdecimal, statement[start:end])) or statement[start].isupper():
            yield start, end, [{(month, day), *([Decimal(year)] if year else [])} for year, month, day in dates]


_BLANK = " \u00a0\u2009\u202f"
_FIGURES = rf"(?:\d{{1,3}}(?:[{_BLANK}]\d{{3}}(?!\d))+(?:[.,٫]\d+)?|\d+(?:[.,'’٫٬]\d+)*)"
_engine = lru_cache(maxsize=64)(RbnfEngine.for_language)


@lru_cache(maxsize=64)
def _spelling(language: str) -> tuple[dict[str, int], re.Pattern[str], re.Pattern[str]]:
    """The words that multiply figures, how a number is written, and what may part its words, by CLDR."""
    scales = dict[str, int]()
    for code, width in product((*NAMES, "en_GB", language), ("long", "short")):
        formats = Locale.parse(code).compact_decimal_formats[width]
        for size, pattern in chain(*(each.items() for each in formats.values())):
            word = pattern.pattern.strip("0'. \u00a0").lower()
            if len(word.encode()) > (1 if code in ("en_GB", language) else 2):  # "bn", but of other languages "mln"
                scales[word] = int(size) * 10 // 10 ** pattern.pattern.count("0")
    numbers = {*range(1, 102), *range(200, 1000, 100), *(n * 10**zeros for n in (1, 2, 5) for zeros in (3, 5, 6, 7, 9))}
    written = [form for number in numbers for form in _written(language, number)]
    written += [form for number in range(3, 100) for form in _written(language, number, FormatPurpose.ORDINAL)]
    joins = Locale.parse(language).list_patterns["standard"]["2"].format("", "").strip().lower()
    gap = rf"[{_BLANK}‐-](?:{joins}[{_BLANK}‐-])?"
    no_number = {joins, *(form for number in (1, 2) for form in _written(language, number, FormatPurpose.ORDINAL))}
    word = rf"(?:{_any_of({word for form in written for word in form.split()} - no_number)})+"  # a second is none
    minus = _any_of(form.split()[0] for form in _written(language, -1))
    sign = rf"(?<![\w.,)\]%°])(?<!\d\s)[-−–‑]|(?<!{_LETTER})(?:{minus})\s?"
    scaled = rf"{_FIGURES}[{_BLANK}-]?(?:{_any_of(scales)})(?!{_LETTER})"
    number = (
        rf"(?P<minus>{sign})?(?P<figures>{scaled}(?:[{_BLANK}]?{scaled})*|{_FIGURES})"
        rf"|(?<!{_LETTER}){word}(?:{gap}{word})*(?!{_LETTER}|{_MARKED})|[〇零一二两兩三四五六七八九十百千万萬亿億]{{2,}}"
    )
    return scales, re.compile(number, re.IGNORECASE), re.compile(rf"\u00ad|{gap}", re.IGNORECASE)


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True))) or r"(?!)"


def _written(language: str, number: int, purpose: FormatPurpose = FormatPurpose.CARDINAL) -> list[str]:
    """``number`` in words, in some languages by gender and case; none where CLDR has no rule."""
    try:
        forms = _engine(language).format_number(number, purpose).text_by_ruleset.values()
    except (ValueError, RbnfError):
        return []
    return [form.lower().replace("-", " ").replace("\u00ad", "") for form in forms]


@lru_cache(maxsize=4096)
def _spelled(language: str, value: Decimal) -> frozenset[str]:
    """All that ``value`` may be in words, without what parts these; nothing for a fraction."""
    if value != int(value) or not 0 <= value < 10**12:
        return frozenset()
    forms = [form for purpose in FormatPurpose for form in _written(language, int(value), purpose)]
    forms += [form.split()[-1] for form in forms if value > 10 and str(int(value)).rstrip("0") == "1"]  # "a hundred"
    return frozenset(f"={_spelling(language)[2].sub('', form)}" for form in forms)


def _numbers_in(text: str, language: str) -> Iterator[tuple[int, int, set[Decimal], str]]:
    """The numbers in figures, by all that they may be worth ("1.200" is 1.2 too), and those in words, as ``_spelled``
    has them. No words for one: they are articles in many languages."""
    scales, number, gap = _spelling(language)
    for found in number.finditer(text):
        if not found["figures"]:
            words = f"={gap.sub('', found[0].lower())}"
            if words not in _spelled(language, Decimal(1)):
                yield *found.span(), set(), words
            continue
        sums = {Decimal(0)}
        for figures, scale in re.findall(rf"({_FIGURES})(\D*)", found["figures"]):
            *first, last = parts = re.findall(r"\d+", figures)
            whole = [Decimal("".join(parts))] if not first or len(last) == 3 else []
            values = [*whole, Decimal(f"{''.join(first)}.{last}")] if first else whole
            times = scales.get(scale.strip(f"-{_BLANK}").lower(), 1)
            sums = {each + value * times for each in sums for value in values}
        before = re.search(r"\b(\d\d)\d\d[-–/]\Z", text[max(0, found.start() - 6) : found.start()])  # "1936-41"
        sums |= {Decimal(before[1] + found[0])} if before and len(found[0]) == 2 else set()
        yield *found.span(), {-each for each in sums} if found["minus"] else sums, ""


def _numbers(statement: str, known: Collection[_Key], language: str) -> Iterator[_Told]:
    """Figures may be words in the sources, and words figures."""
    for start, end, values, words in _numbers_in(statement, language):
        as_words = (form for value in values for form in _spelled(language, value))
        as_figures = (key for key in known if words and isinstance(key, Decimal) and words in _spelled(language, key))
        yield start, end, ({key} for key in chain[_Key](values, as_words, [words] if words else [], as_figures))


_WORD = re.compile(rf"{_LETTER}(?:{_LETTER}|\d|{_MARKED})*(?:\.{_LETTER}(?!{_LETTER}))*")
_SIGN = rf"[^\W{UNSPACED}]"
_PARTED = re.compile(r"[ \u00a0\-‐‑]+")
_IDENTIFIER = re.compile(
    rf"(?<!{_SIGN})(?:(?P<label>[A-Z]{{2,}})[ \u00a0]\d+(?!\w|[.,]\d)|\d+(?:\.\d+){{3,}}(?![\w.]\w)"
    rf"|(?=(?:{_SIGN}|[-.:/@#+])*\d|\S*[^\W\d_]{{2}}[._/@:][^\W\d_]{{2}}){_LETTER}{_SIGN}*(?:[-.:/@#+]{_SIGN}+)*)"
)
_LETTERS = str.maketrans(dict(zip("'’øłđðıæœ", (" ", " ", "o", "l", "d", "d", "i", "ae", "oe"), strict=True)))
"""Letters that Unicode does not take apart, as they are written where a keyboard lacks them; "Vik's" is two words."""
_START = re.compile(r"(?:\A|[.!?…:;\n•*»“”\"(])\W*")
_BESIDE = re.compile(r"[ \u00a0]?(?:[.\-‐‑'’][ \u00a0]?)?\Z")


def _identifiers(statement: str, known: Collection[_Key], language: str) -> Iterator[_Told]:
    """Letters with digits, or words with signs between them: as a whole, or by parts, unless its label has others."""
    for found in _IDENTIFIER.finditer(statement):
        parts = _PARTED.split(found[0])
        ways: list[set[_Key]] = [{"".join(map(_folded, parts))}]
        if len(parts) > 1 and f"{found['label']} 0" not in known:
            ways.append({Decimal(part) if part.isdecimal() else _folded(part) for part in parts})
        yield *found.span(), ways


def _names(statement: str, known: Collection[_Key], language: str) -> Iterator[_Told]:
    """Words with a capital, but for those that say nothing, and for what opens a sentence and is no name for sure."""
    words, starts = list(_WORD.finditer(statement)), {found.end() for found in _START.finditer(statement)}
    runs: list[list[re.Match[str]]] = []
    for word in words:
        said = word[0]
        is_inside = len(said) > 2 and language != "de" and word.start() not in starts
        says_something = said.isupper() or is_inside or _folded(said) not in _says_nothing(language)
        if said != said.lower() and len(said) > 1 and says_something:
            is_beside = runs and _BESIDE.match(statement, runs[-1][-1].end(), word.start())
            runs = [*runs[:-1], [*runs[-1], word]] if is_beside else [*runs, [word]]
    for run in runs:
        is_noun = language == "de" and len(words) > 3  # in an answer that is no sentence it may be a name
        is_inflected = len(run[0][0]) - len(_stem(run[0][0], language)) > 1
        if len(run) == 1 and (
            is_noun or (is_inflected and len(statement) > len(run[0][0]) + 1 and run[0].start() in starts)
        ):
            continue
        initials = "".join(word[0][0] for word in run) if len(run) > 1 else "…"
        for word, following in zip(run, [*(_folded(word[0]) for word in run[1:]), ""], strict=True):
            said, short = _folded(word[0]), word[0].replace(".", "")
            ways = [said, _stem(word[0], language), f"{said}…", *_stumps(said, language), f"{word[0][0]} {following}"]
            ways += [short, ".".join(short)] if short.isupper() else []
            yield *word.span(), [{way} for way in (*ways, initials)]


@lru_cache(maxsize=64)
def _says_nothing(language: str) -> frozenset[str]:
    """The folded words without a meaning of their own, of a language and of English."""
    known = [code for code in (language, ENGLISH) if stopwordsiso.has_lang(code)]
    return frozenset(map(_folded, stopwordsiso.stopwords(known)))


def _folded(words: str) -> str:
    return fold_words(words.lower().translate(_LETTERS))


@lru_cache(maxsize=8192)
def _stem(word: str, language: str) -> str:
    return _folded("".join(stems(word, language)) or word)


def _stumps(word: str, language: str) -> list[str]:
    """A folded word with other endings than its own: "iceland" of "icelandic", "africa" of "african"; in English not
    "paul" of "paula"."""
    is_name = language == ENGLISH and word[-2:-1] not in set("aeiouy")
    return [word[:size] for size in range(max(4, len(word) - 4), len(word) - is_name)]
