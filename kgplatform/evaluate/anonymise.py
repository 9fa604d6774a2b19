"""Texts without their names: one dictionary for corpus and questions, and the map that says what stands for whom.

What ``ingest`` reads of a folder is written as one file, ``texts.jsonl``, an object with title and text a line.
Whoever has the map can undo the anonymity; it lies beside the anonymised folder, never in it, readable by its owner.

Questions about what is hidden are those of AnonyRAG: anonymity reversion and multiple choice, simple and complex. A
question is made of a chain of triples: each fact of it joins two names, and the next one begins where the last one
ended. Up to four facts are simple, more are complex (Youtu-GraphRAG, Table 4).

- Reversion: the facts are shown with their placeholders; the answer says what each placeholder stands for.
- Choice: in the facts one placeholder and all names between are letters; the answer is the placeholder behind the
  letter X, out of four. What counts is who did what, not what a model remembers of famous names.

What a model knows without any text measures its memory, not its retrieval: ask the comparator ``closed`` too.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets import as_own
from kgplatform.evaluate.entries import UnusableError, entries
from kgplatform.evaluate.hidden_names import Dictionary, Finder, SourceNames, StatedTriple, with_edits
from kgplatform.evaluate.journal import write_whole
from kgplatform.evaluate.terms import PLACEHOLDER, Question, Text
from kgplatform.records import Document, SkippedFile
from kgplatform.settings import load_settings
from kgplatform.sources.load import load_within
from kgplatform.text import counted, node_id, tidy

TEXTS = "texts.jsonl"
_KEPT = "The texts themselves are as they were"
_LEFT_SHOWN = 20
_KEPT_KEYS = frozenset(("id", "_id", "kind", "type"))
_DOCUMENT_KEYS = frozenset(("documents", "within"))


@dataclass(frozen=True, slots=True)
class AnonymityReport:
    """What was done. ``entities``: how many by label; ``mentions``: names that were replaced; ``left``: names of no
    known type that are still in the texts, the most frequent first; ``built``: questions that were made, by kind.
    """

    out: Path
    map: Path
    texts: int
    entities: Mapping[str, int]
    mentions: int
    questions: Path | None
    built_file: Path | None
    built: Mapping[str, int]
    left: tuple[tuple[str, int], ...]
    skipped: tuple[SkippedFile, ...]
    notes: tuple[str, ...]


FindNames = Callable[[Sequence[Document]], Sequence[SourceNames]]


def anonymise(
    folder: Path, out: Path, sources: FindNames, questions: Path | None = None, wanted: int = 0
) -> AnonymityReport:
    """Write the texts of a folder with placeholders for names, and the map beside; the folder itself is only read.

    ``sources`` gives the names for the documents. ``questions``: a file of them, to be treated alike; ``wanted``: how
    many questions are to be made about what is hidden. All of it is written, or nothing. Raises ``InputError`` for
    places that cannot be used and texts without names, ``KgError`` where writing fails.
    """
    map_file = beside(out, "map.json")
    asked_file = beside(out, "questions.jsonl") if questions else None
    built_file = beside(out, "reversion.jsonl") if wanted else None
    check_apart(folder, out)
    for path in filter(None, (map_file, asked_file, built_file)):
        if path.exists():
            raise InputError(f"{path} exists already, and may be needed. Move it, or choose another out=FOLDER.", "out")
    documents, skipped = read_texts(folder)
    asked = _read_questions(questions) if questions else []
    names = tuple(sources(documents))
    said = [text for document in documents for text in (document.title, document.text)]
    dictionary = Dictionary.of(names, [*said, *(json.dumps(each, ensure_ascii=False) for each in asked)])
    if not dictionary.entities:
        raise InputError(
            "No names to replace were found. Choose another type=TYPE, or name them with names=FILE.", "type", "names"
        )
    hider = _Hider(dictionary, documents)
    texts = [{"title": hider.titles[document.title], "text": hider.hidden(document.text)} for document in documents]
    asked = [hider.changed(question) for question in asked]
    if not hider.counts:
        raise InputError("None of the names occurs in the texts. List names that do with names=FILE.", "names")
    statements = [statement for source in names for statement in source.statements]
    built = build_questions(dictionary, statements, hider.titles, wanted)
    notes = [f"{counted(wanted, 'question')} were wanted; the facts give {len(built):,}"] if len(built) < wanted else []
    if built:
        notes.append("a model may answer some of the questions without the texts: compare with the comparator closed")
    outputs = [(out / TEXTS, as_lines(texts), False), (map_file, hider.map(), True)]
    outputs += [(asked_file, as_lines(asked), False)] if asked_file else []
    outputs += [(built_file, as_lines(map(as_own, built)), True)] if built_file else []
    write_all(out, outputs)
    return AnonymityReport(
        out=out,
        map=map_file,
        texts=len(texts),
        entities=dict(sorted(Counter(dictionary.entities[each].label for each in hider.counts).items())),
        mentions=hider.counts.total(),
        questions=asked_file,
        built_file=built_file,
        built=dict(sorted(Counter(question.kind for question in built).items())),
        left=tuple(sorted(dictionary.untyped.items(), key=lambda item: (-item[1], item[0]))[:_LEFT_SHOWN]),
        skipped=tuple(skipped),
        notes=tuple(notes),
    )


class _Hider:
    """Replaces, and counts how often each placeholder was put."""

    def __init__(self, dictionary: Dictionary, documents: Sequence[Document]) -> None:
        self.dictionary = dictionary
        self.counts: Counter[str] = Counter()
        self.titles = {document.title: dictionary.finder.replaced(document.title) for document in documents}
        # A file of its own is known by its name too.
        files = {file_name(each): self.titles[each.title] for each in documents if each.uri == each.source}
        self._named = files | self.titles

    def hidden(self, text: str) -> str:
        """``text`` without names."""
        edits = self.dictionary.finder.mentions(text)
        self.counts.update(placeholder for _, _, placeholder in edits)
        return with_edits(text, edits)

    def changed(self, value: Any, key: str = "") -> Any:
        """A question's value without names; documents that it names have their new titles."""
        if isinstance(value, dict):
            return {name: inner if name in _KEPT_KEYS else self.changed(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.changed(inner, key) for inner in value]
        if not isinstance(value, str):
            return value
        return self._named[value] if key in _DOCUMENT_KEYS and value in self._named else self.hidden(value)

    def map(self) -> str:
        """The map as it is written: of each placeholder its name, all forms of it, who it may be where that is not
        sure, and how often it was put."""
        entities = [
            {"placeholder": mark, "name": of.name, "forms": of.forms, "may_be": of.may_be, "count": self.counts[mark]}
            for mark, of in self.dictionary.entities.items()
            if self.counts[mark]
        ]
        content = {"format": "kgplatform anonymity map", "version": 3, "entities": entities}
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def read_texts(folder: Path) -> tuple[list[Document], list[SkippedFile]]:
    """What ``ingest`` reads of ``folder``, and what it leaves out. Raises ``InputError`` where there is nothing."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder. Name the folder that holds the texts.")
    found = list(load_within(load_settings(), [folder]))
    documents = [each for each in found if isinstance(each, Document)]
    if not documents:
        raise InputError(f"There is no text in {folder}. Name a folder with files that `ingest` reads.")
    return documents, [each for each in found if isinstance(each, SkippedFile)]


def file_name(document: Document) -> str:
    """The name of its file, without folders."""
    return unquote(urlsplit(document.source).path.rsplit("/", 1)[-1])


def _read_questions(file: Path) -> list[dict[str, Any]]:
    """The objects in ``file``. Raises ``InputError`` for one that is none, by its place."""
    try:
        return [entry.values for entry in entries(file)]
    except UnusableError as error:
        raise InputError(f"The questions {file} cannot be used: {error}.") from error


def as_lines(values: Iterable[Any]) -> str:
    """JSON lines."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def beside(out: Path, ending: str) -> Path:
    """A file next to the folder ``out``, with its name."""
    return out.absolute().with_name(f"{out.absolute().name}.{ending}")


def check_apart(folder: Path, out: Path) -> None:
    """Raise ``InputError`` where one of two folders lies in the other, or something is in the way of ``out``."""
    source, target = folder.resolve(), out.resolve()
    if target == source or source in target.parents or target in source.parents:
        raise InputError(f"One of {out} and {folder} contains the other. Choose a separate folder.")
    if (out.exists() or out.is_symlink()) and not (out.is_dir() and not any(out.iterdir())):
        raise InputError(
            f"{out} exists already and is not empty. Choose another out=FOLDER, or remove it first.", "out"
        )


def write_all(out: Path, outputs: Sequence[tuple[Path, str, bool]]) -> None:
    """Write the folder ``out`` and what lies beside it, all of it or nothing: paths, contents, and whether their owner
    alone may read them. Raises ``KgError``."""
    written: list[Path] = []
    try:
        for path, content, private in outputs:
            write_whole(path, content.encode(), mode=0o600 if private else 0o644, kept=_KEPT)
            written.append(path)
    except BaseException:  # whatever it is, nothing is left half done
        for path in written:
            path.unlink(missing_ok=True)
        with suppress(OSError):
            out.rmdir()
        raise


OPTIONS = 4
_LETTERS = "XYZWVUTSR"
_TRIES = 3
_LONGEST_CLUE = 600

_REVERSION = (
    "Names in these statements are hidden behind placeholders. Say what each placeholder stands for, one line for "
    'each, in this form: "{example}: name".'
)
_CHOICE_ONE = "Which placeholder was hidden behind the letter X in this statement?"
_CHOICE_MORE = (
    "In these statements each letter hides one name or placeholder, the same letter always the same one. "
    "Which placeholder is hidden behind X?"
)


Chain = tuple[tuple[StatedTriple, str], ...]
"""Triples that follow each other, with the name that each leads to."""
Written = tuple[str, Sequence[str], str, dict[str, Any]]
"""The first line of a question, its facts as it shows them, its answer, and its choices or placeholders."""
Task = Callable[[Chain, Sequence[str], random.Random], Written | None]


def hidden_triples(
    statements: Iterable[StatedTriple], dictionary: Dictionary, documents: Mapping[str, str]
) -> list[StatedTriple]:
    """The statements as the anonymised texts show them: those that join two names, at least one of them hidden, in a
    sentence that shows both."""
    found: dict[StatedTriple, None] = {}
    for statement in statements:
        ends = [dictionary.finder.placeholder_of(name) or tidy(name) for name in (statement.subject, statement.object)]
        text = tidy(dictionary.finder.replaced(statement.text))
        hidden = any(end in dictionary.entities for end in ends)
        if hidden and ends[0] != ends[1] and all(end in text for end in ends) and len(text) <= _LONGEST_CLUE:
            document = documents.get(statement.document, dictionary.finder.replaced(statement.document))
            found[StatedTriple(ends[0], statement.predicate, ends[1], text, document)] = None
    return sorted(found, key=astuple)


def build_questions(
    dictionary: Dictionary, statements: Iterable[StatedTriple], documents: Mapping[str, str], wanted: int
) -> list[Question]:
    """At most ``wanted`` questions about an anonymised corpus, of the four kinds in turn until there are no more; the
    same for the same statements. ``documents``: the new titles by the old ones."""
    author = _Author(dictionary, hidden_triples(statements, dictionary, documents))
    makers = [
        author.write(task, f"{name} {level}", hops)
        for level, hops in (("simple", (1, 2, 3, 4)), ("complex", (5, 6, 7, 8)))
        for name, task in (("reversion", author.reversion), ("choice", author.choice))
    ]
    return list(islice((made for turn in zip_longest(*makers) for made in turn if made is not None), wanted))


class _Author:
    """Writes questions about chains of ``edges``, triples as the anonymised texts show them."""

    def __init__(self, dictionary: Dictionary, edges: Sequence[StatedTriple]) -> None:
        self._entities = dictionary.entities
        self._names_of = dictionary.names_of
        self._edges = edges

    def write(self, task: Task, kind: str, hops: Sequence[int]) -> Iterator[Question]:
        """The questions of one kind; no two of the same sentences."""
        draw, seen = random.Random(kind), set[frozenset[str]]()
        for chain in self._chains(hops, draw):
            facts = tuple(edge.text for edge, _ in chain)
            written = task(chain, facts, draw) if frozenset(facts) not in seen else None
            if written is None:
                continue
            seen.add(frozenset(facts))
            lead, clues, answer, more = written
            text = "\n".join((lead, *(f"- {clue}" for clue in clues)))
            yield Question(
                id=f"{kind.replace(' ', '-')}-{node_id(text, *more.get('choices', ()))[:10]}",
                text=text,
                answers=(answer,),
                supports=tuple(map(Text, dict.fromkeys(edge.document for edge, _ in chain))),
                facts=facts,
                kind=kind,
                **more,
            )

    def reversion(self, chain: Chain, facts: Sequence[str], draw: random.Random) -> Written:
        """What each placeholder in the facts stands for."""
        asked = {mark: self._names_of(mark) for mark in _shown_in(facts) if mark in self._entities}
        answer = "; ".join(f"{mark}: {names[0]}" for mark, names in asked.items())
        return _REVERSION.format(example=next(iter(asked))), facts, answer, {"placeholders": asked}

    def choice(self, chain: Chain, facts: Sequence[str], draw: random.Random) -> Written | None:
        """A multiple choice of the end of the chain; None where it is not hidden, or too few others are like it."""
        last, end = chain[-1]
        others = self._distractors(last, end, _shown_in(facts), draw) if end in self._entities else []
        if len(others) < OPTIONS - 1:
            return None
        between = [name for _, name in chain[:-1]]
        letters = dict(zip([end, *reversed(between)], _LETTERS, strict=False))
        choices = [end, *others[: OPTIONS - 1]]
        draw.shuffle(choices)
        lead = _CHOICE_ONE if len(facts) == 1 else _CHOICE_MORE
        return lead, [_lettered(fact, letters) for fact in facts], end, {"choices": tuple(choices)}

    def _chains(self, hops: Sequence[int], draw: random.Random) -> Iterator[Chain]:
        """Paths of each length from each edge, in an order that is drawn; no name and no sentence comes twice in
        one."""
        at: dict[str, list[StatedTriple]] = defaultdict(list)
        for edge in self._edges:
            at[edge.subject].append(edge)
            at[edge.object].append(edge)
        starts = [(edge, length) for length in hops for edge in self._edges] * _TRIES
        draw.shuffle(starts)
        for first, length in starts:
            start, end = draw.sample((first.subject, first.object), 2)
            chain, names, clues = [(first, end)], {start, end}, {first.text}
            while len(chain) < length:
                onward = [
                    (edge, other)
                    for edge in at[chain[-1][1]]
                    for other in (edge.subject, edge.object)
                    if other not in names and edge.text not in clues
                ]
                if not onward:
                    break
                chain.append(draw.choice(onward))
                names.add(chain[-1][1])
                clues.add(chain[-1][0].text)
            else:
                yield tuple(chain)

    def _distractors(self, last: StatedTriple, end: str, shown: Collection[str], draw: random.Random) -> list[str]:
        """Placeholders of the same label, in an order that is drawn, that are not right as well: none of them has a
        relation to the end's neighbour.

        A name that may mean several ("Bright", of two brothers) is right wherever one of them is.
        """
        entities = self._entities

        def with_alike(placeholders: set[str]) -> set[str]:
            meant = {name for placeholder in placeholders & entities.keys() for name in entities[placeholder].meant}
            return placeholders | {each for each, entity in entities.items() if not meant.isdisjoint(entity.meant)}

        neighbours = with_alike({last.subject if last.object == end else last.object})
        joined = [{edge.subject, edge.object} for edge in self._edges]
        right = with_alike({end}.union(*(ends for ends in joined if not ends.isdisjoint(neighbours))))
        usable = sorted(
            each
            for each in set[str]().union(*joined) - right - set(shown)
            if each in entities and entities[each].label == entities[end].label
        )
        draw.shuffle(usable)
        return usable


def _shown_in(facts: Iterable[str]) -> dict[str, None]:
    """The placeholders in the order in which they come."""
    return dict.fromkeys(found[0] for fact in facts for found in PLACEHOLDER.finditer(fact))


def _lettered(fact: str, letters: Mapping[str, str]) -> str:
    """The fact with letters for names and placeholders."""
    names = {name: letter for name, letter in letters.items() if not PLACEHOLDER.fullmatch(name)}
    for placeholder in letters.keys() - names.keys():
        fact = fact.replace(placeholder, letters[placeholder])
    return Finder(names).replaced(fact) if names else fact
