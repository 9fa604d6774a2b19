"""The statement that a model wrote: read from its form or from free text, and what is copied in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from kgplatform.models.forms import Form, Words, examples_of, is_json, named, thinking
from kgplatform.models.json_text import value_of
from kgplatform.models.lenient import words_of

UNCHANGED = "The statement and its parameters are the same as before."

_FENCED = re.compile(r"```(?:\w+)?[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_BEGINS = re.compile(r"^\s*(?:MATCH|OPTIONAL\s+MATCH|CALL|WITH|UNWIND|RETURN|EXPLAIN|PROFILE|CYPHER)\b", re.MULTILINE)
_ENDS = re.compile(r"\n\s*\n|;\s*(?:\n|\Z)|\n(?=\W*(?:parameters?|params|note|explanation|this)\b)", re.IGNORECASE)
_OBJECT = re.compile(
    r"\W*(?:parameters?|params|parameter|paramètres|:params)\W*?(\{.*?\})\s*(?:```|$)", re.IGNORECASE | re.DOTALL
)
_LINE = re.compile(r"^\W*(?::param\s+)?\$?(\w+)\W*?\s*(?:=>|[:=])[^\S\n]*(.+?)[\s,;`]*$", re.MULTILINE)


def _bare(value: Any) -> str:
    """A statement without what models put round it: a fence, a semicolon at the end."""
    text = words_of(value)
    if fenced := _FENCED.search(text):
        text = fenced[1]
    return text.strip().strip("`").strip().rstrip(";").rstrip()


def _parameters(value: Any) -> dict[str, Any]:
    """Parameters by name: of an object, of a list of pairs or of names with values, of JSON in a text."""
    if isinstance(value, str):
        value = value_of(value)
    if isinstance(value, list):
        pairs: dict[str, Any] = {}
        for each in value:
            if isinstance(each, dict):
                pairs |= {str(each["name"]): each.get("value")} if "name" in each and "value" in each else each
            elif found := _LINE.match(str(each)):
                pairs[found[1]] = found[2].strip("'\"` ")
        value = pairs
    if not isinstance(value, dict):
        return {}
    return {str(name).strip().removeprefix("$"): inner for name, inner in value.items()}


class WrittenStatement(Form):
    """A Cypher statement with its parameters."""

    COUNTS: ClassVar[str] = "statement"
    may_copy: ClassVar[bool] = True  # its parameters tell: ``copied``

    reasoning: Words = thinking(300)
    statement: Annotated[Words, BeforeValidator(_bare)] = named(
        "statement cypher query cypher_query cypher_statement abfrage requête", most=2000
    )
    parameters: Annotated[dict[str, Any], BeforeValidator(_parameters), WithJsonSchema({"type": "object"})] = named(
        "parameters params parameter arguments", {}
    )

    @property
    def asks(self) -> dict[str, Any]:
        """What it asks of the graph: all but the reasoning."""
        return self.model_dump(exclude={"reasoning"})

    @classmethod
    def free(cls, text: str) -> WrittenStatement | None:
        """Free text: the last statement in a fence, else the last that begins a line."""
        if is_json(text, ("statement", "cypher", "query")):
            return None
        fenced = [each for each in _FENCED.findall(text) if _BEGINS.search(each)]
        statement = fenced[-1] if fenced else _in_lines(text)
        if not statement:
            return None
        rest = text.replace(statement, "\n", 1)
        return cls.of(statement=statement, parameters=dict(_given(rest, statement)))


NOT_WRITTEN = WrittenStatement(statement="", parameters={})


def _in_lines(text: str) -> str:
    starts = [found.start() for found in _BEGINS.finditer(text)]
    blocks = [start for start in starts if not text[:start].strip() or re.search(r"(?:[:：.!]|\n)\s*\Z", text[:start])]
    if not blocks:
        return ""
    first = next(start for start in blocks if not _ENDS.search(text[start : blocks[-1]]))
    return _ENDS.split(text[first:].lstrip(), maxsplit=1)[0]


def _given(text: str, statement: str) -> Iterator[tuple[str, Any]]:
    """The parameters of ``statement`` that the text beside it gives."""
    wanted = set(re.findall(r"\$(\w+)", statement))
    for found in _OBJECT.finditer(text):
        yield from _parameters(found[1]).items()
    for name, said in _LINE.findall(text):
        if name in wanted:
            value = value_of(said) if said[:1] in "[{" else said.strip("'\"` ")
            yield name, value


def copied(written: WrittenStatement, asked: str) -> str:
    """What of ``written`` is from the examples of its prompt and not in what was ``asked``; empty for nothing."""
    examples = {
        value
        for example in examples_of("cypher/write")
        for value in example.get("parameters", {}).values()
        if isinstance(value, str) and value[:1].isupper()
    }
    shown, said = asked.casefold(), json.dumps(written.asks)
    taken = [value for value in examples if value.casefold() not in shown and value in said]
    return f"{', '.join(sorted(taken))}: that is of the examples, and not of the question." if taken else ""
