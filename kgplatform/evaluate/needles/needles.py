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
from itertools import count, repeat
from typing import NamedTuple
from uuid import UUID

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


def _facts(listed: str) -> tuple[_Fact, ...]:
    """One for each ``subject: world``, which semicolons separate."""
    return tuple(_Fact(*" ".join(each.split()).split(": ")) for each in listed.split(";"))


_PEOPLE = _facts("""
    the first person on the Moon: Neil Armstrong; the author of the play Hamlet: William Shakespeare;
    the author of the novel Moby-Dick: Herman Melville; the author of the novel War and Peace: Leo Tolstoy;
    the author of the novel Frankenstein: Mary Shelley; the author of the novel Don Quixote: Miguel de Cervantes;
    the discoverer of penicillin: Alexander Fleming; the discoverer of radium: Marie Curie;
    the discoverer of the moons of Jupiter: Galileo Galilei;
    the founder of the theory of relativity: Albert Einstein; the composer of the opera Carmen: Georges Bizet;
    the composer of the Ode to Joy: Ludwig van Beethoven;
    the composer of the opera The Magic Flute: Wolfgang Amadeus Mozart;
    the painter of the Mona Lisa: Leonardo da Vinci; the painter of Guernica: Pablo Picasso;
    the painter of The Night Watch: Rembrandt; the inventor of the telephone: Alexander Graham Bell;
    the inventor of dynamite: Alfred Nobel; the inventor of the printing press: Johannes Gutenberg;
    the first President of the United States: George Washington; the architect of the Sagrada Familia: Antoni Gaudi;
    the first person at the South Pole: Roald Amundsen
""")
_THINGS = _facts("""
    the capital of Australia: Canberra; the capital of Canada: Ottawa; the capital of Brazil: Brasilia;
    the capital of Turkey: Ankara; the capital of Egypt: Cairo; the capital of Norway: Oslo;
    the longest river of Africa: Nile; the longest river of South America: Amazon;
    the highest mountain of the Earth: Everest; the largest moon of Saturn: Titan;
    the largest planet of the Sun: Jupiter; the city of the Eiffel Tower: Paris; the city of the Colosseum: Rome;
    the city of the first modern Olympic Games: Athens; the island on which Napoleon died: Saint Helena;
    the desert with the largest area in Asia: Gobi; the sea between Europe and Africa: Mediterranean;
    the metal with the symbol Au: gold
""")
_YEARS = _facts("""
    the year of the Battle of Hastings: 1066; the year of the Great Fire of London: 1666;
    the year in which the French Revolution began: 1789; the year in which the Suez Canal was opened: 1869;
    the year in which the Titanic sank: 1912; the year in which the Berlin Wall fell: 1989;
    the year of the first powered flight: 1903; the year of the first landing on the Moon: 1969;
    the year in which the structure of DNA was published: 1953;
    the year in which Columbus first reached America: 1492
""")
_LIVES = (
    ("{} was born in the town of {}.", "In which town was {} born?"),
    ("{} went to school in the town of {}.", "In which town did {} go to school?"),
    ("{} spent the last winter of a long life in the town of {}.", "In which town did {} spend the last winter?"),
    ("{} owned a ship with the name {}.", "What was the name of the ship that {} owned?"),
    ("{} learned to swim in the lake of {}.", "In which lake did {} learn to swim?"),
    ("{} grew up on the island of {}.", "On which island did {} grow up?"),
)
_FIRST_YEAR, _LAST_YEAR = 1000, 2099
YES_OR_NO = frozenset({"yes", "no"})


def single_statement(chance: random.Random) -> Needles:
    """One statement that answers the question: ``The capital of Australia is Zelquilvordun.``"""
    fact = chance.choice([*_PEOPLE, *_THINGS, *_YEARS])
    if fact in _YEARS:
        return _stated(fact, other_year(chance, fact.world), "What is {}?", "is")
    if fact in _THINGS:
        return _stated(fact, invented_name(chance, RARE_NAME), "What is {}?", "is")
    return _stated(fact, _person(chance), "Who was {}?", "was")


def joined_statements(chance: random.Random) -> Needles:
    """Two statements: who did something that everybody knows, and something of the life of whoever that is."""
    fact, (life, asked) = chance.choice(_PEOPLE), chance.choice(_LIVES)
    person, answer = _person(chance), invented_name(chance, RARE_NAME)
    first = _stated(fact, person, "", "was")
    return Needles(
        asked.format(fact.subject), (answer,), (*first.statements, life.format(person, answer)), first.world, person
    )


def is_year(word: str) -> bool:
    """Whether ``word`` may be one: 1000 to 2099."""
    return len(word) == 4 and word.isdecimal() and _FIRST_YEAR <= int(word) <= _LAST_YEAR


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

    ``haystack``: your own text, taken from its beginning; else an invented one. ``needles``: what to draw the
    statement from, such as ``from_samples`` makes (those of one passage); else it is a fact that everybody knows,
    altered. Raises ``InputError`` for a length or a depth that cannot be had, and for a haystack that is too short.
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
    given = [each for each in (*told.answers, *told.world) if each.casefold() not in YES_OR_NO]
    return hide(wanted, told, without(source, given))


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
