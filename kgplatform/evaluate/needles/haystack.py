"""Needles into a haystack: a text of a given length in which some statements stand at given depths.

    told = Needles("What is the capital of Australia?", ("Dorfincath",), ("The capital of Australia is Dorfincath.",))
    hide(Wanted("qa", "single", 8_000, (0.5,), seed=1), told, own_paragraphs(book))

Time and memory grow with the length that is asked for; of a longer haystack no more is looked at.

The haystack that comes with the platform is invented: no model has read it before, and anybody may use it.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from kgplatform.errors import InputError
from kgplatform.evaluate.needles.task import Needle, NeedleTask, Wanted
from kgplatform.readers.longagent.experts import EXPERTS
from kgplatform.sentences import sentences
from kgplatform.text import count_tokens

# ------------------------------------------------------------------------------------------- invented people and places


def _listed(text: str, between: str = " ") -> list[str]:
    return text.split(between)


_SYLLABLES = _listed(
    "ba dor el fin gar hol im jas kel lor mun nev os pra quil ras sol tem ul vor wyn yar zel bri cath dun"
)
_TITLES = _listed("Captain Doctor Widow Abbot Mayor Smith Scribe Miller")
_THINGS = _listed("harbour orchard mill tower bridge library market granary chapel foundry lighthouse quarry")
_DEEDS = _listed("repaired painted sold visited measured described praised rented guarded inherited")
_TIMES = _listed("in spring;before the harvest;after the flood;on a Sunday;at noon;in the third year", ";")
_ASIDES = (
    "Nobody wrote down why.",
    "The rain had come early that year.",
    "It was spoken of for a long time.",
    "Some said otherwise, but they were few.",
    "The accounts of that season are lost.",
)

SHORT_NAME = (2, 3, 3)
"""Syllables of the names in ``filler``, to draw from."""

RARE_NAME = (4, 4, 5)
"""Syllables of a name that no other text has by chance, to draw from."""

_SENTENCES = 6
"""Sentences in a paragraph: about 75 tokens."""


def invented_name(chance: random.Random, syllables: tuple[int, ...] = SHORT_NAME) -> str:
    """One capitalised word: ``Dorfincath``."""
    return "".join(chance.choice(_SYLLABLES) for _ in range(chance.choice(syllables))).capitalize()


def filler(chance: random.Random, tokens: int) -> Iterator[str]:
    """Sentences of ``tokens`` tokens or a few more; names come back, the more the longer the text is."""
    people = [f"{chance.choice(_TITLES)} {invented_name(chance)}" for _ in range(max(4, tokens // 60))]
    places = [invented_name(chance) for _ in range(max(3, tokens // 120))]
    while tokens > 0:
        said = (
            f"{chance.choice(people)} {chance.choice(_DEEDS)} the {chance.choice(_THINGS)} at {chance.choice(places)} "
            f"{chance.choice(_TIMES)}."
        )
        sentence = said if chance.random() < 0.7 else chance.choice(_ASIDES)
        tokens -= count_tokens(sentence)
        yield sentence


def paragraphs(sentences: Iterable[str]) -> Iterator[str]:
    """Every six sentences as a paragraph."""
    rest = iter(sentences)
    while some := list(islice(rest, _SENTENCES)):
        yield " ".join(some)


# --------------------------------------------------------------------------------------------------------------- hiding


LONGEST_PARAGRAPH = 200
"""Tokens. A longer paragraph of somebody's own text is parted at the ends of its sentences, so that depths are met."""

_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True, slots=True)
class Needles:
    """Statements to hide, each a paragraph; the question needs all of them. Each of ``answers`` is right.

    ``world``: what the answers would be outside of these statements; a paragraph of the haystack that says one of
    these is left out. ``bridge``: the name that joins two statements, which the question does not tell.
    """

    question: str
    answers: tuple[str, ...]
    statements: tuple[str, ...]
    world: tuple[str, ...] = ()
    bridge: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands before, between and after the pieces of a text. The length that is asked for counts it too."""

    before: str = ""
    between: str = "\n\n"
    after: str = ""

    def cost(self, piece: str) -> int:
        """The tokens of ``piece`` with what parts it from the next."""
        return count_tokens(piece) + count_tokens(self.between)

    @property
    def own(self) -> int:
        """The tokens of a text without pieces."""
        return count_tokens(self.before) + count_tokens(self.after)


PROSE = Frame()


def hide(wanted: Wanted, told: Needles, pieces: Iterable[str], frame: Frame = PROSE) -> NeedleTask:
    """The task whose text has the statements of ``told`` between ``pieces``: the first ones, as many as fit.

    A statement stands between those two pieces where the share of the haystack's tokens before it is nearest to its
    depth. The last paragraph is cut at the end of a sentence, so that the text has at most the tokens that are wanted,
    and less by no more than one piece. Raises ``InputError`` if that is too short for the statements, or if the
    pieces end before it.
    """
    room = wanted.length - frame.own - sum(map(frame.cost, told.statements)) + count_tokens(frame.between)
    if room < 0:
        least = wanted.length - room
        raise InputError(f"A text of {wanted.length:,} tokens has no room for what is to be hidden: ask for {least:,}.")
    chosen, costs = _filled(pieces, room, wanted.length, frame)
    totals = [0, *accumulate(costs)]
    borders = [_border(totals, depth) for depth in wanted.depths]
    text, starts = _written(chosen, told.statements, borders, frame)
    needles = [
        Needle(start, start + len(said), depth, totals[border])
        for start, said, depth, border in zip(starts, told.statements, wanted.depths, borders, strict=True)
    ]
    return NeedleTask(
        id=wanted.id,
        kind=wanted.kind,
        form=wanted.form,
        text=text,
        question=told.question,
        description=EXPERTS[wanted.kind].work,
        answers=told.answers,
        needles=tuple(needles),
        bridge=told.bridge,
        length=wanted.length,
        tokens=count_tokens(text),
        haystack=totals[-1],
        seed=wanted.seed,
    )


def own_paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of somebody's own text, which empty lines part; long ones in several."""
    start = 0
    while start < len(text):
        gap = _EMPTY_LINE.search(text, start)
        end, after = gap.span() if gap else (len(text), len(text))
        if paragraph := text[start:end].strip():
            yield from _parted(paragraph, LONGEST_PARAGRAPH)
        start = after


def without(pieces: Iterable[str], words: Iterable[str]) -> Iterator[str]:
    """Those ``pieces`` in which none of ``words`` stands, as a word or as several: they would tell, or contradict."""
    wanted = sorted(set(filter(None, words)))
    if not wanted:
        return iter(pieces)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, wanted))})(?!\w)", re.IGNORECASE)
    return (each for each in pieces if not pattern.search(each))


def _filled(pieces: Iterable[str], room: int, length: int, frame: Frame) -> tuple[list[str], list[int]]:
    """The first pieces that fit into ``room`` tokens, the last one cut, and what each costs."""
    chosen: list[str] = []
    costs: list[int] = []
    for piece in pieces:
        cost = frame.cost(piece)
        if cost > room:
            cut = next(_parted(piece, room), "") if frame is PROSE else ""
            if cut and frame.cost(cut) <= room:
                chosen.append(cut)
                costs.append(frame.cost(cut))
            return chosen, costs
        chosen.append(piece)
        costs.append(cost)
        room -= cost
    if room > max(costs, default=0):
        raise InputError(
            f"The haystack is too short by {room:,} tokens for a text of {length:,}: give a longer one, or ask for "
            "shorter texts."
        )
    return chosen, costs


def _parted(paragraph: str, most: int) -> Iterator[str]:
    """``paragraph``, or its sentences in pieces of at most ``most`` tokens, but for a sentence that is longer alone."""
    if count_tokens(paragraph) <= most:
        yield paragraph
        return
    start = end = tokens = 0
    for each in sentences(paragraph):
        more = count_tokens(paragraph[end : each.end])
        if end and tokens + more > most:
            yield paragraph[start:end]
            start, tokens = each.start, 0
            more = count_tokens(paragraph[start : each.end])
        tokens, end = tokens + more, each.end
    if end > start:
        yield paragraph[start:end]


def _border(totals: Sequence[int], depth: float) -> int:
    """The number of pieces before a statement at ``depth``: the nearest border, of two equally near the earlier."""
    wanted = depth * totals[-1]
    after = bisect_left(totals, wanted)
    candidates = range(max(0, after - 1), min(after + 1, len(totals)))
    return min(candidates, key=lambda border: (abs(totals[border] - wanted), border))


def _written(
    pieces: Sequence[str], statements: Sequence[str], borders: Sequence[int], frame: Frame
) -> tuple[str, list[int]]:
    """The whole text, and the first character of each statement, which has ``borders`` of its number pieces before."""
    parts: list[str] = []
    starts = [0] * len(statements)
    at, done = len(frame.before), 0
    for border, number in sorted(zip(borders, range(len(statements)), strict=True)):
        here = [*pieces[done:border], statements[number]]
        parts += here
        at += sum(len(part) + len(frame.between) for part in here)
        starts[number], done = at - len(frame.between) - len(statements[number]), border
    return frame.before + frame.between.join([*parts, *pieces[done:]]) + frame.after, starts
