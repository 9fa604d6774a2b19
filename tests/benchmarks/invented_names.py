"""Words and names that nobody has used, each a function of a number: nothing is remembered, so there is no last one.

Words are drawn from a vocabulary without end. Its first 5,000 ranks follow Zipf's law with exponent 1, as those of the
real corpora do; the later ones fall with exponent 1.5, so that the vocabulary grows with the power 2/3 of the text.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random


def _split(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_ONSETS = _split(
    "b b c c d d f f g h h j k l l m m n n p p r r s s t t v w w z "
    "bl br ch cl cr dr fl fr gl gr kl kr pl pr qu sc sh sl sm sn sp st str sw th tr"
)
_VOWELS = _split("a a a a e e e e i i i o o o u u ai ea ee ie oa ou y")
_CODAS = ("",) * 8 + _split("b ck d g k l m m n n p r r s s t t x ft ld ll mp nd nt ng rd rk rn ss st th")
_FLAT, _KNEE, _STEEP, _TAIL = 12, 5_000, 1.5, 0.2
"""Ranks over which the commonest words are about equally common; where the exponent changes; the share beyond it."""
_LAST = 10**9
_MONTHS = _split("January February March April May June July August September October November December")
_BODIES = _split("University Company Museum Orchestra Institute Railway Party Church Club Society Army Agency Band")
_PLACES = _split("County River Bridge Island Province Valley District Park Castle Lake Station Street Harbour")
_WORKS = _split("Album Story Journal Trilogy Symphony Chronicle Letters Song Game Report Prize League Treaty")


def drawn_word(rng: Random) -> str:
    """A word of the vocabulary, the commoner the likelier."""
    if rng.random() < _TAIL:
        rank = _KNEE * (1 - rng.random()) ** (-1 / (_STEEP - 1))
    else:
        rank = _FLAT * ((_FLAT + _KNEE) / _FLAT) ** rng.random() - _FLAT
    return word(min(int(rank), _LAST))


@lru_cache(100_000)
def word(rank: int) -> str:
    """The word of this rank; common ones are short."""
    rng = Random(f"word {rank}")
    count = 1 + (rank > 40) + (rank > 20_000) + (rng.random() < 0.25)
    return "".join(_syllable(rng) for _ in range(count))


def _syllable(rng: Random) -> str:
    return rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)


def proper_name(key: str) -> str:
    """What a passage can be about, for a ``key``: a person, a place, a body or a work."""
    rng = Random(f"name {key}")
    first, second, third = (drawn_word(rng).capitalize() for _ in range(3))
    kind = rng.random()
    if kind < 0.35:
        return f"{first} {second}" if rng.random() < 0.7 else f"{first} {third} {second}"
    if kind < 0.6:
        return f"{first}{drawn_word(rng)}"
    if kind < 0.75:
        return f"{first} {rng.choice(_PLACES)}"
    if kind < 0.9:
        return f"{first} {rng.choice(_BODIES)}" if rng.random() < 0.5 else f"{rng.choice(_BODIES)} of {first} {second}"
    return f"{first} {second} {rng.choice(_WORKS)}"


def passing_name(key: str) -> str:
    """What one passage mentions, for a ``key``: a name, a date, a number of things, or a phrase."""
    rng = Random(f"passing {key}")
    kind = rng.random()
    if kind < 0.3:
        return proper_name(key)
    if kind < 0.38:
        return str(int(2019 - 260 * rng.random() ** 2))
    if kind < 0.47:
        return f"{rng.randrange(1, 29)} {rng.choice(_MONTHS)} {int(2019 - 150 * rng.random() ** 2)}"
    if kind < 0.55:
        return f"{int(10 ** (1 + 5 * rng.random())):,} {drawn_word(rng)}s"
    words = [drawn_word(rng) for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 7)))]
    return " ".join(words) if len(words) < 3 else f"{' '.join(words[:-2])} of the {' '.join(words[-2:])}"
