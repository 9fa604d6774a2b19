"""The tools of the MCP server that read. Each asks the client of the platform, and bounds what it gives back."""

from __future__ import annotations

import json
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from kgplatform.client import KnowledgeGraph
from kgplatform.doors.encoding import as_fields
from kgplatform.doors.mcp import results
from kgplatform.doors.mcp.results import Listener, as_result, in_thread, size
from kgplatform.graph.info import DocumentText
from kgplatform.readers.reader import Option
from kgplatform.readers.readers import READERS, names, options_for
from kgplatform.records import Answer, Citation
from kgplatform.retrieve.search import SEARCHES

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

_QUOTE = 300
_MOST_ROWS = 1000
_LARGEST_OFFSET = 1_000_000_000

Question = Annotated[str, Field(min_length=1, max_length=20_000, description="A question, in words.")]
NodeId = Annotated[str, Field(min_length=1, max_length=2_000, description="The id of a node, as other tools give it.")]
Offset = Annotated[int, Field(ge=0, le=10_000_000, description="How many to skip: next_offset of the page before.")]
Limit = Annotated[int, Field(ge=1, le=200, description="How many at most.")]


def _readers_told() -> str:
    """Who answers, and how, for the description of a tool."""
    return " ".join([f"Who answers; else {names()[0]}.", *(f"{each.name}: {each.about}" for each in READERS)])


def _options_told() -> str:
    """The options of each reader with their defaults, or their types where they have none."""
    told = []
    for reader in READERS:
        shown = (f"{each.name} ({_value_told(each)})" for each in reader.options)
        told.append(f"{reader.name}: {', '.join(shown)}.")
    return " ".join(['Options of the reader, such as {"mode": "open"}; each with its default.', *told])


def _value_told(option: Option) -> str:
    if option.choices and option.type == "string":
        return "|".join(option.choices)
    return option.type if option.default in (None, (), "") else json.dumps(option.default)


class ReadingTools:
    """The tools, over ``graph``; no result is longer than ``most`` characters."""

    def __init__(self, graph: KnowledgeGraph, most: int) -> None:
        self._graph = graph
        self._most = most

    def add_to(self, server: MCPServer[Any]) -> None:
        """Register them."""
        for tool, title in (
            (self.search, "Search the graph"),
            (self.ask, "Ask a reader"),
            (self.read_document, "Read a document"),
            (self.find_nodes, "Find nodes by name"),
            (self.neighbours, "Look at a node's neighbours"),
            (self.communities, "List communities"),
            (self.community, "Look at a community"),
            (self.cypher, "Run a Cypher statement"),
            (self.schema, "Show the schema"),
            (self.documents, "List documents"),
            (self.stats, "Count"),
        ):
            server.add_tool(tool, title=title, annotations=READS)

    async def search(
        self,
        question: Question,
        route: Annotated[
            str, Field(description="Which way to retrieve.", json_schema_extra={"enum": [*SEARCHES]})
        ] = "all",
        top_k: Annotated[int, Field(ge=1, le=100, description="How many passages and facts.")] = 10,
    ) -> Annotated[CallToolResult, results.SearchFound]:
        """Find the passages and facts nearest to a question, with the places in the documents that state them."""
        found = await in_thread(self._graph, lambda graph: graph.search(question, route, top_k))
        shown = {"question": found.question, "passages": found.passages, "facts": found.facts}
        return as_result(shown, self._most, "Ask for fewer with top_k, or read a document from a passage's start.")

    async def ask(
        self,
        question: Question,
        context: Context[Any, Any],
        reader: Annotated[
            str | None, Field(description=_readers_told(), json_schema_extra={"enum": [*names(), None]})
        ] = None,
        options: Annotated[dict[str, Any], Field(description=_options_told())] = {},  # noqa: B006 - a default that the schema shows; nobody changes it
    ) -> Annotated[CallToolResult, results.Answered]:
        """Answer a question from the documents, with citations that were checked against them.

        Without a language model on the server the answer is null and the passages are the evidence.
        """
        listener = Listener(context)

        def ask(graph: KnowledgeGraph) -> dict[str, Any]:
            options_for(reader or names()[0], options)  # refuses what ``ask`` would take for its own
            return _shown(graph, graph.ask(question, reader, on_step=listener.steps(graph.stop), **options))

        shown = await in_thread(self._graph, ask)
        return as_result(shown, self._most)

    async def read_document(
        self,
        document: Annotated[str, Field(min_length=1, max_length=5_000, description="Its id or URI.")],
        start: Annotated[int, Field(ge=0, le=_LARGEST_OFFSET, description="The first character.")] = 0,
        end: Annotated[
            int | None,
            Field(ge=0, le=_LARGEST_OFFSET, description="The character after the last; else as far as fits."),
        ] = None,
    ) -> Annotated[CallToolResult, results.TextRead]:
        """Read characters of a document. To see a citation in its surroundings, begin some hundred before it."""
        last = min(end if end is not None else start + self._most, start + self._most)
        found = await in_thread(self._graph, lambda graph: graph.look.document(document, start, last))
        return as_result(self._fitting(found), self._most)

    async def find_nodes(
        self, name: Annotated[str, Field(min_length=1, max_length=500)], limit: Limit = 20
    ) -> Annotated[CallToolResult, results.NodesFound]:
        """Find people, places, things, documents and communities by what they are called, best first."""
        found = await in_thread(self._graph, lambda graph: graph.look.find(name, limit))
        return as_result({"nodes": found}, self._most)

    async def neighbours(self, id: NodeId, limit: Limit = 50) -> Annotated[CallToolResult, results.Neighbours]:
        """A node, what it is joined with, the strongest first, and the edges among all of these."""
        found = await in_thread(self._graph, lambda graph: graph.look.neighbours(id, limit))
        return as_result(as_fields(found), self._most, "Ask for fewer with limit.")

    async def communities(
        self,
        parent: Annotated[
            str | None, Field(max_length=2_000, description="Below this node; else the top ones.")
        ] = None,
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> Annotated[CallToolResult, results.Communities]:
        """The knowledge tree: communities of things that belong together, and below them keywords and members."""
        found = await in_thread(self._graph, lambda graph: graph.look.tree(parent))
        page, following = found[offset : offset + limit], offset + limit
        shown = {"communities": page, "next_offset": following if following < len(found) else None}
        return as_result(shown, self._most, "Ask for fewer with limit.")

    async def community(self, id: NodeId, limit: Limit = 50) -> Annotated[CallToolResult, results.Community]:
        """What a community is about: its summary and the members that belong to it most."""
        found, members = await in_thread(
            self._graph, lambda graph: (graph.look.community(id), graph.look.members(id, limit))
        )
        return as_result({"node": found.node, "members": members, "facts": found.facts}, self._most)

    async def cypher(
        self,
        statement: Annotated[str, Field(min_length=1, max_length=20_000, description="One statement that reads.")],
        parameters: Annotated[dict[str, Any], Field(description="Values of its $parameters.")] = {},  # noqa: B006 - as above
        limit: Annotated[int, Field(ge=1, le=_MOST_ROWS, description="Most rows.")] = 100,
        timeout: Annotated[float, Field(gt=0, le=60, description="Most seconds.")] = 10.0,
    ) -> Annotated[CallToolResult, results.RowsRead]:
        """Run one read-only Cypher statement. Look at the tool `schema` first; page with SKIP and LIMIT."""
        how = "Return fewer columns, or page with SKIP and LIMIT."
        # In the thread as a whole: values can be large, and others wait for this loop.
        return await in_thread(
            self._graph,
            lambda graph: as_result(_rows(graph, statement, parameters, limit, timeout), self._most, how),
        )

    async def schema(self) -> Annotated[CallToolResult, results.SchemaShown]:
        """What is in the graph: labels, entity types, relations and properties with counts."""
        return as_result(await in_thread(self._graph, _schema), self._most)

    async def documents(self, offset: Offset = 0, limit: Limit = 50) -> Annotated[CallToolResult, results.Documents]:
        """The documents of the graph, by name."""
        found = await in_thread(self._graph, lambda graph: graph.documents())
        following = offset + limit
        shown = {
            "documents": found[offset:following],
            "total": len(found),
            "next_offset": following if following < len(found) else None,
        }
        return as_result(shown, self._most, "Ask for fewer with limit.")

    async def stats(self) -> Annotated[CallToolResult, results.Counts]:
        """How many nodes each label has, and relationships each type."""
        found = await in_thread(self._graph, lambda graph: graph.stats())
        return as_result({"nodes": found.nodes, "relationships": found.relationships}, self._most)

    # ---------------------------------------------------------------------------------------------------------- parts

    def _fitting(self, found: DocumentText) -> dict[str, Any]:
        """As much of a text as fits beside what is said about it, and where to read on."""
        shown = {name: value for name, value in as_fields(found).items() if name != "facts"} | {"next": found.end}
        while (over := size(shown) - self._most) > 0 and shown["text"]:
            shown["text"] = shown["text"][: max(0, len(shown["text"]) - over)]
        shown["end"] = found.start + len(shown["text"])
        shown["next"] = shown["end"] if shown["end"] < found.characters else None
        return shown


def _rows(
    graph: KnowledgeGraph, statement: str, parameters: dict[str, Any], limit: int, timeout: float
) -> dict[str, Any]:
    table = graph.cypher(statement, parameters, guarded=True, limit=limit, timeout=timeout)
    return {"columns": table.columns, "rows": table.rows, "truncated": table.truncated}


def _schema(graph: KnowledgeGraph) -> dict[str, Any]:
    found = graph.schema()
    return {
        "graph": graph.schema_text(),
        "schema": found.schema.to_dict() if found else None,
        "expansions": found.expansions if found else (),
    }


def _shown(graph: KnowledgeGraph, answer: Answer) -> dict[str, Any]:
    return {
        "question": answer.question,
        "reader": answer.reader,
        "answer": answer.text,
        "citations": [_quoted(graph, each) for each in answer.citations],
        "passages": answer.evidence.passages if answer.text is None else (),
        "note": answer.note,
        "usage": answer.usage,
    }


def _quoted(graph: KnowledgeGraph, citation: Citation) -> dict[str, Any]:
    """A citation with the words that it cites."""
    last = min(citation.end, citation.start + _QUOTE)
    quote = graph.look.document(citation.document, citation.start, last).text
    return as_fields(citation) | {"quote": quote + ("…" if last < citation.end else "")}
