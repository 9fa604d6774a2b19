"""What an ingest did, for people and for programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kgplatform.build.schema import Expansion
from kgplatform.records import SkippedFile, Usage
from kgplatform.store import Row


@dataclass(frozen=True, slots=True)
class FailedChunk:
    """A chunk that nothing could be extracted from; the next ingest of its document tries again."""

    chunk: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an ingest would cost. Tokens are counted offline, within about 10 %; output tokens are a rule of thumb."""

    documents: int
    chunks: int
    pending_chunks: int
    calls: int
    input_tokens: int
    output_tokens: int
    skipped: tuple[SkippedFile, ...]


@dataclass(slots=True)
class IngestReport:
    """What an ingest did. Counts of extraction are over all chunks of the files named, read now or before.

    ``facts_read``: chunks that ``--facts`` read now, ``facts_found`` the atomic facts in them, ``facts_failed`` the
    chunks that it could not read, which keep the facts that they have. ``expansions``: all types that the schema of the
    graph has grown by, ``expansions_added`` those of this run.
    """

    extractor: str
    schema: str
    mode: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    chunks: int = 0
    extracted: int = 0
    failed: list[FailedChunk] = field(default_factory=list)
    kept: int = 0
    mapped: int = 0
    dropped: int = 0
    off_schema: int = 0
    statements_found: int = 0
    statements_not_found: int = 0
    duplicates: int = 0
    malformed: Counter[str] = field(default_factory=Counter)
    expansions: list[Expansion] = field(default_factory=list)
    expansions_added: list[Expansion] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    characters: int = 0
    facts_read: int = 0
    facts_found: int = 0
    facts_failed: list[FailedChunk] = field(default_factory=list)
    stopped: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do for these files."""
        return not (self.stopped or self.failed or self.facts_failed)

    def count(self, rows: list[Row]) -> None:
        """Take over the counts that the chunks of these files carry."""
        for row in rows:
            self.kept += row["kept"]
            self.mapped += row["mapped"]
            self.dropped += row["dropped"]
            self.off_schema += row["offSchema"]
            self.statements_found += row["found"]
            self.statements_not_found += row["notFound"]
            self.duplicates += row["duplicates"]
            self.malformed.update(dict(zip(row["malformedKinds"], row["malformedCounts"], strict=True)))
