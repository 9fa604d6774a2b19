"""The words that stand for names: ``[PERSON#12]``; which numbers are free, and who gets which.

number_entities([("PERSON", "Ahab"), ("LOCATION", "Nantucket")], seed=0, taken=frozenset({1}))
# {("PERSON", "Ahab"): "[PERSON#3]", ("LOCATION", "Nantucket"): "[LOCATION#2]"}
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kgplatform.text import node_id, normalise_name

PLACEHOLDER = re.compile(r"\[([^\W\d_](?:\w*[^\W_])?)#(\d{1,9})\]")
_NO_LABEL = re.compile(r"\W+|_+")


def label_of(type_name: str) -> str:
    """The word of a type in placeholders: ``Work of Art`` is ``WORK_OF_ART``. Empty if it has no letter."""
    parts = [part for part in _NO_LABEL.split(type_name.upper()) if part]
    return "_".join(parts) if parts and parts[0][0].isalpha() else ""


def taken_numbers(text: str) -> set[int]:
    """The numbers of placeholders that ``text`` has of itself, whatever their label: no entity may get one."""
    return {int(found[2]) for found in PLACEHOLDER.finditer(text)}


def number_entities(
    entities: Iterable[tuple[str, str]], seed: int, taken: frozenset[int] | set[int]
) -> dict[tuple[str, str], str]:
    """The placeholder of each ``(label, name)``.

    One row of numbers serves all labels. Their order is that of hashes of seed, label and name: the same for the same
    entities and seed, and neither the order of appearance nor that of the alphabet, which would give answers away.
    """
    ordered = sorted(set(entities), key=lambda each: (node_id(seed, each[0], normalise_name(each[1])), each))
    numbers = (number for number in range(1, len(ordered) + len(taken) + 1) if number not in taken)
    return {each: f"[{each[0]}#{number}]" for each, number in zip(ordered, numbers, strict=False)}
