"""Which pages a reply asks for, all at once or one by one; and as what it is read.

    read_request(["8", "3-4", "99"], known=range(9), most=5)     # Request((8, 3, 4), (("99", "no such page"),))
    free_pages("The gist of Page [2] … look up Page [5, 6].")    # ['5, 6']
    free_next("The gist of page 4 is enough. STOP")              # 'STOP'

A page whose gist is only spoken of is not asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema, create_model

from kgplatform.models.forms import Form, Listed, Words, is_json, listed, named, thinking
from kgplatform.models.lenient import words_of

NO_PAGE = "no such page"
NO_NUMBER = "no page number"
TWICE = "named twice"
TOO_MANY = "too many pages"

_P = r"(?:pages?|seiten?|p[áa]ginas?|pagin[ae]|страниц\w*|页码?|頁|ページ|페이지)"
_AND = r"(?:and|or|then|to|und|oder|bis|et|ou|à|y|o|a|e|и|и|和|与|及|と)"
_BETWEEN = rf"(?:[\s,;&/*>)\]<(、，-]|{_AND}\b|[–—])"
_BRACKET = rf"\[[^\[\]]*\](?:{_BETWEEN}*(?:{_P}\s*)?\[[^\[\]]*\])*"
_OF_PAGES = re.compile(rf"(?<!\w){_P}\b[^\w\[\n]{{0,4}}({_BRACKET})", re.IGNORECASE)
_BRACKETED = re.compile(_BRACKET)
_IN_WORDS = re.compile(
    rf"(?<!\w){_P}(?:\s*(?:number|no\.?|nr\.?))?[^\w\[\n-]{{0,4}}(\d+(?:{_BETWEEN}+(?:{_P}\W{{0,3}})?\d+)*)"
    rf"|第?\s*(\d+(?:\s*[、,，和-]\s*第?\s*\d+)*)\s*(?:页|頁|ページ)",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"[,;、，\[\]]|\b(?:and|or|then|und|oder|et|ou|y|e)\b|和|と|&", re.IGNORECASE)
_PAGE_WORD = re.compile(rf"(?<!\w){_P}|第", re.IGNORECASE)
# Two numbers with "to" or a dash between them, or one, which may be below zero.
_NUMBER = re.compile(r"(?<![\w.])(\d{1,6})\s*(?:[-–—]|\bto\b|\bbis\b)\s*(\d{1,6})(?![\w.])|[-−]?\d+")

_LIST = rf"(?:{_BRACKET}|<?\d+>?(?:{_BETWEEN}+(?:<?{_P}\W{{0,3}})?\d+>?)*)"
# What is told of pages, and asks for none: "the gist of Page 4", "Page 4 says already", "because of page 9".
_SPOKEN_OF = re.compile(
    rf"\b(?:gists?|summar(?:y|ies)|zusammenfassung(?:en)?|r[ée]sum[ée]s?)\s+(?:of|for|on|from|in|von|de|der|du|des)?\s*"
    rf"(?:the\s+|la\s+)?<?{_P}\W{{0,4}}{_LIST}"
    rf"|<?{_P}\W{{0,4}}{_LIST}(?:['’]s)?\W{{0,3}}(?:gists?\b|(?:already|also|alone|clearly)?\s*(?:says?|said|tells?|told|"
    r"gives?|gave|answers?|states?|stated|mentions?|contains?|covers?|shows?|explains?)\b)"
    r"|\b(?:because|since|as|weil|denn|da|parce que|car|porque)\b[^.\n]*",
    re.IGNORECASE,
)
_WANTED = re.compile(
    r"\b(?:look(?:ing)?\s+up|re-?read|read(?:ing)?\s+again|(?:want|need|like)\s+to\s+(?:read|see|check|open)|nachlesen"
    r"|nachschlagen|noch einmal lesen|relire|consulter|releer|consultar)\b",
    re.IGNORECASE,
)
_NONE_WANTED = re.compile(
    r"\b(?:no|none|zero|not|n['’]t|nothing|without|enough|sufficient|keine?r?|nicht|nichts|genügen|reichen|aucune?|ninguna?|"
    r"suffisent|bastan)\b|不需要|无需|足够|必要ない|不要",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:considered|consider|thought|might|could|at first|rather than|instead of)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_ONLY_NUMBER = re.compile(r"[^\w-]*(\d+)\W*")
_STOP = re.compile(r"\bstop(?:pp|pe|ped)?\b|停止|ストップ", re.IGNORECASE)
_STOP_FIRST = re.compile(r"\W*(?:stop\b|停止)", re.IGNORECASE)
_STOP_WORDS = ("", "none", "null", "no page", "no more", "-1", "keine", "aucune", "ninguna")


@dataclass(frozen=True, slots=True)
class Request:
    """The numbers that are ``taken``, in the order of the reply, and what else it names, as written, with the reason.

    A reply that names no page asks for none, which is right where the gists are enough (section 4.5).
    """

    taken: tuple[int, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


class PagesReply(Form):
    """Pages to read again; none where the gists are enough."""

    PROMPT: ClassVar[str] = "readagent/lookup"
    COUNTS: ClassVar[str] = "pages"

    reasoning: Words = thinking()
    pages: Listed = named("pages page page_numbers pagenumbers lookup seiten seite páginas 页")

    @classmethod
    def free(cls, text: str) -> PagesReply | None:
        """Free text; None where it names numbers and says not that these are pages."""
        found = free_pages(text)
        is_unclear = not text.strip() or is_json(text, ("reasoning", "pages", "page"))
        if is_unclear or (not found and re.search(r"\d", text) and not _PAGE_WORD.search(text)):
            return None
        return cls.of(pages=found)


def _next_page(value: Any) -> int | None:
    """The page of a field, None for STOP. Raises ``ValueError`` where it is neither."""
    entries = listed(value)
    said = entries[0] if entries else words_of(value)
    if value is None or value is False or value == [] or said.casefold().strip(" .!\"'") in _STOP_WORDS:
        return None
    asked = read_next(said)
    if asked.page is None and not asked.stop:
        raise ValueError("write the number of one page, or STOP")
    return asked.page


_ONE = {"anyOf": [{"type": "integer"}, {"const": "STOP"}]}


class NextReply(Form):
    """One page to read again, None for STOP."""

    PROMPT: ClassVar[str] = "readagent/next"
    COUNTS: ClassVar[str] = "page"

    reasoning: Words = thinking()
    page: Annotated[int | None, BeforeValidator(_next_page), WithJsonSchema(_ONE)] = named(
        "page pages next_page page_number action answer seite página 页"
    )

    @classmethod
    def free(cls, text: str) -> NextReply | None:
        """Free text; None where it names no page and does not say STOP."""
        asked = read_next(text)
        if is_json(text, ("reasoning", "page")) or (asked.page is None and not asked.stop):
            return None
        return cls.of(page=asked.page)


@cache
def pages_reply(most: int) -> type[PagesReply]:
    """``PagesReply`` of at most so many pages."""
    schema = WithJsonSchema({"type": "array", "items": {"type": "integer"}, "maxItems": most})
    fields: Any = {"pages": (Annotated[Listed, schema], PagesReply.model_fields["pages"])}
    return create_model("PagesReply", __base__=PagesReply, **fields)


@dataclass(frozen=True, slots=True)
class Next:
    """The one page that is asked for; ``stop``: none any more. Neither where the reply says neither."""

    page: int | None = None
    stop: bool = False


def read_request(entries: Sequence[str], known: Collection[int], most: int) -> Request:
    """What ``entries`` name: at most ``most`` of ``known``, each once."""
    taken: list[int] = []
    refused: list[tuple[str, str]] = []
    for said, number in _numbers(entries):
        reason = _refusal(number, taken, known, most)
        if reason or number is None:
            refused.append((said, reason))
        else:
            taken.append(number)
    return Request(tuple(taken), tuple(refused))


def free_pages(text: str) -> list[str]:
    """The lists of pages that a text asks for: behind words such as "look up" first, else those in brackets behind
    the word "page", else any in brackets, else numbers behind that word ("Pages 7 and 12")."""
    sentences = [each for each in _SENTENCE.split(_SPOKEN_OF.sub(" ", text)) if each.strip()]
    asking = [each for each in sentences if _WANTED.search(each) and not _HEDGED.search(each)]
    for chosen in filter(None, (asking, sentences)):
        found = [entry for each in chosen if not _asks_for_none(each) for entry in _lists(each)]
        if found or any("[]" in each.replace(" ", "") for each in chosen):
            return [entry for entry in found if entry.strip()]
    return []


def read_next(text: str) -> Next:
    """The page that a text asks for first; STOP where it begins with that, or says it and asks for none."""
    if _STOP_FIRST.match(text):
        return Next(stop=True)
    if alone := _ONLY_NUMBER.fullmatch(text):
        return Next(int(alone[1]))
    sentences = [each for each in _SENTENCE.split(_SPOKEN_OF.sub(" ", text)) if not _asks_for_none(each)]
    entries = [entry for each in sentences for entry in _lists(each, bare=True)]
    numbers = [number for _, number in _numbers(entries) if number is not None and number >= 0]
    if numbers:
        return Next(numbers[0])
    return Next(stop=bool(_STOP.search(text)))


def _asks_for_none(sentence: str) -> bool:
    """Whether a sentence says that no page is wanted: "No page is needed", and not "No doubt: Page [5]"."""
    found = _NONE_WANTED.search(sentence)
    return found is not None and not _OF_PAGES.search(sentence) and not _WANTED.search(sentence[found.end() :])


def _lists(sentence: str, *, bare: bool = False) -> list[str]:
    if found := _OF_PAGES.findall(sentence):
        return found
    bracketed = [each[0] for each in _BRACKETED.finditer(sentence) if any(letter.isdigit() for letter in each[0])]
    if bracketed and not bare:
        return bracketed[:1]
    return [one or other for one, other in _IN_WORDS.findall(sentence)]


def _numbers(entries: Sequence[str]) -> Iterator[tuple[str, int | None]]:
    """What entries name, as written, with its number; None for what has none."""
    parts = (part for each in entries for part in _ENTRY.split(_PAGE_WORD.sub(" ", each)))
    for entry in filter(None, map(str.strip, parts)):
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
