"""The inverse: an anonymised folder and its map give the texts back, to the letter."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kgplatform.errors import DocumentError, InputError
from kgplatform.evaluate.anonymise.folder import (
    JSON_FILES,
    Map,
    MappedFile,
    Output,
    beside,
    check_apart,
    read_exactly,
    read_map,
    sha256,
    write_folder,
)
from kgplatform.evaluate.anonymise.hide import name_apart
from kgplatform.evaluate.anonymise.mentions import PLACEHOLDER, with_edits
from kgplatform.evaluate.journal import read_bytes
from kgplatform.ingest.load import find_files

_NO_PATH = re.compile(r"[/\\\x00-\x1f]+")


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """``exact``: files that are to the letter what they were (their digest says so); ``by_name``: files that were
    changed since, or that the map does not know: each placeholder became the entity's name."""

    out: Path
    exact: int
    by_name: tuple[str, ...]
    missing: tuple[str, ...]
    questions: Path | None
    notes: tuple[str, ...]


def restore(folder: Path, map_path: Path, out: Path, questions: Path | None = None) -> RestoreReport:
    """Write the texts of an anonymised ``folder`` with their names to ``out``, and ``questions`` beside it.

    Raises ``InputError`` for a map of another folder and for places that cannot be used.
    """
    content = read_map(map_path)
    _check(folder, out, content, map_path)
    there = {path.relative_to(folder.absolute()).as_posix(): path for path in find_files([folder.absolute()])}
    known = {file.name: file for file in content.files}
    data = {name: read_bytes(path) for name, path in sorted(there.items())}
    exact = {name for name, each in known.items() if name in data and sha256(data[name]) == each.sha256}
    telling = {name for name, each in known.items() if each.edits} or set(known)
    if not exact & telling:  # a text without names is the same under every map
        raise InputError(f"No file of {folder} is what the map {map_path} says. It is the map of another folder.")
    names, notes = content.names(), []
    targets = _targets(data, known, exact, names)
    by_name = sorted(data.keys() - exact)
    restored = [(targets[name], _exactly(known[name], data[name])) for name in sorted(exact)]
    for name in by_name:
        text = _by_name(there[name], data[name], names)
        if text is None:
            notes.append(f"{name}: not text; left out")
        else:
            restored.append((targets[name], text))
    notes += [
        f"{_original(file)}: the text of {file.original}, which was not copied"
        for file in content.files
        if file.converted and file.name in exact
    ]
    others: list[Output] = []
    if questions is not None:
        output, said = _questions(questions, content, out)
        others.append(output)
        notes += said
    write_folder(out, restored, others)
    missing = tuple(sorted(name for name in known if name not in data))
    return RestoreReport(out, len(exact), tuple(by_name), missing, others[0].path if others else None, tuple(notes))


def _targets(
    found: Iterable[str], known: Mapping[str, MappedFile], exact: Collection[str], names: Mapping[str, str]
) -> dict[str, str]:
    """The path of each file in the restored folder; a file that was not there before gives way to those that were."""
    in_paths = {each: _NO_PATH.sub(" ", name) for each, name in names.items()}
    targets: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(found, key=lambda name: (name not in exact, name not in known, name)):
        wanted = _original(known[name]) if name in known else _with_names(name, in_paths, is_json=False)
        path = PurePosixPath(wanted)
        parent = "" if path.parent == PurePosixPath() else str(path.parent)
        targets[name] = name_apart(parent, path.stem, path.suffix, taken)
    return targets


def _check(folder: Path, out: Path, content: Map, map_path: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder. Name the folder that `anonymise` wrote.")
    check_apart(folder, out)
    for file in content.files:
        for name in (file.original, file.name):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise InputError(f"The map {map_path} is damaged: {name!r} is not a path inside a folder.")


def _original(entry: MappedFile) -> str:
    """The file's path as it was; of another format the text is written, under the name that says so."""
    same = PurePosixPath(entry.original).suffix == PurePosixPath(entry.name).suffix
    return entry.original if same or not entry.converted else f"{entry.original}.txt"


def _exactly(entry: MappedFile, data: bytes) -> bytes:
    """The bytes before. Raises ``InputError`` where the map's own digest says that they are others."""
    restored = with_edits(data.decode(), entry.edits).encode()
    if sha256(restored) != entry.original_sha256:
        raise InputError(f"The map is damaged: it does not restore {entry.name}. Use an undamaged copy.")
    return restored


def _by_name(path: Path, data: bytes, names: Mapping[str, str]) -> bytes | None:
    """The text with the name of each placeholder; None for what is no text."""
    try:
        text, _ = read_exactly(str(path), data)
    except DocumentError:
        return None
    return _with_names(text, names, is_json=path.suffix.lower() in JSON_FILES).encode()


def _with_names(text: str, names: Mapping[str, str], *, is_json: bool) -> str:
    shown = {each: json.dumps(name, ensure_ascii=False)[1:-1] if is_json else name for each, name in names.items()}
    return PLACEHOLDER.sub(lambda found: shown.get(found[0], found[0]), text)


def _questions(path: Path, content: Map, out: Path) -> tuple[Output, list[str]]:
    target = beside(out, "questions.jsonl")
    if target.exists():
        raise InputError(f"{target} exists already. Move it, or choose another out=FOLDER.", "out")
    data, entry = read_bytes(path), content.questions
    if entry is not None and sha256(data) == entry.sha256:
        return Output(target, _exactly(entry, data)), []
    text = _by_name(Path("questions.jsonl"), data, content.names())
    if text is None:
        raise InputError(f"The questions {path} are not text.")
    note = f"{path.name}: changed since, or not anonymised with this map; restored by the names of the map"
    return Output(target, text), [note]
