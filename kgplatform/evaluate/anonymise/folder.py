"""The files of a folder as texts that can be written back to the letter, and the map that holds what each was.

What ``ingest`` reads is read, and what it leaves out is left out. Text keeps its byte order mark and its line ends; of
another encoding it is written in UTF-8. JSON keeps its structure: strings are changed where they stand, keys never are.
Of formats that are no plain text (PDF, DOCX, HTML) the text is taken, as ``ingest`` reads it.

Whoever has the map can undo the anonymity; it lies beside the anonymised folder, never in it, readable by its owner.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from kgplatform.errors import InputError, KgError
from kgplatform.evaluate.anonymise.mentions import Edit
from kgplatform.evaluate.journal import read_bytes, write_whole
from kgplatform.ingest.decode import HEAD_BYTES, decode, is_html, is_pdf, is_zip
from kgplatform.ingest.load import find_files, load
from kgplatform.records import Document, SkippedFile

JSON_FILES = (".json", ".jsonl", ".ndjson")
_HTML = (".html", ".htm", ".xhtml")
_BOM = "\ufeff"
_LITERAL = re.compile(r'("(?:[^"\\\x00-\x1f]|\\.)*")(\s*:)?')

FileKind = Literal["text", "json", "foreign", "recoded"]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to be anonymised. ``name``: its path below the folder, with ``/``; ``text``: with its byte order mark.

    ``kind``: of "json" strings alone are changed; of "foreign" formats the text is taken, and written as ``.txt``;
    "recoded" is text in another encoding than UTF-8, in which it is written. ``documents``: as ``ingest`` has it.
    """

    name: str
    text: str
    kind: FileKind
    sha256: str
    documents: tuple[Document, ...]


def read_folder(folder: Path) -> tuple[list[SourceFile], list[SkippedFile]]:
    """The files of ``folder`` by name, and what is left out of them, and why. Raises ``InputError``."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder. Name the folder that holds the texts.")
    root = folder.absolute() if ".." not in folder.parts else folder.resolve()
    documents: dict[str, list[Document]] = defaultdict(list)
    skipped: list[SkippedFile] = []
    for loaded in load([root]):
        if isinstance(loaded, Document):
            documents[loaded.source].append(loaded)
        else:
            skipped.append(loaded)
    files = [
        _source(root, path, tuple(documents[path.as_uri()])) for path in find_files([root]) if documents[path.as_uri()]
    ]
    return sorted(files, key=lambda file: file.name), skipped


def _source(root: Path, path: Path, documents: tuple[Document, ...]) -> SourceFile:
    name = path.relative_to(root).as_posix()
    data = read_bytes(path)
    suffix, head = path.suffix.lower(), data[:HEAD_BYTES]
    foreign = is_pdf(head, suffix) or is_zip(head)
    if foreign or (suffix not in JSON_FILES and (suffix in _HTML or is_html(head))):
        text = "\n\n".join(document.text for document in documents)
        return SourceFile(name, text, "foreign", sha256(text.encode()), documents)
    text, is_exact = read_exactly(str(path), data)
    kind: FileKind = "recoded" if not is_exact else "json" if suffix in JSON_FILES else "text"
    return SourceFile(name, text, kind, sha256(text.encode()), documents)


def read_exactly(path: str, data: bytes) -> tuple[str, bool]:
    """The text of ``data``, and whether it gives these very bytes in UTF-8, their mark included.

    Raises ``DocumentError`` for what is no text.
    """
    text = decode(path, data)
    with suppress(UnicodeDecodeError):
        if (exact := data.decode()).removeprefix(_BOM) == text.removeprefix(_BOM):
            return exact, True
    return text, False


def sha256(data: bytes) -> str:
    """The digest of ``data``, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


Change = Callable[[str, str], str]
"""A string of a JSON text, changed; the second argument is the key under which it stands, "" where there is none."""


def json_edits(text: str, change: Change, plain: Callable[[str], Sequence[Edit]]) -> tuple[list[Edit], list[int]]:
    """The edits of JSON, or of JSON lines, and the numbers of lines that are no JSON; those are edited as plain text.

    A literal that changes is replaced as a whole, in the spelling that it had: escaped where it was ASCII.
    """
    if _is_json(text.removeprefix(_BOM)):
        return list(_literal_edits(text, 0, len(text), change)), []
    edits: list[Edit] = []
    broken: list[int] = []
    at = 0
    for number, line in enumerate(text.split("\n"), start=1):  # other line ends may be in strings
        if not line.strip().removeprefix(_BOM) or _is_json(line.removeprefix(_BOM)):
            edits += _literal_edits(text, at, at + len(line), change)
        else:
            broken.append(number)
            edits += [(at + start, at + end, new) for start, end, new in plain(line)]
        at += len(line) + 1
    return edits, broken


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _literal_edits(text: str, start: int, end: int, change: Change) -> Iterator[Edit]:
    key = ""
    for found in _LITERAL.finditer(text, start, end):
        value = json.loads(found[1])
        if found[2]:
            key = value
        elif (new := change(value, key)) != value:
            yield found.start(1), found.end(1), json.dumps(new, ensure_ascii=found[1].isascii())


def json_keys(text: str) -> list[str]:
    """The keys of all objects of a JSON text, or of JSON lines, each once; those of broken lines as far as they go."""
    written = (found[1] for found in _LITERAL.finditer(text) if found[2])
    return list(dict.fromkeys(json.loads(each) for each in written if _is_json(each)))


def inverse(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """The edits that take the edited text back to ``text``."""
    back: list[Edit] = []
    shift = 0
    for start, end, new in edits:
        back.append((start + shift, start + shift + len(new), text[start:end]))
        shift += len(new) - (end - start)
    return back


_KEPT = "The texts themselves are as they were"
FORMAT = "kgplatform anonymity map"
VERSION = 2


class _Strict(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=False, frozen=True)


class MappedEntity(_Strict):
    """A placeholder: its name, all forms of it, who it may be where that is not sure, and how often it was put."""

    placeholder: str
    name: str
    forms: tuple[str, ...]
    may_be: tuple[str, ...] = ()
    count: int = 0


class MappedFile(_Strict):
    """A file. ``original`` and ``name``: its path before and after; the digests are those of the bytes before and
    after. ``edits``: from and to which character of the anonymised text something else stood before, and what.
    ``converted``: the digest before is that of the text that was taken from the file, in UTF-8.
    """

    original: str
    name: str
    original_sha256: str
    sha256: str
    converted: bool = False
    edits: tuple[Edit, ...]


class Map(_Strict):
    """All of it. ``questions``: the file of questions that was anonymised together with the folder."""

    format: str
    version: int
    seed: int
    labels: tuple[str, ...]
    entities: tuple[MappedEntity, ...]
    files: tuple[MappedFile, ...]
    questions: MappedFile | None = None

    def names(self) -> Mapping[str, str]:
        """The name of each placeholder."""
        return {entity.placeholder: entity.name for entity in self.entities}


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


def map_text(content: Map) -> str:
    """The map as it is written."""
    return json.dumps(content.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"


def beside(out: Path, ending: str) -> Path:
    """A file next to the folder ``out``, with its name."""
    return out.absolute().with_name(f"{out.absolute().name}.{ending}")


def check_apart(folder: Path, out: Path) -> None:
    """Raise ``InputError`` where one of two folders lies in the other, or something is in the way of ``out``."""
    source, target = folder.resolve(), out.resolve()
    if target == source or source in target.parents or target in source.parents:
        raise InputError(f"{out} lies in {folder}, or the other way round. Choose a folder apart.")
    if (out.exists() or out.is_symlink()) and not (out.is_dir() and not any(out.iterdir())):
        raise InputError(
            f"{out} exists already and is not empty. Choose another out=FOLDER, or remove it first.", "out"
        )


@dataclass(frozen=True, slots=True)
class Output:
    """A file to be written. ``private``: readable by its owner alone."""

    path: Path
    data: bytes
    private: bool = False


def write_folder(out: Path, files: Sequence[tuple[str, bytes]], others: Sequence[Output]) -> None:
    """Write a new folder with ``files``, and ``others`` outside: all of it or nothing. Raises ``KgError``."""
    out = out.absolute()
    written: list[Path] = []
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        part.mkdir(parents=True)
        inside = [Output(part / name, data) for name, data in files]
        for output in (*inside, *others):
            write_whole(output.path, output.data, mode=0o600 if output.private else 0o644, kept=_KEPT)
            written.append(output.path)
        if out.is_dir():
            out.rmdir()
        part.replace(out)
    except BaseException as error:  # whatever it is, nothing is left half done
        for path in written:
            path.unlink(missing_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        if isinstance(error, OSError):
            raise KgError(f"{out} cannot be written: {error.strerror or error}. {_KEPT}.") from error
        raise
