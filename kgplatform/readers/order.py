"""Who does and to whom it is done, and what is denied: as in an answer, so in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from kgplatform.readers.clauses import PRONOUNS, in_clauses, in_parts, is_verb, negated
from kgplatform.readers.families import Word, converses, is_action, is_relation, listed
from kgplatform.readers.statements import Need, Statement, Texts, Unit, has_verb, quoted
from kgplatform.readers.telling import telling

_BY = listed("by")
_BEING = listed("being")
_ASIDE = listed("aside")
"""What ends the object of a verb."""

_PREPOSITIONS = _ASIDE | {"from", "under", "to", "against"}

_GERMAN = listed("object first")
"""Words of a language in which the object may come first."""

_MUTUAL = frozenset(f"={word}" for word in listed("mutual"))
"""Relations that hold both ways, and things."""

_ASKS_FOR_WHO = re.compile(r"\W*(?:who|which|what)\b(?!.*\b(?:did|does|do|was|is|were|are)\b)", re.IGNORECASE)


def as_declared(statement: Statement, question: str) -> Statement:
    """A short answer in the place of the question's "who": "Anna Reed taught Thomas Pike"."""
    if has_verb(statement) or not _ASKS_FOR_WHO.match(question):
        return statement
    words, _ = in_parts(telling(question))
    rest = [word for word in words if word.kind != "little" or word.plain in _BY]
    names = [word for word in statement.words if word.kind == "name"]
    verb = next((n for n, word in enumerate(rest) if word.kind == "word" and is_action(word)), None)
    if verb is None:
        return statement
    joined = (*names, *rest[verb:])
    return replace(statement, words=joined, parts=(0,) * len(joined))


@dataclass(frozen=True, slots=True)
class _Roles:
    """The keys of who does what a verb says, and of whom or what it is done to. ``by``: a passive names who does."""

    does: frozenset[str]
    done: frozenset[str]
    by: bool

    @property
    def turned(self) -> _Roles:
        return replace(self, does=self.done, done=self.does)


def exchanged(statement: Statement, read: Texts) -> str:
    """Why who does and to whom it is done are exchanged, or somebody else does it."""
    clauses = in_clauses(statement.words, statement.parts)
    for at, word in enumerate(statement.words):
        if not is_verb(statement.words, at) or word.kind != "word" or word.keys & _MUTUAL:
            continue
        said = _roles(statement.words, clauses, at)
        known = list(_told(read, word))
        if not any(said.does & roles.does and (said.done & roles.done or not said.done) for roles in known):
            if any(said.does & roles.done and said.done & roles.does for roles in known):
                return f'What was read says it the other way round: "{word.shown}".'
            if said.does and known and all(roles.by and not said.does & roles.does for roles in known):
                return f'What was read says that somebody else did it: "{word.shown}".'
    return ""


def _told(read: Texts, verb: Word) -> Iterator[_Roles]:
    """The roles round each place of a verb in a text, or of one that says the same the other way round."""
    for keys, turned in ((verb.keys, False), (converses(verb.keys), True)):
        for unit in (read.units[n] for n in sorted({n for key in keys for n in read.where.get(key, ())})):
            if any(word.plain in _GERMAN for word in unit.words):
                continue
            for at in unit.at(keys):
                if is_verb(unit.words, at):
                    roles = _roles(unit.words, unit.clauses, at, unit.about)
                    yield roles.turned if turned else roles


def _roles(words: Sequence[Word], clauses: Sequence[int], verb: int, about: frozenset[str] = frozenset()) -> _Roles:
    before, after, agent = list[Word](), list[Word](), list[Word]()
    into = after
    is_passive = words[verb - 1].plain in _BEING if verb else False
    is_pronoun = False
    for at, word in enumerate(words):
        if clauses[at] != clauses[verb] or at == verb:
            continue
        if at > verb and word.plain in _BY and _names_somebody(words, at + 1):
            into, is_passive = agent, True
        elif at > verb and into is not agent and word.plain in _PREPOSITIONS:
            into = [] if word.plain in _ASIDE else after
        elif word.kind in ("name", "word") and not is_verb(words, at):
            (before if at < verb else into).append(word)
        is_pronoun = is_pronoun or (at < verb and word.plain in PRONOUNS)
    first = _who(before) | (about if is_pronoun else frozenset())
    return _Roles(_who(agent), first, bool(agent)) if is_passive else _Roles(first, _who(after), False)


def _who(words: Sequence[Word]) -> frozenset[str]:
    """The keys of the names among the words; where there is none, of all."""
    names = [word for word in words if word.kind == "name"]
    return frozenset(chain.from_iterable(word.needs[0] for word in names or words))


def _names_somebody(words: Sequence[Word], at: int) -> bool:
    """Whether what follows "by" is who did it: no number, and nothing that is being done."""
    if at >= len(words) or words[at].kind == "number":
        return False
    return words[at].kind != "word" or not words[at].plain.endswith("ing")


def contradicted(statement: Statement, context: Sequence[Need], units: Sequence[Unit]) -> str:
    """Why the text denies what is said, or says what is denied."""
    ours = {id(statement.words[n]) for n in negated(statement.words, statement.parts)}
    there = {unit.number: negated(unit.words, unit.parts) for unit in units}
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
    return ""
