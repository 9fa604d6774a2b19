"""A folder of texts without its names: one dictionary for corpus and questions, and the map that takes them back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kgplatform.errors import DocumentError, InputError
from kgplatform.evaluate.anonymise.folder import (
    FORMAT,
    VERSION,
    Map,
    MappedEntity,
    MappedFile,
    Output,
    SourceFile,
    beside,
    check_apart,
    inverse,
    json_edits,
    json_keys,
    map_text,
    read_exactly,
    read_folder,
    sha256,
    write_folder,
)
from kgplatform.evaluate.anonymise.hidden_names import Dictionary, SourceNames
from kgplatform.evaluate.anonymise.mentions import Edit, with_edits
from kgplatform.evaluate.journal import read_bytes
from kgplatform.ingest.load import WORD_GAPS
from kgplatform.records import Document, SkippedFile
from kgplatform.text import counted

_LEFT_SHOWN = 20
_KEYS_SHOWN = 5
_KEPT_KEYS = frozenset(("id", "_id", "kind", "type"))
_DOCUMENT_KEYS = frozenset(("documents", "within"))


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
    """All that was found and decided, before anything is written. ``documents``: what ``ingest`` will call each
    document, by its name before: the file's, or the title where a file holds several."""

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
    files: int
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

    lines: str
    kinds: Mapping[str, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Done:
    """A file as it is to be written, with its entry in the map."""

    entry: MappedFile
    data: bytes
    counts: Counter[str]
    notes: tuple[str, ...] = ()


FindNames = Callable[[Sequence[Document]], Sequence[SourceNames]]
Builder = Callable[[HiddenCorpus], Built]


def anonymise(request: HideRequest, sources: FindNames, builder: Builder | None = None) -> AnonymityReport:
    """Write the texts of a folder with placeholders for names, and the map beside; the folder itself is only read.

    ``sources`` gives the names for the documents; ``builder`` makes questions. All of it is written, or nothing.
    Raises ``InputError`` for places that cannot be used and texts without names, ``KgError`` where writing fails.
    """
    _check_places(request, builder is not None)
    files, skipped = read_folder(request.folder)
    if not files:
        raise InputError(f"There is no text in {request.folder}. Name a folder with files that `ingest` reads.")
    asked = _read_questions(request.questions) if request.questions else None
    documents = [document for file in files for document in file.documents]
    names = tuple(sources(documents))
    texts = [file.text for file in files] + [document.text for document in documents] + ([asked.text] if asked else [])
    dictionary = Dictionary.of(names, [document.text for document in documents] + texts, request.seed)
    if not dictionary.entities:
        raise InputError(
            "No name was found to be replaced. Choose another type=TYPE, or name them with names=FILE.", "type", "names"
        )
    renamed = _new_names(files, dictionary)
    done = [_replaced(file, renamed[file.name], dictionary) for file in files]
    questions = _replaced(asked, "questions", dictionary, _file_names(files, renamed)) if asked else None
    hidden = _Hidden(request, dictionary, done, questions)
    if not hidden.counts:
        raise InputError("None of the names is in the texts. Name those that are with names=FILE.", "names")
    built = builder(HiddenCorpus(dictionary, names, _document_titles(files, renamed, dictionary))) if builder else None
    hidden.write(built)
    return hidden.report(skipped, built)


@dataclass(frozen=True, slots=True)
class _Hidden:
    """All files without their names."""

    request: HideRequest
    dictionary: Dictionary
    done: Sequence[_Done]
    questions: _Done | None

    @property
    def all(self) -> list[_Done]:
        """The texts, and the questions if there are any."""
        return [*self.done, *([self.questions] if self.questions else [])]

    @property
    def counts(self) -> Counter[str]:
        """How often each placeholder was put."""
        return sum((file.counts for file in self.all), Counter[str]())

    def write(self, built: Built | None) -> None:
        """Write the folder, and beside it the map and the questions."""
        request = self.request
        others = [Output(request.map_path, map_text(self._map()).encode(), private=True)]
        if self.questions is not None:
            others.append(Output(beside(request.out, "questions.jsonl"), self.questions.data))
        if built is not None:
            others.append(Output(beside(request.out, "reversion.jsonl"), built.lines.encode(), private=True))
        write_folder(request.out, [(file.entry.name, file.data) for file in self.done], others)

    def _map(self) -> Map:
        found, counts = self.dictionary.entities, self.counts
        entities = [
            MappedEntity(
                placeholder=mark, name=entity.name, forms=entity.forms, may_be=entity.may_be, count=counts[mark]
            )
            for mark, entity in found.items()
            if counts[mark]
        ]
        return Map(
            format=FORMAT,
            version=VERSION,
            seed=self.request.seed,
            labels=tuple(sorted({entity.label for entity in found.values()})),
            entities=tuple(entities),
            files=tuple(file.entry for file in self.done),
            questions=self.questions.entry if self.questions else None,
        )

    def report(self, skipped: Sequence[SkippedFile], built: Built | None) -> AnonymityReport:
        """What was done, for people."""
        request, dictionary, counts = self.request, self.dictionary, self.counts
        left = sorted(dictionary.untyped.items(), key=lambda item: (-item[1], item[0]))
        labels = Counter(entity.label for mark, entity in dictionary.entities.items() if counts[mark])
        notes = [note for each in self.all for note in each.notes] + list(built.notes if built else ())
        if unused := len(dictionary.entities) - labels.total():
            verb = "is" if unused == 1 else "are"
            notes.append(f"{counted(unused, 'name')} of the dictionary {verb} nowhere in the texts but in longer names")
        return AnonymityReport(
            out=request.out,
            map=request.map_path,
            files=len(self.done),
            entities=dict(sorted(labels.items())),
            mentions=counts.total(),
            questions=beside(request.out, "questions.jsonl") if request.questions else None,
            built_file=beside(request.out, "reversion.jsonl") if built else None,
            built=built.kinds if built else {},
            left=tuple(left[:_LEFT_SHOWN]),
            skipped=tuple(skipped),
            notes=tuple(notes),
        )


def _check_places(request: HideRequest, builds: bool) -> None:
    folder, out, map_path = request.folder.resolve(), request.out.resolve(), request.map_path.resolve()
    check_apart(request.folder, request.out)
    if out in map_path.parents or folder in map_path.parents:
        raise InputError(
            f"The map {request.map_path} would lie among the texts. Choose another map=FILE, apart from them.", "map"
        )
    others = [beside(request.out, "questions.jsonl")] if request.questions else []
    others += [beside(request.out, "reversion.jsonl")] if builds else []
    if map_path in (out, *(path.resolve() for path in others)):
        raise InputError(f"{request.map_path} is already the name of another output. Choose another map=FILE.", "map")
    for path in (request.map_path, *others):
        if path.exists():
            raise InputError(f"{path} exists already, and may be needed. Move it, or choose another out=FOLDER.", "out")


def _read_questions(path: Path) -> SourceFile:
    data = read_bytes(path, "The questions")
    try:
        text, _ = read_exactly(str(path), data)
    except DocumentError as error:
        raise InputError(f"The questions {path} are not text: {error.reason}.") from error
    if not text.strip():
        raise InputError(f"The questions {path} are empty.")
    return SourceFile(path.name, text, "json", sha256(text.encode()), ())


def _new_names(files: Sequence[SourceFile], dictionary: Dictionary) -> dict[str, str]:
    """The path of each file in the anonymised folder: a file's name tells who it is about, too."""
    renamed: dict[str, str] = {}
    taken: set[str] = set()
    for file in sorted(files, key=lambda file: (file.kind == "foreign", file.name)):
        path = PurePosixPath(file.name)
        parts = [_new_part(part, dictionary) for part in path.parts[:-1]]
        stem, suffix = _new_part(path.stem, dictionary), ".txt" if file.kind == "foreign" else path.suffix
        renamed[file.name] = name_apart("/".join(parts), stem, suffix, taken)
    return renamed


def name_apart(parent: str, stem: str, suffix: str, taken: set[str]) -> str:
    """A path that none of ``taken`` is, whatever their case, with a number if need be; it is added to them."""
    place = f"{parent}/" if parent else ""
    name = f"{place}{stem}{suffix}"
    number = 1
    while name.casefold() in taken:
        number += 1
        name = f"{place}{stem} ({number}){suffix}"
    taken.add(name.casefold())
    return name


def _new_part(part: str, dictionary: Dictionary) -> str:
    """A part of a path, in the words that ``ingest`` reads in it; as it is where no name is among them."""
    readable = WORD_GAPS.sub(" ", part)
    new = dictionary.finder.replaced(readable)
    return part if new == readable else new


def _file_names(files: Sequence[SourceFile], renamed: Mapping[str, str]) -> dict[str, str]:
    """Old to new, by path, by the file's own name, and by the titles that are lost with another format."""
    new_names = {old: PurePosixPath(new).name for old, new in sorted(renamed.items(), reverse=True)}
    titles = {
        document.title: new_names[file.name] for file in files if file.kind == "foreign" for document in file.documents
    }
    return titles | {PurePosixPath(old).name: new for old, new in new_names.items()} | dict(renamed)


def _document_titles(files: Sequence[SourceFile], renamed: Mapping[str, str], dictionary: Dictionary) -> dict[str, str]:
    titles: dict[str, str] = {}
    for file in files:
        for document in file.documents:
            own = dictionary.finder.replaced(document.title)
            titles.setdefault(document.title, own if file.kind == "json" else PurePosixPath(renamed[file.name]).name)
    return titles


def _replaced(file: SourceFile, name: str, dictionary: Dictionary, files: Mapping[str, str] | None = None) -> _Done:
    """The file under its new name. ``files``: of questions, new names of what their documents are called."""
    counts: Counter[str] = Counter()

    def edits(text: str) -> list[Edit]:
        found = dictionary.finder.mentions(text)
        counts.update(placeholder for _, _, placeholder in found)
        return found

    def change(value: str, key: str) -> str:
        if files is not None and key in _KEPT_KEYS:
            return value
        if files is not None and key in _DOCUMENT_KEYS and value in files:
            return files[value]
        return with_edits(value, edits(value))

    is_json = file.kind == "json"
    made, broken = json_edits(file.text, change, edits) if is_json else (edits(file.text), [])
    data = with_edits(file.text, made).encode()
    entry = MappedFile(
        original=file.name,
        name=name,
        original_sha256=file.sha256,
        sha256=sha256(data),
        converted=file.kind in ("foreign", "recoded"),
        edits=tuple(inverse(file.text, made)),
    )
    in_keys = [key for key in json_keys(file.text) if dictionary.finder.mentions(key)] if is_json else []
    return _Done(entry, data, counts, tuple(_notes(file, name, broken, in_keys)))


def _notes(file: SourceFile, name: str, broken: Sequence[int], in_keys: Sequence[str]) -> list[str]:
    notes = [f"line {number}: not valid JSON; its names were replaced as in plain text" for number in broken]
    notes = [f"{file.name}, {note}" for note in notes]
    if in_keys:
        more = ", …" if len(in_keys) > _KEYS_SHOWN else ""
        notes.append(f"{file.name}: keys are left as they are, names and all: {', '.join(in_keys[:_KEYS_SHOWN])}{more}")
    said = {"foreign": f"written as text, {name}", "recoded": "written in UTF-8"}
    return [*notes, *([f"{file.name}: {said[file.kind]}"] if file.kind in said else [])]
