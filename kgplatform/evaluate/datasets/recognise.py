"""Which format a file is in, and which files of a folder belong to a data set: told from what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets.entries import described, entries, shown, some
from kgplatform.evaluate.datasets.fields import Values
from kgplatform.evaluate.datasets.format import Format, Sources
from kgplatform.evaluate.datasets.graphrag_bench import GRAPHRAG_BENCH
from kgplatform.evaluate.datasets.long_texts import LONGBENCH, LVEVAL, QUALITY
from kgplatform.evaluate.datasets.narrativeqa import NARRATIVEQA
from kgplatform.evaluate.datasets.own import OWN
from kgplatform.evaluate.datasets.passages import HOTPOTQA, MUSIQUE, TWO_WIKI
from kgplatform.text import did_you_mean

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
