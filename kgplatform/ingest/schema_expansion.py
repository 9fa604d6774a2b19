"""The schema grows by what passages propose (Youtu-GraphRAG, eq. 3).

Of what passages in the graph proposed, only what is asked for is read. Most types are proposed by one passage or two,
and a document more asks for few of them. So the types that enough passages propose are read at the start, and another
type when somebody proposes it now.

A type counts from the next window of passages on. What a passage said that is partly outside the schema it keeps in
``leftOut``, with the schema that it began with (``seed``) and the one that bounded it (``boundBy``), each in its mode.
At the end of an ingest, passages of the same seed are bounded once more by what that has become, without a call:
facts within the schema are added, and take the place of those that were marked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from kgplatform.extract.bound import KINDS, Mode, bound
from kgplatform.extract.schema import Expansion, Schema, TypeKind
from kgplatform.ingest.write import extraction_statements, proposal_of, proposed_type, rows_of
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction, Passage, Proposal
from kgplatform.text import node_id, tidy, type_key

THRESHOLD = 0.9
"""The least confidence with which a proposal counts (the paper's)."""
SUPPORT = 2
"""Documents that must propose a type."""
AS_A_DOCUMENT = 3
"""Passages that support a proposal as one document does: one author may repeat a whim, but not on every third page."""


@dataclass(slots=True)
class _Candidate:
    """A type that was proposed. ``best``: what orders its proposals, the surest first."""

    documents: set[str] = field(default_factory=set)
    passages: set[str] = field(default_factory=set)
    spellings: Counter[str] = field(default_factory=Counter)
    best: tuple[float, str, str, str] | None = None


class Growth:
    """The types to add to ``schema``: a function of the set of proposals, not of their order.

    A type is added if at least ``min_support`` documents propose it with a confidence of ``threshold``, or three times
    as many passages, and its name can be a type's and is not taken. Proposals of one type under several spellings
    count together; the most frequent spelling names it.
    """

    def __init__(self, schema: Schema, threshold: float, min_support: int) -> None:
        self._schema, self._threshold, self._min_support = schema, threshold, min_support
        self._candidates: dict[tuple[TypeKind, str], _Candidate] = {}

    def add(self, passage: str, document: str, proposals: Iterable[Proposal]) -> None:
        """Count what a passage proposes."""
        for proposal in proposals:
            if proposal.confidence >= self._threshold and self._schema.lacks(proposal.kind, proposal.name):
                key = (proposal.kind, type_key(proposal.name))
                candidate = self._candidates.setdefault(key, _Candidate())
                candidate.documents.add(document)
                candidate.passages.add(passage)
                candidate.spellings[tidy(proposal.name)] += 1
                mine = (-proposal.confidence, passage, proposal.name, proposal.example)
                candidate.best = min(candidate.best or mine, mine)

    def expansions(self) -> list[Expansion]:
        """The types that have the support by now."""
        found = []
        for (kind, _), each in sorted(self._candidates.items()):
            support = max(len(each.documents), len(each.passages) // AS_A_DOCUMENT)
            if support >= self._min_support and each.best is not None:
                name = min(each.spellings, key=lambda spelling: (-each.spellings[spelling], spelling))
                confidence, passage, _, example = each.best
                found.append(Expansion(kind, name, -confidence, example, len(each.documents), passage))
        return found


Proposed = tuple[str, str, Sequence[Proposal]]
"""Passage id, document id, and what the passage proposed."""


class KnownGrowth:
    """How the schema ``seed`` grows by the passages in the graph, but for those of the documents ``without``, and by
    ``add``. ``expansions``: the types that have the support by now; ``schema``: the seed with these."""

    def __init__(self, store: Store, seed: Schema, without: Iterable[str] = ()) -> None:
        self._store, self._seed = store, seed
        self._growth = Growth(seed, THRESHOLD, SUPPORT)
        self._without = frozenset(without)
        self._read: set[str] = set()
        bounds = {"least": SUPPORT, "threshold": THRESHOLD}
        types = store.read("ingest/proposed_types", **bounds)
        self._add_known(row["id"] for row in types if seed.lacks(row["kind"], row["name"]))
        self._grow()

    def add(self, proposed: Sequence[Proposed]) -> None:
        """Count what passages propose, those of the graph included that propose the same types."""
        if any(proposals for _, _, proposals in proposed):
            self._add_known(proposed_type(each) for _, _, proposals in proposed for each in proposals)
            for each in proposed:
                self._growth.add(*each)
            self._grow()

    def proposed_by(self, passages: Sequence[str]) -> list[Proposed]:
        """What passages of the graph proposed when they were read."""
        rows = self._store.read("ingest/proposals_of", passages=passages) if passages else []
        return [_proposed(row) for row in rows]

    def _grow(self) -> None:
        self.expansions = self._growth.expansions()
        self.schema = self._seed.with_expansions(self.expansions)

    def _add_known(self, types: Iterable[str]) -> None:
        new = sorted(set(types) - self._read)
        self._read.update(new)
        for some in batches(new):
            rows = self._store.read_batches("ingest/proposals", types=list(some), threshold=THRESHOLD)
            with closing(rows) as found:
                for row in chain.from_iterable(found):
                    if row["document"] not in self._without:
                        self._growth.add(*_proposed(row))


def _proposed(row: Row) -> Proposed:
    """What a row of ``ingest/proposals`` says."""
    return row["passage"], row["document"], [proposal_of(row)]


_AT_ONCE = 500
_SHAPES: dict[str, Any] = {"entities": ExtractedEntity, "triples": ExtractedTriple, "attributes": ExtractedAttribute}


NOTHING_LEFT: Row = {"leftOut": None, "seed": None, "boundBy": None}
"""The properties of a passage that nothing was left out of."""


def left_out(extraction: Extraction, seed: Schema, schema: Schema, mode: Mode) -> Row:
    """The properties of a passage that keep ``extraction``, which ``schema`` has bounded, for what ``seed`` becomes."""
    kept = {kind: [asdict(item) for item in getattr(extraction, kind)] for kind in _SHAPES}
    return {
        "leftOut": json.dumps(kept, ensure_ascii=False),
        "seed": _id_of(seed, mode),
        "boundBy": _id_of(schema, mode),
    }


def fill_in(store: Store, seed: Schema, schema: Schema, mode: Mode) -> None:
    """Bound by ``schema``, which ``seed`` has become, what passages keep; each in a transaction of its own."""
    ids = {"seed": _id_of(seed, mode), "schema": _id_of(schema, mode)}
    while rows := store.read("ingest/left_out", **ids, limit=_AT_ONCE):
        for row in rows:
            passage = Passage(document_id=row["document"], **row["passage"])
            kept = json.loads(row["leftOut"])
            parts = {kind: tuple(shape(**item) for item in kept[kind]) for kind, shape in _SHAPES.items()}
            bounded, tally = bound(Extraction(**parts), schema, mode)
            counts: Row = {name: getattr(tally, name) for name in ("kept", "mapped", "dropped", "turned")}
            counts["offSchema"] = tally.off_schema
            names = {kind: told for kind, told in json.loads(row["notKept"]).items() if kind not in KINDS}
            counts["notKept"] = json.dumps({**tally.left_out, **names}, ensure_ascii=False)
            is_outside = tally.dropped or tally.off_schema
            state = counts | ({"boundBy": _id_of(schema, mode)} if is_outside else NOTHING_LEFT)
            written = rows_of(passage, bounded, schema, row["title"])
            store.write(
                ("ingest/remove_facts", {"passages": [passage.id], "all": False}),
                *extraction_statements(written, [{"id": passage.id, "state": state}]),
                ("ingest/recount_statements", {"passages": [passage.id]}),
            )


def _id_of(schema: Schema, mode: Mode) -> str:
    said = json.dumps(schema.to_dict(), ensure_ascii=False, sort_keys=True)
    return node_id(said) if mode == "strict" else node_id(said, mode)
