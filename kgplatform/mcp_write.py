"""The tools of the MCP server that change the graph. They are there only where the server was told to write."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from kgplatform import mcp_results as results
from kgplatform.build.schema import shipped_schemas
from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.mcp_work import as_result, in_thread, tell_progress
from kgplatform.stopping import unstoppable
from kgplatform.web.encoding import as_fields
from kgplatform.web.keeping import end_abandoned, forget_unused, keep_used
from kgplatform.web.uploads import Uploads

T = TypeVar("T")

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
        told = tell_progress(context)

        def work() -> dict[str, Any]:
            staged = self._uploads.stage([(f"{name}.txt", io.BytesIO(text.encode()))])
            files = self._uploads.place(staged)
            try:
                return self._ingest(files, schema, told)
            finally:
                with unstoppable():
                    keep_used(self._graph, self._uploads, staged, lambda file: False)
                    forget_unused(self._graph, self._uploads, [file.as_uri() for file in files])

        return await self._in_turn(work)

    async def ingest_path(
        self,
        path: Annotated[str, Field(min_length=1, max_length=4_000, description="A file or folder on the server.")],
        context: Context[Any, Any],
        schema: Schema = "general",
    ) -> Annotated[CallToolResult, results.Result]:
        """Bring the graph to what the files of a folder say; only below the folders that the server was given."""
        told = tell_progress(context)
        return await self._in_turn(lambda: self._ingest([self._allowed(path)], schema, told))

    async def remove_document(
        self, document: Annotated[str, Field(min_length=1, max_length=5_000, description="Its id, URI or name.")]
    ) -> Annotated[CallToolResult, results.Result]:
        """Remove a document, with all that only it supports."""

        def work() -> dict[str, Any]:
            removed = self._graph.remove(document)
            forget_unused(self._graph, self._uploads, [each.source for each in removed])
            return {"removed": removed}

        return await self._in_turn(work)

    async def build_tree(self, context: Context[Any, Any]) -> Annotated[CallToolResult, results.Result]:
        """Build the knowledge tree, or bring it to what the graph says now."""
        told = tell_progress(context)
        return await self._in_turn(lambda: {"report": self._graph.build_tree(progress=told)})

    # ---------------------------------------------------------------------------------------------------------- parts

    async def _in_turn(self, work: Callable[[], dict[str, Any]]) -> CallToolResult:
        async with self._turn:
            return as_result(await in_thread(work), self._most)

    def _ingest(self, files: Sequence[Path], schema: str, progress: Any) -> dict[str, Any]:
        if schema not in _SCHEMAS:
            raise InputError(f"There is no schema {schema!r}; there are {', '.join(_SCHEMAS)}.")
        report = self._graph.ingest(files, schema=schema, progress=progress)
        known = {file.as_uri() for file in files}
        documents = [each for each in self._graph.documents() if each.source in known]
        return {"documents": documents, "report": as_fields(report)}

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
