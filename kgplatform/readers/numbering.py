"""What the prompts of one run show, by number: sentence 3 of passage 2 is [2.3] in every one of them.

shown = Numbering()
shown.passages(result.passages)          # 'Passage 1: Atlantic cable\n[1.1] The cable broke.\n[1.2] …'
shown.facts(result.facts)                # '[0.1] Cyrus Field founded the Atlantic Telegraph Company'
shown.source("1.2").citation             # the characters of the document that [1.2] stands for
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from kgplatform.readers.window import head, short_name, tokens
from kgplatform.records import Citation, FoundFact, FoundPassage
from kgplatform.search.found import part_of
from kgplatform.text.locations import citation_of
from kgplatform.text.sentences import lines, numbered

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
            shown.append(f"[{FACTS}.{self._facts[fact.id]}] {' '.join(fact.text.split())}")
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
            return Source(replace(best, text=fact.text), (fact.text, best.title)) if best else None
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
        citation_of(passage, passage.start + start, passage.start + end), text=" ".join(passage.text[start:end].split())
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
