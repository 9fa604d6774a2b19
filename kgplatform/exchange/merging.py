"""A file into a graph that has something in it: what is not there is added, what is there stays.

Left out is what follows from a graph as a whole, and is made anew from the larger one: the knowledge tree, gists, and
which names are likely the same. Names, likenesses and forms are settled at once; the tree and gists on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from kgplatform.errors import InputError
from kgplatform.exchange.checking import Contents
from kgplatform.exchange.elements import Element, Node, Placed, Relationship, kinds_of
from kgplatform.exchange.writing import element_ids, node_rows, relationship_rows
from kgplatform.store import Parameters, Row, Store

LEFT_OUT = "The tree, gists and likenesses of the file were left out: run `kgplatform tree`, and `kgplatform gist`."
_KINDS = frozenset({"Graph", "Community", "Keyword", "Page"})
_TYPES = frozenset({"SAME_AS", "FORM_OF"})
_KEYS = ("fact", "rank", "number")
"""What tells relationships of one type between the same two nodes apart."""
_BATCH = 1000


def check_merge(store: Store, contents: Contents, state: Row) -> None:
    """Raise ``InputError`` if the file cannot be added to the graph: other vectors, or another text of a document."""
    theirs = contents.graph.properties
    if state.get("reembedding") or theirs.get("reembedding"):
        raise InputError("Embedding the graph again was interrupted. Run `kgplatform reembed` first.")
    pairs = [(each.get("embeddingModel"), each.get("embeddingDimension")) for each in (state, theirs)]
    if pairs[0] != pairs[1]:
        (mine, width), (other, other_width) = pairs
        raise InputError(
            f"The graph was embedded with {mine} ({width} dimensions), the file's with {other} ({other_width}). "
            "Run `kgplatform reembed` on one of them, so that both have the same model."
        )
    for start in range(0, len(contents.documents), _BATCH):
        others = store.read("exchange/other_texts", rows=contents.documents[start : start + _BATCH])
        if others:
            raise InputError(
                f"The graph has another text of {others[0]['name']!r} than the file. Remove it first, with "
                "`kgplatform remove`, or keep to one of them."
            )


def is_left_out(element: Element) -> bool:
    """Whether a merge does without it."""
    if isinstance(element, Node):
        return bool(_KINDS.intersection(element.labels))
    return element.type in _TYPES


def merge_nodes(store: Store, contents: Contents, nodes: Sequence[Node]) -> tuple[list[Row], list[Row]]:
    """The rows of those that are new, and of key elements that both have."""
    wanted = [node for node in nodes if not is_left_out(node)]
    there = element_ids(store, contents.kinds, (node.id for node in wanted))
    new = [
        Node(node.id, tuple(sorted({*node.labels, "Pending"})) if _is_element(node) else node.labels, node.properties)
        for node in wanted
        if node.id not in there
    ]
    met = [
        {"element": there[node.id], "labels": list(node.labels), "inSchema": node.properties.get("inSchema")}
        for node in wanted
        if node.id in there and _is_element(node)
    ]
    return node_rows(store, new), met


def merge_relationships(store: Store, contents: Contents, relationships: Sequence[Relationship]) -> list[Row]:
    """The rows of those that may be new, each with the property that tells it from others."""
    wanted = [each for each in relationships if not is_left_out(each)]
    return [row | _key(row["properties"]) for row in relationship_rows(store, contents.kinds, wanted)]


def recount(store: Store, elements: Iterable[Placed]) -> None:
    """Count again what chunks and facts of the file say, now that both graphs speak of them."""
    stream = (element for _, element in elements if isinstance(element, Node))
    while batch := list(islice(stream, _BATCH)):
        statements: list[tuple[str, Parameters]] = [
            ("build/recount_statements", {"chunks": _ids(batch, "Chunk")}),
            ("exchange/recount_weights", {"facts": _ids(batch, "Fact")}),
        ]
        store.write(*statements)


def _ids(nodes: Iterable[Node], kind: str) -> list[str]:
    return [node.id for node in nodes if kinds_of(node.labels) == [kind]]


def _is_element(node: Node) -> bool:
    return "KeyElement" in node.labels


def _key(properties: dict[str, Any]) -> Row:
    key = next((each for each in _KEYS if each in properties), "")
    return {"key": key, "value": properties.get(key)}
