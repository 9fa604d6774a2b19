"""A graph of any size, invented: entities of the schema ``general`` in planted communities, with text that states them.

with Store(connection) as store:
    write_large_graph(store, entities=10_000)

It is written by the platform's own statements and can be opened with the embedder ``hash:64``.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgplatform.extract.schema import Schema, load_schema
from kgplatform.ingest.graph_state import define_graph
from kgplatform.ingest.settle import embed_pending, settle
from kgplatform.ingest.write import Rows, document_statements, extraction_statements, rows_of
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.query import batches
from kgplatform.records import (
    SILENT,
    AtomicFact,
    Document,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Passage,
)
from kgplatform.settings import load_settings
from kgplatform.text import node_id

LEAF, INSIDE = 25, 8
"""Entities of a community, and communities of a larger one."""
STATEMENTS = 3
"""Triples of an entity."""
DIMENSION = 64

_SENTENCES, _PASSAGES = 12, 20
_AT_ONCE = 200
_SYLLABLES = ("ba", "ren", "tol", "vi", "mar", "su", "del", "ka", "fen", "or", "lis", "ta", "gri", "mon", "pe", "hal")
_TYPES = (
    *(("Person", 0.34), ("Organization", 0.2), ("Place", 0.18), ("Product", 0.1)),
    *(("Event", 0.07), ("Work", 0.06), ("Concept", 0.05)),
)
_RELATIONS = ("knows", "part_of", "uses", "located_in", "works_for", "created", "founded", "owns", "caused", "about")

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class LargeGraph:
    """What was invented. ``leaves``, ``tops``: (n,) the communities of each entity. ``joined``: (m, 2) entities."""

    names: list[str]
    types: list[str]
    leaves: Indices
    tops: Indices
    joined: Indices
    relations: Indices


def write_large_graph(store: Store, entities: int = 10_000) -> LargeGraph:
    """Write a graph of that many ``entities`` into an empty database, with a knowledge tree."""
    graph = invented(entities)
    schema = load_schema("general")
    embedder = HashEmbedder(DIMENSION)
    define_graph(store, embedder)
    ids: dict[str, str] = {}
    for written in batches(list(_documents(graph)), max(1, _AT_ONCE // _PASSAGES)):
        _write(store, schema, written, ids)
    settle(store, embedder, load_settings(embedder=embedder.name), SILENT)
    _write_tree(store, embedder, graph, [ids[name] for name in graph.names])
    state = {"schema": json.dumps(schema.to_dict()), "expansions": "[]", "chunkTokens": 300}
    store.write(("ingest/set_graph_state", {"state": {**state, "extractor": "recorded", "mode": "strict"}}))
    return graph


def invented(entities: int) -> LargeGraph:
    """The same each time for the same number. A few entities of each community are in most of its statements."""
    rng = np.random.default_rng(0)
    count = max(1, entities // LEAF)
    leaves = np.sort(rng.integers(count, size=entities))
    tops = leaves // INSIDE
    heads = np.repeat(np.arange(entities), STATEMENTS)
    kind = rng.random(len(heads))
    near, around = _fellows(leaves, heads, rng), _fellows(tops, heads, rng)
    tails = np.where(kind < 0.8, near, np.where(kind < 0.95, around, _popular(entities, len(heads), rng)))
    joined = np.stack([heads, tails], axis=1)[heads != tails]
    chances = np.array([chance for _, chance in _TYPES])
    types = rng.choice(len(_TYPES), size=entities, p=chances / chances.sum())
    return LargeGraph(
        names=[_name(number, rng) for number in range(entities)],
        types=[_TYPES[each][0] for each in types],
        leaves=leaves,
        tops=tops,
        joined=joined,
        relations=rng.integers(len(_RELATIONS), size=len(joined)),
    )


def _name(number: int, rng: np.random.Generator) -> str:
    words = ["".join(rng.choice(_SYLLABLES, size=2 + each)) for each in range(2)]
    return " ".join(word.capitalize() for word in words) + f" {number}"


def _fellows(groups: Indices, rows: Indices, rng: np.random.Generator) -> Indices:
    """For each of ``rows`` an entity of the same group; the first ones of a group are chosen more often."""
    begins, ends = np.searchsorted(groups, groups[rows]), np.searchsorted(groups, groups[rows], side="right")
    return begins + ((ends - begins) * rng.random(len(rows)) ** 2.5).astype(np.int64)


def _popular(entities: int, size: int, rng: np.random.Generator) -> Indices:
    return (entities * rng.random(size) ** 4).astype(np.int64)


def _documents(graph: LargeGraph) -> Iterator[tuple[Document, list[tuple[Passage, Extraction]]]]:
    """Documents of 20 passages, each of 12 sentences that state one triple each."""
    pieces = [graph.joined[at : at + _SENTENCES] for at in range(0, len(graph.joined), _SENTENCES)]
    for number, at in enumerate(range(0, len(pieces), _PASSAGES)):
        title = f"Report {number}"
        id_, uri = node_id("document", f"invented:{number}"), f"invented:{number}"
        passages, texts, start = [], [], 0
        for index, rows in enumerate(pieces[at : at + _PASSAGES]):
            text, extraction = _passage(graph, (at + index) * _SENTENCES, rows)
            name, end = f"{title} · {index}", start + len(text)
            passage = Passage(
                node_id("chunk", id_, start, end), id_, name, index, start, end, None, text, len(text) // 4
            )
            passages.append((passage, extraction))
            texts.append(text)
            start = end + 2
        yield Document(id_, title, uri, uri, "\n\n".join(texts), node_id(*texts)), passages


def _passage(graph: LargeGraph, first: int, rows: Indices) -> tuple[str, Extraction]:
    sentences, triples = [], []
    for place, (head, tail) in enumerate(rows.tolist(), start=first):
        subject, relation, other = graph.names[head], _RELATIONS[graph.relations[place]], graph.names[tail]
        sentences.append(f"{subject} {relation.replace('_', ' ')} {other}.")
        triples.append(ExtractedTriple(subject, relation, other, sentences[-1]))
    named = [ExtractedEntity(graph.names[each], graph.types[each]) for each in dict.fromkeys(rows.ravel().tolist())]
    size = ExtractedAttribute(named[0].name, "size", str(first), sentences[0])
    elements = (named[0].name, named[-1].name, f"matter {first // (_SENTENCES * 7)}")
    fact = AtomicFact(sentences[-1], elements, sentences[-1])
    return " ".join(sentences), Extraction(tuple(named), tuple(triples), (size,), (fact,))


def _write(
    store: Store,
    schema: Schema,
    written: Sequence[tuple[Document, list[tuple[Passage, Extraction]]]],
    ids: dict[str, str],
) -> None:
    store.write(*document_statements([(document, [each for each, _ in passages]) for document, passages in written]))
    rows = Rows()
    for document, passages in written:
        for passage, extraction in passages:
            rows.add(rows_of(passage, extraction, schema, document.title))
    ids.update((row["name"], row["id"]) for row in rows.entities.values())
    states = [{"id": passage.id, "state": {"state": "extracted"}} for _, passages in written for passage, _ in passages]
    store.write(*extraction_statements(rows, states))


def _write_tree(store: Store, embedder: HashEmbedder, graph: LargeGraph, ids: Sequence[str]) -> None:
    """The planted communities in two levels, as the method ``planted``; the first two of each are its keywords."""
    communities, keywords, parents, members = [], [], [], []
    for depth, groups in enumerate((graph.tops, graph.leaves)):
        for number in np.unique(groups).tolist():
            inside = np.flatnonzero(groups == number)
            id_, first = node_id("community", depth, number), graph.names[inside[0]]
            said = {
                "name": f"Around {first}",
                "summary": f"{len(inside)} entities, {first} before all.",
                "nameDue": False,
            }
            communities.append({"id": id_, "depth": depth, "size": len(inside), "center": ids[inside[0]], **said})
            for rank, each in enumerate(inside[:2].tolist()):
                known = {"id": node_id("keyword", id_, ids[each]), "name": graph.names[each], "score": 0.9 - rank / 10}
                keywords.append({**known, "entity": ids[each], "community": id_})
            if depth:
                parents.append({"id": id_, "parent": node_id("community", 0, number // INSIDE)})
                scores = {"score": 0.5, "signature": 0}
                members += [{"id": ids[each], "community": id_, **scores} for each in inside.tolist()]
    store.write_rows("tree/write_communities", communities)
    store.write_rows("tree/write_parents", parents)
    store.write_rows("tree/write_members", members)
    store.write_rows("tree/write_keywords", keywords)
    embed_pending(store, embedder, "communities", lambda *_: None)
    done = {"treeMethod": "planted", "treeEntities": len(ids), "treeState": "complete"}
    store.write(("ingest/set_graph_state", {"state": done}))
