"""Which pages a reply asks for: ReadAgent's two forms of look-up (section 3.2), as models really write them.

    read_request("I want to look up Page [8, 3, 3, 99] to …", known=range(9), most=5).taken     # (8, 3)
    read_next("**Page 4**, because …")                                                          # Next(page=4)
    read_next("STOP")                                                                           # Next(stop=True)

Pages are known by the numbers of their tags.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

NO_PAGE = "no such page"
NO_NUMBER = "no page number"
TWICE = "named twice"
TOO_MANY = "too many pages"
EMPTY = "empty reply"

_BETWEEN = r"(?:[\s,;&/*>)\]<(-]|and\b|or\b|then\b|to\b|[–—])"
_BRACKET = rf"\[[^\[\]]*\](?:{_BETWEEN}*(?:pages?\s*)?\[[^\[\]]*\])*"
_OF_PAGES = re.compile(rf"\bpages?\b[^\w\[\n]{{0,4}}({_BRACKET})", re.IGNORECASE)
_BRACKETED = re.compile(_BRACKET)
_IN_WORDS = re.compile(rf"\bpages?\b[^\w\[\n]{{0,4}}(\d+(?:{_BETWEEN}+(?:pages?\W{{0,3}})?\d+)*)", re.IGNORECASE)
_ENTRY = re.compile(r"[,;\[\]]|\band\b|\bor\b|\bthen\b|&", re.IGNORECASE)
_PAGE_WORD = re.compile(r"\bpages?\b", re.IGNORECASE)
# Two numbers with "to" or a dash between them, or one, which may be below zero.
_NUMBER = re.compile(r"(?<![\w.])(\d{1,6})\s*(?:[-–—]|\bto\b)\s*(\d{1,6})(?![\w.])|[-−]?\d+")
_NEXT = re.compile(r"\bpage\b\s*(?:number|no\.?)?[^\w\n-]{0,4}(\d+)", re.IGNORECASE)
_ONLY_NUMBER = re.compile(r"[^\w-]*(\d+)\W*")
_STOP = re.compile(r"\bstop\b", re.IGNORECASE)
_STOP_FIRST = re.compile(r"\W*stop\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Request:
    """The numbers that are ``taken``, in the order of the reply, and what else it names, as written, with the reason.

    ``fault``: what is wrong with a reply that says nothing. A reply that names no page asks for none, which is right
    where the gists are enough (section 4.5).
    """

    taken: tuple[int, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Next:
    """The one page that is asked for; ``stop``: none any more. Neither where the reply says neither."""

    page: int | None = None
    stop: bool = False


def read_request(text: str, known: Collection[int], most: int) -> Request:
    """The first list of pages in ``text``: at most ``most`` of ``known``, each once.

    A list in brackets that stands behind the word "page" counts first, then any that has a number, then numbers that
    stand behind that word ("Pages 7 and 12").
    """
    taken: list[int] = []
    refused: list[tuple[str, str]] = []
    for said, number in _entries(_listed(text)):
        reason = _refusal(number, taken, known, most)
        if reason or number is None:
            refused.append((said, reason))
        else:
            taken.append(number)
    return Request(tuple(taken), tuple(refused), "" if text.strip() else EMPTY)


def read_next(text: str) -> Next:
    """The first page that a reply names, unless it begins with STOP; STOP anywhere where it names none."""
    found = _NEXT.search(text) or _ONLY_NUMBER.fullmatch(text)
    if _STOP_FIRST.match(text) or (found is None and _STOP.search(text)):
        return Next(stop=True)
    return Next(int(found[1]) if found else None)


def _listed(text: str) -> str:
    if found := _OF_PAGES.search(text):
        return found[1]
    for bracketed in _BRACKETED.finditer(text):
        if any(letter.isdigit() for letter in bracketed[0]):
            return bracketed[0]
    return found[1] if (found := _IN_WORDS.search(text)) else ""


def _entries(listed: str) -> Iterator[tuple[str, int | None]]:
    """What a list names, as written, with its number; None for what has none."""
    for entry in filter(None, map(str.strip, _ENTRY.split(_PAGE_WORD.sub(" ", listed)))):
        numbers = list(_NUMBER.finditer(entry))
        if not numbers:
            yield entry, None
        for found in numbers:
            if found[1] is None:
                yield found[0], int(found[0].replace("−", "-"))
            else:
                yield from _between(found[0], int(found[1]), int(found[2]))


def _between(said: str, first: int, last: int) -> Iterator[tuple[str, int | None]]:
    """``3-5`` as 3, 4 and 5; what does not ascend, or is longer than any list, by its two ends."""
    if first < last <= first + 100:
        yield from ((str(number), number) for number in range(first, last + 1))
    else:
        yield from ((said, first), (said, last))


def _refusal(number: int | None, taken: Collection[int], known: Collection[int], most: int) -> str:
    if number is None:
        return NO_NUMBER
    if number not in known:
        return NO_PAGE
    if number in taken:
        return TWICE
    return TOO_MANY if len(taken) >= most else ""
