"""What the model finds in a part, and what remains of many statements.

found, _ = ask(calls, messages, Findings, stage="map")
found.points[0].point, found.points[0].facts, found.items[0].name
"""

from __future__ import annotations

from pydantic import Field

from kgplatform.models.forms import Form, items, text

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
