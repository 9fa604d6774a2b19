"""Where an answer that quotes nothing got its words from.

    cite_words("Casa Loma.", passages)                    # the first three passages that name it
    cite_words("The castle is Casa Loma.", passages)      # likewise: no passage has the whole of it, they have the name

Only words that can be told from others count: all of a short answer, a statement that stands there nearly to the
letter, or its names, numbers and quoted words. They are looked for in what was read and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from kgplatform.places import Place, find_names, find_statement, find_words
from kgplatform.records import Citation, FoundPassage
from kgplatform.sentences import sentences
from kgplatform.text import WORD_RUN, normalise_name

MOST = 3
"""Citations of one answer."""

_SHORT = 8
"""Words of an answer that is a name, a date or a number."""

_WORDS = r"[^\W\d_][\w'’.\-]*"
# Quoted words; numbers with what joins their parts; names: a word with a capital, and those that follow it, with short
# words between them ("Physical Geography of the Sea").
_TELLING = re.compile(
    r"[\"“«„](?P<quoted>[^\"”»“]{2,80})[\"”»“]"
    r"|(?P<number>\d+(?:[.,:/\-]\d+)*)"
    rf"|(?P<name>(?<!\w)(?=[^\W\d_a-zß-öø-ÿ]){_WORDS}(?:[ ](?:(?:of|the|de|la|von|van|and|du|der|del)[ ]){{0,2}}"
    rf"(?=[^\W\d_a-zß-öø-ÿ]){_WORDS})*)"
)
_EDGES = " \t\r\n.,;:!?*`'\"“”‘’«»()[]{}"
_SMALL = (
    "the a an in on at by from it he she they this that these those there his her its their and but so as for to of i "
    "we you both one who which what when where according based yes no after before since while because however"
)
_OPENERS = frozenset(_SMALL.split())
"""Words that have their capital, if they have one, from the beginning of a sentence."""

_NO_EVIDENCE = _OPENERS | {"true", "false", "none", "unknown", "unclear", "maybe", "not", "n/a"}
"""Answers that any text may hold by chance."""

_Find = Callable[[str], Place | None]


def cite_words(answer: str, passages: Sequence[FoundPassage]) -> tuple[Citation, ...]:
    """The places in ``passages`` that have the words of ``answer``: at most three, a passage each, in the given order.

    Empty where none can be found, and for a bare yes or no.
    """
    short = answer.strip(_EDGES)
    if len(WORD_RUN.findall(short)) <= _SHORT and (found := _cited(passages, lambda text: _short_answer(short, text))):
        return found
    unique: dict[str, Citation] = {}
    for each in sentences(answer):
        for citation in _of_statement(answer[each.start : each.end], passages):
            unique.setdefault(citation.passage, citation)
    return tuple(unique.values())[:MOST]


def _short_answer(answer: str, text: str) -> Place | None:
    if normalise_name(answer) in _NO_EVIDENCE:
        return None
    places = find_names(answer, text)
    return places[0] if places else None


def _of_statement(statement: str, passages: Sequence[FoundPassage]) -> tuple[Citation, ...]:
    """Passages that have the statement, else all of its telling words in one, else the rarest of them."""
    if len(WORD_RUN.findall(statement)) > 1 and (found := _cited(passages, lambda text: find_words(statement, text))):
        return found
    telling = list(dict.fromkeys(_telling(statement)))
    if len(telling) > 1 and (found := _cited(passages, lambda text: find_statement(None, telling, text))):
        return found
    single = (_cited(passages, _finder(words), most=len(passages)) for words in telling)
    held = [found for found in single if found]
    return min(held, key=len)[:MOST] if held else ()


def _finder(words: str) -> _Find:
    return lambda text: next(iter(find_names(words, text)), None)


def _telling(statement: str) -> Iterator[str]:
    for found in _TELLING.finditer(statement):
        words = found[found.lastgroup or 0].strip(_EDGES)
        if found.lastgroup == "name":
            words = _without_opener(words) if found.start() == 0 else words
        if len(words) > 1 or words.isdigit():
            yield words


def _without_opener(words: str) -> str:
    """A name at the beginning of a sentence, less the article or pronoun that has its capital from there."""
    parts = words.split(" ")
    while parts and parts[0].lower() in _OPENERS:
        parts = parts[1:]
    return " ".join(parts)


def _cited(passages: Sequence[FoundPassage], find: _Find, most: int = MOST) -> tuple[Citation, ...]:
    found: list[Citation] = []
    for passage in passages:
        place = find(passage.text) if len(found) < most else None
        if place is not None:
            found.append(cite(passage, place))
    return tuple(found)


def cite(passage: FoundPassage, place: Place) -> Citation:
    """The citation of ``passage.text[place.start:place.end]``."""
    start, end = passage.start + place.start, passage.start + place.end
    return Citation(passage.document, passage.title, start, end, passage.page, passage.id)
