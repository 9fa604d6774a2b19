"""Documents into passages: spans of at most ``max_tokens`` tokens that end where sentences end.

The splitter is our own, on a regular expression for gaps and one linear packing pass, because semantic-text-splitter
(0.33, with ``count_tokens`` as its callback) cuts inside sentences: after "Dr." and "U.S.", and at the line ends of
hard-wrapped text. It also counts every character about 19 times, which makes it three times as slow as this on the
1.05 million characters of the medical corpus (1.8 s and 0.5 s on the same busy machine).

Sentences that ``sentences`` joins in doubt and that grow too long are cut at their lines, clauses and words.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from kgplatform.errors import InputError
from kgplatform.records import Document, Passage, page_of
from kgplatform.text import count_tokens, node_id, passage_name
from kgplatform.text.sentences import (
    CLAUSE_MARKS,
    FULL_ENDS,
    LIST_ITEM,
    MARKDOWN_HEADING,
    NO_START,
    PARAGRAPH,
    SPACED_ENDS,
    ranked_sentences,
)

# Ranks of a cut inside an overlong sentence; those of sentences and paragraphs are higher. 0 is none.
_INSIDE_WORD, _WORD, _CLAUSE, _LINE = range(1, 5)

_BREAK = re.compile(rf"\s+|(?<=[{CLAUSE_MARKS}…‼⁇⁈⁉{FULL_ENDS}])(?=[^\s{NO_START}])")
_CLAUSE_ENDS = frozenset(SPACED_ENDS + FULL_ENDS + CLAUSE_MARKS + ",;:؛،")
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_HEADING_LENGTH = 100
_COUNTED = re.compile(r"([^\W\d_]+) (\d+)")
_CELLS = re.compile(r"(.*!)([A-Z]+\d+)(?::([A-Z]+\d+))?", re.S)
_MOST_MARKS = 32
"""Characters looked back over for the beginning of a grapheme."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is never cut: a sentence, or a piece of an overlong one. ``rank`` says how good a cut before it is."""

    start: int
    end: int
    tokens: int
    rank: int
    is_heading: bool


def cut_document(document: Document, max_tokens: int) -> list[Passage]:
    """The passages of ``document`` in reading order; white space alone belongs to none.

    Every other character is in exactly one passage, and ``document.text[passage.start:passage.end] == passage.text``. A
    sentence is cut only if it alone has more than ``max_tokens`` tokens: at lines, clauses, words, and within a word
    only if that word alone is too long. A single letter of a rare script may have two tokens, and then its passage has
    them, too. Raises ``InputError`` if ``max_tokens`` is below 1.
    """
    if max_tokens < 1:
        raise InputError(f"A passage cannot have {max_tokens} tokens: set passage_tokens to 20 or more.")
    units = _units(document, max_tokens)
    cuts = _pack(units, max_tokens)
    spans = [(units[first].start, units[last - 1].end) for first, last in pairwise([*cuts, len(units)])]
    return [_passage(document, index, start, end) for index, (start, end) in enumerate(spans)]


def _passage(document: Document, index: int, start: int, end: int) -> Passage:
    text, locations = document.text[start:end], document.locations
    first = max(0, bisect_right(locations, start, key=lambda each: each.start) - 1)
    here = locations[first : max(first + 1, bisect_right(locations, end - 1, key=lambda each: each.start))]
    labels = tuple(each.label for each in here)
    return Passage(
        id=node_id("chunk", document.id, start, end, text),
        document_id=document.id,
        name=passage_name(document.title, index + 1),
        index=index,
        start=start,
        end=end,
        page=page_of(labels[0]) if labels else None,
        text=text,
        tokens=count_tokens(text),
        location=label_of_span(labels),
        locations=labels if len(labels) > 1 else None,
        location_starts=tuple(max(start, each.start) for each in here) if len(labels) > 1 else None,
    )


def _units(document: Document, max_tokens: int) -> list[_Unit]:
    text, units = document.text, []
    pages = frozenset(each.start for each in document.locations if page_of(each.label))
    sentences = list(ranked_sentences(text, page_starts=pages))
    for (start, end, rank), (_, _, next_rank) in zip(sentences, [*sentences[1:], (0, 0, 0)], strict=False):
        tokens = count_tokens(text[start:end])
        if tokens <= max_tokens:
            heading = _is_heading(text[start:end], rank, next_rank)
            units.append(_Unit(start, end, tokens, rank, heading))
        else:
            units.extend(_pieces(text, start, end, rank, max_tokens))
    return units


def _is_heading(sentence: str, rank: int, next_rank: int) -> bool:
    """True for a Markdown heading, and for a paragraph of one short line that does not end like a sentence."""
    if MARKDOWN_HEADING.match(sentence):
        return next_rank > 0
    return (
        rank == next_rank == PARAGRAPH
        and len(sentence) <= _HEADING_LENGTH
        and sentence[-1] not in _CLAUSE_ENDS
        and "\n" not in sentence
        and not LIST_ITEM.match(sentence)
    )


def _pieces(text: str, start: int, end: int, rank: int, max_tokens: int) -> Iterator[_Unit]:
    """The words of an overlong sentence, each with the rank of the gap before it."""
    at = start
    for gap in _BREAK.finditer(text, start, end):
        if gap.start() > at:
            yield from _word(text, at, gap.start(), rank, max_tokens)
            rank = _CLAUSE if text[gap.start() - 1] in _CLAUSE_ENDS else _WORD
            at, rank = gap.end(), _LINE if "\n" in gap[0] else rank
    yield from _word(text, at, end, rank, max_tokens)


def _word(text: str, start: int, end: int, rank: int, max_tokens: int) -> Iterator[_Unit]:
    """The word ``[start, end)``, in as many units as it needs."""
    while start < end:
        stop = _fit(text, start, end, max_tokens)
        yield _Unit(start, stop, count_tokens(text[start:stop]), rank, False)
        start, rank = stop, _INSIDE_WORD


def _fit(text: str, start: int, end: int, max_tokens: int) -> int:
    """The largest stop such that ``text[start:stop]`` has at most ``max_tokens`` tokens, not inside a grapheme.

    The count never falls as a prefix grows, so it is found by halving. A prefix twice as long as one that fits is
    tried until it does not fit, so that the work is in proportion to what is found.
    """
    low, high = start + 1, min(end, start + 2 * max_tokens)
    while count_tokens(text[start:high]) <= max_tokens:
        if high == end:
            return end
        low, high = high, min(end, start + 2 * (high - start))
    fitting = bisect_right(range(low + 1, high), max_tokens, key=lambda stop: count_tokens(text[start:stop]))
    stop = low + fitting  # itself where a grapheme has dozens of marks
    for candidate in range(stop, max(start, stop - _MOST_MARKS), -1):
        if not _is_inside_grapheme(text, start, candidate):
            return candidate
    return stop


def _is_inside_grapheme(text: str, start: int, at: int) -> bool:
    """True between a letter and its marks, in an emoji sequence, a flag, or a syllable of Hangul letters. ``start`` is
    known to be the beginning of a grapheme: flags are pairs of letters, counted from there."""
    if at == len(text):
        return False
    before, after = text[at - 1], text[at]
    if unicodedata.category(after)[0] == "M" or after in "\u200c\u200d" or before == "\u200d":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if before in _FLAG_LETTERS and after in _FLAG_LETTERS:
        return (at - start - len(text[start:at].rstrip(_FLAG_LETTERS))) % 2 == 1
    return "\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff"


def _pack(units: list[_Unit], max_tokens: int) -> list[int]:
    """The index of the first unit of every passage. Token counts add up: no token spans two units. A single letter may
    have more than ``max_tokens``: it fills a passage."""
    if not units:
        return []
    total = [0, *accumulate(min(unit.tokens, max_tokens) for unit in units)]
    cuts = [0]
    while (last := bisect_right(total, total[cuts[-1]] + max_tokens) - 1) < len(units):
        # The latest best-ranked cut that leaves the passage at least half full and takes no heading from its text.
        first = cuts[-1]
        # Before up to three headings; more in a row are not headings but a list.
        near = range(last, max(first, last - 4), -1)
        best = next((cut for cut in near if not units[cut - 1].is_heading), last)
        for cut in range(best - 1, first, -1):
            if 2 * (total[cut] - total[first]) < max_tokens or units[best].rank == PARAGRAPH:
                break
            if units[cut].rank > units[best].rank and not units[cut - 1].is_heading:
                best = cut
        cuts.append(best)
    return _with_balanced_tail(units, total, cuts, max_tokens)


def _with_balanced_tail(units: list[_Unit], total: list[int], cuts: list[int], max_tokens: int) -> list[int]:
    """``cuts`` with the last so that neither passage beside it is below a quarter of ``max_tokens``, if it can be."""
    if len(cuts) < 2 or 4 * (total[-1] - total[cuts[-1]]) >= max_tokens:
        return cuts
    first, best = cuts[-2], (0, 0, cuts[-1])
    for cut in range(cuts[-1] - 1, first, -1):
        head, tail = total[cut] - total[first], total[-1] - total[cut]
        if tail > max_tokens or 4 * head < max_tokens:
            break
        if 4 * tail >= max_tokens and not units[cut - 1].is_heading:
            best = max(best, (units[cut].rank, -abs(head - tail), cut))
    return [*cuts[:-1], best[2]]


def label_of_span(labels: Sequence[str]) -> str | None:
    """One label for what stands in several places that follow each other, "slides 2–4"; None for none."""
    if not labels or labels[0] == labels[-1]:
        return labels[0] if labels else None
    first, last = labels[0], labels[-1]
    counted = _COUNTED.fullmatch(first), _COUNTED.fullmatch(last)
    if counted[0] and counted[1] and counted[0][1] == counted[1][1]:
        return f"{counted[0][1]}s {counted[0][2]}–{counted[1][2]}"
    cells = _CELLS.fullmatch(first), _CELLS.fullmatch(last)
    if cells[0] and cells[1] and cells[0][1] == cells[1][1]:
        return f"{cells[0][1]}{cells[0][2]}:{cells[1][3] or cells[1][2]}"
    return f"{first} – {last}"
