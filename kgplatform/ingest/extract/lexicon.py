"""What closed lists of English words tell, which lie in ``words.txt``: words, and the kinds of named things.

The kind of a named thing, where rules can tell: from the form of its name, or from what a sentence says it is. A schema
that has no type of that name or alias leaves the entity without a type. The form of a name gives the same kind in every
text, so that equal names stay one entity.
"""

from __future__ import annotations

import re
from importlib import resources

from kgplatform.ingest.schema import Schema


def _read_lists() -> dict[str, frozenset[str]]:
    source = (resources.files("kgplatform.ingest.extract") / "words.txt").read_text("utf-8")
    lists = re.sub("^#.*\n", "", source, flags=re.M).split("\n\n")
    return {name.strip(): frozenset(words.split()) for name, _, words in (each.partition(":") for each in lists)}


WORDS = _read_lists()
"""The lists of ``words.txt`` by their names."""

FUNCTION_WORDS = WORDS["function words"]
OPENERS = WORDS["openers"]
MONTHS = WORDS["months"]
DAYS = WORDS["days"]
INNER_PARTICLES = WORDS["inner particles"]
_LAST_WORDS = {kind: WORDS[f"last words of {kind}"] for kind in ("Organization", "Place", "Event", "Award")}
_FIRST_WORDS = {word: kind for kind in ("Organization", "Place", "Event") for word in WORDS[f"first words of {kind}"]}
NOUN_KINDS = {
    word: kind
    for kind in ("Person", "Place", "Work", "Organization", "Event", "Award", "Language")
    for word in WORDS[f"nouns of {kind}"]
}
"""What a sentence says a thing is, and the kind of thing that this is."""

_SYNONYMS = {
    "Organization": ("Organization", "Organisation", "Company", "Institution"),
    "Place": ("Place", "Location", "GPE"),
    "Work": ("Work", "Creative Work", "Publication"),
}
_WORD = re.compile(r"[^\s,]+")


def kind_of_name(name: str) -> str | None:
    """The kind that the form of ``name`` shows, in any text.

    >>> kind_of_name("University of Copenhagen"), kind_of_name("Jane Goodall"), kind_of_name("Sputnik")
    ('Organization', 'Person', None)
    """
    parts = [part.strip(".").lower() for part in _WORD.findall(name)]
    if len(parts) < 2:
        return None
    head = parts[parts.index("of") - 1] if "of" in parts[1:] else parts[-1]
    for kind, endings in _LAST_WORDS.items():
        if head in endings:
            return kind
    if parts[0] in _FIRST_WORDS:
        return _FIRST_WORDS[parts[0]]
    if parts[:2] == ["world", "war"]:
        return "Event"
    is_person = (
        parts[0] in WORDS["given names"] and len(parts) <= 4 and not set(parts[1:]) & WORDS["not after a given name"]
    )
    return "Person" if is_person and not any(letter.isdigit() for letter in name) else None


def kind_of_noun_phrase(phrase: str) -> str | None:
    """The kind that "an American film actor" is: that of its last noun that has one."""
    for word in reversed([word.lower() for word in re.findall(r"[^\W\d_]+", phrase)]):
        if word in NOUN_KINDS:
            return NOUN_KINDS[word]
    return None


def type_in(schema: Schema, kind: str | None) -> str | None:
    """The schema's own name for ``kind``, by name or alias, whatever its case; None if it has no such type."""
    for name in _SYNONYMS.get(kind or "", (kind,) if kind else ()):
        if (found := schema.entity(name)) is not None:
            return found.name
    return None
