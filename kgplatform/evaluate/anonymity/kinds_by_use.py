"""Persons and places among names that the local extractor leaves without a type: by the words around them.

The extractor types what a sentence defines, and leaves open what it only mentions; for anonymity that is too little.
A name is a place where texts write "in" or "near" before it, a person after a title or before what only people do, and
where it ends with the surname of a known person. These are rules of thumb: what they miss, a file of names adds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgplatform.build.extract.kinds import NOUN_KINDS
from kgplatform.build.extract.words import words as words_of
from kgplatform.evaluate.anonymity.entities import TITLES, WordUse, core_words
from kgplatform.evaluate.anonymity.replace import Finder

PERSON, PLACE = "Person", "Place"

_BEFORE_PLACES = words_of("in near at from to across throughout via outside toward towards")
_SURE_PLACES = words_of("in near across throughout via outside")
_DEEDS = words_of(
    """
    said says asked replied answered told wrote writes thought knew felt saw heard believed wished wanted tried hoped
    died married resigned retired went came returned travelled sailed walked lived studied taught learned visited met
    invented discovered designed proposed suggested persuaded convinced invited promised refused explained argued
    became joined spoke smiled laughed looked sat stood
    """
)
_LANGUAGES = words_of("english french german latin greek dutch spanish italian russian chinese japanese arabic hebrew")
_NO_PLACES = words_of("parliament congress god heaven") | _LANGUAGES
_LAST_WORD = re.compile(r"([^\W\d_]+)\.?\s+(?:the\s+)?\Z", re.IGNORECASE)
_NEXT_WORD = re.compile(r"\s+(?:had\s+|also\s+|then\s+|later\s+|never\s+)?([a-z]+)\b")
# "in Stockbridge, …", "the coast of …", "from Dover to …"
_BEFORE_PLACE = re.compile(
    r"\b(?:in|near|at|from)\s+[A-Z][\w-]+(?:\s[A-Z][\w-]+)?,\s+\Z"
    r"|\b(?:coast|shore|town|city|port|village|north|south|east|west|capital|county|province|parts?)\s+of\s+(?:the\s+)?\Z"
    r"|\bfrom\s+[A-Z][\w-]+\s+to\s+\Z"
)
_TO_ANOTHER = re.compile(r"\s+to\s+(?:the\s+)?[A-Z]")
_LOOKED_BACK = 60
_PLACE_SHARE = 4


@dataclass(slots=True)
class _Use:
    """How often a name stands where names of places stand, surely so, and where those of persons do."""

    mentions: int = 0
    places: int = 0
    sure: int = 0
    deeds: int = 0

    def note(self, text: str, start: int, end: int) -> None:
        """Count the mention ``text[start:end]``."""
        behind = text[max(0, start - _LOOKED_BACK) : start]
        before, after = _LAST_WORD.search(behind), _NEXT_WORD.match(text, end)
        word = before[1].lower() if before else ""
        is_place = bool(_BEFORE_PLACE.search(behind) or (word == "from" and _TO_ANOTHER.match(text, end)))
        self.mentions += 1
        self.places += is_place or word in _BEFORE_PLACES
        self.sure += is_place or word in _SURE_PLACES
        self.deeds += word in TITLES or NOUN_KINDS.get(word) == PERSON or (after is not None and after[1] in _DEEDS)


def kinds_by_use(names: Iterable[str], texts: Sequence[str], people: Iterable[str]) -> dict[str, str]:
    """The kind of each of ``names`` that the use in ``texts`` shows. ``people``: names of known persons."""
    words = WordUse.of(texts)
    unknown = sorted({name for name in names if words.is_name(name) and not _is_common(name)})
    finder = Finder({name: name for name in unknown})
    uses: dict[str, _Use] = defaultdict(_Use)
    for text in texts:
        for each in finder.mentions(text):
            uses[each.placeholder].note(text, each.start, each.end)
    surnames = {core[-1] for core in map(core_words, people) if len(core) > 1}
    found = {name: _kind(name, use, surnames) for name, use in sorted(uses.items())}
    return {name: kind for name, kind in found.items() if kind}


def _is_common(name: str) -> bool:
    """Whether a name ends with a noun for something that is neither a person nor a place: "Telegraph Company"."""
    return NOUN_KINDS.get(name.split()[-1].lower(), PERSON) not in (PERSON, PLACE)


def _kind(name: str, use: _Use, surnames: set[str]) -> str | None:
    words = name.split()
    if words[0].lower().strip(".") in TITLES and len(words) > 1:
        return PERSON
    if use.deeds > use.places:
        return PERSON
    if name.lower() not in _NO_PLACES and use.sure and _PLACE_SHARE * use.places >= use.mentions:
        return PLACE
    is_ship = any(len(word) > 1 and word.isupper() for word in words)
    return PERSON if len(words) > 1 and words[-1] in surnames and not is_ship else None
