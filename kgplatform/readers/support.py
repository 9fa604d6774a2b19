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
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, KeysView, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from kgplatform.places import Place
from kgplatform.readers.comparison import compared
from kgplatform.readers.telling import Word, converses, is_generic, is_relation, opposites, telling
from kgplatform.sentences import sentences

_HARD = ("name", "number", "date")
_TELLING = (*_HARD, "word")
_MISSING_SHARE = 0.2
_SURE = 2
"""Names, numbers and dates with which a statement may have a further word that is not there."""
_WIDEST = 3
"""Neighbouring sentences that may share the words of a clause."""

_MOST_WINDOWS = 5
_BY = frozenset("by von durch par por".split())
_JOINS = frozenset(
    "and und et y or oder ou which who that whose where while when but after before because until whereas".split()
)
_INSIDE = frozenset("of the de la du von van der del".split())
_PLACED = frozenset("in at near on im aus bei à en".split())
_YES = re.compile(r"\W*(?:(?P<yes>yes|ja|oui|sí|si|да|はい|是的)|(?P<no>no|nein|non|いいえ|不))\b\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A passage or a fact: what may support a statement. The words of its ``title`` count for all of its sentences."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Support:
    """``places``: (number of the source from 0, where in it), best first; empty where nothing supports the answer.

    ``why``: then, in words for the user, what was not found.
    """

    places: tuple[tuple[int, Place], ...] = ()
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether all of the answer is supported."""
        return bool(self.places)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence: ``words`` with the number of the clause that each is in."""

    source: int
    number: int
    start: int
    end: int
    words: tuple[Word, ...]
    clauses: tuple[int, ...]
    index: dict[str, list[int]]
    about: frozenset[str]

    @property
    def keys(self) -> KeysView[str]:
        """Of all of its words."""
        return self.index.keys()

    def at(self, need: frozenset[str]) -> list[int]:
        """Where the words with one of these keys are."""
        return sorted({at for key in need if key in self.index for at in self.index[key]})


@dataclass(frozen=True, slots=True)
class _Need:
    """Something that a statement says: one of ``keys`` must be found. ``given``: the question has it."""

    word: Word
    keys: frozenset[str]
    given: bool
    clause: int

    @property
    def is_hard(self) -> bool:
        return self.word.kind in _HARD


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence of an answer. ``words``: all; ``needs``: what tells something."""

    words: tuple[Word, ...]
    clauses: tuple[int, ...]
    needs: tuple[_Need, ...]
    given: frozenset[str] = frozenset()

    @property
    def required(self) -> list[_Need]:
        return [need for need in self.needs if not need.given]


@dataclass
class _Read:
    """All that was read, by sentence. ``where``: the units that have a key."""

    units: list[_Unit] = field(default_factory=list)
    where: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    titled: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()

    def has(self, need: frozenset[str]) -> bool:
        return any(key in self.where for key in need) or bool(need & self.titled)

    def with_any(self, needs: Iterable[_Need]) -> list[int]:
        return sorted({n for need in needs for key in need.keys for n in self.where.get(key, ())})


def support(question: str, answer: str, sources: Sequence[Source]) -> Support:
    """Whether ``sources`` support ``answer``, an answer to ``question`` without marks."""
    read = _read(sources)
    asked = [word for word in telling(question) if word.kind in _TELLING]
    given = frozenset(chain.from_iterable(word.keys for word in asked))
    common = frozenset(chain.from_iterable(word.keys for word in asked if word.kind == "word"))
    begins = _YES.match(answer)
    rest = answer[begins.end() :] if begins else answer
    statements = [each for each in _statements(rest, given, common, read) if each.needs]
    listed = frozenset(chain.from_iterable(each.given for each in statements if not _has_verb(each)))
    statements = [replace(each, given=each.given | listed) for each in statements]
    if not statements:
        return (
            _yes_or_no(begins, question, asked, read) if begins else Support(why="It says nothing that can be found.")
        )
    places: dict[tuple[int, int, int], None] = {}
    for number, statement in enumerate(statements):
        context = _context(statement, asked, number == 0 or not _has_verb(statement), read)
        units, why = _checked(statement, context, question, read)
        if why:
            return Support(why=why)
        places.update(dict.fromkeys((unit.source, unit.start, unit.end) for unit in units))
    return Support(tuple((source, Place(start, end, exact=False)) for source, start, end in places))


def nearest(words: str, text: str) -> Place | None:
    """The sentence of ``text`` that shares most with ``words``; None where none shares two telling words or a name."""
    keys = frozenset(chain.from_iterable(word.keys for word in telling(words) if word.kind in _TELLING))
    scored = []
    for unit in _read([Source(text)]).units:
        shared = [word for word in unit.words if word.kind in _TELLING and word.keys & keys]
        scored.append((sum(1 + (word.kind in _HARD) for word in shared), unit.start - unit.end, -unit.start, unit))
    best = max(scored, key=lambda each: each[:3], default=None)
    return Place(best[3].start, best[3].end, exact=False) if best and best[0] > 1 else None


def says_something(quote: str) -> bool:
    """Whether a quote has at least three telling words: "the", a mark or a name alone shows nothing."""
    return sum(word.kind in _TELLING and not is_generic(word) for word in telling(quote)) >= _LEAST_QUOTED


_LEAST_QUOTED = 3


# ------------------------------------------------------------------------------------------------------------ reading


def _read(sources: Sequence[Source]) -> _Read:
    read = _Read()
    titled: set[str] = set()
    for number, source in enumerate(sources):
        about = frozenset(chain.from_iterable(word.keys for word in telling(source.title)))
        titled |= about
        for place in sentences(source.text):
            unit = _unit(source.text, number, len(read.units), place.start, place.end, about)
            for key in unit.keys:
                read.where[key].append(unit.number)
            read.units.append(unit)
    read.titled = frozenset(titled)
    words = chain.from_iterable(unit.words for unit in read.units)
    read.common = frozenset(chain.from_iterable(word.keys for word in words if word.kind == "word"))
    return read


def _unit(text: str, source: int, number: int, start: int, end: int, about: frozenset[str]) -> _Unit:
    said = text[start:end]
    found = sorted([*telling(said), *_life(said)], key=lambda word: word.start)
    words, clauses = _clauses(found)
    index: defaultdict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(words):
        for key in word.keys if word.kind != "little" else ():
            index[key].append(at)
    return _Unit(source, number, start, end, words, clauses, dict(index), about)


_LIFE = re.compile(r"[(（][^()（）]{0,80}?\d{3,4}\s*(?P<to>[–—-])\s*[^()（）]{0,60}?\d{3,4}[^()（）]{0,20}[)）]")


def _life(said: str) -> Iterator[Word]:
    """Between "(12 May 1302 – 8 January 1361)": born, died."""
    for found in _LIFE.finditer(said):
        (born,), (died,) = telling("born"), telling("died")
        yield replace(born, start=found.start(), end=found.start())
        yield replace(died, start=found.end("to"), end=found.end("to"))


def _clauses(found: Sequence[Word]) -> tuple[tuple[Word, ...], tuple[int, ...]]:
    """The words without breaks, and the number of the clause of each."""
    words, clauses, clause = [], [], 0
    for word in found:
        if word.kind == "break" or word.plain in _JOINS:
            clause += 1
        if word.kind != "break":
            words.append(word)
            clauses.append(clause)
    return tuple(words), tuple(clauses)


_ITEM = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+(?=\S)", re.MULTILINE)
"""What an item of a list begins with."""


def _statements(answer: str, given: frozenset[str], common: frozenset[str], read: _Read) -> Iterator[_Statement]:
    answer = _ITEM.sub(lambda found: " " * len(found[0]), answer)
    for place in sentences(answer):
        words, clauses = _clauses(telling(answer[place.start : place.end]))
        words = tuple(_softened(word, n, read.common | common) for n, word in enumerate(words))
        needs = [
            _Need(word, keys, bool(keys & given), clause)
            for n, (word, clause) in enumerate(zip(words, clauses, strict=True))
            if word.kind in _TELLING and not is_generic(word)
            for keys in word.needs
        ]
        yield _Statement(words, clauses, tuple(needs), given | _listed(needs))


def _listed(needs: Sequence[_Need]) -> frozenset[str]:
    """The keys of the names of clauses that have nothing but names: items of a list."""
    telling_clauses = {need.clause for need in needs if not need.is_hard}
    return frozenset(chain.from_iterable(need.keys for need in needs if need.clause not in telling_clauses))


def _softened(word: Word, number: int, common: frozenset[str]) -> Word:
    """A word that has its capital from the beginning of a sentence is no name, where a text has it without."""
    is_common = word.keys & common or is_relation(word)
    return replace(word, kind="word", needs=(word.keys,)) if word.kind == "name" and not number and is_common else word


def _has_verb(statement: _Statement) -> bool:
    return any(need.word.kind == "word" for need in statement.needs)


def _context(statement: _Statement, asked: Sequence[Word], with_question: bool, read: _Read) -> list[_Need]:
    """What the statement is about: words that are given, those of the question too."""
    own = [need for need in statement.needs if need.given]
    if not with_question:
        return own
    said = frozenset(chain.from_iterable(need.keys for need in statement.needs))
    more = [
        _Need(word, keys, True, -1)
        for word in asked
        if not is_generic(word) and not word.keys & said
        for keys in word.needs
    ]
    return [*own, *more]


# -------------------------------------------------------------------------------------------------------------- rules


def _checked(statement: _Statement, context: list[_Need], question: str, read: _Read) -> tuple[list[_Unit], str]:
    """The sentences that say the statement; or why it is not supported."""
    required = statement.required
    wanted = required or [need for need in statement.needs if need.is_hard] or list(statement.needs)
    if missing := _missing(wanted, read):
        return [], f"{_quoted(missing)} not found in what was read."
    if apart := _apart(statement, read):
        return [], f'"{apart}" was not found in what was read.'
    wanted = [need for need in wanted if read.has(need.keys)]
    units = _together(statement, wanted, context, read)
    if not units:
        return [], f"{_quoted(wanted)} not found together in what was read."
    if (
        why := compared(question, [need.keys for need in statement.needs if need.is_hard], read)
        or _rival(statement, context, units, read)
        or _strange(statement, units, read)
    ):
        return [], why
    declared = _declared(statement, question)
    if why := _reversed(declared, units) or _other_agent(declared, units):
        return [], why
    is_whole = any(word.plain in _VERBS for word in statement.words)
    if is_whole or not _negated(*_clauses(telling(question))):
        return units, _denied(statement, context, units, read)
    return units, ""


def _strange(statement: _Statement, units: Sequence[_Unit], read: _Read) -> str:
    """A word that no sentence has with one of those beside it, or a fact about another name than the statement's."""
    for at, need in enumerate(statement.needs):
        beside = [each for each in statement.needs[max(0, at - 1) : at + 2] if each.clause == need.clause]
        own = [unit for unit in units if need.keys & unit.keys]
        if need.given or not own:
            continue
        others = [each for each in beside if each is not need and any(each.keys & unit.keys for unit in units)]
        if need.word.kind in ("name", "word") and others and not any(each.given for each in others):
            if not any(each.keys & (unit.keys | unit.about) for unit in own for each in others):
                return f'"{need.word.plain}" was not found beside "{others[0].word.plain}".'
        if (names := _names_with(need, statement)) and not any(_has_any(unit, names, read) for unit in own):
            return f'"{need.word.plain}" was not found with "{names[0].word.plain}".'
    return ""


def _names_with(need: _Need, statement: _Statement) -> list[_Need]:
    """The other names of a clause; of a clause with a verb and none, those of the statement."""
    if not need.is_hard:
        return []
    names = [each for each in statement.needs if each.word.kind == "name" and each is not need]
    own = [each for each in names if each.clause == need.clause]
    verbs = (each for each in statement.needs if each.clause == need.clause and not each.is_hard)
    return own or (names if any(is_relation(each.word) for each in verbs) else [])


def _has_any(unit: _Unit, needs: Sequence[_Need], read: _Read) -> bool:
    near = [unit, *_neighbours(unit, read)]
    return any(need.keys & (each.keys | each.about) for need in needs for each in near)


_VERBS = frozenset("may can shall is are was were does did do will must has have had".split())
_ASKS_FOR_WHO = re.compile(r"\W*(?:who|which|what)\b(?!.*\b(?:did|does|do|was|is|were|are)\b)", re.IGNORECASE)


def _declared(statement: _Statement, question: str) -> _Statement:
    """A short answer in the place of the question's "who": "Anna Reed taught Thomas Pike"."""
    if _has_verb(statement) or not _ASKS_FOR_WHO.match(question):
        return statement
    words, clauses = _clauses(telling(question))
    rest = [word for word in words if word.kind != "little" or word.plain in _BY]
    names = [word for word in statement.words if word.kind == "name"]
    verb = next((n for n, word in enumerate(rest) if word.kind == "word" and is_relation(word)), None)
    if verb is None:
        return statement
    return replace(statement, words=(*names, *rest[verb:]))


def _missing(wanted: Sequence[_Need], read: _Read) -> list[_Need]:
    """What must be there and is not."""
    lacking = [need for need in wanted if not read.has(need.keys)]
    strict = [need for need in lacking if need.is_hard or is_relation(need.word)]
    found = [need for need in wanted if need not in lacking]
    allowed = max(int(_MISSING_SHARE * len(found)), int(sum(need.is_hard for need in found) >= _SURE))
    return strict or (lacking if len(lacking) > allowed else [])


def _apart(statement: _Statement, read: _Read) -> str:
    """A name of several words whose parts no sentence has side by side."""
    for name in _names(statement):
        spelt = " ".join(need.word.plain for need in name)
        if all(need.given for need in name) or len(name) < 2:
            continue
        if not any(_side_by_side(name, read.units[n]) for n in read.with_any(name[:1])):
            if not all(need.keys & read.titled for need in name):
                return spelt
    return ""


def _names(statement: _Statement) -> Iterator[list[_Need]]:
    """The names of a statement: words with capitals that follow each other, "of" and the like between them."""
    by_word = {id(need.word): need for need in statement.needs if need.word.kind == "name"}
    name: list[_Need] = []
    last = -1
    for word, clause in zip(statement.words, statement.clauses, strict=True):
        need = by_word.get(id(word))
        if name and (clause != last or (need is None and word.plain not in _INSIDE)):
            yield name
            name = []
        if need is not None:
            name.append(need)
        last = clause
    if name:
        yield name


def _side_by_side(name: Sequence[_Need], unit: _Unit) -> bool:
    """Whether the parts of a name stand within a few words of each other."""
    for first in unit.at(name[0].keys):
        near = unit.words[max(0, first - len(name) - 2) : first + len(name) + 3]
        keys = frozenset(chain.from_iterable(word.keys for word in near)) | unit.about
        if all(part.keys & keys for part in name):
            return True
    return False


def _together(statement: _Statement, wanted: Sequence[_Need], context: Sequence[_Need], read: _Read) -> list[_Unit]:
    """The fewest neighbouring sentences with all that is wanted; else such for each clause; empty where one has none."""
    words = [word for word in statement.words if word.kind in _TELLING]
    if (window := _window(wanted, words, context, read)) is not None:
        return window
    units: dict[int, _Unit] = {}
    for clause in dict.fromkeys(need.clause for need in wanted):
        window = _window([need for need in wanted if need.clause == clause], words, context, read)
        if window is None:
            return []
        units.update({unit.number: unit for unit in window})
    return list(units.values())


_SAME = 0.8
"""What a word that both have counts when sentences are chosen."""


def _window(
    wanted: Sequence[_Need], words: Sequence[Word], context: Sequence[_Need], read: _Read
) -> list[_Unit] | None:
    best: tuple[float, int, int] | None = None
    for first in read.with_any(wanted):
        for size in range(1, _WIDEST + 1):
            units = read.units[first : first + size]
            if len(units) < size or units[-1].source != units[0].source:
                break
            keys = frozenset().union(*(unit.keys for unit in units), units[0].about)
            if all(need.keys & keys for need in wanted):
                near = sum(_weight(need) / (1 + (need.clause < 0)) for need in context if need.keys & keys)
                near += _SAME * sum(bool(word.keys & keys) for word in words)
                score = (near - 0.6 * size, -first, size)
                best = max(best, score) if best else score
    return None if best is None else read.units[-best[1] : -best[1] + best[2]]


def _weight(need: _Need) -> float:
    return 0.6 if need.word.kind == "name" else 1.5 if is_relation(need.word) else 1.0


# ------------------------------------------------------------------------------------------------------------- rivals

_MARGINS = {"name": (1.25, 0.12), "said": (1.15, 0.1), "number": (1.1, 0.05), "date": (1.1, 0.05), "word": (1.1, 0.05)}
"""How much nearer a rival must be: times, and more."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A word of a statement and what is said ``about`` it; where a text has it nearest to that, and how near."""

    need: _Need
    statement: _Statement
    about: Sequence[_Need]
    unit: _Unit
    at: int
    near: float

    @property
    def clause(self) -> frozenset[str]:
        """The keys of the clause of the text: what stands there is no rival of a name."""
        return _beside(self.unit, self.at)


def _rival(statement: _Statement, context: Sequence[_Need], units: Sequence[_Unit], read: _Read) -> str:
    """Why another name, number, date or opposite than the answer's is what is meant; empty where none is."""
    denied = {id(statement.words[at]) for at in _negated(statement.words, statement.clauses)}
    for part in [[each] for each in statement.needs if each.word.kind != "name"] + list(_names(statement)):
        is_new = part[-1].is_hard and (not any(each.given for each in part) or _says_more(part[-1], statement))
        if id(part[-1].word) in denied or not (is_new or opposites(part[-1].keys)):
            continue
        claim = _claim(part, statement, context, units, read)
        if claim and (rival := _nearer(claim, read)):
            said = " ".join(dict.fromkeys(each.word.plain for each in claim.about))
            return f'"{claim.need.word.plain}" was not found with "{said}", but "{rival}" was.'
    return ""


def _says_more(need: _Need, statement: _Statement) -> bool:
    """Whether the clause of a name has a verb that the question has not."""
    own = (each for each in statement.needs if each.clause == need.clause and not each.given)
    return any(each.word.kind == "word" and is_relation(each.word) and not _is_unit(each.word) for each in own)


def _claim(
    part: Sequence[_Need], statement: _Statement, context: Sequence[_Need], units: Sequence[_Unit], read: _Read
) -> _Claim | None:
    need = part[-1]
    about = _about(need, statement, context)
    keys = frozenset(chain.from_iterable(each.keys for each in part))
    found = [(_nearness(unit, at, about, read), unit, at) for unit in units for at in unit.at(keys)]
    if not about or not found:
        return None
    near, unit, at = max(found, key=lambda each: each[0])
    decisive = [each for each in about if not _is_unit(each.word) and opposites(each.keys) & unit.keys]
    if need.word.kind == "number" and decisive:
        about, near = decisive, _nearness(unit, at, decisive, read)
    return _Claim(need, statement, about, unit, at, near)


def _nearer(claim: _Claim, read: _Read) -> str:
    """A word that could stand in the place of the claim's and is clearly nearer to what is said about it."""
    times, more = _MARGINS["said" if _says(claim.need, claim.statement) else claim.need.word.kind]
    whole = sum(map(_weight, claim.about))
    for number in read.with_any(claim.about):
        unit = read.units[number]
        is_here = unit is claim.unit
        if _said(unit, claim.about) < (_HALF if is_here else _NEARLY_ALL) * whole:
            continue
        for at, word in enumerate(unit.words):
            if _rivals(word, claim) and not (word.kind == "name" and claim.need.keys & _around(unit, at)):
                if is_here and not _other_clause(claim, at):
                    continue
                if _nearness(unit, at, claim.about, read) > times * claim.near + more:
                    return word.plain
    return ""


def _other_clause(claim: _Claim, at: int) -> bool:
    """For a bare name: whether the question's verb is in the clause of the word at ``at``, and another in its own."""
    if claim.need.word.kind != "name" or _says(claim.need, claim.statement):
        return True
    unit, clause = claim.unit, claim.unit.clauses[claim.at]
    own = [word for word, number in zip(unit.words, unit.clauses, strict=True) if number == clause]
    verbs = frozenset(chain.from_iterable(each.keys for each in claim.about if is_relation(each.word)))
    has_verb = any(word.kind == "word" and is_relation(word) and not word.keys & verbs for word in own)
    return has_verb and not verbs & claim.clause and bool(verbs & _beside(unit, at))


_NEARLY_ALL, _HALF = 0.7, 0.45
"""Of what is said about a word, the share that a sentence must have for another word of it to be a rival; less in the
sentence that has the word too."""


def _said(unit: _Unit, about: Sequence[_Need]) -> float:
    """How much of what is said about a word a sentence has, its title included."""
    return sum(_weight(each) for each in about if (each.keys | converses(each.keys)) & (unit.keys | unit.about))


def _beside(unit: _Unit, at: int) -> frozenset[str]:
    """The keys of the clause of a word: what stands there is no rival of it."""
    clause = unit.clauses[at]
    return frozenset(chain.from_iterable(w.keys for w, c in zip(unit.words, unit.clauses, strict=True) if c == clause))


def _around(unit: _Unit, at: int) -> frozenset[str]:
    return frozenset(chain.from_iterable(word.keys for word in unit.words[max(0, at - 2) : at + 3]))


def _about(need: _Need, statement: _Statement, context: Sequence[_Need]) -> list[_Need]:
    """What the statement says about ``need``: its clause; without a verb there, what the question says too."""
    own = [each for each in statement.needs if each.clause == need.clause and not _is_like(each.word, need.word)]
    if not need.is_hard:
        return [each for each in own if each.is_hard] or own
    is_number = need.word.kind == "number"
    after = next((each.word for each in statement.needs if is_number and each.word.start > need.word.end), None)
    if any(each.word.kind == "word" and not _is_unit(each.word) and each.word is not after for each in own):
        return own
    return [*own, *(each for each in context if each not in own and (each.given or not _is_like(each.word, need.word)))]


def _says(need: _Need, statement: _Statement) -> bool:
    """Whether the clause of a word has a verb."""
    others = (each for each in statement.needs if each.clause == need.clause and each.word is not need.word)
    return any(each.word.kind == "word" and is_relation(each.word) and not _is_unit(each.word) for each in others)


def _is_unit(word: Word) -> bool:
    return bool(word.keys & _UNIT_KEYS)


_UNIT_KEYS = frozenset(
    f"={unit}"
    for unit in "percent euro dollar pound yen metre kilometre centimetre millimetre gram kilogram milligram litre mile "
    "hectare tonne hour minute second celsius day week month year".split()
)


def _is_like(one: Word, other: Word) -> bool:
    return one is other or (one.kind in _HARD and _same_kind(one, other))


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
    if not _same_kind(word, need.word) or word.keys & need.keys or _is_date(word) != _is_date(need.word):
        return False
    is_family = any(key[0] == "=" for key in word.keys) and not any(key[0] == "=" for key in need.keys)
    if need.word.kind == "name" and (is_family or word.keys & (claim.clause | claim.unit.about)):
        return False  # "American" is no name of its own; and what stands in the same clause is something else
    said = _says(need, statement)
    if word.keys & statement.given and not (said and any(each.word.kind == "name" for each in claim.about)):
        return False
    return not any(word.keys & each.keys for each in others if not said or each.clause == need.clause)


def _nearness(unit: _Unit, at: int, about: Sequence[_Need], read: _Read) -> float:
    """How near the word at ``at`` is to what is said about it, from 0."""
    total = 0.0
    for need in about:
        found = unit.at(need.keys) or unit.at(converses(need.keys))
        if found:
            near = min(_distance(unit, at, each) for each in found)
            total += _weight(need) / (1 + 0.25 * near)
        elif need.keys & unit.about:
            total += 0.3 * _weight(need)
        elif any(need.keys & other.keys for other in _neighbours(unit, read)):
            total += 0.2 * _weight(need)
    return total


def _distance(unit: _Unit, one: int, other: int) -> float:
    low, high = sorted((one, other))
    between = sum(word.kind != "little" for word in unit.words[low + 1 : high])
    return between + 3 * abs(unit.clauses[one] - unit.clauses[other])


def _neighbours(unit: _Unit, read: _Read) -> list[_Unit]:
    around = read.units[max(0, unit.number - 1) : unit.number + 2]
    return [each for each in around if each.source == unit.source and each is not unit]


# ---------------------------------------------------------------------------------------------------- order, negation


def _reversed(statement: _Statement, units: Sequence[_Unit]) -> str:
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
        orders = [_order(_name_keys(words, left, -1), word, _name_keys(words, right, 1), unit) for unit in units]
        known = [each for each in orders if each is not None]
        if known and all(same == (passive != by) for same, by in known):
            return f'What was read says it the other way round: "{word.plain}".'
    return ""


def _other_agent(statement: _Statement, units: Sequence[_Unit]) -> str:
    """Why somebody else did it: the text names whom it was done by."""
    words = statement.words
    for at, word in enumerate(words):
        if word.kind != "word" or not is_relation(word):
            continue
        said = _agent(words, None, at) or _name_keys(words, at - 1, -1)
        done = [_agent(unit.words, unit.clauses, n) for unit in units for n in unit.at(word.keys)]
        if said and done and all(by and not by & said for by in done):
            return f'What was read says that somebody else did it: "{word.plain}".'
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


def _order(left: frozenset[str], verb: Word, right: frozenset[str], unit: _Unit) -> tuple[bool, bool] | None:
    """Whether a text has the two names in the same order round the verb, and whether in the passive voice."""
    for keys, turned in ((verb.keys, False), (converses(verb.keys), True)):
        for at in unit.at(keys):
            if unit.words[at].plain.endswith(_AGENTS):
                continue
            lefts, rights = unit.at(left), unit.at(right)
            if (any(n < at for n in lefts) or (not lefts and left & unit.about)) and any(n > at for n in rights):
                return not turned, _passive(unit.words, at, min(n for n in rights if n > at))
            if any(n > at for n in lefts) and (any(n < at for n in rights) or (not rights and right & unit.about)):
                return turned, _passive(unit.words, at, min(n for n in lefts if n > at))
    return None


def _passive(words: Sequence[Word], verb: int, last: int) -> bool:
    return any(word.plain in _BY for word in words[verb + 1 : last])


def _denied(statement: _Statement, context: Sequence[_Need], units: Sequence[_Unit], read: _Read) -> str:
    """Why the text denies what is said, says what is denied, or says the opposite."""
    ours = {id(statement.words[n]) for n in _negated(statement.words, statement.clauses)}
    there = {unit.number: _negated(unit.words, unit.clauses) for unit in units}
    mine: list[_Need] = []
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
            return f"What was read denies it: {_quoted([need])}"
    if mine and not agreed:
        return f"What was read does not deny it: {_quoted(mine)}"
    return _opposite(statement.needs, units)


def _opposite(needs: Sequence[_Need], units: Sequence[_Unit]) -> str:
    for need in needs:
        if not any(need.keys & (unit.keys | unit.about) for unit in units):
            against = opposites(need.word.keys)
            if any(against & unit.keys for unit in units):
                return f"What was read says the opposite of {need.word.plain}."
    return ""


def _negated(words: Sequence[Word], clauses: Sequence[int]) -> set[int]:
    """The words that come after a "not" in its clause."""
    found: set[int] = set()
    for at, word in enumerate(words):
        away = word.plain == "out" and [w.plain for w in words[at + 1 : at + 2]] == ["of"]
        if word.kind == "not" or (away and (at == 0 or words[at - 1].kind != "number")):
            found.update(n for n in range(at + 1, min(len(words), at + 9)) if clauses[n] == clauses[at])
    return found


def _yes_or_no(begins: re.Match[str], question: str, asked: Sequence[Word], read: _Read) -> Support:
    """A bare yes: the question's own words stand in the text; a bare no: they do, and the text denies or lacks some."""
    needs = tuple(_Need(word, keys, True, 0) for word in asked if not is_generic(word) for keys in word.needs)
    statement = _Statement(tuple(asked), (0,) * len(asked), needs)
    names = [need for need in needs if need.is_hard]
    if not needs or any(not read.has(need.keys) for need in names):
        return Support(why=f"{_quoted(names)} not found in what was read.")
    lacking = [need for need in needs if not read.has(need.keys)]
    units = _together(statement, [need for need in needs if need not in lacking], [], read)
    denied = bool(units) and bool(_denied(statement, [], units, read))
    if begins["yes"] and (denied or len(lacking) > 0.5 * len(needs)):
        return Support(why="What was read does not say so.")
    if begins["no"] and units and not (denied or lacking):
        return Support(why="What was read says that it is so.")
    units = units or [read.units[n] for n in read.with_any(names)[:1]]
    return Support(tuple((unit.source, Place(unit.start, unit.end, exact=False)) for unit in units))


def _quoted(needs: Sequence[_Need]) -> str:
    words = list(dict.fromkeys(need.word.plain for need in needs))
    return ", ".join(f'"{word}"' for word in words) + (" was" if len(words) == 1 else " were")
