"""A document's pages and gists as the graph has them: read, written as they come, and taken away.

A memory is all pages of one document for one question ('' for any). Its pages follow each other without a gap from the
document's first character; it is paginated when the last one ends with the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from kgplatform.build.gist.gisting import Gist
from kgplatform.build.gist.paragraphs import length_of
from kgplatform.errors import StoreError
from kgplatform.store import Parameters, Row, Store
from kgplatform.text import count_tokens, count_words, node_id, rejoin

_BATCH = 1000


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
            self,
            gist=gist.text,
            gist_words=count_words(gist.text),
            gist_tokens=count_tokens(gist.text),
            flag=gist.flag,
        )


@dataclass(slots=True)
class Memory:
    """The pages of ``document`` for ``question``.

    ``starts``: where its chunks begin, whose texts make up ``text``; ``tokens``: those of the chunks together.
    """

    document: str
    name: str
    sha256: str
    question: str
    made: str
    text: str
    starts: tuple[int, ...]
    tokens: int = 0
    pages: list[Page] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Of all its pages."""
        return memory_id(self.document, self.question)

    @property
    def reached(self) -> int:
        """The character up to which it is paginated."""
        return self.pages[-1].end if self.pages else 0

    @property
    def is_paginated(self) -> bool:
        """Whether all of the text is on a page; a text of white space alone needs none."""
        return self.reached == len(self.text) or not self.text.strip()

    @property
    def is_complete(self) -> bool:
        """Whether each page has its gist, too."""
        return self.is_paginated and all(page.gist is not None for page in self.pages)

    @property
    def gist_tokens(self) -> int:
        """Tokens of all gists."""
        return sum(page.gist_tokens for page in self.pages)

    @property
    def compression(self) -> float | None:
        """Percent of the words that gists save; None unless it is complete and has words."""
        words = sum(page.words for page in self.pages)
        if not (words and self.is_complete):
            return None
        return 100 * (1 - sum(page.gist_words for page in self.pages) / words)

    def text_of(self, page: Page) -> str:
        """The text of ``page``."""
        return self.text[page.start : page.end]

    def page(self, index: int, start: int, end: int) -> Page:
        """A new page of the characters ``[start, end)``."""
        text = self.text[start:end]
        identity = node_id("page", self.document, self.question, start)
        return Page(identity, index, start, end, count_words(text), count_tokens(text))


def memory_id(document: str, question: str) -> str:
    """The id that the pages of one memory share."""
    return node_id("memory", document, question)


def survey(store: Store, documents: Sequence[str], question: str) -> list[Row]:
    """How far the memories of ``documents`` are: a row of cypher/build/page_memories.cypher each, by name.

    Its counts are among its fields; ``paginated``: whether its pages are all of the text.
    """
    rows: list[Row] = []
    for start in range(0, len(documents), _BATCH):
        chosen = list(documents[start : start + _BATCH])
        found = store.read("build/page_memories", documents=chosen, question=question)
        rows += [{**row, **row["counts"], "paginated": _is_all(row.pop("spans"), row)} for row in found]
    return sorted(rows, key=lambda row: (row["name"], row["id"]))


def _is_all(spans: Sequence[list[int]], row: Row) -> bool:
    """Whether pages, by index, start and end, are all of a document's text, each where the one before ends."""
    indices, starts, ends = zip(*sorted(spans), strict=True) if spans else ((), (), ())
    in_order = indices == tuple(range(len(spans)))
    return in_order and (*starts, row["characters"]) == (0, *ends) if spans else not row["tokens"]


def open_memory(store: Store, row: Row, question: str, made: str) -> Memory:
    """The text of a document, and the pages that its memory has, by a ``row`` of ``survey``."""
    chunks = store.read("build/pages_text", document=row["id"])
    text = rejoin([(each["start"], each["text"]) for each in chunks], 0, row["characters"])
    starts = tuple(each["start"] for each in chunks)
    tokens = sum(each["tokens"] for each in chunks)
    memory = Memory(row["id"], row["name"], row["sha256"], question, made, text, starts, tokens)
    memory.pages = [Page(**each["page"]) for each in store.read("build/pages_of_memory", memory=memory.id)]
    return memory


def follows(pages: Sequence[Page], characters: int) -> bool:
    """Whether ``pages`` are a memory's beginning: no gap, no overlap, in order."""
    if not pages:
        return True
    joined = all(one.end == other.start for one, other in pairwise(pages))
    ordered = [page.index for page in pages] == list(range(len(pages)))
    return joined and ordered and pages[0].start == 0 and pages[-1].end <= characters


# ------------------------------------------------------------------------------------------------------------- writing


def forget(store: Store, memory: Memory) -> None:
    """Take away all pages of ``memory``."""
    store.write(("build/remove_memory_pages", {"memory": memory.id}), *_no_compression(memory))
    memory.pages = []


def add_pages(store: Store, memory: Memory, pages: Sequence[Page]) -> None:
    """Write new ``pages`` at the end of ``memory``, which then has them.

    Raises ``StoreError`` if the document was changed or removed meanwhile, or another run wrote pages of this memory:
    nothing is written then.
    """
    before = memory.pages[-1:]
    new = [page.id for page in pages]
    _write(store, memory, pages, following=[*before, *pages], there=before, new=new, gone=())
    memory.pages += pages


def replace_pages(store: Store, memory: Memory, pages: Sequence[Page]) -> None:
    """Make ``pages`` those of ``memory``, in one transaction; one without a gist loses the gist that it had.

    Raises ``StoreError`` as ``add_pages`` does.
    """
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
        "rows": [_row(memory, page) for page in pages],
        "following": [{"id": one.id, "next": other.id} for one, other in pairwise(following)],
    }
    if not store.write(("build/pages", chosen))[0]:
        raise _meanwhile(memory)


def _meanwhile(memory: Memory) -> StoreError:
    return StoreError(
        f"The document {memory.name} was changed, removed or gisted by another run meanwhile. Run `kgplatform gist` "
        "again, once nothing else writes to it."
    )


def _row(memory: Memory, page: Page) -> Row:
    return {
        "id": page.id,
        "memory": memory.id,
        "made": memory.made,
        "name": f"{memory.name} · page {page.index}",
        "index": page.index,
        "start": page.start,
        "end": page.end,
        "words": page.words,
        "tokens": page.tokens,
        "hasGist": page.gist is not None,
    }


def write_gist(store: Store, memory: Memory, page: Page) -> None:
    """Write the gist of ``page``, whose vector is due with that; ``memory`` has it, too.

    Raises ``StoreError`` if that page is no longer there.
    """
    row = {
        "id": page.id,
        "sha256": memory.sha256,
        "end": page.end,
        "gist": page.gist,
        "gistWords": page.gist_words,
        "gistTokens": page.gist_tokens,
        "flag": page.flag,
        "again": page.again,
        "final": page.final,
    }
    if not store.write(("build/page_gists", {"rows": [row]}))[0]:
        raise _meanwhile(memory)
    memory.pages[page.index] = page


def write_failure(store: Store, page: Page, reason: str) -> None:
    """Note why ``page`` has no gist."""
    store.write(("build/page_failures", {"rows": [{"id": page.id, "failure": reason}]}))


def set_made(store: Store, memory: Memory, made: str) -> None:
    """Note that ``memory`` is made in another way from now on."""
    memory.made = made
    store.write(("build/page_made", {"memory": memory.id, "made": made}))


def write_compression(store: Store, memory: Memory) -> None:
    """Note how much the gists of ``memory`` save, with its document, if it suits any question."""
    if not memory.question:
        store.write(_compression(memory, memory.compression))


def _no_compression(memory: Memory) -> list[tuple[str, Parameters]]:
    return [] if memory.question else [_compression(memory, None)]


def _compression(memory: Memory, percent: float | None) -> tuple[str, Parameters]:
    row = {"id": memory.document, "sha256": memory.sha256, "compression": percent}
    return "build/pages_compression", {"rows": [row]}
