"""Which names are hidden, and what stands for each: the entities of a graph, and names that a person wrote.

The graph knows the types of entities, their aliases and forms, and which are likely one (``SAME_AS``). Beside that
one rule: a shorter name ("Ahab") is the fuller one ("Captain Ahab") where it is a person's or has no type, and only if
one fuller name is there. What may mean several ("Bright", of two brothers) gets a placeholder of its own, with a list
of who it may be: to leave the name where it stands would give it away, and to guess would be wrong.

    finder = Finder({"Ahab": "[PERSON#3]", "Captain Ahab": "[PERSON#3]"})
    finder.mentions("Captain Ahab's ship")     # [(0, 12, '[PERSON#3]')]
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from pydantic import BaseModel, Field, ValidationError

from kgplatform.errors import InputError
from kgplatform.evaluate.entries import UnusableError, entries
from kgplatform.evaluate.graphs import Graphs, rows
from kgplatform.evaluate.terms import PLACEHOLDER, DataSet, Text
from kgplatform.extract.schema import load_schema
from kgplatform.text import WORD, in_word, node_id, normalise_name, tidy
from kgplatform.text.matching import fold, fold_words, is_bounded, with_marks

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph
    from kgplatform.records import Document

_PERSON = "Person"
TYPES = (_PERSON, "Location")
"""The types of the names that are hidden, as placeholders call them (AnonyRAG); the schema may have other words."""
_BY_HAND = 1_000_000  # a name that a person wrote outweighs all that a graph counts
_NOT_OF_NAMES = '!?,;:"“”«»„ '
_NO_LABEL = re.compile(r"\W+|_+")
_LOWER = re.compile(r"[^\W\d_]+")


_EDGES = "\"'“”‘’«»„()[]{}<>,;:!?*_` \t"
_ALIKE = str.maketrans({"’": "'", "ʼ": "'", "\u2010": "-", "\u2011": "-", ".": None})  # "Mrs." may be "Mrs"
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n")

Edit = tuple[int, int, str]
"""The characters ``[start, end)`` of a text, and what is to stand there."""


class Finder:
    """All forms of all names. ``forms`` maps each to its placeholder; ``plain_words`` are not looked for in capitals.

    A form is found in its own case, at the beginning of a sentence, or in capitals throughout ("AHAB"); as whole words,
    whatever the white space between them, in composed or decomposed Unicode. A common word in lower case is no name.
    """

    def __init__(self, forms: Mapping[str, str], plain_words: Iterable[str] = ()) -> None:
        self._by_word: dict[str, list[tuple[str, frozenset[str], str]]] = defaultdict(list)
        plain = frozenset(plain_words)
        for form, placeholder in sorted(forms.items()):
            name = tidy(form).strip(_EDGES)
            ways = frozenset(map(_plain, (name, name[:1].upper() + name[1:], name if form in plain else name.upper())))
            for word in {
                fold_words(found[0]) for kind in ("NFC", "NFD") if (found := WORD.search(normalize(kind, name)))
            }:
                for key in {fold_words(name), fold_words(name.replace(".", ""))}:
                    self._by_word[word].append((key, ways, placeholder))

    def mentions(self, text: str) -> list[Edit]:
        """What stands for names in ``text``, from left to right; of overlapping ones the longest, then the first."""
        whole, found, taken = fold(text), set[Edit](), bytearray(len(text))
        for word in {fold_words(piece[0]) for piece in WORD.finditer(text)} & self._by_word.keys():
            for key, ways, placeholder in self._by_word[word]:
                for start, last in whole.occurrences(key):
                    end = with_marks(text, last)
                    is_name = _plain(text[start:end]) in ways and not _EMPTY_LINE.search(text, start, end)
                    if is_name and is_bounded(text, start, end):
                        found.add((start, end, placeholder))
        kept: list[Edit] = []
        for start, end, placeholder in sorted(found, key=lambda edit: (edit[0] - edit[1], edit)):
            # None of those that were taken is shorter, so that one that overlaps covers an end of this one.
            if not (taken[start] or taken[end - 1]):
                taken[start:end] = b"\1" * (end - start)
                kept.append((start, end, placeholder))
        return sorted(kept)

    def placeholder_of(self, name: str) -> str | None:
        """What stands for ``name`` as a whole, if it is a form of a name."""
        for start, end, placeholder in self.mentions(name)[:1]:
            if not any(map(in_word, name[:start] + name[end:])):
                return placeholder
        return None

    def replaced(self, text: str) -> str:
        """``text`` with all its names replaced."""
        return with_edits(text, self.mentions(text))


def _plain(name: str) -> str:
    return tidy(name).translate(_ALIKE)


def with_edits(text: str, edits: Sequence[Edit]) -> str:
    """``text`` with the characters ``[start, end)`` of each edit replaced; edits in order, without overlap."""
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text


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
    """All that is known of names, the surest first. ``likenesses``: pairs of names that are likely one thing."""

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

    @property
    def meant(self) -> tuple[str, ...]:
        """The names of those whom it may be, its own first."""
        return (self.name, *self.may_be)


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
    def of(cls, names: SourceNames, texts: Sequence[str]) -> Dictionary:
        """The dictionary for ``texts``."""
        common = {word for text in texts for word in _LOWER.findall(text) if word.islower()}
        entities, untyped = resolve(names.candidates, names.likenesses, common)
        taken = {int(found[2]) for text in texts for found in PLACEHOLDER.finditer(text)}
        numbers = number_entities(((entity.label, entity.name) for entity in entities), taken)
        by_placeholder = {numbers[entity.label, entity.name]: entity for entity in entities}
        forms = {form: placeholder for placeholder, entity in by_placeholder.items() for form in entity.forms}
        finder = Finder(forms, [form for form in forms if form.lower() in common])
        return cls(by_placeholder, finder, {name: n for name, n in untyped.items() if not finder.mentions(name)})


def number_entities(entities: Iterable[tuple[str, str]], taken: Container[int]) -> dict[tuple[str, str], str]:
    """The placeholder of each ``(label, name)``; numbers that the texts have of themselves are ``taken``.

    One row of numbers serves all labels. Their order is that of hashes of label and name: the same for the same
    entities, and neither the order of appearance nor that of the alphabet, which would give answers away.
    """
    ordered = sorted(set(entities), key=lambda entity: (node_id(entity[0], normalise_name(entity[1])), entity))
    numbers = (number for number in count(1) if number not in taken)
    return {entity: f"[{entity[0]}#{number}]" for entity, number in zip(ordered, numbers, strict=False)}


def label_of(type_name: str) -> str:
    """The word of a type in placeholders: ``Work of Art`` is ``WORK_OF_ART``. Empty if it begins with no letter."""
    label = "_".join(filter(None, _NO_LABEL.split(type_name.upper())))
    return label if label[:1].isalpha() else ""


def names_of_texts(graphs: Graphs, name: str, documents: Sequence[Document]) -> SourceNames:
    """What a graph of these texts says: the current one if it holds them, else one of their own, ``name``, that rules
    make."""
    dataset = DataSet(name, (), tuple(Text(document.title, document.text) for document in documents))
    graph = graphs.holding(dataset)
    if graph is None:
        by_address = graphs.settings.neo4j_uri is not None  # an empty graph there is taken: no other can be made
        graph = graphs.for_data_set(dataset, without_model=True, fill_empty=by_address)
    found, ours = graph_names(graph), {document.title for document in documents}
    return replace(found, statements=tuple(statement for statement in found.statements if statement.document in ours))


def graph_names(graph: KnowledgeGraph) -> SourceNames:
    """The entities of the graph that have one of ``TYPES`` or no type, and its triples. Raises ``InputError`` for an
    empty graph."""
    found = graph.schema()
    if found is None:
        raise InputError("The graph is empty. Run `kgplatform ingest FOLDER` first.")
    schema = found.grown
    labels = {(entity.name if (entity := schema.entity(each)) else each): each.upper() for each in TYPES}
    person = next(iter(labels))
    candidates: list[Candidate] = []
    likenesses: list[tuple[str, str]] = []
    for name, kind, forms, passages, same in rows(graph, "evaluate/entities_of_types", types=sorted(labels)):
        candidates.append(Candidate(labels.get(kind, ""), name, tuple(forms), kind == person, passages))
        likenesses += [(name, other) for other in same]
    statements = [StatedTriple(*row) for row in rows(graph, "evaluate/stated_triples") if row[-1] is not None]
    return SourceNames(tuple(candidates), tuple(likenesses), tuple(statements))


class _Line(BaseModel):
    """A line of a file of names."""

    name: str = Field(pattern=r"[^\W\d_]")
    type: str = Field(pattern=r"^\W*[^\W\d_]")
    aliases: tuple[str, ...] = ()


def names_from_file(path: Path) -> tuple[Candidate, ...]:
    """The names that a person wrote, JSON lines of ``{name, type, aliases}``. Raises ``InputError``."""
    schema = load_schema("general")
    found: list[Candidate] = []
    for entry in entries(path):
        try:
            read = _Line.model_validate(entry.values)
        except (UnusableError, ValidationError) as error:
            wanted = 'expected {"name": "Ahab", "type": "Person", "aliases": ["the captain"]}'
            raise InputError(f"{path}, {entry.place}: {entry.fault or wanted}.") from error
        type_ = schema.entity(read.type)
        is_person = type_ is not None and type_.name == _PERSON
        found.append(Candidate(label_of(read.type), read.name, read.aliases, is_person, _BY_HAND))
    return tuple(found)


@dataclass(slots=True)
class _Name:
    """What is said of one name. ``forms``: the spellings of the name itself and of its aliases, by key."""

    label: str
    is_person: bool
    weight: int
    forms: dict[str, list[str]] = field(default_factory=dict)


def resolve(
    candidates: Sequence[Candidate], likenesses: Iterable[tuple[str, str]] = (), common: Container[str] = ()
) -> tuple[tuple[Entity, ...], dict[str, int]]:
    """The entities that are hidden, by label and name; and the names without a type that are none of them.

    Earlier candidates are surer: the label of a name is that of the first, unless a later one weighs more. ``common``:
    the words that the texts write in lower case; such a word alone, without a type, is no shorter name.
    """
    names = _by_key(candidates)
    meant = _meant(names, likenesses, common)
    owners: dict[str, dict[str, None]] = defaultdict(dict)
    spellings: dict[str, list[str]] = defaultdict(list)
    labels: dict[str, str] = {}
    fullest: dict[str, str] = {}
    for key, name in names.items():
        for form, spelt in name.forms.items():
            owners[form] |= dict.fromkeys(meant[key])
            spellings[form] += spelt
            labels[form] = labels.get(form) or name.label
        for home in meant[key] if len(meant[key]) == 1 else ():
            told = ([fullest[home]] if home in fullest else []) + name.forms.get(key, [])
            fullest[home] = max(told, key=lambda each: len(each.partition(",")[0].split()))
    found: list[Entity] = []
    forms_of: dict[str, list[str]] = defaultdict(list)
    for form, homes in owners.items():
        label = next((names[home].label for home in homes if names[home].label), labels[form])
        if len(homes) == 1:
            forms_of[next(iter(homes))] += spellings[form]
        elif label:
            may_be = tuple(sorted({fullest[home] for home in homes}))
            found.append(Entity(label, spellings[form][0], tuple(sorted(set(spellings[form]))), may_be))
    found += [
        Entity(names[home].label, fullest[home], tuple(sorted(set(forms))))
        for home, forms in forms_of.items()
        if names[home].label
    ]
    untyped = {fullest[home]: names[home].weight for home in forms_of if not names[home].label}
    return tuple(sorted(found, key=lambda entity: (entity.label, normalise_name(entity.name), entity.name))), untyped


def _key(name: str) -> str:
    return normalise_name(_shown(name)).replace(".", "")


def _shown(name: str) -> str:
    """The name without what belongs to its sentence: of a cry, "Miss Marlow!"."""
    return tidy(name).strip(_NOT_OF_NAMES)


def _by_key(candidates: Sequence[Candidate]) -> dict[str, _Name]:
    names: dict[str, _Name] = {}
    for candidate in candidates:
        if not any(map(str.isalpha, candidate.name)):
            continue
        name = names.setdefault(_key(candidate.name), _Name(candidate.label, candidate.is_person, candidate.weight))
        if candidate.label and candidate.label != name.label and (candidate.weight > name.weight or not name.label):
            name.label, name.is_person, name.weight = candidate.label, candidate.is_person, candidate.weight
        for form in (candidate.name, *candidate.aliases):
            spellings = name.forms.setdefault(_key(form), []) if any(map(str.isalpha, form)) else [_shown(form)]
            if _shown(form) not in spellings:
                spellings.append(_shown(form))
    return names


def _meant(
    names: Mapping[str, _Name], likenesses: Iterable[tuple[str, str]], common: Container[str]
) -> dict[str, list[str]]:
    """The names that each may be, the fullest first, or itself: those of which it is an alias, which the graph joins to
    it, or which have all its words and more; none of another type."""
    alike: dict[str, set[str]] = defaultdict(set)
    for one, other in likenesses:
        alike[_key(one)].add(_key(other))
        alike[_key(other)].add(_key(one))
    aliases: dict[str, list[str]] = defaultdict(list)
    for key, name in names.items():
        for form in name.forms:
            aliases[form].append(key)
    meant: dict[str, list[str]] = {}
    by_word: dict[str, list[tuple[frozenset[str], str]]] = defaultdict(list)
    for key in sorted(names, key=lambda key: (-len(key.split()), not names[key].label, key)):
        name, words = names[key], frozenset(key.split())
        around = by_word[min(words, key=lambda word: len(by_word[word]))]
        likely = name.is_person or not (name.label or key in common)
        fuller = [other for more, other in around if words < more and (likely or other in alike[key])]
        ways = (*aliases[key], *name.forms, *sorted(alike[key]), *fuller)
        homes = dict.fromkeys(home for other in ways for home in meant.get(other, ()))
        meant[key] = [home for home in homes if len({name.label, names[home].label, ""}) < 3] or [key]
        if len(meant[key]) == 1:
            home = names[meant[key][0]]
            home.label = home.label or name.label
        if any(names[home].label for home in meant[key]):
            for form in name.forms:
                for word in form.split():
                    by_word[word].append((frozenset(form.split()), key))
    return meant
