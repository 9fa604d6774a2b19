"""What a person sees of the graph, as plain records. Their fields are the names of the HTTP interface's JSON.

An ``id`` is that of a node of the graph, whatever its label: ids are hashes that name the label too. Character offsets
are those of ``kgplatform.records``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node as it is drawn.

    ``kind``: the one of our labels that says most: Entity, KeyElement (that is no entity), Attribute, Fact, Chunk,
    Document, Keyword, Community, Page, Run or Step. ``type``: the schema type of an Entity, else None. ``text``: what
    the node says, at most 300 characters: a fact, a passage, a summary, a gist, a value. ``degree``: its relationships.
    """

    id: str
    name: str
    kind: str
    type: str | None
    text: str
    degree: int


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relationship between two nodes that are drawn. ``id`` is the same each time, also in another database.

    ``type``: the relationship's type. ``label``: the predicate as the text has it, else the type in readable words.
    ``fact``: the id of the fact that the edge comes from, if it comes from one.
    """

    id: str
    source: str
    target: str
    type: str
    label: str
    fact: str | None


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Nodes, and edges among them. ``more``: how many neighbours were left out, or nodes where ids were asked for."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    more: int


@dataclass(frozen=True, slots=True)
class FactAt:
    """A fact and one place that states it: characters ``[start, end)`` of a document; as many of these as places.

    ``document``, ``chunk``: ids of nodes. ``title``: the document's name. ``page``: of the chunk's first character.
    """

    id: str
    text: str
    kind: str
    start: int
    end: int
    found: bool
    document: str
    title: str
    chunk: str
    page: int | None


@dataclass(frozen=True, slots=True)
class NodeDetails:
    """All that is known of one node. ``properties`` without vectors; ``facts`` are those about it, or stated in it.

    ``communities``: those that it is in, the innermost first.
    """

    node: GraphNode
    labels: tuple[str, ...]
    properties: dict[str, Any]
    facts: tuple[FactAt, ...]
    communities: tuple[GraphNode, ...]


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The characters ``[start, end)`` of a document that has ``characters`` of them, and the facts stated there.

    White space between chunks is not stored: it is given as a space or line ends, of exactly its length.
    """

    id: str
    name: str
    uri: str
    source: str
    characters: int
    start: int
    end: int
    text: str
    facts: tuple[FactAt, ...]


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of the knowledge tree: a Community, Keyword, Entity or Attribute.

    ``summary``: a community's summary, an entity's type, an attribute's value. ``size``: entities below a community,
    facts of an entity. ``depth``: levels above it. ``score``: how much a keyword or member belongs to its community.
    ``children``: how many nodes stand below it.
    """

    id: str
    name: str
    summary: str
    kind: str
    size: int
    depth: int
    score: float | None
    children: int


@dataclass(frozen=True, slots=True)
class MapDisc:
    """A community on the map: a disc that holds its members and the discs of the communities inside it.

    ``id`` is empty where there is no tree, and the disc a group of entities that are joined; ``name`` is then that of
    the most connected one. ``depth`` is 0 for the outermost.
    """

    id: str
    name: str
    x: float
    y: float
    radius: float
    depth: int


@dataclass(frozen=True, slots=True)
class GraphMap:
    """The most connected entities, laid out. Parallel tuples, one place an entity; the most connected first.

    ``sizes``: facts of each. ``communities``: the id of the innermost community of each, None without a tree.
    ``sources`` and ``targets``: places in ``ids``; two entities that relations join come once. ``x`` and ``y`` lie
    within -1000 and 1000. ``total_nodes``, ``total_edges``: entities and relations of the whole graph.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    types: tuple[str | None, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    sizes: tuple[int, ...]
    communities: tuple[str | None, ...]
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    total_nodes: int
    total_edges: int
    discs: tuple[MapDisc, ...] = ()


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A kept run of a reader. ``at``: when, in ISO 8601. ``steps``: how many."""

    id: str
    question: str
    reader: str
    answer: str | None
    note: str
    at: str
    seconds: float
    calls: int
    input_tokens: int
    output_tokens: int
    steps: int
