"""The schema grows by what passages propose (Youtu-GraphRAG, eq. 3).

Of what passages in the graph proposed, only what is asked for is read. Most types are proposed by one passage or two,
and a document more asks for few of them. So the types that enough passages propose are read at the start, and another
type when somebody proposes it now.

A type counts from the next window of passages on. What a passage said that is partly outside the schema that an ingest
began with (``seed``) it keeps in ``leftOut``, with the one that bounded it (``boundBy``), each in its mode. At the end,
passages of the same seed are bounded once more by what that has become, without a call. Then they say what they would
if they were read again; only the label of a type that has lost its support stays.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any

from kgplatform.extract.bound import KINDS, MODES, Mode, bound
from kgplatform.extract.schema import Expansion, Schema, TypeKind
from kgplatform.ingest.corrections import Corrections, Said, rewritten, said_by, without_label
from kgplatform.ingest.write import proposal_of, proposed_type, rows_of
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction, Proposal
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

    def __init__(
        self, store: Store, seed: Schema, without: Iterable[str] = (), only: Collection[str] | None = None
    ) -> None:
        self._store, self._seed = store, seed
        self._growth = Growth(seed, THRESHOLD, SUPPORT)
        self._without, self._only = frozenset(without), only
        self._read: set[str] = set()
        bounds = {"least": SUPPORT, "threshold": THRESHOLD}
        types = store.read("ingest/proposed_types", **bounds)
        self._add_known(row["id"] for row in types if seed.lacks(row["kind"], row["name"]))
        self._grow()

    @property
    def kept(self) -> str:
        """``expansions`` as the graph keeps them."""
        return json.dumps([asdict(each) for each in self.expansions], ensure_ascii=False)

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
        return [(row["passage"], row["document"], [proposal_of(row)]) for row in rows]

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
                    is_meant = self._only is None or row["document"] in self._only
                    if is_meant and row["document"] not in self._without:
                        self._growth.add(row["passage"], row["document"], [proposal_of(row)])


_AT_ONCE, _WRITTEN_AT_ONCE = 500, 50
"""Passages that are looked at, and those that are written in one transaction."""
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


def fill_in(store: Store, seed: Schema, schema: Schema) -> None:
    """Bound by ``schema``, which ``seed`` has become, what passages keep, each in its mode. One that is as it was is
    only marked; of another, what it says now takes the place of what it said."""
    corrections = Corrections.of(store, schema)
    for mode in MODES:
        ids = {"seed": _id_of(seed, mode), "schema": _id_of(schema, mode)}
        while rows := store.read("ingest/left_out", **ids, limit=_AT_ONCE):
            same: list[Row] = []
            others: dict[str, tuple[Extraction, Row]] = {}
            for row in rows:
                kept = json.loads(row["leftOut"])
                parts = {kind: tuple(shape(**item) for item in kept[kind]) for kind, shape in _SHAPES.items()}
                bounded, tally = bound(Extraction(**parts), schema, mode)
                counts: Row = {name: getattr(tally, name) for name in ("kept", "mapped", "dropped", "turned")}
                counts["offSchema"] = tally.off_schema
                state: Row = {"boundBy": ids["schema"]}
                if counts == row["counts"]:
                    same.append({"id": row["id"], "state": state})
                    continue
                names = {kind: told for kind, told in json.loads(row["notKept"]).items() if kind not in KINDS}
                told = {**tally.left_out, **names}
                state |= counts | {"notKept": json.dumps(told, ensure_ascii=False) if told else None}
                others[row["id"]] = bounded, state
            for some in batches(sorted(others), _WRITTEN_AT_ONCE):
                said = [_again(each, others[each.passage.id][0], schema) for each in said_by(store, some)]
                states = {id_: others[id_][1] for id_ in some}
                store.write(*rewritten(said, corrections, states))
            store.write(("ingest/passage_states", {"rows": same}))


def _again(said: Said, bounded: Extraction, schema: Schema) -> Said:
    """What a passage says now that it is bounded again. Its atomic facts stay, and mention what is called so now."""
    before, rows = said.uncorrected, rows_of(said.passage, bounded, schema, said.title, said.written)
    rows.mentions |= {key: row for key, row in before.mentions.items() if key in rows.mentions}
    first = {id_: mention["names"][0] for (id_, _), mention in rows.mentions.items()}  # as the graph gives them
    rows.entities = {id_: {**without_label(row), "name": first[id_]} for id_, row in rows.entities.items()}
    called = {each["key"]: id_ for id_, each in reversed(rows.entities.items())}
    for key, fact in before.atomic_facts.items():
        elements = set()
        for id_ in fact["elements"]:
            entity = before.entities.get(id_)
            if entity is not None and id_ not in rows.entities and entity["key"] in called:
                id_ = called[entity["key"]]
            elif entity is not None:
                rows.entities.setdefault(id_, entity)
            else:
                rows.key_elements[id_] = before.key_elements[id_]
            rows.mentions.setdefault((id_, said.passage.id), before.mentions[id_, said.passage.id])
            elements.add(id_)
        rows.atomic_facts[key] = {**fact, "elements": sorted(elements)}
    return replace(said, uncorrected=rows)


def _id_of(schema: Schema, mode: Mode) -> str:
    said = json.dumps(schema.to_dict(), ensure_ascii=False, sort_keys=True)
    return node_id(said) if mode == "strict" else node_id(said, mode)
