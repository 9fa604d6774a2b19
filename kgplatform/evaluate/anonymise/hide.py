"""Texts without their names: one dictionary for corpus and questions, the map that takes them back, and the way back.

What ``ingest`` reads of a folder is written as one file, ``texts.jsonl``, an object with title and text a line.
Whoever has the map can undo the anonymity; it lies beside the anonymised folder, never in it, readable by its owner.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from kgplatform.errors import InputError
from kgplatform.evaluate.anonymise.hidden_names import Dictionary, SourceNames
from kgplatform.evaluate.anonymise.mentions import PLACEHOLDER, Edit, with_edits
from kgplatform.evaluate.datasets.entries import UnusableError, entries
from kgplatform.evaluate.journal import read_bytes, read_text, write_whole
from kgplatform.records import Document, SkippedFile
from kgplatform.settings import load_settings
from kgplatform.sources.load import load_within

TEXTS = "texts.jsonl"
FORMAT = "kgplatform anonymity map"
VERSION = 2
_KEPT = "The texts themselves are as they were"
_LEFT_SHOWN = 20
_KEPT_KEYS = frozenset(("id", "_id", "kind", "type"))
_DOCUMENT_KEYS = frozenset(("documents", "within"))


class _Strict(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class MappedEntity(_Strict):
    """A placeholder: its name, all forms of it, who it may be where that is not sure, and how often it was put."""

    placeholder: str
    name: str
    forms: tuple[str, ...]
    may_be: tuple[str, ...] = ()
    count: int = 0


class MappedText(_Strict):
    """A text. ``original`` and ``title``: its title before and after; the digests are those of the text before and
    after. ``edits``: from and to which character of the anonymised text something else stood before, and what."""

    original: str
    title: str
    original_sha256: str
    sha256: str
    edits: tuple[Edit, ...]


class Map(_Strict):
    """All of it."""

    format: str = FORMAT
    version: int = VERSION
    seed: int
    entities: tuple[MappedEntity, ...]
    texts: tuple[MappedText, ...]


@dataclass(frozen=True, slots=True)
class HideRequest:
    """What is to be anonymised, and where to. ``map``: by default ``OUT.map.json``, beside ``out``."""

    folder: Path
    out: Path
    map: Path | None = None
    questions: Path | None = None
    seed: int = 0

    @property
    def map_path(self) -> Path:
        """Where the map goes."""
        return self.map or beside(self.out, "map.json")


@dataclass(frozen=True, slots=True)
class HiddenCorpus:
    """All that was found and decided, before anything is written. ``documents``: new titles by the old ones."""

    dictionary: Dictionary
    names: tuple[SourceNames, ...]
    documents: Mapping[str, str]


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


@dataclass(frozen=True, slots=True)
class Built:
    """Questions that were made, as JSON lines, how many of each kind, and what a person must know of them."""

    lines: str = ""
    kinds: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


FindNames = Callable[[Sequence[Document]], Sequence[SourceNames]]
Builder = Callable[[HiddenCorpus], Built]


def anonymise(request: HideRequest, sources: FindNames, builder: Builder | None = None) -> AnonymityReport:
    """Write the texts of a folder with placeholders for names, and the map beside; the folder itself is only read.

    ``sources`` gives the names for the documents; ``builder`` makes questions. All of it is written, or nothing.
    Raises ``InputError`` for places that cannot be used and texts without names, ``KgError`` where writing fails.
    """
    asked_file = beside(request.out, "questions.jsonl") if request.questions else None
    built_file = beside(request.out, "reversion.jsonl") if builder else None
    _check_places(request, [file for file in (asked_file, built_file) if file])
    documents, skipped = read_texts(request.folder)
    asked = _read_questions(request.questions) if request.questions else []
    names = tuple(sources(documents))
    said = [text for document in documents for text in (document.title, document.text)]
    dictionary = Dictionary.of(names, [*said, *(json.dumps(each, ensure_ascii=False) for each in asked)], request.seed)
    if not dictionary.entities:
        raise InputError(
            "No names to replace were found. Choose another type=TYPE, or name them with names=FILE.", "type", "names"
        )
    hider = _Hider(dictionary, documents)
    hidden = [hider.hide(document) for document in documents]
    questions = [hider.changed(question) for question in asked]
    if not hider.counts:
        raise InputError("None of the names occurs in the texts. List names that do with names=FILE.", "names")
    built = builder(HiddenCorpus(dictionary, names, hider.titles)) if builder else Built()
    outputs = [(request.out / TEXTS, as_lines(texts for texts, _ in hidden), False)]
    outputs += [(request.map_path, hider.map([text for _, text in hidden], request.seed), True)]
    outputs += [(asked_file, as_lines(questions), False)] if asked_file else []
    outputs += [(built_file, built.lines, True)] if built_file else []
    write_all(request.out, outputs)
    return AnonymityReport(
        out=request.out,
        map=request.map_path,
        texts=len(hidden),
        entities=hider.by_label(),
        mentions=hider.counts.total(),
        questions=asked_file,
        built_file=built_file,
        built=built.kinds,
        left=tuple(sorted(dictionary.untyped.items(), key=lambda item: (-item[1], item[0]))[:_LEFT_SHOWN]),
        skipped=tuple(skipped),
        notes=built.notes,
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

    def hide(self, document: Document) -> tuple[dict[str, str], MappedText]:
        """The document as it is to be written, and what the map says of it."""
        edits = self._edits(document.text)
        text, title = with_edits(document.text, edits), self.titles[document.title]
        back = tuple(inverse(document.text, edits))
        mapped = MappedText(
            original=document.title, title=title, original_sha256=sha256(document.text), sha256=sha256(text), edits=back
        )
        return {"title": title, "text": text}, mapped

    def changed(self, value: Any, key: str = "") -> Any:
        """A question's value without names; documents that it names have their new titles."""
        if isinstance(value, dict):
            return {name: inner if name in _KEPT_KEYS else self.changed(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.changed(inner, key) for inner in value]
        if not isinstance(value, str):
            return value
        if key in _DOCUMENT_KEYS and value in self._named:
            return self._named[value]
        return with_edits(value, self._edits(value))

    def map(self, texts: Sequence[MappedText], seed: int) -> str:
        """The map as it is written."""
        found = self.dictionary.entities.items()
        content = Map(
            seed=seed,
            entities=tuple(
                MappedEntity(placeholder=p, name=e.name, forms=e.forms, may_be=e.may_be, count=self.counts[p])
                for p, e in found
                if self.counts[p]
            ),
            texts=tuple(texts),
        )
        return json.dumps(content.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"

    def by_label(self) -> dict[str, int]:
        """How many entities were hidden, by label."""
        found = self.dictionary.entities.items()
        return dict(sorted(Counter(entity.label for mark, entity in found if self.counts[mark]).items()))

    def _edits(self, text: str) -> list[Edit]:
        found = self.dictionary.finder.mentions(text)
        self.counts.update(placeholder for _, _, placeholder in found)
        return found


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


def inverse(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """The edits that take the edited text back to ``text``."""
    back: list[Edit] = []
    shift = 0
    for start, end, new in edits:
        back.append((start + shift, start + shift + len(new), text[start:end]))
        shift += len(new) - (end - start)
    return back


def sha256(text: str) -> str:
    """The digest of ``text`` in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


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


def _check_places(request: HideRequest, others: Sequence[Path]) -> None:
    check_apart(request.folder, request.out)
    folder, out, map_path = request.folder.resolve(), request.out.resolve(), request.map_path.resolve()
    if out in map_path.parents or folder in map_path.parents:
        raise InputError(
            f"The map {request.map_path} would lie among the texts. Choose another map=FILE, apart from them.", "map"
        )
    if map_path in (out, *(path.resolve() for path in others)):
        raise InputError(f"{request.map_path} is already the name of another output. Choose another map=FILE.", "map")
    for path in (request.map_path, *others):
        if path.exists():
            raise InputError(f"{path} exists already, and may be needed. Move it, or choose another out=FOLDER.", "out")


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


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """``exact``: texts that are to the letter what they were (their digest says so); ``by_name``: titles of those that
    were changed since, or that the map does not know: each placeholder became the entity's name."""

    out: Path
    exact: int
    by_name: tuple[str, ...]
    missing: tuple[str, ...]
    questions: Path | None


def restore(folder: Path, map_path: Path, out: Path, questions: Path | None = None) -> RestoreReport:
    """Write the texts of an anonymised ``folder`` with their names to ``out``, and ``questions`` beside it.

    Raises ``InputError`` for a map of another folder and for places that cannot be used.
    """
    content = read_map(map_path)
    check_apart(folder, out)
    documents, _ = read_texts(folder)
    asked_file = beside(out, "questions.jsonl") if questions else None
    if asked_file and asked_file.exists():
        raise InputError(f"{asked_file} exists already. Move it, or choose another out=FOLDER.", "out")
    known = {(text.title, text.sha256): text for text in content.texts}
    there = {(document.title, sha256(document.text)) for document in documents}
    telling = {key for key, text in known.items() if text.edits} or known.keys()
    if not there & telling:  # a text without names is the same under every map
        raise InputError(f"No text in {folder} matches the map {map_path}, which belongs to another folder.")
    names = {entity.placeholder: entity.name for entity in content.entities}
    restored, by_name = [], []
    for document in documents:
        entry = known.get((document.title, sha256(document.text)))
        by_name += [] if entry else [document.title]
        title = entry.original if entry else _with_names(document.title, names)
        text = _exactly(entry, document.text) if entry else _with_names(document.text, names)
        restored.append({"title": title, "text": text})
    outputs = [(out / TEXTS, as_lines(restored), False)]
    if asked_file and questions:
        outputs.append((asked_file, _restored_questions(read_text(questions, "The questions"), names), False))
    write_all(out, outputs)
    missing = tuple(sorted(text.title for key, text in known.items() if key not in there))
    return RestoreReport(out, len(restored) - len(by_name), tuple(by_name), missing, asked_file)


def read_map(path: Path) -> Map:
    """The map in ``path``. Raises ``InputError`` for a file that is none."""
    try:
        content: Any = json.loads(read_bytes(path, "The map"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a map: not valid JSON. Name the file that `anonymise` wrote.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{path} is not a map of `kgplatform anonymise`. Name the file that it wrote.")
    if content.get("version") != VERSION:
        raise InputError(
            f"The map {path} is of version {content.get('version')}; this program reads version {VERSION}."
        )
    try:
        return Map.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"The map {path} is damaged: {place}: {first['msg'].lower()}.") from error


def _exactly(entry: MappedText, text: str) -> str:
    """The text before. Raises ``InputError`` where the map's own digest says that it is another."""
    restored = with_edits(text, entry.edits)
    if sha256(restored) != entry.original_sha256:
        raise InputError(f"The map is damaged: it does not restore {entry.title}. Use an undamaged copy.")
    return restored


def _with_names(text: str, names: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: names.get(found[0], found[0]), text)


def _restored_questions(text: str, names: Mapping[str, str]) -> str:
    """JSON with the name of each placeholder in its place."""
    escaped = {placeholder: json.dumps(name, ensure_ascii=False)[1:-1] for placeholder, name in names.items()}
    return _with_names(text, escaped)
