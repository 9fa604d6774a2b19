"""NarrativeQA: questions about whole books and film scripts, from its tables or from objects with the text inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kgplatform.build.content import decode
from kgplatform.build.formats import clean
from kgplatform.errors import DocumentError, InputError
from kgplatform.evaluate.datasets import fields
from kgplatform.evaluate.datasets.draft import Draft
from kgplatform.evaluate.datasets.entries import Entry, entries, shown
from kgplatform.evaluate.datasets.fields import UnusableError, Values
from kgplatform.evaluate.datasets.format import Format, ReadEntry, Sources
from kgplatform.evaluate.datasets.markup import is_page, plain
from kgplatform.evaluate.question import Question
from kgplatform.text import counted

_STORIES = "tmp"
_SUMMARIES = ("third_party/wikipedia/summaries.csv", "summaries.csv")
_SHOWN_OF_ID = 12


def _is_narrativeqa(values: Values) -> bool:
    return _is_row(values) or (isinstance(values.get("document"), dict) and isinstance(values.get("question"), dict))


def _is_row(values: Values) -> bool:
    return {"document_id", "question", "answer1"} <= values.keys()


def _begin(sources: Sources, draft: Draft) -> ReadEntry:
    draft.apart = True
    reader = _Reader(sources, draft)
    return reader.read


class _Reader:
    """Reads rows and objects. ``_numbers``: of the texts, by document; None for one whose text is not there."""

    def __init__(self, sources: Sources, draft: Draft) -> None:
        self._draft = draft
        self._folder = sources.folder
        self._numbers: dict[str, int | None] = {}
        self._asked: Counter[str] = Counter()
        self._documents = dict(_table(sources.folder / "documents.csv"))
        has_stories = any((sources.folder / _STORIES).glob("*.content"))
        self._summaries = {} if has_stories else self._read_summaries()

    def read(self, entry: Entry) -> None:
        """One question with its document's text."""
        (self._row if _is_row(entry.value) else self._object)(entry)

    def _row(self, entry: Entry) -> None:
        values: Values = entry.value
        document = fields.wanted(values, "document_id")
        described = self._documents.get(document, {})
        if document not in self._numbers:
            self._numbers[document] = self._text_of(document, fields.title(described, "wiki_title"))
        kind = [fields.text(described, "kind"), fields.text(values, "set")]
        answers = (fields.text(values, "answer1"), fields.text(values, "answer2"))
        self._add(entry, document, fields.wanted(values, "question"), answers, kind)

    def _object(self, entry: Entry) -> None:
        values: Values = entry.value
        about: Values = values["document"]
        document = fields.wanted(about, "id")
        if document not in self._numbers:
            self._numbers[document] = self._inner_text(entry, document, about)
        answers = tuple(fields.text(each, "text") for each in fields.objects(values, "answers"))
        kind = [fields.text(about, "kind")]
        self._add(entry, document, fields.wanted(values["question"], "text"), answers, kind)

    def _add(self, entry: Entry, document: str, text: str, answers: tuple[str, ...], kind: list[str]) -> None:
        self._asked[document] += 1
        number = self._numbers[document]
        if number is None:
            self._draft.skip(f"{entry.file.name}, document {shown(document)}", "its text is not there")
            return
        question = Question(
            id=f"{document[:_SHOWN_OF_ID]}-{self._asked[document]}",
            text=text,
            answers=tuple(filter(None, dict.fromkeys(answers))),
            kind=", ".join(filter(None, kind)),
        )
        self._draft.question(entry.where, question, [number])

    def _text_of(self, document: str, title: str) -> int | None:
        story = self._folder / _STORIES / f"{document}.content"
        if document in self._summaries:
            return self._draft.later(title or document, self._summaries[document])
        if not story.is_file():
            return None
        return self._draft.later(title or document, lambda: _story(story))

    def _inner_text(self, entry: Entry, document: str, about: Values) -> int | None:
        summary = about.get("summary")
        told: Values = summary if isinstance(summary, dict) else {}
        title = fields.title(told, "title") or document
        if text := fields.text(about, "text"):
            return self._draft.later(title, plain(text) if is_page(text) else text)
        if text := fields.text(told, "text"):
            self._draft.fault(entry.file.name, "documents without a text are asked about by their summary")
            return self._draft.later(title, text)
        return None

    def _read_summaries(self) -> dict[str, str]:
        """The summaries by document, if they are there: told, for they are another and easier task."""
        file = next((each for name in _SUMMARIES if (each := self._folder / name).is_file()), None)
        if file is None:
            return {}
        found = {key: fields.text(values, "summary") for key, values in _table(file)}
        self._draft.fault(
            file.name,
            f"there are no stories ({_STORIES}/DOCUMENT.content, see its download_stories.sh), so that the questions "
            f"are asked about {counted(len(found), 'summary').replace('summarys', 'summaries')}",
        )
        return found


def _table(file: Path) -> Iterator[tuple[str, Values]]:
    """The rows of a table by ``document_id``; none if there is no such file."""
    for entry in entries(file) if file.is_file() else ():
        if isinstance(entry.value, dict) and (key := fields.text(entry.value, "document_id")):
            yield key, entry.value


def _story(file: Path) -> str:
    """A story as it was downloaded, in whatever encoding: a book as text, a film script as a page."""
    try:
        text = clean(decode(file.name, file.read_bytes(), html=True))
    except DocumentError as error:
        raise UnusableError(error.reason) from error
    except OSError as error:
        raise InputError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    return plain(text) if is_page(text) else text.strip()


NARRATIVEQA = Format(
    "narrativeqa", "document_id, question, answer1, or document (id, text), question, answers", _is_narrativeqa, _begin
)
