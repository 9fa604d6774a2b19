"""Likely the same: which names are alike, and which name an entity is shown under."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgplatform.resolution.alike import are_alike, best_name, consonants_of, shortened, words_of
from kgplatform.text import normalise_name

ALIKE = [
    ("Barack Obama", "Obama, Barack"),
    ("Lord Kelvin", "Kelvin"),
    ("University of Oxford", "Oxford University"),
    ("Mendeleev", "Mendeleyev"),
    ("Émile Zola", "Emile Zola"),
    ("Dvořák Antonín", "Antonin Dvorak"),
    ("نجيب محفوظ", "محفوظ"),
    ("Apollo 11 mission", "Apollo 11"),
]
UNLIKE = [
    ("1866 cable", "cable"),
    ("Apollo 11", "Apollo 12"),
    ("Henry VIII of England", "Henry of Navarre"),
    ("Paris", "Pairs of shoes"),
    ("鲁迅", "鲁肃"),
    ("Ida", "Ada"),
    ("", "Ada"),
]


def alike(one: str, other: str) -> bool:
    words = [words_of(normalise_name(name)) for name in (one, other)]
    assert are_alike(*words) == are_alike(*reversed(words))
    return are_alike(*words)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_are_alike(one: str, other: str) -> None:
    assert alike(one, other)


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_names_that_are_not(one: str, other: str) -> None:
    assert not alike(one, other)


@given(st.lists(st.text(alphabet="abcé é1北ب ,.-", max_size=12), max_size=8))
def test_like_names_share_a_property_that_they_are_found_by(names: list[str]) -> None:
    """As ``settle.py`` looks them up: the same words, those of the longer but one, or the same consonants."""
    for one, other in product(map(words_of, map(normalise_name, names)), repeat=2):
        if are_alike(one, other):
            shorter, longer = sorted((one, other), key=len)
            found = shorter in (longer, *shortened(longer)) or consonants_of(one) == consonants_of(other) != ""
            assert found


@pytest.mark.parametrize(
    ("forms", "name", "aliases"),
    [
        (["Ada"], "Ada", []),
        (["Ada", "ADA", "ADA"], "ADA", ["Ada"]),
        (["b", "a"], "a", ["b"]),
        (["c", "b", "b", "a", "a"], "a", ["b", "c"]),
        (["ÉMILE", "Émile", "Émile"], "Émile", ["ÉMILE"]),
    ],
)
def test_the_form_that_most_passages_use(forms: list[str], name: str, aliases: list[str]) -> None:
    assert best_name(forms) == best_name(forms[::-1]) == (name, aliases)
