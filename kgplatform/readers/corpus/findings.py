"""What all parts say, put together: statements in the order of the tree, and things that are counted, each once.

    united = Findings…
    united.things[0].name, united.things[0].facts      # ids of facts

Things are united and counted here and not by the model, which adds up badly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from kgplatform.places import find_names
from kgplatform.readers.answer_old import cite_words
from kgplatform.readers.corpus.parts import Part
from kgplatform.readers.corpus.replies import Findings, Item, Point
from kgplatform.readers.statements import Source
from kgplatform.readers.support import known_only
from kgplatform.records import FoundPassage
from kgplatform.retrieve.communities import GroupFact
from kgplatform.text import WORD_RUN, normalise_name, tidy

_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|le|la|les|el|los|las|il|lo|gli)\s+(?=\S)|^l['’](?=\S)")
_TELLING = re.compile(r"[^\W\d_]*[A-ZÀ-ÖØ-Þ]|\d")
"""A capital or a digit: what is called so is a name or a number."""

_SHORTEST = 3
"""Letters of a word that can show that two texts speak of the same."""


@dataclass(frozen=True, slots=True)
class Statement:
    """``text`` and the ids of the facts that it rests on; ``score``: 0 to 100."""

    text: str
    facts: tuple[str, ...]
    score: int = 0


@dataclass(slots=True)
class Grounded:
    """What a part says that rests on its facts, and how much the model said beside that."""

    statements: list[Statement] = field(default_factory=list)
    things: list[Statement] = field(default_factory=list)
    groundless: int = 0


def grounded(found: Findings, part: Part, question: str) -> Grounded:
    """The points that help at all and the items of a part, with the facts that the part shows under their numbers.

    A point without such a number rests on the facts that have its words; of every point, sentences with a name, number
    or date that neither the ``question`` nor a fact of the part has are left out. A thing must be named in a fact, if
    what it is called is a name or a number. What rests on nothing is counted.
    """
    taken = Grounded()
    for point in found.points:
        if point.score > 0:
            _take(taken, taken.statements, Statement(*_said(point, part, question), point.score))
    for item in found.items:
        _take(taken, taken.things, Statement(tidy(item.name), _naming(item, part)))
    return taken


def _said(point: Point, part: Part, question: str) -> tuple[str, tuple[str, ...]]:
    """What of a point the facts of its part have, first of all those that it names, and the ids of its facts."""
    facts, text = _facts_of(point, part), tidy(point.point)
    named = [Source(fact.text) for fact in part.facts if fact.id in facts]
    if known_only(question, text, named)[0] != text:
        text, _ = known_only(question, text, [Source(fact.text) for fact in part.facts])
    return text, facts if text else ()


def _take(taken: Grounded, into: list[Statement], statement: Statement) -> None:
    if statement.facts:
        into.append(statement)
    else:
        taken.groundless += 1


def _facts_of(point: Point, part: Part) -> tuple[str, ...]:
    chosen = _numbered(point.facts, part.facts)
    if chosen:
        return tuple(fact.id for fact in chosen)
    return tuple(cited.passage for cited in cite_words(point.point, [_as_passage(fact) for fact in part.facts]))


def _naming(item: Item, part: Part) -> tuple[str, ...]:
    """The facts that were given and name the thing; else those of the part that do; else, of what has no name, those
    that were given."""
    given = _numbered(item.facts, part.facts)
    for facts in (given, part.facts):
        naming = [fact for fact in facts if find_names(item.name, fact.text)]
        if naming:
            return tuple(fact.id for fact in naming)
    shared = [fact for fact in given if _words(item.name) & _words(fact.text)]
    return tuple(fact.id for fact in (shared if _TELLING.search(item.name) else given))


def _numbered(numbers: Iterable[int], facts: Sequence[GroupFact]) -> list[GroupFact]:
    return [facts[number - 1] for number in numbers if 1 <= number <= len(facts)]


def _as_passage(fact: GroupFact) -> FoundPassage:
    return FoundPassage(fact.id, "", "", 0, len(fact.text), None, fact.text, 0.0, ())


def _words(text: str) -> set[str]:
    return {word for word in WORD_RUN.findall(normalise_name(text)) if len(word) >= _SHORTEST}


def unite(statements: Iterable[Statement]) -> list[Statement]:
    """Each thing or statement once, by its words but for case, article and end mark; the facts of all that are one."""
    united: dict[str, Statement] = {}
    for each in statements:
        key = _ARTICLE.sub("", normalise_name(each.text).strip(" .,;:\"'“”«»"))
        known = united.get(key)
        if known is None:
            united[key] = each
        else:
            facts = tuple(dict.fromkeys((*known.facts, *each.facts)))
            united[key] = replace(known, facts=facts, score=max(known.score, each.score))
    return list(united.values())
