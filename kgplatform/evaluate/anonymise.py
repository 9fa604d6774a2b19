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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets import as_own
from kgplatform.evaluate.entries import UnusableError, entries
from kgplatform.evaluate.hidden_names import Dictionary, Finder, SourceNames, StatedTriple, with_edits
from kgplatform.evaluate.journal import write_whole
from kgplatform.evaluate.terms import PLACEHOLDER, Question, Text, file_name
from kgplatform.records import Document, SkippedFile
from kgplatform.settings import load_settings
from kgplatform.sources.load import load_within
from kgplatform.text import node_id, tidy

MOST_QUESTIONS = 2_000
"""About one corpus; AnonyRAG has 1,397 about four books."""
_LEFT_SHOWN = 20
_KEPT_KEYS = frozenset(("id", "_id", "kind", "type"))
_DOCUMENT_KEYS = frozenset(("documents", "within"))


@dataclass(frozen=True, slots=True)
class AnonymityReport:
    """What was done. ``entities``: how many by label; ``mentions``: names that were replaced; ``left``: names of no
    known type that are still in the texts, the most frequent first; ``built``: questions that were made, by kind."""

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


FindNames = Callable[[Sequence[Document]], SourceNames]


def anonymise(folder: Path, out: Path, find: FindNames, questions: Path | None = None) -> AnonymityReport:
    """Write the texts of a folder with placeholders for names, and the map beside; the folder itself is only read.

    ``find`` gives the names for the documents, and the triples that questions about them are made of. ``questions``: a
    file of them, to be treated alike. All of it is written, or nothing. Raises ``InputError`` for places that cannot be
    used and texts without names, ``KgError`` where writing fails.
    """
    map_file, asked_file, built_file = (
        out.absolute().with_name(f"{out.absolute().name}.{ending}")
        for ending in ("map.json", "questions.jsonl", "reversion.jsonl")
    )
    _check_free(folder, out, (map_file, built_file, *([asked_file] if questions else [])))
    read = list(load_within(load_settings(), [folder]))
    documents = [each for each in read if isinstance(each, Document)]
    if not documents:
        raise InputError(f"There is no text in {folder}. Name a folder with files that `ingest` reads.")
    try:
        asked = [entry.values for entry in entries(questions)] if questions else []
    except UnusableError as error:
        raise InputError(f"The questions {questions} cannot be used: {error}.") from error
    names = find(documents)
    said = [text for document in documents for text in (document.title, document.text)]
    dictionary = Dictionary.of(names, [*said, *(json.dumps(each, ensure_ascii=False) for each in asked)])
    if not dictionary.entities:
        raise InputError("No names to replace were found. List them with names=FILE.", "names")
    hider = _Hider(dictionary, documents)
    outputs = {
        out / "texts.jsonl": _lines(
            {"title": hider.titles[each.title], "text": hider.hidden(each.text)} for each in documents
        )
    }
    if questions:
        outputs[asked_file] = _lines(map(hider.changed, asked))
    if not hider.counts:
        raise InputError("None of the names occurs in the texts. List names that do with names=FILE.", "names")
    outputs[map_file] = hider.map()
    built = build_questions(dictionary, names.statements, hider.titles)
    if built:
        outputs[built_file] = _lines(map(as_own, built))
    _write_all(out, outputs, private=(map_file, built_file))
    return AnonymityReport(
        out=out,
        map=map_file,
        texts=len(documents),
        entities=dict(sorted(Counter(dictionary.entities[each].label for each in hider.counts).items())),
        mentions=hider.counts.total(),
        questions=asked_file if questions else None,
        built_file=built_file if built else None,
        built=dict(sorted(Counter(question.kind for question in built).items())),
        left=tuple(sorted(dictionary.untyped.items(), key=lambda item: (-item[1], item[0]))[:_LEFT_SHOWN]),
        skipped=tuple(each for each in read if isinstance(each, SkippedFile)),
    )


class _Hider:
    """Replaces names, and counts how often each placeholder was put. ``titles``: the new ones of the documents."""

    def __init__(self, dictionary: Dictionary, documents: Sequence[Document]) -> None:
        self.dictionary = dictionary
        self.counts: Counter[str] = Counter()
        self.titles = {document.title: dictionary.finder.replaced(document.title) for document in documents}
        # A file of its own is known by its name too.
        files = {file_name(each.uri): self.titles[each.title] for each in documents if file_name(each.uri)}
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


def _lines(values: Iterable[Any]) -> str:
    """JSON lines."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def _check_free(folder: Path, out: Path, beside: Iterable[Path]) -> None:
    """Raise ``InputError`` where ``folder`` is none, where it or ``out`` lies in the other, or where something is in
    the way of what is to be written."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder. Name the folder that holds the texts.")
    source, target = folder.resolve(), out.resolve()
    if target == source or source in target.parents or target in source.parents:
        raise InputError(f"One of {out} and {folder} contains the other. Choose a separate folder.")
    if (out.exists() or out.is_symlink()) and not (out.is_dir() and not any(out.iterdir())):
        raise InputError(
            f"{out} exists already and is not empty. Choose another out=FOLDER, or remove it first.", "out"
        )
    for path in filter(Path.exists, beside):
        raise InputError(f"{path} exists already, and may be needed. Move it, or choose another out=FOLDER.", "out")


def _write_all(out: Path, outputs: Mapping[Path, str], private: Sequence[Path]) -> None:
    """Write what lies in the folder ``out`` and beside it, all of it or nothing; only its owner reads what is
    ``private``. Raises ``KgError``."""
    try:
        for path, content in outputs.items():
            mode = 0o600 if path in private else 0o644
            write_whole(path, content.encode(), mode=mode, kept="The texts themselves are as they were")
    except BaseException:  # whatever it is, nothing is left half done
        with suppress(OSError):
            for path in outputs:
                path.unlink(missing_ok=True)
            out.rmdir()
        raise


OPTIONS = 4
_LETTERS = "XYZWVUTSR"
_TRIES = 3
_LONGEST_CLUE = 600
_KINDS = (("simple", (1, 2, 3, 4)), ("complex", (5, 6, 7, 8)))
"""How many facts a question of each kind has."""
_REVERSION = (
    "Names in these statements are hidden behind placeholders. Say what each placeholder stands for, one line for "
    'each, in this form: "{example}: name".'
)
_CHOICE = (
    "In these statements each letter hides one name or placeholder, the same letter always the same one. "
    "Which placeholder is hidden behind X?"
)

Chain = Sequence[tuple[StatedTriple, str]]
"""Triples that follow each other, with the name that each leads to."""


def build_questions(
    dictionary: Dictionary,
    statements: Iterable[StatedTriple],
    documents: Mapping[str, str],
    wanted: int = MOST_QUESTIONS,
) -> list[Question]:
    """At most ``wanted`` questions about an anonymised corpus, of the four kinds in turn until there are no more; the
    same for the same statements. ``documents``: the new titles by the old ones."""
    author = _Author(dictionary, _hidden_triples(statements, dictionary, documents))
    makers = [
        author.write(make, f"{name} {level}", hops)
        for level, hops in _KINDS
        for name, make in (("reversion", author.reversion), ("choice", author.choice))
    ]
    return list(islice((made for turn in zip_longest(*makers) for made in turn if made is not None), wanted))


def _hidden_triples(
    statements: Iterable[StatedTriple], dictionary: Dictionary, documents: Mapping[str, str]
) -> list[StatedTriple]:
    """The statements as the anonymised texts show them: those that join two names, at least one of them hidden, in a
    sentence that shows both."""
    found: set[StatedTriple] = set()
    for statement in statements:
        ends = [dictionary.finder.placeholder_of(name) or tidy(name) for name in (statement.subject, statement.object)]
        text = tidy(dictionary.finder.replaced(statement.text))
        hidden = any(end in dictionary.entities for end in ends)
        if hidden and ends[0] != ends[1] and all(end in text for end in ends) and len(text) <= _LONGEST_CLUE:
            document = documents.get(statement.document, dictionary.finder.replaced(statement.document))
            found.add(StatedTriple(ends[0], statement.predicate, ends[1], text, document))
    return sorted(found, key=astuple)


class _Author:
    """Writes questions about chains of ``edges``, triples as the anonymised texts show them."""

    def __init__(self, dictionary: Dictionary, edges: Sequence[StatedTriple]) -> None:
        self._entities = dictionary.entities
        self._edges = edges
        self._at: dict[str, list[StatedTriple]] = defaultdict(list)
        for edge in edges:
            self._at[edge.subject].append(edge)
            self._at[edge.object].append(edge)
        self._by_name: dict[str, set[str]] = defaultdict(set)
        for mark in dictionary.entities:
            for name in dictionary.entities[mark].meant:
                self._by_name[name].add(mark)

    def write(
        self, make: Callable[[Chain, random.Random], dict[str, Any] | None], kind: str, hops: Sequence[int]
    ) -> Iterator[Question]:
        """The questions of one kind; no two of the same sentences."""
        draw, seen = random.Random(kind), set[frozenset[str]]()
        for chain in self._chains(hops, draw):
            facts = tuple(edge.text for edge, _ in chain)
            made = make(chain, draw) if frozenset(facts) not in seen else None
            if made is not None:
                seen.add(frozenset(facts))
                identity = f"{kind.replace(' ', '-')}-{node_id(made['text'], *made.get('choices', ()))[:10]}"
                supports = tuple(map(Text, dict.fromkeys(edge.document for edge, _ in chain)))
                yield Question(identity, supports=supports, facts=facts, kind=kind, **made)

    def reversion(self, chain: Chain, draw: random.Random) -> dict[str, Any]:
        """What each placeholder in the facts stands for."""
        hidden = [(mark, self._entities[mark]) for mark in _shown_in(chain) if mark in self._entities]
        asked = {mark: tuple(dict.fromkeys((of.name, *of.forms, *of.may_be))) for mark, of in hidden}
        answer = "; ".join(f"{mark}: {names[0]}" for mark, names in asked.items())
        text = "\n".join((_REVERSION.format(example=next(iter(asked))), *(f"- {edge.text}" for edge, _ in chain)))
        return {"text": text, "answers": (answer,), "placeholders": asked}

    def choice(self, chain: Chain, draw: random.Random) -> dict[str, Any] | None:
        """A multiple choice of the end of the chain; None where it is not hidden, or too few others are like it."""
        end = chain[-1][1]
        others = self._distractors(chain, draw) if end in self._entities else []
        if len(others) < OPTIONS - 1:
            return None
        letters = dict(zip((name for _, name in reversed(chain)), _LETTERS, strict=False))
        choices = [end, *others[: OPTIONS - 1]]
        draw.shuffle(choices)
        marks = list(filter(PLACEHOLDER.fullmatch, letters))
        named = Finder({name: letter for name, letter in letters.items() if name not in marks})
        lines = [_CHOICE]
        for edge, _ in chain:
            fact = edge.text
            for mark in marks:
                fact = fact.replace(mark, letters[mark])
            lines.append(f"- {named.replaced(fact)}")
        text = "\n".join(lines)
        return {"text": text, "answers": (end,), "choices": tuple(choices)}

    def _chains(self, hops: Sequence[int], draw: random.Random) -> Iterator[Chain]:
        """Paths of each length from each edge, in an order that is drawn; no name and no sentence comes twice in
        one."""
        starts = [(edge, length) for length in hops for edge in self._edges] * _TRIES
        draw.shuffle(starts)
        for first, length in starts:
            start, end = draw.sample((first.subject, first.object), 2)
            chain, names, clues = [(first, end)], {start, end}, {first.text}
            while len(chain) < length:
                onward = [
                    (edge, other)
                    for edge in self._at[chain[-1][1]]
                    for other in (edge.subject, edge.object)
                    if other not in names and edge.text not in clues
                ]
                if not onward:
                    break
                chain.append(draw.choice(onward))
                names.add(chain[-1][1])
                clues.add(chain[-1][0].text)
            else:
                yield chain

    def _distractors(self, chain: Chain, draw: random.Random) -> list[str]:
        """Placeholders of the same label, in an order that is drawn, that are not right as well: none of them has a
        relation to the end's neighbour.

        A name that may mean several ("Bright", of two brothers) is right wherever one of them is.
        """
        last, end = chain[-1]

        def with_alike(marks: set[str]) -> set[str]:
            names = {name for mark in marks & self._entities.keys() for name in self._entities[mark].meant}
            return marks.union(*(self._by_name[name] for name in names))

        neighbours = with_alike({last.subject if last.object == end else last.object})
        joined = (edge for mark in neighbours for edge in self._at.get(mark, ()))
        wrong = with_alike({end}.union(*((edge.subject, edge.object) for edge in joined))).union(_shown_in(chain))
        label = self._entities[end].label
        usable = sorted(
            mark
            for mark in self._at
            if mark not in wrong and mark in self._entities and self._entities[mark].label == label
        )
        draw.shuffle(usable)
        return usable


def _shown_in(chain: Chain) -> dict[str, None]:
    """The placeholders of the facts in the order in which they come."""
    return dict.fromkeys(found[0] for edge, _ in chain for found in PLACEHOLDER.finditer(edge.text))
