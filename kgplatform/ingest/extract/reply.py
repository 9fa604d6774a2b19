"""A model's reply to the prompt for an extraction: the form that its server is asked for, and how it is read.

The form is bounded, so that a small model cannot run on. Reading is not: ``contents`` and ``shape`` keep what they can
of any JSON, and of several values in a row; headings and lists, or YAML, are the last way.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, GetJsonSchemaHandler, RootModel, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from kgplatform.ingest.extract.contents import contents
from kgplatform.ingest.extract.shape import read_extraction, triple_in_words
from kgplatform.records import Extraction

Name = Annotated[str, Field(json_schema_extra={"maxLength": 100})]
Sentence = Annotated[str, Field(json_schema_extra={"maxLength": 300})]
Elements = Annotated[list[Name], Field(json_schema_extra={"maxItems": 10})]


class EntityForm(BaseModel):
    """A named thing."""

    name: Name
    type: Name


class AttributeForm(BaseModel):
    """A value of an entity."""

    entity: Name
    key: Name
    value: Sentence
    quote: Sentence


class TripleForm(BaseModel):
    """A relation between two entities."""

    subject: Name
    predicate: Name
    object: Name
    quote: Sentence


class FactForm(BaseModel):
    """An atomic fact."""

    text: Sentence
    key_elements: Elements


class ProposalForm(BaseModel):
    """A type that the schema lacks."""

    kind: Literal["entity", "relation", "attribute"]
    name: Name
    confidence: float
    example: Sentence


class FactsForm(BaseModel):
    """What a server is asked for where only atomic facts are wanted."""

    facts: Annotated[list[FactForm], Field(json_schema_extra={"maxItems": 60})]


class ExtractionForm(BaseModel):
    """What a server is asked for. The most items are twice those of any passage of the recordings that we have."""

    entities: Annotated[list[EntityForm], Field(json_schema_extra={"maxItems": 50})]
    attributes: Annotated[list[AttributeForm], Field(json_schema_extra={"maxItems": 20})]
    triples: Annotated[list[TripleForm], Field(json_schema_extra={"maxItems": 50})]
    facts: Annotated[list[FactForm], Field(json_schema_extra={"maxItems": 30})]
    proposals: Annotated[list[ProposalForm], Field(json_schema_extra={"maxItems": 6})]


class ExtractionReply(RootModel[dict[str, Any]]):
    """A model's reply: any JSON that has something of what the prompt asks for, or is empty."""

    joins: ClassVar[bool] = True
    """Several values in one reply are read together."""
    form: ClassVar[type[BaseModel]] = ExtractionForm

    @model_validator(mode="before")
    @classmethod
    def _find_content(cls, raw: object) -> dict[str, Any]:
        content = contents(raw)
        if not content and raw not in ({}, []):
            raise ValueError(f"the reply has none of the keys {', '.join(cls.form.model_fields)}")
        return content

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(cls.form.__pydantic_core_schema__)

    @cached_property
    def extraction(self) -> Extraction:
        """What the reply means."""
        return read_extraction(self.root)


def _is_telling(reply: ExtractionReply) -> ExtractionReply:
    if reply.extraction.is_empty:
        raise ValueError("nothing usable was extracted, although the text says something")
    return reply


class FactsReply(ExtractionReply):
    """A reply to the prompt for atomic facts: ``{"facts": [{"text", "key_elements"}]}``, or the list alone."""

    form: ClassVar[type[BaseModel]] = FactsForm

    @model_validator(mode="before")
    @classmethod
    def _find_facts(cls, raw: object) -> Any:
        return {"facts": raw} if isinstance(raw, list) and not any(map(_has_facts, raw)) else raw


def _has_facts(raw: object) -> bool:
    return isinstance(raw, list | dict) and "facts" in contents(raw)


class FullExtractionReply(ExtractionReply):
    """A reply that says something, as it must of a full passage."""

    _check = model_validator(mode="after")(_is_telling)


class FullFactsReply(FactsReply):
    """The same of atomic facts."""

    _check = model_validator(mode="after")(_is_telling)


_HEADING = re.compile(r"(?:#+|\d+[.)]|[-*•])?\s*(?P<words>[^\W\d][^:：|()\[\]]{2,40}?)\s*[:：]?")
_BULLET = re.compile(r"\s*(?:[-*•+–]|\d+[.)])\s+|\s*(?=[(\[|])")
_TYPED = re.compile(
    r"(?P<name>[^()（）:：]+?)\s*"
    r"(?:[(（](?P<type>[^()（）]+)[)）]|[:：–—]\s*(?P<kind>[^.:：]{2,40})|\s-\s(?P<word>\w[\w ]{1,30}))\s*"
)
"""Of "Ada (Person)", "Ada: Person" and "Ada - Person" the name and the type."""


def read_prose(text: str, shape: type[ExtractionReply]) -> ExtractionReply | None:
    """A reply without JSON: lists under headings such as "Entities". None if nothing is there."""
    content = contents(_from_headings(text))
    try:
        return shape.model_validate(content) if content else None
    except ValueError:
        return None


def _from_headings(text: str) -> dict[str, list[Any]]:
    """The items of lists under headings that say what they are."""
    found: dict[str, list[Any]] = {}
    under: str | None = None
    for line in text.splitlines():
        plain = line.replace("**", "").replace("`", "").strip()
        heading = _HEADING.fullmatch(plain)
        named = next(iter(contents({heading["words"]: [{}]})), None) if heading else None
        if named:
            under = named
        elif under and (bullet := _BULLET.match(plain)):
            found.setdefault(under, []).append(_item(plain[bullet.end() :].strip(), under))
    return found


def _item(line: str, under: str) -> object:
    if under != "entities":
        return line
    if members := triple_in_words(line):
        return members[:2]
    typed = _TYPED.fullmatch(line)
    return [typed["name"], typed["type"] or typed["kind"] or typed["word"]] if typed else line
