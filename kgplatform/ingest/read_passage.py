"""One passage, read: what it says, bounded by the schema, as properties and rows to write. Without a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kgplatform.extract import Extractor
from kgplatform.extract.bound import Mode, bound
from kgplatform.extract.grounded_names import without_inventions
from kgplatform.extract.schema import Schema
from kgplatform.ingest.compare import EXTRACTED
from kgplatform.ingest.rows import Rows, has_usable_names, proposal_of, rows_of
from kgplatform.ingest.schema_expansion import NOTHING_LEFT, left_out
from kgplatform.records import Document, Extraction, Malformed, Passage, Proposal

if TYPE_CHECKING:
    from kgplatform.neo4j.store import Row


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """What becomes of ``passage``: the properties that it gets, and its rows."""

    passage: str
    state: Row
    rows: Rows

    @property
    def proposals(self) -> list[Proposal]:
        """The types that it proposes, as the graph will have them."""
        return [*map(proposal_of, self.rows.proposals.values())]


@dataclass(frozen=True, slots=True)
class Reading:
    """How passages are read. ``seed`` is the schema that the ingest began with."""

    extractor: Extractor
    seed: Schema
    mode: Mode

    def read(self, passage: Passage, document: Document, schema: Schema) -> ReadPassage:
        """Extract from ``passage`` and bound it by ``schema``, which ``seed`` has become.

        Raises ``ModelError`` or ``InputError`` as the extractor does.
        """
        extraction = self.extractor.extract(passage, document, schema)
        return self._bounded(passage, document, extraction, schema)

    def _bounded(self, passage: Passage, document: Document, extraction: Extraction, schema: Schema) -> ReadPassage:
        usable, unnamed = _without_unusable(extraction), 0
        if self.extractor.name == "llm":  # the rules invent nothing, and for a recording its maker answers
            usable, unnamed = without_inventions(usable, passage, document.title)
        bounded, tally = bound(usable, schema, self.mode)
        rows = rows_of(passage, bounded, schema, document.title)
        found, not_found = rows.found()
        stated = len(bounded.triples) + len(bounded.attributes) + len(bounded.facts)
        kinds, counts = by_kind(usable.malformed)
        by = self.extractor.name
        state = {
            "state": EXTRACTED,
            "failure": None,
            "unreadBy": None,
            "kept": tally.kept,
            "mapped": tally.mapped,
            "dropped": tally.dropped,
            "offSchema": tally.off_schema,
            "turned": tally.turned,
            "unnamed": unnamed,
            "found": found,
            "notFound": not_found,
            "duplicates": stated - found - not_found,
            **(left_out(usable, self.seed, schema) if self.mode == "strict" and tally.dropped else NOTHING_LEFT),
            "malformedKinds": kinds,
            "malformedCounts": counts,
            "factsBy": by if by in ("llm", "local") or rows.atomic_facts else None,
        }
        return ReadPassage(passage.id, state, rows)


def _without_unusable(extraction: Extraction) -> Extraction:
    """``extraction`` without what has no name, or one too long to be a name; that is malformed, and counted."""
    entities = tuple(entity for entity in extraction.entities if has_usable_names(entity.name))
    triples = tuple(
        triple for triple in extraction.triples if has_usable_names(triple.subject, triple.predicate, triple.object)
    )
    attributes = tuple(
        attribute for attribute in extraction.attributes if has_usable_names(attribute.entity, attribute.key)
    )
    before = len(extraction.entities) + len(extraction.triples) + len(extraction.attributes)
    lost = before - len(entities) - len(triples) - len(attributes)
    malformed = extraction.malformed + (Malformed("name that is empty or too long", ""),) * lost
    return replace(extraction, entities=entities, triples=triples, attributes=attributes, malformed=malformed)


def by_kind(
    malformed: Sequence[Malformed], before: Counter[str] | None = None
) -> tuple[list[str], list[int]] | tuple[None, None]:
    """The kinds of what is malformed, and how many there are of each, with those ``before``; None if nothing is."""
    counted = Counter(before or ()) + Counter(item.kind for item in malformed)
    kinds = sorted(counted)
    return (kinds, [counted[kind] for kind in kinds]) if kinds else (None, None)
