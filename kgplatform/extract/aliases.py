"""Which names of a passage mean one thing by its own words: aliases that it states, acronyms, and parts of a name.

    aliases("Norma Jeane Mortenson, known as Marilyn Monroe, sang.", {"1": ("Norma Jeane Mortenson", "Person"), …})

Everything is decided by the passage and by the names found in it, so that it does not matter what else is read, or
when. Each finding says why (``by``) and which characters of the passage say it:

- ``stated``: a construction that says that a name is another one, such as "also known as", "born", "(German: …)";
- ``acronym``: the letters of the one are the initials of the other (after Schwartz and Hearst, 2003, "A simple
  algorithm for identifying abbreviation definitions");
- ``part``: a person's surname, or the name with initials, or a title's name without its "(band)", where the passage
  has one longer name alone that it can be of.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from kgplatform.extract.lexicon import INNER_PARTICLES, PEOPLES, WORDS, kind_of_name
from kgplatform.text import normalise_name
from kgplatform.text.matching import find_names, fold_words
from kgplatform.text.sentences import sentences

Named = Mapping[str, tuple[str, str | None]]
"""The names of a passage and their types, by the ids of what they name."""
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
    if len(named) < 2:
        return []
    found: dict[tuple[str, str], Alias] = {}
    for each in (*_stated(text, named), *_acronyms(text, named), *_parts(text, named)):
        found.setdefault((min(each.one, each.other), max(each.one, each.other)), each)
    return sorted(found.values())


# --- what a text states

_ADVERBS = r"(?:\w+ly|also|better|best|more|most|often|sometimes|then|now|once|later|still|just|first)"
_NAME = (
    r"(?:(?:stage|pen|ring|birth|real|given|full|legal|code|trade|brand|maiden|other)\s+names?|pseudonyms?"
    r"|nicknames?|alias(?:es)?|moniker|acronym|abbreviation)"
)
_STATES = re.compile(
    rf"""
      \b(?:known|referred\s+to|credited|billed)(?:\s+{_ADVERBS})*\s+(?:as|in\s+[A-Z]\w+\s+as|by)(?:\s+{_ADVERBS})*
        (?:\s+(?:his|her|its|their|the)\s+{_NAME})?(?:\s+of)?
    | (?:\b(?:is|was|are|were|been|being)\s+|[,(]\s*)(?:{_ADVERBS}\s+)*
        (?:called|nicknamed|dubbed|renamed|abbreviated)(?:\s+{_ADVERBS})*(?:\s+(?:as|to))?
    | \b(?:under|by|whose|with|uses?|used|using|adopted|took|his|her|its|their|the)
        \s+(?:(?:his|her|its|their|the|a)\s+)?{_NAME}(?:\s+(?:is|was|of))?
    | \bunder\s+the\s+name(?:\s+of)?
    | \b(?:alias|a\.?k\.?a\b\.?|f\.?k\.?a\b\.?|abbreviated(?:\s+(?:as|to))?|short\s+for)
    | ,?\s+or\s+(?:simply|just)
    | \(\s*(?:or|now|formerly|originally|previously|later|also|abbreviated|{_NAME})\b
    | [(;,]\s*(?:in\s+)?(?P<language>[A-Z][a-z]+)\s*(?=:)
    """,
    re.VERBOSE,
)
_BORN = re.compile(r"\b(?:born|née?|nee|birth\s+name)\b")
_OPENS = re.compile(r"\s*[:,]?\s*(?:as\s+)?[\"“”'‘’«»]*\s*")
_QUOTES = frozenset('"“”«»')
_CLOSED = re.compile(r"[,.;!?]?\s?[\"“”«»]")
_WHOLE = re.compile(r"(?!:|\s(?:und|et|e|y|de|of|der|des|ohne|del|della|di|du|la|le)\s)")
"""What follows a name that is told in quotation marks, and another one: not the rest of a longer one."""
_ARTICLE = re.compile(r"(?:the|an?)\s+[\"“”'‘’«»]*\s*", re.IGNORECASE)
_GAP = re.compile(
    rf"""(?:[\s,;:!\x00\"“”‘’]|'s?(?!\w)|’s\b|(?<!\w)(?:who|which|whose|that|is|was|are|were|be|been|being|has|had|have
    |and|or|but|by|under|with|his|her|its|their|the|writes?|performs?|records?|writing|performing|in|{_ADVERBS})(?!\w)
    )*\Z""",
    re.VERBOSE,
)
_BRACKET = re.compile(r"[(\[][^()\[\]]*[)\]]")
_COPULA = re.compile(r"[\s,\x00]*(?:is|was|are|were)\s+(?:an?|the|one)\s")
_PREDICATE = re.compile(r"\b(?:is|was|are|were)\b")
_OBLIQUE = re.compile(
    r"\b(?:in|of|at|from|and|by|with|on|for|to|near|sur|de)\s+(?:the\s+|[a-z-]+\s+|[A-Z][\w .-]*,\s+)?\Z"
)
_AGAIN = re.compile(r"\b(?:also|now|formerly|then|later|better|originally|previously|today|initially|once)\b|\A\(")
"""What tells that a name before it has another one, and not a thing before that."""
_HONOURS = re.compile(r",\s*\Z")
_NEXT = re.compile(r"[\"”’]?(?P<sign>\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+)(?:(?:simply|just|as)\s+)?")
_UNKNOWN = re.compile(r"\s*(?:the\s+)?[\"“]?[A-Z0-9][\w'’-]*(?:\s[\w'’-]+){0,3}[\"”]?(?=\s*(?:,|\bor\b|\band\b))")
_LEAST_BORN = 2
"""Words of a name that somebody was born with: one alone is a surname, or where it was."""
_MOST_LISTED, _LONGEST_GAP = 6, 200

Ends = Sequence[tuple[int, str]]
"""The other end and the id of names that begin, or end, at one character."""


@dataclass(frozen=True, slots=True)
class _Places:
    """Where names stand: by their first and by their last character, the longest first."""

    starts: Mapping[int, Ends]
    ends: Mapping[int, Ends]

    @classmethod
    def of(cls, text: str, named: Named) -> _Places:
        starts, ends = defaultdict(list), defaultdict(list)
        for id_, (name, _) in named.items():
            for place in find_names(name, text):
                starts[place.start].append((place.end, id_))
                ends[place.end].append((place.start, id_))
        by_length = {at: sorted(some, key=lambda each: (-each[0], each[1])) for at, some in starts.items()}
        return cls(by_length, {at: sorted(some) for at, some in ends.items()})

    def opened(self, text: str, at: int) -> Ends:
        """The longest names that begin at ``at``, or behind what may stand before a name there."""
        begin = _OPENS.match(text, at)
        begins = [begin.end()] if begin else [at]
        if article := _ARTICLE.match(text, begins[0]):
            begins.append(article.end())
        found = next((self.starts[each] for each in begins if each in self.starts), ())
        ends = _CLOSED if {*text[at : begins[-1]]} & _QUOTES else _WHOLE
        return [each for each in found if each[0] == found[0][0] and ends.match(text, each[0])]


def _stated(text: str, named: Named) -> Iterator[Alias]:
    matches = [(match, False) for match in _STATES.finditer(text)] + [(match, True) for match in _BORN.finditer(text)]
    if not matches:
        return
    places = _Places.of(text, named)
    cut = [(each.start, each.end) for each in sentences(text)]
    for match, is_birth in sorted(matches, key=lambda each: each[0].start()):
        language = not is_birth and match["language"]
        if language and language.lower() not in PEOPLES:
            continue
        right = places.opened(text, match.end()) if is_birth or language else _listed(text, match.end(), places)
        if not right:
            continue
        first = cut[max(0, bisect_right(cut, (match.start(), len(text))) - 1)][0]
        left = _subject(text, first, match, places, by_predicate=not is_birth)
        yield from _joined(text, left, right, named, is_birth)


def _listed(text: str, at: int, places: _Places) -> Ends:
    """The name at ``at`` with those that a list goes on with: after "or" or "and", or up to the end of the bracket. Not
    all that is listed need be known."""
    found, waiting, is_last = list[tuple[int, str]](), list[tuple[int, str]](), False
    for place in range(_MOST_LISTED):
        here = places.opened(text, at)
        unknown = None if here else _UNKNOWN.match(text, at)
        if not here and not unknown:
            break
        waiting += here
        end = here[0][0] if here else unknown.end() if unknown else at
        more = _NEXT.match(text, end)
        if place == 0 or is_last:
            found, waiting = found + waiting, []
        if not more:
            break
        at, is_last = more.end(), more["sign"].strip() != ","
    return found


def _joined(text: str, left: Ends, right: Ends, named: Named, is_birth: bool) -> Iterator[Alias]:
    """Each name on the left with each on the right, and these among themselves."""
    if not left:
        return
    begin, end = left[0][0], max(each for each, _ in right)
    ids = [*dict.fromkeys([id_ for start, id_ in left if start == begin] + [id_ for _, id_ in right])]
    for one, other in combinations(ids, 2):
        kinds = named[one][1], named[other][1]
        if is_birth and not ({*kinds} <= {"Person", None} and len(named[other][0].split()) >= _LEAST_BORN):
            continue
        if are_of_one_kind(*kinds):
            yield Alias(one, other, "stated", begin, end)


def _subject(text: str, first: int, match: re.Match[str], places: _Places, *, by_predicate: bool) -> Ends:
    """The names that ``match``, in the sentence from ``first`` on, speaks of: those right before it, those before the
    bracket that it stands in, or the one that the sentence begins with and says what it is."""
    head = _BRACKET.sub(lambda bracket: "\x00" * len(bracket[0]), text[first : match.start()])
    opened = max(head.rfind("("), head.rfind("["))
    for begin, end in ((opened + 1, len(head)), (0, max(opened, 0))):
        gap = _gap(head, begin, end)
        found = places.ends.get(first + gap, ())
        if found and _is_subject(text, first, found[0][0], head[gap:end] + match[0]):
            return found
    is_apart = by_predicate and {",", "\x00"} & {*head[_gap(head, 0, len(head)) :]}
    for end, id_ in places.starts.get(first, places.starts.get(first + 4, ())) if is_apart else ():
        if _COPULA.match(head, end - first):
            return [(start, other) for start, other in places.ends[end] if other == id_]
    return ()


def _gap(head: str, begin: int, end: int) -> int:
    """Where in ``head[begin:end]`` that begins which may stand between a name and what is said of it."""
    found = _GAP.search(head[:end], max(begin, end - _LONGEST_GAP))
    return found.start() if found else end


def _is_subject(text: str, first: int, start: int, says: str) -> bool:
    """Whether what is said right behind the name at ``start`` is said of it: of "a town near Lund, called Ry" it is
    not, nor of the orders behind a name."""
    if _HONOURS.search(text, first, start) and text[start : start + 2].isupper():
        return False
    is_oblique = _OBLIQUE.search(text, max(first, start - 40), start) is not None
    return not is_oblique or (_AGAIN.search(says) is not None and not _PREDICATE.search(says))


def are_of_one_kind(one: str | None, other: str | None) -> bool:
    """Whether two types may be those of one thing: they are the same, or one is not known."""
    return one == other or None in (one, other)


# --- acronyms

_SMALL = INNER_PARTICLES | WORDS["in titles"]
_WORD = re.compile(r"[^\W_]+")
_LONGEST_ACRONYM = 8


def letters_of(name: str) -> str:
    """The letters of an acronym, folded; "" for a name that is none."""
    bare = name.replace(".", "").replace("&", "").replace("-", "")
    bare = bare[:-1] if len(bare) > 2 and bare.endswith("s") and bare[:-1].isupper() else bare
    capitals = sum(letter.isupper() for letter in bare)
    is_one = bare.isalnum() and 2 <= len(bare) <= _LONGEST_ACRONYM and 2 * capitals > len(bare) and capitals > 1
    return bare.casefold() if is_one else ""


def stands_for(letters: str, name: str, *, inner: bool = False) -> bool:
    """Whether ``letters`` are the initials of the words of ``name``, in order; small words may be left out. ``inner``:
    a word may give more letters than its first.

    >>> stands_for("who", "World Health Organization"), stands_for("dna", "deoxyribonucleic acid", inner=True)
    (True, True)
    """
    words = [word.casefold() for word in _WORD.findall(name)]
    if sum(word not in _SMALL for word in words) < 2:
        return False
    ends = {0}
    for word in words:
        after = set(ends) if word in _SMALL else set()
        for end in ends:
            after |= _taken(letters, end, word if inner else word[0])
        ends = after
    return len(letters) in ends


def _taken(letters: str, end: int, word: str) -> set[int]:
    """How far ``letters[end:]`` may go with letters of ``word``, its first among them."""
    if letters[end : end + 1] != word[0]:
        return set()
    found, at = {end + 1}, 1
    while (end := end + 1) < len(letters) and (at := word.find(letters[end], at) + 1):
        found.add(end + 1)
    return found


def _acronyms(text: str, named: Named) -> Iterator[Alias]:
    """An acronym and what it stands for: in brackets one behind the other, where the initials may have the order of
    another language; or anywhere, if they are all."""
    acronyms = {id_: letters for id_, (name, _) in named.items() if (letters := letters_of(name))}
    longer: dict[str, list[str]] = defaultdict(list)
    for id_, (name, _) in named.items() if acronyms else ():
        initials = [word[0] for word in _WORD.findall(name.casefold()) if word not in _SMALL]
        for key in {"".join(initials[:1]), "".join(sorted(initials))} if len(initials) > 1 else ():
            longer[key].append(id_)
    for id_, letters in acronyms.items():
        (name, kind), mixed = named[id_], longer["".join(sorted(letters))]
        for other in dict.fromkeys(longer[letters[0]] + mixed):
            long, its = named[other]
            exact = stands_for(letters, long)
            may = exact or stands_for(letters, long, inner=True) or (len(letters) > 2 and other in mixed)
            if not may or not are_of_one_kind(kind, its):
                continue
            first, second = re.escape(name), re.escape(long)
            bracketed = rf"(?i:{second}[\"”’]?\s*[(\[]\s*[\"“‘]?{first}\b|{first}\s*[(\[]\s*(?:the\s+)?{second}\b)"
            if match := re.search(bracketed, text):
                yield Alias(id_, other, "acronym", match.start(), match.end())
            elif exact and len(letters) > 2 and not _person(long, its) and (places := find_names(name, text)):
                yield Alias(id_, other, "acronym", places[0].start, places[0].end)


# --- parts of names

TITLES = WORDS["formal honorifics"] | WORDS["first words of Person"]
_SUFFIXES = frozenset({"jr", "sr"})
_NUMERAL = re.compile(r"[ivx]+")
_ASIDE = re.compile(r"([^(),]+)(?: \([^()]+\)|, [^(),]+)")


def person_words(name: str) -> tuple[list[str], frozenset[str]]:
    """The words of a person's name in order, without titles, and those that tell a father from a son.

    >>> person_words("Dr. Martin Luther King Jr.")
    (['martin', 'luther', 'king'], frozenset({'jr'}))
    """
    words = _WORD.findall(normalise_name(name))
    while len(words) > 2 and words[0] in TITLES:
        words = words[1:]
    ends = frozenset(word for word in words[1:] if word in _SUFFIXES or _NUMERAL.fullmatch(word))
    return ([] if "of" in words else [word for word in words if word not in ends]), ends


def may_be_one_person(one: str, other: str) -> bool:
    """Whether two full names have one surname, and given names of which one's are the other's, or initials of them.

    >>> may_be_one_person("J. K. Rowling", "Joanne Rowling"), may_be_one_person("John Smith", "Jane Smith")
    (True, False)
    """
    (mine, my_end), (theirs, their_end) = sorted(map(person_words, (one, other)), key=lambda each: len(each[0]))
    if my_end != their_end or len(mine) < 2 or mine[-1] != theirs[-1] or not _agree(mine[0], theirs[0]):
        return False
    rest = iter(theirs[1:-1])
    return all(any(_agree(word, each) for each in rest) for word in mine[1:-1]) or 1 in map(len, (mine[0], theirs[0]))


def _agree(one: str, other: str) -> bool:
    """Whether two given names are the same, or one is the other's initial."""
    return one == other or (one[0] == other[0] and 1 in (len(one), len(other)))


def _parts(text: str, named: Named) -> Iterator[Alias]:
    """Titles with the names in them, and people with the parts of their names, each found by its words."""
    full = {id_: words for id_, (name, kind) in named.items() if len(words := _person(name, kind)) > 1}
    by_word: dict[str, list[str]] = defaultdict(list)
    for id_, words in full.items():
        for word in {*words}:
            by_word[word].append(id_)
    by_name: dict[str, list[str]] = defaultdict(list)
    for id_, (name, _) in named.items():
        by_name[fold_words(name)].append(id_)
    for title, (longer, its) in named.items():
        for id_ in dict.fromkeys(each for form in titled_forms(longer) for each in by_name[form]):
            name, kind = named[id_]
            is_told = kind == its or (are_of_one_kind(kind, its) and " " in name)
            if id_ != title and len(name) <= len(longer) and (is_told or fold_words(name) != fold_words(longer)):
                place = next(iter(find_names(name, text)), None)
                yield Alias(id_, title, PART, *((place.start, place.end) if place else (0, 0)))
    for id_, (name, kind) in named.items():
        wholes = _wholes(id_, named, full, by_word) if are_of_one_kind(kind, "Person") else []
        if wholes and (at := _alone(name, [named[other][0] for other in wholes], text)):
            yield from (Alias(id_, other, PART, *at) for other in wholes)


def _person(name: str, kind: str | None) -> list[str]:
    """The words of a person's name; none of another's."""
    return person_words(name)[0] if "Person" in (kind, kind is None and kind_of_name(name)) else []


def titled_forms(title: str) -> list[str]:
    """The names, folded, that ``title`` has with what tells them from others, or with an article; and itself.

    >>> titled_forms("The Cure"), titled_forms("Cure (band)"), titled_forms("Fox Lake, Wisconsin")
    (['the cure', 'cure'], ['cure (band)', 'cure'], ['fox lake, wisconsin', 'fox lake'])
    """
    whole = fold_words(title)
    aside = _ASIDE.fullmatch(whole)
    return [whole, aside[1] if aside else whole.removeprefix("the ").removeprefix("a ")]


def _wholes(id_: str, named: Named, full: Mapping[str, Sequence[str]], by_word: Mapping[str, list[str]]) -> list[str]:
    """The full names that the name is of, if there is no other that it might be of."""
    name = named[id_][0]
    words = person_words(name)[0]
    found = [other for other in by_word.get(words[-1], ()) if other != id_] if words else []
    if len(words) == 1:
        fits = all(full[other][-1] == words[0] and full[other][-2] not in INNER_PARTICLES for other in found)
    else:
        found = [other for other in found if may_be_one_person(name, named[other][0])]
        fits = all(len(full[other]) >= len(words) for other in found)
    agree = all(may_be_one_person(named[found[0]][0], named[other][0]) for other in found[1:])
    return found if fits and agree else []


def _alone(name: str, wholes: Iterable[str], text: str) -> tuple[int, int] | None:
    """Where ``name`` stands and no longer name does; nowhere, if it is of the title alone."""
    taken = [place for whole in wholes for place in find_names(whole, text)]
    places = find_names(name, text)
    for place in places:
        inside = any(each.start <= place.start and place.end <= each.end for each in taken)
        if not inside and not text[: place.start].endswith(("the ", "The ")):
            return place.start, place.end
    return None if places else (0, 0)
