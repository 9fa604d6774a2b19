"""From files to a data set: the corpus first, then the questions one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets import fields
from kgplatform.evaluate.datasets.draft import Draft
from kgplatform.evaluate.datasets.entries import Entry, described, entries
from kgplatform.evaluate.datasets.fields import UnusableError, Values
from kgplatform.evaluate.datasets.format import ReadEntry, Sources
from kgplatform.evaluate.datasets.recognise import FORMATS, recognise
from kgplatform.evaluate.question import DataSet, Text
from kgplatform.text import counted

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
