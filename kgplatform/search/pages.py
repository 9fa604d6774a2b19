"""Gist memory as ReadAgent reads it: the pages of documents with their gists, and the text behind a page.

    pages = evidence.pages("Who kept the lamp?", documents)
    pages.size().tokens                              # what all gists take
    pages.all().pages, pages.near(5).ids             # all of them; the five nearest by meaning
    pages.texts(["…"]).texts["…"].text               # a page in full

A document is remembered by the pages that were made for this very question, if it has such pages and none of them is
still to be gisted (conditional gisting, appendix F.1), else by those for any question. Pages that do not reach the end
of their document are not finished and do not count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import FoundPassage, QueryRun
from kgplatform.search.found import part_of, traced_read, unscored
from kgplatform.search.question import Question
from kgplatform.text import WORD, normalise_name, rejoin

_LEAST_ASKED = 50

_AT_ONCE = 200
"""Pages that are read from the graph at once, where all text is read."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """The characters ``[start, end)`` of a document, and their gist; None where there is none yet.

    ``index`` counts the pages of the document, from 0; ``document`` is its URI.
    """

    id: str
    document: str
    title: str
    index: int
    start: int
    end: int
    gist: str | None


@dataclass(frozen=True, slots=True)
class MemorySize:
    """How many ``documents`` are remembered, ``for_question`` of them by pages of this question, and how many are not.

    ``pages`` and ``words`` of their text, ``tokens`` of the gists, by ``text.count_tokens``; ``longest``: tokens of the
    longest page. ``ungisted`` pages have no gist, ``unembedded`` ones a gist without a vector.
    """

    documents: int
    without: int
    for_question: int
    pages: int
    ungisted: int
    unembedded: int
    tokens: int
    words: int
    longest: int
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class FoundPages:
    """Pages in reading order, and the statements that read them."""

    pages: tuple[StoredPage, ...]
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class RankedPages:
    """Ids of pages, best first, and the statements that found them."""

    ids: tuple[str, ...]
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class PageText:
    """A page in full, and the passages that it consists of, each cut to what the page has of it."""

    text: str
    passages: tuple[FoundPassage, ...]


@dataclass(frozen=True, slots=True)
class PageTexts:
    """Pages in full, by id; those that are gone are left out."""

    texts: dict[str, PageText]
    queries: tuple[QueryRun, ...]


class Pages:
    """The gist memory of ``documents`` (ids; by default of all) for one question, which is ``text.tidy``."""

    def __init__(self, store: Store, embedder: Embedder, question: str, documents: Sequence[str] = ()) -> None:
        self._read = partial(traced_read, store)
        self._embedder = embedder
        self._question = question
        self._documents = list(documents)

    def size(self) -> MemorySize:
        """How much there is; nothing of it is loaded."""
        rows, queries = self._read("search/gist_memory_size", **self._chosen)
        counts = rows[0]
        return MemorySize(for_question=counts.pop("forQuestion"), **counts, queries=queries)

    def all(self) -> FoundPages:
        """Every page, in reading order. Ask for the ``size`` before."""
        rows, queries = self._read("search/gists", **self._chosen)
        return FoundPages(tuple(StoredPage(**row) for row in rows), queries)

    def named(self, ids: Sequence[str]) -> FoundPages:
        """The pages with these ids, in reading order."""
        rows, queries = self._read("search/gists_by_page", ids=list(ids))
        return FoundPages(tuple(StoredPage(**row) for row in rows), queries)

    def near(self, count: int) -> RankedPages:
        """The ``count`` pages whose gists are nearest to the question by meaning.

        Of the whole graph the index is asked. It holds the gists for other questions too: where it does not find enough
        of ours, and where documents are chosen, each of our gists is compared. It is an error of the server if there is
        no such index: see ``MemorySize.unembedded``.
        """
        vector = self._asked.vector
        runs: tuple[QueryRun, ...] = ()
        if not self._documents:
            asked = max(_LEAST_ASKED, 2 * count)
            rows, runs = self._read("search/gists_near", k=asked, vector=vector, question=self._question)
            chosen = [row["id"] for row in rows if row["chosen"]]
            if len(chosen) >= count:
                return RankedPages(tuple(chosen[:count]), runs)
        rows, ran = self._read("search/gists_compared", **self._chosen, vector=vector, count=count)
        return RankedPages(tuple(row["id"] for row in rows), (*runs, *ran))

    def with_passages(self, passages: Sequence[str]) -> RankedPages:
        """The pages that hold passages (passage ids, best first), those of the first passage first."""
        rows, queries = self._read("search/pages_of_passages", passages=list(passages), **self._chosen)
        return RankedPages(tuple(row["id"] for row in rows), queries)

    def best_by_words(self, count: int) -> RankedPages:
        """The ``count`` best pages by the words of their full text: Okapi BM25 over these pages and no others. All text
        of the pages is read, some pages at a time. Those without a word of the question are left out."""
        found = self.all()
        queries = list(found.queries)

        def texts() -> Iterator[tuple[str, str]]:
            for some in batches([page.id for page in found.pages], _AT_ONCE):
                read = self.texts(some)
                queries.extend(read.queries)
                yield from ((id_, read.texts[id_].text) for id_ in some if id_ in read.texts)

        ranked = okapi(self._question, texts())
        return RankedPages(tuple(ranked[:count]), tuple(queries))

    def texts(self, ids: Sequence[str]) -> PageTexts:
        """Pages in full: their text is put together from the passages that overlap them."""
        rows, queries = self._read("search/page_texts", ids=list(ids))
        return PageTexts({row["id"]: _text(row) for row in rows}, queries)

    @property
    def _chosen(self) -> dict[str, object]:
        return {"documents": self._documents, "question": self._question}

    @cached_property
    def _asked(self) -> Question:
        """The question with its vector, which not every way to read needs."""
        return Question(self._question, self._embedder)


def _text(row: Row) -> PageText:
    """The page without the white space at its ends."""
    start, end = row["start"], row["end"]
    passages = [unscored(passage) for passage in row["passages"]]
    whole = rejoin(((passage.start, passage.text) for passage in passages), start, end)
    text = whole.strip()
    first = start + len(whole) - len(whole.lstrip())
    parts = (part_of(passage, first, first + len(text)) for passage in passages)
    return PageText(text, tuple(part for part in parts if part.text))


K1 = 1.2
B = 0.75


def okapi(question: str, texts: Iterable[tuple[str, str]]) -> list[str]:
    """The ids of ``texts`` (id, text) that have a word of ``question``, best first by Okapi BM25; equal ones in the
    order given. All words of the question count.

    The full-text index of Neo4j ranks within the whole graph: its weights of words come from all documents. Here they
    come from the texts that are given, as a database for each document has it (ReadAgent, section 4.2). Only the counts
    of the question's words are held: memory grows with the number of texts, not with their length.
    """
    wanted = frozenset(_words(question))
    counts: dict[str, Counter[str]] = {}
    lengths: dict[str, int] = {}
    for id_, text in texts:
        words = _words(text)
        counts[id_], lengths[id_] = Counter(word for word in words if word in wanted), len(words)
    number, mean = len(counts), sum(lengths.values()) / max(1, len(lengths))
    having = Counter(word for own in counts.values() for word in own)
    weights = {word: math.log(1 + (number - n + 0.5) / (n + 0.5)) for word, n in having.items()}
    scores: dict[str, float] = {}
    for id_, own in counts.items():
        longer = K1 * (1 - B + B * lengths[id_] / (mean or 1.0))
        scores[id_] = sum(weights[word] * n * (K1 + 1) / (n + longer) for word, n in sorted(own.items()))
    return sorted((id_ for id_ in scores if scores[id_] > 0), key=lambda id_: -scores[id_])


def _words(text: str) -> list[str]:
    return WORD.findall(normalise_name(text))
