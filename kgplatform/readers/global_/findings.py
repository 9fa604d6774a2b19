"""What all parts say, put together: statements in the order of the tree, and things that are counted, each once.

    united = unite(things)
    united[0].text, united[0].facts      # ids of facts

Things are united and counted here and not by the model, which adds up badly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kgplatform.readers.global_.parts import Part
from kgplatform.readers.global_.replies import Findings
from kgplatform.text import normalise_name, tidy

_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|le|la|les|el|los|las|il|lo|gli)\s+(?=\S)|^l['’](?=\S)")


@dataclass(frozen=True, slots=True)
class Statement:
    """``text`` and the ids of the facts that it rests on; ``score``: 0 to 100."""

    text: str
    facts: tuple[str, ...]
    score: int = 0


@dataclass(frozen=True, slots=True)
class Said:
    """What a part says: ``statements`` that help at all, and ``things``, with the facts that it names by number."""

    statements: tuple[Statement, ...] = ()
    things: tuple[Statement, ...] = ()

    @classmethod
    def of(cls, found: Findings, part: Part) -> Said:
        """The points and items of a reply to ``part``."""
        points = (Statement(tidy(each.point), _ids(each.facts, part), each.score) for each in found.points)
        things = (Statement(tidy(each.name), _ids(each.facts, part)) for each in found.items)
        return cls(tuple(each for each in points if each.score > 0), tuple(things))

    @property
    def facts(self) -> tuple[str, ...]:
        """The ids of all facts, each once."""
        return tuple(dict.fromkeys(fact for each in (*self.statements, *self.things) for fact in each.facts))


def _ids(numbers: Iterable[int], part: Part) -> tuple[str, ...]:
    shown = (part.facts[number - 1].id for number in numbers if 1 <= number <= len(part.facts))
    return tuple(dict.fromkeys(shown))


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
