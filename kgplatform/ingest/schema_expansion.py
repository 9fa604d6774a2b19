"""The schema grows by what passages propose (Youtu-GraphRAG, eq. 3).

Of what passages in the graph proposed, only what is asked for is read. Most types are proposed by one passage or two,
and a document more asks for few of them. So the types that enough passages propose are read at the start, and another
type when somebody proposes it now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain

from kgplatform.extract.schema import Expansion, Schema, TypeKind
from kgplatform.ingest.rows import proposal_of, proposed_type
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import Proposal
from kgplatform.settings import Settings
from kgplatform.text import tidy, type_key

THRESHOLD = 0.9
"""The least confidence with which a proposal counts (the paper's)."""
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
    """How ``schema`` grows by the passages in the graph, but for those of the documents ``without``, and by ``add``."""

    def __init__(self, store: Store, schema: Schema, settings: Settings, without: Collection[str] = ()) -> None:
        self._store = store
        self._growth = Growth(schema, THRESHOLD, settings.expansion_support)
        self._without = without
        self._read: set[str] = set()
        bounds = {"least": settings.expansion_support, "threshold": THRESHOLD}
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
            rows = self._store.read_batches("ingest/proposals", types=list(some), threshold=THRESHOLD)
            with closing(rows) as found:
                for row in chain.from_iterable(found):
                    if row["document"] not in self._without:
                        self._growth.add(*proposed(row))


def proposed(row: Row) -> Proposed:
    """What a row of ``ingest/proposals`` says."""
    return row["passage"], row["document"], [proposal_of(row)]
