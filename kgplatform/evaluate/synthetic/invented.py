"""Invented people and places, and a text of any length about them: the haystack that comes with the platform.

    text = paragraphs(filler(random.Random(1), tokens=2_000))

Everything is made from word lists, so that it may be used by anybody and no model has read it before.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import islice

from kgplatform.text import count_tokens


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
