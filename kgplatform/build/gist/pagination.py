"""Episode pagination (section 3.1, figure 2): where to pause reading, by the model, or at equal lengths.

offer = next_offer(found, first, options)      # the paragraphs that come next, and where a page may end
pause = offer.end if offer.settled else ask_pause(chat, text, offer, options).end
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from kgplatform.build.gist.options import GistOptions
from kgplatform.build.gist.paragraphs import Paragraph
from kgplatform.json_text import without_thoughts
from kgplatform.llm import Chat
from kgplatform.prompt import Messages, render
from kgplatform.text import node_id

STAGE = "paginate"
_PROMPT = "readagent_pause"
_GOES_ON = "…"
_NOTHING = ""

NO_PAUSE = "reply without a break point"
NOT_OFFERED = "break point that was not offered"

_NUMBER = r"[<⟨〈(\[]\s*(\d{1,9})\s*[>⟩〉)\]]"
# From the most certain form to the least: the words and, later on, a number in angle brackets; the words and a number
# right after them; the same for words that explanations use too.
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for words in (r"break\s*-?\s*point", r"label", r"pause")
    for form in (
        rf"\b{words}\b[^<⟨〈]*?[<⟨〈]\s*(\d{{1,9}})\s*[>⟩〉]",
        rf"\b{words}\b(?:\s+is\b|\s+at\b)?[\s:*_`]*[(\[]?\s*(\d{{1,9}})\b",
    )
)
_BRACKETED = re.compile(_NUMBER)
_BARE = re.compile(r"[\s*_`.]*(\d{1,9})[\s*_`.]*")


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
    """What comes after ``first`` paragraphs of ``found``: as many as ``max_words`` has room for (section 3.1).

    A rest below ``options.least_rest`` words is offered whole, with its end as the only place to pause.
    """
    last, words = first, 0
    labels: list[int] = []
    while last < len(found) and (words < options.min_words or words + found[last].words <= options.max_words):
        if words >= options.min_words:
            labels.append(last - first)
        words += found[last].words
        last += 1
    if last == len(found) and words < options.least_rest:
        labels = []
    return Offer(first, last, (*labels, last - first))


def ask_pause(
    chat: Chat, text: str, found: Sequence[Paragraph], offer: Offer, options: GistOptions, last_page: str = ""
) -> Pause:
    """Where the model would pause; the last label where its reply cannot be used. Raises ``ModelError``.

    ``last_page`` is shown before what comes next, where the options' kind of text wants that.
    """
    shown = last_page if options.kind.shows_last_page else ""
    reply = chat.send(pause_messages(text, found, offer, options, shown), stage=STAGE)
    label = read_label(without_thoughts(reply.text, cut_off=reply.cut_off))
    if label in offer.labels:
        return Pause(offer.first + label)
    return Pause(offer.end, NO_PAUSE if label is None else NOT_OFFERED)


def pause_messages(
    text: str, found: Sequence[Paragraph], offer: Offer, options: GistOptions, last_page: str = ""
) -> Messages:
    """The prompt: the paragraphs of ``offer`` with their labels between them."""
    passage = _labelled(text, found, offer)
    kind = options.kind
    return render(
        _PROMPT,
        noun=kind.noun,
        rules=_rules(options),
        before=f"You read last:\n\n{last_page}\n\nWhat comes next:\n\n" if last_page else _NOTHING,
        fence=f"text-{node_id(passage, last_page)[:12]}",
        passage=passage,
    )


def _rules(options: GistOptions) -> str:
    rules = [f"- {options.kind.pause}"] if options.kind.pause else []
    if options.question:
        rules.append(f"- The reader wants to know: {options.question} Keep together what bears on that.")
    return "".join(f"{rule}\n" for rule in rules)


def _labelled(text: str, found: Sequence[Paragraph], offer: Offer) -> str:
    parts: list[str] = []
    for place in range(offer.first, offer.last):
        if place - offer.first in offer.labels:
            parts.append(f"<{place - offer.first}>")
        parts.append(text[found[place].start : found[place].end])
    parts.append(f"<{offer.last - offer.first}>")
    return "\n\n".join((*parts, _GOES_ON) if offer.last < len(found) else parts)


def read_label(reply: str) -> int | None:
    """The label that a reply chooses; None if it names none, or several without saying which.

    >>> read_label("Break point: <57>\\nBecause the scene changes.")
    57
    """
    for form in _FORMS:
        if said := form.search(reply):
            return int(said[1])
    if alone := _BARE.fullmatch(reply):
        return int(alone[1])
    numbers = set(_BRACKETED.findall(reply))
    return int(numbers.pop()) if len(numbers) == 1 else None


def uniform_ends(found: Sequence[Paragraph], options: GistOptions) -> list[int]:
    """Where pages of equal length end, as paragraphs (not included); no model is asked (Table 5).

    Their mean length lies in the middle of ``min_words`` and ``max_words``, as that of pages by a model about does.
    """
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
