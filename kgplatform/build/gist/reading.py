"""What a run knows: its tools, and each document while it reads it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgplatform.build.gist.gisting import Gist
from kgplatform.build.gist.options import GistOptions
from kgplatform.build.gist.pages import Memory, Page, add_pages
from kgplatform.build.gist.paragraphs import Paragraph, covering, paragraphs
from kgplatform.build.gist.report import FailedPage, GistReport
from kgplatform.build.settle import Progress
from kgplatform.llm import Chat
from kgplatform.store import Store


@dataclass(slots=True)
class GistRun:
    """One run. ``characters`` are to be paginated, of which ``paginated`` are; ``gists`` are known to be wanted."""

    store: Store
    chat: Chat
    options: GistOptions
    report: GistReport
    progress: Progress
    characters: int = 0
    paginated: int = 0
    gists: int = 0
    gisted: int = 0

    def advanced(self, characters: int = 0, gists: int = 0) -> None:
        """Tell how far the run is, after so much more."""
        self.paginated += characters
        self.gisted += gists
        if characters:
            self.progress("paginating, in characters", self.paginated, self.characters)
        if gists:
            self.progress("gisting", self.gisted, self.gists)

    def count_malformed(self, gist: Gist) -> None:
        """Note what had to be put right on the way to ``gist``."""
        self.report.malformed.update(gist.malformed)


@dataclass(slots=True)
class Reading:
    """A document under way. ``waiting``: pieces of work that are not back yet; ``failed``: one of them failed.

    ``verdicts``: what the model said of two pages, by where the first and the second begin and the second ends.
    """

    memory: Memory
    found: Sequence[Paragraph]
    spans: Sequence[tuple[int, int]] = field(default_factory=list)
    waiting: int = 0
    failed: bool = False
    verdicts: dict[tuple[int, int, int], str] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: Memory, options: GistOptions) -> Reading:
        """Begin to read, or go on."""
        kind = options.kind
        found = paragraphs(
            memory.text,
            options.longest_paragraph,
            kind.style,
            memory.starts,
            whole_lines=kind.whole_lines,
            piece_words=options.piece,
        )
        return cls(memory, found, covering(found, len(memory.text)))

    @property
    def first(self) -> int:
        """The first paragraph that is on no page yet."""
        return bisect_left(self.spans, (self.memory.reached, 0))

    def add(self, run: GistRun, ends: Sequence[int]) -> list[Page]:
        """Write the pages that end before the paragraphs ``ends``; they are returned."""
        memory, pages = self.memory, list[Page]()
        start = memory.reached
        for end in ends:
            stop = self.spans[end][0] if end < len(self.spans) else len(memory.text)
            pages.append(memory.page(len(memory.pages) + len(pages), start, stop))
            start = stop
        before = memory.reached
        add_pages(run.store, memory, pages)
        run.report.pages_new += len(pages)
        run.gists += len(pages)
        run.advanced(characters=memory.reached - before)
        return pages

    def lacks(self, tokens: int) -> bool:
        """Whether the chunks that are there have other than the document's ``tokens``: then some of it is missing."""
        return self.memory.tokens != tokens

    def fail(self, run: GistRun, page: int, reason: str) -> None:
        """Note that ``page`` could not be had."""
        self.failed = True
        run.report.failed.append(FailedPage(self.memory.name, page, reason))
