"""The grown schema, applied to what earlier passages said and strict mode left out: without a call.

A type that passages propose counts from the next window on (``extract_pass``). What a passage said in types of its own
it keeps in ``leftOut``, with the schema that it began with (``seed``) and the one that bounded it (``boundBy``). At the
end of an ingest, passages of the same seed are bounded once more by what that has become. That only adds: what was
written stays.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kgplatform.extract.bound import bound
from kgplatform.extract.schema import Schema
from kgplatform.ingest.rows import rows_of
from kgplatform.ingest.write import extraction_statements
from kgplatform.records import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction, Passage
from kgplatform.text import node_id

if TYPE_CHECKING:
    from kgplatform.neo4j.store import Row, Store

_AT_ONCE = 500
_SHAPES: dict[str, Any] = {"entities": ExtractedEntity, "triples": ExtractedTriple, "attributes": ExtractedAttribute}


NOTHING_LEFT: Row = {"leftOut": None, "seed": None, "boundBy": None}
"""The properties of a passage that nothing was left out of."""


def left_out(extraction: Extraction, seed: Schema, schema: Schema) -> Row:
    """The properties of a passage that keep ``extraction``, which ``schema`` has bounded, for what ``seed`` becomes."""
    kept = {kind: [asdict(item) for item in getattr(extraction, kind)] for kind in _SHAPES}
    return {"leftOut": json.dumps(kept, ensure_ascii=False), "seed": _id_of(seed), "boundBy": _id_of(schema)}


def fill_in(store: Store, seed: Schema, schema: Schema) -> None:
    """Bound by ``schema``, which ``seed`` has become, what passages keep; each in a transaction of its own."""
    ids = {"seed": _id_of(seed), "schema": _id_of(schema)}
    while rows := store.read("ingest/left_out", **ids, limit=_AT_ONCE):
        for row in rows:
            store.write(*_statements(row, schema))


def _id_of(schema: Schema) -> str:
    return node_id(json.dumps(schema.to_dict(), ensure_ascii=False, sort_keys=True))


def _statements(row: Row, schema: Schema) -> list[Any]:
    passage = Passage(document_id=row["document"], **row["passage"])
    kept = json.loads(row["leftOut"])
    extraction = Extraction(**{kind: tuple(shape(**item) for item in kept[kind]) for kind, shape in _SHAPES.items()})
    bounded, tally = bound(extraction, schema, "strict")
    counts = {"kept": tally.kept, "mapped": tally.mapped, "dropped": tally.dropped, "turned": tally.turned}
    state = counts | ({"boundBy": _id_of(schema)} if tally.dropped else NOTHING_LEFT)
    rows = rows_of(passage, bounded, schema, row["title"])
    return [
        *extraction_statements(rows, [{"id": passage.id, "state": state}]),
        ("ingest/recount_statements", {"passages": [passage.id]}),
    ]
