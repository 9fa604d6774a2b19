"""The communities of a graph, laid out in parts that fit a prompt, in an order that is the same for every question.

    parts = lay_out(groups.found, 12_000)
    parts[0].text, parts[0].facts[4 - 1].id        # the fact that the part shows as [4]

A community that is larger than what is left of a part goes on in the next one, under its name. What the parts say is
united (``unite``): things are counted here and not by the model, which adds up badly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from pydantic import Field

from kgplatform.models.forms import Form, items, text
from kgplatform.readers.relevance import Asked, stems_of
from kgplatform.readers.window import head, pack, short_name, tokens
from kgplatform.search.communities import Group, GroupFact
from kgplatform.text import counted, normalise_name, tidy

_UNSAID = 50
"""The score of a point that has none."""


class Point(Form):
    """A statement with the numbers of the facts, or statements, that it was made from. ``score``: 0 to 100."""

    point: str = text(600, ...)
    facts: list[int] = items(40)
    score: int = Field(_UNSAID, ge=0, le=100)


class Item(Form):
    """A thing that is counted or listed, with the numbers of the facts that say so."""

    name: str = text(120, ...)
    facts: list[int] = items(10)


class Remaining(Form):
    """The statements that remain of a page of them."""

    points: list[Point] = items(40)


class Findings(Remaining):
    """What a part says about the question."""

    items: list[Item] = items(300)


_WHOLE = 4
"""A community, or what is about one thing, that takes this part of a prompt's room at most is never divided."""

_LINE = 4
"""No line takes more than this part of the room."""

_ALSO = "Also in it: "

_TELLING = 0.3
"""Of a question, in a fact: with so much of it in any, the question speaks of some things, and not of all."""
_LEAST_SHARE = 0.08
"""Of a question, in one fact at least of a thing that it speaks of."""
_LEADING = 10
"""Facts with most of a question, whose names lead on from it."""
_SHORTEST = 4
"""Characters of a name that is looked for in texts."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one prompt shows. ``facts`` and ``groups``: what it numbers, from 1."""

    number: int
    text: str
    facts: tuple[GroupFact, ...]
    groups: tuple[Group, ...]


@dataclass
class _Sheet:
    """A part that is being filled."""

    left: int
    lines: list[str] = field(default_factory=list)
    facts: list[GroupFact] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)


def spoken_of(groups: Sequence[Group], question: str) -> tuple[list[Group], int]:
    """``groups`` with the facts of things that the ``question`` speaks of, and how many others are left out.

    It speaks of those of which a fact has words of it, and of those that the facts with most of it name. Where no fact
    has much of it, it speaks of no one thing: all facts stay.
    """
    facts = [fact for group in groups for fact in group.facts]
    stems = {fact.id: stems_of(fact.text.replace("_", " ")) for fact in facts}
    asked = Asked.among(question, list(stems.values()))
    shares = {fact.id: asked.share(stems[fact.id]) for fact in facts}
    if max(shares.values(), default=0.0) < _TELLING:
        return list(groups), 0
    speaking = [fact for fact in facts if shares[fact.id] >= _LEAST_SHARE]
    best = sorted(speaking, key=lambda fact: -shares[fact.id])[:_LEADING]
    names = {fact.about for fact in facts if len(fact.about) >= _SHORTEST and fact.about not in question}
    led = [name for name in names if any(name in fact.text for fact in best)]
    near = {fact.about for fact in speaking} | {f.about for f in facts if any(name in f.text for name in led)}
    kept = [replace(group, facts=tuple(fact for fact in group.facts if fact.about in near)) for group in groups]
    return [group for group in kept if group.facts], sum(fact.about not in near for fact in facts)


def lay_out(groups: Iterable[Group], room: int) -> list[Part]:
    """``groups`` in parts of at most ``room`` tokens each. Nothing is left out."""
    sheets = [_Sheet(room)]
    for group in groups:
        _add(group, sheets, room)
    kept = [sheet for sheet in sheets if sheet.lines]
    return [
        Part(number, "\n".join(sheet.lines).strip(), tuple(sheet.facts), tuple(sheet.groups))
        for number, sheet in enumerate(kept, 1)
    ]


def _add(group: Group, sheets: list[_Sheet], room: int) -> None:
    # A number has no more digits than the tokens of the room.
    blocks = [
        [(line, fact, _size([line if fact is None else f"[{room}] {line}"])) for line, fact in block]
        for block in _blocks(group, room)
    ]
    needed = sum(cost for block in blocks for *_, cost in block) + _size(_heading(group, sheets[-1], room))
    if needed > sheets[-1].left and needed <= room // _WHOLE:
        sheets.append(_Sheet(room))
    _begin(group, sheets, room)
    for block in blocks:
        together = sum(cost for *_, cost in block)
        for line, fact, cost in block:
            if (cost if together > room // _WHOLE else together) > sheets[-1].left:
                sheets.append(_Sheet(room))
                _begin(group, sheets, room)
            together -= cost
            sheet = sheets[-1]
            sheet.left -= cost
            if fact is not None:
                sheet.facts.append(fact)
            sheet.lines.append(f"[{len(sheet.facts)}] {line}" if fact is not None else line)


def _begin(group: Group, sheets: list[_Sheet], room: int) -> None:
    """The heading of ``group``, in a new part where this one has no room for it."""
    heading = _heading(group, sheets[-1], room)
    if _size(heading) > sheets[-1].left and sheets[-1].lines:
        sheets.append(_Sheet(room))
        heading = _heading(group, sheets[-1], room)
    sheet = sheets[-1]
    sheet.groups.append(group)
    sheet.lines += heading
    sheet.left -= _size(heading)


def _heading(group: Group, sheet: _Sheet, room: int) -> list[str]:
    """Its name, and those of the communities around it where they are not the same as before."""
    around = sheet.groups[-1].above if sheet.groups else ()
    new = [_cut(f"= {short_name(name)}: {tidy(said)}", room // _LINE) for name, said in group.above]
    community = group.community
    if not community.name:
        return ["", "# What is in no community"]
    name = f"# {short_name(community.name)}, {counted(community.size, 'member')}"
    return ["", *(new if group.above != around else []), name]


_Line = tuple[str, GroupFact | None]


def _blocks(group: Group, room: int) -> Iterator[list[_Line]]:
    """What is said of a community, what is about one thing together.

    A summary would only repeat its facts.
    """
    most = room // _LINE
    if group.community.summary and not group.facts:
        yield [(_cut(tidy(group.community.summary), most), None)]
    for _, facts in groupby(group.facts, key=lambda fact: fact.about):
        yield [(_cut(tidy(fact.text), most), fact) for fact in facts]
    names = [short_name(each) for each in group.members]
    for line in pack(names, most - tokens(_ALSO)):
        yield [(_cut(f"{_ALSO}{'; '.join(names[place] for place in line)}", most), None)]


def _size(lines: Sequence[str]) -> int:
    return sum(tokens(line) + 1 for line in lines)


def _cut(line: str, most: int) -> str:
    end = head(line, most)
    return line if end == len(line) else f"{line[:end].rstrip()}…"


_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|le|la|les|el|los|las|il|lo|gli)\s+(?=\S)|^l['’](?=\S)")


@dataclass(frozen=True, slots=True)
class Statement:
    """``text`` and the ids of the facts that it rests on; ``score``: 0 to 100."""

    text: str
    facts: tuple[str, ...]
    score: int = 0


def said_in(found: Findings, part: Part) -> tuple[list[Statement], list[Statement]]:
    """The points of a reply to ``part`` that help at all, and its items, with the facts that they name by number."""

    def ids(numbers: Iterable[int]) -> tuple[str, ...]:
        shown = (part.facts[number - 1].id for number in numbers if 1 <= number <= len(part.facts))
        return tuple(dict.fromkeys(shown))

    points = [Statement(tidy(each.point), ids(each.facts), each.score) for each in found.points]
    things = [Statement(tidy(each.name), ids(each.facts)) for each in found.items]
    return [each for each in points if each.score > 0], things


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
