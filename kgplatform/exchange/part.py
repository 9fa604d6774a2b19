"""The part of a graph that some documents speak of, as if nothing else had ever been read.

What a passage says is a function of that passage alone (``ingest.write``), and every name and statement has an edge to
each passage that has it. So the part is what the passages of these documents have edges to, less what follows from all
passages together: names, aliases and likenesses, which are settled anew; counts; the tree; what the schema has grown
by. What people added to names and statements themselves is of no document, and stays out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from kgplatform.exchange.elements import GRAPH_ID, Element, Node, Relationship, compact, for_file
from kgplatform.extract.schema import Schema
from kgplatform.ingest.corrections import Named
from kgplatform.ingest.graph_state import graph_state
from kgplatform.ingest.schema_expansion import KnownGrowth
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches

_DOCUMENTS, _NODES = 50, 500
_SHARED = {
    "KeyElement": (
        *("name", "key", "stem", "nameWords", "consonants", "type", "inSchema"),
        *("embedding", "elementEmbedding"),
    ),
    "Fact": ("name", "kind", "text", "subject", "predicate", "object", "inSchema", "embedding"),
    "Attribute": ("name", "key", "value"),
    "ProposedType": ("name", "kind"),
}
"""What nodes have that several documents may speak of: their properties that follow from what they are."""
_OF_GRAPH = (
    *("format", "embeddingModel", "embeddingDimension", "schema", "schemaChosen", "extractor", "mode", "chunkTokens"),
    "createdAt",
)


def part_elements(store: Store, documents: Collection[str]) -> Iterator[Element]:
    """Every node of the part, and the relationships between them, in the order of their ids. Key elements are marked:
    an import settles their names and likenesses."""
    state = graph_state(store)
    grown, expansions = _grown(store, state, documents)
    told = {name: for_file(state[name]) for name in _OF_GRAPH if name in state}
    yield Node(GRAPH_ID, ("Graph",), told | ({} if grown is None else {"expansions": expansions}))
    where: dict[str, str] = {}
    for some in batches(sorted(documents), _DOCUMENTS):
        where.update((row["id"], row["element"]) for row in store.read("exchange/part_ids", documents=list(some)))
    ids = iter(sorted(where))
    while some := list(islice(ids, _NODES)):
        rows = store.read("exchange/part_nodes", elements=[where[id_] for id_ in some])
        for row in sorted(rows, key=lambda row: str(row["id"])):
            if "Correction" not in row["labels"] or _is_of_part(row["properties"], where):
                yield _node(row, grown)
                yield from _relationships(row, where)


def _grown(store: Store, state: Row, documents: Collection[str]) -> tuple[Schema | None, str]:
    """The schema as what these documents propose has grown it, and what it has grown by as the graph keeps that."""
    if "schema" not in state:
        return None, ""
    growth = KnownGrowth(store, Schema.from_dict(json.loads(state["schema"])), only=documents)
    return growth.schema, growth.kept


def _is_of_part(correction: Row, where: Collection[str]) -> bool:
    """Whether a correction is about this part; it keeps what is of the part alone."""
    what = json.loads(correction["what"])
    if correction["kind"] == "different":
        return all(Named.of(what[key]).id in where for key in ("entity", "other"))
    if "documents" in what:
        correction["what"] = json.dumps(what | {"documents": [id_ for id_ in what["documents"] if id_ in where]})
    correction.pop("why", None)
    return True


def _node(row: Row, schema: Schema | None) -> Node:
    labels, properties = set(row["labels"]), dict(row["properties"])
    del properties["id"]
    for kind in _SHARED.keys() & labels:
        properties = {name: properties[name] for name in _SHARED[kind] if name in properties}
        labels &= {kind, "Entity", "Pending"}
    if "KeyElement" in labels:
        labels.add("Pending")
        properties["joinDue"] = True
    if properties.get("inSchema") and "Entity" in labels and schema is not None:
        type_ = properties.get("type")
        properties["inSchema"] = type_ is None or schema.entity(type_) is not None
        labels.add(schema.label_of(type_) or "Entity")
    own = {name: for_file(value) for name, value in sorted(properties.items()) if name != "claimedBy"}
    return Node(row["id"], tuple(sorted(labels)), own)


def _relationships(row: Row, where: Collection[str]) -> Iterator[Relationship]:
    """Those of ``row`` whose ends are both in the part. A relation weighs as much as the part has passages for it."""
    there: Sequence[list[Any]] = [each for each in row["relationships"] if each[0] in where and each[2] in where]
    passages = sum(kind == "FROM_CHUNK" and start == row["id"] for start, kind, *_ in there)
    found = []
    for start, kind, end, properties in there:
        more = {"weight": passages} if "weight" in properties else {}
        own = {name: for_file(value) for name, value in sorted({**properties, **more}.items())}
        found.append(Relationship(kind, start, end, own))
    yield from sorted(found, key=lambda each: (each.type, each.start, each.end, compact(each.properties)))
