"""Tasks that need no understanding: a pass key in noise, a number in noise, the value of a key, a number by its rank.

After LongAgent's synthetic tasks (the longer version, section 3.1): PassKey, Number, KV and Math.Find.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from heapq import nlargest
from itertools import repeat
from uuid import UUID

from kgplatform.errors import InputError
from kgplatform.evaluate.synthetic.haystack import Frame, Needles, hide
from kgplatform.evaluate.synthetic.task import NeedleTask, Wanted

_NOISE = (
    "The door is shut and the lamp is lit. The road goes up, and then the road goes down. We walk for an hour, and we "
    "rest for an hour. Tomorrow will be as today was."
)
_RUNS = (4, 3, 2, 1)
"""The number of ten digits in the task "number" has runs of so many equal ones, in any order."""

_DICTIONARY = Frame("{\n", ",\n", "\n}")
_LIST = Frame("[", ", ", "]")
_SMALLEST, _LARGEST = 100_000, 999_999
_TOKENS_OF_A_NUMBER = 3
"""With its comma."""

_FEWEST = 3
"""Numbers of a list, so that it has one of each rank."""

RANKS = {"largest": 1, "second largest": 2, "third largest": 3, "smallest": -1}
"""What may be asked for: how many of the largest numbers tell it, or of the smallest.

A median is not among them: members that each know a part of the list cannot tell it from their parts' medians.
"""


def pass_key(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A key of five digits in noise: the same four sentences again and again."""
    wanted = Wanted("passkey", "pass key", length, (depth,), seed)
    key = str(wanted.chance().randrange(10_000, 100_000))
    said = f"The pass key is {key}. Keep it in mind: {key} is the pass key."
    return hide(wanted, Needles("What is the pass key?", (key,), (said,)), repeat(_NOISE))


def hidden_number(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A number of ten digits that come in runs ("7777222550"), said twice, in noise."""
    wanted = Wanted("number", "number", length, (depth,), seed)
    number = _digits_in_runs(wanted.chance())
    said = f"The hidden number is {number}. Keep it in mind: {number} is the hidden number."
    return hide(wanted, Needles("What is the hidden number?", (number,), (said,)), repeat(_NOISE))


def key_value(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A dictionary in JSON, of random UUIDs and a line a pair; one of its keys is asked for."""
    wanted = Wanted("kv", "key value", length, (depth,), seed)
    chance = wanted.chance()
    key, value = _uuid(chance), _uuid(chance)
    told = Needles(f'Which value belongs to the key "{key}"?', (value,), (_pair(key, value),))
    return hide(wanted, told, _pairs(chance), _DICTIONARY)


def math_find(length: int, depth: float, seed: int = 0, *, rank: str = "largest") -> NeedleTask:
    """A list of different numbers of six digits; the number of ``rank``, one of ``RANKS``, stands at ``depth``.

    Raises ``InputError`` for another rank, for a list that is too short to have it, and for one of more than about
    2.7 million tokens, which would need more numbers of six digits than there are.
    """
    if rank not in RANKS:
        raise InputError(f"{rank!r} cannot be asked for: choose one of {', '.join(RANKS)}.")
    wanted = Wanted("math", rank, length, (depth,), seed)
    count, most = (length - 1) // _TOKENS_OF_A_NUMBER, _LARGEST - _SMALLEST + 1
    if not _FEWEST <= count <= most:
        least, longest = (_TOKENS_OF_A_NUMBER * each + 1 for each in (_FEWEST, most))
        raise InputError(f"A list of {length:,} tokens cannot be made: ask for {least} to {longest:,}.")
    numbers = wanted.chance().sample(range(_SMALLEST, _LARGEST + 1), count)
    sought = nlargest(RANKS[rank], numbers)[-1] if RANKS[rank] > 0 else min(numbers)
    numbers.remove(sought)
    said = str(sought)
    told = Needles(f"What is the {rank} number of the list?", (said,), (said,))
    return hide(wanted, told, map(str, numbers), _LIST)


def _digits_in_runs(chance: random.Random) -> str:
    """Ten digits of which the first is not 0: as many different ones as there are runs."""
    digits = [chance.choice("123456789")]
    digits += chance.sample([digit for digit in "0123456789" if digit != digits[0]], len(_RUNS) - 1)
    return "".join(digit * length for digit, length in zip(digits, chance.sample(_RUNS, len(_RUNS)), strict=True))


def _pairs(chance: random.Random) -> Iterator[str]:
    while True:
        yield _pair(_uuid(chance), _uuid(chance))


def _pair(key: str, value: str) -> str:
    return f'"{key}": "{value}"'


def _uuid(chance: random.Random) -> str:
    return str(UUID(int=chance.getrandbits(128), version=4))
