"""The schema's growth by what passages in the graph proposed, of which only what is asked for is read.

Most types are proposed by one passage or two, and a document more asks for few of them. So the types that enough
passages propose are read at the start, and another type when somebody proposes it now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from itertools import chain

from kgplatform.ingest.growth import Growth
from kgplatform.ingest.rows import proposal_of, proposed_type
from kgplatform.ingest.schema import Expansion, Schema
from kgplatform.neo4j.batches import batches
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Proposal
from kgplatform.settings import Settings

Proposed = tuple[str, str, Sequence[Proposal]]
"""Passage id, document id, and what the passage proposed."""


class KnownGrowth:
    """How ``schema`` grows by the passages in the graph, but for those of the documents ``without``, and by ``add``."""

    def __init__(self, store: Store, schema: Schema, settings: Settings, without: Collection[str] = ()) -> None:
        self._store = store
        self._growth = Growth(schema, settings.expansion_threshold, settings.expansion_support)
        self._threshold = settings.expansion_threshold
        self._without = without
        self._read: set[str] = set()
        bounds = {"least": settings.expansion_support, "threshold": settings.expansion_threshold}
        types = store.read("ingest/proposed_types", **bounds)
        self._add_known(row["id"] for row in types if schema.lacks(row["kind"], row["name"]))

    def add(self, proposed: Sequence[Proposed]) -> None:
        """Count what passages propose, those of the graph included that propose the same types."""
        self._add_known(proposed_type(each) for _, _, proposals in proposed for each in proposals)
        for each in proposed:
            self._growth.add(*each)

    def expansions(self) -> list[Expansion]:
        """The types that have the support by now."""
        return self._growth.expansions()

    def _add_known(self, types: Iterable[str]) -> None:
        new = sorted(set(types) - self._read)
        self._read.update(new)
        for some in batches(new):
            rows = self._store.read_batches("ingest/proposals", types=list(some), threshold=self._threshold)
            with closing(rows) as found:
                for row in chain.from_iterable(found):
                    if row["document"] not in self._without:
                        self._growth.add(*proposed(row))


def proposed(row: Row) -> Proposed:
    """What a row of ``ingest/proposals`` says."""
    return row["passage"], row["document"], [proposal_of(row)]
