"""What follows from all passages together: names and aliases, vectors, likenesses, indexes.

Every node that is not complete carries the label ``Pending``; each stage works through those nodes and takes it off,
so that a run that dies goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kgplatform.ingest.graph_state import graph_state, record_embedder
from kgplatform.ingest.indexes import (
    await_indexes,
    define_indexes,
    define_keys,
    define_vector_index,
    drop_vector_indexes,
)
from kgplatform.ingest.resolve import best_name, find_pairs, is_plain, like_names, settle_forms, with_stems
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Row, Store, batches
from kgplatform.records import Progress
from kgplatform.settings import Settings
from kgplatform.work.stopwatch import Stopwatch

_BATCH = 1000


def settle(store: Store, embedder: Embedder, settings: Settings, progress: Progress) -> dict[str, float]:
    """Complete every pending node and bring the indexes online. Returns the seconds of each stage."""
    vectors = _Vectors(store, embedder, progress)
    watch = vectors.watch
    pending = store.read("ingest/pending_elements")
    with watch.stage("names"):
        _settle_names(store, vectors, pending)
    with watch.stage("vectors"):
        vectors.complete("passages")
        vectors.complete("facts")
    if pending:
        keys = with_stems(store, store.read("ingest/element_keys"))
        with watch.stage("likenesses"):
            _settle_likenesses(store, pending, keys, settings.same_as_threshold)
        with watch.stage("forms"):
            _settle_forms(store, embedder, pending, keys, settings.form_threshold)
        _mark_settled(store, pending, progress)
    with watch.stage("indexes"):
        define_indexes(store, embedder.dimension)
    return watch.seconds


def embed_pending(
    store: Store, embedder: Embedder, kind: Literal["communities", "pages"], progress: Progress
) -> dict[str, float]:
    """Embed the communities, or the pages, whose vectors are due, and bring their index online.

    Returns the seconds of each stage.
    """
    vectors = _Vectors(store, embedder, progress)
    with vectors.watch.stage("vectors"):
        vectors.complete(kind)
    with vectors.watch.stage("indexes"):
        define_vector_index(store, "community" if kind == "communities" else "page", embedder.dimension)
        await_indexes(store)
    return vectors.watch.seconds


class _Vectors:
    """Computes vectors and writes them. Computing is a stage of its own, wherever it happens."""

    def __init__(self, store: Store, embedder: Embedder, progress: Progress) -> None:
        self.watch = Stopwatch()
        self.watch.add({"embedding": 0.0})
        self._store, self._embedder, self._progress = store, embedder, progress

    def complete(self, kind: str) -> None:
        """Give the pending nodes of a kind their vectors, which completes them."""
        self.write("ingest/embed", self._store.read(f"ingest/pending_{kind}"), kind)

    def write(self, statement: str, rows: Sequence[Row], kind: str) -> None:
        """Write the vectors of ``rows``, which have an id and a text each."""
        done = 0
        # Passages and gists are long: in smaller batches their progress shows.
        for batch in batches(rows, _BATCH // 5 if kind in ("passages", "pages") else _BATCH):
            with self.watch.stage("embedding"):
                found = self._embedder.embed([row["text"] for row in batch])
            self._store.write((statement, {"rows": vector_rows([row["id"] for row in batch], found)}))
            done += len(batch)
            self._progress(f"embedding {kind}", done, len(rows))


def vector_rows(ids: Sequence[str], vectors: NDArray[np.float32]) -> list[Row]:
    """Rows of ``cypher/ingest/embed*`` for ``vectors`` (n, d), of length 1: as 16-bit fixed point, in two signed bytes.

    Bolt sends a float in 9 bytes, and Neo4j reads those slowly: this takes a third of the time (docs/decisions.md).
    The statements put a number together again as ``(256 * high + low) / 32512``, exact to 0.00002.
    """
    fixed = np.rint(np.clip(vectors, -1, 1) * 32512).astype(np.int32)
    high = (fixed + 128) >> 8
    low = fixed - (high << 8)
    parts = zip(ids, high.astype(np.int8), low.astype(np.int8), strict=True)
    return [{"id": id_, "high": upper.tobytes(), "low": lower.tobytes()} for id_, upper, lower in parts]


def _settle_names(store: Store, vectors: _Vectors, pending: list[Row]) -> None:
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
    store.write_rows("ingest/element_names", renamed)
    vectors.write("ingest/embed_elements", unembedded[True], "entities")
    vectors.write("ingest/embed_elements", unembedded[False], "elements")


def _settle_likenesses(store: Store, pending: list[Row], keys: list[Row], threshold: float) -> None:
    """Join pending entities whose names are alike with what they are likely the same as."""
    entities = sorted(row["id"] for row in pending if row["isEntity"])
    if not entities:
        return
    every = {row["id"]: row["key"] for row in keys if row["isEntity"]}
    pairs = like_names({each: every[each] for each in entities}, every)
    for start in range(0, len(entities), _BATCH):
        store.write(("ingest/remove_same_as", {"ids": entities[start : start + _BATCH]}))
    rows = [{"one": one, "other": other} for one, other in pairs]
    store.write_rows("ingest/same_as", rows, threshold=threshold)


def _settle_forms(store: Store, embedder: Embedder, pending: list[Row], keys: list[Row], threshold: float) -> None:
    """Join key elements that are one thing in different words. Only plain ones take vectors to join, and an index."""
    if is_plain(keys):
        for kind in ("entity", "element"):
            define_vector_index(store, kind, embedder.dimension)
        await_indexes(store)
        find_pairs(store, [row["id"] for row in pending], keys, threshold)
    settle_forms(store, keys)


def _mark_settled(store: Store, pending: list[Row], progress: Progress) -> None:
    done = 0
    for batch in batches(pending, _BATCH):
        store.write(("ingest/settled", {"ids": [row["id"] for row in batch]}))
        done += len(batch)
        progress("joining like names", done, len(pending))


def reembed(store: Store, embedder: Embedder, settings: Settings, progress: Progress) -> dict[str, float]:
    """Embed the whole graph again with ``embedder``: every vector, likeness and vector index."""
    # First of all, so that vectors of two models are never taken for those of one, whenever this is interrupted.
    record_embedder(store, embedder, reembedding=True)
    define_keys(store)
    drop_vector_indexes(store)
    while store.write(("ingest/unembed", {"limit": 10 * _BATCH}))[0][0]["nodes"]:
        pass
    seconds = settle(store, embedder, settings, progress)
    more: list[Literal["communities", "pages"]] = ["communities"] if "treeState" in graph_state(store) else []
    more += ["pages"] if store.read("ingest/pending_pages") else []
    for kind in more:
        spent = embed_pending(store, embedder, kind, progress)
        seconds = {stage: before + spent.get(stage, 0.0) for stage, before in seconds.items()}
    record_embedder(store, embedder, reembedding=False)
    return seconds
