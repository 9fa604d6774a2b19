"""A document's pages and gists as the graph has them: read, written as they come, and taken away.

A memory is all pages of one document for one question ('' for any). Its pages follow each other without a gap from the
document's first character; it is paginated when the last one ends with the document.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from kgplatform.concurrency.threads import Work
from kgplatform.errors import ModelError, StoreError
from kgplatform.gist.options import FailedPage, GistOptions, LongMemory
from kgplatform.gist.pagination import Paragraph, length_of
from kgplatform.models.chat import Chat
from kgplatform.neo4j.store import Parameters, Row, Store
from kgplatform.query import batches
from kgplatform.records import Progress
from kgplatform.text import count_tokens, count_words, node_id, rejoin

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Gist:
    """A shortened page. ``flag``: '', "beginning" or "own text". ``malformed``: what had to be put right on the way."""

    text: str
    flag: str = ""
    malformed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Characters ``[start, end)`` of a document, and what is remembered of them; ``gist`` is None until it is written.

    ``again``: how often its gist was shortened once more; ``final``: the last time it did not become shorter.
    """

    id: str
    index: int
    start: int
    end: int
    words: int
    tokens: int
    gist: str | None = None
    gist_words: int = 0
    gist_tokens: int = 0
    flag: str = ""
    again: int = 0
    final: bool = False

    @property
    def length(self) -> int:
        """How long it is in words, also where white space does not part them."""
        return length_of(self.words, self.tokens)

    def with_gist(self, gist: Gist) -> Page:
        """The page with what came of gisting it."""
        return replace(
            self, gist=gist.text, gist_words=count_words(gist.text), gist_tokens=count_tokens(gist.text), flag=gist.flag
        )


@dataclass(slots=True)
class Memory:
    """The pages of ``document`` for ``question``.

    ``starts``: where its passages begin, whose texts make up ``text``; ``tokens``: those of the passages together.
    """

    document: str
    title: str
    sha256: str
    question: str
    made: str
    text: str
    starts: tuple[int, ...]
    tokens: int = 0
    pages: list[Page] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The one that all its pages share."""
        return node_id("memory", self.document, self.question)

    @property
    def reached(self) -> int:
        """The character up to which it is paginated."""
        return self.pages[-1].end if self.pages else 0

    @property
    def is_paginated(self) -> bool:
        """Whether all of the text is on a page; a text of white space alone needs none."""
        return self.reached == len(self.text) or not self.text.strip()

    @property
    def gist_tokens(self) -> int:
        """Tokens of all gists."""
        return sum(page.gist_tokens for page in self.pages)

    @property
    def compression(self) -> float | None:
        """Percent of the words that gists save; None without words, or before each page has its gist."""
        words = sum(page.words for page in self.pages)
        if not words or not self.is_paginated or any(page.gist is None for page in self.pages):
            return None
        return 100 * (1 - sum(page.gist_words for page in self.pages) / words)

    def text_of(self, page: Page) -> str:
        return self.text[page.start : page.end]

    def page(self, index: int, start: int, end: int) -> Page:
        """A new page of the characters ``[start, end)``."""
        text = self.text[start:end]
        identity = node_id("page", self.document, self.question, start)
        return Page(identity, index, start, end, count_words(text), count_tokens(text))


def survey(store: Store, documents: Sequence[str], question: str) -> list[Row]:
    """How far the memories of ``documents`` are: a row of cypher/gist/memories.cypher each, by name. Its counts are
    among its fields; ``complete``: whether its pages are all of the text, and all have gists."""
    rows: list[Row] = []
    for some in batches(documents, _BATCH):
        found = store.read("gist/memories", documents=list(some), question=question)
        for row in found:  # its pages, by index, start and end: each is to begin where the one before ends
            spans = sorted(row["spans"])
            ends = [0, *(end for _, _, end in spans)]
            is_all = [[index, start] for index, start, _ in spans] == [[n, end] for n, end in enumerate(ends[:-1])]
            paginated = is_all and ends[-1] == row["characters"] if spans else not row["tokens"]
            rows.append({**row, **row["counts"], "complete": paginated and row["gisted"] == row["pages"]})
    return sorted(rows, key=lambda row: (row["name"], row["id"]))


def open_memory(store: Store, row: Row, question: str, made: str) -> Memory:
    """The text of a document, and the pages that its memory has, by a ``row`` of ``survey``."""
    passages = store.read("gist/text", document=row["id"])
    text = rejoin([(passage["start"], passage["text"]) for passage in passages], 0, row["characters"])
    starts = tuple(passage["start"] for passage in passages)
    tokens = sum(passage["tokens"] for passage in passages)
    memory = Memory(row["id"], row["name"], row["sha256"], question, made, text, starts, tokens)
    memory.pages = [Page(**each["page"]) for each in store.read("gist/pages_of_memory", memory=memory.id)]
    return memory


def add_pages(store: Store, memory: Memory, pages: Sequence[Page]) -> None:
    """Write new ``pages`` at the end of ``memory``, which then has them. Raises ``ChangedMeanwhileError`` if the
    document was changed or removed: nothing is written then."""
    before = memory.pages[-1:]
    new = [page.id for page in pages]
    _write(store, memory, pages, following=[*before, *pages], there=before, new=new, gone=())
    memory.pages += pages


def replace_pages(store: Store, memory: Memory, pages: Sequence[Page]) -> None:
    """Make ``pages`` those of ``memory``, in one transaction; one without a gist loses the gist that it had. Raises
    ``ChangedMeanwhileError`` as ``add_pages`` does."""
    kept = {page.id for page in pages}
    gone = [page.id for page in memory.pages if page.id not in kept]
    _write(store, memory, pages, following=pages, there=memory.pages, new=(), gone=gone)
    memory.pages = list(pages)


def _write(
    store: Store,
    memory: Memory,
    pages: Sequence[Page],
    *,
    following: Sequence[Page],
    there: Sequence[Page],
    new: Sequence[str],
    gone: Sequence[str],
) -> None:
    # One statement: what follows a refusal must not be written either.
    chosen = {
        "document": memory.document,
        "sha256": memory.sha256,
        "question": memory.question,
        "there": [{"id": page.id, "end": page.end} for page in there],
        "new": list(new),
        "gone": list(gone),
        "rows": [
            {
                "id": page.id,
                "memory": memory.id,
                "made": memory.made,
                "name": f"{memory.title} · page {page.index}",
                **{name: getattr(page, name) for name in ("index", "start", "end", "words", "tokens")},
                "hasGist": page.gist is not None,
            }
            for page in pages
        ],
        "following": [{"id": one.id, "next": other.id} for one, other in pairwise(following)],
    }
    if not store.write(("gist/pages", chosen))[0]:
        raise ChangedMeanwhileError(memory)


class ChangedMeanwhileError(StoreError):
    """The document was changed or removed since it was opened: what was made of it is not written."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(f"The document {memory.title} was changed or removed while it was read.")


def write_gist(store: Store, memory: Memory, page: Page) -> None:
    """Write the gist of ``page``, whose vector is due with that; ``memory`` has it, too. Raises
    ``ChangedMeanwhileError`` if that page is no longer there."""
    row = {name: getattr(page, name) for name in ("id", "end", "gist", "flag", "again", "final")}
    row |= {"sha256": memory.sha256, "gistWords": page.gist_words, "gistTokens": page.gist_tokens}
    if not store.write(("gist/gists", {"rows": [row]}))[0]:
        raise ChangedMeanwhileError(memory)
    memory.pages[page.index] = page


def compression_of(memory: Memory, percent: float | None) -> list[tuple[str, Parameters]]:
    """What notes with the document how much the gists of ``memory`` save, if it suits any question."""
    row = {"id": memory.document, "sha256": memory.sha256, "compression": percent}
    return [] if memory.question else [("gist/compression", {"rows": [row]})]


@dataclass(slots=True)
class GistRun:
    """One run. ``characters`` are to be paginated, of which ``paginated`` are; ``gists`` are known to be wanted.

    What it counts for the fields of ``GistReport`` has their names. All of it is used by one thread alone.
    """

    store: Store
    chat: Chat
    options: GistOptions
    progress: Progress
    characters: int = 0
    paginated: int = 0
    gists: int = 0
    gisted: int = 0
    begun: set[str] = field(default_factory=set)
    replaced: int = 0
    pages_new: int = 0
    written: int = 0
    kept: int = 0
    shortened: int = 0
    malformed: Counter[str] = field(default_factory=Counter)
    merged: Counter[str] = field(default_factory=Counter)
    failed: list[FailedPage] = field(default_factory=list)
    too_long: list[LongMemory] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def advanced(self, characters: int = 0, gists: int = 0) -> None:
        """Tell how far the run is, after so much more."""
        self.paginated += characters
        self.gisted += gists
        if characters:
            self.progress("paginating, in characters", self.paginated, self.characters)
        if gists:
            self.progress("gisting", self.gisted, self.gists)


@dataclass(slots=True)
class Reading:
    """A document in progress. ``waiting``: pieces of work that are not back yet; ``failed``: one of them failed.

    ``verdicts``: what the model said of two pages, by where the first and the second begin and the second ends.
    """

    memory: Memory
    found: Sequence[Paragraph]
    spans: Sequence[tuple[int, int]] = field(default_factory=list)
    waiting: int = 0
    failed: bool = False
    verdicts: dict[tuple[int, int, int], str] = field(default_factory=dict)

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
        run.pages_new += len(pages)
        run.gists += len(pages)
        run.advanced(characters=memory.reached - before)
        return pages

    def work(
        self,
        run: GistRun,
        order: int,
        call: Callable[[], Any],
        done: Callable[[Any], Iterable[Work]],
        page: int,
        failed: Callable[[str], None] = lambda reason: None,
    ) -> Work:
        """A piece of work on this document; a failure is reported for ``page``, and ``failed`` is given the reason."""
        self.waiting += 1

        def back(result: Any) -> Iterable[Work]:
            self.waiting -= 1
            return done(result)

        def lost(error: ModelError) -> Iterable[Work]:
            self.waiting -= 1
            self.fail(run, page, str(error))
            failed(str(error))
            return ()

        return Work(order, call, back, lost)

    def fail(self, run: GistRun, page: int, reason: str) -> None:
        """Note that ``page`` could not be had."""
        self.failed = True
        run.failed.append(FailedPage(self.memory.title, page, reason))
