"""A model's reply to the prompts for an extraction: the form that its server is asked for, and what reads it.

Each item is a short list of texts, the first of a statement the number of the sentence that states it: the fewest
tokens that a strict schema of any server allows (docs/explanation/benchmarks/extraction.md). The form is bounded, so
that a small model cannot run on; reading is not.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field, GetJsonSchemaHandler, RootModel, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from kgplatform.ingest.extract.shape import contents


def _bounded(**bounds: int) -> Any:
    return Field(json_schema_extra=dict[str, Any](bounds))


Name = Annotated[str, _bounded(maxLength=100)]
Value = Annotated[str, _bounded(maxLength=150)]
Words = Annotated[str, _bounded(maxLength=300)]
Statement = Annotated[list[Value], _bounded(minItems=6, maxItems=6)]
"""Sentence; subject, its type, relation, object, its type; or entity, its type, key, value, "value"."""
Proposed = Annotated[list[Name], _bounded(minItems=4, maxItems=4)]
"""Kind, name, confidence, sentence."""
Fact = Annotated[list[Words], _bounded(minItems=2, maxItems=8)]
"""Sentence; the fact, or nothing where the sentence is it; key elements."""


class FactsForm(BaseModel):
    """What a server is asked for where only atomic facts are wanted."""

    facts: Annotated[list[Fact], _bounded(maxItems=60)]


class ExtractionForm(BaseModel):
    """What a server is asked for. Entities are what the statements name, with their types, and atomic facts are the
    sentences: asked for too, facts are half of all tokens, and a small model goes round in a list of entities."""

    statements: Annotated[list[Statement], _bounded(maxItems=60)]
    proposals: Annotated[list[Proposed], _bounded(maxItems=6)]


class ExtractionReply(RootModel[dict[str, Any]]):
    """Any JSON that has something of what the prompt asks for, or is empty; ``shape.read_extraction`` reads it."""

    form: ClassVar[type[BaseModel]] = ExtractionForm

    @model_validator(mode="before")
    @classmethod
    def _find_content(cls, raw: object) -> dict[str, Any]:
        content = cls.found_in(raw) or ({"facts": []} if raw in ({}, []) else {})
        if not content:
            raise ValueError(f"the reply has none of the keys {', '.join(cls.form.model_fields)}")
        return content

    @classmethod
    def found_in(cls, raw: object) -> dict[str, Any]:
        """The content of a reply."""
        return contents(raw)

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(cls.form.__pydantic_core_schema__)


class FactsReply(ExtractionReply):
    """A reply to the prompt for atomic facts: those, or the list of them alone."""

    form: ClassVar[type[BaseModel]] = FactsForm

    @classmethod
    def found_in(cls, raw: object) -> dict[str, Any]:
        content = contents(raw)
        return content if "facts" in content else {"facts": raw} if isinstance(raw, list) else {}
