"""What the graph knows about itself: here its format and its embedding model; each stage records more."""

from __future__ import annotations

from kgplatform.errors import EmbeddingMismatchError, StoreError
from kgplatform.ingest.indexes import define_keys, drop_unfit_vector_indexes
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Parameters, Row, Store

FORMAT_VERSION = 1
"""Of the graph: raised with every change that an older graph would have to be migrated for."""


def graph_state(store: Store) -> Row:
    """What the graph knows about itself; empty for a new graph.

    Raises ``StoreError`` for a later format, and for half an import.
    """
    rows = store.read("ingest/graph_state")
    state: Row = rows[0]["graph"] if rows else {}
    if state.get("format", FORMAT_VERSION) > FORMAT_VERSION:
        raise StoreError(
            f"The graph has format {state['format']}, this version of kgplatform reads {FORMAT_VERSION}. "
            "Upgrade kgplatform, or name another home folder."
        )
    if "importing" in state:
        raise StoreError(
            "An import into this graph was interrupted. Run the same `kgplatform import` again to finish it."
        )
    return state


def check_embedder(state: Row, embedder: Embedder) -> None:
    """Raise ``EmbeddingMismatchError`` if the graph's vectors come from another model than ``embedder``.

    Raises ``StoreError`` if some come from another, since embedding the graph again was interrupted.
    """
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
    if "embeddingModel" not in graph_state(store):
        drop_unfit_vector_indexes(store, embedder.dimension)
    record_embedder(store, embedder, reembedding=False)


def record_embedder(store: Store, embedder: Embedder, *, reembedding: bool) -> None:
    """Record the format, and that the graph's vectors are by ``embedder``; ``reembedding``: not all of them yet."""
    store.write(
        set_state(
            format=FORMAT_VERSION,
            embeddingModel=embedder.name,
            embeddingDimension=embedder.dimension,
            reembedding=True if reembedding else None,
        )
    )
