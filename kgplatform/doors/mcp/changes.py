"""The tools of the MCP server that change the graph. They are there only where the server was told to write."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from kgplatform import IngestReport
from kgplatform.client import KnowledgeGraph
from kgplatform.doors.encoding import as_fields
from kgplatform.doors.mcp import results
from kgplatform.doors.mcp.results import Listener, as_result, in_thread
from kgplatform.doors.uploads import Uploads, end_abandoned, forget_unused, ingest_uploads
from kgplatform.errors import InputError
from kgplatform.ingest.schema import shipped_schemas

REPLACES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
"""All that write: none only adds. A tree takes the place of the one before."""

_LONGEST_TEXT = 2_000_000
_SCHEMAS = shipped_schemas()

Schema = Annotated[
    str, Field(description="What may be extracted: a schema that comes along.", json_schema_extra={"enum": [*_SCHEMAS]})
]


class WritingTools:
    """The tools, one at a time. ``folders``: where files may be read from; without any, none may."""

    def __init__(self, graph: KnowledgeGraph, most: int, folders: Sequence[Path]) -> None:
        self._graph = graph
        self._most = most
        self._folders = [folder.resolve() for folder in folders]
        self._uploads = Uploads(graph.settings.home_folder)
        self._turn = anyio.Lock()

    def add_to(self, server: MCPServer[Any]) -> None:
        """Register them, when what a killed server had under way is ended."""
        end_abandoned(self._graph, self._uploads)
        server.add_tool(self.ingest_text, title="Add a text", annotations=REPLACES)
        if self._folders:
            server.add_tool(self.ingest_path, title="Add files", annotations=REPLACES)
        server.add_tool(self.remove_document, title="Remove a document", annotations=REPLACES)
        server.add_tool(self.build_tree, title="Build the knowledge tree", annotations=REPLACES)

    async def ingest_text(
        self,
        name: Annotated[str, Field(min_length=1, max_length=300, description="What the document is to be called.")],
        text: Annotated[str, Field(min_length=1, max_length=_LONGEST_TEXT)],
        context: Context[Any, Any],
        schema: Schema = "general",
    ) -> Annotated[CallToolResult, results.Result]:
        """Put a text into the graph, as a document. Another one of the same name is replaced."""
        listener = Listener(context)

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            known, progress = _known(schema), listener.progress(graph.stop)
            staged = self._uploads.stage([(f"{name}.txt", io.BytesIO(text.encode()))])
            report = ingest_uploads(self._graph, self._uploads, staged, graph.stop, schema=known, progress=progress)
            return _ingested(graph, report, [self._uploads.folder / kept for kept in staged.names])

        return await self._in_turn(work)

    async def ingest_path(
        self,
        path: Annotated[str, Field(min_length=1, max_length=4_000, description="A file or folder on the server.")],
        context: Context[Any, Any],
        schema: Schema = "general",
    ) -> Annotated[CallToolResult, results.Result]:
        """Bring the graph to what the files of a folder say; only below the folders that the server was given."""
        listener = Listener(context)

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            known, file = _known(schema), self._allowed(path)
            report = graph.ingest(file, schema=known, progress=listener.progress(graph.stop))
            return _ingested(graph, report, [file])

        return await self._in_turn(work)

    async def remove_document(
        self, document: Annotated[str, Field(min_length=1, max_length=5_000, description="Its id, URI or title.")]
    ) -> Annotated[CallToolResult, results.Result]:
        """Remove a document, with all that only it supports."""

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            removed = graph.remove(document)
            forget_unused(self._graph, self._uploads, [info.source for info in removed])
            return {"removed": removed}

        return await self._in_turn(work)

    async def build_tree(self, context: Context[Any, Any]) -> Annotated[CallToolResult, results.Result]:
        """Build the knowledge tree, or bring it to what the graph says now."""
        listener = Listener(context)
        return await self._in_turn(lambda graph: {"report": graph.build_tree(progress=listener.progress(graph.stop))})

    # ---------------------------------------------------------------------------------------------------------- parts

    async def _in_turn(self, work: Callable[[KnowledgeGraph], dict[str, Any]]) -> CallToolResult:
        async with self._turn:
            return as_result(await in_thread(self._graph, work), self._most)

    def _allowed(self, path: str) -> Path:
        """``path`` without links and dots, if it lies below a folder that was allowed."""
        try:
            file = Path(path).expanduser().resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            file = None
        if file is None or not any(file.is_relative_to(folder) for folder in self._folders):
            allowed = ", ".join(map(str, self._folders))
            raise InputError(f"{path!r} is no file or folder below {allowed}.")
        return file


def _known(schema: str) -> str:
    """``schema``, which must be a name: a path would be one of the server's files."""
    if schema not in _SCHEMAS:
        raise InputError(f"There is no schema {schema!r}; there are {', '.join(_SCHEMAS)}.")
    return schema


def _ingested(graph: KnowledgeGraph, report: IngestReport, files: Sequence[Path]) -> dict[str, Any]:
    """The report, and the documents of ``files`` and of what lies in them."""
    sources = {file.as_uri() for file in files}
    below = tuple(f"{source}/" for source in sources)
    documents = [info for info in graph.documents() if info.source in sources or info.source.startswith(below)]
    return {"documents": documents, "report": as_fields(report)}
