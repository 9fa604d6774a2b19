"""Groups of key elements in the graph: what means nearly the same, and which stands for which (see ``forms``).

All groups are computed at once from stems and pairs, which takes a fraction of a second for 20,000 elements, and only
what differs is written: it does not matter what came first, what was removed, or where a run was stopped.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgplatform.build.forms import Element, Form, Shown, changes, forms_of, groups
from kgplatform.build.stems import may_be_one, stem_of
from kgplatform.store import Row, Store, batches

_CANDIDATES = 50
"""Nearest neighbours that are looked at; of the ten nearest, the index misses none then (docs/decisions.md)."""
_IDS = 500


def is_plain(keys: Sequence[Row]) -> bool:
    """Whether any of the key elements is no entity."""
    return not all(row["isEntity"] for row in keys)


def with_stems(store: Store, keys: list[Row]) -> list[Row]:
    """``keys``, each with its stem, which elements of an older graph get now."""
    missing = [row for row in keys if row["stem"] is None]
    for row in missing:
        row["stem"] = stem_of(row["key"])
    store.write_rows("build/set_stems", [{"id": row["id"], "stem": row["stem"]} for row in missing])
    return keys


def find_pairs(store: Store, pending: Sequence[str], keys: Sequence[Row], threshold: float) -> None:
    """Find again what means nearly the same as the ``pending`` elements; one of each pair is no entity."""
    known = {row["id"]: row for row in keys}
    ids = sorted(pending)
    plain = [each for each in ids if not known[each]["isEntity"]]
    pairs: dict[tuple[str, str], float] = {}
    for statement, asked in (("build/near_elements", ids), ("build/near_entities", plain)):
        for start in range(0, len(asked), _IDS):
            some = asked[start : start + _IDS]
            for row in store.read(statement, ids=some, candidates=_CANDIDATES, threshold=threshold):
                one, other = _in_order(known[row["id"]], known[row["other"]])
                if may_be_one(one["key"], other["key"]):
                    pairs[one["id"], other["id"]] = row["score"]
    for start in range(0, len(ids), _IDS):
        store.write(("build/forget_form_pairs", {"ids": ids[start : start + _IDS]}))
    rows = [{"one": one, "other": other, "score": pairs[one, other]} for one, other in sorted(pairs)]
    store.write_rows("build/write_form_pairs", rows)


def _in_order(one: Row, other: Row) -> tuple[Row, Row]:
    """The element that is no entity first; of two such, the one with the smaller id."""
    first, second = sorted((one, other), key=lambda row: (row["isEntity"], row["id"]))
    return first, second


def settle_forms(store: Store, keys: Sequence[Row]) -> None:
    """Bring the edges ``FORM_OF`` to what stems and pairs say."""
    elements = {row["id"]: Element(row["stem"], row["isEntity"]) for row in keys}
    pairs = (
        [(row["score"], row["one"], row["other"]) for row in store.read("build/form_pairs")] if is_plain(keys) else []
    )
    found = groups(elements, pairs)
    shown = _shown(store, [each for group in found for each in group.members])
    wanted = [form for group in found for form in forms_of(group, elements, shown)]
    old = [Form(**row) for row in store.read("build/forms")]
    gone, new = changes(old, wanted)
    for start in range(0, len(gone), _IDS):
        store.write(("build/forget_forms", {"ids": gone[start : start + _IDS]}))
    rows = [{"id": form.id, "target": form.target, "by": form.by, "score": form.score} for form in new]
    store.write_rows("build/write_forms", rows)


def _shown(store: Store, ids: Sequence[str]) -> dict[str, Shown]:
    return {
        row["id"]: Shown(row["name"], row["chunks"])
        for batch in batches([{"id": each} for each in ids])
        for row in store.read("build/form_names", ids=[each["id"] for each in batch])
    }
