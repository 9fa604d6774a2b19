"""The tools of the MCP server, what each returns, and the thread that makes it.

A tool calls the client. Its work stops when the client of the server cancels it, and an error is one sentence. A result
is bounded, so that it fits a window; its ``note`` says what was left out:

    bounded({"passages": [...], "facts": [...]}, 20_000)      # {"passages": […], "facts": [], "note": "12 of 40 …"}

Those tools that change the graph are offered only if the server was told to write.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from kgplatform import IngestReport
from kgplatform.client import SEARCHES, KnowledgeGraph
from kgplatform.concurrency.threads import Stop
from kgplatform.correct import ACTIONS
from kgplatform.errors import InputError, KgError, ModelError
from kgplatform.extract.schema import shipped_schemas
from kgplatform.interfaces.uploads import Uploads, end_abandoned, forget_unused
from kgplatform.readers.reader import Option
from kgplatform.readers.readers import READERS, names
from kgplatform.records import Progress, Step
from kgplatform.shown import as_fields, encode
from kgplatform.sources.objects import Text, source_of_id
from kgplatform.text import listed, unknown

T = TypeVar("T")

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
"""None of them only adds: a tree replaces the one before."""

_FEWER = "Ask for fewer with limit."
_LONGEST_TEXT = 2_000_000
_SCHEMAS = shipped_schemas()
_MOST_ROWS = 1000
_LARGEST_OFFSET = 1_000_000_000
_DETAIL = 200
"""Characters of a step's detail that a client gets."""

SMALLEST = 1_000
"""The smallest bound in characters that any result fits."""

_NOTE_ROOM = 300
_SHORTEST = 80
"""Characters that are left of a text at least."""
_TOP, _ROW = 0, 1
"""Depths: of what has a name in the result, and of the items of a list there."""

QuestionText = Annotated[str, Field(min_length=1, max_length=20_000, description="The question.")]
NodeId = Annotated[str, Field(min_length=1, max_length=2_000, description="The id of a node, from another tool.")]
Offset = Annotated[int, Field(ge=0, le=10_000_000, description="How many to skip: the last reply's next_offset.")]
Limit = Annotated[int, Field(ge=1, le=200, description="At most this many.")]
Where = Annotated[
    dict[str, Any] | list[str | dict[str, Any]] | str,
    Field(
        description='Only documents with these metadata, such as {"author": "Verne", "year": [1869, 1870]}, a list '
        'naming alternatives, or a condition: `year >= 1869 and not (draft or tag in ("a", "b"))`. `documents` shows '
        "what each has."
    ),
]
AsOf = Annotated[
    str | None, Field(max_length=50, description="A year, month or day, 2019-06: facts of other times are left out.")
]
SchemaName = Annotated[
    str | None,
    Field(
        description="What to extract: a shipped schema. Default: the graph's own, general for a new graph.",
        json_schema_extra={"enum": [*_SCHEMAS, None]},
    ),
]

Metadata = Annotated[
    dict[str, Any] | None,
    Field(description='Metadata of what is added, such as {"project": "cables", "year": 1858}; null removes a name.'),
]

_ABOUT_CORRECTIONS = " ".join(
    [
        "An entity is named by its id, or its name, with its type in brackets where several have it.",
        *(f"{action}: {', '.join(needs)}." for action, needs in ACTIONS.items()),
        "add: also value (true if object is a value). undo: id.",
    ]
)

Objects = list[dict[str, Any]]


class Result(BaseModel):
    """The fields of a result; there may be more."""

    model_config = ConfigDict(extra="allow")

    note: str = Field("", description="What was left out, and how to get more.")


class SearchFound(Result):
    """Passages and facts, best first."""

    fits: bool | None = Field(
        description="False: no passage is likely to hold what is asked, these are only the nearest. Null: not known."
    )
    missing: list[str] | None = Field(description="Names, numbers and the like of the question that no passage has")
    passages: Objects = Field(
        description="id, document (URI), title, characters [start, end), page, location, text, score, relevance (a "
        "probability, which compares questions too), and the best sentence"
    )
    facts: Objects = Field(description="id, text, the places that state it, and whether it is relevant to the question")


class AnswerResult(Result):
    """An answer, or the evidence where no language model is configured."""

    answer: str | None = Field(description="Null without a language model: see the passages.")
    citations: Objects = Field(
        description="In the order of their numbers: document (URI), title, location, characters [start, end), and "
        "text, the cited sentence"
    )
    statements: Objects = Field(
        description="Those of the answer: text, citations (numbers; none: not cited), unread (names, numbers and dates "
        "that are not in the cited text; looked for if compared), supported (by the cited text, says the model; null: "
        "not asked)"
    )
    sufficient: bool | None = Field(description="Whether the model said that what it read has the answer.")
    disputes: list[str] = Field(description="What other passages say, in conflict with what is cited, or since then.")
    passages: Objects = Field(description="The evidence, best first; only if there is no answer.")


class TextRead(Result):
    """Part of a document."""

    text: str
    start: int
    end: int
    characters: int = Field(description="The length of the whole document.")
    next: int | None = Field(description="Where to read on; null at the end.")


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


class CommunityShown(Result):
    """A node of the tree with its members and facts."""

    node: dict[str, Any]
    members: Objects
    facts: Objects


class RowsRead(Result):
    """Rows of a statement."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool = Field(description="Whether there are more rows.")
    notes: list[str] = Field(description="Names in the statement that the graph does not have.")


class SchemaShown(Result):
    """What the graph has."""

    graph: str = Field(description="Labels, types, relations and properties with counts and examples, for Cypher.")
    schema_: dict[str, Any] | None = Field(alias="schema", description="The schema of the extraction.")


class Documents(Result):
    """Documents by title."""

    documents: Objects
    total: int
    next_offset: int | None


class Counts(Result):
    """Counts by label and by type."""

    nodes: dict[str, int]
    relationships: dict[str, int]


def _about_options() -> str:
    """The options of each reader with their choices, defaults, or types if they have neither."""

    def shown(option: Option) -> str:
        has_choices, has_default = option.choices and option.type == "string", option.default not in (None, (), "")
        value = "|".join(option.choices) if has_choices else json.dumps(option.default) if has_default else option.type
        return f"{option.name} ({value})"

    said = (f"{reader.name}: {', '.join(map(shown, reader.options))}." for reader in READERS)
    return " ".join(['Options of the reader, such as {"mode": "open"}; each with its default.', *said])


def _about_readers() -> str:
    """The readers, and what each does, for the description of ``ask``. Packages add some after this is loaded."""
    return " ".join([f"The reader; default: {names()[0]}.", *(f"{each.name}: {each.about}" for each in READERS)])


@dataclass(frozen=True, slots=True, eq=False)
class ReadingTools:
    """The tools that read ``graph``; no result is longer than ``most`` characters."""

    graph: KnowledgeGraph
    most: int

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
        as_of: AsOf = None,
    ) -> Annotated[CallToolResult, SearchFound]:
        """Find the passages and facts nearest to a question, with the places in the documents that state them."""
        return await self._answer(
            lambda graph: _fields(
                graph.search(question, route, top_k, where=where, as_of=as_of),
                *("question", "fits", "missing", "passages", "facts"),
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
        as_of: AsOf = None,
        verify: Annotated[
            bool, Field(description="Have the model check whether the cited sentences support each statement.")
        ] = False,
    ) -> Annotated[CallToolResult, AnswerResult]:
        """Answer a question from the documents and cite the supporting sentences.

        If the server has no language model, the answer is null and the passages are the evidence.
        """
        listener = Listener(context)

        def ask(graph: KnowledgeGraph) -> dict[str, Any]:
            steps = listener.steps(graph.stop)
            only: dict[str, Any] = {"where": where, "as_of": as_of}
            answer = graph.ask(question, reader, options=options, **only, verify=verify, on_step=steps)
            passages = answer.evidence.passages if answer.text is None else ()
            said = _fields(answer, "question", "reader") | {"answer": answer.text}
            said |= _fields(answer, "citations", "statements", "sufficient") | {"passages": passages}
            return said | {"disputes": list(answer.other_sides)} | _fields(answer, "note", "usage")

        return await self._answer(ask)

    async def read_document(
        self,
        document: Annotated[str, Field(min_length=1, max_length=5_000, description="Its id or URI.")],
        start: Annotated[int, Field(ge=0, le=_LARGEST_OFFSET, description="The first character.")] = 0,
        end: Annotated[
            int | None,
            Field(ge=0, le=_LARGEST_OFFSET, description="The character after the last; default: as many as fit."),
        ] = None,
    ) -> Annotated[CallToolResult, TextRead]:
        """Read part of a document. To see a citation in context, start a few hundred characters before it."""
        last = min(end if end is not None else start + self.most, start + self.most)

        def fitting(graph: KnowledgeGraph) -> dict[str, Any]:  # as much of the text as fits, and where to read on
            found = graph.look.document(document, start, last)
            shown = {name: value for name, value in as_fields(found).items() if name != "facts"} | {"next": found.end}
            while (over := size(shown) - self.most) > 0 and shown["text"]:
                shown["text"] = shown["text"][: max(0, len(shown["text"]) - over)]
            shown["end"] = found.start + len(shown["text"])
            shown["next"] = shown["end"] if shown["end"] < found.characters else None
            return shown

        return await self._answer(fitting)

    async def find_nodes(
        self, name: Annotated[str, Field(min_length=1, max_length=500)], limit: Limit = 20
    ) -> Annotated[CallToolResult, NodesFound]:
        """Find people, places, things, documents and communities by name, best first."""
        return await self._answer(lambda graph: {"nodes": graph.look.find(name, limit)})

    async def neighbours(self, id: NodeId, limit: Limit = 50) -> Annotated[CallToolResult, Neighbours]:
        """A node, its neighbours (the strongest first), and the edges among all of them."""
        return await self._answer(lambda graph: as_fields(graph.look.neighbours(id, limit)), _FEWER)

    async def communities(
        self,
        parent: Annotated[
            str | None, Field(max_length=2_000, description="The node to look below; default: the top.")
        ] = None,
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> Annotated[CallToolResult, Communities]:
        """A level of the knowledge tree: communities of related entities, or what is in them: keywords and members."""
        return await self._answer(lambda graph: _page("communities", graph.look.tree(parent), offset, limit), _FEWER)

    async def community(self, id: NodeId, limit: Limit = 50) -> Annotated[CallToolResult, CommunityShown]:
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
    ) -> Annotated[CallToolResult, RowsRead]:
        """Run one read-only Cypher statement. Call `schema` first; page with SKIP and LIMIT."""
        return await self._answer(
            lambda graph: _fields(
                graph.cypher(statement, parameters, guarded=True, limit=limit, timeout=timeout),
                *("columns", "rows", "truncated", "notes"),
            ),
            "Return fewer columns, or page with SKIP and LIMIT.",
        )

    async def schema(self) -> Annotated[CallToolResult, SchemaShown]:
        """What is in the graph: labels, entity types, relations and properties with counts."""

        def shown(graph: KnowledgeGraph) -> dict[str, Any]:
            found = graph.schema()
            return {"graph": graph.schema_text(), **(found.to_dict() if found else {"schema": None, "expansions": ()})}

        return await self._answer(shown)

    async def documents(self, offset: Offset = 0, limit: Limit = 50) -> Annotated[CallToolResult, Documents]:
        """The documents of the graph, by title."""

        def listed(graph: KnowledgeGraph) -> dict[str, Any]:
            found = graph.documents()
            return _page("documents", found, offset, limit) | {"total": len(found)}

        return await self._answer(listed, _FEWER)

    async def stats(self) -> Annotated[CallToolResult, Counts]:
        """How many nodes each label has, and relationships each type."""
        return await self._answer(lambda graph: _fields(graph.stats(), "nodes", "relationships"))

    async def _answer(self, work: Callable[[KnowledgeGraph], dict[str, Any]], how: str = "") -> CallToolResult:
        """The result of ``work``, encoded in its thread too: other requests wait for this loop."""
        return await in_thread(self.graph, lambda graph: as_result(work(graph), self.most, how))


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _page(name: str, found: Sequence[object], offset: int, limit: int) -> dict[str, Any]:
    following = offset + limit
    return {name: found[offset:following], "next_offset": following if following < len(found) else None}


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
        server.add_tool(self.correct, title="Correct the graph", annotations=WRITES)

    async def correct(
        self,
        action: Annotated[str, Field(description="What to do.", json_schema_extra={"enum": [*ACTIONS, "undo"]})],
        what: Annotated[dict[str, Any], Field(description=_ABOUT_CORRECTIONS)],
        why: Annotated[str, Field(max_length=2000, description="Why, for people.")] = "",
    ) -> Annotated[CallToolResult, Result]:
        """Correct the graph by hand, or undo a correction. It is kept through every ingest."""

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            if action == "undo":
                return {"undone": graph.correct.undo(str(what.get("id", "")))}
            return {"correction": graph.correct.do(action, what, why=why)}

        return await self._in_turn(work)

    async def ingest_text(
        self,
        title: Annotated[str, Field(min_length=1, max_length=300, description="The title of the document.")],
        text: Annotated[str, Field(min_length=1, max_length=_LONGEST_TEXT)],
        context: Context[Any, Any],
        schema: SchemaName = None,
        metadata: Metadata = None,
    ) -> Annotated[CallToolResult, Result]:
        """Add a text to the graph, as a document. It replaces a document of the same title."""
        listener = Listener(context)

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            known, progress = _known(schema), listener.progress(graph.stop)
            given = Text(text, title=title, id=title)
            report = graph.ingest(given, schema=known, metadata=metadata, progress=progress)
            return _ingested(graph, report, source_of_id(title))

        return await self._in_turn(work)

    async def ingest_path(
        self,
        path: Annotated[str, Field(min_length=1, max_length=4_000, description="A file or folder on the server.")],
        context: Context[Any, Any],
        schema: SchemaName = None,
        metadata: Metadata = None,
    ) -> Annotated[CallToolResult, Result]:
        """Update the graph from a file or folder; only below the folders that the server allows."""
        listener = Listener(context)

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            try:
                file = Path(path).expanduser().resolve(strict=True)  # without links and dots
            except (OSError, RuntimeError, ValueError):
                file = None
            if file is None or not any(file.is_relative_to(folder) for folder in self._folders):
                raise InputError(f"{path!r} is not a file or folder below {', '.join(map(str, self._folders))}.")
            known = _known(schema)
            progress = listener.progress(graph.stop)
            report = graph.ingest(file, schema=known, metadata=metadata, progress=progress)
            return _ingested(graph, report, file.as_uri(), f"{file.as_uri()}/")

        return await self._in_turn(work)

    async def remove_document(
        self, document: Annotated[str, Field(min_length=1, max_length=5_000, description="Its id, URI or title.")]
    ) -> Annotated[CallToolResult, Result]:
        """Remove a document, and everything that only it supports."""

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            removed = graph.remove(document)
            forget_unused(self._graph, self._uploads, [info.source for info in removed])
            return {"removed": removed}

        return await self._in_turn(work)

    async def build_tree(self, context: Context[Any, Any]) -> Annotated[CallToolResult, Result]:
        """Build or update the knowledge tree."""
        listener = Listener(context)
        return await self._in_turn(lambda graph: {"report": graph.build_tree(progress=listener.progress(graph.stop))})

    async def _in_turn(self, work: Callable[[KnowledgeGraph], dict[str, Any]]) -> CallToolResult:
        async with self._turn:
            return await in_thread(self._graph, lambda graph: as_result(work(graph), self._most))


def _known(schema: str | None) -> str | None:
    """``schema``, which must be a name: a path would be one of the server's files."""
    if schema not in (None, *_SCHEMAS):
        raise InputError(unknown("schema", str(schema), _SCHEMAS))
    return schema


def _ingested(graph: KnowledgeGraph, report: IngestReport, source: str, *below: str) -> dict[str, Any]:
    """The report, and the documents of ``source``, a file or a text, or of the files ``below`` a folder."""
    documents = [info for info in graph.documents() if info.source == source or info.source.startswith(below)]
    return {"documents": documents, "report": as_fields(report)}


async def in_thread(graph: KnowledgeGraph, work: Callable[[KnowledgeGraph], T]) -> T:
    """Run ``work`` on ``graph`` in a thread. It ends within a second if the client cancels the request.

    Raises ``ToolError``.
    """
    stop = Stop()
    try:
        return await anyio.to_thread.run_sync(work, graph.within(stop), abandon_on_cancel=True)
    except KgError as error:
        passages = error.evidence.passages if isinstance(error, ModelError) and error.evidence is not None else ()
        titles = list(dict.fromkeys(passage.title for passage in passages))
        found = f"Found until then (search shows the passages): {listed(titles)}." if titles else ""
        raise ToolError(" ".join(f"{error} {found}".split())) from error
    finally:
        stop.set()


def as_result(result: dict[str, Any], most: int, how: str = "") -> CallToolResult:
    """``result`` in at most ``most`` characters, as an object and, for older clients, as text."""
    content = bounded(result, most, how)
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)


class Listener:
    """The client of a request, which gets progress messages from any thread."""

    def __init__(self, context: Context[Any, Any]) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._numbers = itertools.count(1)  # MCP wants them to grow

    def steps(self, stop: Stop) -> Callable[[Step], None]:
        """Reports each step of a reader."""
        return lambda step: self._tell(f"{step.name}: {step.detail[:_DETAIL]}", stop)

    def progress(self, stop: Stop) -> Progress:
        """Reports the progress of a stage of building the graph."""
        return lambda stage, done, total: self._tell(f"{stage}: {done:,} of {total:,}", stop)

    def _tell(self, message: str, stop: Stop) -> None:
        # Not ``anyio.from_thread``: it knows only the threads that it started, and readers start others.
        told = self._context.report_progress(next(self._numbers), None, message)
        stop.result_of(asyncio.run_coroutine_threadsafe(told, self._loop))


def bounded(result: dict[str, Any], most: int, how: str = "") -> dict[str, Any]:
    """``result`` as plain JSON of about ``most`` characters at most. ``how`` to get more ends the note.

    Lists lose items from their ends, the largest list first; then long values are cut.
    """
    plain: dict[str, Any] = json.loads(encode(result))
    if size(plain) <= most:
        return plain
    room = most - _NOTE_ROOM
    sizes = {name: [size(item) + 1 for item in value] for name, value in plain.items() if _has_parts(value)}
    over = size(plain) - room
    while over > 0:  # until it fits, or each list has one item left
        name = max(sizes, key=lambda each: (len(sizes[each]) > 1, sum(sizes[each])), default=None)
        if name is None or len(sizes[name]) <= 1:
            break
        over -= sizes[name].pop()
    short = plain | {name: plain[name][: len(kept)] for name, kept in sizes.items()}
    left = [
        f"{len(short[name])} of {len(value)} {name}"
        for name, value in plain.items()
        if _has_parts(value) and len(short[name]) < len(value)
    ]
    cut, text, items = short, room, room  # nothing that is longer fits
    while size(cut) > room and (text > _SHORTEST or items > 1):  # texts ever shorter, then what is inside of items
        text, items = (max(_SHORTEST, text // 2), items) if text > _SHORTEST else (text, items // 2)
        cut = {name: _cut(value, text, items, _TOP) for name, value in cut.items()}
    told = [f"Shown are {' and '.join(left)}."] if left else []
    told += ["Long values are cut."] if cut is not short else []
    return cut | {"note": " ".join(filter(None, (cut.get("note", ""), *told, how)))}


def _has_parts(value: Any) -> bool:
    """Whether it is a list of rows or objects; a list of column names is not."""
    return isinstance(value, list) and any(isinstance(each, (dict, list)) for each in value)


def _cut(value: Any, text: int, items: int, depth: int) -> Any:
    """``value`` with texts of at most ``text`` characters and, inside of it, at most ``items`` items. A list at the top
    keeps what it has, and a row or an object in it its columns."""
    if isinstance(value, str):
        return value if len(value) <= text else value[: text - 1] + "…"
    most = items if depth > _ROW else None
    if isinstance(value, dict):
        inner = depth + 1 if depth > _TOP else _ROW + 1
        return {name: _cut(each, text, items, inner) for name, each in [*value.items()][:most]}
    if isinstance(value, list):
        return [_cut(each, text, items, depth + 1) for each in value[:most]]
    return value


def size(value: Any) -> int:
    """Characters of ``value`` as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
