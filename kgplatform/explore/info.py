"""What is known of a graph, as plain records: its documents, schema and counts, and what a person looks at.

An ``id`` is that of a node of the graph, whatever its label: ids are hashes that name the label too. Character offsets
are those of ``kgplatform.records``. The fields are the names of the HTTP interface's JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote

from kgplatform.errors import Code, InputError, coded
from kgplatform.explore.runs import CallStatistics
from kgplatform.neo4j.filters import Where
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import MetadataValue, Statement, metadata_name, metadata_of, with_location
from kgplatform.shown import file_of


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document of the graph. ``characters`` and ``tokens`` of its text; passages by what became of them.

    ``pages`` of its gist memory, and how many percent of its words the gists save, once each page has one.
    ``metadata``: what else is known of it.
    """

    id: str
    title: str
    uri: str
    source: str
    characters: int
    tokens: int
    added_at: str
    modified_at: str | None
    passages: int
    extracted: int
    failed: int
    pages: int = 0
    compression: float | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, row: Row) -> DocumentInfo:
        """From a row of ``graph/documents``."""
        known = dict(row)
        metadata = metadata_of(known.pop("meta"))
        return cls(**known, metadata=metadata)


@dataclass(frozen=True, slots=True)
class MetadataName:
    """A name of metadata: ``values`` with the number of documents that have each, those of most first; ``distinct``:
    how many values there are in all."""

    name: str
    values: tuple[tuple[str | int | float | bool, int], ...]
    distinct: int

    @classmethod
    def of(cls, row: Row) -> MetadataName:
        """From a row of ``graph/metadata``."""
        return cls(metadata_name(row["name"]), tuple(map(tuple, row["values"])), row["distinct"])


@dataclass(frozen=True, slots=True)
class ElementGraph:
    """The figures of GraphReader's Table 9. A node is a key element with all its forms that has a fact; nodes that
    share a fact are neighbours."""

    nodes: int
    facts: int
    mean_neighbours: float
    most_neighbours: int
    mean_facts: float
    most_facts: int


ELEMENTS_COUNTED = 50_000
"""Key elements up to which the figures of their graph are counted, in some 2 s: whoever wants counts does not wait."""


def element_graph(store: Store, nodes: Mapping[str, int]) -> ElementGraph | None:
    """The graph that GraphReader walks; None where ``nodes``, by label, has too many key elements to count it."""
    if nodes.get("KeyElement", 0) > ELEMENTS_COUNTED:
        return None
    return ElementGraph(*store.read("explore/element_graph")[0].values())


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of nodes by label and relationships by type, the graph that GraphReader walks, and its saved walks.

    ``elements``: None in a graph of more than 50,000 key elements, where counting it takes long. ``untyped``: entities
    without a type in the schema.
    """

    nodes: dict[str, int]
    relationships: dict[str, int]
    elements: ElementGraph | None
    calls: CallStatistics | None
    untyped: int = 0


def named_documents(names: str | Path | Sequence[str | Path], known: list[DocumentInfo]) -> list[DocumentInfo]:
    """Those of ``known`` that ``names`` mean, by id, URI, path, title or folder, in the order of their ids. Raises
    ``InputError`` for a name that means none, or that could mean several things, and where there is no name."""
    if not isinstance(names, Path | Iterable):
        raise InputError(f"Name documents by id, URI, path or title, not by {names!r:.100}.")
    wanted = [names] if isinstance(names, str | Path) else list(names)
    chosen = {info.id: info for name in wanted for info in _matching(str(name), known)}
    if not wanted:
        raise InputError("Name at least one document. `kgplatform documents` lists them.")
    return [chosen[each] for each in sorted(chosen)]


def _matching(name: str, known: list[DocumentInfo]) -> list[DocumentInfo]:
    """The documents that ``name`` means. A path or URI of a file with several documents means all of them, and so does
    a folder."""
    if not name.strip():
        raise InputError("A document's name is empty. `kgplatform documents` lists the documents.")
    given = Path(name).expanduser()
    path = (given.resolve() if ".." in given.parts else given.absolute()).as_uri()  # as files are found
    text = f"text:{quote(name, safe='/', errors='surrogatepass')}"  # as texts that a program gave are named by ids
    if by_address := [
        info for info in known if name in (info.id, info.uri, info.source) or info.source in (path, text)
    ]:
        return by_address
    by_title = [info for info in known if info.title == name]
    in_folder = [info for info in known if info.source.startswith(path.rstrip("/") + "/")]
    if by_title and in_folder:
        raise InputError(
            f"{name!r} is the title of a document and the name of a folder. For the document give its URI, "
            f"{by_title[0].uri}; for the folder its whole path."
        )
    if len(by_title) > 1:
        uris = "; ".join(info.uri for info in by_title)
        raise InputError(f"{len(by_title)} documents are called {name!r}. Name one by its URI: {uris}")
    # As it is shown: a path that is no UTF-8, an upload.
    shown = [info for info in known if Path(file_of(info.source)).absolute() == given.absolute()]
    if len({info.source for info in shown}) > 1:
        uris = "; ".join(info.uri for info in shown)
        raise InputError(f"Several files are shown as {name!r}. Name one by its URI: {uris}")
    if not (by_title or in_folder or shown):
        raise coded(Code.UNKNOWN_DOCUMENT, document=repr(name))
    return by_title or in_folder or shown


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node as it is drawn.

    ``kind``: the one of our labels that says most: Entity, KeyElement (that is no entity), Attribute, Fact, Chunk
    (a passage), Document, Keyword, Community, Page, Run or Step. ``type``: the schema type of an Entity, else
    None. ``text``: what the node says, at most 300 characters: a fact, a passage, a summary, a gist, a value.
    ``degree``: its relationships.
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
    ``fact``: the id of the fact that the edge comes from, if it comes from one; ``times``: when it is so by each place
    that states it, ``(since, until)``.
    """

    id: str
    source: str
    target: str
    type: str
    label: str
    fact: str | None
    times: tuple[tuple[str | None, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Nodes, and edges among them. ``more``: how many neighbours were left out, or nodes where ids were asked for."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    more: int


@dataclass(frozen=True, slots=True)
class FactAt:
    """A fact and one place that states it: characters ``[start, end)`` of a document; as many of these as places.

    ``document``, ``passage``: ids of nodes. ``title``: the document's. ``location``: what people call it, "page 3".
    ``by_hand``: somebody added it (``kg.correct.add``). ``since``, ``until``, ``granularity``: those of a
    ``Citation``.
    """

    id: str
    text: str
    kind: str
    start: int
    end: int
    found: bool
    document: str
    title: str
    passage: str
    page: int | None
    location: str | None
    by_hand: bool
    since: str | None = None
    until: str | None = None
    granularity: str | None = None


def facts_once(rows: Sequence[Mapping[str, Any]]) -> list[FactAt]:
    """Facts with their places, less triples and attributes that a statement among them says in the same place.

    ``sameAs`` of a row: the ids of such statements. They have the words of the text, a triple only what a rule or a
    model made of them.
    """
    listed = {row["id"] for row in rows}
    kept = (row for row in rows if listed.isdisjoint(row["sameAs"]))
    return [FactAt(**{name: value for name, value in with_location(row).items() if name != "sameAs"}) for row in kept]


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

    White space between passages is not stored: it is given as a space or line ends, of exactly its length. ``summary``
    and ``questions``: what a model wrote of it, where one did.
    """

    id: str
    title: str
    uri: str
    source: str
    characters: int
    start: int
    end: int
    text: str
    facts: tuple[FactAt, ...]
    summary: str = ""
    questions: tuple[str, ...] = ()


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
    """A community on the map. ``around``: the place in ``GraphMap.discs`` of the disc that it lies in, -1 if in none.

    ``id`` is empty where there is no tree, and the disc a group of entities that are joined; ``name`` is then that of
    the most connected one. A disc without a name only holds discs together that are joined.
    """

    id: str
    name: str
    around: int


@dataclass(frozen=True, slots=True)
class GraphMap:
    """The most connected entities: those with the most facts, sentences included, and of as many the most often
    mentioned. Parallel tuples, one place an entity; the most connected first.

    ``sizes``: facts of each. ``communities``: the id of the innermost community of each, None without a tree.
    ``inside``: the place in ``discs`` of the innermost disc of each, -1 if it is in none. ``sources`` and ``targets``:
    places in ``ids``; two entities that relations join come once; ``together`` of these lines stand for no relation but
    for sentences that name both: such are drawn for entities without a relation. ``times``: of the lines that say a
    time, the place in ``sources``, and ``(since, until)`` by each place that states one. ``total_nodes``,
    ``total_edges``: entities and relations of the whole graph.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    types: tuple[str | None, ...]
    sizes: tuple[int, ...]
    communities: tuple[str | None, ...]
    inside: tuple[int, ...]
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    total_nodes: int
    total_edges: int
    discs: tuple[MapDisc, ...] = ()
    together: int = 0
    times: tuple[tuple[int, tuple[tuple[str | None, str | None], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class MapFilter:
    """Which entities a map has: those with at least ``least`` facts that meet each condition that is given.

    ``types``: their type is one of these. ``communities``, ``documents``: they are in one of these (ids), or named in
    one. ``where``: they are named in a document with these metadata, as in ``search``. ``relations``: they have a
    relation of one of these types (Neo4j's, as ``FOUNDED``); lines stand for those.
    """

    types: tuple[str, ...] = ()
    communities: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    least: int = 0
    where: Where = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class RelationFigure:
    """``count`` relations of ``type`` from entities of the type ``head`` to those of ``tail``; None: without a type."""

    head: str | None
    type: str
    tail: str | None
    count: int


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A saved run of a reader. ``failed``: the model failed, as ``note`` says. ``at``: ISO 8601. ``statements`` and
    ``sufficient``: those of its ``Answer``."""

    id: str
    question: str
    reader: str
    answer: str | None
    note: str
    failed: bool
    at: str
    seconds: float
    calls: int
    input_tokens: int
    output_tokens: int
    steps: int
    statements: tuple[Statement, ...] = ()
    sufficient: bool | None = None


DocumentOrder = Literal["title", "file", "added", "characters", "passages", "facts", "failed"]
ORDERS: tuple[DocumentOrder, ...] = get_args(DocumentOrder)
"""What documents can be sorted by."""


@dataclass(frozen=True, slots=True)
class DocumentRow(DocumentInfo):
    """A document, how many ``facts`` are stated in it, and at most three reasons why passages of it failed."""

    facts: int = 0
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Some documents, and how many there are in all."""

    documents: tuple[DocumentRow, ...]
    total: int
