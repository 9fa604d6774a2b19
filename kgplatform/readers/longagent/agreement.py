"""Whether two answers are the same by the value of their numbers, dates and names, without a model.

same("15 September 1859", "September 15, 1859")       # True
same("1.5 million", "15 million")                     # False
is_part("Brunel", "Isambard Kingdom Brunel")          # True: a name without its first names
"""

from __future__ import annotations

import re
from functools import lru_cache

from kgplatform.readers.grounding import Date, dates_in
from kgplatform.text import normalise_name

_ARTICLE = re.compile(r"\b(?:the|an?)\b")
_THOUSANDS = re.compile(r"(?<=\d)[, ](?=\d{3}(?!\d))")
# All that is not a word, except the signs that make it another number or name: -5, 1.5, 2-1, C++, B-.
_SIGN = re.compile(
    r"(?P<minus>(?<!\w)[-−–](?=\d))|(?P<between>(?<=\d)[\W_]+(?=\d))|(?P<kept>(?<=\w)(?:[+#]+|-(?!\w)))|[\W_]"
)
_KEPT_SIGNS = {"minus": "-", "between": "."}
_EDGE = " \t\r\n.,;:!?*_`'\"“”‘’«»"
_ANNOUNCED = re.compile(r"^(?:the answer is|it (?:was|is)|answer:|that (?:was|is))[: ]+")
# "in 1859" is 1859; "before 1859" is not.
_AT = re.compile(
    r"^(?:(?:in|on|at|im|am|en|el|le|il|nel|em|op)(?: the)?(?: year| jahr| año)?|the year|year) "
    r"(?=\d|[^\W\d_]{3,10}\.? \d)"
)

_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
_COUNTED += "seventeen eighteen nineteen twenty"
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_NUMBER_OF = {word: str(number) for number, word in enumerate(_COUNTED.split())}

# Before a name these make another one: New York is not York, Lady Brunel is not Brunel.
_OTHERS = (
    "new north south east west northern southern eastern western upper lower great little old saint st san santa los "
    "las el fort port mount lake cape isle not no non anti former ex lady mrs madame frau queen princess junior jr"
)
_ANOTHER = frozenset(_OTHERS.split())
_MOST_NAMES = 5
_LONGEST_NAME = 80
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def same(first: str, second: str) -> bool:
    """Whether two answers have the same value, whatever their case, punctuation, articles and form of dates.

    1.5 and 15 are not the same.
    """
    return value_of(first) == value_of(second)


@lru_cache(maxsize=4096)
def value_of(answer: str) -> str | Date:
    """What makes two answers the same: a date, else the letters and signs that count."""
    folded = _AT.sub("", _ANNOUNCED.sub("", normalise_name(answer).strip(_EDGE)))
    date = _date(folded) if len(folded) <= _LONGEST_NAME else None
    return date or letters_of(_NUMBER_OF.get(folded.split(" ")[0], "") + folded[_first_length(folded) :])


def letters_of(answer: str) -> str:
    """An answer less case, punctuation, articles and spaces; one of signs alone is its own key."""
    folded = normalise_name(answer)
    return _SIGN.sub(_kept_sign, _ARTICLE.sub(" ", _THOUSANDS.sub("", folded))) or folded


def is_part(part: str, whole: str) -> bool:
    """Whether ``part`` is the less complete of two answers that agree: a year of a date, a name of a full name."""
    if max(len(part), len(whole)) > _LONGEST_NAME:
        return False
    first, second = _dated(value_of(part)), _dated(value_of(whole))
    if isinstance(first, tuple) and isinstance(second, tuple):
        return first != second and all(each in (0, other) for each, other in zip(first, second, strict=True))
    return not isinstance(first, tuple) and not isinstance(second, tuple) and _is_name_of(part, whole)


def _is_name_of(short: str, full: str) -> bool:
    """Whether both are names, and the full one ends as the short one does, with first names or initials before."""
    names, fulls = _WORD.findall(short), _WORD.findall(full)
    if not 0 < len(names) <= len(fulls) <= _MOST_NAMES or not all(word[0].isupper() for word in names + fulls):
        return False
    folded, whole = ([word.casefold() for word in words] for words in (names, fulls))
    if folded[-1] != whole[-1] or len(folded[-1]) < 3:
        return False
    if folded == whole[-len(folded) :]:
        return len(folded) < len(whole) and not _ANOTHER & set(whole[: -len(folded)])
    initials = [len(word) == 1 for word in folded[:-1]]
    return (
        len(folded) == len(whole)
        and any(initials)
        and all(
            word == other or (len(word) == 1 and other.startswith(word))
            for word, other in zip(folded, whole, strict=True)
        )
    )


def _dated(value: str | Date) -> str | Date:
    """A number that can be a year as one."""
    return (int(value), 0, 0) if isinstance(value, str) and _YEAR.fullmatch(value) else value


def _date(folded: str) -> Date | None:
    """The date that ``folded`` is, all of it, if it is one and no other."""
    whole = folded.removeprefix("the ")
    found = (dates for start, end, dates in dates_in(whole) if (start, end) == (0, len(whole)))
    return next((next(iter(dates)) for dates in found if len(dates) == 1), None)


def _first_length(folded: str) -> int:
    """Letters of the first word, if that is a number in words."""
    word = folded.split(" ")[0]
    return len(word) if word in _NUMBER_OF else 0


def _kept_sign(found: re.Match[str]) -> str:
    kind = found.lastgroup or ""
    return _KEPT_SIGNS.get(kind, found[0] if kind else "")
