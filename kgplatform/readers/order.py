"""Who does and to whom it is done, and what is denied: as in an answer, so in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from kgplatform.readers.families import Word, converses, is_relation, opposites
from kgplatform.readers.statements import Need, Statement, Texts, Unit, has_verb, in_clauses, negated, quoted
from kgplatform.readers.telling import telling

_BY = frozenset(["by", "von", "durch", "par", "por"])

_PLACED = frozenset(["in", "at", "near", "on", "im", "aus", "bei", "à", "en"])

_ASKS_FOR_WHO = re.compile(r"\W*(?:who|which|what)\b(?!.*\b(?:did|does|do|was|is|were|are)\b)", re.IGNORECASE)


def as_declared(statement: Statement, question: str) -> Statement:
    """A short answer in the place of the question's "who": "Anna Reed taught Thomas Pike"."""
    if has_verb(statement) or not _ASKS_FOR_WHO.match(question):
        return statement
    words, clauses = in_clauses(telling(question))
    rest = [word for word in words if word.kind != "little" or word.plain in _BY]
    names = [word for word in statement.words if word.kind == "name"]
    verb = next((n for n, word in enumerate(rest) if word.kind == "word" and is_relation(word)), None)
    if verb is None:
        return statement
    return replace(statement, words=(*names, *rest[verb:]))


def turned_round(statement: Statement, units: Sequence[Unit]) -> str:
    """Why who does and to whom it is done are exchanged."""
    words = statement.words
    for at, word in enumerate(words):
        if word.kind != "word" or not is_relation(word) or word.keys & _MUTUAL:
            continue
        left = next((n for n in range(at - 1, -1, -1) if words[n].kind == "name"), None)
        right = next((n for n in range(at + 1, len(words)) if words[n].kind == "name"), None)
        if left is None or right is None or words[right - 1].plain in _PLACED:
            continue
        passive = _passive(words, at, right)
        if not any(unit.at(_name_keys(words, left, -1)) and unit.at(_name_keys(words, right, 1)) for unit in units):
            continue
        orders = [_order_of(_name_keys(words, left, -1), word, _name_keys(words, right, 1), unit) for unit in units]
        known = [each for each in orders if each is not None]
        if known and all(same == (passive != by) for same, by in known):
            return f'What was read says it the other way round: "{word.shown}".'
    return ""


def other_agent(statement: Statement, units: Sequence[Unit]) -> str:
    """Why somebody else did it: the text names whom it was done by."""
    words = statement.words
    for at, word in enumerate(words):
        if word.kind != "word":
            continue
        said = _agent(words, None, at) or _name_keys(words, at - 1, -1)
        done = [_agent(unit.words, unit.clauses, n) for unit in units for n in unit.at(word.keys)]
        if said and done and all(by and not by & said for by in done):
            return f'What was read says that somebody else did it: "{word.shown}".'
    return ""


def _agent(words: Sequence[Word], clauses: Sequence[int] | None, verb: int) -> frozenset[str]:
    """The keys of the names after "by", in the clause of a verb."""
    for at in range(verb + 1, min(len(words), verb + 8)):
        if clauses is not None and clauses[at] != clauses[verb]:
            break
        if words[at].plain in _BY:
            names = [n for n in range(at + 1, min(len(words), at + 9)) if words[n].kind == "name"]
            same = [n for n in names if clauses is None or clauses[n] == clauses[verb]]
            return frozenset(chain.from_iterable(words[n].needs[0] for n in same))
    return frozenset()


_GERMAN = frozenset(["der", "das", "und", "wurde", "ist", "des", "dem"])
"""Words of a language in which the object may come first."""

_AGENTS = ("er", "or", "eur", "ist")
"""Endings of who does: "author", after which no object follows."""

_MUTUAL = frozenset(("=marry", "=movie", "=near", "=fight", "=play", "=song", "=band"))
"""Relations that hold both ways, and things."""


def _name_keys(words: Sequence[Word], at: int, step: int) -> frozenset[str]:
    """The keys of a name that begins, or ends, at ``at``."""
    keys: set[str] = set()
    while 0 <= at < len(words) and words[at].kind == "name":
        keys |= words[at].needs[0]
        at += step
    return frozenset(keys)


def _order_of(left: frozenset[str], verb: Word, right: frozenset[str], unit: Unit) -> tuple[bool, bool] | None:
    """Whether a text has the two names in the same order round the verb, and whether in the passive voice."""
    for keys, turned in ((verb.keys, False), (converses(verb.keys), True)):
        for at in unit.at(keys):
            if unit.words[at].plain.endswith(_AGENTS) or any(word.plain in _GERMAN for word in unit.words):
                continue
            lefts, rights = unit.at(left), unit.at(right)
            if (any(n < at for n in lefts) or (not lefts and left & unit.about)) and any(n > at for n in rights):
                return not turned, _passive(unit.words, at, min(n for n in rights if n > at))
            if any(n > at for n in lefts) and (any(n < at for n in rights) or (not rights and right & unit.about)):
                return turned, _passive(unit.words, at, min(n for n in lefts if n > at))
    return None


def _passive(words: Sequence[Word], verb: int, last: int) -> bool:
    return any(word.plain in _BY for word in words[verb + 1 : last])


def contradicted(statement: Statement, context: Sequence[Need], units: Sequence[Unit], read: Texts) -> str:
    """Why the text denies what is said, says what is denied, or says the opposite."""
    ours = {id(statement.words[n]) for n in negated(statement.words, statement.clauses)}
    there = {unit.number: negated(unit.words, unit.clauses) for unit in units}
    mine: list[Need] = []
    agreed = False
    for need in statement.needs:
        having = [unit for unit in units if need.keys & unit.keys]
        if not having:
            continue
        beside = [each for each in (*statement.needs, *context) if each.clause in (need.clause, -1)]
        unit = max(having, key=lambda each: sum(bool(other.keys & each.keys) for other in beside))
        is_denied = set(unit.at(need.keys)) <= there[unit.number]
        if id(need.word) in ours:
            mine.append(need)
            agreed = agreed or any(set(each.at(need.keys)) <= there[each.number] for each in having)
        elif is_denied and (not need.given or is_relation(need.word)):
            return f"What was read denies it: {quoted([need])}"
    if mine and not agreed:
        return f"What was read does not deny it: {quoted(mine)}"
    return _opposite(statement.needs, units)


def _opposite(needs: Sequence[Need], units: Sequence[Unit]) -> str:
    for need in needs:
        if not any(need.keys & (unit.keys | unit.about) for unit in units):
            against = opposites(need.word.keys)
            if any(against & unit.keys for unit in units):
                return f"What was read says the opposite of {need.word.shown}."
    return ""
