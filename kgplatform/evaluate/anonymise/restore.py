"""The inverse: an anonymised folder and its map give the texts back, to the letter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kgplatform.errors import InputError
from kgplatform.evaluate.anonymise.hide import (
    FORMAT,
    TEXTS,
    VERSION,
    Map,
    MappedText,
    as_lines,
    beside,
    check_apart,
    read_texts,
    sha256,
    write_all,
)
from kgplatform.evaluate.anonymise.mentions import PLACEHOLDER, with_edits
from kgplatform.evaluate.journal import read_bytes, read_text


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
        raise InputError(f"No text of {folder} is what the map {map_path} says. It is the map of another folder.")
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
