"""What follows from all passages together: names and aliases, vectors, likenesses, groups of key elements, indexes.

Every node that is not complete carries the label ``Pending``; each stage works through those nodes and takes it off,
so that a run that dies resumes where it stopped.

Groups are the nodes of GraphReader (section 3.2, normalisation). Stage 1 joins what has one stem, entities included,
whatever their types. Stage 2 joins by meaning what is not an entity, with its like or with one entity's group. Groups
are a function of the elements and pairs that are there, not of the order in which they came, and nothing is merged: a
member points at the representative, which bears the group's name. All are computed at once, which takes a fraction of a
second for 20,000 elements, and only what differs is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kgplatform.ingest.alike import best_name, like_names, may_be_one, stem_of
from kgplatform.ingest.graph_state import (
    await_indexes,
    define_indexes,
    define_keys,
    define_vector_indexes,
    drop_vector_indexes,
    graph_state,
    record_embedder,
)
from kgplatform.models.embed import Embedder, least_cosines
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
        same_as, same_form = least_cosines(embedder)
        with watch.stage("likenesses"):
            _settle_likenesses(store, pending, keys, settings.same_as_threshold or same_as)
        with watch.stage("forms"):
            _settle_forms(store, embedder, pending, keys, settings.form_threshold or same_form)
        done = 0
        for batch in batches(pending, _BATCH):
            store.write(("ingest/settled", {"ids": [row["id"] for row in batch]}))
            done += len(batch)
            progress("joining like names", done, len(pending))
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
        define_vector_indexes(store, ["community" if kind == "communities" else "page"], embedder.dimension)
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
    pairs = like_names({entity: every[entity] for entity in entities}, every)
    for some in batches(entities, _BATCH):
        store.write(("ingest/remove_same_as", {"ids": some}))
    rows = [{"one": one, "other": other} for one, other in pairs]
    store.write_rows("ingest/same_as", rows, threshold=threshold)


def _settle_forms(store: Store, embedder: Embedder, pending: list[Row], keys: list[Row], threshold: float) -> None:
    """Join key elements that are one thing in different words. Only plain ones take vectors to join, and an index."""
    if is_plain(keys):
        define_vector_indexes(store, ("entity", "element"), embedder.dimension)
        await_indexes(store)
        find_pairs(store, [row["id"] for row in pending], keys, threshold)
    settle_forms(store, keys)


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


Likeness = tuple[float, str, str]
"""Cosine and the ids of two key elements that mean nearly the same."""


@dataclass(frozen=True, slots=True)
class KeyElement:
    """A key element as the grouping sees it."""

    stem: str
    is_entity: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Two or more members that are one thing; ``scores``: the best cosine of two stems, for those that were joined."""

    members: tuple[str, ...]
    scores: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Shown:
    """What decides which member represents a group."""

    name: str
    passages: int


@dataclass(frozen=True, slots=True, order=True)
class Form:
    """An edge ``FORM_OF``: ``by`` is 'stem' or 'meaning', ``score`` the cosine, 1 for a stem."""

    id: str
    target: str
    by: str
    score: float


def groups(elements: Mapping[str, KeyElement], pairs: Iterable[Likeness]) -> list[Group]:
    """The groups of two members or more, by the stems in them.

    Stems are joined the nearest first. Two groups become one only if every stem of the one means the same as every
    stem of the other, so that no chain of likenesses leads astray, and if at most one of the two has entities.
    """
    by_stem: dict[str, list[str]] = defaultdict(list)
    for element in sorted(elements):
        by_stem[elements[element].stem].append(element)
    scores = _scores(elements, pairs)
    anchored = {elements[element].stem for element in elements if elements[element].is_entity} if scores else set()
    found = []
    joined: set[str] = set()
    for stems in _joined(scores, anchored):
        joined.update(stems)
        inner = {(one, other): score for (one, other), score in scores.items() if one in stems and other in stems}
        found.append(Group(tuple(sorted(element for stem in stems for element in by_stem[stem])), inner))
    alone = [members for stem, members in by_stem.items() if len(members) > 1 and stem not in joined]
    return [*found, *(Group(tuple(members), {}) for members in alone)]


def _scores(elements: Mapping[str, KeyElement], pairs: Iterable[Likeness]) -> dict[tuple[str, str], float]:
    """The best cosine of each two stems, both ways round."""
    scores: dict[tuple[str, str], float] = {}
    for score, one, other in pairs:
        if one in elements and other in elements:
            stems = (elements[one].stem, elements[other].stem)
            if stems[0] != stems[1]:
                for pair in (stems, stems[::-1]):
                    scores[pair] = max(score, scores.get(pair, score))
    return scores


def _joined(scores: Mapping[tuple[str, str], float], anchored: set[str]) -> list[set[str]]:
    """Sets of two stems or more that are one."""
    owner: dict[str, set[str]] = {}
    for one, other in sorted(scores, key=lambda pair: (-scores[pair], pair)):
        mine, theirs = owner.setdefault(one, {one}), owner.setdefault(other, {other})
        if mine is theirs or (mine & anchored and theirs & anchored):
            continue
        if all((left, right) in scores for left in mine for right in theirs):
            mine |= theirs
            owner.update(dict.fromkeys(theirs, mine))
    sets = {min(stems): stems for stems in owner.values() if len(stems) > 1}
    return [sets[first] for first in sorted(sets)]


def forms_of(group: Group, elements: Mapping[str, KeyElement], shown: Mapping[str, Shown]) -> list[Form]:
    """The edges of a group: from each member to the representative.

    That is the name that most passages mention, then the shortest, then the first in order.
    """
    target = min(group.members, key=lambda id_: (-shown[id_].passages, len(shown[id_].name), shown[id_].name, id_))
    of = elements[target].stem
    stems = {member: elements[member].stem for member in group.members if member != target}
    return [
        Form(id_, target, "stem", 1.0) if stem == of else Form(id_, target, "meaning", group.scores[stem, of])
        for id_, stem in stems.items()
    ]


def changes(old: Sequence[Form], new: Sequence[Form]) -> tuple[list[str], list[Form]]:
    """The members whose edge goes, and the edges to write, that make ``new`` of ``old``."""
    before, after = {each.id: each for each in old}, {each.id: each for each in new}
    gone = sorted(each for each in before if before[each] != after.get(each))
    return gone, sorted(each for each in new if before.get(each.id) != each)


_CANDIDATES = 50
"""Nearest neighbours that are looked at; of the ten nearest, the index misses none then (docs/decisions.md)."""
_IDS = 500


def is_plain(keys: Sequence[Row]) -> bool:
    """Whether any of the key elements is not an entity."""
    return not all(row["isEntity"] for row in keys)


def with_stems(store: Store, keys: Sequence[Row]) -> list[Row]:
    """``keys``, each with its stem, which elements of an older graph get now."""
    stems = {row["id"]: stem_of(row["key"]) for row in keys if row["stem"] is None}
    store.write_rows("ingest/set_stems", [{"id": id, "stem": stem} for id, stem in stems.items()])
    return [{**row, "stem": stems[row["id"]]} if row["id"] in stems else row for row in keys]


def find_pairs(store: Store, pending: Sequence[str], keys: Sequence[Row], threshold: float) -> None:
    """Find again what means nearly the same as the ``pending`` elements; one of each pair is not an entity."""
    known = {row["id"]: row for row in keys}
    ids = sorted(pending)
    plain = [id_ for id_ in ids if not known[id_]["isEntity"]]
    pairs: dict[tuple[str, str], float] = {}
    for statement, asked in (("ingest/near_elements", ids), ("ingest/near_entities", plain)):
        for some in batches(asked, _IDS):
            for row in store.read(statement, ids=some, candidates=_CANDIDATES, threshold=threshold):
                # The element that is not an entity first; of two such, the one with the smaller id.
                both = known[row["id"]], known[row["other"]]
                one, other = sorted(both, key=lambda row: (row["isEntity"], row["id"]))
                if may_be_one(one["key"], other["key"]):
                    pairs[one["id"], other["id"]] = row["score"]
    for some in batches(ids, _IDS):
        store.write(("ingest/remove_form_pairs", {"ids": some}))
    rows = [{"one": one, "other": other, "score": pairs[one, other]} for one, other in sorted(pairs)]
    store.write_rows("ingest/write_form_pairs", rows)


def settle_forms(store: Store, keys: Sequence[Row]) -> None:
    """Bring the edges ``FORM_OF`` to what stems and pairs say."""
    elements = {row["id"]: KeyElement(row["stem"], row["isEntity"]) for row in keys}
    pairs = (
        [(row["score"], row["one"], row["other"]) for row in store.read("ingest/form_pairs")] if is_plain(keys) else []
    )
    found = groups(elements, pairs)
    members = [member for group in found for member in group.members]
    rows = [row for some in batches(members) for row in store.read("ingest/form_names", ids=some)]
    shown = {row["id"]: Shown(row["name"], row["passages"]) for row in rows}
    wanted = [form for group in found for form in forms_of(group, elements, shown)]
    old = [Form(**row) for row in store.read("ingest/forms")]
    gone, new = changes(old, wanted)
    for some in batches(gone, _IDS):
        store.write(("ingest/remove_forms", {"ids": some}))
    store.write_rows("ingest/write_forms", [asdict(form) for form in new])
