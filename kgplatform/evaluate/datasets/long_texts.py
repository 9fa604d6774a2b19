"""Questions about one long text each: LongBench, LV-Eval and QuALITY, which are asked apart, and NarrativeQA, about
whole books and film scripts, from its tables or from objects with the text inside.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

from kgplatform.errors import DocumentError, InputError
from kgplatform.evaluate.datasets import fields
from kgplatform.evaluate.datasets.draft import Draft, Format, ReadEntry, Sources
from kgplatform.evaluate.datasets.entries import Entry, described, entries, shown
from kgplatform.evaluate.datasets.fields import UnusableError, Values
from kgplatform.evaluate.results import Question
from kgplatform.ingest.decode import decode
from kgplatform.ingest.formats import clean
from kgplatform.readers.choices import MOST
from kgplatform.text import counted

# ----------------------------------------------------------------------------------------------------- the text of HTML


_TAG = re.compile(
    r"</?(?:html|body|p|br|div|span|pre|table|tr|td|h[1-6]|i|b|em|strong|u|a|font|center|blockquote|ul|ol|li)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_BLOCKS = frozenset(
    ("p", "div", "pre", "table", "blockquote", "ul", "ol", "body", "center", "hr", "title")
    + ("h1", "h2", "h3", "h4", "h5", "h6")
)
_LINES = frozenset(("br", "tr", "li"))
_SILENT = frozenset(("script", "style"))
_PAGE = re.compile(r"<(?:!doctype\s+html|html|head|body|pre|table)[\s>]", re.IGNORECASE)
_HEAD = 1 << 14
_SPACE = re.compile(r"[^\S\n]+")


def is_marked_up(text: str) -> bool:
    """Whether tags of HTML stand in ``text``."""
    return _TAG.search(text) is not None


def is_page(text: str) -> bool:
    """Whether ``text`` begins as a page of HTML; a book in plain text, with a tag here and there, does not."""
    return _PAGE.search(text[:_HEAD]) is not None


def plain(html: str) -> str:
    """The text of ``html``. White space is folded, but for the lines of ``pre``."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    text = re.sub(r" *\n *", "\n", "".join(parser.parts)) if not parser.has_pre else "".join(parser.parts)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.has_pre = False
        self._pre = 0
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._separate(tag)
        self._silent += tag in _SILENT
        self._pre += tag == "pre"
        self.has_pre = self.has_pre or tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self._silent = max(0, self._silent - (tag in _SILENT))
        self._pre = max(0, self._pre - (tag == "pre"))
        if tag not in _LINES:
            self._separate(tag)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data if self._pre else _SPACE.sub(" ", data.replace("\n", " ")))

    def _separate(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n\n")
        elif tag in _LINES:
            self.parts.append("\n")


# ------------------------------------------------------------------------------------------ LongBench, LV-Eval, QuALITY


_CONTEXT = {"input", "context", "answers"}

# ------------------------------------------------------------------------------------ LongBench and LV-Eval


def _is_longbench(values: Values) -> bool:
    return values.keys() >= _CONTEXT and ("_id" in values or "all_classes" in values)


def _is_lveval(values: Values) -> bool:
    return values.keys() >= _CONTEXT and not _is_longbench(values)


def _begin_contexts(_: Sources, draft: Draft) -> ReadEntry:
    draft.apart = True
    return partial(_read_context, draft, {})


def _read_context(draft: Draft, numbers: dict[str, int], entry: Entry) -> None:
    """One question about its context. ``numbers``: of the contexts before, which some of them share."""
    values: Values = entry.value
    kind = fields.text(values, "dataset")
    identity = fields.text(values, "_id") or f"{kind or entry.file.stem} {entry.place}"
    text = fields.text(values, "input")
    if not text:
        raise UnusableError('its "input" is empty: this task is no question')
    context = fields.wanted(values, "context")
    answers = fields.texts(values, "answers")
    if context not in numbers:
        numbers[context] = draft.text(identity, context)
    draft.question(
        entry.where,
        Question(
            id=identity,
            text=text,
            answers=answers,
            keywords=_keywords(values),
            choices=_classes(values),
            kind=kind,
        ),
        [numbers[context]],
    )


def _classes(values: Values) -> tuple[str, ...]:
    """The categories of a classification task, where they are not too many to choose from."""
    found = fields.texts(values, "all_classes") if values.get("all_classes") else ()
    return found if len(found) <= MOST else ()


def _keywords(values: Values) -> tuple[str, ...]:
    return fields.texts(values, "answer_keywords") if values.get("answer_keywords") else ()


LONGBENCH = Format("longbench", "input, context, answers, _id, all_classes", _is_longbench, _begin_contexts, True)
LVEVAL = Format("lveval", "input, context, answers, answer_keywords", _is_lveval, _begin_contexts, True)

# ------------------------------------------------------------------------------------------------- QuALITY


def _is_quality(values: Values) -> bool:
    return "article" in values and isinstance(values.get("questions"), list)


def _begin_quality(_: Sources, draft: Draft) -> ReadEntry:
    draft.apart = True
    return partial(_read_article, draft, {})


def _read_article(draft: Draft, numbers: dict[str, int], entry: Entry) -> None:
    """The questions of one writer about one article; a second writer's stand in a line of their own."""
    values: Values = entry.value
    article = fields.wanted(values, "article")
    if article not in numbers:
        text = plain(article) if is_marked_up(article) else article
        name = fields.title(values, "title") or fields.title(values, "article_id") or entry.where
        numbers[article] = draft.text(name, text)
    written = fields.text(values, "set_unique_id") or entry.place
    for number, asked in enumerate(fields.listed(values, "questions"), 1):
        where = f"{entry.where}, question {number}"
        try:
            if not isinstance(asked, dict):
                raise UnusableError(f"found {described(asked)}, expected an object")
            identity = fields.text(asked, "question_unique_id") or f"{written}_{number}"
            draft.question(where, _chosen_from(draft, entry, identity, asked), [numbers[article]])
        except UnusableError as error:
            draft.skip(where, str(error))


def _chosen_from(draft: Draft, entry: Entry, identity: str, values: Values) -> Question:
    options = tuple(fields.as_text(each, "options") for each in fields.listed(values, "options"))
    if not options:
        raise UnusableError('there are no "options"')
    return Question(
        id=identity,
        text=fields.wanted(values, "question"),
        answers=(options[_label(draft, entry, values, len(options)) - 1],),
        choices=options,
        kind=_difficulty(values),
    )


def _difficulty(values: Values) -> str:
    """Hard are those that most people got wrong who had little time."""
    if "difficult" not in values:
        return ""
    return "hard" if fields.whole(values["difficult"], "difficult") else "easy"


def _label(draft: Draft, entry: Entry, values: Values, most: int) -> int:
    """The number of the right option, from 1: the majority's, else, which is told, the writer's."""
    key = "gold_label" if "gold_label" in values else "writer_label"
    if key not in values:
        raise UnusableError('there is no "gold_label", as in the test split, whose answers are not published')
    label = fields.whole(values[key], key)
    if not 1 <= label <= most:
        raise UnusableError(f'"{key}" is {shown(label)}, and there are {most} options, counted from 1')
    if key == "writer_label":
        draft.fault(entry.file.name, 'where there is no "gold_label", the label of the question\'s writer is taken')
    return label


QUALITY = Format("quality", "article, questions (question, options, gold_label)", _is_quality, _begin_quality)


# ---------------------------------------------------------------------------------------------------------- NarrativeQA


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
