"""The nouns that the parts hand to each other: frozen, plain, without behaviour that needs a database.

All character offsets count Unicode code points of ``Document.text`` and are half open: ``text[start:end]``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# ---------------------------------------------------------------------------------------------- sources


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The characters ``[start, end)`` of a document that stand on page ``number`` (from 1)."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """One source text.

    ``source`` is the URI of the file that it came from; ``uri`` names the document itself and equals ``source``
    but for members of a JSON corpus, which add ``#`` and their title. ``id`` is derived from ``uri`` alone, so a
    changed text replaces the old one whatever its title.
    """

    id: str
    name: str
    uri: str
    source: str
    text: str
    sha256: str
    pages: tuple[PageSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was not ingested, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document: ``document.text[start:end] == text``. ``page`` is the page of its first character."""

    id: str
    document_id: str
    name: str
    index: int
    start: int
    end: int
    page: int | None
    text: str
    tokens: int


# ------------------------------------------------------------------------------------------- extraction


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """A named thing as the extractor wrote it. ``quote`` is the words of the chunk that name it, if given."""

    name: str
    type: str | None = None
    quote: str | None = None
    in_schema: bool = True


@dataclass(frozen=True, slots=True)
class ExtractedTriple:
    """Subject, predicate and object in the extractor's words, with the words of the chunk that state it."""

    subject: str
    predicate: str
    object: str
    quote: str | None = None
    in_schema: bool = True


@dataclass(frozen=True, slots=True)
class ExtractedAttribute:
    """One typed value of one entity, such as ``("Ada Lovelace", "born", "1815")``."""

    entity: str
    key: str
    value: str
    quote: str | None = None
    in_schema: bool = True


@dataclass(frozen=True, slots=True)
class AtomicFact:
    """The smallest statement that stands alone, with its key elements (GraphReader, section 3.2)."""

    text: str
    key_elements: tuple[str, ...]
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A type that the extractor would add to the schema (Youtu-GraphRAG, eq. 3)."""

    kind: Literal["entity", "relation", "attribute"]
    name: str
    confidence: float
    example: str = ""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Something in an extractor's output that cannot be used. ``kind`` groups it, ``detail`` shows it."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that one chunk says, before or after the schema has bounded it."""

    entities: tuple[ExtractedEntity, ...] = ()
    triples: tuple[ExtractedTriple, ...] = ()
    attributes: tuple[ExtractedAttribute, ...] = ()
    facts: tuple[AtomicFact, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    malformed: tuple[Malformed, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if nothing at all was extracted."""
        return not (self.entities or self.triples or self.attributes or self.facts)


# -------------------------------------------------------------------------------------------- retrieval


@dataclass(frozen=True, slots=True)
class Citation:
    """The characters of a document that state something. ``found`` is False if only the chunk is known."""

    document: str
    title: str
    start: int
    end: int
    page: int | None
    chunk: str
    found: bool = True


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that was retrieved. ``routes`` are the routes that found it, ``score`` is higher for better."""

    id: str
    document: str
    title: str
    start: int
    end: int
    page: int | None
    text: str
    score: float
    routes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact that was retrieved, with every place that states it."""

    id: str
    text: str
    score: float
    routes: tuple[str, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a route found for a question, best first, and the seconds that it took."""

    question: str
    passages: tuple[Passage, ...]
    facts: tuple[FoundFact, ...]
    seconds: float


# -------------------------------------------------------------------------------------------- answering


@dataclass(frozen=True, slots=True)
class Usage:
    """Language-model work: calls, tokens as the server counted them, and answers taken from the disk cache."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_calls + other.cached_calls,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a reader: what it did, with which statement or prompt, what came back, and what it cost."""

    name: str
    detail: str
    seconds: float
    statement: str | None = None
    parameters: dict[str, object] = field(default_factory=dict)
    rows: int | None = None
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Answer:
    """A reader's answer. ``text`` is None where no language model is configured: the evidence speaks then."""

    question: str
    reader: str
    text: str | None
    citations: tuple[Citation, ...]
    evidence: SearchResult
    trace: tuple[Step, ...]
    usage: Usage
    note: str = ""
