"""The nouns that the parts hand to each other: frozen, plain, without behaviour that needs a database.

All character offsets count Unicode code points of ``Document.text`` and are half open: ``text[start:end]``.
"""

from __future__ import annotations

import operator
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from typing import Any, Literal, SupportsIndex, overload

from kgplatform.shown import Shown, as_fields, data_frame, html_table, html_text, in_file, shown_days, with_time

_PAGE = re.compile(r"page (\d+)")

Progress = Callable[[str, int, int], None]
"""Called with a stage's name, how much of it is done, and how much there is."""

SILENT: Progress = lambda stage, done, total: None  # noqa: E731 - a default, not a definition

MetadataValue = str | int | float | bool | list[str] | list[int] | list[float] | list[bool]
"""What is known of a document, under a name: "author", "year" …"""


@dataclass(frozen=True, slots=True)
class Location:
    """What people call the place of a document's characters ``[start, end)``: "page 3", "line 12", "Budget!A7:F7"."""

    label: str
    start: int
    end: int


def page_label(number: int) -> str:
    """The location of a page: those of a PDF count from 1."""
    return f"page {number}"


def page_of(label: str | None) -> int | None:
    """The page that ``label`` names; None for slides, sheets and the like."""
    found = _PAGE.fullmatch(label or "")
    return int(found[1]) if found else None


def with_location(row: Mapping[str, Any]) -> dict[str, Any]:
    """``row`` with a ``page`` that is that of its ``location``; or, of a graph made before there were locations, with
    the one of its page."""
    label, page = row["location"], row["page"]
    if label is None and page is not None:
        return {**row, "location": page_label(page)}
    return {**row, "page": page_of(label) or page}


@dataclass(frozen=True, slots=True)
class Document:
    """One source text.

    ``source`` is the URI of the file that it came from; ``uri`` names the document itself and equals ``source``
    but for members of a JSON corpus, which add ``#`` and their title. ``id`` is derived from ``uri`` alone, so a
    changed text replaces the old one whatever its title. ``metadata``: what else is known of it. ``modified``: when its
    file was changed, in UTC (ISO 8601); "" where it is in none. ``given``: what of the metadata ingests gave it.
    """

    id: str
    title: str
    uri: str
    source: str
    text: str
    sha256: str
    locations: tuple[Location, ...] = ()
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    modified: str = ""
    given: Mapping[str, MetadataValue] = field(default_factory=dict)

    def __hash__(self) -> int:
        """As fast for a table of a million rows, each with its location."""
        return hash((self.id, self.sha256))


METADATA = "meta_"
"""What a document's metadata have before their names, as properties of its node."""


def metadata_name(property: str) -> str:
    """The name that people know a property by."""
    return property.removeprefix(METADATA)


def metadata_of(properties: Iterable[Sequence[Any]]) -> dict[str, MetadataValue]:
    """Of ``[property, value]`` pairs those that are metadata, by their names."""
    found = {str(name): value for name, value in properties}
    return {metadata_name(name): found[name] for name in sorted(found) if name.startswith(METADATA)}


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def written_on(metadata: Mapping[str, MetadataValue]) -> str:
    """The day, an ISO date, when a document with these ``metadata`` was written; "" where they do not say."""
    values = (str(metadata.get(name, "")) for name in ("date", "published", "created"))
    return next((found[0] for value in values if (found := _DAY.match(value))), "")


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was not ingested, and why. ``in_part``: the rest of it was, as when a page is damaged."""

    path: str
    reason: str
    in_part: bool = False


@dataclass(frozen=True, slots=True)
class GoneFile:
    """A file that is no longer there, and how many documents the graph has of it, or had if they were ``removed``.

    ``same_text``: a file that has its text now, as after renaming; None where none has.
    """

    path: str
    documents: int
    same_text: str | None
    removed: bool


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document: ``document.text[start:end] == text``. ``page`` is the page of its first character.

    ``location``: where all of it stands, "slides 2–4". Where that is several locations, ``locations`` are their labels
    and ``location_starts`` the characters of the document at which they begin here.
    """

    id: str
    document_id: str
    name: str
    index: int
    start: int
    end: int
    page: int | None
    text: str
    tokens: int
    location: str | None = None
    locations: tuple[str, ...] | None = None
    location_starts: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """A named thing as the extractor wrote it. ``quote`` is the words of the passage that name it, if given."""

    name: str
    type: str | None = None
    quote: str | None = None
    in_schema: bool = True


@dataclass(frozen=True, slots=True)
class ExtractedTriple:
    """Subject, predicate and object in the extractor's words, with what of the passage states it: words (``quote``), or
    a ``sentence`` by its number (``text.numbered``). ``object_type``: of the object, where others may be called so."""

    subject: str
    predicate: str
    object: str
    quote: str | None = None
    in_schema: bool = True
    sentence: int | None = None
    object_type: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractedAttribute:
    """One typed value of one entity, such as ``("Ada Lovelace", "born", "1815")``."""

    entity: str
    key: str
    value: str
    quote: str | None = None
    in_schema: bool = True
    sentence: int | None = None


@dataclass(frozen=True, slots=True)
class AtomicFact:
    """The smallest statement that stands alone, with its key elements (GraphReader, section 3.2)."""

    text: str
    key_elements: tuple[str, ...]
    quote: str | None = None
    sentence: int | None = None


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
    """All that one passage says, before or after the schema has bounded it."""

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


@dataclass(frozen=True, slots=True, repr=False)
class Citation(Shown):
    """The characters of a document that state something. ``found`` is False if only the passage is known.

    ``location``: what people call the place where they begin, "page 3", "line 12", "Budget!A7:F7"; None where the text
    has no such places.
    ``text``: the words there, of an answer's citations; of a fact, the fact.
    ``since``, ``until``: ISO dates, the first of the days when that is so and the one after the last; None is an
    open end, or no time at all. ``granularity``: of what is said, "day", "month", "year", "decade" or "century", by the
    characters ``time_start`` to ``time_end`` of the document.
    """

    document: str
    title: str
    start: int
    end: int
    page: int | None
    passage: str
    found: bool = True
    location: str | None = None
    text: str = ""
    since: str | None = None
    until: str | None = None
    granularity: str | None = None
    time_start: int | None = None
    time_end: int | None = None

    @property
    def time(self) -> str:
        """When that is so, as people read it: "1857–1861"; empty where no time is said."""
        return shown_days(self.since, self.until, self.granularity)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Citation:
        """As a statement returns it: its fields by name."""
        return cls(**with_location(row))


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of an answer and what it rests on. ``text``: as it stands in ``Answer.text``, its numbers included.

    ``citations``: numbers, from 1, of the citations behind it; none is not cited. ``unread``: its names, numbers and
    dates that stand neither in the cited sentences, nor beside them, nor in the title. ``compared``: whether they could
    be looked for, which they cannot in another language or script. ``supported``: whether the model, asked to verify,
    found that the cited sentences support it; None where it was not asked.
    """

    text: str
    citations: tuple[int, ...] = ()
    unread: tuple[str, ...] = ()
    compared: bool = False
    supported: bool | None = None

    @property
    def marks(self) -> tuple[str, ...]:
        """What there is to say of it, beside its citations, in words."""
        unread = f"not in the cited text: {', '.join(self.unread)}" if self.unread else ""
        is_not = "" if self.supported else "not "
        verdict = "" if self.supported is None else f"the model finds this {is_not}supported by its citation"
        return tuple(filter(None, (unread, verdict)))


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a document: its characters ``[start, end)``. ``location``: where they begin, as of a ``Citation``."""

    text: str
    start: int
    end: int
    location: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class FoundPassage(Shown):
    """A passage that was retrieved. ``routes`` are the routes that found it, ``score`` is higher for better.

    ``score`` ranks the passages of one question; ``relevance`` compares those of different ones: the probability, from
    0 to 1, that the passage holds what is asked, None where that is not calibrated (``kgplatform.readers.relevance``).
    ``cosine``: with the question, None where it was not searched for. ``sentence``: the one that shares most with the
    question, with its own place; None where none shares a word, or nobody looked yet. ``copies``: where else its very
    text stands. ``location``: where it stands, "slides 2–4"; ``locations``: what begins at which character, where that
    is several.
    ``metadata``: of its document.
    """

    id: str
    document: str
    title: str
    start: int
    end: int
    page: int | None
    text: str
    score: float
    routes: tuple[str, ...]
    sentence: Quote | None = None
    cosine: float | None = None
    relevance: float | None = None
    copies: tuple[Citation, ...] = ()
    location: str | None = None
    locations: tuple[tuple[int, str], ...] = ()
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict, hash=False)

    def location_at(self, start: int) -> str | None:
        """The label of the document's character ``start``, which is in the passage."""
        before = bisect_right(self.locations, start, key=lambda each: each[0])
        return self.locations[before - 1][1] if before else self.location

    def cited(self, start: int, end: int, *, found: bool = True) -> Citation:
        """The citation of the document's characters ``[start, end)``, which are in the passage."""
        label = self.location_at(start)
        page = page_of(label) or self.page
        return Citation(self.document, self.title, start, end, page, self.id, found, label)


@dataclass(frozen=True, slots=True, repr=False)
class FoundFact(Shown):
    """A fact that was retrieved, with every place that states it. ``relevant``: False where it does not speak to the
    question, or where another in the result says it with more words (``kgplatform.readers.relevance``): people are not
    shown it unless they ask."""

    id: str
    text: str
    score: float
    routes: tuple[str, ...]
    citations: tuple[Citation, ...]
    relevant: bool = True

    @property
    def timed(self) -> str:
        """The text, with the times of its citations that it does not say itself: "Ada was engineer (1857–1861)"."""
        return with_time(self.text, [each.time for each in self.citations])


@dataclass(frozen=True, slots=True, repr=False)
class Conflict(Shown):
    """Two ``facts`` that differ in what ``subject``, the entity ``id``, has one of at a time: the relation or attribute
    ``name``. Each has the places that state it. ``since``: the day on which the second took the place of the first;
    "" where both are said of one time."""

    id: str
    subject: str
    name: str
    facts: tuple[FoundFact, FoundFact]
    since: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class FoundPath(Shown):
    """A walk over facts: ``facts[i]`` joins the entities ``names[i]`` and ``names[i + 1]``, in either direction.

    ``entities`` are their ids; no entity comes twice. ``predicates`` are those of the facts; ``forward`` says of each
    whether the walk goes from its subject to its object. ``score`` is the mean cosine of the facts with the question.
    """

    entities: tuple[str, ...]
    names: tuple[str, ...]
    predicates: tuple[str, ...]
    forward: tuple[bool, ...]
    facts: tuple[FoundFact, ...]
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class FoundCommunity(Shown):
    """A community of the knowledge tree near a question. ``score``: cosine of its name and summary."""

    id: str
    name: str
    summary: str
    size: int
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class SearchResult(Shown):
    """What a route found for a question, best first, and the seconds that it took.

    ``paths`` and ``communities`` are what the routes of these names walked through; others leave them empty. ``fits``:
    False if no passage is likely to hold what is asked, None where that is not known (``FoundPassage.relevance``).
    ``missing``: names, numbers and the like of the question that no passage has; None where it has none. Its length is
    the number of passages, and going through it gives these.
    ``as_of``: the year, month or day of which the facts are, None where that was not asked.
    """

    question: str
    passages: tuple[FoundPassage, ...]
    facts: tuple[FoundFact, ...]
    seconds: float
    paths: tuple[FoundPath, ...] = ()
    communities: tuple[FoundCommunity, ...] = ()
    fits: bool | None = None
    missing: tuple[str, ...] | None = None
    as_of: str | None = None

    def __len__(self) -> int:
        return len(self.passages)

    def __iter__(self) -> Iterator[FoundPassage]:
        return iter(self.passages)

    def first_sentences(self, count: int) -> tuple[Citation, ...]:
        """The best sentences of the first ``count`` passages, of those that have one, with their words."""
        first = ((each, each.sentence) for each in self.passages[:count])
        return tuple(replace(each.cited(said.start, said.end), text=said.text) for each, said in first if said)

    def to_df(self, of: Literal["passages", "facts"] = "passages") -> Any:
        """The passages, or the facts, as a DataFrame of pandas, a row each. Raises ``ImportError`` without pandas,
        and ``ValueError`` for what is neither."""
        if of not in ("passages", "facts"):
            raise ValueError(f'A result has "passages" and "facts", not {of!r:.100}.')
        kind = FoundFact if of == "facts" else FoundPassage
        columns = [field.name for field in fields(kind)]
        found = self.facts if of == "facts" else self.passages
        return data_frame((as_fields(each) for each in found), columns)

    def _repr_html_(self) -> str:
        """The passages, and the facts that speak to the question."""
        shown = [each.sentence or each for each in self.passages]
        named: dict[str, list[Any]] = {
            "Document": [each.title + in_file(each.title, each.document) for each in self.passages],
            "Location": [each.location for each in shown],
            "Characters": [f"{each.start}–{each.end}" for each in shown],
            "Score": [each.score for each in self.passages],
            "Passage": [each.text for each in shown],
        }
        columns = {name: values for name, values in named.items() if any(values) or name != "Location"}
        facts = [each for each in self.facts if each.relevant]
        places = ((each.timed, each.citations[0].title if each.citations else "", each.score) for each in facts)
        return (
            html_text(self.question)
            + html_table(tuple(columns), zip(*columns.values(), strict=True), len(self.passages))
            + (html_table(("Fact", "Document", "Score"), places, len(facts)) if facts else "")
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """Language-model work: calls, tokens as the server counted them, and answers taken from the disk cache."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, other: Usage) -> Usage:
        return Usage(*map(operator.sub, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True, repr=False)
class QueryRun(Shown):
    """One Cypher statement that ran: its name in ``cypher/``, its text, and what came back.

    ``rows``: how many. ``seconds`` include their transfer.
    """

    name: str
    statement: str
    parameters: dict[str, Any]
    rows: int
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Step(Shown):
    """One step of a reader: what it did and what came of it, in words, and what it cost.

    ``prompt`` names the file in ``prompts/`` that was sent, ``reply`` is what the model wrote. ``queries`` are the
    statements that ran, ``facts`` and ``passages`` the ids of what they found, best first, ``elements`` those of the
    key elements that the step was at, ``pages`` those of the pages that it read again. ``path``: the number, from 1, of
    the walk that it belongs to, where a reader has several that know nothing of each other; 0 for what belongs to the
    whole run. ``notebook``: the reader's notes as they are after the step, None for steps that keep none.
    """

    name: str
    detail: str
    seconds: float
    prompt: str | None = None
    reply: str = ""
    queries: tuple[QueryRun, ...] = ()
    facts: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    usage: Usage = Usage()
    elements: tuple[str, ...] = ()
    path: int = 0
    pages: tuple[str, ...] = ()
    notebook: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Shown):
    """A reader's answer. ``text`` is None where no language model is configured: the evidence speaks then.

    ``run`` is the id of the ``Run`` node that keeps it in the graph, None if it is not kept. ``counts``: how often
    something happened, for readers that count (function calls, replies that could not be used). ``statements``: those
    of the text, with what each rests on. ``sufficient``: whether the model said that what it read has the answer; None
    where it was not asked. ``disputes``: what other passages say of what the citations state, first the cited fact.
    """

    question: str
    reader: str
    text: str | None
    citations: tuple[Citation, ...]
    evidence: SearchResult
    trace: tuple[Step, ...]
    usage: Usage
    note: str = ""
    run: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    statements: tuple[Statement, ...] = ()
    sufficient: bool | None = None
    disputes: tuple[Conflict, ...] = ()

    def __str__(self) -> str:
        return self.note if self.text is None else self.text

    @property
    def other_sides(self) -> tuple[str, ...]:
        """What other passages say of what the citations state, in words."""
        return tuple(
            f"{f'Since {each.since}, another' if each.since else 'Another'} passage says: “{each.facts[1].timed}” "
            f"({each.facts[1].citations[0].title})"
            for each in self.disputes
        )

    def _repr_html_(self) -> str:
        """The answer with what it cites and its marks; where no model wrote one, the evidence."""
        if self.text is None:
            return html_text(self.note) + self.evidence._repr_html_()
        places = (
            (
                number,
                each.title + in_file(each.title, each.document),
                each.location,
                f"{each.start}–{each.end}",
                each.text,
            )
            for number, each in enumerate(self.citations, 1)
        )
        columns = ("", "Document", "Location", "Characters", "Cited")
        cited = html_table(columns, places, len(self.citations)) if self.citations else ""
        marks = "".join(html_text(f"“{each.text}”: {mark}") for each in self.statements for mark in each.marks)
        sides = "".join(map(html_text, self.other_sides))
        return html_text(self.text) + marks + cited + sides + html_text(self.note)


class TableRow(list[Any]):
    """Values, in the order of the columns: ``row["name"]`` is ``row[0]``, ``name, born = row`` works, and so does
    ``dict(row)``. It equals a list of the same values."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Sequence[str], values: Iterable[Any]) -> None:
        super().__init__(values)
        self._columns = columns

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> list[Any]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> Any:
        """Raises ``KeyError`` for a name that no column has."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self._columns:
            raise KeyError(f"{key!r} is none of the columns {', '.join(self._columns)}")
        return super().__getitem__(self._columns.index(key))

    def keys(self) -> Sequence[str]:
        """The names of the columns."""
        return self._columns

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names with their values."""
        return zip(self._columns, self, strict=True)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a column; ``default`` where there is none of that name."""
        return self[name] if name in self._columns else default


@dataclass(frozen=True, slots=True, repr=False)
class Table(Shown):
    """Rows of a user's statement. ``truncated`` if the row limit cut them; ``counters`` are what it changed; ``notes``
    name what it asks for that the graph does not have.

    Its length is the number of rows; going through it gives each as a dictionary.
    """

    columns: tuple[str, ...]
    rows: list[TableRow]
    truncated: bool
    counters: dict[str, int]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(row.items()) for row in self.rows)

    def to_df(self) -> Any:
        """The rows as a DataFrame of pandas. Raises ``ImportError`` where it is not installed."""
        return data_frame(self, self.columns)

    def _repr_html_(self) -> str:
        return html_table(self.columns, self.rows, len(self.rows))
