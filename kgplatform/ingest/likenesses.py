"""Which entities are likely the same, and which key elements mean nearly the same (``SAME_AS``), found in the graph.

Looked at is what has a new vector (``joinDue``), whatever else the graph holds: entities with the same words, with one
word less or with the same consonants are looked up by properties, those with one word more in a full-text index. A
name that comes in many longer ones ("John") is joined with as many as their vectors allow, once, when it is new or
shown in another form; each of the longer ones only looks up the shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from kgplatform.ingest.alike import (
    Words,
    are_alike,
    consonants_of,
    counted_words,
    may_be_one,
    shortened,
    words_of,
)
from kgplatform.ingest.graph_state import await_indexes, define_vector_indexes, define_word_index
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import Progress

_BATCH = 1000
_CANDIDATES = 50
"""Nearest neighbours that are looked at; of the ten nearest, the index misses none then
(docs/explanation/decisions.md)."""
_IDS = 500


def join_likes(store: Store, dimension: int, same_as: float, same_form: float, total: int, progress: Progress) -> None:
    """Join all key elements with new vectors with what is like them: entities whose cosine is at least ``same_as``,

    others by a cosine of at least ``same_form``. ``dimension``: of the vectors. ``total``: how many are pending.
    """
    progress("finding similar names", 0, total)
    (there,) = store.read("ingest/elements_there")
    if there["plain"]:  # only plain ones take vectors to join, and an index
        define_vector_indexes(store, ("entity", "element"), dimension)
        await_indexes(store)
    if there["joined"]:
        define_word_index(store)
    done = 0
    with closing(store.read_batches("ingest/unjoined_elements", _BATCH)) as found:
        for rows in found:
            names = {row["id"]: words_of(row["key"]) for row in rows if row["isEntity"]}
            pairs = like_names(store, names, beside_joined=there["joined"])
            store.write_rows("ingest/same_as", [{"one": a, "other": b} for a, b in pairs], threshold=same_as)
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
        longer = [{"id": id_, "query": _one_word_more(words)} for id_, words in names.items() if words]
        found += store.read("ingest/longer_names", rows=longer)
    alike = (row for row in found if are_alike(names[row["id"]], words_of(row["key"])))
    return sorted({(min(row["id"], row["other"]), max(row["id"], row["other"])) for row in alike})


def _one_word_more(words: Words) -> str:
    """A query of the full-text index; words are letters and digits, which quotes keep from being operators."""
    return " ".join(f'+"{word}"' for word in (f"#{len(words) + 1}", *sorted(set(words))))


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
