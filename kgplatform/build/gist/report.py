"""What a run of ``kgplatform gist`` did, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kgplatform.records import Usage
from kgplatform.store import Row


@dataclass(frozen=True, slots=True)
class FailedPage:
    """A page that could not be gisted, or could not be found an end for; the next run tries again."""

    document: str
    page: int
    reason: str


@dataclass(frozen=True, slots=True)
class LongMemory:
    """A document whose gists have more tokens than was asked for, whatever was done."""

    document: str
    gist_tokens: int


@dataclass(slots=True)
class GistReport:
    """What a run did, and how the memories of the documents named are after it.

    ``kept``: gists that were there before; ``written``: gists of pages that had none; ``shortened``: gists that were
    shortened once more. ``gisted_words``: of the pages that have a gist; ``words`` of all. ``flags``: gists that are
    not the model's. ``merged``: what came of the questions about pages that follow each other, and the pairs that were
    merged for being the shortest. ``replaced``: documents whose pages were made in another way before.
    """

    preset: str
    min_words: int
    max_words: int
    uniform: bool
    question: str
    documents: int = 0
    complete_documents: int = 0
    replaced: int = 0
    pages: int = 0
    pages_new: int = 0
    written: int = 0
    kept: int = 0
    shortened: int = 0
    words: int = 0
    gisted_words: int = 0
    gist_words: int = 0
    gist_tokens: int = 0
    flags: Counter[str] = field(default_factory=Counter)
    malformed: Counter[str] = field(default_factory=Counter)
    merged: Counter[str] = field(default_factory=Counter)
    failed: list[FailedPage] = field(default_factory=list)
    too_long: list[LongMemory] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    stopped: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do for these documents."""
        return not (self.stopped or self.failed or self.too_long) and self.complete_documents == self.documents

    @property
    def compression(self) -> float | None:
        """Percent of the words that the gists save, of the pages that have one (section 4.1); None without any."""
        return 100 * (1 - self.gist_words / self.gisted_words) if self.gisted_words else None

    def count(self, rows: Iterable[Row]) -> None:
        """Take over how the memories are now: rows of ``pages.survey``."""
        for row in rows:
            self.pages += row["pages"]
            self.words += row["words"]
            self.gisted_words += row["gistedWords"]
            self.gist_words += row["gistWords"]
            self.gist_tokens += row["gistTokens"]
            self.flags.update(row["flags"])
