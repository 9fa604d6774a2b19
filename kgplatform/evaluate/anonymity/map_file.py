"""The map: what every placeholder stands for, and what takes each file back to the letter. It is kept apart, always.

Whoever has the map can undo the anonymity; it lies beside the anonymised folder, never in it, readable by its owner.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from kgplatform.errors import InputError, KgError

FORMAT = "kgplatform anonymity map"
VERSION = 1


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
    encoding: str
    original_sha256: str
    sha256: str
    converted: bool = False
    edits: tuple[tuple[int, int, str], ...]


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
        return {each.placeholder: each.name for each in self.entities}


def read_map(path: Path) -> Map:
    """The map in ``path``. Raises ``InputError`` for a file that is none."""
    try:
        content: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"The map {path} cannot be read: {(error.strerror or 'unknown error').lower()}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no map: it is not valid JSON. Name the file that `anonymise` wrote.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{path} is no map of `kgplatform anonymise`. Name the file that it wrote.")
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


@dataclass(frozen=True, slots=True)
class Output:
    """A file to be written. ``private``: readable by its owner alone."""

    path: Path
    data: bytes
    private: bool = False


def write_new(output: Output) -> None:
    """Write a file that must not be there yet, whole or not at all. Raises ``KgError``."""
    part = output.path.with_name(f".{output.path.name}.part")
    try:
        output.path.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if output.private else 0o666
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as stream:
            stream.write(output.data)
        part.replace(output.path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise unwritable(output.path, error) from error


def unwritable(path: Path, error: OSError) -> KgError:
    """The sentence for a file that cannot be written."""
    reason = (error.strerror or "unknown error").lower()
    return KgError(f"{path} cannot be written: {reason}. The texts themselves are as they were.")
