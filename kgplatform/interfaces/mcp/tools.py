"""The tools of the MCP server. Each calls the client, and bounds what it returns.

Those that change the graph are offered only if the server was told to write.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from kgplatform import IngestReport
from kgplatform.client import SEARCHES, KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.explore.info import DocumentText
from kgplatform.extract.schema import shipped_schemas
from kgplatform.interfaces.mcp import results
from kgplatform.interfaces.mcp.results import Listener, as_result, in_thread, size
from kgplatform.interfaces.uploads import Uploads, end_abandoned, forget_unused, ingest_uploads
from kgplatform.readers.reader import Option
from kgplatform.readers.readers import READERS, names
from kgplatform.records import Answer
from kgplatform.shown import as_fields
from kgplatform.text import unknown

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
"""None of them only adds: a tree replaces the one before."""

_FEWER = "Ask for fewer with limit."
_LONGEST_TEXT = 2_000_000
_SCHEMAS = shipped_schemas()
_MOST_ROWS = 1000
_LARGEST_OFFSET = 1_000_000_000

QuestionText = Annotated[str, Field(min_length=1, max_length=20_000, description="The question.")]
NodeId = Annotated[str, Field(min_length=1, max_length=2_000, description="The id of a node, from another tool.")]
Offset = Annotated[int, Field(ge=0, le=10_000_000, description="How many to skip: the last reply's next_offset.")]
Limit = Annotated[int, Field(ge=1, le=200, description="At most this many.")]
Where = Annotated[
    dict[str, Any],
    Field(
        description='Only documents with these metadata, such as {"author": "Verne", "year": [1869, 1870]}: a list '
        "names alternatives. `documents` shows what each has."
    ),
]
SchemaName = Annotated[
    str | None,
    Field(
        description="What to extract: a shipped schema. Default: the graph's own, general for a new graph.",
        json_schema_extra={"enum": [*_SCHEMAS, None]},
    ),
]


def _about_readers() -> str:
    """The readers, and what each does, for the description of ``ask``."""
    return " ".join([f"The reader; default: {names()[0]}.", *(f"{reader.name}: {reader.about}" for reader in READERS)])


def _about_options() -> str:
    """The options of each reader with their defaults, or their types if they have none."""
    said = []
    for reader in READERS:
        shown = (f"{option.name} ({_about_value(option)})" for option in reader.options)
        said.append(f"{reader.name}: {', '.join(shown)}.")
    return " ".join(['Options of the reader, such as {"mode": "open"}; each with its default.', *said])


def _about_value(option: Option) -> str:
    if option.choices and option.type == "string":
        return "|".join(option.choices)
    return option.type if option.default in (None, (), "") else json.dumps(option.default)


class ReadingTools:
    """The tools that read ``graph``; no result is longer than ``most`` characters."""

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
            (self.neighbours, "Show a node's neighbours"),
            (self.communities, "List communities"),
            (self.community, "Show a community"),
            (self.cypher, "Run a Cypher statement"),
            (self.schema, "Show the schema"),
            (self.documents, "List documents"),
            (self.stats, "Count nodes and relationships"),
        ):
            server.add_tool(tool, title=title, annotations=READS)

    async def search(
        self,
        question: QuestionText,
        route: Annotated[
            str, Field(description="Which way to search.", json_schema_extra={"enum": [*SEARCHES]})
        ] = "all",
        top_k: Annotated[int, Field(ge=1, le=100, description="Number of passages and facts.")] = 10,
        where: Where = {},  # noqa: B006 - a default that the schema shows; never changed
    ) -> Annotated[CallToolResult, results.SearchFound]:
        """Find the passages and facts nearest to a question, with the places in the documents that state them."""
        return await self._answer(
            lambda graph: _fields(
                graph.search(question, route, top_k, where=where), "question", "fits", "passages", "facts"
            ),
            "Ask for fewer with top_k, or use read_document from a passage's start.",
        )

    async def ask(
        self,
        question: QuestionText,
        context: Context[Any, Any],
        reader: Annotated[
            str | None, Field(description=_about_readers(), json_schema_extra={"enum": [*names(), None]})
        ] = None,
        options: Annotated[dict[str, Any], Field(description=_about_options())] = {},  # noqa: B006 - as above
        where: Where = {},  # noqa: B006 - as above
        verify: Annotated[
            bool, Field(description="Have the model check whether the cited sentences support each statement.")
        ] = False,
    ) -> Annotated[CallToolResult, results.AnswerResult]:
        """Answer a question from the documents and cite the supporting sentences.

        If the server has no language model, the answer is null and the passages are the evidence.
        """
        listener = Listener(context)

        def ask(graph: KnowledgeGraph) -> dict[str, Any]:
            steps = listener.steps(graph.stop)
            return _shown(graph.ask(question, reader, options=options, where=where, verify=verify, on_step=steps))

        return await self._answer(ask)

    async def read_document(
        self,
        document: Annotated[str, Field(min_length=1, max_length=5_000, description="Its id or URI.")],
        start: Annotated[int, Field(ge=0, le=_LARGEST_OFFSET, description="The first character.")] = 0,
        end: Annotated[
            int | None,
            Field(ge=0, le=_LARGEST_OFFSET, description="The character after the last; default: as many as fit."),
        ] = None,
    ) -> Annotated[CallToolResult, results.TextRead]:
        """Read part of a document. To see a citation in context, start a few hundred characters before it."""
        last = min(end if end is not None else start + self._most, start + self._most)
        return await self._answer(lambda graph: self._fitting(graph.look.document(document, start, last)))

    async def find_nodes(
        self, name: Annotated[str, Field(min_length=1, max_length=500)], limit: Limit = 20
    ) -> Annotated[CallToolResult, results.NodesFound]:
        """Find people, places, things, documents and communities by name, best first."""
        return await self._answer(lambda graph: {"nodes": graph.look.find(name, limit)})

    async def neighbours(self, id: NodeId, limit: Limit = 50) -> Annotated[CallToolResult, results.Neighbours]:
        """A node, its neighbours (the strongest first), and the edges among all of them."""
        return await self._answer(lambda graph: as_fields(graph.look.neighbours(id, limit)), _FEWER)

    async def communities(
        self,
        parent: Annotated[
            str | None, Field(max_length=2_000, description="The node to look below; default: the top.")
        ] = None,
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> Annotated[CallToolResult, results.Communities]:
        """A level of the knowledge tree: communities of related entities, or what is in them: keywords and members."""
        return await self._answer(lambda graph: _page("communities", graph.look.tree(parent), offset, limit), _FEWER)

    async def community(self, id: NodeId, limit: Limit = 50) -> Annotated[CallToolResult, results.CommunityShown]:
        """What a community is about: its summary, and its members, the most central first."""
        return await self._answer(
            lambda graph: (
                _fields(graph.look.community(id), "node", "facts") | {"members": graph.look.members(id, limit)}
            )
        )

    async def cypher(
        self,
        statement: Annotated[str, Field(min_length=1, max_length=20_000, description="One read-only statement.")],
        parameters: Annotated[dict[str, Any], Field(description="Values for its $parameters.")] = {},  # noqa: B006 - as above
        limit: Annotated[int, Field(ge=1, le=_MOST_ROWS, description="Most rows.")] = 100,
        timeout: Annotated[float, Field(gt=0, le=60, description="Most seconds.")] = 10.0,
    ) -> Annotated[CallToolResult, results.RowsRead]:
        """Run one read-only Cypher statement. Call `schema` first; page with SKIP and LIMIT."""
        return await self._answer(
            lambda graph: _fields(
                graph.cypher(statement, parameters, guarded=True, limit=limit, timeout=timeout),
                *("columns", "rows", "truncated"),
            ),
            "Return fewer columns, or page with SKIP and LIMIT.",
        )

    async def schema(self) -> Annotated[CallToolResult, results.SchemaShown]:
        """What is in the graph: labels, entity types, relations and properties with counts."""
        return await self._answer(_schema)

    async def documents(self, offset: Offset = 0, limit: Limit = 50) -> Annotated[CallToolResult, results.Documents]:
        """The documents of the graph, by title."""

        def listed(graph: KnowledgeGraph) -> dict[str, Any]:
            found = graph.documents()
            return _page("documents", found, offset, limit) | {"total": len(found)}

        return await self._answer(listed, _FEWER)

    async def stats(self) -> Annotated[CallToolResult, results.Counts]:
        """How many nodes each label has, and relationships each type."""
        return await self._answer(lambda graph: _fields(graph.stats(), "nodes", "relationships"))

    async def _answer(self, work: Callable[[KnowledgeGraph], dict[str, Any]], how: str = "") -> CallToolResult:
        """The result of ``work``, encoded in its thread too: other requests wait for this loop."""
        return await in_thread(self._graph, lambda graph: as_result(work(graph), self._most, how))

    def _fitting(self, found: DocumentText) -> dict[str, Any]:
        """As much of a text as fits, and where to read on."""
        shown = {name: value for name, value in as_fields(found).items() if name != "facts"} | {"next": found.end}
        while (over := size(shown) - self._most) > 0 and shown["text"]:
            shown["text"] = shown["text"][: max(0, len(shown["text"]) - over)]
        shown["end"] = found.start + len(shown["text"])
        shown["next"] = shown["end"] if shown["end"] < found.characters else None
        return shown


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _page(name: str, found: Sequence[object], offset: int, limit: int) -> dict[str, Any]:
    following = offset + limit
    return {name: found[offset:following], "next_offset": following if following < len(found) else None}


def _schema(graph: KnowledgeGraph) -> dict[str, Any]:
    found = graph.schema()
    return {"graph": graph.schema_text(), **(found.to_dict() if found else {"schema": None, "expansions": ()})}


def _shown(answer: Answer) -> dict[str, Any]:
    return {
        "question": answer.question,
        "reader": answer.reader,
        "answer": answer.text,
        "citations": answer.citations,
        "statements": answer.statements,
        "sufficient": answer.sufficient,
        "passages": answer.evidence.passages if answer.text is None else (),
        "note": answer.note,
        "usage": answer.usage,
    }


class WritingTools:
    """The tools that change ``graph``, one call at a time. ``folders``: where files may be read."""

    def __init__(self, graph: KnowledgeGraph, most: int, folders: Sequence[Path]) -> None:
        self._graph = graph
        self._most = most
        self._folders = [folder.resolve() for folder in folders]
        self._uploads = Uploads(graph.settings.home_folder, shares_graph=graph.settings.neo4j_uri is not None)
        self._turn = anyio.Lock()

    def add_to(self, server: MCPServer[Any]) -> None:
        """Register them, after cleaning up what a killed server left."""
        end_abandoned(self._graph, self._uploads)
        server.add_tool(self.ingest_text, title="Add a text", annotations=WRITES)
        if self._folders:
            server.add_tool(self.ingest_path, title="Add files", annotations=WRITES)
        server.add_tool(self.remove_document, title="Remove a document", annotations=WRITES)
        server.add_tool(self.build_tree, title="Build the knowledge tree", annotations=WRITES)

    async def ingest_text(
        self,
        title: Annotated[str, Field(min_length=1, max_length=300, description="The title of the document.")],
        text: Annotated[str, Field(min_length=1, max_length=_LONGEST_TEXT)],
        context: Context[Any, Any],
        schema: SchemaName = None,
    ) -> Annotated[CallToolResult, results.Result]:
        """Add a text to the graph, as a document. It replaces a document of the same title."""
        listener = Listener(context)

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            known, progress = _known(schema), listener.progress(graph.stop)
            staged = self._uploads.stage([(f"{title}.txt", io.BytesIO(text.encode()))], graph.database_id())
            report = ingest_uploads(self._graph, self._uploads, staged, graph.stop, known, progress)
            return _ingested(graph, report, [self._uploads.folder / kept for kept in staged.names])

        return await self._in_turn(work)

    async def ingest_path(
        self,
        path: Annotated[str, Field(min_length=1, max_length=4_000, description="A file or folder on the server.")],
        context: Context[Any, Any],
        schema: SchemaName = None,
    ) -> Annotated[CallToolResult, results.Result]:
        """Update the graph from a file or folder; only below the folders that the server allows."""
        listener = Listener(context)

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            known, file = _known(schema), self._allowed(path)
            report = graph.ingest(file, schema=known, progress=listener.progress(graph.stop))
            return _ingested(graph, report, [file])

        return await self._in_turn(work)

    async def remove_document(
        self, document: Annotated[str, Field(min_length=1, max_length=5_000, description="Its id, URI or title.")]
    ) -> Annotated[CallToolResult, results.Result]:
        """Remove a document, and everything that only it supports."""

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            removed = graph.remove(document)
            forget_unused(self._graph, self._uploads, [info.source for info in removed])
            return {"removed": removed}

        return await self._in_turn(work)

    async def build_tree(self, context: Context[Any, Any]) -> Annotated[CallToolResult, results.Result]:
        """Build or update the knowledge tree."""
        listener = Listener(context)
        return await self._in_turn(lambda graph: {"report": graph.build_tree(progress=listener.progress(graph.stop))})

    async def _in_turn(self, work: Callable[[KnowledgeGraph], dict[str, Any]]) -> CallToolResult:
        async with self._turn:
            return await in_thread(self._graph, lambda graph: as_result(work(graph), self._most))

    def _allowed(self, path: str) -> Path:
        """``path`` without links and dots, if it is below an allowed folder."""
        try:
            file = Path(path).expanduser().resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            file = None
        if file is None or not any(file.is_relative_to(folder) for folder in self._folders):
            allowed = ", ".join(map(str, self._folders))
            raise InputError(f"{path!r} is not a file or folder below {allowed}.")
        return file


def _known(schema: str | None) -> str | None:
    """``schema``, which must be a name: a path would be one of the server's files."""
    if schema not in (None, *_SCHEMAS):
        raise InputError(unknown("schema", str(schema), _SCHEMAS))
    return schema


def _ingested(graph: KnowledgeGraph, report: IngestReport, files: Sequence[Path]) -> dict[str, Any]:
    """The report, and the documents of ``files`` and of what is in them."""
    sources = {file.as_uri() for file in files}
    below = tuple(f"{source}/" for source in sources)
    documents = [info for info in graph.documents() if info.source in sources or info.source.startswith(below)]
    return {"documents": documents, "report": as_fields(report)}
