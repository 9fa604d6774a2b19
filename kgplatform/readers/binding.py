"""What belongs to what: whether the words of an answer stand in a text beside those that the answer puts beside them.

A word is *bound* to what stands in its part of a sentence, less to the rest of its clause, and little to other
clauses, to the title and to the sentences around. Each name, number, date and new word of an answer is taken out in
turn, and the rest of its clause is looked for: where another name, number or date is bound more to that rest, or where
the rest stands together without the word, the answer has put together what the text does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, KeysView, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from kgplatform.readers.clauses import AND, negated
from kgplatform.readers.families import Word, converses, is_action, opposites
from kgplatform.readers.statements import (
    FIGURES,
    HARD,
    Need,
    Statement,
    Texts,
    Unit,
    names_of,
    neighbours,
    spelt,
    weight,
)

_NEXT_PART, _FURTHER, _LEAST_IN_CLAUSE = 0.65, 0.1, 0.45
"""How much two words of a clause are bound that stand in neighbouring parts, less for each further one; the least."""

_SUBJECT, _INNER, _ASIDE = 0.7, 0.7, 0.3
"""The same for a verb and the subject that it shares with the clause before; for a relative clause and what it belongs
to; for what else two such clauses have, and for numbers and dates of a relative clause."""

_SENTENCE, _FARTHER, _AROUND, _TITLE, _PRONOUN = 0.25, 0.03, 0.15, 0.6, 0.85
"""The same for two clauses of a sentence, less for each clause between; for the sentences around; for a title; and of
what a pronoun may stand for, the share that counts where the pronoun is."""

_ELSEWHERE = 1.7
"""How many times more still, where a sentence lacks something of what is said that stands where the claim does: it may
be another step of the question."""

_OTHER_PART = 0.5
"""What a word of another part of the answer's clause counts, of what one of the same part does."""

_TIMES, _TIMES_REST, _MORE = 1.08, 1.6, 0.06
"""How many times as much a rival, or the rest alone, must be bound; and how much more, of all that is said."""

_QUESTION, _CLAUSE = 0.4, 0.3
"""How much of all that is said a rival must be bound to, if that is the question or if it is a clause with a verb."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A name or another word of a statement, ``part``, and what it says ``about`` that, each with its weight."""

    part: Sequence[Need]
    about: Sequence[tuple[Need, float]]
    statement: Statement
    has_verb: bool

    @property
    def last(self) -> Need:
        return self.part[-1]

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(need.keys | need.word.needs[0] for need in self.part))

    @property
    def whole(self) -> float:
        return sum(heavy for _, heavy in self.about)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text has a claim best: how much it is bound there, and ``flat``: if all parts of a clause were one."""

    unit: Unit
    at: int
    bound: float
    flat: float
    covered: frozenset[int]


def wrongly_bound(statement: Statement, context: Sequence[Need], read: Texts) -> str:
    """Why something else than what the answer says is what a text says; empty where that is not so."""
    for claim in _claims(statement, context, read):
        place = _best(claim, read)
        if place and (rival := _rival(claim, place, read)):
            said = " ".join(dict.fromkeys(need.word.shown for need, _ in claim.about))
            return f'"{claim.last.word.shown}" was not found with "{said}", but "{rival}" was.'
    return ""


def _claims(statement: Statement, context: Sequence[Need], read: Texts) -> Iterator[_Claim]:
    """What is not denied and is new, or has a verb in the answer; of a date the day and the year together. The number
    of a whole heading belongs to the heading."""
    is_heading = spelt(statement.words) in read.headings
    denied = {id(statement.words[at]) for at in negated(statement.words, statement.parts)}
    for part in [[each] for each in statement.needs if each.word.kind != "name"] + list(names_of(statement)):
        last = part[-1]
        if id(last.word) in denied or (last.word.kind == "date" and last.keys is not last.word.needs[0]):
            continue
        about, has_verb = _about(part, statement, context)
        if is_heading and last.word.kind in FIGURES:
            continue
        is_given = any(each.given for each in part) if last.is_hard else last.given
        if about and (not is_given or (has_verb and (last.is_hard or is_action(last.word)))):
            yield _Claim(part, about, statement, has_verb)


def _about(
    part: Sequence[Need], statement: Statement, context: Sequence[Need]
) -> tuple[list[tuple[Need, float]], bool]:
    """What the statement says about ``part``: its clause; without a verb, its part and what the question says."""
    last, words = part[-1], [each.word for each in part]
    own = [each for each in statement.needs if each.clause == last.clause and all(each.word is not w for w in words)]
    if last.word.kind != "name":
        own = [each for each in own if not _is_like(each.word, last.word)]
    has_verb = any(each.word.kind == "word" and is_action(each.word) for each in own)
    has_verb = has_verb or (not last.is_hard and is_action(last.word) and any(each.is_hard for each in own))
    if not has_verb:
        words += [each.word for each in own]
        own = [each for each in own if each.part == last.part]
        own += [each for each in context if all(each.word is not word for word in words)]
    return [(each, weight(each) * (1.0 if each.part in (last.part, -1) else _OTHER_PART)) for each in own], has_verb


def _best(claim: _Claim, read: Texts) -> _Place | None:
    """Where a text has the claim's word, or a pronoun for it, bound most to what is said about it."""
    best, flat = None, 0.0
    there = read.with_any(claim.part)
    for number in sorted({*there, *(n + 1 for n in there if n + 1 < len(read.units))}):
        unit = read.units[number]
        places, is_there = _places(unit, claim, read)
        found = _found(unit, claim.about, read, is_there)
        for at in places:
            flat = max(flat, _bound(unit, at, found, _flat))
            bound = _bound(unit, at, found, _level)
            if best is None or bound > best.bound:
                best = _Place(unit, at, bound, 0.0, _covered(found))
    return best and replace(best, flat=flat)


def _rival(claim: _Claim, place: _Place, read: Texts) -> str:
    """A word that could stand in the place of the claim's and is clearly more bound to what is said about it; or one of
    what is said, where all of that stands together elsewhere."""
    more = _MORE * claim.whole
    least = max(_TIMES * place.bound + more, claim.whole * (_CLAUSE if claim.has_verb else _QUESTION))
    together = _TIMES_REST * place.flat + more if claim.has_verb or not claim.last.is_hard else claim.whole
    for number in read.with_any([need for need, _ in claim.about]):
        unit = read.units[number]
        found = _found(unit, claim.about, read)
        if sum(heavy for _, heavy, _, _ in found) < min(least, together):
            continue
        times = 1.0 if place.covered <= _covered(found) else _ELSEWHERE
        for at, word in enumerate(unit.words):
            if _could_be(word, at, unit, claim, place, read) and _bound(unit, at, found, _level) > times * least:
                return word.shown
            if any(at in places for _, _, places, _ in found) and _bound(unit, at, found, _flat) > times * together:
                return word.shown
    return ""


def _places(unit: Unit, claim: _Claim, read: Texts) -> tuple[list[int], bool]:
    """Where in a sentence the claim's word is, or else a pronoun that may stand for it; whether it is the word."""
    if places := [at for need in claim.part for at in unit.at(need.keys)]:
        return places, True
    if claim.last.word.kind in FIGURES or is_action(claim.last.word):
        return [], True
    meant = unit.about | _before(unit, read)
    return (unit.pronouns if any(need.keys & meant for need in claim.part) else []), False


def _before(unit: Unit, read: Texts) -> KeysView[str] | frozenset[str]:
    """The keys of the sentence before."""
    last = read.units[unit.number - 1] if unit.number else None
    return last.keys if last and last.source == unit.source else frozenset()


_Found = list[tuple[Need, float, list[int], float]]
"""Of what is said: its weight, where in a sentence it is, and how much it counts elsewhere."""


def _covered(found: _Found) -> frozenset[int]:
    return frozenset(id(need) for need, _, at, _ in found if at or need.word.kind == "name")


def _found(unit: Unit, about: Sequence[tuple[Need, float]], read: Texts, is_there: bool = True) -> _Found:
    """What of that which is said a sentence has; a pronoun stands for what the title or the sentence before has."""
    found: _Found = []
    before = _before(unit, read) if is_there else frozenset()
    for need, heavy in about:
        if at := unit.at(need.keys) or unit.at(converses(need.keys)):
            found.append((need, heavy, at, 0.0))
        elif need.keys & (unit.about | before):
            is_thing = need.word.kind == "name" or (need.word.kind == "word" and not is_action(need.word))
            away = _TITLE if need.keys & unit.about else _AROUND
            found.append((need, heavy * _PRONOUN, unit.pronouns if is_thing and is_there else [], away))
        elif is_there and any(need.keys & other.keys for other in neighbours(unit, read)):
            found.append((need, heavy, [], _AROUND))
    return found


def _bound(unit: Unit, at: int, found: _Found, level: Callable[[Unit, int, int], float]) -> float:
    return sum(heavy * max(chain((level(unit, at, n) for n in places), [away])) for _, heavy, places, away in found)


def _level(unit: Unit, one: int, other: int) -> float:
    """How much two words of a sentence are bound."""
    parts = abs(unit.parts[one] - unit.parts[other])
    if parts and unit.clauses[one] == unit.clauses[other]:
        return max(_LEAST_IN_CLAUSE, _NEXT_PART - _FURTHER * (parts - 1))
    return _flat(unit, one, other)


def _flat(unit: Unit, one: int, other: int) -> float:
    """The same, if all parts of a clause were one."""
    first, last = sorted((unit.clauses[one], unit.clauses[other]))
    if first == last:
        return 1.0
    if unit.subjects.get(last) != first:
        return max(_AROUND, _SENTENCE - _FARTHER * (last - first))
    if unit.words[unit.clauses.index(last)].plain in AND or unit.words[one].kind in FIGURES:
        return _SUBJECT if min(one, other) < unit.verbs.get(first, 0) else _ASIDE
    return _INNER


def _could_be(word: Word, at: int, unit: Unit, claim: _Claim, place: _Place, read: Texts) -> bool:
    """Whether ``word`` of a text could stand in the place of the claim's."""
    need = claim.last
    others = [each for each in claim.statement.needs if each.word is not need.word]
    if not need.is_hard:
        against = word.keys & opposites(need.word.keys) and not any(word.keys & each.keys for each in others)
        return bool(against) and word.kind != "little"
    if not _same_kind(word, need.word) or _is_date(word) != _is_date(need.word) or word.keys & claim.keys:
        return False
    if need.word.kind == "name" and not _other_name(at, unit, claim, place, read):
        return False
    if word.keys & claim.statement.given and not claim.has_verb:
        return False
    return not any(word.keys & each.keys for each in others if not claim.has_verb or each.clause == need.clause)


def _other_name(at: int, unit: Unit, claim: _Claim, place: _Place, read: Texts) -> bool:
    """Whether the word at ``at`` belongs to another name than the answer's: "American" is none, nor is what stands
    beside the answer's, or a word whose capital only begins a sentence."""
    word = unit.words[at]
    if (not at and not word.keys & read.named) or word.keys & place.unit.about:
        return False
    if any(key[0] == "=" for key in word.keys) and not any(key[0] == "=" for key in claim.last.keys):
        return False
    if unit is place.unit and unit.parts[at] == unit.parts[place.at]:
        return False
    name = _whole_name(unit, at)
    said = chain.from_iterable(need.keys for need in claim.statement.needs)
    return not name & (claim.keys | frozenset(said)) and (claim.has_verb or not name & claim.statement.given)


def _whole_name(unit: Unit, at: int) -> frozenset[str]:
    """The keys of the whole name that a word is part of."""
    first, last = at, at
    while first and unit.words[first - 1].kind == "name":
        first -= 1
    while last + 1 < len(unit.words) and unit.words[last + 1].kind == "name":
        last += 1
    return frozenset(chain.from_iterable(word.keys for word in unit.words[first : last + 1]))


def _is_like(one: Word, other: Word) -> bool:
    return one is other or (one.kind in HARD and _same_kind(one, other))


def _is_date(word: Word) -> bool:
    return word.kind == "date" or bool(re.fullmatch(r"1\d{3}|20\d{2}", word.plain))


def _same_kind(one: Word, other: Word) -> bool:
    return one.kind == other.kind or (one.kind in FIGURES and other.kind in FIGURES)
