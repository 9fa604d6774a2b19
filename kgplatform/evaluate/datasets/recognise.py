"""From files to a data set: which format a file is in and which files of a folder belong together, told from what is in
them; then the corpus, then the questions one by one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets import fields
from kgplatform.evaluate.datasets.draft import Draft, Format, ReadEntry, Sources
from kgplatform.evaluate.datasets.entries import Entry, described, entries, shown, some
from kgplatform.evaluate.datasets.fields import UnusableError, Values
from kgplatform.evaluate.datasets.long_texts import LONGBENCH, LVEVAL, NARRATIVEQA, QUALITY
from kgplatform.evaluate.datasets.own import OWN
from kgplatform.evaluate.datasets.published import GRAPHRAG_BENCH, HOTPOTQA, MUSIQUE, TWO_WIKI
from kgplatform.evaluate.results import DataSet, Text
from kgplatform.text import counted, did_you_mean

FORMATS: dict[str, Format] = {
    each.name: each
    for each in (OWN, MUSIQUE, HOTPOTQA, TWO_WIKI, LONGBENCH, LVEVAL, NARRATIVEQA, QUALITY, GRAPHRAG_BENCH)
}
_PUBLISHED = [each for each in FORMATS.values() if each is not OWN]
"""Looked at first: one's own questions need no more than the key that most of these have too."""

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv")
_SPLITS = (".train", ".dev", ".test")
_DEEPEST = 3
_MOST_FILES = 1000
_CORPUS = ({"title", "text"}, {"corpus_name", "context"}, {"section", "content"})
_RECORDING = {"extracted_triples", "extracted_entities"}


def format_named(name: str) -> Format:
    """The format called ``name``. Raises ``InputError`` with the nearest name if there is none."""
    if name in FORMATS:
        return FORMATS[name]
    meant = did_you_mean(name, FORMATS)
    raise InputError(f"There is no data set {shown(name)}.{meant} Known are {', '.join(FORMATS)}.")


def recognise(path: Path, name: str | None) -> tuple[Format, Sources]:
    """The format of ``path``, a file or a folder, and its files. With ``name``, nothing but that format is accepted.

    Raises ``InputError`` that says what was expected and what was found.
    """
    wanted = None if name is None else format_named(name)
    try:
        is_folder = path.is_dir()
        if not is_folder and not path.is_file():
            raise InputError(f"{path}: there is no such file or folder.")
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {(error.strerror or str(error)).lower()}.") from error
    return _in_folder(path, wanted) if is_folder else _in_file(path, wanted)


# ---------------------------------------------------------------------------------------------------- a file


def _in_file(path: Path, wanted: Format | None) -> tuple[Format, Sources]:
    objects = some(path)
    found = _format(objects, wanted)
    if found is None:
        _refuse(path, objects, wanted)
    aliases = path.parent / "id_aliases.json"
    has_aliases = found is TWO_WIKI and aliases.is_file()
    return found, Sources(path.parent, (path,), aliases=aliases if has_aliases else None)


def _format(objects: Sequence[Values], wanted: Format | None) -> Format | None:
    """The format of most of ``objects``' kind: that which the first one fits that fits any."""
    candidates = [*_PUBLISHED, OWN] if wanted is None else [wanted]
    return next((each for values in objects for each in candidates if each.fits(values)), None)


def _refuse(path: Path, objects: Sequence[Values], wanted: Format | None) -> NoReturn:
    if objects:
        found = described(dict(objects[0]))
    else:
        first = next(entries(path))
        found = first.fault or described(first.value)
    if wanted is None:
        known = "; ".join(f"{each.name} ({each.expects})" for each in FORMATS.values())
        raise InputError(f"{path} is in no format of questions that is known: found {found}; expected one of {known}.")
    other = _format(objects, None)
    hint = f" It looks like {other.name}: name that instead." if other is not None else ""
    raise InputError(
        f"{path} is not in the format {wanted.name}: expected objects with the keys {wanted.expects}; found "
        f"{found}.{hint}"
    )


# -------------------------------------------------------------------------------------------------- a folder


@dataclass(slots=True)
class _Sorted:
    """The files of a folder by what they are. ``others``: what was found in those that are of no use."""

    questions: dict[Path, Format] = field(default_factory=dict)
    corpus: list[Path] = field(default_factory=list)
    recordings: list[Path] = field(default_factory=list)
    aliases: list[Path] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def _in_folder(folder: Path, wanted: Format | None) -> tuple[Format, Sources]:
    files = _Sorted()
    for file in _candidates(folder, files.others):
        _sort(files, folder, file, wanted)
    if not files.questions:
        _refuse_folder(folder, files, wanted)
    found = _only_format(folder, files.questions)
    questions = tuple(files.questions)
    if len(questions) > 1 and not found.several:
        raise InputError(
            f"{folder} holds several files of questions in the format {found.name}: {_named(folder, questions)}. "
            "Name the one that is meant."
        )
    if len(files.corpus) > 1 and not found.several:
        raise InputError(
            f"{folder} holds several corpora: {_named(folder, files.corpus)}. Leave only the one of these questions "
            "there, or name the file of the questions alone."
        )
    return found, Sources(
        folder=questions[0].parent if len(questions) == 1 else folder,
        questions=questions,
        corpus=tuple(files.corpus),
        recording=files.recordings[0] if len(files.recordings) == 1 else None,
        aliases=next(iter(files.aliases), None),
    )


def _candidates(folder: Path, refused: list[str]) -> Iterator[Path]:
    """The files below ``folder`` that may be of a data set, sorted; what is hidden, or deep below, is left out.

    A folder that cannot be opened goes into ``refused``.
    """

    def refuse(error: OSError) -> None:
        refused.append(f"{error.filename} cannot be opened: {(error.strerror or str(error)).lower()}")

    count = 0
    for place, folders, names in os.walk(folder, onerror=refuse):
        here = Path(place)
        deep = len(here.relative_to(folder).parts) >= _DEEPEST
        folders[:] = [] if deep else sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            suffix = Path(name).suffix.lower()
            split = suffix in _SPLITS and name.lower().startswith("quality")
            if not name.startswith(".") and (suffix in _SUFFIXES or split):
                count += 1
                yield here / name
        if count > _MOST_FILES:
            raise InputError(f"{folder} holds more than {_MOST_FILES:,} files of data: name the data set's own folder.")


def _sort(files: _Sorted, folder: Path, file: Path, wanted: Format | None) -> None:
    try:
        objects = some(file)
    except InputError as error:
        files.others.append(str(error).rstrip("."))
        return
    format_ = _format(objects, wanted)
    first = objects[0] if objects else {}
    if format_ is not None:
        files.questions[file] = format_
    elif any(first.keys() & {key} for key in _RECORDING):
        files.recordings.append(file)
    elif {"Q_id", "aliases"} <= first.keys():
        files.aliases.append(file)
    elif any(keys <= first.keys() for keys in _CORPUS) and "question" not in first:
        files.corpus.append(file)
    else:
        files.others.append(f"{file.relative_to(folder)} holds {described(dict(first)) if objects else 'no objects'}")


def _only_format(folder: Path, questions: dict[Path, Format]) -> Format:
    found = dict.fromkeys(questions.values())
    if len(found) == 1:
        return next(iter(found))
    told = "; ".join(
        f"{each.name}: {_named(folder, [file for file, of in questions.items() if of is each])}" for each in found
    )
    raise InputError(f"{folder} holds questions of several data sets ({told}). Name one of them, or one of the files.")


def _refuse_folder(folder: Path, files: _Sorted, wanted: Format | None) -> NoReturn:
    what = "questions" if wanted is None else f"questions in the format {wanted.name} ({wanted.expects})"
    found = [f"{_named(folder, some_)} ({what_})" for what_, some_ in _roles(files) if some_] + files.others
    told = f"found {'; '.join(found[:5])}{'; …' if len(found) > 5 else ''}" if found else "found no JSON, JSONL or CSV"
    raise InputError(f"{folder} holds no {what}: {told}.")


def _roles(files: _Sorted) -> list[tuple[str, list[Path]]]:
    return [("a corpus", files.corpus), ("recorded extractions", files.recordings), ("aliases", files.aliases)]


def _named(folder: Path, files: Sequence[Path]) -> str:
    names = [str(file.relative_to(folder)) for file in files]
    return ", ".join(names[:8]) + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")


# --------------------------------------------------------------------------------------------- from files to a data set


DATA_SETS: tuple[str, ...] = tuple(FORMATS)
"""The names that ``load`` knows."""

_TEXT_KEYS = ("text", "context", "content")
_SECTIONS = ("section", "subsection", "subsubsection")


def load(path: Path, name: str | None = None, *, limit: int | None = None, sample: int | None = None) -> DataSet:
    """The data set in ``path``, a file or a folder; ``name`` is one of ``DATA_SETS``, or told from what is found.

    ``limit``: the first questions; ``sample``: as many drawn from all of them, always the same. The corpus is that of
    all questions nevertheless, so that recall can be compared; where questions are asked apart, it is theirs alone.
    Raises ``InputError`` that says what was expected and what was found.
    """
    for option, value in (("limit", limit), ("sample", sample)):
        if value is not None and value < 1:
            raise InputError(f"The {option} is {value}: ask for 1 question or more.")
    if limit is not None and sample is not None:
        raise InputError("Give a limit or a sample, not both.")
    path = Path(path).expanduser()
    found, sources = recognise(path, name)
    draft = Draft(found.name)
    draft.given = _corpus(sources, draft)
    read = found.begin(sources, draft)
    _read_questions(sources, draft, read, limit)
    dataset = draft.finish(path, limit=limit, sample=sample)
    return _with_recording(dataset, sources)


def _read_questions(sources: Sources, draft: Draft, read: ReadEntry, limit: int | None) -> None:
    """Read all questions; only the first where the texts of others would be of no use."""
    for file in sources.questions:
        for entry in entries(file):
            try:
                read(_object(entry))
            except UnusableError as error:
                draft.skip(entry.where, str(error))
            if limit is not None and draft.apart and len(draft.questions) >= limit:
                return


def _object(entry: Entry) -> Entry:
    if entry.fault:
        raise UnusableError(entry.fault)
    if not isinstance(entry.value, dict):
        raise UnusableError(f"found {described(entry.value)}, expected an object")
    return entry


def _corpus(sources: Sources, draft: Draft) -> tuple[Text, ...] | None:
    """The corpus that lies beside the questions, each text once; None if there is none."""
    if not sources.corpus:
        return None
    found: dict[Text, None] = {}
    for file in sources.corpus:
        for entry in entries(file):
            try:
                found[_passage(_object(entry).value)] = None
            except UnusableError as error:
                draft.fault(entry.where, f"{error}; this text is left out")
    return tuple(found)


def _passage(values: Values) -> Text:
    key = next((key for key in _TEXT_KEYS if key in values), "text")
    sections = " ".join(filter(None, (fields.title(values, each) for each in _SECTIONS)))
    title = fields.title(values, "title") or fields.title(values, "corpus_name") or sections
    return Text(title, fields.wanted(values, key))


def _with_recording(dataset: DataSet, sources: Sources) -> DataSet:
    """The recorded extraction that lies beside the questions, if it is of every text of the corpus."""
    if sources.recording is None or dataset.apart:
        return dataset
    recorded = set(_recorded(sources.recording))
    lacking = sum(each not in recorded for each in dataset.corpus)
    return _told(dataset, sources.recording, lacking)


def _recorded(file: Path) -> Iterator[Text]:
    for entry in entries(file):
        if isinstance(entry.value, dict):
            try:
                yield _passage(entry.value)
            except UnusableError:
                continue  # it records no text of the corpus, then


def _told(dataset: DataSet, recording: Path, lacking: int) -> DataSet:
    if not lacking:
        return replace(dataset, recording=recording)
    fault = (
        f"{recording.name}: not used, for it records no extraction of {lacking:,} of the "
        f"{counted(len(dataset.corpus), 'text')}."
    )
    return replace(dataset, faults=(*dataset.faults, fault))
