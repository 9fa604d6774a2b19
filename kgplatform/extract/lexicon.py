"""What closed lists tell: the words of ``words.txt`` and ``common.txt``, and the names of ``known.txt``.

The kind of a named thing, where rules can tell: from the form of its name, or from what a sentence says it is. A schema
that has no type of that name or alias leaves the entity without a type. The form of a name gives the same kind in every
text, so that equal names stay one entity.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from kgplatform.extract.schema import Schema
from kgplatform.text.languages import word_lists

WORDS = word_lists("kgplatform.extract", "words.txt")
"""The lists of ``words.txt`` by their names."""

_COMMON = word_lists("kgplatform.extract", "common.txt")["common"]
KNOWN_LISTS = word_lists("kgplatform.extract", "known.txt")
GIVEN_NAMES = KNOWN_LISTS["given names"]
PEOPLES = KNOWN_LISTS["peoples"]
_KNOWN = {
    name.replace("_", " "): "Place" if kind in ("city", "region") else kind
    for kind in ("Concept", "Product", "Organization", "Language", "region", "city", "Place")
    for name in KNOWN_LISTS[f"known {kind}"]
}

FUNCTION_WORDS = WORDS["function words"]
OPENERS = WORDS["openers"]
MONTHS = WORDS["months"]
DAYS = WORDS["days"]
INNER_PARTICLES = WORDS["inner particles"]
LAST_WORDS = {
    word: kind
    for kind in ("Concept", "Product", "Work", "Place", "Organization", "Event", "Award")
    for word in WORDS[f"last words of {kind}"]
}
_FIRST_WORDS = {word: kind for kind in ("Organization", "Place", "Event") for word in WORDS[f"first words of {kind}"]}
_TITLES = WORDS["first words of Person"]
NOUN_KINDS = {
    word: kind
    for kind in ("Person", "Place", "Work", "Organization", "Event", "Award", "Language", "Product", "Concept")
    for word in WORDS[f"nouns of {kind}"]
}
"""What a sentence says a thing is, and the kind of thing that this is."""

_SYNONYMS = {
    "Organization": ("Organization", "Organisation", "Company", "Institution"),
    "Place": ("Place", "Location", "GPE"),
    "Work": ("Work", "Creative Work", "Publication"),
}
_WORD = re.compile(r"[^\s,]+")
_INITIAL = re.compile(r" [A-Z]\. [A-Z][a-z]+\Z")
_STANDARDS = frozenset({"rfc", "iso", "iec", "din", "ieee", "pep"})
_MOST_OF_A_PERSON = 5
_SURNAMES = frozenset({"lane", "hill"})
"""Of the words that places end with, those that are as often a surname."""


@lru_cache(maxsize=1 << 15)
def kind_of_name(name: str) -> str | None:
    """The kind that the form of ``name`` shows, in any text: it is known, or its first or last word tells.

    >>> kind_of_name("University of Copenhagen"), kind_of_name("Jane Goodall"), kind_of_name("Sputnik")
    ('Organization', 'Person', None)
    """
    if (known := known_name(name.rstrip("."))) is not None:
        return known
    if ", " in name and known_name(name.rpartition(", ")[2]) == "Place":
        return "Place"
    if name.islower():
        return None
    parts = [part.strip(".'’\"").lower() for part in _WORD.findall(name)]
    if len(parts) < 2:
        return None
    if parts[:2] == ["world", "war"]:
        return "Event"
    # A standard or a product by what stands before its number: "RFC 2411", "PostgreSQL 12".
    if len(parts) == 2 and parts[1].replace(".", "").isdecimal():
        if parts[0] in _STANDARDS:
            return "Work"
        if known_name(parts[0]) == "Product":
            return "Product"
    if parts[0] in GIVEN_NAMES and (_INITIAL.search(name) or (len(parts) == 2 and parts[1] in _SURNAMES)):
        return "Person"
    return _by_its_head(parts) or ("Person" if _is_person(parts, name) else None)


def _by_its_head(parts: Sequence[str]) -> str | None:
    """By the word that says what it is, which stands last, or before "of": "Lake Placid", "University of Lund"."""
    of = next((at for at, part in enumerate(parts) if at and part in ("of", "for", "für", "von", "der")), None)
    last = parts[-1] if not parts[-1].isdecimal() or len(parts) < 3 else parts[-2]
    head = parts[of - 1] if of is not None else last
    if head == "games" and parts[max(0, parts.index(head) - 1)] not in WORDS["before games"]:
        return None
    if head == "hall" and parts[-1] == "fame":
        return None
    return LAST_WORDS.get(head) or _FIRST_WORDS.get(parts[0])


@lru_cache(maxsize=1 << 15)
def is_common(word: str) -> bool:
    """Whether ``word``, or what it is the plural of, is an ordinary English word.

    >>> is_common("Buttons"), is_common("Queries"), is_common("Quillian")
    (True, True, False)
    """
    low = word.lower()
    if low in _COMMON or low in FUNCTION_WORDS:
        return True
    if "-" in low:
        return all(part and is_common(part) for part in low.split("-"))
    stems = (low[:-1], low[:-2] if low.endswith("es") else "", low[:-3] + "y" if low.endswith("ies") else "")
    return low.endswith("s") and not low.endswith("ss") and any(stem in _COMMON for stem in stems)


def known_name(name: str) -> str | None:
    """The kind of a name that is known as a whole; in capitals, "ROM" is no town."""
    low = name.lower()
    kind = None if low in FUNCTION_WORDS and not name.isupper() else _KNOWN.get(low)  # "Who" is not the WHO
    if kind is None and low[-1:].isdecimal() and _KNOWN.get(low.rstrip("0123456789")) == "Product":
        return "Product"  # "GRUB2"
    return None if kind == "Place" and name.isupper() and name.isalpha() and len(name) == 3 and name != "USA" else kind


def _is_person(parts: Sequence[str], name: str) -> bool:
    if len(parts) > _MOST_OF_A_PERSON or set(parts[1:]) & WORDS["not after a given name"]:
        return False
    if parts[0] in _TITLES:
        return parts[1] not in FUNCTION_WORDS or parts[1] == "of"
    initials = all(len(part.replace(".", "")) == 1 for part in parts[:-1]) and "." in name
    given = parts[0] in GIVEN_NAMES or initials or (len(parts[0]) == 1 and len(parts) > 2 and parts[1] in GIVEN_NAMES)
    honoured = parts[0] in WORDS["formal honorifics"] and parts[1] in GIVEN_NAMES
    return (given or honoured) and not any(letter.isdigit() for letter in name) and name.split()[-1][0].isupper()


def kind_of_noun_phrase(phrase: str) -> str | None:
    """The kind that "an American film actor" is: that of its last noun, or of the one before."""
    for word in reversed([word.lower() for word in re.findall(r"[^\W\d_]+", phrase)][-2:]):
        if word in NOUN_KINDS:
            return NOUN_KINDS[word]
    return None


def type_in(schema: Schema, kind: str | None) -> str | None:
    """The schema's own name for ``kind``, by name or alias, whatever its case; None if it has no such type."""
    for name in _SYNONYMS.get(kind or "", (kind,) if kind else ()):
        if (found := schema.entity(name)) is not None:
            return found.name
    return None
