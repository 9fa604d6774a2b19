"""What the tools of the MCP server return, and the thread that makes it.

The work stops when the client cancels it, and an error is one sentence. A result is bounded, so that it fits a client's
window; its ``note`` says what was left out.

    bounded({"passages": [...], "facts": [...]}, 20_000)      # {"passages": […], "facts": [], "note": "12 of 40 …"}
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.stopping import Stop
from kgplatform.errors import KgError, ModelError
from kgplatform.records import Progress, Step
from kgplatform.shown import encode
from kgplatform.text import listed

T = TypeVar("T")

_DETAIL = 200
"""Characters of a step's detail that a client gets."""

SMALLEST = 1_000
"""The smallest bound in characters that any result fits."""

_NOTE_ROOM = 300
_SHORTEST = 80
"""Characters that are left of a text at least."""
_TOP, _ROW = 0, 1
"""Depths: of what has a name in the result, and of the items of a list there."""

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


async def in_thread(graph: KnowledgeGraph, work: Callable[[KnowledgeGraph], T]) -> T:
    """Run ``work`` on ``graph`` in a thread. It ends within a second if the client cancels the request.

    Raises ``ToolError``.
    """
    stop = Stop()
    try:
        return await anyio.to_thread.run_sync(work, graph.within(stop), abandon_on_cancel=True)
    except KgError as error:
        raise ToolError(" ".join(f"{error} {_found_until_then(error)}".split())) from error
    finally:
        stop.set()


def _found_until_then(error: KgError) -> str:
    """The titles of what a reader that failed had found."""
    passages = error.evidence.passages if isinstance(error, ModelError) and error.evidence is not None else ()
    titles = list(dict.fromkeys(passage.title for passage in passages))
    return f"Found until then (search shows the passages): {listed(titles)}." if titles else ""


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
    short = _shorten_lists(plain, room)
    left = [
        f"{len(short[name])} of {len(value)} {name}"
        for name, value in plain.items()
        if _has_parts(value) and len(short[name]) < len(value)
    ]
    cut = _shorten_values(short, room)
    told = [f"Shown are {' and '.join(left)}."] if left else []
    told += ["Long values are cut."] if cut is not short else []
    return cut | {"note": " ".join(filter(None, (cut.get("note", ""), *told, how)))}


def _shorten_lists(plain: dict[str, Any], room: int) -> dict[str, Any]:
    """``plain`` with fewer items in its lists, until it fits or each list has one left."""
    sizes = {name: [size(item) + 1 for item in value] for name, value in plain.items() if _has_parts(value)}
    over = size(plain) - room
    while over > 0:
        name = max(sizes, key=lambda each: (len(sizes[each]) > 1, sum(sizes[each])), default=None)
        if name is None or len(sizes[name]) <= 1:
            break
        over -= sizes[name].pop()
    return plain | {name: plain[name][: len(kept)] for name, kept in sizes.items()}


def _has_parts(value: Any) -> bool:
    """Whether it is a list of rows or objects; a list of column names is not."""
    return isinstance(value, list) and any(isinstance(each, (dict, list)) for each in value)


def _shorten_values(plain: dict[str, Any], room: int) -> dict[str, Any]:
    """``plain`` with its texts cut ever shorter, then what lists and objects inside hold, until it fits."""
    text = items = room  # nothing that is longer fits
    while size(plain) > room and (text > _SHORTEST or items > 1):
        if text > _SHORTEST:
            text = max(_SHORTEST, text // 2)
        else:
            items //= 2
        plain = {name: _cut(value, text, items, _TOP) for name, value in plain.items()}
    return plain


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
