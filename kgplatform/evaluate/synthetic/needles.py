"""What is hidden in a text and asked for: statements that are not true, so that nobody can know their answers.

LongAgent (section 3.1) alters what its needles say, and expects the answer of the needle, not that of the world. The
statements here are about things that everybody knows; only what they say of them is invented.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from kgplatform.evaluate.synthetic.haystack import Needles
from kgplatform.evaluate.synthetic.invented import RARE_NAME, invented_name


@dataclass(frozen=True, slots=True)
class _Fact:
    """``The author of Moby-Dick`` was ``Herman Melville``: a fact of the world, to be altered."""

    subject: str
    world: str


_PEOPLE = (
    _Fact("the first person on the Moon", "Neil Armstrong"),
    _Fact("the author of the play Hamlet", "William Shakespeare"),
    _Fact("the author of the novel Moby-Dick", "Herman Melville"),
    _Fact("the author of the novel War and Peace", "Leo Tolstoy"),
    _Fact("the author of the novel Frankenstein", "Mary Shelley"),
    _Fact("the author of the novel Don Quixote", "Miguel de Cervantes"),
    _Fact("the discoverer of penicillin", "Alexander Fleming"),
    _Fact("the discoverer of radium", "Marie Curie"),
    _Fact("the discoverer of the moons of Jupiter", "Galileo Galilei"),
    _Fact("the founder of the theory of relativity", "Albert Einstein"),
    _Fact("the composer of the opera Carmen", "Georges Bizet"),
    _Fact("the composer of the Ode to Joy", "Ludwig van Beethoven"),
    _Fact("the composer of the opera The Magic Flute", "Wolfgang Amadeus Mozart"),
    _Fact("the painter of the Mona Lisa", "Leonardo da Vinci"),
    _Fact("the painter of Guernica", "Pablo Picasso"),
    _Fact("the painter of The Night Watch", "Rembrandt"),
    _Fact("the inventor of the telephone", "Alexander Graham Bell"),
    _Fact("the inventor of dynamite", "Alfred Nobel"),
    _Fact("the inventor of the printing press", "Johannes Gutenberg"),
    _Fact("the first President of the United States", "George Washington"),
    _Fact("the architect of the Sagrada Familia", "Antoni Gaudi"),
    _Fact("the first person at the South Pole", "Roald Amundsen"),
)
_THINGS = (
    _Fact("the capital of Australia", "Canberra"),
    _Fact("the capital of Canada", "Ottawa"),
    _Fact("the capital of Brazil", "Brasilia"),
    _Fact("the capital of Turkey", "Ankara"),
    _Fact("the capital of Egypt", "Cairo"),
    _Fact("the capital of Norway", "Oslo"),
    _Fact("the longest river of Africa", "Nile"),
    _Fact("the longest river of South America", "Amazon"),
    _Fact("the highest mountain of the Earth", "Everest"),
    _Fact("the largest moon of Saturn", "Titan"),
    _Fact("the largest planet of the Sun", "Jupiter"),
    _Fact("the city of the Eiffel Tower", "Paris"),
    _Fact("the city of the Colosseum", "Rome"),
    _Fact("the city of the first modern Olympic Games", "Athens"),
    _Fact("the island on which Napoleon died", "Saint Helena"),
    _Fact("the desert with the largest area in Asia", "Gobi"),
    _Fact("the sea between Europe and Africa", "Mediterranean"),
    _Fact("the metal with the symbol Au", "gold"),
)
_YEARS = (
    _Fact("the year of the Battle of Hastings", "1066"),
    _Fact("the year of the Great Fire of London", "1666"),
    _Fact("the year in which the French Revolution began", "1789"),
    _Fact("the year in which the Suez Canal was opened", "1869"),
    _Fact("the year in which the Titanic sank", "1912"),
    _Fact("the year in which the Berlin Wall fell", "1989"),
    _Fact("the year of the first powered flight", "1903"),
    _Fact("the year of the first landing on the Moon", "1969"),
    _Fact("the year in which the structure of DNA was published", "1953"),
    _Fact("the year in which Columbus first reached America", "1492"),
)
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
