"""What the tools of the MCP server give back, by name; each is an object whose ``note`` says what was left out."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Objects = list[dict[str, Any]]


class Result(BaseModel):
    """The fields of a result; there may be more."""

    model_config = ConfigDict(extra="allow")

    note: str = Field("", description="What was left out or is to be known, and how to get more.")


class SearchFound(Result):
    """Passages and facts, best first."""

    passages: Objects = Field(description="id, document (URI), title, characters [start, end), page, text, score")
    facts: Objects = Field(description="id, text, and the places that state it")


class Answered(Result):
    """An answer, or the evidence where no language model is configured."""

    answer: str | None = Field(description="None without a language model: the evidence speaks then.")
    citations: Objects = Field(description="In the order of their numbers: document (URI), title, [start, end), quote")
    passages: Objects = Field(description="The evidence, best first; only where there is no answer.")


class TextRead(Result):
    """A span of a document."""

    text: str
    start: int
    end: int
    characters: int = Field(description="Of the whole document.")
    next: int | None = Field(description="Where to read on; None at the end.")


class NodesFound(Result):
    """Nodes of the graph."""

    nodes: Objects = Field(description="id, name, kind, type, text, degree")


class Neighbours(NodesFound):
    """A node with its neighbours, and the edges among all of them."""

    edges: Objects = Field(description="source and target (ids of nodes), type, label, fact (id)")
    more: int = Field(description="How many neighbours were left out.")


class Communities(Result):
    """Nodes of the knowledge tree."""

    communities: Objects = Field(description="id, name, summary, kind, size, depth, children")
    next_offset: int | None


class Community(Result):
    """A community, or another node, with what belongs to it."""

    node: dict[str, Any]
    members: Objects
    facts: Objects


class RowsRead(Result):
    """Rows of a statement."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool = Field(description="Whether there are more rows.")


class SchemaShown(Result):
    """What there is to ask for."""

    graph: str = Field(description="Labels, types, relations and properties with counts and examples, for Cypher.")
    schema_: dict[str, Any] | None = Field(alias="schema", description="What the extraction was bounded by.")


class Documents(Result):
    """Documents by name."""

    documents: Objects
    total: int
    next_offset: int | None


class Counts(Result):
    """How much of everything there is."""

    nodes: dict[str, int]
    relationships: dict[str, int]
