"""From files to a data set: which format a file is in and which files of a folder belong together, seen by what is in
them; then the corpus, then the questions one by one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets.draft import Draft, Format, SetFiles
from kgplatform.evaluate.datasets.entries import UnusableError, Values, entries, some
from kgplatform.evaluate.datasets.long_texts import (
    INFINITEBENCH,
    LONGBENCH,
    LONGBENCH_V2,
    LVEVAL,
    NARRATIVEQA,
    NIAH_PLUS,
    QUALITY,
)
from kgplatform.evaluate.datasets.shared_corpus import GRAPHRAG_BENCH, HOTPOTQA, MUSIQUE, OWN, SQUAD, TWO_WIKI
from kgplatform.evaluate.terms import DataSet, Text
from kgplatform.sources.corpus_file import described
from kgplatform.text import counted, unknown

FORMATS: dict[str, Format] = {
    format_.name: format_
    for format_ in (
        *(OWN, MUSIQUE, HOTPOTQA, TWO_WIKI, SQUAD, LONGBENCH, LONGBENCH_V2, LVEVAL, INFINITEBENCH, NIAH_PLUS),
        *(NARRATIVEQA, QUALITY, GRAPHRAG_BENCH),
    )
}
DATA_SETS: tuple[str, ...] = tuple(FORMATS)
"""The names that ``load`` knows."""

_PUBLISHED = [format_ for format_ in FORMATS.values() if format_ is not OWN]
"""Looked at first: one's own questions need no more than the key that most of these have too."""

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv")
_SPLITS = (".train", ".dev", ".test")
_DEEPEST = 3
_MOST_FILES = 1000
_CORPUS = ({"title", "text"}, {"corpus_name", "context"}, {"section", "content"})
_RECORDING = {"extracted_triples", "extracted_entities"}
_TEXT_KEYS = ("text", "context", "content")
_SECTIONS = ("section", "subsection", "subsubsection")


def load(path: Path, name: str | None = None, *, limit: int | None = None, sample: int | None = None) -> DataSet:
    """The data set in ``path``, a file or a folder; ``name`` is one of ``DATA_SETS``, or seen by what is found.

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
    found, sources = _recognise(path, name)
    draft = Draft(found.name, sources, apart=found.apart)
    draft.given = _corpus(draft) if sources.corpus else None
    _read_questions(found, draft, limit)
    return _with_recording(draft.finish(path, limit=limit, sample=sample), sources.recording)


def _recognise(path: Path, name: str | None) -> tuple[Format, SetFiles]:
    """The format of ``path``, a file or a folder, and its files. With ``name``, nothing but that format is accepted."""
    if name is not None and name not in FORMATS:
        raise InputError(unknown("data set", name, FORMATS))
    wanted = None if name is None else FORMATS[name]
    try:
        is_folder = path.is_dir()
        if not is_folder and not path.is_file():
            raise InputError(f"{path}: there is no such file or folder.")
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {(error.strerror or str(error)).lower()}.") from error
    return _in_folder(path, wanted) if is_folder else _in_file(path, wanted)


def _in_file(path: Path, wanted: Format | None) -> tuple[Format, SetFiles]:
    objects = some(path)
    found = _format(objects, wanted)
    if found is None:
        raise InputError(_refusal(path, objects, wanted))
    aliases = path.parent / "id_aliases.json"
    has_aliases = found is TWO_WIKI and aliases.is_file()
    return found, SetFiles(path.parent, (path,), aliases=aliases if has_aliases else None)


def _format(objects: Sequence[Values], wanted: Format | None) -> Format | None:
    """The format of most of ``objects``' kind: that which the first one fits that fits any."""
    candidates = [*_PUBLISHED, OWN] if wanted is None else [wanted]
    return next((format_ for values in objects for format_ in candidates if format_.fits(values)), None)


def _refusal(path: Path, objects: Sequence[Values], wanted: Format | None) -> str:
    first = next(entries(path))
    found = described(objects[0]) if objects else first.fault or described(first.value)
    if wanted is None:
        known = "; ".join(f"{format_.name} ({format_.expects})" for format_ in FORMATS.values())
        return f"{path} is in no known format of questions: found {found}; expected one of {known}."
    other = _format(objects, None)
    hint = f" It looks like {other.name}: name that instead." if other is not None else ""
    return (
        f"{path} is not in the format {wanted.name}: expected objects with the keys {wanted.expects}; found "
        f"{found}.{hint}"
    )


def _in_folder(folder: Path, wanted: Format | None) -> tuple[Format, SetFiles]:
    candidates, others = _candidates(folder)
    formats: dict[Path, Format] = {}
    roles: dict[str, list[Path]] = {"a corpus": [], "recorded extractions": [], "aliases": []}
    for file in candidates:
        try:
            objects = some(file)
        except InputError as error:
            others.append(str(error).rstrip("."))
            continue
        if (format_ := _format(objects, wanted)) is not None:
            formats[file] = format_
        elif role := _role(objects[0] if objects else Values()):
            roles[role].append(file)
        else:
            others.append(f"{file.relative_to(folder)} holds {described(objects[0]) if objects else 'no objects'}")
    if not formats:
        what = "questions" if wanted is None else f"questions in the format {wanted.name} ({wanted.expects})"
        found = [f"{_named(folder, files)} ({role})" for role, files in roles.items() if files] + others
        told = f"{'; '.join(found[:5])}{'; …' if len(found) > 5 else ''}" if found else "no JSON, JSONL or CSV"
        raise InputError(f"{folder} holds no {what}: found {told}.")
    corpus, recordings, aliases = map(tuple, roles.values())
    only = _only_format(folder, formats, corpus)
    return only, SetFiles(
        folder=next(iter(formats)).parent if len(formats) == 1 else folder,
        questions=tuple(formats),
        corpus=corpus,
        recording=recordings[0] if len(recordings) == 1 else None,
        aliases=next(iter(aliases), None),
    )


def _role(first: Values) -> str:
    """What the file of this first object is, beside questions; empty where it is of no use."""
    if first.keys() & _RECORDING:
        return "recorded extractions"
    if {"Q_id", "aliases"} <= first.keys():
        return "aliases"
    return "a corpus" if any(keys <= first.keys() for keys in _CORPUS) and "question" not in first else ""


def _candidates(folder: Path) -> tuple[list[Path], list[str]]:
    """The files below ``folder`` that may be of a data set, sorted, and what cannot be opened.

    What is hidden, or deep below, is left out.
    """
    found: list[Path] = []
    errors: list[OSError] = []
    for place, folders, names in os.walk(folder, onerror=errors.append):
        here = Path(place)
        deep = len(here.relative_to(folder).parts) >= _DEEPEST
        folders[:] = [] if deep else sorted(folder for folder in folders if not folder.startswith("."))
        for name in sorted(names):
            suffix = Path(name).suffix.lower()
            split = suffix in _SPLITS and name.lower().startswith("quality")
            if not name.startswith(".") and (suffix in _SUFFIXES or split):
                found.append(here / name)
        if len(found) > _MOST_FILES:
            raise InputError(f"{folder} holds more than {_MOST_FILES:,} files of data: name the data set's own folder.")
    return found, [f"{error.filename} cannot be opened: {(error.strerror or str(error)).lower()}" for error in errors]


def _only_format(folder: Path, formats: dict[Path, Format], corpus: Sequence[Path]) -> Format:
    """The one format of all files of questions. Raises ``InputError`` where they do not belong together."""
    files = {each: [file for file, format_ in formats.items() if format_ is each] for each in formats.values()}
    if len(files) > 1:
        told = "; ".join(f"{each.name}: {_named(folder, its)}" for each, its in files.items())
        raise InputError(
            f"{folder} holds questions of several data sets ({told}). Name one of them, or one of the files."
        )
    [(found, questions)] = files.items()
    if len(questions) > 1 and not found.several:
        raise InputError(
            f"{folder} holds several files of questions in the format {found.name}: {_named(folder, questions)}. "
            "Name the one that is meant."
        )
    if len(corpus) > 1 and not found.several:
        raise InputError(
            f"{folder} holds several corpora: {_named(folder, corpus)}. Leave only the one of these questions "
            "there, or name the file of the questions alone."
        )
    return found


def _named(folder: Path, files: Sequence[Path]) -> str:
    names = [str(file.relative_to(folder)) for file in files]
    return ", ".join(names[:8]) + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")


def _read_questions(found: Format, draft: Draft, limit: int | None) -> None:
    """Read all questions; only the first where the texts of others would be of no use."""
    read = found.begin(draft)
    for file in draft.sources.questions:
        for entry in entries(file):
            try:
                read(entry)
            except UnusableError as error:
                draft.skip(entry.where, str(error))
            if limit is not None and draft.apart and len(draft.questions) >= limit:
                return


def _corpus(draft: Draft) -> tuple[Text, ...]:
    """The corpus that lies beside the questions, each text once."""
    found: dict[Text, None] = {}
    for file in draft.sources.corpus:
        for entry in entries(file):
            try:
                found[_passage(entry.values)] = None
            except UnusableError as error:
                draft.fault(entry.where, f"{error}; this text is left out")
    return tuple(found)


def _passage(values: Values) -> Text:
    key = next((key for key in _TEXT_KEYS if key in values), "text")
    sections = " ".join(filter(None, map(values.title, _SECTIONS)))
    return Text(values.title("title") or values.title("corpus_name") or sections, values.wanted(key))


def _with_recording(dataset: DataSet, recording: Path | None) -> DataSet:
    """The recorded extraction that lies beside the questions, if it is of every text of the corpus."""
    if recording is None or dataset.apart:
        return dataset
    recorded = set()
    for entry in entries(recording):
        with suppress(UnusableError):  # it records no text of the corpus, then
            recorded.add(_passage(entry.values))
    lacking = sum(document not in recorded for document in dataset.corpus)
    if not lacking:
        return replace(dataset, recording=recording)
    fault = (
        f"{recording.name}: not used, for it records no extraction of {lacking:,} of the "
        f"{counted(len(dataset.corpus), 'text')}."
    )
    return replace(dataset, faults=(*dataset.faults, fault))
