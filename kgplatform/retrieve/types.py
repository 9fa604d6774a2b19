"""Facts by the schema types that a question involves (Youtu-GraphRAG, section 3.3). Passages are never left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgplatform.retrieve.found import Found
from kgplatform.store import Row, Store
from kgplatform.text import type_key


def keep_types(store: Store, found: Found, types: Sequence[str]) -> Found:
    """``found`` without facts, and paths over facts, that are about other things than ``types``.

    ``types`` are names of entity types, relations and attributes, in any spelling. A fact stays if its predicate is
    one of them and one of its entities has one of those types; what has no type of the schema contradicts none. If no
    fact that was found has any of the types of a kind, that kind is not asked for.
    """
    wanted = {type_key(each) for each in types} - {""}
    facts = {*found.facts, *(fact for path in found.paths for fact in path.facts)}
    if not wanted or not facts:
        return found
    rows = store.read("retrieve/fact_types", ids=sorted(facts))
    kept = _by_entities(_by_predicate(_by_predicate(rows, "triple", wanted), "attribute", wanted), wanted)
    ids = {row["id"] for row in kept}
    return replace(
        found,
        facts={each: score for each, score in found.facts.items() if each in ids},
        paths=[path for path in found.paths if ids.issuperset(path.facts)],
    )


def _by_predicate(rows: list[Row], kind: str, wanted: set[str]) -> list[Row]:
    """``rows`` without those of ``kind`` with another predicate of the schema; all, if none has a wanted one."""
    fits = {row["id"] for row in rows if row["kind"] == kind and _is_wanted(row["predicate"], wanted)}
    if not fits:
        return rows
    return [row for row in rows if row["kind"] != kind or row["predicate"] is None or row["id"] in fits]


def _by_entities(rows: list[Row], wanted: set[str]) -> list[Row]:
    """``rows`` without those whose entities all have other types of the schema; all, if no entity has a wanted one."""
    if not any(_is_wanted(each, wanted) for row in rows for each in row["types"]):
        return rows
    return [
        row
        for row in rows
        if not row["types"] or any(each is None or _is_wanted(each, wanted) for each in row["types"])
    ]


def _is_wanted(name: str | None, wanted: set[str]) -> bool:
    return name is not None and type_key(name) in wanted
