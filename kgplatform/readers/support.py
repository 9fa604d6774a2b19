"""Whether what was read supports an answer, and where: the one rule of all readers, without a language model.

    found = support("Who built it?", "Anna Reed, in 1704.", [Source("The mill was built by Anna Reed in 1704.")])
    found.holds, found.places       # True, ((0, Place(start=0, end=40, …)),)

Each statement of the answer needs its names, numbers, dates and other telling words in what was read, near enough to
each other; the words of the question count as given. Then what is bound to what is compared, so that a name, number,
date or relation that was exchanged for another one of the same text is noticed:

1. *Presence*: names, numbers and dates without exception; a verb or a word with an opposite too; of others one in five
   may be missing.
2. *Together*: the words of a clause stand in at most three neighbouring sentences or in one fact; clauses may be
   spread over passages and facts.
3. *Rivals*: no other name, number or date stands clearly nearer to what the answer says about its own.
4. *Order*: who does and to whom it is done, and what is denied, are as in the text.

On real prose a check of words refuses a third of the right answers (docs/explanation/readers.md): paraphrases above
all. So what fails it while all its names, numbers and dates were read is ``in_doubt``, which is less than wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from kgplatform.places import Place
from kgplatform.readers.comparison import compared, compares
from kgplatform.readers.families import LINKS, Word, is_generic, is_relation, opposites
from kgplatform.readers.order import as_declared, contradicted, other_agent, turned_round
from kgplatform.readers.rivals import rival_of
from kgplatform.readers.statements import (
    HARD,
    TELLING,
    WIDEST,
    Need,
    Source,
    Statement,
    Texts,
    Unit,
    context_of,
    has_verb,
    in_clauses,
    names_of,
    negated,
    neighbours,
    quoted,
    read_texts,
    side_by_side,
    statements_of,
    weight,
)
from kgplatform.readers.telling import telling
from kgplatform.text import has_noun_capitals, is_unspaced, runs_of
from kgplatform.text.sentences import without_sentences

_MISSING_SHARE = 0.2


_YES = re.compile(r"\W*(?:(?P<yes>yes|ja|oui|sí|si|да|はい|是的)|(?P<no>no|nein|non|いいえ|不))\b\W*", re.IGNORECASE)

_ASKS_WHETHER = re.compile(
    r"\W*(?:is|are|was|were|did|does|do|has|have|had|can|could|will|may|must|ist|sind|war|waren|wird|wurde|hat|haben|kann|"
    r"est-ce|fue|hay)\b|.*(?:吗|か|까)\W*$",
    re.IGNORECASE,
)
"""A question whose words are no premise."""


_NONE_BUT = re.compile(r"\b(?:nowhere|nobody|none|nothing|no one) (?:else )?(?:but|except|other than)\b", re.IGNORECASE)
"""Ways to say "only"."""

_OFFERS = re.compile(
    r"\b(?:or|oder|ou|o|vs?|versus|between|against)\b|还是|還是|或|それとも|아니면|или|oppure", re.IGNORECASE
)
"""A question whose words may be its answer."""


@dataclass(frozen=True, slots=True)
class Support:
    """``places``: (number of the source from 0, where in it), best first; empty where nothing supports the answer.

    ``why``: then, in words for the user, what was not found. ``in_doubt``: then, whether all names, numbers and dates
    of the answer stand in what was read, and other words of it: nothing shows that it is wrong.
    """

    places: tuple[tuple[int, Place], ...] = ()
    why: str = ""
    in_doubt: bool = False

    @property
    def holds(self) -> bool:
        """Whether all of the answer is supported."""
        return bool(self.places)


def support(question: str, answer: str, sources: Sequence[Source]) -> Support:
    """Whether ``sources`` support ``answer``, an answer to ``question`` without marks."""
    read = read_texts(sources)
    asked = [word for word in telling(question) if word.kind in TELLING]
    is_polar = _ASKS_WHETHER.match(question) is not None
    gives = [word for word in asked if not (is_polar and word.kind == "word" and is_relation(word))]
    given = frozenset(chain.from_iterable(word.keys for word in gives))
    common = frozenset(chain.from_iterable(word.keys for word in asked if word.kind == "word"))
    begins = _YES.match(answer)
    rest = _NONE_BUT.sub("only", answer[begins.end() :] if begins else answer)
    statements = [each for each in statements_of(rest, given, common, read) if each.needs]
    listed = frozenset(chain.from_iterable(each.given for each in statements if not has_verb(each)))
    statements = [replace(each, given=each.given | listed) for each in statements]
    if not statements:
        nothing = Support(why="It says nothing that can be found.")
        return _yes_or_no(begins, question, asked, read) if begins and is_polar else nothing
    says_more = any(not need.given for each in statements for need in each.needs)
    if not (says_more or begins or is_polar or compares(question) or _OFFERS.search(question)):
        return Support(why="It says nothing that the question does not say.")
    places: dict[tuple[int, int, int], None] = {}
    for number, statement in enumerate(statements):
        with_question = (number == 0 or not has_verb(statement)) and not compares(question)
        context = context_of(statement, asked, with_question, read)
        units, why = _checked(statement, context, question, read)
        if why:
            return Support(why=why, in_doubt=_all_known(statements, read))
        places.update(dict.fromkeys((unit.source, unit.start, unit.end) for unit in units))
    return Support(tuple((source, Place(start, end, exact=False)) for source, start, end in places))


def _all_known(statements: Sequence[Statement], read: Texts) -> bool:
    """Whether no name, number or date of the answer is strange to what was read, and something of it was found."""
    own = [need for each in statements for need in each.needs if not need.given]
    if any(need.is_hard and not read.has(need.keys) for need in own) or any(_apart(each, read) for each in statements):
        return False
    return any(read.has(need.keys) for need in own)


def nearest(words: str, text: str) -> Place | None:
    """The sentence of ``text`` that shares most with ``words``; None where none shares two telling words or a name."""
    keys = frozenset(chain.from_iterable(word.keys for word in telling(words) if word.kind in TELLING))
    scored = []
    for unit in read_texts([Source(text)]).units:
        shared = [word for word in unit.words if word.kind in TELLING and word.keys & keys]
        scored.append((sum(1 + (word.kind in HARD) for word in shared), unit.start - unit.end, -unit.start, unit))
    best = max(scored, key=lambda each: each[:3], default=None)
    return Place(best[3].start, best[3].end, exact=False) if best and best[0] > 1 else None


def named_in(question: str, sources: Sequence[Source]) -> list[str]:
    """The names of ``question`` that ``sources`` have, every word of them."""
    read = read_texts(sources)
    runs = [list(run) for is_name, run in groupby(telling(question), lambda word: word.kind == "name") if is_name]
    return [" ".join(word.shown for word in run) for run in runs if all(read.has(word.keys) for word in run)]


def known_only(question: str, answer: str, sources: Sequence[Source]) -> tuple[str, str]:
    """``answer`` less its sentences with a name, number or date that neither ``question`` nor ``sources`` have; and, in
    words for the user, which these are.

    For answers that put together or count what many sources say, whose words need not be theirs. Headings stay. In
    German, where all nouns have capitals, a name is several of them side by side; in scripts without spaces, where
    nothing tells names from words, it is all letters of a sentence. Of these most must be known.
    """
    read, is_german = read_texts([*sources, Source(question)]), has_noun_capitals(answer)
    strange: list[Need] = []

    def is_out(said: str) -> bool:
        unknown = [] if said.startswith("#") else _unknown(_MARKS.sub("", said), read, is_german=is_german)
        strange.extend(unknown)
        return bool(unknown)

    kept = without_sentences(answer, is_out)
    return kept, f"{quoted(strange)} not found, so it was left out." if strange else ""


_MARKS = re.compile(r"\[\d+(?:\s*[,;]\s*\d+)*\]")
_MAY_BEGIN = re.compile(r"\D*\d{0,2}\D*")
"""A word that may begin a sentence though nothing has it: one with the capital of its place, or what counts."""


def _unknown(said: str, read: Texts, *, is_german: bool) -> list[Need]:
    """The names, numbers and dates of a sentence that were not read."""
    needs = [need for each in statements_of(said, frozenset(), frozenset(), read) for need in each.needs]
    first = min((need.word.start for need in needs), default=0)
    hard = [
        need
        for need in needs
        if need.is_hard and (need.word.start > first or not _MAY_BEGIN.fullmatch(need.word.plain))
    ]
    names = _name_groups([need for need in hard if need.word.kind == "name"], is_german=is_german)
    groups = [*([need] for need in hard if need.word.kind != "name"), *names]
    lacking = [[need for need in group if not read.has(need.keys)] for group in groups]
    strange = [need for group, less in zip(groups, lacking, strict=True) if 2 * len(less) > len(group) for need in less]
    return sorted(strange, key=lambda need: need.word.start)


def _name_groups(names: Sequence[Need], *, is_german: bool) -> list[list[Need]]:
    """The needs that are known or unknown together: each by itself, but for German and for scripts without spaces."""
    letters = [need for need in names if is_unspaced(need.word.plain)]
    words = [need for need in names if not is_unspaced(need.word.plain)]
    if not is_german:
        return [letters, *([need] for need in words)]
    runs = runs_of([(need.word.start, need.word.end) for need in words])
    return [letters, *([words[place] for place in run] for run in runs)]


def says_something(quote: str) -> bool:
    """Whether a quote has three telling words, or a word and its date: "the", a mark or a name alone shows nothing."""
    kinds = [word.kind for word in telling(quote) if word.kind in TELLING and not is_generic(word)]
    return len(kinds) >= _LEAST_QUOTED or ("word" in kinds and bool({"date", "number"} & set(kinds)))


_LEAST_QUOTED = 3


def _checked(statement: Statement, context: list[Need], question: str, read: Texts) -> tuple[list[Unit], str]:
    """The sentences that say the statement; or why it is not supported."""
    required = statement.required
    wanted = required or [need for need in statement.needs if need.is_hard] or list(statement.needs)
    if missing := _missing(wanted, read):
        return [], f"{quoted(missing)} not found in what was read."
    if apart := _apart(statement, read):
        return [], f'"{apart}" was not found in what was read.'
    wanted = [need for need in wanted if read.has(need.keys)]
    units = _together(statement, wanted, context, read)
    if not units:
        return [], f"{quoted(wanted)} not found together in what was read."
    if (
        why := compared(question, [need.keys for need in statement.needs if need.is_hard], read)
        or rival_of(statement, context, units, read)
        or _strange(statement, units, read)
    ):
        return [], why
    declared = as_declared(statement, question)
    if why := turned_round(declared, units) or other_agent(declared, units):
        return [], why
    is_whole = any(word.plain in _VERBS for word in statement.words)
    if is_whole or not negated(*in_clauses(telling(question))):
        return units, contradicted(statement, context, units, read)
    return units, ""


def _strange(statement: Statement, units: Sequence[Unit], read: Texts) -> str:
    """A word that no sentence has with one of those beside it, or a fact about another name than the statement's."""
    for at, need in enumerate(statement.needs):
        beside = [each for each in statement.needs[max(0, at - 1) : at + 2] if each.clause == need.clause]
        own = [unit for unit in units if need.keys & unit.keys]
        if need.given or not own:
            continue
        others = [each for each in beside if each is not need and any(each.keys & unit.keys for unit in units)]
        clause = [each for each in statement.needs if each.clause == need.clause and each is not need]
        absent = [each for each in clause if not any(each.keys & (unit.keys | unit.about) for unit in own)]
        if need.word.kind == "word" and is_relation(need.word) and len(absent) > 1 and len(absent) == len(clause):
            return f'"{need.word.shown}" was not found with "{absent[0].word.shown}".'
        anywhere = [read.units[n] for n in read.with_any([need])]
        after = _object(need, statement)
        if after and read.has(after.keys) and not any(after.keys & (unit.keys | unit.about) for unit in anywhere):
            return f'"{need.word.shown}" was not found with "{after.word.shown}".'
        is_alone = not any(each.keys & (unit.keys | unit.about) for unit in own for each in others)
        can_stand_alone = need.word.kind not in ("name", "word") or any(each.given for each in others)
        if others and is_alone and not can_stand_alone:
            return f'"{need.word.shown}" was not found beside "{others[0].word.shown}".'
        if (names := _names_with(need, statement)) and not any(_has_any(unit, names, read) for unit in anywhere):
            return f'"{need.word.shown}" was not found with "{names[0].word.shown}".'
    return ""


def _object(need: Need, statement: Statement) -> Need | None:
    """What follows a verb in its clause."""
    if need.word.kind != "word" or not is_relation(need.word):
        return None
    after = (each for each in statement.needs if each.clause == need.clause and each.word.start > need.word.start)
    return next(after, None)


def _names_with(need: Need, statement: Statement) -> list[Need]:
    """The other names of a clause; of a clause with a verb and none, those of the statement."""
    if not need.is_hard:
        return []
    names = [name[-1] for name in names_of(statement) if need not in name]
    own = [each for each in names if each.clause == need.clause]
    verbs = (each for each in statement.needs if each.clause == need.clause and not each.is_hard)
    return own or (names if any(is_relation(each.word) for each in verbs) else [])


def _has_any(unit: Unit, needs: Sequence[Need], read: Texts) -> bool:
    near = [unit, *neighbours(unit, read)]
    return any(need.keys & (each.keys | each.about) for need in needs for each in near)


_VERBS = frozenset(
    ["may", "can", "shall", "is", "are", "was", "were", "does", "did", "do", "will", "must", "has", "have", "had"]
)


def _may_lack(need: Need, read: Texts) -> bool:
    """Whether a text may say the same without this word: it links what is said, and its opposite is not there."""
    return need.word.plain in LINKS and not read.has(opposites(need.keys))


def _missing(wanted: Sequence[Need], read: Texts) -> list[Need]:
    """What must be there and is not."""
    lacking = [need for need in wanted if not read.has(need.keys)]
    if len(lacking) < len(wanted):
        lacking = [need for need in lacking if not _may_lack(need, read)]
    strict = [need for need in lacking if need.is_hard or is_relation(need.word)]
    allowed = int(_MISSING_SHARE * (len(wanted) - len(lacking)))
    return strict or (lacking if len(lacking) > allowed else [])


def _apart(statement: Statement, read: Texts) -> str:
    """A name of several words whose parts no sentence has side by side."""
    for name in names_of(statement):
        spelt = " ".join(need.word.shown for need in name)
        if all(need.given for need in name) or len(name) < 2:
            continue
        is_there = any(side_by_side(name, read.units[n]) for n in read.with_any(name[:1]))
        if not is_there and not all(need.keys & read.titled for need in name):
            return spelt
    return ""


def _together(statement: Statement, wanted: Sequence[Need], context: Sequence[Need], read: Texts) -> list[Unit]:
    """The fewest neighbouring sentences with all that is wanted; else such for each clause; empty where one lacks."""
    words = [word for word in statement.words if word.kind in TELLING]
    if (window := _window(wanted, words, context, read)) is not None:
        return window
    units: dict[int, Unit] = {}
    for clause in dict.fromkeys(need.clause for need in wanted):
        own = [need for need in wanted if need.clause == clause]
        window = _window(own, words, context, read) or _linked(own, words, context, read)
        if window is None:
            return []
        units.update({unit.number: unit for unit in window})
    return list(units.values())


def _linked(wanted: Sequence[Need], words: Sequence[Word], context: Sequence[Need], read: Texts) -> list[Unit] | None:
    """A clause whose numbers and dates stand elsewhere, each beside something that the question gives."""
    figures = [need for need in wanted if need.word.kind in ("number", "date")]
    window = _window([need for need in wanted if need not in figures], words, context, read)
    if window is None:
        return None
    for figure in figures:
        more = _window([figure], words, context, read)
        if more is None or not any(need.keys & (unit.keys | unit.about) for unit in more for need in context):
            return None
        window = [*window, *more]
    return window


_SAME = 0.8
"""What a word that both have counts when sentences are chosen."""


def _window(wanted: Sequence[Need], words: Sequence[Word], context: Sequence[Need], read: Texts) -> list[Unit] | None:
    best: tuple[float, int, int] | None = None
    for first in read.with_any(wanted):
        for size in range(1, WIDEST + 1):
            units = read.units[first : first + size]
            if len(units) < size or units[-1].source != units[0].source:
                break
            keys = frozenset().union(*(unit.keys for unit in units), units[0].about)
            if all(need.keys & keys for need in wanted):
                near = sum(weight(need) / (1 + (need.clause < 0)) for need in context if need.keys & keys)
                near += _SAME * sum(bool(word.keys & keys) for word in words)
                score = (near - 0.6 * size, -first, size)
                best = max(best, score) if best else score
    return None if best is None else read.units[-best[1] : -best[1] + best[2]]


def _yes_or_no(begins: re.Match[str], question: str, asked: Sequence[Word], read: Texts) -> Support:
    """A bare yes: the question's own words stand in the text; a bare no: they do, and the text denies or lacks some."""
    needs = tuple(Need(word, keys, True, 0) for word in asked if not is_generic(word) for keys in word.needs)
    statement = Statement(tuple(asked), (0,) * len(asked), needs)
    names = [need for need in needs if need.is_hard]
    if not needs or any(not read.has(need.keys) for need in names):
        return Support(why=f"{quoted(names)} not found in what was read.")
    lacking = [need for need in needs if not read.has(need.keys)]
    units = _together(statement, [need for need in needs if need not in lacking], [], read)
    denied = bool(units) and bool(contradicted(statement, [], units, read))
    if begins["yes"] and (denied or len(lacking) > 0.5 * len(needs)):
        return Support(why="What was read does not say so.")
    if begins["no"] and units and not (denied or lacking):
        return Support(why="What was read says that it is so.")
    units = units or [read.units[n] for n in read.with_any(names)[:1]]
    return Support(tuple((unit.source, Place(unit.start, unit.end, exact=False)) for unit in units))
