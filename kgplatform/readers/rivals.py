"""Rivals: another name, number or date of a text than the answer's, nearer to what the answer says about its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from kgplatform.readers.families import Word, converses, is_relation, opposites
from kgplatform.readers.statements import HARD, Need, Statement, Texts, Unit, names_of, negated, neighbours, weight

_MARGINS = {"name": (1.25, 0.12), "said": (1.15, 0.1), "number": (1.1, 0.05), "date": (1.1, 0.05), "word": (1.1, 0.05)}
"""How much nearer a rival must be: times, and more."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A word of a statement and what is said ``about`` it; where a text has it nearest to that, and how near."""

    need: Need
    statement: Statement
    about: Sequence[Need]
    unit: Unit
    at: int
    near: float
    decisive: Sequence[Need] = ()

    @property
    def clause(self) -> frozenset[str]:
        """The keys of the clause of the text: what stands there is no rival of a name."""
        return _beside(self.unit, self.at)


def rival_of(statement: Statement, context: Sequence[Need], units: Sequence[Unit], read: Texts) -> str:
    """Why another name, number, date or opposite than the answer's is what is meant; empty where none is."""
    denied = {id(statement.words[at]) for at in negated(statement.words, statement.clauses)}
    for part in [[each] for each in statement.needs if each.word.kind != "name"] + list(names_of(statement)):
        is_new = part[-1].is_hard and (not any(each.given for each in part) or _says_more(part[-1], statement))
        if id(part[-1].word) in denied or not (is_new or opposites(part[-1].keys)):
            continue
        claim = _claim(part, statement, context, units, read)
        if claim and (rival := _nearer(claim, read)):
            said = " ".join(dict.fromkeys(each.word.shown for each in claim.about))
            return f'Near "{said}" the text has "{rival}", not "{claim.need.word.shown}".'
    return ""


def _says_more(need: Need, statement: Statement) -> bool:
    """Whether the clause of a name has a verb that the question has not."""
    own = (each for each in statement.needs if each.clause == need.clause and not each.given)
    return any(each.word.kind == "word" and is_relation(each.word) and not _is_unit(each.word) for each in own)


def _claim(
    part: Sequence[Need], statement: Statement, context: Sequence[Need], units: Sequence[Unit], read: Texts
) -> _Claim | None:
    need = part[-1]
    about = _about(need, statement, context)
    keys = frozenset(chain.from_iterable(each.keys for each in part))
    found = [(_nearness(unit, at, about, read), unit, at) for unit in units for at in unit.at(keys)]
    if not about or not found:
        return None
    near, unit, at = max(found, key=lambda each: each[0])
    decisive = [each for each in about if not _is_unit(each.word) and opposites(each.keys) & unit.keys]
    return _Claim(need, statement, about, unit, at, near, decisive if need.word.kind == "number" else ())


def _nearer(claim: _Claim, read: Texts) -> str:
    """A word that could stand in the place of the claim's and is clearly nearer to what is said about it."""
    whole = sum(map(weight, claim.about))
    for number in read.with_any(claim.about):
        unit = read.units[number]
        if _share_said(unit, claim.about) < (_HALF if unit is claim.unit else _NEARLY_ALL) * whole:
            continue
        for at, word in enumerate(unit.words):
            is_part = word.kind == "name" and claim.need.keys & _around(unit, at)
            if _rivals(word, claim) and not is_part and _is_nearer(claim, unit, at, read):
                return word.shown
    return ""


def _is_nearer(claim: _Claim, unit: Unit, at: int, read: Texts) -> bool:
    """Whether the word at ``at`` is. In one sentence a bare name is judged by the clauses and their verbs alone."""
    has_verb = _says(claim.need, claim.statement)
    if unit is claim.unit and claim.need.word.kind == "name" and not has_verb:
        return _other_clause(claim, at)
    times, more = _MARGINS["said" if has_verb else claim.need.word.kind]
    if unit is claim.unit and claim.decisive:
        own = _nearness(unit, claim.at, claim.decisive, read)
        return _nearness(unit, at, claim.decisive, read) > times * own + more
    return _nearness(unit, at, claim.about, read) > times * claim.near + more


def _other_clause(claim: _Claim, at: int) -> bool:
    """Whether the question's verb is in the clause of the word at ``at``, and another one in the claim's."""
    unit, clause = claim.unit, claim.unit.clauses[claim.at]
    own = [word for word, number in zip(unit.words, unit.clauses, strict=True) if number == clause]
    verbs = frozenset(chain.from_iterable(each.keys for each in claim.about if is_relation(each.word)))
    has_verb = any(word.kind == "word" and is_relation(word) and not word.keys & verbs for word in own)
    return has_verb and not verbs & claim.clause and bool(verbs & _beside(unit, at))


_NEARLY_ALL, _HALF = 0.7, 0.45
"""Of what is said about a word, the share that a sentence must have for another word of it to be a rival; less in the
sentence that has the word too."""


def _share_said(unit: Unit, about: Sequence[Need]) -> float:
    """How much of what is said about a word a sentence has, its title included."""
    return sum(weight(each) for each in about if (each.keys | converses(each.keys)) & (unit.keys | unit.about))


def _beside(unit: Unit, at: int) -> frozenset[str]:
    """The keys of the clause of a word: what stands there is no rival of it."""
    clause = unit.clauses[at]
    return frozenset(chain.from_iterable(w.keys for w, c in zip(unit.words, unit.clauses, strict=True) if c == clause))


def _around(unit: Unit, at: int) -> frozenset[str]:
    return frozenset(chain.from_iterable(word.keys for word in unit.words[max(0, at - 2) : at + 3]))


def _about(need: Need, statement: Statement, context: Sequence[Need]) -> list[Need]:
    """What the statement says about ``need``: its clause; without a verb there, what the question says too."""
    own = [each for each in statement.needs if each.clause == need.clause and not _is_like(each.word, need.word)]
    if not need.is_hard:
        return [each for each in own if each.is_hard] or own or list(context)
    is_number = need.word.kind == "number"
    after = next((each.word for each in statement.needs if is_number and each.word.start > need.word.end), None)
    verbs = (each.word for each in own if each.word.kind == "word" and is_relation(each.word))
    if any(not _is_unit(verb) and verb is not after for verb in verbs):
        return own
    return [*own, *(each for each in context if each not in own and (each.given or not _is_like(each.word, need.word)))]


def _says(need: Need, statement: Statement) -> bool:
    """Whether the clause of a word has a verb."""
    others = (each for each in statement.needs if each.clause == need.clause and each.word is not need.word)
    return any(each.word.kind == "word" and is_relation(each.word) and not _is_unit(each.word) for each in others)


def _is_unit(word: Word) -> bool:
    return bool(word.keys & _UNIT_KEYS)


_UNIT_KEYS = frozenset(
    f"={unit}"
    for unit in [
        "percent",
        "euro",
        "dollar",
        "pound",
        "yen",
        "metre",
        "kilometre",
        "centimetre",
        "millimetre",
        "gram",
        "kilogram",
        "milligram",
        "litre",
        "mile",
        "hectare",
        "tonne",
        "hour",
        "minute",
        "second",
        "celsius",
        "day",
        "week",
        "month",
        "year",
    ]
)


def _is_like(one: Word, other: Word) -> bool:
    return one is other or (one.kind in HARD and _same_kind(one, other))


def _is_date(word: Word) -> bool:
    return word.kind == "date" or bool(re.fullmatch(r"1\d{3}|20\d{2}", word.plain))


def _same_kind(one: Word, other: Word) -> bool:
    return one.kind == other.kind or (one.kind in ("number", "date") and other.kind in ("number", "date"))


def _rivals(word: Word, claim: _Claim) -> bool:
    """Whether ``word`` of a text could stand in the place of the claim's."""
    need, statement = claim.need, claim.statement
    others = [each for each in statement.needs if each.word is not need.word]
    if not need.is_hard:
        against = word.keys & opposites(need.keys) and not any(word.keys & each.keys for each in statement.needs)
        return bool(against) and word.kind != "little"
    if (
        not _same_kind(word, need.word)
        or word.keys & (need.keys | need.word.needs[0])
        or _is_date(word) != _is_date(need.word)
    ):
        return False
    is_family = any(key[0] == "=" for key in word.keys) and not any(key[0] == "=" for key in need.keys)
    if need.word.kind == "name" and (is_family or word.keys & (claim.clause | claim.unit.about)):
        return False  # "American" is no name of its own; and what stands in the same clause is something else
    said = _says(need, statement)
    if word.keys & statement.given and not (said and any(each.word.kind == "name" for each in claim.about)):
        return False
    return not any(word.keys & each.keys for each in others if not said or each.clause == need.clause)


def _nearness(unit: Unit, at: int, about: Sequence[Need], read: Texts) -> float:
    """How near the word at ``at`` is to what is said about it, from 0."""
    total = 0.0
    for need in about:
        found = unit.at(need.keys) or unit.at(converses(need.keys))
        if found:
            near = min(_distance(unit, at, each) for each in found)
            total += weight(need) / (1 + 0.25 * near)
        elif need.keys & unit.about:
            total += 0.3 * weight(need)
        elif any(need.keys & other.keys for other in neighbours(unit, read)):
            total += 0.2 * weight(need)
    return total


def _distance(unit: Unit, one: int, other: int) -> float:
    low, high = sorted((one, other))
    between = sum(word.kind != "little" for word in unit.words[low + 1 : high])
    return between + 3 * abs(unit.clauses[one] - unit.clauses[other])
