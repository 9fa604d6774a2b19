"""Which names of a passage mean one thing by its own words: aliases that it states, acronyms, and parts of a name.

    aliases("Norma Jeane Mortenson, known as Marilyn Monroe, sang.", {"1": ("Norma Jeane Mortenson", "Person"), …})

Everything is decided by the passage and by the names found in it, so that it does not matter what else is read, or
when. Each finding says why (``by``) and which characters of the passage say it:

- ``stated``: only words of naming stand between the two ("also known as", "(born", "(German:"), or of a list of them;
- ``acronym``: the letters of the one are the initials of the other, or stand in it in their order, where one follows
  the other in a bracket (Schwartz and Hearst, 2003, "A simple algorithm for identifying abbreviation definitions");
- ``part``: a person's surname, or the name with initials, or a title's name without its "(band)", where the passage
  has one longer name alone that it can be of.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, pairwise, product
from typing import Literal

from kgplatform.extract.lexicon import FUNCTION_WORDS, INNER_PARTICLES, PEOPLES, WORDS, kind_of_name
from kgplatform.text import normalise_name
from kgplatform.text.matching import find_names, fold_words

Named = Mapping[str, tuple[str, str | None]]
"""The names of a passage and their types, by the ids of what they name."""
Span = tuple[int, int]
Places = Mapping[Span, Sequence[str]]
"""Where names stand, from left to right, the longer first, and the ids of what they name."""
By = Literal["stated", "acronym", "part"]
PART: By = "part"


@dataclass(frozen=True, slots=True, order=True)
class Alias:
    """``one`` and ``other`` (ids) are one thing, by ``text[start:end]`` of the passage; of a part, ``one`` is it."""

    one: str
    other: str
    by: By
    start: int
    end: int


def aliases(text: str, named: Named) -> list[Alias]:
    """What the passage ``text`` says of the things ``named`` in it, each pair once, the surest first."""
    named = dict(sorted(named.items()))
    places = defaultdict[Span, list[str]](list)
    spans = [(place.start, -place.end, id_) for id_, (name, _) in named.items() for place in find_names(name, text)]
    for start, end, id_ in sorted(spans):
        places[start, -end].append(id_)
    outer = list[Span]()
    for span in places:
        if not outer or span[0] >= outer[-1][1]:
            outer.append(span)
    found: dict[tuple[str, str], Alias] = {}
    said = (_stated(text, places, outer), _acronyms(text, named, places, outer), _parts(text, named, places, outer))
    for each in chain.from_iterable(said):
        if each.one != each.other and are_of_one_kind(named[each.one][1], named[each.other][1]):
            found.setdefault((min(each.one, each.other), max(each.one, each.other)), each)
    return sorted(found.values())


def are_of_one_kind(one: str | None, other: str | None) -> bool:
    """Whether two types may be those of one thing: they are the same, or one is not known."""
    return one == other or None in (one, other)


# --- what a text states

_WORD = re.compile(r"[^\W_]+")
_NAMING, _ANY_NAMING = WORDS["naming"], WORDS["naming"] | WORDS["naming as"]
_AGAIN = frozenset({"also", "formerly", "later", "now", "or", "originally", "previously"})
_BESIDE = (FUNCTION_WORDS - {"he", "it", "she", "they"}) | PEOPLES | _ANY_NAMING
_ARTICLES = frozenset({"a", "an", "the", "his", "her", "its", "their", "just", "simply"})
_MARK = "|".join(sorted(_ANY_NAMING))
_MARKS = re.compile(rf"\b(?:{_MARK}|{'|'.join(sorted(_AGAIN))})\b|:", re.IGNORECASE)
_INSERTED = re.compile(
    r"[(\[][^()\[\]]*[)\]]"  # a bracket that ends before the other name
    rf"|[(\[][^()\[\]]*(?:;|,(?=[^,;]*\b(?:{_MARK})\b))(?=[^()\[\]]*\Z)"  # what stands before it in its own bracket
    r"|\A\s*(?:is|was|are|were)\s(?:an?|the|one)\s[^.()]*(?=,)"  # what the first is
)
_KIND_OF_NAME = re.compile(r"\w+\s+(?=(?:names?|under)\b)|(?<=name)\s+(?:is|was|of)\b")
_CAPITALISED = r"(?<![\w'’-])[A-Z0-9][\w'’-]*(?![\w'’-])"  # the whole word: there is one way to read a list of them
_UNKNOWN = re.compile(rf"{_CAPITALISED}(?:{_CAPITALISED}|\b(?:of|the|or|and)\b|[\s,\"“”])*(?:,|\bor|\band)\s*\Z")
_ASIDE = re.compile(rf"\s*\(\s*(?:{'|'.join(sorted(_AGAIN))})\b|\s*,?\s*or (?:simply|just)\b")
_LANGUAGE = re.compile(r"\s*\(.*\b([A-Z]\w+):[\s\"“]*\Z")
_LISTED = re.compile(r"[\"”’]?\s*(?:,?\s*\b(and|or)\b|,)(?:\s*\b(?:simply|just|as|the|an?)\b)*[\s\"“‘]*", re.IGNORECASE)
_IN_PLACE = re.compile(
    r"\b(?:in|of|at|from|and|by|with|on|for|to|near)\s+(?:the\s+|[a-z-]+\s+|[A-Z][\w .-]*,\s+)?\Z|,\s(?=[A-Z]{2})"
)
_CUT = re.compile(r"['’]s\b|:"), re.compile(r"(?![,.;!?]?\s?[\"”])")
_MOST_NAMES, _LONGEST_GAP = 8, 200


def _stated(text: str, places: Places, outer: Sequence[Span]) -> Iterator[Alias]:
    """Each name with what words of naming join to it, and with what is listed behind that, up to "and" or "or"."""
    lists, waiting = list[list[Span]](), list[Span]()
    for at, span in enumerate(outer):
        is_quoted = text[max(0, span[0] - 3) : span[0]].rstrip().endswith(('"', "“"))
        if _CUT[is_quoted].match(text, span[1]):
            continue
        if lists and (more := _LISTED.fullmatch(text, (waiting or lists[-1])[-1][1], span[0])):
            waiting.append(span)
            if more[1]:
                lists[-1] += waiting
                waiting = []
            continue
        before = reversed(outer[max(0, at - _MOST_NAMES) : at])
        if one := next((each for each in before if _says(text, each, span)), None):
            lists.append([one, span])
            waiting = []
    for each in lists:
        ids = [(id_, span[1]) for span in each for id_ in places[span]][:_MOST_NAMES]
        yield from (Alias(one, other, "stated", each[0][0], end) for (one, _), (other, end) in combinations(ids, 2))


def _says(text: str, one: Span, other: Span) -> bool:
    """Whether words of naming stand between two names and no others, said of the first and not of what it is a place
    of: "a town near Lund, called Ry"."""
    gap = text[one[1] : other[0]].replace(".k.a.", "ka").replace(".k.a", "ka")
    if len(gap) > _LONGEST_GAP or not _MARKS.search(gap):
        return False
    while (less := _INSERTED.sub("", gap)) != gap:
        gap = less
    if (language := _LANGUAGE.match(gap)) and language[1].lower() in PEOPLES:
        return True
    is_aside = _ASIDE.match(gap) is not None
    words = _WORD.findall(_UNKNOWN.sub("", _KIND_OF_NAME.sub("", gap)).lower())
    last = next((word for word in reversed(words) if word not in _ARTICLES), "")
    says = last in _NAMING or (is_aside and last in _AGAIN) or (last == "as" and not _ANY_NAMING.isdisjoint(words))
    is_strange = any(len(word) > 1 and word not in _BESIDE and not word.endswith("ly") for word in words)
    is_surname = not {"born", "née", "nee"}.isdisjoint(words) and " " not in text[other[0] : other[1]]
    is_verb = re.match(r"\s*\w+ed\b", gap) or not {*gap}.isdisjoint(")].!?")
    if not says or is_strange or is_surname or is_verb:
        return False
    is_again = is_aside or ({*words} & _AGAIN and not {*words} & {"is", "was", "are", "were"})
    return is_again or not _IN_PLACE.search(text[max(0, one[0] - 40) : one[0]])


# --- acronyms

_SMALL = INNER_PARTICLES | WORDS["in titles"]
_OPENED = re.compile(r"[\"”’]?\s*[(\[]\s*[\"“‘]?(?:the\s+)?")
_LONGEST_ACRONYM = 8


def _acronyms(text: str, named: Named, places: Places, outer: Sequence[Span]) -> Iterator[Alias]:
    """An acronym and what it stands for: the one in a bracket behind the other; or anywhere, if it is the initials."""
    letters = {id_: found for id_, (name, _) in named.items() if (found := _letters(name))}
    for one, other in pairwise(outer) if letters else ():
        if _OPENED.fullmatch(text, one[1], other[0]):
            for short, long in (*product(places[one], places[other]), *product(places[other], places[one])):
                if short in letters and _abbreviates(letters[short], named[long][0]):
                    yield Alias(short, long, "acronym", one[0], other[1])
    by_initials = defaultdict[str, list[str]](list)
    for id_, (name, kind) in named.items() if letters else ():
        for initials in {*_initials(name)} if not _person(name, kind) else ():
            by_initials[initials].append(id_)
    for (start, end), ids in places.items() if letters else ():
        for short in (id_ for id_ in ids if len(letters.get(id_, "")) > 2):
            yield from (Alias(short, long, "acronym", start, end) for long in by_initials[letters[short]])


def _letters(name: str) -> str:
    """The letters of an acronym, folded; "" for a name that is none."""
    bare = re.sub(r"[.&-]|(?<=[A-Z][A-Z])s\Z", "", name)
    is_one = bare.isalnum() and 2 <= len(bare) <= _LONGEST_ACRONYM and 2 * sum(map(str.isupper, bare)) > len(bare)
    return bare.casefold() if is_one else ""


def _initials(name: str) -> tuple[str, str]:
    """The first letters of all words of a name of several, and of those that are not small."""
    words = _WORD.findall(name.casefold())
    full = "".join(word[0] for word in words if word not in _SMALL)
    return ("".join(word[0] for word in words), full) if len(full) > 1 else ("", "")


def _abbreviates(letters: str, name: str) -> bool:
    """Whether ``letters`` stand in the name in their order, the first as its first, or are its initials in any order.

    >>> _abbreviates("dna", "deoxyribonucleic acid"), _abbreviates("psuv", "United Socialist Party of Venezuela")
    (True, True)
    """
    folded = fold_words(name)
    place = len(folded)
    for letter in reversed(letters):
        place = folded.rfind(letter, 0, max(place, 0))
    every, full = _initials(name)
    return (place == 0 and len(full) <= len(letters)) or sorted(letters) in (sorted(every), sorted(full))


# --- parts of names

TITLES = WORDS["formal honorifics"] | WORDS["first words of Person"]
_TOLD_APART = re.compile(r"([^(),]+)(?: \([^()]+\)|, [^(),]+)")


def _parts(text: str, named: Named, places: Places, outer: Sequence[Span]) -> Iterator[Alias]:
    """Titles with the names in them, and people with the parts of their names, where these stand alone."""
    first = {id_: span for span in reversed([*places]) for id_ in places[span]}
    bare = (span for span in reversed(outer) if not text.startswith(("The ", "the "), max(0, span[0] - 4)))
    alone = {id_: span for span in bare for id_ in places[span]}
    by_name, people = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for id_, (name, kind) in named.items():
        by_name[fold_words(name)].append(id_)
        words = _person(name, kind)
        for word in {*words} if len(words) > 1 else ():
            people[word].append(id_)
    for whole, (name, kind) in named.items():
        for id_ in dict.fromkeys(by_name[fold_words(name)] + by_name[_without_more(name)]):
            is_same = fold_words(named[id_][0]) == fold_words(name)
            if id_ != whole and (not is_same or " " in name or named[id_][1] == kind):
                yield Alias(id_, whole, PART, *first.get(id_, (0, 0)))
    for id_ in named:
        if span := alone.get(id_, None if id_ in first else (0, 0)):
            yield from (Alias(id_, whole, PART, *span) for whole in _wholes(id_, named, people))


def _without_more(title: str) -> str:
    """The name, folded, without what tells it from others, or an article."""
    whole = fold_words(title)
    more = _TOLD_APART.fullmatch(whole)
    return more[1] if more else whole.removeprefix("the ").removeprefix("a ")


def _wholes(id_: str, named: Named, people: defaultdict[str, list[str]]) -> list[str]:
    """The full names of people that the name is a part of, if they may all be of one."""
    name, kind = named[id_]
    words = person_words(name) if are_of_one_kind(kind, "Person") else []
    others = [other for other in people[words[-1]] if other != id_] if words else []
    if len(words) > 1:
        others = [other for other in others if may_be_one_person(name, named[other][0])]
    elif any(person_words(named[other][0])[-1] != words[0] for other in others):
        return []
    return others if all(may_be_one_person(named[others[0]][0], named[other][0]) for other in others[1:]) else []


def _person(name: str, kind: str | None) -> list[str]:
    """The words of a person's name; none of another's."""
    return person_words(name) if "Person" in (kind, kind is None and kind_of_name(name)) else []


def person_words(name: str) -> list[str]:
    """The words of a person's name in order, without titles.

    >>> person_words("Dr. Martin Luther King")
    ['martin', 'luther', 'king']
    """
    words = _WORD.findall(normalise_name(name))
    while len(words) > 2 and words[0] in TITLES:
        words = words[1:]
    return [] if "of" in words else words


def may_be_one_person(one: str, other: str) -> bool:
    """Whether two full names have one surname, and given names of which one's are the other's, or initials of them.

    >>> may_be_one_person("J. K. Rowling", "Joanne Rowling"), may_be_one_person("John Smith", "Jane Smith")
    (True, False)
    """
    mine, theirs = sorted(map(person_words, (one, other)), key=len)
    if len(mine) < 2 or mine[-1] != theirs[-1] or not _agree(mine[0], theirs[0]):
        return False
    rest = iter(theirs[1:-1])
    return all(any(_agree(word, each) for each in rest) for word in mine[1:-1]) or 1 in map(len, (mine[0], theirs[0]))


def _agree(one: str, other: str) -> bool:
    """Whether two given names are the same, or one is the other's initial."""
    return one == other or (one[0] == other[0] and 1 in (len(one), len(other)))
