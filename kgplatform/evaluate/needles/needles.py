"""What is hidden in a text and asked for: statements that are not true, so that nobody can know their answers.

LongAgent (section 3.1) alters what its needles say, and expects the answer of the needle, not that of the world. The
statements here are about things that everybody knows; only what they say of them is invented.

The tasks: Needle-in-a-Haystack PLUS (one statement, or two that must both be found), and those that need no
understanding: a pass key or a number in noise, the value of a key, a number by its rank (LongAgent, section 3.1).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from heapq import nlargest
from importlib.resources import files
from itertools import count, repeat
from typing import NamedTuple
from uuid import UUID

import yaml

from kgplatform.errors import InputError
from kgplatform.evaluate.needles.haystack import (
    RARE_NAME,
    Frame,
    Needles,
    NeedleTask,
    WantedTask,
    filler,
    hide,
    invented_name,
    own_paragraphs,
    paragraphs,
    without,
)


class _Fact(NamedTuple):
    """``The author of Moby-Dick`` was ``Herman Melville``: a fact of the world, to be altered."""

    subject: str
    world: str


_KNOWN = {
    kind: [_Fact(*each) for each in facts.items()]
    for kind, facts in yaml.safe_load((files(__package__) / "known_facts.yaml").read_text("utf-8")).items()
}
_LIVES = (
    ("{} was born in the town of {}.", "In which town was {} born?"),
    ("{} went to school in the town of {}.", "In which town did {} go to school?"),
    ("{} spent the last winter of a long life in the town of {}.", "In which town did {} spend the last winter?"),
    ("{} owned a ship with the name {}.", "What was the name of the ship that {} owned?"),
    ("{} learned to swim in the lake of {}.", "In which lake did {} learn to swim?"),
    ("{} grew up on the island of {}.", "On which island did {} grow up?"),
)
_FIRST_YEAR, _LAST_YEAR = 1000, 2099


def single_statement(chance: random.Random) -> Needles:
    """One statement that answers the question: ``The capital of Australia is Zelquilvordun.``"""
    kind, fact = chance.choice([(kind, fact) for kind, facts in _KNOWN.items() for fact in facts])
    if kind == "years":
        return _stated(fact, other_year(chance, fact.world), "What is {}?", "is")
    if kind == "things":
        return _stated(fact, invented_name(chance, RARE_NAME), "What is {}?", "is")
    return _stated(fact, _person(chance), "Who was {}?", "was")


def joined_statements(chance: random.Random) -> Needles:
    """Two statements: who did something that everybody knows, and something of the life of whoever that is."""
    fact, (life, asked) = chance.choice(_KNOWN["people"]), chance.choice(_LIVES)
    person, answer = _person(chance), invented_name(chance, RARE_NAME)
    first = _stated(fact, person, "", "was")
    return Needles(
        asked.format(fact.subject), (answer,), (*first.statements, life.format(person, answer)), first.world, person
    )


def other_year(chance: random.Random, year: str) -> str:
    """A year of four digits from 5 to 90 years before or after ``year``."""
    years = [int(year) + sign * distance for sign in (-1, 1) for distance in range(5, 91)]
    return str(chance.choice([each for each in years if _FIRST_YEAR <= each <= _LAST_YEAR]))


def _stated(fact: _Fact, answer: str, asked: str, verb: str) -> Needles:
    statement = f"{fact.subject[0].upper()}{fact.subject[1:]} {verb} {answer}."
    return Needles(asked.format(fact.subject), (answer,), (statement,), (fact.world,))


def _person(chance: random.Random) -> str:
    return f"{invented_name(chance)} {invented_name(chance, RARE_NAME)}"


_SPARE = 200  # tokens of invented text more than is needed, since its last paragraph is cut to what fits


def single_needle(
    length: int, depth: float, seed: int = 0, *, haystack: str | None = None, needles: Sequence[Needles] | None = None
) -> NeedleTask:
    """A text of ``length`` tokens with one statement at ``depth`` (0 to 1) that answers the question.

    ``haystack``: your own text, taken from its beginning; else an invented one. ``needles``: your own, to draw the
    statement from; else it is a fact that everybody knows, altered. Raises ``InputError`` for a length or a depth that
    cannot be had, and for a haystack that is too short.
    """
    return _task(WantedTask("qa", "single", length, (depth,), seed), haystack, needles, single_statement)


def multi_needle(
    length: int,
    depths: tuple[float, ...],
    seed: int = 0,
    *,
    haystack: str | None = None,
    needles: Sequence[Needles] | None = None,
) -> NeedleTask:
    """As ``single_needle``, with two statements at two ``depths`` that one name joins: neither answers alone.

    With ``needles`` of your own there may be more: as many as ``depths``.
    """
    return _task(WantedTask("qa", "multi", length, depths, seed), haystack, needles, joined_statements)


def _task(
    wanted: WantedTask,
    haystack: str | None,
    needles: Sequence[Needles] | None,
    invent: Callable[[random.Random], Needles],
) -> NeedleTask:
    chance = wanted.chance()
    choices = [invent(chance)] if needles is None else needles
    fitting = [choice for choice in choices if len(choice.statements) == len(wanted.depths)]
    if not fitting:
        raise InputError(f"None of the needles has as many passages as there are depths ({len(wanted.depths)}).")
    told = chance.choice(fitting)
    source = paragraphs(filler(chance, wanted.length + _SPARE)) if haystack is None else own_paragraphs(haystack)
    # No paragraph gives the answer, nor says what the world says.
    return hide(wanted, told, without(source, (*told.answers, *told.world)))


_NOISE = (
    "The door is shut and the lamp is lit. The road goes up, and then the road goes down. We walk for an hour, and we "
    "rest for an hour. Tomorrow will be as today was."
)
_RUNS = (4, 3, 2, 1)
"""The number of ten digits in the task "number" has runs of so many equal ones, in any order."""

_DICTIONARY = Frame("{\n", ",\n", "\n}")
_LIST = Frame("[", ", ", "]")
_SMALLEST, _LARGEST = 100_000, 999_999
_TOKENS_OF_A_NUMBER = 3  # with its comma
_FEWEST = 3  # numbers of a list, so that it has one of each rank

RANKS = {"largest": 1, "second largest": 2, "third largest": 3, "smallest": -1}
"""What may be asked for: how many of the largest numbers tell it, or of the smallest.

A median is not among them: members that each know a part of the list cannot tell it from their parts' medians.
"""


def pass_key(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A key of five digits in noise: the same four sentences again and again."""
    wanted = WantedTask("passkey", "pass key", length, (depth,), seed)
    return _in_noise(wanted, str(wanted.chance().randrange(10_000, 100_000)))


def hidden_number(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A number of ten digits that come in runs ("7777222550"), said twice, in noise."""
    wanted = WantedTask("number", "number", length, (depth,), seed)
    chance = wanted.chance()
    digits = [chance.choice("123456789")]
    digits += chance.sample([digit for digit in "0123456789" if digit != digits[0]], len(_RUNS) - 1)
    runs = zip(digits, chance.sample(_RUNS, len(_RUNS)), strict=True)
    return _in_noise(wanted, "".join(digit * length for digit, length in runs))


def _in_noise(wanted: WantedTask, answer: str) -> NeedleTask:
    what = "pass key" if wanted.kind == "passkey" else "hidden number"
    said = f"The {what} is {answer}. Keep it in mind: {answer} is the {what}."
    return hide(wanted, Needles(f"What is the {what}?", (answer,), (said,)), repeat(_NOISE))


def key_value(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A dictionary in JSON, of random UUIDs and a line a pair; one of its keys is asked for."""
    wanted = WantedTask("kv", "key value", length, (depth,), seed)
    chance = wanted.chance()
    key, value = _uuid(chance), _uuid(chance)
    told = Needles(f'Which value belongs to the key "{key}"?', (value,), (f'"{key}": "{value}"',))
    return hide(wanted, told, (f'"{_uuid(chance)}": "{_uuid(chance)}"' for _ in count()), _DICTIONARY)


def math_find(length: int, depth: float, seed: int = 0, *, rank: str = "largest") -> NeedleTask:
    """A list of different numbers of six digits; the number of ``rank``, one of ``RANKS``, stands at ``depth``.

    Raises ``InputError`` for another rank, for a list that is too short to have it, and for one of more than about
    2.7 million tokens, which would need more numbers of six digits than there are.
    """
    if rank not in RANKS:
        raise InputError(f"{rank!r} cannot be asked for: choose one of {', '.join(RANKS)}.")
    wanted = WantedTask("math", rank, length, (depth,), seed)
    number, most = (length - 1) // _TOKENS_OF_A_NUMBER, _LARGEST - _SMALLEST + 1
    if not _FEWEST <= number <= most:
        least, longest = (_TOKENS_OF_A_NUMBER * each + 1 for each in (_FEWEST, most))
        raise InputError(f"A list of {length:,} tokens cannot be made: ask for {least} to {longest:,}.")
    numbers = wanted.chance().sample(range(_SMALLEST, _LARGEST + 1), number)
    sought = nlargest(RANKS[rank], numbers)[-1] if RANKS[rank] > 0 else min(numbers)
    numbers.remove(sought)
    said = str(sought)
    told = Needles(f"What is the {rank} number of the list?", (said,), (said,))
    return hide(wanted, told, map(str, numbers), _LIST)


def _uuid(chance: random.Random) -> str:
    return str(UUID(int=chance.getrandbits(128), version=4))
