"""The tools of the MCP server, what each returns, and the thread that makes it.

They are few, for an agent reads the description of each with every question: ``search``, ``read``, ``look``, ``ask``
and ``cypher``; those that change the graph only if the server was told to write. A tool calls the client. Its work
stops when the client of the server cancels it, and an error is one sentence. A result has at most as many tokens as
the agent asks for; its ``note`` says what was left out:

    bounded({"passages": [...], "facts": [...]}, 4_000)      # {"passages": […], "facts": [], "note": "12 of 40 …"}
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
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
from kgplatform.errors import Code, InputError, KgError, ModelError
from kgplatform.explore.info import FactAt, GraphNode, NodeDetails, named_documents
from kgplatform.explore.look import MOST_CHARACTERS
from kgplatform.extract.schema import shipped_schemas
from kgplatform.interfaces.uploads import Uploads, end_abandoned, forget_unused
from kgplatform.readers.readers import READERS, names
from kgplatform.records import Progress, Step
from kgplatform.shown import as_fields, encode, shown_days, with_time
from kgplatform.sources.objects import Text, source_of_id
from kgplatform.text import clipped, count_tokens, listed, normalise_name, tokens_more, unknown

T = TypeVar("T")

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
"""None of them only adds: a text replaces the one of its title."""

DOCUMENT = "kg://document/"
"""Begins the address of a document as a resource."""
MOST_TOKENS = 4_000
"""Tokens of a result, where neither the agent nor who started the server said another number."""
_FEWEST_TOKENS, _MOST_ASKED = 250, 100_000
_CHARACTERS_PER_TOKEN = 4
_LONGEST_TEXT = 2_000_000
_SCHEMAS = shipped_schemas()
_MOST_ROWS = 1000
_LARGEST_OFFSET = 1_000_000_000
_DETAIL = 200
"""Characters of a step's detail that a client gets."""
_NOTE_ROOM = 300
_SHORTEST = 80
"""Characters that are left of a text at least."""
_TOP, _ROW = 0, 1
"""Depths: of what has a name in the result, and of the items of a list there."""
_ID = re.compile(r"[0-9a-f]{32}")
_LONGEST_TITLE = 100
_PASSAGE = ("id", "title", "location", "start", "end", "text", "sentence", "relevance")
_CITATION = ("title", "location", "passage", "start", "end", "text")
_NODE = ("id", "name", "kind", "type", "text")
_THINGS = ("Entity", "KeyElement", "Attribute")
_AROUND = {**dict.fromkeys(_THINGS, _THINGS), "Community": ("Community", "Keyword")}
"""Kinds of neighbours that are shown: what is said of an entity is among its facts, and members are listed apart."""
_OWNER = "Ask whoever runs this server"
SENTENCES = {
    **dict.fromkeys(
        (Code.EMPTY_GRAPH, Code.NO_DOCUMENTS, Code.NO_ENTITIES),
        f"The graph is empty. Add texts with `ingest_text` if this server offers it. {_OWNER} otherwise.",
    ),
    Code.UNFINISHED_INGEST: f"The first ingest is unfinished. {_OWNER} to run it again.",
    Code.NO_TREE: f"There is no knowledge tree. Call `refresh` if this server offers it, or choose another reader. "
    f"{_OWNER} otherwise.",
    **dict.fromkeys(
        (Code.NO_GISTS, Code.NO_GIST_VECTORS),
        f"There are no gists of the documents yet. Choose another reader. {_OWNER} to make them.",
    ),
    Code.UNKNOWN_DOCUMENT: "There is no document {document} in the graph. `look` without a node lists the documents.",
    Code.UNKNOWN_RUN: "There is no saved answer {run} in the graph.",
    Code.STATEMENT_REFUSED: "{why} Write a simpler statement.",
    Code.STATEMENT_WRITES: "This statement changes the graph, and `cypher` only reads.",
    Code.STATEMENT_LOADS: "LOAD CSV is refused: statements may not read files or URLs.",
}
"""What an agent is told in place of a sentence that names a command."""

QuestionText = Annotated[str, Field(min_length=1, max_length=20_000, description="The question.")]
MaxTokens = Annotated[
    int | None,
    Field(ge=_FEWEST_TOKENS, le=_MOST_ASKED, description="Most tokens of the result; default: the server's."),
]
Limit = Annotated[int, Field(ge=1, le=200, description="At most this many of each list.")]
Where = Annotated[
    dict[str, Any] | list[str | dict[str, Any]] | str,
    Field(
        description='Only documents with these metadata: {"author": "Verne", "year": [1869, 1870]}, a list of '
        'alternatives, or a condition: `year >= 1869 and not (draft or tag in ("a", "b"))`. `look` shows the names.'
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
        "An entity is named by its id, or its name, with its type in brackets.",
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
        description="id, title, location, characters [start, end) of the document, text, the best sentence, relevance "
        "(a probability, which compares questions too)"
    )
    facts: Objects = Field(description="id, text, and the passages (ids) that state it")


class AnswerResult(Result):
    """An answer, or the evidence where no language model is configured."""

    answer: str | None = Field(description="Null without a language model: see the passages.")
    citations: Objects = Field(
        description="In the order of their numbers: title, location, passage (id), characters [start, end) of the "
        "document, and text, the cited sentence"
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

    document: str = Field(description="Its id.")
    title: str
    text: str
    start: int
    end: int
    characters: int = Field(description="The length of the whole document.")
    next: int | None = Field(description="Where to read on; null at the end.")


class Looked(Result):
    """A node, or nodes of a name, or the graph."""

    node: dict[str, Any] | None = Field(None, description="The node that was meant.")
    facts: Objects = Field([], description="Of the node: id, text, and the passages (ids) that state it")
    neighbours: Objects = Field([], description="Of the node, the strongest first, and what relates them to it")
    nodes: Objects = Field([], description="Other nodes of the name; of a community, its members: look at one by id")


class RowsRead(Result):
    """Rows of a statement."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool = Field(description="Whether there are more rows.")
    notes: list[str] = Field(description="Names in the statement that the graph does not have.")


@dataclass(frozen=True, slots=True, eq=False)
class ReadingTools:
    """The tools that read ``graph``; ``most``: tokens of a result that is asked for without a number."""

    graph: KnowledgeGraph
    most: int

    def add_to(self, server: MCPServer[Any]) -> None:
        """Register them."""
        for tool, title in (
            (self.search, "Search the graph"),
            (self.read, "Read a document"),
            (self.look, "Look at a node, or at the graph"),
            (self.ask, "Ask a reader"),
            (self.cypher, "Run a Cypher statement"),
        ):
            server.add_tool(tool, title=title, annotations=READS)

    async def search(
        self,
        question: QuestionText,
        top_k: Annotated[int, Field(ge=1, le=100, description="Number of passages and facts.")] = 10,
        where: Where = {},  # noqa: B006 - a default that the schema shows; never changed
        as_of: AsOf = None,
        route: Annotated[
            str, Field(description="Which way to search.", json_schema_extra={"enum": [*SEARCHES]})
        ] = "all",
        max_tokens: MaxTokens = None,
    ) -> Annotated[CallToolResult, SearchFound]:
        """Find the passages and facts nearest to a question, with the places in the documents that state them."""

        def found(graph: KnowledgeGraph) -> dict[str, Any]:
            result = graph.search(question, route, top_k, where=where, as_of=as_of)
            facts = [
                {"id": fact.id, "text": fact.timed, "passages": _once(each.passage for each in fact.citations)}
                for fact in result.facts
                if fact.relevant
            ]
            passages = [_fields(each, *_PASSAGE) for each in result.passages]
            return _fields(result, "fits", "missing") | {"passages": passages, "facts": facts}

        return await self._answer(found, max_tokens, "Ask for fewer with top_k, for more with max_tokens.")

    async def read(
        self,
        source: Annotated[
            str,
            Field(min_length=1, max_length=5_000, description="The id of a passage; a document's id, URI or title."),
        ],
        start: Annotated[
            int | None,
            Field(ge=0, le=_LARGEST_OFFSET, description="First character; default: somewhat before the passage."),
        ] = None,
        end: Annotated[
            int | None, Field(ge=0, le=_LARGEST_OFFSET, description="The character after the last; default: what fits.")
        ] = None,
        max_tokens: MaxTokens = None,
    ) -> Annotated[CallToolResult, TextRead]:
        """Read a passage with the text around it, or a document from `start` on; `next` is where to read on."""
        most = max_tokens or self.most

        def fitting(graph: KnowledgeGraph) -> dict[str, Any]:
            document, first, last = _place(graph, source)
            width = min(most * _CHARACTERS_PER_TOKEN, MOST_CHARACTERS)
            while True:
                around = max(0, width - (last - first)) // 2 if last else 0
                wanted = first - around if end is None else min(first, end - width)
                begin = max(0, wanted) if start is None else start
                found = graph.look.document(document, begin, begin + width if end is None else min(end, begin + width))
                title = clipped(found.title, _LONGEST_TITLE)
                shown = {"document": found.id, "title": title, **_fields(found, "text", "start", "end", "characters")}
                shown["next"] = found.end if found.end < found.characters else None
                if (cost := tokens(shown)) <= most or width == 1:
                    return shown
                width = max(1, min(width * 9 // 10, (found.end - found.start) * most // cost))

        return await self._answer(fitting, max_tokens)

    async def look(
        self,
        node: Annotated[
            str | None, Field(min_length=1, max_length=2_000, description="A name, or an id; default: the whole graph.")
        ] = None,
        limit: Limit = 20,
        offset: Annotated[
            int, Field(ge=0, le=10_000_000, description="Documents, communities or members to skip.")
        ] = 0,
        where: Where = {},  # noqa: B006 - as above
        max_tokens: MaxTokens = None,
    ) -> Annotated[CallToolResult, Looked]:
        """Look at a person, place, thing, fact or community: its facts, neighbours and members.

        Without a node: what the graph has, its documents, communities, and its schema for `cypher`.
        """

        def looked(graph: KnowledgeGraph) -> dict[str, Any]:
            if node is not None:
                return _looked_at(graph, node, limit, offset)
            return _whole(graph, limit, offset, (max_tokens or self.most) // 3)

        def paged(whole: dict[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
            if "documents" not in whole:
                return {}
            following = offset + len(shown["documents"])
            return {"next_offset": following if following < whole["documents_in_all"] else None}

        return await self._answer(looked, max_tokens, "Ask for more with max_tokens.", where, paged)

    async def ask(
        self,
        question: QuestionText,
        context: Context[Any, Any],
        reader: Annotated[
            str | None,
            Field(
                description=" ".join([f"Default: {names()[0]}.", *(f"{each.name}: {each.about}" for each in READERS)]),
                json_schema_extra={"enum": [*names(), None]},
            ),
        ] = None,
        options: Annotated[
            dict[str, Any],
            Field(
                description=" ".join(
                    [
                        'Such as {"mode": "open"}: also what is in no document.',
                        *(f"{each.name}: {', '.join(option.name for option in each.options)}." for each in READERS),
                    ]
                )
            ),
        ] = {},  # noqa: B006 - as above
        where: Where = {},  # noqa: B006 - as above
        as_of: AsOf = None,
        verify: Annotated[bool, Field(description="Let the model check each statement against what it cites.")] = False,
        max_tokens: MaxTokens = None,
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
            return {
                "reader": answer.reader,
                "answer": answer.text,
                "citations": [_fields(each, *_CITATION) for each in answer.citations],
                **_fields(answer, "statements", "sufficient", "note", "usage"),
                "disputes": list(answer.other_sides),
                "passages": [_fields(each, *_PASSAGE) for each in passages],
            }

        return await self._answer(ask, max_tokens)

    async def cypher(
        self,
        statement: Annotated[str, Field(min_length=1, max_length=20_000, description="One read-only statement.")],
        parameters: Annotated[dict[str, Any], Field(description="Values for its $parameters.")] = {},  # noqa: B006 - as above
        limit: Annotated[int, Field(ge=1, le=_MOST_ROWS, description="Most rows.")] = 100,
        timeout: Annotated[float, Field(gt=0, le=60, description="Most seconds.")] = 10.0,
        where: Where = {},  # noqa: B006 - as above
        max_tokens: MaxTokens = None,
    ) -> Annotated[CallToolResult, RowsRead]:
        """Run one read-only Cypher statement, for counts, lists and paths. Call `look` first, for the schema."""

        def rows(graph: KnowledgeGraph) -> dict[str, Any]:
            read = graph.cypher(statement, parameters, guarded=True, limit=limit, timeout=timeout)
            return _fields(read, "columns", "rows", "truncated", "notes")

        def cut(whole: dict[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
            return {"truncated": whole["truncated"] or len(shown["rows"]) < len(whole["rows"])}

        how = "Return fewer columns, or page with SKIP and LIMIT."
        return await self._answer(rows, max_tokens, how, where, cut)

    async def _answer(
        self,
        work: Callable[[KnowledgeGraph], dict[str, Any]],
        max_tokens: int | None,
        how: str = "",
        where: Where = {},  # noqa: B006 - as above
        told: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]] = lambda whole, shown: {},
    ) -> CallToolResult:
        """The result of ``work`` on the graph, or on its part ``where``, encoded in its thread too: other requests wait
        for this loop. ``told``: what is said of the whole result by what is shown of it, in no more tokens."""

        def answer(graph: KnowledgeGraph) -> CallToolResult:
            with graph.part(where) if where else nullcontext(graph) as asked:
                whole = work(asked)
            shown = bounded(whole, max_tokens or self.most, how)
            return as_result(shown | told(whole, shown))

        return await in_thread(self.graph, answer)


def _whole(graph: KnowledgeGraph, limit: int, offset: int, schema_tokens: int) -> dict[str, Any]:
    """What the graph has: documents from ``offset`` on and communities; first of all its metadata and its schema."""
    page = graph.look.document_page(skip=offset, limit=limit)
    communities = graph.look.tree(skip=offset, limit=limit)
    shown = {
        "documents": [_fields(each, "id", "title", "characters", "metadata") for each in page.documents],
        "documents_in_all": page.total,
        "next_offset": page.total,
        "communities": [_fields(each, "id", "name", "summary", "size") for each in communities],
    }
    if not offset:
        shown["metadata"] = [{each.name: [value for value, _ in each.values]} for each in graph.look.metadata(5)]
        shown["schema"] = graph.schema_text(schema_tokens)
    return shown


def _looked_at(graph: KnowledgeGraph, name: str, limit: int, offset: int) -> dict[str, Any]:
    """The node of this id or name, with what is known of it, and other nodes that the name may mean."""
    others: Sequence[GraphNode] = ()
    known = _node(graph, name, limit)
    if known is None:
        found = graph.look.find(name, limit)
        same = [each for each in found if normalise_name(each.name) == normalise_name(name)]
        if not found:
            raise InputError(f"Nothing is called {name[:100]!r}. `search` finds it by what is said of it.")
        if not same:
            return {"nodes": [_fields(each, *_NODE) for each in found], "note": "None has this very name: choose one."}
        known, others = graph.look.node(same[0].id, limit), same[1:]
    node = known.node
    around = graph.look.neighbours(node.id, limit, _AROUND.get(node.kind, ()))
    if node.kind == "Community":
        others = graph.look.members(node.id, offset + limit)[offset:]
    facts: dict[str, list[FactAt]] = {}
    for fact in known.facts:
        facts.setdefault(fact.id, []).append(fact)
    names = {each.id: each.name for each in around.nodes}
    relations: dict[str, list[str]] = {}
    for edge in around.edges:
        if node.id in (edge.source, edge.target):
            other = edge.target if edge.source == node.id else edge.source
            relations.setdefault(other, []).append(f"{names[edge.source]} {edge.label} {names[edge.target]}")
    text = next(
        (known.properties[each] for each in ("summary", "text", "gist") if known.properties.get(each)), node.text
    )
    communities = [_fields(each, "id", "name") for each in known.communities]
    return {
        "node": _fields(node, "id", "name", "kind", "type") | {"text": text, "communities": communities},
        "facts": [
            {
                "id": id,
                "text": with_time(said[0].text, map(_time, said)),
                "passages": _once(each.passage for each in said),
            }
            for id, said in facts.items()
        ],
        "neighbours": [_fields(each, *_NODE) | {"relations": relations.get(each.id, ())} for each in around.nodes[1:]],
        "more_neighbours": around.more,
        "nodes": [_fields(each, *_NODE) for each in others],
    }


def _node(graph: KnowledgeGraph, id: str, facts: int) -> NodeDetails | None:
    """The node of this id; None if that is none, but perhaps a name."""
    if _ID.fullmatch(id):
        with suppress(InputError):
            return graph.look.node(id, facts)
    return None


def _time(fact: FactAt) -> str:
    return shown_days(fact.since, fact.until, fact.granularity)


def _place(graph: KnowledgeGraph, source: str) -> tuple[str, int, int]:
    """The id of the document that ``source`` names, and the characters of the passage, or of the fact, that it is."""
    known = _node(graph, source, 1)
    if known is None:
        named = named_documents(source.removeprefix(DOCUMENT), graph.documents())
        if len(named) > 1:
            ids = listed([each.id for each in named])
            raise InputError(f"{source[:100]!r} means {len(named)} documents. Read one by its id: {ids}.")
        return named[0].id, 0, 0
    kind = known.node.kind
    if kind == "Document":
        return source, 0, 0
    if kind == "Chunk":
        return known.properties["document"], known.properties["start"], known.properties["end"]
    if kind == "Fact" and known.facts:
        return known.facts[0].document, known.facts[0].start, known.facts[0].end
    raise InputError(f"{source} is no text but a node of kind {kind}. `look` shows it.")


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _once(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


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
        server.add_tool(self.remove, title="Remove a document", annotations=WRITES)
        server.add_tool(self.correct, title="Correct the graph", annotations=WRITES)
        server.add_tool(self.refresh, title="Bring the graph up to date", annotations=WRITES)

    async def correct(
        self,
        action: Annotated[str, Field(description="What to do.", json_schema_extra={"enum": [*ACTIONS, "undo"]})],
        what: Annotated[dict[str, Any], Field(description=_ABOUT_CORRECTIONS)],
        why: Annotated[str, Field(max_length=2000, description="Why, for people.")] = "",
        max_tokens: MaxTokens = None,
    ) -> Annotated[CallToolResult, Result]:
        """Correct the graph by hand, or undo a correction. It is kept through every ingest."""

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            if action == "undo":
                return {"undone": graph.correct.undo(str(what.get("id", "")))}
            return {"correction": graph.correct.do(action, what, why=why)}

        return await self._in_turn(work, max_tokens)

    async def ingest_text(
        self,
        title: Annotated[str, Field(min_length=1, max_length=300, description="The title of the document.")],
        text: Annotated[str, Field(min_length=1, max_length=_LONGEST_TEXT)],
        context: Context[Any, Any],
        schema: SchemaName = None,
        metadata: Metadata = None,
        max_tokens: MaxTokens = None,
    ) -> Annotated[CallToolResult, Result]:
        """Add a text to the graph, as a document. It replaces a document of the same title."""
        listener = Listener(context)

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            known, progress = _known(schema), listener.progress(graph.stop)
            given = Text(text, title=title, id=title)
            report = graph.ingest(given, schema=known, metadata=metadata, progress=progress)
            return _ingested(graph, report, source_of_id(title))

        return await self._in_turn(work, max_tokens)

    async def ingest_path(
        self,
        path: Annotated[str, Field(min_length=1, max_length=4_000, description="A file or folder on the server.")],
        context: Context[Any, Any],
        schema: SchemaName = None,
        metadata: Metadata = None,
        max_tokens: MaxTokens = None,
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

        return await self._in_turn(work, max_tokens)

    async def remove(
        self,
        document: Annotated[str, Field(min_length=1, max_length=5_000, description="Its id, URI or title.")],
        max_tokens: MaxTokens = None,
    ) -> Annotated[CallToolResult, Result]:
        """Remove a document, and everything that only it supports."""

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            removed = graph.remove(document)
            forget_unused(self._graph, self._uploads, [info.source for info in removed])
            return {"removed": removed}

        return await self._in_turn(work, max_tokens)

    async def refresh(
        self, context: Context[Any, Any], max_tokens: MaxTokens = None
    ) -> Annotated[CallToolResult, Result]:
        """Read again the rows of the adopted graph that changed, if there is one, and update the knowledge tree."""
        listener = Listener(context)

        def work(graph: KnowledgeGraph) -> dict[str, Any]:
            progress = listener.progress(graph.stop)
            if graph.adopt.mapping is None:
                return {"rows": None, "tree": graph.build_tree(progress=progress)}
            rows = graph.adopt.refresh(progress=progress)
            try:
                return {"rows": rows, "tree": graph.build_tree(progress=progress)}
            except (InputError, ModelError) as error:
                return {"rows": rows, "tree": None, "note": f"The rows are up to date, the tree is not: {error}"}

        return await self._in_turn(work, max_tokens)

    async def _in_turn(
        self, work: Callable[[KnowledgeGraph], dict[str, Any]], max_tokens: int | None
    ) -> CallToolResult:
        async with self._turn:
            return await in_thread(self._graph, lambda graph: as_result(bounded(work(graph), max_tokens or self._most)))


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
        said = SENTENCES[error.code].format(**error.parameters) if error.code else str(error)
        raise ToolError(" ".join(f"{said} {found}".split())) from error
    finally:
        stop.set()


def as_result(content: dict[str, Any]) -> CallToolResult:
    """Plain ``content`` as an object and, for older clients, as text."""
    return CallToolResult(content=[TextContent(type="text", text=_json(content))], structured_content=content)


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
    """``result`` as plain JSON of at most ``most`` tokens, as they are estimated for the tokenizer that needs most.
    ``how`` to get more ends the note. Raises ``InputError`` if what cannot be cut is longer."""
    plain: dict[str, Any] = json.loads(encode(result))
    shown, room = plain, size(plain)
    while (cost := tokens(shown)) > most:
        if room <= _SHORTEST:
            raise InputError(f"The result does not fit into {most} tokens. {how or 'Ask for more with max_tokens.'}")
        room = min(room * 3 // 4, size(shown) * most // cost)
        shown = _shortened(plain, room, how)
    return shown


def _shortened(plain: dict[str, Any], most: int, how: str) -> dict[str, Any]:
    """``plain`` in about ``most`` characters: lists lose items from their ends, the largest list first; then long
    values are cut."""
    room = max(most - _NOTE_ROOM, most // 2)
    lists = {name: value for name, value in plain.items() if isinstance(value, list) and name != "columns"}
    sizes = {name: [size(item) + 1 for item in value] for name, value in lists.items()}
    over = size(plain) - room
    while over > 0:  # until it fits, or each list has one item left
        name = max(sizes, key=lambda each: (len(sizes[each]) > 1, sum(sizes[each])), default=None)
        if name is None or len(sizes[name]) <= 1:
            break
        over -= sizes[name].pop()
    short = plain | {name: plain[name][: len(kept)] for name, kept in sizes.items()}
    left = [
        f"{len(short[name])} of {len(value)} {name}" for name, value in lists.items() if len(short[name]) < len(value)
    ]
    cut, text, items = short, room, room  # nothing that is longer fits
    while size(cut) > room and (text > _SHORTEST or items > 1):  # texts ever shorter, then what is inside of items
        text, items = (max(_SHORTEST, text // 2), items) if text > _SHORTEST else (text, items // 2)
        cut = {name: _cut(value, text, items, _TOP) for name, value in cut.items()}
    told = [f"Shown are {' and '.join(left)}."] if left else []
    told += ["Long values are cut."] if cut is not short else []
    return cut | {"note": " ".join(filter(None, (cut.get("note", ""), *told, how)))}


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
    return len(_json(value))


def tokens(value: Any) -> int:
    """Tokens of ``value`` as JSON."""
    text = _json(value)
    return count_tokens(text) + math.ceil(tokens_more(text))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
