"""What follows from all passages together: names and aliases, vectors, likenesses, groups of key elements, indexes.

Every node that is not complete carries the label ``Pending``; each stage works through those nodes and takes it off,
so that a run that dies resumes where it stopped. They come from the database some at a time and are looked up with
what they touch, so that time and memory follow what has changed, not the size of the graph.

Nothing else writes meanwhile: a pass is alone when it settles (``neo4j.passes``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kgplatform.concurrency.spans import Stopwatch
from kgplatform.extract.schema import Schema
from kgplatform.ingest.corrections import Corrections, correct_what_is_due
from kgplatform.ingest.graph_state import (
    bring_up_to_date,
    define_indexes,
    define_keys,
    drop_vector_indexes,
    graph_state,
    record_embedder,
    word_rows,
)
from kgplatform.models.embed import Embedder, embed_what_can_be, least_cosines
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import Progress
from kgplatform.resolution import (
    Words,
    are_alike,
    best_name,
    consonants_of,
    counted_words,
    may_be_one,
    settle_forms,
    shortened,
    words_of,
)
from kgplatform.settings import Settings
from kgplatform.text import clipped, counted

_BATCH = 1000
_NAME_SHOWN = 120
_SETTLED = ("entities", "elements", "passages", "facts")
"""What ``settle`` works through."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """What the embedding model has no vector for; it stays pending, and the next ingest tries again.

    ``kind``: "passages", "facts", "entities", "elements", "communities" or "pages".
    """

    kind: str
    id: str
    name: str
    reason: str


@dataclass(slots=True)
class Settled:
    """What was done: the ``seconds`` of each stage; how many names, facts and passages are ``settled``. ``in_parts``:
    texts that were too long for the embedding model."""

    seconds: dict[str, float]
    settled: int = 0
    unembedded: list[Unembedded] = field(default_factory=list)
    in_parts: int = 0

    def notes(self) -> list[str]:
        """What of it people are told."""
        if not self.in_parts:
            return []
        return [
            f"{counted(self.in_parts, 'text')} longer than the embedding model takes: embedded in parts, whose "
            "vectors were averaged."
        ]

    def all_notes(self) -> list[str]:
        """``notes``, with what has no vector, for reports that do not list that."""
        return self.notes() + [f"Without a vector: {each.name}: {each.reason}" for each in self.unembedded]


def settle(
    store: Store, embedder: Embedder, settings: Settings, progress: Progress, schema: Schema | None = None
) -> Settled:
    """Correct what is due, complete every pending node that can be embedded, and bring the indexes online. ``schema``:
    what the graph's is to become."""
    bring_up_to_date(store)
    corrections = correct_what_is_due(store, progress, schema)
    vectors = _Vectors(store, embedder, progress)
    watch, elements = vectors.watch, vectors.due["entities"] + vectors.due["elements"]
    with watch.stage("names"):
        vectors.begin("entities" if vectors.due["entities"] else "elements")
        with closing(store.read_batches("ingest/pending_elements", _BATCH)) as found:
            for rows in found:
                _name_some(store, vectors, corrections, rows)
    with watch.stage("vectors"):
        vectors.complete("passages")
        vectors.complete("facts")
    if elements:
        same_as, same_form = least_cosines(embedder)
        with watch.stage("likenesses"):
            least = settings.same_as_threshold or same_as
            join_likes(store, embedder.dimension, least, same_form, elements, progress, corrections.are_different)
        with watch.stage("forms"):
            settle_forms(store, elements, progress)
    with watch.stage("indexes"):
        progress("indexes", 0, 1)
        define_indexes(store, embedder.dimension)
        progress("indexes", 1, 1)
    return vectors.settled()


def embed_pending(
    store: Store, embedder: Embedder, kind: Literal["communities", "pages"], progress: Progress
) -> Settled:
    """Embed the communities, or the pages, whose vectors are due, and bring their index online."""
    vectors = _Vectors(store, embedder, progress)
    with vectors.watch.stage("vectors"):
        vectors.complete(kind)
    with vectors.watch.stage("indexes"):
        define_indexes(store, embedder.dimension, vectors=["community" if kind == "communities" else "page"], words=())
    return vectors.settled()


class _Vectors:
    """Computes vectors and writes them. Computing is a stage of its own, wherever it happens.

    ``due``: how many nodes of each kind are not complete, to tell the progress by.
    """

    def __init__(self, store: Store, embedder: Embedder, progress: Progress) -> None:
        self.watch = Stopwatch()
        self.watch.add({"embedding": 0.0})
        (self.due,) = store.read("ingest/pending_counts")
        self._done = Counter[str]()
        self._unembedded: list[Unembedded] = []
        self._in_parts = 0
        self._store, self._embedder, self._progress = store, embedder, progress

    def settled(self) -> Settled:
        """What was done."""
        settled = sum(self.due[kind] for kind in _SETTLED) - len(self._unembedded)
        return Settled(self.watch.seconds, settled, self._unembedded, self._in_parts)

    def begin(self, kind: str) -> None:
        """Tell that the nodes of a kind are next, if any are due: the first of them may take a while."""
        if self.due[kind]:
            self._tell(kind, 0)

    def complete(self, kind: str) -> None:
        """Give the pending nodes of a kind their vectors, which completes them; those without one stay as they are."""
        self.begin(kind)
        # Passages and gists are long: in smaller batches their progress shows.
        size = _BATCH // 5 if kind in ("passages", "pages") else _BATCH
        with closing(self._store.read_batches(f"ingest/pending_{kind}", size)) as found:
            for rows in found:
                self._store.write(
                    *([("ingest/passage_words", {"rows": word_rows(rows)})] if kind == "passages" else ()),
                    ("ingest/embed", {"rows": self._embedded(rows, kind)}),
                )
                self._tell(kind, len(rows))

    def complete_elements(self, rows: Sequence[Row], kind: str, passed: int) -> None:
        """Write the vectors of ``rows`` (id, name, text); ``passed`` elements were looked at for that."""
        if not rows:
            self._done[kind] += passed
            return
        self._store.write(("ingest/embed_elements", {"rows": self._embedded(rows, kind)}))
        self._tell(kind, passed)

    def _embedded(self, rows: Sequence[Row], kind: str) -> list[Row]:
        with self.watch.stage("embedding"):
            found = embed_what_can_be(self._embedder, [row["text"] for row in rows])
        self._in_parts += found.in_parts
        for place, error in found.failures.items():
            name = clipped(rows[place]["name"], _NAME_SHOWN)
            self._unembedded.append(Unembedded(kind, rows[place]["id"], name, str(error)))
        there = [place for place in range(len(rows)) if place not in found.failures]
        return vector_rows([rows[place]["id"] for place in there], found.vectors[there])

    def _tell(self, kind: str, passed: int) -> None:
        self._done[kind] += passed
        self._progress(f"embedding {kind}", self._done[kind], self.due[kind])


def vector_rows(ids: Sequence[str], vectors: NDArray[np.float32]) -> list[Row]:
    """Rows of ``cypher/ingest/embed*`` for ``vectors`` (n, d), of length 1: as 16-bit fixed point, in two signed bytes.

    Bolt sends a float in 9 bytes, and Neo4j reads those slowly: this takes a third of the time
    (docs/explanation/decisions.md).
    The statements put a number together again as ``(256 * high + low) / 32512``, exact to 0.00002.
    """
    fixed = np.rint(np.clip(vectors, -1, 1) * 32512).astype(np.int32)
    high = (fixed + 128) >> 8
    low = fixed - (high << 8)
    parts = zip(ids, high.astype(np.int8), low.astype(np.int8), strict=True)
    return [{"id": id_, "high": upper.tobytes(), "low": lower.tobytes()} for id_, upper, lower in parts]


def _name_some(store: Store, vectors: _Vectors, corrections: Corrections, rows: Sequence[Row]) -> None:
    renamed: list[Row] = []
    unembedded: dict[bool, list[Row]] = {True: [], False: []}
    for row in rows:
        name, aliases = corrections.names(row["id"], dict(row["names"]), best_name)
        is_new = name != row["name"]
        if aliases or is_new or row["aliased"]:
            stale = is_new and row["embedded"]
            renamed.append({"id": row["id"], "name": name, "aliases": aliases or None, "stale": stale})
        if is_new or not row["embedded"]:
            unembedded[row["isEntity"]].append({"id": row["id"], "name": name, "text": name})
    store.write_rows("ingest/element_names", renamed)
    entities = sum(row["isEntity"] for row in rows)
    vectors.complete_elements(unembedded[True], "entities", entities)
    vectors.complete_elements(unembedded[False], "elements", len(rows) - entities)


def reembed(store: Store, embedder: Embedder, settings: Settings, progress: Progress) -> Settled:
    """Embed the whole graph again with ``embedder``: every vector, likeness and vector index."""
    bring_up_to_date(store)
    # Before any vector goes, so that those of two models are never taken for those of one, whenever it is interrupted.
    record_embedder(store, embedder, reembedding=True)
    define_keys(store)
    drop_vector_indexes(store)
    with closing(store.read_batches("ingest/embedded", _BATCH)) as found:
        for rows in found:
            store.write(("ingest/unembed", {"ids": [row["id"] for row in rows]}))
    done = settle(store, embedder, settings, progress)
    more: list[Literal["communities", "pages"]] = ["communities"] if "treeState" in graph_state(store) else []
    more += ["pages"] if store.read("ingest/pending_counts")[0]["pages"] else []
    for kind in more:
        also = embed_pending(store, embedder, kind, progress)
        done.unembedded += also.unembedded
        done.in_parts += also.in_parts
        for stage, spent in also.seconds.items():
            done.seconds[stage] = done.seconds.get(stage, 0.0) + spent
    record_embedder(store, embedder, reembedding=False)
    return done


_CANDIDATES = 50
"""Nearest neighbours that are looked at; of the ten nearest, the index misses none then
(docs/explanation/decisions.md)."""
_IDS = 500


def join_likes(
    store: Store,
    dimension: int,
    same_as: float,
    same_form: float,
    total: int,
    progress: Progress,
    are_different: Callable[[str, str], bool],
) -> None:
    """Join all key elements with new vectors with what is like them: entities whose cosine is at least ``same_as``,
    others by a cosine of at least ``same_form``. ``dimension``: of the vectors. ``total``: how many are pending.
    ``are_different``: of two entities, whether people told them apart.

    Looked at is what has a new vector (``joinDue``), whatever else the graph holds: entities with the same words, with
    one word less or with the same consonants are looked up by properties, those with one word more in a full-text
    index. A name that comes in many longer ones ("John") is joined with as many as their vectors allow, once, when it
    is new or shown in another form; each of the longer ones only looks up the shorter.
    """
    progress("finding similar names", 0, total)
    (there,) = store.read("ingest/elements_there")
    if there["plain"]:  # only plain ones take vectors to join, and an index
        define_indexes(store, dimension, vectors=("entity", "element"), words=())
    if there["joined"]:
        define_indexes(store, dimension, vectors=(), words=["entity_words"])
    done = 0
    with closing(store.read_batches("ingest/unjoined_elements", _BATCH)) as found:
        for rows in found:
            names = {row["id"]: words_of(row["key"]) for row in rows if row["isEntity"]}
            pairs = like_names(store, names, beside_joined=there["joined"])
            likely = [{"one": one, "other": other} for one, other in pairs if not are_different(one, other)]
            store.write_rows("ingest/same_as", likely, threshold=same_as)
            if there["plain"]:
                _join_by_meaning(store, rows, same_form)
            done += len(rows)
            progress("finding similar names", done, total)


def like_names(store: Store, names: dict[str, Words], *, beside_joined: bool) -> list[tuple[str, str]]:
    """Pairs of ids of entities whose names are alike, one of them in ``names``: sorted, the smaller id first.

    Longer names are looked up only ``beside_joined``, and only those whose likenesses are known: who is new and
    longer finds the shorter.
    """
    asked = [
        {
            "id": id_,
            "names": [counted_words(each) for each in (words, *shortened(words))],
            "consonants": consonants_of(words) or None,
        }
        for id_, words in names.items()
        if words
    ]
    found = store.read("ingest/like_entities", rows=asked) if asked else []
    if asked and beside_joined:
        # A query of the full-text index; words are letters and digits, which quotes keep from being operators.
        queries = {id_: (f"#{len(words) + 1}", *sorted(set(words))) for id_, words in names.items() if words}
        longer = [{"id": id_, "query": " ".join(f'+"{word}"' for word in query)} for id_, query in queries.items()]
        found += store.read("ingest/longer_names", rows=longer)
    alike = (row for row in found if are_alike(names[row["id"]], words_of(row["key"])))
    return sorted({(min(row["id"], row["other"]), max(row["id"], row["other"])) for row in alike})


def _join_by_meaning(store: Store, rows: Sequence[Row], threshold: float) -> None:
    """Join what means nearly the same as the elements of ``rows``; one of each pair is not an entity."""
    ids = sorted(row["id"] for row in rows)
    plain = sorted(row["id"] for row in rows if not row["isEntity"])
    pairs: dict[tuple[str, str], float] = {}
    for statement, asked in (("ingest/near_elements", ids), ("ingest/near_entities", plain)):
        for some in batches(asked, _IDS):
            for row in store.read(statement, ids=some, candidates=_CANDIDATES, threshold=threshold):
                if may_be_one(row["key"], row["otherKey"]):
                    # The element that is not an entity first; of two such, the one with the smaller id.
                    ends = sorted(((row["isEntity"], row["id"]), (row["otherIsEntity"], row["other"])))
                    pairs[ends[0][1], ends[1][1]] = row["score"]
    found = [{"one": one, "other": other, "score": pairs[one, other]} for one, other in sorted(pairs)]
    store.write_rows("ingest/write_form_pairs", found)
