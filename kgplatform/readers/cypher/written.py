"""The statement that a model wrote: and what is copied in it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, ClassVar

from kgplatform.models.forms import Form, text
from kgplatform.prompt import source_of

UNCHANGED = "The statement and its parameters are the same as before."


class WrittenStatement(Form):
    """A Cypher statement with its parameters."""

    MAY_COPY: ClassVar[bool] = True  # its parameters tell: ``copied``

    reasoning: str = text(300)
    statement: str = text(2000, ...)
    parameters: dict[str, Any] = {}

    @property
    def asks(self) -> dict[str, Any]:
        """What it asks of the graph: all but the reasoning."""
        return self.model_dump(exclude={"reasoning"})


NOT_WRITTEN = WrittenStatement(statement="", parameters={})


def copied(written: WrittenStatement, asked: str) -> str:
    """What of ``written`` is from the examples of its prompt and not in what was ``asked``; empty for nothing."""
    examples = _names_of_examples()
    shown, said = asked.casefold(), json.dumps(written.asks)
    taken = [value for value in examples if value.casefold() not in shown and value in said]
    return f"{', '.join(sorted(taken))}: that is of the examples, and not of the question." if taken else ""


@cache
def _names_of_examples() -> frozenset[str]:
    lines = (line for line in source_of("cypher/write").replace("$$", "$").splitlines() if line.startswith("{"))
    values = (value for line in lines for value in json.loads(line)["parameters"].values())
    return frozenset(value for value in values if isinstance(value, str) and value[:1].isupper())
