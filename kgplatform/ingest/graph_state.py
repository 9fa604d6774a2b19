"""What the graph knows about itself: here its format and its embedding model; each stage records more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgplatform.errors import EmbeddingMismatchError, InputError, StoreError
from kgplatform.ingest.write import alike_in, proposal_rows
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.passes import refuse_meanwhile
from kgplatform.neo4j.store import Parameters, Row, Store
from kgplatform.query import load_query, query_names
from kgplatform.records import Proposal
from kgplatform.resolution import found_by
from kgplatform.text.languages import exact_words, language_of, search_terms

FORMAT_VERSION = 6
"""Of the graph: raised with every change that an older graph would have to be migrated for."""

OLDER_GRAPH = (
    "This graph was made by an earlier version, which indexed fewer words. Ingest any of its files again to index all "
    "texts by the words of their language and as they were typed; this costs no model calls."
)


def graph_state(store: Store) -> Row:
    """What the graph knows about itself; empty for a new graph. Raises ``StoreError`` for a later format, for half an
    import, and while the graph is imported or embedded again."""
    state = state_meanwhile(store)
    if "importing" in state or "reembedding" in state:
        refuse_meanwhile(store, ("import", "reembed"))
    if "importing" in state:
        raise StoreError(
            "An import into this graph was interrupted. Run the same `kgplatform import` again to finish it."
        )
    return state


def state_meanwhile(store: Store) -> Row:
    """As ``graph_state``, also while the graph is imported or embedded again: for what needs no vectors."""
    rows = store.read("ingest/graph_state")
    state: Row = rows[0]["graph"] if rows else {}
    if state.get("format", FORMAT_VERSION) > FORMAT_VERSION:
        raise StoreError(
            f"The graph has format {state['format']}, this version of kgplatform reads {FORMAT_VERSION}. "
            "Upgrade kgplatform, or name another home folder."
        )
    return state


def check_embedder(state: Row, embedder: Embedder) -> None:
    """Raise ``EmbeddingMismatchError`` if the graph's vectors come from another model than ``embedder``. Raises
    ``StoreError`` if some come from another, since embedding the graph again was interrupted."""
    if state.get("reembedding"):
        raise StoreError("Embedding the graph again was interrupted. Run `kgplatform reembed` once more to finish it.")
    stored = state.get("embeddingModel")
    if stored is not None and (stored, state["embeddingDimension"]) != (embedder.name, embedder.dimension):
        raise EmbeddingMismatchError(stored, state["embeddingDimension"], embedder.name, embedder.dimension)


def set_state(**properties: object) -> tuple[str, Parameters]:
    """The statement that records ``properties`` of the graph; None takes one away."""
    return "ingest/set_graph_state", {"state": properties}


def define_graph(store: Store, embedder: Embedder) -> None:
    """Constraints, the indexes that writing needs, and which model embeds; other indexes are filled at the end."""
    define_keys(store)
    bring_up_to_date(store)
    if "embeddingModel" not in graph_state(store):
        drop_vector_indexes(store, but=embedder.dimension)
    record_embedder(store, embedder, reembedding=False)


def record_embedder(store: Store, embedder: Embedder, *, reembedding: bool) -> None:
    """Record the format, and that the graph's vectors are by ``embedder``; ``reembedding``: not all of them yet. Raises
    ``InputError`` for vectors that are too long to be indexed."""
    if embedder.dimension > _MOST_NUMBERS:
        raise InputError(
            f"The embedding model {embedder.name} makes vectors of {embedder.dimension:,} numbers, and Neo4j indexes "
            f"vectors of at most {_MOST_NUMBERS:,}. Choose another model, with KGPLATFORM_EMBEDDER."
        )
    store.write(
        set_state(
            format=FORMAT_VERSION,
            embeddingModel=embedder.name,
            embeddingDimension=embedder.dimension,
            reembedding=True if reembedding else None,
        )
    )


def is_up_to_date(state: Row) -> bool:
    """Whether a graph of such a ``state`` is of this version's format, or new."""
    return bool(state.get("format", FORMAT_VERSION) == FORMAT_VERSION)


def bring_up_to_date(store: Store) -> None:
    """Give an older graph what it lacks: the properties by which key elements that belong together are found, and what
    passages say of names (format 6); one of format 2 the nodes of proposed types, one of format 4 the words of passages
    as they were typed."""
    state = graph_state(store)
    if is_up_to_date(state):
        return
    define_keys(store)
    for rows in store.read_batches("ingest/older_elements"):
        store.write(("ingest/found_by", {"rows": [{"id": row["id"], **found_by(row["key"])} for row in rows]}))
    for rows in store.read_batches("ingest/older_proposals"):
        proposed = (
            proposal_rows(row["passage"], (Proposal(**each) for each in json.loads(row["proposals"]))) for row in rows
        )
        store.write(
            ("ingest/proposed", {"rows": [each for some in proposed for each in some.values()]}),
            ("ingest/remove_older_proposals", {"passages": [row["passage"] for row in rows]}),
        )
    for rows in store.read_batches("ingest/older_passages"):  # a document has the language of its first passage
        firsts = [row for row in rows if row["document"] is not None]
        told = [{"id": row["document"], "language": language_of(row["text"]) or None} for row in firsts]
        said = [{"id": row["id"], "state": {"alike": alike_in(row["passage"], row["entities"])}} for row in rows]
        store.write(
            ("ingest/document_languages", {"rows": told}),
            ("ingest/passage_words", {"rows": word_rows(rows)}),
            ("ingest/passage_states", {"rows": said}),
        )
    _define(store, {f"neo4j/schema/fulltext_{kind}": {} for kind in ("chunk_words", "chunk_exact")})
    store.define("neo4j/schema/await_indexes", seconds=_INDEX_SECONDS)
    store.write(set_state(format=FORMAT_VERSION))


def word_rows(passages: Iterable[Row]) -> list[Row]:
    """Rows of ``ingest/passage_words`` for ``passages`` (id, text)."""
    return [
        {
            "id": each["id"],
            "words": " ".join(search_terms(each["text"], language_of(each["text"]))) or None,
            "exact": exact_words(each["text"]),
        }
        for each in passages
    ]


_INDEX_SECONDS = 3600
_MOST_NUMBERS = 4096
"""Of a vector that Neo4j indexes."""
_VECTOR_KINDS = ("chunk", "fact", "entity", "element", "community", "page")
_VECTOR_INDEX: dict[str, Any] = {"vector.similarity_function": "cosine", "vector.quantization.enabled": False}
# Passages matter most, and have the links and candidates of Neo4j's default. For the many facts and entities half of
# them do, in half the time to fill (docs/explanation/decisions.md).
_CLOSE: dict[str, Any] = {"vector.hnsw.m": 16, "vector.hnsw.ef_construction": 100}
_LIGHT: dict[str, Any] = {"vector.hnsw.m": 8, "vector.hnsw.ef_construction": 64}


def define_keys(store: Store) -> None:
    """Constraints, and the indexes that writing needs."""
    keys = ("neo4j/schema/constraint", "neo4j/schema/index")
    _define(store, {name: {} for name in query_names("neo4j/schema") if name.startswith(keys)})


def define_indexes(
    store: Store,
    dimension: int,
    more: Sequence[str] = (),
    *,
    vectors: Sequence[str] = ("chunk", "fact", "entity", "element"),
    words: Sequence[str] = ("chunk", "chunk_words", "chunk_exact", "entity"),
) -> None:
    """The indexes that retrieval needs, online: of ``vectors``, and in full text of ``words``. ``more``: "community"
    and "page", where the graph has those."""
    statements: dict[str, Parameters] = {
        f"neo4j/schema/vector_{kind}": {"options": vector_options(kind, dimension)} for kind in (*vectors, *more)
    }
    _define(store, statements | {f"neo4j/schema/fulltext_{kind}": {} for kind in words})
    store.define("neo4j/schema/await_indexes", seconds=_INDEX_SECONDS)


def _define(store: Store, statements: Mapping[str, Parameters]) -> None:
    """Make what is not there yet: to ask for all names at once costs less than a statement for each."""
    there = {row["name"] for row in store.read("ingest/index_names")}
    for statement, parameters in statements.items():
        name, _, _ = load_query(statement).text.partition(" IF NOT EXISTS")
        if name.split()[-1] not in there:
            store.define(statement, **parameters)


def vector_options(kind: str, dimension: int) -> dict[str, Any]:
    """How the vector index of a kind of node ("chunk", "fact" …) is made."""
    return {"indexConfig": {**_VECTOR_INDEX, **(_CLOSE if kind == "chunk" else _LIGHT), "vector.dimensions": dimension}}


def drop_vector_indexes(store: Store, *, but: int | None = None) -> None:
    """Take away the vector indexes, whose form depends on the embedding model; with ``but``, those of another dimension
    alone, which a graph of another model has left: whoever deletes all nodes leaves the indexes."""
    left = {} if but is None else {row["name"]: row["dimension"] for row in store.read("ingest/vector_dimensions")}
    for kind in _VECTOR_KINDS:
        if but is None or left.get(f"{kind}_embedding", but) != but:
            store.define(f"neo4j/schema/drop_vector_{kind}")
