"""What a prompt has room for in a language model's window, and the numbers of what it shows.

    window = Window(4096)
    room = window.room(messages)                 # messages without their data
    for page in pack(pieces, room): …            # the indices of the pieces of each prompt

Nothing is left out: pieces are put on as many pages as they need, and a piece that is larger than a page is cut by
``cut`` into parts that are all of it. In all prompts of one run, sentence 3 of passage 2 is [2.3]:

    shown = Numbering()
    shown.passages(result.passages)          # 'Passage 1: Atlantic cable\n[1.1] The cable broke.\n[1.2] …'
    shown.facts(result.facts)                # '[0.1] Cyrus Field founded the Atlantic Telegraph Company'
    shown.source("1.2").citation             # the characters of the document that [1.2] stands for
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from kgplatform.errors import InputError
from kgplatform.prompt import Messages
from kgplatform.records import Citation, FoundFact, FoundPassage
from kgplatform.search.found import part_of
from kgplatform.text import count_tokens, tokens_more
from kgplatform.text.sentences import LIKELY, lines, numbered, ranked_sentences

SMALLEST = 1000
"""Tokens. In less, no prompt of the readers leaves room for data."""
_LEAST_ROOM = 100  # tokens of text that a prompt must have room for
NAME_TOKENS = 60
"""A longer name is shown cut."""
_SHARE = 0.9  # of the window that a prompt may fill by our count, which can be a tenth below the server's
_PER_MESSAGE = 4
_LETTERS = 5  # of a token, about: where the end of a part is looked for first
_LINES = re.compile(r"\n+")
_LONG_NAME = re.compile(r"[A-Z][a-z]{5,}")
_LONG_WORD = re.compile(r"[A-Za-z]{12,}")
_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class Window:
    """A window of ``tokens``, nine tenths of which prompt and reply fill at most; ``reply``: what is kept for it."""

    tokens: int
    reply: int = 0

    @property
    def limit(self) -> int:
        """Tokens of the largest prompt, by our count."""
        return int(self.tokens * _SHARE) - self.reply

    def room(self, messages: Messages) -> int:
        """How many tokens of data ``messages`` leave room for; below 0 where they are too large already."""
        return self.limit - cost(messages)

    def check(self, question: str, room: int, least: int, what: str) -> None:
        """Raise ``InputError`` where ``room`` tokens are fewer than the ``least`` for ``what``, which says if a shorter
        ``question`` would do."""
        length, lacking = tokens(question), least - room
        if 0 < lacking < length:
            raise InputError(
                f"The question has about {length:,} tokens, and a window of {self.tokens:,} tokens leaves room for "
                f"{length - lacking:,}. Ask it in fewer words, or raise window_tokens.",
                "window_tokens",
            )
        if lacking > 0:
            said = f"A window of {self.tokens:,} tokens has no room for {what}. Raise window_tokens."
            raise InputError(said, "window_tokens")


def window_of(window_tokens: int | None, preset: str, context: int, paper: int) -> int:
    """The window that is asked for, else that of the ``paper``, else that of the model: ``context``."""
    return window_tokens or (paper if preset == "paper" else context)


def room_for(window: Window, question: str, messages: Messages, reserved: int = 0) -> int:
    """Tokens of text that fit into ``messages``, beside the reply and what is ``reserved``. Raises ``InputError``."""
    room = window.room(messages) - reserved
    window.check(question, room, _LEAST_ROOM, "a text")
    return room


def cost(messages: Messages) -> int:
    """The tokens of a prompt."""
    return sum(tokens(message["content"]) + _PER_MESSAGE for message in messages)


def tokens(text: str) -> int:
    """About how many tokens ``text`` takes in a window, rather too many than too few.

    ``count_tokens`` is made for prose, and for the default model. Lists of names, one a line, cost a third more (every
    line end is a token, names are rarely one). Compounds, as German has, and letters other than English ones cost up to
    three times as much with other models: of six tokenizers in use, none needs a tenth more for a text in any of the
    fifteen languages of docs/explanation/benchmarks/languages.md.
    """
    return math.ceil(_weight(text))


def pack(pieces: Sequence[str], room: int) -> list[list[int]]:
    """The indices of ``pieces`` by page: in order, whole, each page within ``room`` tokens. A line end is counted after
    each piece. A piece larger than ``room`` has a page to itself: ``cut`` it before."""
    pages: list[list[int]] = []
    left = 0.0
    for number, piece in enumerate(pieces):
        weight = _weight(piece) + 1
        if not pages or weight > left:
            pages.append([])
            left = float(room)
        pages[-1].append(number)
        left -= weight
    return pages


def cut(text: str, room: int) -> list[str]:
    """``text`` in parts of at most ``room`` tokens, at ends of sentences, else of lines, between words, or anywhere.
    The parts joined are ``text``, white space and all."""
    parts: list[str] = []
    while text:
        end = head(text, room)
        parts.append(text[:end])
        text = text[end:]
    return parts


def head(text: str, room: int) -> int:
    """Where the first part of ``text`` ends, as ``cut`` cuts it: all of it if it fits, and never nothing."""
    within = _longest(text, room)
    if within == len(text):
        return within
    starts = [start for start, _, _ in ranked_sentences(text[: within + 1], LIKELY) if 0 < start <= within]
    if starts:
        return starts[-1]
    lines = [found.end() for found in _LINES.finditer(text[:within]) if found.end() > within // 2]
    if lines:
        return lines[-1]
    ends = [found.end() for found in _WORD.finditer(text[:within]) if found.end() < within or text[within].isspace()]
    return ends[-1] if ends else within


def short_name(name: str, most: int = NAME_TOKENS) -> str:
    """A name or title as prompts show it: on one line, and in ``most`` tokens."""
    name = " ".join(name.split())
    end = head(name, most)
    return name if end == len(name) else f"{name[:end].rstrip()}…"


def _longest(text: str, room: int) -> int:
    """Characters of the longest beginning that fits into ``room``, at least one. Looks not far beyond it."""
    high = max(1, _LETTERS * room)
    while high < len(text) and tokens(text[:high]) <= room:
        high *= 2
    low, high = 1, min(high, len(text))
    if tokens(text[:high]) <= room:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= room else (low, middle - 1)
    return low


def _weight(text: str) -> float:
    extra = len(_LINES.findall(text)) + 0.5 * len(_LONG_NAME.findall(text)) + len(_LONG_WORD.findall(text))
    return count_tokens(text) + extra + tokens_more(text)


FACTS = 0
"""The number under which facts stand, as if they were the sentences of a passage."""


TITLE = 20
"""Tokens of a title; a longer one is shown cut."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a number stands for. ``near``: the text of the citation, of the sentences beside it, and the title."""

    citation: Citation
    near: tuple[str, ...]


class Numbering:
    """Passages and facts get their numbers when they are first shown, and keep them. Used by one thread at a time."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int, int], int] = {}
        self._passages: dict[int, FoundPassage] = {}
        self._facts: dict[str, int] = {}
        self._fact_sources: list[FoundFact] = []
        self._shown: dict[int, set[int]] = {}

    def passages(self, passages: Iterable[FoundPassage], only: Mapping[str, Collection[int]] | None = None) -> str:
        """``passages`` as a prompt shows them. ``only``: by id of a passage, the numbers of its sentences that are."""
        return "\n\n".join(self.passage(each, only.get(each.id) if only else None) for each in passages)

    def passage(self, passage: FoundPassage, only: Collection[int] | None = None) -> str:
        """One passage: its number and title, and its sentences."""
        number = self.number_of(passage)
        return f"Passage {number}: {short_name(passage.title, TITLE)}\n{self.sentences(passage, only)}"

    def sentences(self, passage: FoundPassage, only: Collection[int] | None = None) -> str:
        """The sentences of ``passage`` alone."""
        number = self.number_of(passage)
        last = len(numbered(passage.text))
        self._shown.setdefault(number, set()).update(range(1, last + 1) if only is None else only)
        return lines(passage.text, str(number), only)

    def told(self, passage: FoundPassage, start: int, end: int, words: str) -> str:
        """``words`` with the number of the sentences that say them, those of the characters ``[start, end)`` of the
        document of ``passage``: "[2.3]" or "[2.3-4]". They count as shown."""
        number, start, end = self.number_of(passage), start - passage.start, end - passage.start
        said = [n for n, each in enumerate(numbered(passage.text), 1) if each.shown < end and start < each.end] or [1]
        self._shown.setdefault(number, set()).update(said)
        sentences = f"{said[0]}-{said[-1]}" if len(said) > 1 else str(said[0])
        return f"[{number}.{sentences}] {' '.join(words.split())}"

    def taken(self, number: str, other: Numbering) -> str:
        """The number here of the sentences that ``number`` is in ``other``, which count as shown; empty for none."""
        part, _, sentence = number.partition(".")
        if int(part) == FACTS or other.source(number) is None:
            return ""
        own = self.number_of(other._passages[int(part)])
        self._shown.setdefault(own, set()).update({int(sentence)} if sentence else other._shown[int(part)])
        return f"{own}.{sentence}" if sentence else str(own)

    def number_of(self, passage: FoundPassage) -> int:
        """The number of ``passage``, which is a new one the first time."""
        key = (passage.id, passage.start, passage.end)
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        self._passages[number] = passage
        return number

    def facts(self, facts: Iterable[FoundFact]) -> str:
        """``facts`` as a prompt shows them, one a line, but for those that a sentence says which was shown before."""
        shown = []
        for fact in self.unsaid(facts):
            if fact.id not in self._facts:
                self._fact_sources.append(fact)
                self._facts[fact.id] = len(self._fact_sources)
            shown.append(f"[{FACTS}.{self._facts[fact.id]}] {' '.join(fact.timed.split())}")
        return "\n".join(shown)

    def unsaid(self, facts: Iterable[FoundFact]) -> list[FoundFact]:
        """Those of ``facts`` that no shown sentence says, as far as it is known where they are said."""
        return [fact for fact in facts if not any(map(self._is_shown, fact.citations))]

    def source(self, number: str) -> Source | None:
        """What a number such as "2.3" stands for, or "2", which is the whole passage; None for what was not shown."""
        part, _, sentence = number.partition(".")
        passage, said = self._passages.get(int(part)), self._shown.get(int(part), ())
        if sentence and int(part) == FACTS:
            if not 0 < int(sentence) <= len(self._fact_sources):
                return None
            fact = self._fact_sources[int(sentence) - 1]
            best = max(fact.citations, key=lambda each: each.found, default=None)
            return Source(replace(best, text=fact.timed), (fact.timed, best.title)) if best else None
        if passage is None or not said or (sentence and int(sentence) not in said):
            return None
        if not sentence:
            whole = replace(_cited(passage, 0, len(passage.text)), found=False)
            return Source(whole, (passage.text, passage.title))
        places = numbered(passage.text)
        place = places[int(sentence) - 1]
        beside = places[max(0, int(sentence) - 2) : int(sentence) + 1]
        cited = _cited(passage, place.start, place.end)
        return Source(cited, (*(passage.text[each.shown : each.end] for each in beside), passage.title))

    def sources(self, number: str) -> tuple[Source, ...] | None:
        """All that a number stands for; None for what was not shown."""
        source = self.source(number)
        return None if source is None else (source,)

    def _is_shown(self, citation: Citation) -> bool:
        """Whether a sentence was shown that has characters of ``citation``, or any of its passage if these are not
        known."""
        for number, sentences in self._shown.items():
            passage = self._passages[number]
            if passage.document == citation.document:
                if not citation.found and citation.passage == passage.id:
                    return True
                places = numbered(passage.text)
                start, end = citation.start - passage.start, citation.end - passage.start
                if any(places[n - 1].shown < end and start < places[n - 1].end for n in sentences):
                    return True
        return False


def _cited(passage: FoundPassage, start: int, end: int) -> Citation:
    return replace(
        passage.cited(passage.start + start, passage.start + end), text=" ".join(passage.text[start:end].split())
    )


def joined(citations: Sequence[Citation]) -> list[Citation]:
    """``citations`` with those that follow each other in a document as one."""
    kept: list[Citation] = []
    for each in citations:
        last = kept[-1] if kept else None
        if last and last.found and each.found and last.passage == each.passage and 0 <= each.start - last.end <= 2:
            kept[-1] = replace(last, end=each.end, text=f"{last.text} {each.text}")
        elif each not in kept:
            kept.append(each)
    return kept


_NUMBER = "9999"  # of a passage, with more digits than most: a text is counted before it has its number
_HEADING = 8  # tokens of a line "Passage 12: " and the empty line before it


@lru_cache(maxsize=4096)
def cost_of(text: str, title: str | None = None) -> int:
    """The tokens of ``text`` as numbered sentences, under its ``title`` if there is one."""
    return tokens(lines(text, _NUMBER)) + (0 if title is None else heading_cost(title))


def heading_cost(title: str) -> int:
    """The tokens of the line above a passage, and of the empty one before it."""
    return tokens(short_name(title, TITLE)) + _HEADING


def length_within(text: str, room: int) -> int:
    """Characters of the first part of ``text`` that takes ``room`` tokens as numbered sentences: never none."""
    left = room
    while True:
        end = head(text, max(1, left))
        excess = cost_of(text[:end]) - room
        if excess <= 0 or left <= 1:
            return end
        left -= excess


def pieces(passage: FoundPassage, room: int) -> Iterator[FoundPassage]:
    """``passage`` in parts of at most ``room`` tokens, each with its title."""
    start = 0
    while start < len(passage.text):
        end = start + length_within(passage.text[start:], room - heading_cost(passage.title))
        yield part_of(passage, passage.start + start, passage.start + end)
        start = end


def end_within(passage: FoundPassage, room: int) -> FoundPassage | None:
    """The last sentences of ``passage`` that fit into ``room`` tokens; None where not one does."""
    starts = [each.shown for each in numbered(passage.text)]
    start = next((start for start in starts if cost_of(passage.text[start:], passage.title) <= room), None)
    return None if start is None else part_of(passage, passage.start + start, passage.end)
