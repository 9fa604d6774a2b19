"""Where names come from: the local extractor, a graph, and a file that a person wrote."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, ValidationError

from kgplatform.build.chunk import chunk_document
from kgplatform.build.extract.local import LocalExtractor
from kgplatform.build.schema import Schema, load_schema
from kgplatform.errors import InputError
from kgplatform.evaluate.anonymity.entities import Candidate, Likeness
from kgplatform.evaluate.anonymity.kinds_by_use import PERSON, kinds_by_use
from kgplatform.evaluate.anonymity.placeholders import label_of
from kgplatform.query import load_query
from kgplatform.records import Document, ExtractedTriple
from kgplatform.text import tidy

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph

DEFAULT_TYPES = ("Person", "Location")
CHUNK_TOKENS = 400
_BY_HAND = 1_000_000  # a name that a person wrote outweighs all that a source counts
_MOST_ROWS = 5_000_000
_SECONDS = 600.0

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Statement:
    """A triple in the source's words. ``text``: the sentence that states it; ``document``: the document's name."""

    subject: str
    predicate: str
    object: str
    text: str
    document: str


@dataclass(frozen=True, slots=True)
class Names:
    """What a source gives. ``untyped``: names of no known type, and how often each was met."""

    candidates: tuple[Candidate, ...] = ()
    likenesses: tuple[Likeness, ...] = ()
    statements: tuple[Statement, ...] = ()
    untyped: Mapping[str, int] = field(default_factory=dict)


def chosen_types(types: Sequence[str], schema: Schema, more: Iterable[str] = ()) -> dict[str, str]:
    """The label of each type of ``schema`` (or of ``more``) that is meant by one of ``types``, in the asker's words.

    >>> chosen_types(["Location"], load_schema("general"))
    {'Place': 'LOCATION'}
    """
    others = {each.casefold(): each for each in more}
    chosen: dict[str, str] = {}
    for asked in types:
        found = schema.entity(asked)
        name = found.name if found else others.get(asked.casefold())
        label = label_of(asked)
        if name is None or not label:
            known = sorted({each.name for each in schema.entities} | set(others.values()))
            words = [*known, *(alias for each in schema.entities for alias in each.aliases)]
            near = get_close_matches(asked.title(), words, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise InputError(f"There is no type {asked!r}.{hint} There are: {', '.join(known)}.")
        chosen.setdefault(name, label)
    return chosen


# ---------------------------------------------------------------------------------------------------------------- local


def local_names(documents: Sequence[Document], types: Sequence[str], progress: Progress) -> Names:
    """What the rules of the local extractor find in the texts; no model, no database."""
    schema = load_schema("general")
    labels = chosen_types(types, schema)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    statements: dict[Statement, None] = {}
    extractor = LocalExtractor()
    for number, document in enumerate(documents, start=1):
        for chunk in chunk_document(document, CHUNK_TOKENS):
            extraction = extractor.extract(chunk, document, schema)
            for entity in extraction.entities:
                kinds[entity.name][entity.type or ""] += 1
            for triple in extraction.triples:
                statement = (tidy(triple.quote or ""), document.name)
                statements[Statement(triple.subject, triple.predicate, triple.object, *statement)] = None
                for name, kind in _kinds_of_ends(triple, schema):
                    kinds[name][kind] += 1
        progress("names", number, len(documents))
    known = {name: _best(counts) for name, counts in kinds.items()}
    people = [name for name, kind in known.items() if kind == PERSON]
    texts = [document.text for document in documents]
    by_use = kinds_by_use((name for name, kind in known.items() if not kind), texts, people)
    known |= {name: found.name for name, kind in by_use.items() if (found := schema.entity(kind))}
    candidates = [
        Candidate(labels[kind], name, is_person=kind == PERSON, weight=kinds[name].total())
        for name, kind in sorted(known.items())
        if kind in labels
    ]
    untyped = {name: kinds[name].total() for name, kind in sorted(known.items()) if not kind}
    return Names(tuple(candidates), (), tuple(statements), untyped)


def _best(counts: Counter[str]) -> str:
    """The kind that was met most often, then the first in order; none only where no sentence gives one."""
    typed = [kind for kind in counts if kind]
    return min(typed, key=lambda kind: (-counts[kind], kind)) if typed else ""


def _kinds_of_ends(triple: ExtractedTriple, schema: Schema) -> list[tuple[str, str]]:
    """What the relation says of its ends, where it allows one type alone: who is born is a person."""
    relation = schema.relation(triple.predicate)
    if relation is None:
        return []
    ends = ((triple.subject, relation.heads), (triple.object, relation.tails))
    return [(name, types[0]) for name, types in ends if len(types) == 1]


# ---------------------------------------------------------------------------------------------------------------- graph


def graph_names(graph: KnowledgeGraph, types: Sequence[str]) -> Names:
    """The entities of the graph with their aliases, and its triples. Raises ``InputError`` for an empty graph."""
    found = graph.schema()
    if found is None:
        raise InputError("The graph is empty. Run `kgplatform ingest FOLDER` first, or use --extractor local.")
    schema = found.schema.with_expansions(found.expansions)
    labels = chosen_types(types, schema, [row[0] for row in _rows(graph, "evaluate/types_in_use")])
    person = schema.entity(PERSON)
    candidates: list[Candidate] = []
    likenesses: list[Likeness] = []
    for name, kind, aliases, chunks, same in _rows(graph, "evaluate/entities_of_types", types=sorted(labels)):
        is_person = person is not None and kind == person.name
        candidates.append(Candidate(labels[kind], name, tuple(aliases), is_person, chunks))
        likenesses += [(name, other) for other in same]
    statements = [Statement(*row) for row in _rows(graph, "evaluate/stated_triples") if row[-1] is not None]
    return Names(tuple(candidates), tuple(likenesses), tuple(statements))


def _rows(graph: KnowledgeGraph, name: str, **parameters: object) -> list[list[Any]]:
    table = graph.cypher(load_query(name).text, dict(parameters), limit=_MOST_ROWS, timeout=_SECONDS)
    if table.truncated:
        raise InputError(f"The graph has more than {_MOST_ROWS:,} rows to read; use --extractor local instead.")
    return table.rows


# ----------------------------------------------------------------------------------------------------------------- file


def names_from_file(path: Path) -> Names:
    """The names that a person wrote, JSON lines of ``{name, type, aliases}``. Raises ``InputError``."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"The names {path} cannot be read: {(error.strerror or 'unknown error').lower()}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"The names {path} are not in UTF-8. Save the file again as UTF-8.") from error
    candidates = tuple(_named(path, number, line) for number, line in enumerate(lines, start=1) if line.strip())
    if not candidates:
        raise InputError(f'The names {path} are empty. Write a line for each, as {{"name": "Ahab", "type": "Person"}}.')
    return Names(candidates)


class _Line(BaseModel):
    """A line of a file of names."""

    name: str = Field(pattern=r"[^\W\d_]")
    type: str = Field(pattern=r"[^\W\d_]")
    aliases: tuple[str, ...] = ()


def _named(path: Path, number: int, line: str) -> Candidate:
    try:
        read = _Line.model_validate_json(line)
    except ValidationError as error:
        wanted = 'expected {"name": "Ahab", "type": "Person", "aliases": ["the captain"]}'
        raise InputError(f"{path}, line {number}: {wanted}.") from error
    label = label_of(read.type)
    if not label:
        raise InputError(f"{path}, line {number}: the type {read.type!r} does not begin with a letter.")
    found = load_schema("general").entity(read.type)
    return Candidate(label, read.name, read.aliases, found is not None and found.name == PERSON, _BY_HAND)
