"""The schema grows by what passages propose (Youtu-GraphRAG, eq. 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kgplatform.ingest.schema import Expansion, Schema, TypeKind
from kgplatform.records import Proposal
from kgplatform.text import tidy, type_key

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
