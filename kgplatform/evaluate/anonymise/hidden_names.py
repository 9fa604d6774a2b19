"""Which names are hidden, and what stands for each: the entities of a graph, and names that a person wrote.

- Names that differ in case and full stops alone are one; so is a name that is an alias of exactly one other.
- What the graph joins by ``SAME_AS`` is one. A shorter name ("Ahab") is the fuller one ("Captain Ahab") where the
  graph says so, where it has no type, and where it is a person's; but only if one fuller name is there.
- What may mean several ("Bright", of two brothers) gets a placeholder of its own, with a list of who it may be: to
  leave the name where it stands would give it away, and to guess would be wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, ValidationError

from kgplatform.errors import InputError
from kgplatform.evaluate.anonymise.mentions import Finder, WordUse, label_of, number_entities, taken_numbers
from kgplatform.evaluate.graphs import Graphs, rows
from kgplatform.evaluate.journal import read_text
from kgplatform.evaluate.terms import Build, DataSet, Text
from kgplatform.ingest.schema import Schema, load_schema
from kgplatform.text import normalise_name, tidy

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph
    from kgplatform.records import Document

DEFAULT_TYPES = ("Person", "Location")
_PERSON = "Person"
_BY_HAND = 1_000_000  # a name that a person wrote outweighs all that a graph counts
_NOT_OF_NAMES = '!?,;:"“”«»„ '


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that a source gives. ``label``: as in placeholders, empty without a type; ``weight``: how many passages
    have it."""

    label: str
    name: str
    aliases: tuple[str, ...] = ()
    is_person: bool = False
    weight: int = 1


@dataclass(frozen=True, slots=True)
class StatedTriple:
    """A triple in the source's words. ``text``: the sentence that states it; ``document``: the document's name."""

    subject: str
    predicate: str
    object: str
    text: str
    document: str


@dataclass(frozen=True, slots=True)
class SourceNames:
    """What a source gives. ``likenesses``: pairs of names that are likely one thing."""

    candidates: tuple[Candidate, ...] = ()
    likenesses: tuple[tuple[str, str], ...] = ()
    statements: tuple[StatedTriple, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that is hidden. ``may_be``: of a name that may mean several, the names of those."""

    label: str
    name: str
    forms: tuple[str, ...]
    may_be: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The one dictionary of a corpus and its questions.

    ``entities`` by placeholder, in the order of their labels and names; ``finder`` finds all forms of them;
    ``untyped``: names that are not hidden because nobody knows their type, and how many passages have them.
    """

    entities: Mapping[str, Entity]
    finder: Finder
    untyped: Mapping[str, int]

    @classmethod
    def of(cls, names: Sequence[SourceNames], texts: Sequence[str], seed: int) -> Dictionary:
        """The dictionary for ``texts`` out of all that the sources give, the surest source first."""
        candidates = [candidate for source in names for candidate in source.candidates]
        use = WordUse.of(texts)
        entities, untyped = resolve(candidates, [pair for source in names for pair in source.likenesses], use)
        taken = {number for text in texts for number in taken_numbers(text)}
        numbers = number_entities(((entity.label, entity.name) for entity in entities), seed, taken)
        by_placeholder = {numbers[entity.label, entity.name]: entity for entity in entities}
        forms = {form: placeholder for placeholder, entity in by_placeholder.items() for form in entity.forms}
        finder = Finder(forms, [form for form in forms if " " not in form and use.is_word(form)])
        return cls(by_placeholder, finder, {name: n for name, n in untyped.items() if not finder.mentions(name)})

    def names_of(self, placeholder: str) -> tuple[str, ...]:
        """All right answers for a placeholder, its name first."""
        entity = self.entities[placeholder]
        return tuple(dict.fromkeys((entity.name, *entity.forms, *entity.may_be)))

    def meant_by(self, placeholder: str) -> tuple[str, ...]:
        """The names of those whom a placeholder may stand for."""
        entity = self.entities[placeholder]
        return (entity.name, *entity.may_be)


def graph_names(graph: KnowledgeGraph, types: Sequence[str]) -> SourceNames:
    """The entities of the graph that have one of ``types`` or no type, and its triples.

    Raises ``InputError`` for an empty graph and for types that are not there.
    """
    found = graph.schema()
    if found is None:
        raise InputError(
            "The graph is empty. Run `kgplatform ingest FOLDER` first, or leave out extractor=graph.", "extractor"
        )
    schema = found.schema.with_expansions(found.expansions)
    labels = chosen_types(types, schema, [row[0] for row in rows(graph, "evaluate/types_in_use")])
    person = schema.entity(_PERSON)
    candidates: list[Candidate] = []
    likenesses: list[tuple[str, str]] = []
    for name, kind, forms, passages, same in rows(graph, "evaluate/entities_of_types", types=sorted(labels)):
        is_person = kind is not None and person is not None and kind == person.name
        candidates.append(Candidate(labels.get(kind, ""), name, tuple(forms), is_person, passages))
        likenesses += [(name, other) for other in same]
    statements = [StatedTriple(*row) for row in rows(graph, "evaluate/stated_triples") if row[-1] is not None]
    return SourceNames(tuple(candidates), tuple(likenesses), tuple(statements))


def names_of_texts(
    graphs: Graphs, name: str, documents: Sequence[Document], types: Sequence[str], extractor: str | None
) -> SourceNames:
    """What a graph of these texts says: the current one if it holds them, else one of their own, made by the ingest.

    ``extractor``: how the texts are read again; None: as they have been, or by rules. ``name``: of that graph.
    Raises ``InputError`` for types that are not there.
    """
    if extractor is not None:
        chosen_types(types, load_schema("general"))  # before all is read
    dataset = DataSet(name, (), tuple(Text(document.title, document.text) for document in documents))
    graph = graphs.holding(dataset) if extractor is None else None
    if graph is None:
        by_address = graphs.settings.neo4j_uri is not None  # an empty graph there is taken: no other can be made
        graph = graphs.for_data_set(dataset, Build(extractor=extractor), alone=by_address, without_model=True)
    found = graph_names(graph, types)
    ours = {document.title for document in documents}
    return replace(found, statements=tuple(statement for statement in found.statements if statement.document in ours))


def chosen_types(types: Sequence[str], schema: Schema, more: Iterable[str] = ()) -> dict[str, str]:
    """The label of each type of ``schema`` (or of ``more``) that is meant by one of ``types``, in the asker's words.

    >>> chosen_types(["Location"], load_schema("general"))
    {'Place': 'LOCATION'}
    """
    others = {name.casefold(): name for name in more}
    chosen: dict[str, str] = {}
    for asked in types:
        found = schema.entity(asked)
        name = found.name if found else others.get(asked.casefold())
        label = label_of(asked)
        if name is None or not label:
            known = sorted({entity.name for entity in schema.entities} | set(others.values()))
            words = [*known, *(alias for entity in schema.entities for alias in entity.aliases)]
            near = get_close_matches(asked.title(), words, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise InputError(f'Unknown type "{asked}".{hint} Choose one of {", ".join(known)}.')
        chosen.setdefault(name, label)
    return chosen


class _Line(BaseModel):
    """A line of a file of names."""

    name: str = Field(pattern=r"[^\W\d_]")
    type: str = Field(pattern=r"[^\W\d_]")
    aliases: tuple[str, ...] = ()


def names_from_file(path: Path) -> SourceNames:
    """The names that a person wrote, JSON lines of ``{name, type, aliases}``. Raises ``InputError``."""
    lines = read_text(path, "The names").split("\n")
    candidates = tuple(_named(path, number, line) for number, line in enumerate(lines, start=1) if line.strip())
    if not candidates:
        raise InputError(f'The names {path} are empty. Write a line for each, as {{"name": "Ahab", "type": "Person"}}.')
    return SourceNames(candidates)


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
    return Candidate(label, read.name, read.aliases, found is not None and found.name == _PERSON, _BY_HAND)


@dataclass(slots=True)
class _Name:
    """What is said of one name. ``forms``: the spellings of the name itself and of its aliases, by key."""

    label: str
    is_person: bool
    weight: int
    forms: dict[str, list[str]] = field(default_factory=dict)


class _Joined:
    """Names, and which of them are one: each has a home, which is itself or that of the name that it was joined to."""

    def __init__(self, names: Mapping[str, _Name]) -> None:
        self.names = names
        self._home = {key: key for key in names}

    def home(self, key: str) -> str:
        """The name that stands for all that are one with ``key``."""
        while self._home[key] != key:
            key = self._home[key]
        return key

    def label(self, key: str) -> str:
        """The label of all that are one with ``key``; empty without a type."""
        return self.names[self.home(key)].label

    def join(self, one: str, other: str) -> None:
        """Make two names one, unless their types differ: at home with the first, or with the one that has a type."""
        first, second = self.home(one), self.home(other)
        labels = self.names[first].label, self.names[second].label
        if first != second and (labels[0] == labels[1] or not all(labels)):
            first, second = (first, second) if labels[0] else (second, first)
            self._home[second] = first

    def groups(self) -> dict[str, list[str]]:
        """The names that are one, by their home."""
        found: dict[str, list[str]] = defaultdict(list)
        for key in self.names:
            found[self.home(key)].append(key)
        return found


def resolve(
    candidates: Sequence[Candidate], likenesses: Iterable[tuple[str, str]], use: WordUse
) -> tuple[tuple[Entity, ...], dict[str, int]]:
    """The entities that are hidden, by label and name; and the names without a type that are none of them.

    Earlier candidates are surer: the label of a name is that of the first, unless a later one weighs more.
    """
    joined = _Joined(_by_key(candidates))
    _join_aliases(joined)
    alike = {frozenset((_key(one), _key(other))) for one, other in likenesses}
    for one, *other in sorted(map(sorted, alike)):
        if other and {one, *other} <= joined.names.keys():
            first, second = _words(one), _words(other[0])
            if not (first < second or second < first):
                joined.join(one, other[0])
    may_be = _join_shorter(joined, alike, use)
    return _entities(joined, may_be)


def _key(name: str) -> str:
    return normalise_name(_shown(name)).replace(".", "")


def _shown(name: str) -> str:
    """The name without what belongs to its sentence: of a cry, "Miss Marlow!"."""
    return tidy(name).strip(_NOT_OF_NAMES)


def _words(key: str) -> frozenset[str]:
    return frozenset(key.split())


def _by_key(candidates: Sequence[Candidate]) -> dict[str, _Name]:
    names: dict[str, _Name] = {}
    for candidate in candidates:
        if not any(letter.isalpha() for letter in candidate.name):
            continue
        name = names.setdefault(_key(candidate.name), _Name(candidate.label, candidate.is_person, candidate.weight))
        if candidate.label and candidate.label != name.label and (candidate.weight > name.weight or not name.label):
            name.label, name.is_person, name.weight = candidate.label, candidate.is_person, candidate.weight
        for form in (candidate.name, *candidate.aliases):
            spellings = name.forms.setdefault(_key(form), [])
            if _shown(form) not in spellings and any(letter.isalpha() for letter in form):
                spellings.append(_shown(form))
    return names


def _join_aliases(joined: _Joined) -> None:
    """A name that is an alias of exactly one other is that one."""
    owners: dict[str, list[str]] = defaultdict(list)
    for key, name in joined.names.items():
        for form in name.forms:
            if form != key and form in joined.names:
                owners[form].append(key)
    for key, others in owners.items():
        if len(others) == 1:
            joined.join(others[0], key)


def _join_shorter(joined: _Joined, alike: set[frozenset[str]], use: WordUse) -> dict[str, list[str]]:
    """Join shorter names to the fuller one where one alone is there, the fullest first.

    The others, by their homes: whom they may mean, by their homes.
    """
    by_word: dict[str, list[tuple[frozenset[str], str]]] = defaultdict(list)
    for key, name in joined.names.items():
        for words in map(_words, name.forms) if joined.label(key) else ():
            for word in words:
                by_word[word].append((words, key))
    may_be: dict[str, list[str]] = {}
    for key in sorted(joined.names, key=lambda key: (-len(key.split()), key)):
        name, mine, words = joined.names[key], joined.home(key), _words(key)
        around = by_word[min(words, key=lambda word: len(by_word[word]))]
        longer = [other for more, other in around if words < more and joined.label(key) in ("", joined.label(other))]
        fuller = list(dict.fromkeys(home for home in map(joined.home, longer) if home != mine))
        is_alike = any(frozenset((key, other)) in alike for other in longer)
        if fuller and (is_alike or name.is_person or (not joined.label(key) and use.is_name(key))):
            if len(fuller) == 1:
                joined.join(fuller[0], mine)
            else:
                may_be[mine] = fuller
    return may_be


def _entities(joined: _Joined, may_be: Mapping[str, Sequence[str]]) -> tuple[tuple[Entity, ...], dict[str, int]]:
    """One entity for each home, and one for each form that may mean several."""
    groups = joined.groups()
    names = {
        home: _fullest([form for key in keys for form in joined.names[key].forms[key]]) for home, keys in groups.items()
    }
    hidden = [home for home in groups if joined.label(home) or home in may_be]
    labels = {home: joined.label(home) or joined.label(may_be[home][0]) for home in hidden}
    owners: dict[str, list[str]] = defaultdict(list)
    spellings: dict[str, list[str]] = defaultdict(list)
    for home in hidden:
        for key in groups[home]:
            for form, spelt in joined.names[key].forms.items():
                owners[form] += [home] if home not in owners[form] else []
                spellings[form] += spelt
    found: list[Entity] = []
    for home in hidden:
        forms = {spelt for form in owners if owners[form] == [home] for spelt in spellings[form]}
        others = sorted({names[joined.home(other)] for other in may_be.get(home, ())} - {names[home]})
        found += [Entity(labels[home], names[home], tuple(sorted(forms)), tuple(others))] if forms else []
    for form, homes in owners.items():
        if len(homes) > 1:
            meant = tuple(sorted({names[home] for home in homes}))
            found.append(Entity(labels[homes[0]], spellings[form][0], tuple(sorted(set(spellings[form]))), meant))
    untyped = {names[home]: joined.names[home].weight for home in groups if home not in labels}
    return tuple(sorted(found, key=lambda entity: (entity.label, normalise_name(entity.name), entity.name))), untyped


def _fullest(names: Sequence[str]) -> str:
    """The name of most words; of those with as many the one given first."""
    return max(names, key=lambda name: len(name.partition(",")[0].split()))
