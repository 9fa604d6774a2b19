"""Who is hidden: candidates from all sources into entities with all their forms, one entity for all names of a thing.

- Candidates of one type with the same name are one; so is a candidate whose name is an alias of exactly one other.
- A shorter name is the fuller one ("Ahab", "Captain Ahab"; "Charles Bright", "Charles Tilston Bright") where exactly
  one fuller name is there. Titles say nothing, but "Mrs. Garth" is never "Mr. Garth".
- A person's surname, given name, and both without middle names are forms too, where texts write them as names.
- What may mean several ("Bright", of two brothers) gets a placeholder of its own, with a list of who it may be: to
  leave the name where it stands would give it away, and to guess would be wrong.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgplatform.build.extract.words import INNER_PARTICLES
from kgplatform.build.extract.words import words as words_of
from kgplatform.text import normalise_name, tidy

FEMALE_TITLES = words_of(
    "mrs miss ms madam madame mme mlle lady queen princess duchess countess baroness empress dame sister aunt mother"
)
MALE_TITLES = words_of(
    "mr sir lord king prince duke count baron emperor brother uncle father monsieur squire earl marquis"
)
TITLES = (
    FEMALE_TITLES
    | MALE_TITLES
    | words_of(
        """
        dr prof professor doctor rev reverend captain capt colonel col major general gen lieutenant lt commander
        sergeant sgt admiral commodore president senator governor gov judge justice bishop archbishop cardinal pope
        saint st chief master sen rep gouverneur herr frau
        """
    )
)
_EPITHETS = words_of("old young little poor dear great good")
_SUFFIXES = words_of("jr sr ii iii iv v vi vii viii ix x esq")
_NO_FORMS = INNER_PARTICLES | TITLES | _EPITHETS | _SUFFIXES
_SHORTEST_FORM = 3
_WORD = re.compile(r"[^\W\d_]+")
_NOT_OF_NAMES = '!?,;:"“”«»„ '


@dataclass(frozen=True, slots=True)
class WordUse:
    """How the texts write their words: how often with a capital, how often without."""

    capital: Mapping[str, int]
    lower: Mapping[str, int]

    @classmethod
    def of(cls, texts: Iterable[str]) -> WordUse:
        """The use of all words of ``texts``; those in capitals tell nothing."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(_WORD.findall(text))
        capital: Counter[str] = Counter()
        lower: Counter[str] = Counter()
        for word, count in counts.items():
            if word.islower() or not word[0].isupper():
                lower[word.lower()] += count
            elif not word.isupper():
                capital[word.lower()] += count
        return cls(capital, lower)

    def is_name(self, form: str) -> bool:
        """Whether a form is more often written as a name than as a word; of several words it always is."""
        words = _WORD.findall(form.lower())
        return len(words) != 1 or self.capital.get(words[0], 0) > self.lower.get(words[0], 0)

    def is_word(self, form: str) -> bool:
        """Whether a form of one word is written as a common word anywhere."""
        return all(self.lower.get(word, 0) for word in _WORD.findall(form.lower()))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that a source gives. ``label``: as in placeholders; ``weight``: how often the source met it."""

    label: str
    name: str
    aliases: tuple[str, ...] = ()
    is_person: bool = False
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that is hidden. ``may_be``: of a name that may mean several, the names of those.

    ``plain_words``: the forms among ``forms`` that are common words too, and are not looked for in capitals.
    """

    label: str
    name: str
    forms: tuple[str, ...]
    may_be: tuple[str, ...] = ()
    plain_words: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Group:
    """Candidates that are one thing. ``names``: all of them; ``own``: those that are not only somebody's alias."""

    label: str
    is_person: bool
    names: list[str]
    own: list[str] = field(default_factory=list)
    stated: dict[str, str] = field(default_factory=dict)


Likeness = tuple[str, str]
"""Two names of which a graph says that they are likely one thing."""


def core_words(name: str) -> tuple[str, ...]:
    """The words of a person's name without titles before and suffixes after it; the name's own if nothing is left."""
    words = tidy(name).partition(",")[0].split()
    start, end = 0, len(words)
    while start < end and _plain(words[start]) in (TITLES | INNER_PARTICLES if start else TITLES):
        start += 1
    while end > start + 1 and _plain(words[end - 1]) in _SUFFIXES:
        end -= 1
    return tuple(words[start:end] or words or (name,))


def resolve(candidates: Sequence[Candidate], likenesses: Iterable[Likeness], use: WordUse) -> tuple[Entity, ...]:
    """The entities, by label and name.

    Earlier candidates are surer: the label of a name is that of the first, unless a later one weighs more.
    """
    groups = _merged(candidates)
    _link_likenesses(groups, likenesses)
    _link_shorter(groups)
    return _with_derived(groups, use)


# -------------------------------------------------------------------------------------------------- one name, one thing


def _key(name: str) -> str:
    return normalise_name(name).replace(".", "")


def _shown(name: str) -> str:
    """The name without what belongs to its sentence: of a cry, "Miss Marlow!"."""
    return tidy(name).strip(_NOT_OF_NAMES)


def _plain(word: str) -> str:
    return word.lower().strip(".")


def _merged(candidates: Sequence[Candidate]) -> list[_Group]:
    """Groups by name, then by a name that is an alias of exactly one other."""
    by_key: dict[str, _Group] = {}
    weights: dict[str, int] = {}
    for each in candidates:
        key = _key(_shown(each.name))
        if not any(letter.isalpha() for letter in each.name):
            continue
        group = by_key.get(key)
        if group is None:
            group = by_key[key] = _Group(each.label, each.is_person, [])
            weights[key] = each.weight
        elif each.label != group.label and each.weight > weights[key]:
            group.label, group.is_person, weights[key] = each.label, each.is_person, each.weight
        _add(group, each.name, group.own)
        for name in (each.name, *each.aliases):
            _add(group, name, group.names)
    owners: dict[str, list[str]] = defaultdict(list)
    for key, group in by_key.items():
        for form in group.stated:
            if form != key:
                owners[form].append(key)
    for key in [key for key in by_key if len(owners[key]) == 1 and owners[key][0] in by_key]:
        owner = by_key.get(owners[key][0])
        if owner is not None and owner is not by_key[key] and owner.label == by_key[key].label:
            _absorb(owner, by_key.pop(key))
    return list(by_key.values())


def _add(group: _Group, name: str, names: list[str]) -> None:
    shown = _shown(name)
    if any(letter.isalpha() for letter in shown):
        group.stated.setdefault(_key(shown), shown)
        if shown not in names:
            names.append(shown)


def _absorb(group: _Group, other: _Group) -> None:
    for key, name in other.stated.items():
        group.stated.setdefault(key, name)
    group.names += [name for name in other.names if name not in group.names]
    group.own += [name for name in other.own if name not in group.own]


def _link_likenesses(groups: list[_Group], likenesses: Iterable[Likeness]) -> None:
    """Names spelt differently are one; of a name that is a part of several fuller ones nothing is believed."""
    fuller: dict[str, set[str]] = defaultdict(set)
    pairs = sorted({(_key(one), _key(other)) for one, other in likenesses})
    for one, other in pairs:
        for short, long in ((one, other), (other, one)):
            if set(short.split()) < set(long.split()):
                fuller[short].add(long)
    by_key = {key: group for group in groups for key in group.stated}
    for one, other in pairs:
        first, second = by_key.get(one), by_key.get(other)
        unsure = len(fuller[one]) > 1 or len(fuller[other]) > 1
        if first is None or second is None or first is second or unsure or first.label != second.label:
            continue
        _absorb(first, second)
        groups.remove(second)
        by_key.update(dict.fromkeys(second.stated, first))


# ------------------------------------------------------------------------------------------------------ shorter, fuller


def _gender(group: _Group) -> str:
    """``f`` or ``m`` by titles, empty where none or both are there."""
    titles = {_plain(word) for name in group.names for word in name.split()[:-1]}
    female, male = bool(titles & FEMALE_TITLES), bool(titles & MALE_TITLES)
    return "" if female == male else "f" if female else "m"


def _most_words(group: _Group) -> int:
    return max(len(name.split()) for name in group.names)


def _cores(group: _Group) -> list[tuple[str, ...]]:
    return [tuple(_plain(word) for word in core_words(name)) for name in group.names]


def _is_short_for(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """The same words, or some of them in their order with the same last one, or the first one alone."""
    if short == long:
        return True
    if len(short) >= len(long) or (short[-1] != long[-1] and short != long[:1]):
        return False
    rest = iter(long)
    return all(word in rest for word in short)


def _link_shorter(groups: list[_Group]) -> None:
    """Join each person's shorter name to the one fuller name that there is, the fullest names first.

    Of "Lord Ashcombe", "Lady Ashcombe" and "Ashcombe" the one without a title comes last, when it can be seen that it
    may be both.
    """
    people = [group for group in groups if group.is_person]
    people.sort(key=lambda group: (-max(map(len, _cores(group))), -_most_words(group), group.names))
    by_word: dict[str, list[_Group]] = defaultdict(list)
    for group in people:
        mine = _cores(group)
        near = {id(other): other for core in mine for other in by_word[core[-1]]}
        fuller = [
            other
            for other in near.values()
            if other.label == group.label
            and {_gender(other), _gender(group)} != {"f", "m"}
            and any(_is_short_for(short, long) for short in mine for long in _cores(other))
        ]
        home = group
        if len(fuller) == 1:
            home = fuller[0]
            _absorb(home, group)
            groups.remove(group)
        for word in {word for core in _cores(home) for word in (core[0], core[-1])}:
            if home not in by_word[word]:
                by_word[word].append(home)


# -------------------------------------------------------------------------------------------------------- derived forms


def _with_derived(groups: Sequence[_Group], use: WordUse) -> tuple[Entity, ...]:
    """One entity a group, and one for each form that may mean several groups."""
    stated: dict[str, list[int]] = defaultdict(list)
    derived: dict[str, list[int]] = defaultdict(list)
    words: dict[str, str] = {}
    for number, group in enumerate(groups):
        for key, form in group.stated.items():
            stated[key].append(number)
            words.setdefault(key, form)
        for key, form in _derived(group).items() if group.is_person else ():
            if use.is_name(form):
                derived[key].append(number)
                words.setdefault(key, form)
    forms: dict[int, list[str]] = defaultdict(list)
    may_be: dict[int, set[int]] = defaultdict(set)
    shared: list[Entity] = []
    for key in sorted(words):
        owners = stated[key] or derived[key]
        if len(owners) > 1:
            names = tuple(sorted({_name_of(groups[number]) for number in owners}))
            shared.append(_entity(groups[owners[0]].label, words[key], [words[key]], names, use))
            continue
        group = groups[owners[0]]
        forms[owners[0]] += [name for name in group.names if _key(name) == key] or [words[key]]
        if stated[key] and len(group.stated) == 1:
            may_be[owners[0]] = {n for n in derived[key] if groups[n].label == group.label} - {owners[0]}
    own = [
        _entity(group.label, _name_of(group), forms[n], sorted({_name_of(groups[m]) for m in may_be[n]}), use)
        for n, group in enumerate(groups)
        if forms[n]
    ]
    return tuple(sorted([*own, *shared], key=lambda each: (each.label, normalise_name(each.name), each.name)))


def _entity(label: str, name: str, forms: Sequence[str], may_be: Sequence[str], use: WordUse) -> Entity:
    plain = frozenset(form for form in forms if " " not in form and use.is_word(form))
    return Entity(label, name, tuple(sorted(set(forms))), tuple(may_be), plain)


def _derived(group: _Group) -> dict[str, str]:
    """Parts of each full name that stand for it, by their keys: without titles, without middle names, one alone."""
    found: dict[str, str] = {}
    for name in group.names:
        core = core_words(name)
        bare = " ".join(core)
        found.setdefault(_key(bare), bare)
        if core[0][0].islower() or core[-1][0].islower():
            continue  # "the old man": words, of which none is a name
        if len(core) > 2:
            found.setdefault(_key(f"{core[0]} {core[-1]}"), f"{core[0]} {core[-1]}")
        for word in (core[0], core[-1]) if len(core) > 1 else ():
            letters = sum(letter.isalpha() for letter in word)
            plain = _plain(word)
            if letters >= _SHORTEST_FORM and word[0].isupper() and plain not in _NO_FORMS:
                found.setdefault(_key(word), word)
    return {key: form for key, form in found.items() if key not in group.stated}


def _name_of(group: _Group) -> str:
    """The fullest name: of those with most words, first without titles and then with them, the one given first."""

    def fullness(name: str) -> tuple[int, int, int]:
        return len(core_words(name)), len(name.partition(",")[0].split()), -group.own.index(name)

    return max(group.own, key=fullness)
