"""Episode pagination (section 3.1, figure 2): a text's paragraphs, and after which of them reading pauses.

found = paragraphs(text, options.longest_paragraph)
offer = next_offer(found, first, options)      # the paragraphs that come next, and where a page may end
pause = offer.end if offer.settled else ask_pause(chat, text, found, offer, options).end

Paragraphs end at blank lines; a line of a transcript where somebody begins to speak, and the heading of a script's
scene, begin one too. Offsets count code points, half open. The time grows with the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

from pydantic import Field, create_model

from kgplatform.errors import ReplyError
from kgplatform.gist.options import GistOptions, Style
from kgplatform.models.chat import Chat
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, render
from kgplatform.records import Document
from kgplatform.sources.cut import cut_document
from kgplatform.text import count_tokens, count_words, node_id

_BLANK = re.compile(r"\n[^\S\n]*\n\s*|[\f\u2029]\s*")
_LINE = re.compile(r"\n\s*")
# "Prof. Ada Norrby (chair): ", at most six words that begin with a capital or a digit, or none at all in a script
# without capitals.
_SPEAKER = re.compile(r"[^\W_a-z][\w.'’-]*(?: [^\W_a-z(][\w.'’-]*){0,5}(?: \([^()\n]{1,40}\))? ?[:：](?!//|\d)")
_SCENE = re.compile(r"(?:INT|EXT|EST|I/E)\b[./ ]|SCENE\b|ACT\b|(?:CUT|FADE|DISSOLVE) (?:TO|IN|OUT)\b")
_FEWEST_SPEAKERS = 2
_LEAST_REST = 350  # words. What is left of a document and shorter is its last page; the model is not asked.
_TOKENS_PER_WORD = 4  # of prose, with much to spare (English has 1.3). What has more is hardly parted by white space.


@dataclass(frozen=True, slots=True)
class Paragraph:
    """``text[start:end]`` without white space at its ends, and how long that is in words (``length``)."""

    start: int
    end: int
    words: int


def length(text: str) -> int:
    """The words of ``text`` as white space parts them, as in the paper. A text that white space hardly parts (Chinese,
    a table, a column of numbers) counts a word for four tokens: else a book in Chinese were one short page."""
    return length_of(count_words(text), count_tokens(text))


def length_of(words: int, tokens: int) -> int:
    """``length`` of a text with this many ``words`` and ``tokens``."""
    return max(words, tokens // _TOKENS_PER_WORD)


def paragraphs(
    text: str,
    max_words: int,
    style: Style = "prose",
    unsure: Iterable[int] = (),
    *,
    whole_lines: bool = False,
    piece_words: int | None = None,
) -> list[Paragraph]:
    """The paragraphs of ``text`` in order; together they are all of it but white space.

    One longer than ``max_words`` is cut at sentence ends (``whole_lines``: at line ends) into pieces of at most
    ``piece_words`` (else ``max_words``); a sentence is cut only if it alone is longer. ``unsure`` are offsets before
    which the white space is not known for certain (``text.rejoin``): whoever speaks there begins a paragraph, though no
    line begins. Numbers of words are 1 or more.
    """
    found: list[Paragraph] = []
    most = piece_words or max_words
    gaps = [gap.span() for gap in _BLANK.finditer(text)]
    if style != "prose":
        # The white space before each line that begins with the mark; of turns, before every line, where hardly any has.
        mark = _SPEAKER if style == "turns" else _SCENE
        lines = [gap.span() for gap in _LINE.finditer(text)]
        marked = [gap for gap in (*lines, *((place, place) for place in {0, *unsure})) if mark.match(text, gap[1])]
        gaps += lines if style == "turns" and len(marked) < _FEWEST_SPEAKERS else marked
    for start, end in _between(text, 0, len(text), sorted(gaps)):
        words = length(text[start:end])
        if words <= max_words:
            found.append(Paragraph(start, end, words))
            continue
        spans = [(start, end)]
        if whole_lines:  # neighbours are joined, as far as they fit
            spans, joined = [], 0
            for first, last in _between(text, start, end, [gap.span() for gap in _LINE.finditer(text, start, end)]):
                more = length(text[first:last])
                is_next = spans and joined + more <= most
                spans[-1:] = [(spans[-1][0], last)] if is_next else [*spans[-1:], (first, last)]
                joined = joined + more if is_next else more
        for first, last in spans:
            piece = text[first:last]
            if length(piece) <= most:
                found.append(Paragraph(first, last, length(piece)))
                continue
            # Passages of as many tokens, since no word has less than one.
            for passage in cut_document(Document("", "", "", "", piece, ""), most):
                found.append(Paragraph(first + passage.start, first + passage.end, length(passage.text)))
    return found


def _between(text: str, start: int, end: int, gaps: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What lies between ``gaps``, which are in order and may overlap, without white space at its ends."""
    found: list[tuple[int, int]] = []
    at = start
    for first, last in [*gaps, (end, end)]:
        if first > at:
            piece = text[at:first]
            left = at + len(piece) - len(piece.lstrip())
            found += [(left, at + len(piece.rstrip()))] if piece.strip() else []
        at = max(at, last)
    return found


def covering(found: list[Paragraph], characters: int) -> list[tuple[int, int]]:
    """``[start, end)`` of each paragraph with the white space after it, the first from 0, the last to ``characters``.

    >>> covering([Paragraph(2, 5, 1), Paragraph(7, 9, 1)], 10)
    [(0, 7), (7, 10)]
    """
    starts = [0, *(each.start for each in found[1:])] if found else []
    return list(pairwise([*starts, characters])) if found else []


STAGE = "paginate"
_PROMPT = "gist/pause"
_REPLY_TOKENS = 400
NO_PAUSE = "reply without a break point"
NOT_OFFERED = "break point that was not offered"


class PauseReply(Form):
    """Where to pause."""

    reasoning: str = text(600)
    break_point: int


@cache
def pause_reply(labels: tuple[int, ...]) -> type[PauseReply]:
    """``PauseReply`` that is asked for at one of ``labels``; another one is read too."""
    place: Any = Field(json_schema_extra={"enum": list(labels)})
    return create_model("PauseReply", __base__=PauseReply, break_point=(int, place))


@dataclass(frozen=True, slots=True)
class Offer:
    """Paragraphs ``first`` to ``last`` (not included), which the model reads next.

    ``labels``: at k a page may end before the k-th of them, counted from 0; the last one is after all of them, and
    stands for ``last``. A label but the last has at least ``min_words`` before it.
    """

    first: int
    last: int
    labels: tuple[int, ...]

    @property
    def settled(self) -> bool:
        """Whether there is nothing to choose."""
        return len(self.labels) == 1

    @property
    def end(self) -> int:
        """The page's last paragraph (not included) where the model does not say: the last label's."""
        return self.first + self.labels[-1]


@dataclass(frozen=True, slots=True)
class Pause:
    """A page ends before paragraph ``end``. ``malformed``: what was wrong with the reply, for which that is the
    fallback."""

    end: int
    malformed: str = ""


def next_offer(found: Sequence[Paragraph], first: int, options: GistOptions) -> Offer:
    """What comes after ``first`` paragraphs of ``found``: as many as ``max_words`` has room for (section 3.1). A rest
    below 350 words, or ``max_words``, is offered whole, with its end as the only place to pause."""
    last, words = first, 0
    labels: list[int] = []
    while last < len(found) and (words < options.min_words or words + found[last].words <= options.max_words):
        if words >= options.min_words:
            labels.append(last - first)
        words += found[last].words
        last += 1
    if last == len(found) and words < min(_LEAST_REST, options.max_words):
        labels = []
    return Offer(first, last, (*labels, last - first))


def ask_pause(
    chat: Chat, text: str, found: Sequence[Paragraph], offer: Offer, options: GistOptions, last_page: str = ""
) -> Pause:
    """Where the model would pause; the last label where its reply cannot be used. Raises ``ModelError``. ``last_page``
    is shown before what comes next, where the options' kind of text wants that."""
    shown = last_page if options.kind.shows_last_page else ""
    messages = pause_messages(text, found, offer, options, shown)
    try:
        label = ask(chat, messages, pause_reply(offer.labels), stage=STAGE, tokens=_REPLY_TOKENS)[0].break_point
    except ReplyError:
        return Pause(offer.end, NO_PAUSE)
    if label in offer.labels:
        return Pause(offer.first + label)
    return Pause(offer.end, NOT_OFFERED)


def pause_messages(
    text: str, found: Sequence[Paragraph], offer: Offer, options: GistOptions, last_page: str = ""
) -> Messages:
    """The prompt: the paragraphs of ``offer`` with their labels between them."""
    parts: list[str] = []
    for place in range(offer.first, offer.last):
        if place - offer.first in offer.labels:
            parts.append(f"<{place - offer.first}>")
        parts.append(text[found[place].start : found[place].end])
    parts.append(f"<{offer.last - offer.first}>")
    passage = "\n\n".join((*parts, "…") if offer.last < len(found) else parts)
    kind = options.kind
    rules = [f"- {kind.pause}"] if kind.pause else []
    if options.question:
        rules.append(f"- The reader wants to know: {options.question} Keep together what bears on that.")
    return render(
        _PROMPT,
        noun=kind.noun,
        rules="".join(f"{rule}\n" for rule in rules),
        before=f"You read last:\n\n{last_page}\n\nWhat comes next:\n\n" if last_page else "",
        fence=f"text-{node_id(passage, last_page)[:12]}",
        passage=passage,
    )


def uniform_ends(found: Sequence[Paragraph], options: GistOptions) -> list[int]:
    """Where pages of equal length end, as paragraphs (not included); no model is asked (Table 5). Their mean length
    lies in the middle of ``min_words`` and ``max_words``, as that of pages by a model about does."""
    until = list(accumulate(each.words for each in found))
    if not until:
        return []
    total = until[-1]
    pages = max(round(2 * total / (options.min_words + options.max_words)), -(-total // options.max_words), 1)
    ends: list[int] = []
    for number in range(1, pages):
        wanted = total * number / pages
        place = bisect_left(until, wanted)
        # The paragraph that ``wanted`` falls into is on the page that has more of it.
        before = until[place - 1] if place else 0
        end = place + (until[place] - wanted <= wanted - before)
        if (ends[-1] if ends else 0) < end < len(found):
            ends.append(end)
    return [*ends, len(found)]
