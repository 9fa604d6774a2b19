"""What an answer says, statement by statement, and what was read, sentence by sentence, in telling words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, KeysView, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from kgplatform.readers.families import Word, is_generic, is_relation
from kgplatform.readers.telling import telling
from kgplatform.text.sentences import sentences


@dataclass(frozen=True, slots=True)
class Source:
    """A passage or a fact: what may support a statement. The words of its ``title`` count for all of its sentences."""

    text: str
    title: str = ""


HARD = ("name", "number", "date")

TELLING = (*HARD, "word")

WIDEST = 3
"""Neighbouring sentences that may share the words of a clause."""

_JOINS = frozenset(
    [
        "and",
        "und",
        "et",
        "y",
        "or",
        "oder",
        "ou",
        "which",
        "who",
        "that",
        "whose",
        "where",
        "while",
        "when",
        "but",
        "after",
        "before",
        "because",
        "until",
        "whereas",
    ]
)

_INSIDE = frozenset(["of", "the", "de", "la", "du", "von", "van", "der", "del"])


@dataclass(frozen=True, slots=True)
class Unit:
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
class Need:
    """Something that a statement says: one of ``keys`` must be found. ``given``: the question has it."""

    word: Word
    keys: frozenset[str]
    given: bool
    clause: int

    @property
    def is_hard(self) -> bool:
        return self.word.kind in HARD


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer. ``words``: all; ``needs``: what tells something."""

    words: tuple[Word, ...]
    clauses: tuple[int, ...]
    needs: tuple[Need, ...]
    given: frozenset[str] = frozenset()

    @property
    def required(self) -> list[Need]:
        return [need for need in self.needs if not need.given]


@dataclass
class Texts:
    """All that was read, by sentence. ``where``: the units that have a key."""

    units: list[Unit] = field(default_factory=list)
    where: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    titled: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()

    def has(self, need: frozenset[str]) -> bool:
        return any(key in self.where for key in need) or bool(need & self.titled)

    def with_any(self, needs: Iterable[Need]) -> list[int]:
        return sorted({n for need in needs for key in need.keys for n in self.where.get(key, ())})


def read_texts(sources: Sequence[Source]) -> Texts:
    read = Texts()
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


def _unit(text: str, source: int, number: int, start: int, end: int, about: frozenset[str]) -> Unit:
    said = text[start:end]
    found = sorted([*telling(said), *_life(said)], key=lambda word: word.start)
    words, clauses = in_clauses(found)
    index: defaultdict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(words):
        for key in word.keys if word.kind != "little" else ():
            index[key].append(at)
    return Unit(source, number, start, end, words, clauses, dict(index), about)


_LIFE = re.compile(r"[(（][^()（）]{0,80}?\d{3,4}\s*(?P<to>[–—-])\s*[^()（）]{0,60}?\d{3,4}[^()（）]{0,20}[)）]")


def _life(said: str) -> Iterator[Word]:
    """Between "(12 May 1302 – 8 January 1361)": born, died."""
    for found in _LIFE.finditer(said):
        (born,), (died,) = telling("born"), telling("died")
        yield replace(born, start=found.start(), end=found.start())
        yield replace(died, start=found.end("to"), end=found.end("to"))


def in_clauses(found: Sequence[Word]) -> tuple[tuple[Word, ...], tuple[int, ...]]:
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


def statements_of(answer: str, given: frozenset[str], common: frozenset[str], read: Texts) -> Iterator[Statement]:
    answer = _ITEM.sub(lambda found: " " * len(found[0]), answer)
    for place in sentences(answer):
        words, clauses = in_clauses(telling(answer[place.start : place.end]))
        words = tuple(_softened(word, n, read.common | common) for n, word in enumerate(words))
        needs = [
            Need(word, keys, bool(keys & given), clause)
            for n, (word, clause) in enumerate(zip(words, clauses, strict=True))
            if word.kind in TELLING and not is_generic(word)
            for keys in word.needs
        ]
        yield Statement(words, clauses, tuple(needs), given | _listed(needs))


def _listed(needs: Sequence[Need]) -> frozenset[str]:
    """The keys of the names of clauses that have nothing but names: items of a list."""
    telling_clauses = {need.clause for need in needs if not need.is_hard}
    return frozenset(chain.from_iterable(need.keys for need in needs if need.clause not in telling_clauses))


def _softened(word: Word, number: int, common: frozenset[str]) -> Word:
    """A word that has its capital from the beginning of a sentence is no name, where a text has it without."""
    is_common = word.keys & common or is_relation(word)
    return replace(word, kind="word", needs=(word.keys,)) if word.kind == "name" and not number and is_common else word


def has_verb(statement: Statement) -> bool:
    return any(need.word.kind == "word" for need in statement.needs)


def context_of(statement: Statement, asked: Sequence[Word], with_question: bool, read: Texts) -> list[Need]:
    """What the statement is about: words that are given, those of the question too."""
    own = [need for need in statement.needs if need.given]
    if not with_question:
        return own
    said = frozenset(chain.from_iterable(need.keys for need in statement.needs))
    more = [
        Need(word, keys, True, -1)
        for word in asked
        if not is_generic(word) and not word.keys & said
        for keys in word.needs
    ]
    return [*own, *more]


def names_of(statement: Statement) -> Iterator[list[Need]]:
    """The names of a statement: words with capitals that follow each other, "of" and the like between them."""
    by_word = {id(need.word): need for need in statement.needs if need.word.kind == "name"}
    name: list[Need] = []
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


def side_by_side(name: Sequence[Need], unit: Unit) -> bool:
    """Whether the parts of a name stand within a few words of each other."""
    for first in unit.at(name[0].keys):
        if name[0].word.keys and all(key[:2] == "c:" for key in name[0].word.keys):
            return all(part.keys & (unit.keys | unit.about) for part in name)
        near = unit.words[max(0, first - len(name) - 2) : first + len(name) + 3]
        keys = frozenset(chain.from_iterable(word.keys for word in near)) | unit.about
        if all(part.keys & keys for part in name):
            return True
    return False


def weight(need: Need) -> float:
    return 0.6 if need.word.kind == "name" else 1.5 if is_relation(need.word) else 1.0


def neighbours(unit: Unit, read: Texts) -> list[Unit]:
    around = read.units[max(0, unit.number - 1) : unit.number + 2]
    return [each for each in around if each.source == unit.source and each is not unit]


def negated(words: Sequence[Word], clauses: Sequence[int]) -> set[int]:
    """The words that come after a "not" in its clause."""
    found: set[int] = set()
    for at, word in enumerate(words):
        away = word.plain == "out" and [w.plain for w in words[at + 1 : at + 2]] == ["of"]
        if word.kind == "not" or (away and (at == 0 or words[at - 1].kind != "number")):
            found.update(n for n in range(at + 1, min(len(words), at + 9)) if clauses[n] == clauses[at])
    return found


def quoted(needs: Sequence[Need]) -> str:
    words = list(dict.fromkeys(need.word.shown for need in needs))
    return ", ".join(f'"{word}"' for word in words) + (" was" if len(words) == 1 else " were")
