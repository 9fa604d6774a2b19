"""What follows from all chunks together: names and aliases, vectors, likenesses, indexes.

Every node that is not complete carries the label ``Pending``; each stage works through those nodes and takes it off,
so that a run that dies goes on where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgplatform.build.grouping import find_pairs, is_plain, settle_forms, with_stems
from kgplatform.build.resolve import best_name, like_names
from kgplatform.embed import Embedder
from kgplatform.errors import EmbeddingMismatchError, StoreError
from kgplatform.query import query_names
from kgplatform.settings import Settings
from kgplatform.store import Row, Store, batches

FORMAT_VERSION = 1
"""Of the graph: raised with every change that an older graph would have to be migrated for."""

Progress = Callable[[str, int, int], None]
"""Called with a stage's name, how much of it is done, and how much there is."""

_BATCH = 1000
_INDEX_SECONDS = 3600
_VECTOR_KINDS = ("chunk", "fact", "entity", "element", "community", "page")
_VECTOR_INDEX: dict[str, Any] = {"vector.similarity_function": "cosine", "vector.quantization.enabled": False}
# Half the links and two thirds of the candidates of Neo4j's defaults for the many facts and entities: the same recall
# as its quantised default, in half the time to fill (docs/decisions.md). Passages are few, and matter most.
_LIGHT: dict[str, Any] = {"vector.hnsw.m": 8, "vector.hnsw.ef_construction": 64}


def graph_state(store: Store) -> Row:
    """What the graph knows about itself; empty for a new graph.

    Raises ``StoreError`` for a later format, and for half an import.
    """
    rows = store.read("build/graph_state")
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


def define_graph(store: Store, embedder: Embedder) -> None:
    """Constraints, the indexes that writing needs, and which model embeds; other indexes are filled at the end."""
    define_keys(store)
    if "embeddingModel" not in graph_state(store):
        _drop_unfit_vector_indexes(store, embedder.dimension)
    _record_embedder(store, embedder, reembedding=False)


def define_keys(store: Store) -> None:
    """Constraints, and the indexes that writing needs."""
    for name in query_names("schema"):
        if name.startswith(("schema/constraint", "schema/index")):
            store.define(name)


def _record_embedder(store: Store, embedder: Embedder, *, reembedding: bool) -> None:
    state = {
        "format": FORMAT_VERSION,
        "embeddingModel": embedder.name,
        "embeddingDimension": embedder.dimension,
        "reembedding": True if reembedding else None,
    }
    store.write(("build/set_graph_state", {"state": state}))


def settle(store: Store, embedder: Embedder, settings: Settings, progress: Progress) -> dict[str, float]:
    """Complete every pending node and bring the indexes online. Returns the seconds of each stage."""
    clock = _Clock()
    pending = store.read("build/pending_elements")
    clock.time("names", lambda: _settle_names(store, embedder, pending, clock, progress))
    clock.time("vectors", lambda: _embed(store, embedder, "chunks", clock, progress))
    clock.time("vectors", lambda: _embed(store, embedder, "facts", clock, progress))
    if pending:
        keys = with_stems(store, store.read("build/element_keys"))
        clock.time("likenesses", lambda: _settle_likenesses(store, pending, keys, settings.same_as_threshold))
        clock.time("forms", lambda: _settle_forms(store, embedder, pending, keys, settings.form_threshold))
        _mark_settled(store, pending, progress)
    clock.time("indexes", lambda: define_indexes(store, embedder.dimension))
    return clock.seconds


def settle_communities(store: Store, embedder: Embedder, progress: Progress) -> dict[str, float]:
    """Embed the communities whose vectors are due, and bring their index online. Returns the seconds of each stage."""
    return _settle_kind(store, embedder, "communities", "community", progress)


def settle_pages(store: Store, embedder: Embedder, progress: Progress) -> dict[str, float]:
    """The same for pages, by their gists."""
    return _settle_kind(store, embedder, "pages", "page", progress)


def _settle_kind(store: Store, embedder: Embedder, kind: str, index: str, progress: Progress) -> dict[str, float]:
    clock = _Clock()
    clock.time("vectors", lambda: _embed(store, embedder, kind, clock, progress))
    clock.time("indexes", lambda: _define_vector_index(store, index, embedder.dimension))
    clock.time("indexes", lambda: store.define("schema/await_indexes", seconds=_INDEX_SECONDS))
    return clock.seconds


class _Clock:
    """Seconds by stage; computing embeddings is a stage of its own wherever it happens."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {"embedding": 0.0}

    def time(self, stage: str, work: Callable[[], object]) -> None:
        started, embedding = time.perf_counter(), self.seconds["embedding"]
        work()
        inside = self.seconds["embedding"] - embedding
        spent = time.perf_counter() - started - inside
        self.seconds[stage] = self.seconds.get(stage, 0.0) + spent

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
        started = time.perf_counter()
        vectors = embedder.embed(texts)
        self.seconds["embedding"] += time.perf_counter() - started
        return vectors


def _settle_names(store: Store, embedder: Embedder, pending: list[Row], clock: _Clock, progress: Progress) -> None:
    renamed: list[Row] = []
    unembedded: dict[bool, list[Row]] = {True: [], False: []}
    for row in pending:
        name, aliases = best_name(row["names"])
        is_new = name != row["name"]
        if aliases or is_new or row["aliased"]:
            stale = is_new and row["embedded"]
            renamed.append({"id": row["id"], "name": name, "aliases": aliases or None, "stale": stale})
        if is_new or not row["embedded"]:
            unembedded[row["isEntity"]].append({"id": row["id"], "text": name})
    store.write_rows("build/element_names", renamed)
    for is_entity, kind in ((True, "entities"), (False, "elements")):
        _write_vectors(store, embedder, f"build/embed_{kind}", unembedded[is_entity], kind, clock, progress)


def _embed(store: Store, embedder: Embedder, kind: str, clock: _Clock, progress: Progress) -> None:
    pending = store.read(f"build/pending_{kind}")
    _write_vectors(store, embedder, f"build/embed_{kind}", pending, kind, clock, progress)


def _write_vectors(
    store: Store, embedder: Embedder, statement: str, rows: list[Row], kind: str, clock: _Clock, progress: Progress
) -> None:
    done = 0
    # Passages and gists are long: in smaller batches their progress shows.
    for batch in batches(rows, _BATCH // 5 if kind in ("chunks", "pages") else _BATCH):
        vectors = clock.embed(embedder, [row["text"] for row in batch])
        high, low = as_bytes(vectors)
        packed = zip(batch, high, low, strict=True)
        store.write(
            (statement, {"rows": [{"id": row["id"], "high": h, "low": low_bytes} for row, h, low_bytes in packed]})
        )
        done += len(batch)
        progress(f"embedding {kind}", done, len(rows))


def as_bytes(vectors: NDArray[np.float32]) -> tuple[list[bytes], list[bytes]]:
    """Rows of ``vectors`` (n, d), of length 1, as 16-bit fixed point: n × d high bytes and n × d low bytes, signed.

    Bolt sends a float in 9 bytes, and Neo4j reads those slowly: this takes a third of the time (docs/decisions.md).
    ``cypher/build/embed_*`` put a number together again as ``(256 * high + low) / 32512``, exact to 0.00002.
    """
    fixed = np.rint(np.clip(vectors, -1, 1) * 32512).astype(np.int32)
    high = (fixed + 128) >> 8
    low = fixed - (high << 8)
    return [row.tobytes() for row in high.astype(np.int8)], [row.tobytes() for row in low.astype(np.int8)]


def _settle_likenesses(store: Store, pending: list[Row], keys: list[Row], threshold: float) -> None:
    """Join pending entities whose names are alike with what they are likely the same as."""
    entities = sorted(row["id"] for row in pending if row["isEntity"])
    if not entities:
        return
    every = {row["id"]: row["key"] for row in keys if row["isEntity"]}
    pairs = like_names({each: every[each] for each in entities}, every)
    for start in range(0, len(entities), _BATCH):
        store.write(("build/forget_same_as", {"ids": entities[start : start + _BATCH]}))
    rows = [{"one": one, "other": other} for one, other in pairs]
    store.write_rows("build/same_as", rows, threshold=threshold)


def _settle_forms(store: Store, embedder: Embedder, pending: list[Row], keys: list[Row], threshold: float) -> None:
    """Join key elements that are one thing in different words. Only plain ones take vectors to join, and an index."""
    if is_plain(keys):
        for kind in ("entity", "element"):
            _define_vector_index(store, kind, embedder.dimension)
        store.define("schema/await_indexes", seconds=_INDEX_SECONDS)
        find_pairs(store, [row["id"] for row in pending], keys, threshold)
    settle_forms(store, keys)


def _mark_settled(store: Store, pending: list[Row], progress: Progress) -> None:
    done = 0
    for batch in batches(pending, _BATCH):
        store.write(("build/settled", {"ids": [row["id"] for row in batch]}))
        done += len(batch)
        progress("joining like names", done, len(pending))


def define_indexes(store: Store, dimension: int, more: Sequence[str] = ()) -> None:
    """The indexes that retrieval needs, online. ``more``: "community" and "page", where the graph has those."""
    for kind in ("chunk", "fact", "entity", "element", *more):
        _define_vector_index(store, kind, dimension)
    for kind in ("chunk", "entity"):
        store.define(f"schema/fulltext_{kind}")
    store.define("schema/await_indexes", seconds=_INDEX_SECONDS)


def _define_vector_index(store: Store, kind: str, dimension: int) -> None:
    store.define(f"schema/vector_{kind}", options=vector_options(kind, dimension))


def vector_options(kind: str, dimension: int) -> dict[str, Any]:
    """How the vector index of a kind of node ("chunk", "fact" …) is made."""
    return {"indexConfig": {**_VECTOR_INDEX, **({} if kind == "chunk" else _LIGHT), "vector.dimensions": dimension}}


def drop_vector_indexes(store: Store) -> None:
    """Take away the vector indexes, whose form depends on the embedding model."""
    for kind in _VECTOR_KINDS:
        store.define(f"schema/drop_vector_{kind}")


def _drop_unfit_vector_indexes(store: Store, dimension: int) -> None:
    """Take away what a graph of another model has left: whoever deletes all nodes leaves the indexes."""
    left = {row["name"]: row["dimension"] for row in store.read("build/vector_dimensions")}
    for kind in _VECTOR_KINDS:
        if left.get(f"{kind}_embedding", dimension) != dimension:
            store.define(f"schema/drop_vector_{kind}")


def reembed(store: Store, embedder: Embedder, settings: Settings, progress: Progress) -> dict[str, float]:
    """Embed the whole graph again with ``embedder``: every vector, likeness and vector index."""
    # First of all, so that vectors of two models are never taken for those of one, whenever this is interrupted.
    _record_embedder(store, embedder, reembedding=True)
    define_keys(store)
    drop_vector_indexes(store)
    while store.write(("build/unembed", {"limit": 10 * _BATCH}))[0][0]["nodes"]:
        pass
    seconds = settle(store, embedder, settings, progress)
    more = [settle_communities] if "treeState" in graph_state(store) else []
    more += [settle_pages] if store.read("build/pending_pages") else []
    for settle_more in more:
        spent = settle_more(store, embedder, progress)
        seconds = {stage: before + spent.get(stage, 0.0) for stage, before in seconds.items()}
    _record_embedder(store, embedder, reembedding=False)
    return seconds
