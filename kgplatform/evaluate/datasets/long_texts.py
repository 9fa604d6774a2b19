"""Questions about one long text each: LongBench, LV-Eval and QuALITY, which are asked apart, and NarrativeQA, about
whole books and film scripts, from its tables or from objects with the text inside.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

from kgplatform.errors import DocumentError, InputError
from kgplatform.evaluate.datasets.draft import Draft, Format
from kgplatform.evaluate.datasets.entries import Entry, UnusableError, Values, as_text, entries, whole
from kgplatform.evaluate.terms import Question
from kgplatform.ingest.decode import decode
from kgplatform.ingest.formats import clean
from kgplatform.ingest.load import shown
from kgplatform.readers.choices import MOST_CHOICES
from kgplatform.text import counted

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


def plain(html: str) -> str:
    """The text of ``html``. White space is folded, but for the lines of ``pre``."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    text = "".join(parser.parts)
    return re.sub(r"\n{3,}", "\n\n", text if parser.has_pre else re.sub(r" *\n *", "\n", text)).strip()


def _of_page(text: str) -> str:
    """The text of a page of HTML; of a book in plain text, with a tag here and there, all of it."""
    return plain(text) if _PAGE.search(text[:_HEAD]) else text.strip()


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


def _is_longbench(values: Values) -> bool:
    return _has_context(values) and ("_id" in values or "all_classes" in values)


def _has_context(values: Values) -> bool:
    return {"input", "context", "answers"} <= values.keys()


def _read_context(draft: Draft, entry: Entry) -> None:
    """One question about its context, which it may share with others."""
    values = entry.values
    kind = values.text("dataset")
    identity = values.text("_id") or f"{kind or entry.file.stem} {entry.place}"
    text = values.text("input")
    if not text:
        raise UnusableError('its "input" is empty: this task is not a question')
    context, answers = values.wanted("context"), values.texts("answers")
    if context not in draft.known:
        draft.known[context] = draft.text(identity, context)
    classes = values.texts("all_classes") if values.get("all_classes") else ()
    keywords = values.texts("answer_keywords") if values.get("answer_keywords") else ()
    choices = classes if len(classes) <= MOST_CHOICES else ()  # of a classification task, where they are not too many
    question = Question(id=identity, text=text, answers=answers, keywords=keywords, choices=choices, kind=kind)
    draft.question(entry.where, question, [draft.known[context]])


LONGBENCH = Format(
    "longbench",
    "input, context, answers, _id, all_classes",
    _is_longbench,
    lambda draft: partial(_read_context, draft),
    several=True,
    apart=True,
)
LVEVAL = Format(
    "lveval",
    "input, context, answers, answer_keywords",
    lambda values: _has_context(values) and not _is_longbench(values),
    lambda draft: partial(_read_context, draft),
    several=True,
    apart=True,
)


def _read_article(draft: Draft, entry: Entry) -> None:
    """The questions of one writer about one article; a second writer's are in a line of their own."""
    values = entry.values
    article = values.wanted("article")
    if article not in draft.known:
        name = values.title("title") or values.title("article_id") or entry.where
        draft.known[article] = draft.text(name, plain(article) if _TAG.search(article) else article)
    written = values.text("set_unique_id") or entry.place
    for number, asked in enumerate(values.listed("questions"), 1):
        one = Entry(entry.file, f"{entry.place}, question {number}", asked)
        try:
            identity = one.values.text("question_unique_id") or f"{written}_{number}"
            draft.question(one.where, _from_options(draft, one, identity), [draft.known[article]])
        except UnusableError as error:
            draft.skip(one.where, str(error))


def _from_options(draft: Draft, entry: Entry, identity: str) -> Question:
    """Hard questions are those that most people got wrong who had little time."""
    values = entry.values
    options = tuple(as_text(option, "options") for option in values.listed("options"))
    if not options:
        raise UnusableError('there are no "options"')
    return Question(
        id=identity,
        text=values.wanted("question"),
        answers=(options[_label(draft, entry, len(options)) - 1],),
        choices=options,
        kind=("hard" if whole(values["difficult"], "difficult") else "easy") if "difficult" in values else "",
    )


def _label(draft: Draft, entry: Entry, most: int) -> int:
    """The number of the right option, from 1: the majority's, else, with a note, the writer's."""
    key = "gold_label" if "gold_label" in entry.value else "writer_label"
    if key not in entry.value:
        raise UnusableError('there is no "gold_label", as in the test split, whose answers are not published')
    label = whole(entry.value[key], key)
    if not 1 <= label <= most:
        raise UnusableError(f'"{key}" is {shown(str(label))}, and there are {most} options, counted from 1')
    if key == "writer_label":
        draft.fault(entry.file.name, 'where there is no "gold_label", the label of the question\'s writer is taken')
    return label


QUALITY = Format(
    "quality",
    "article, questions (question, options, gold_label)",
    lambda values: "article" in values and isinstance(values.get("questions"), list),
    lambda draft: partial(_read_article, draft),
    apart=True,
)

_STORIES = "tmp"
_SUMMARIES = ("third_party/wikipedia/summaries.csv", "summaries.csv")


def _is_row(values: Values) -> bool:
    return {"document_id", "question", "answer1"} <= values.keys()


class _Stories:
    """Reads rows and objects. ``_numbers``: of the texts, by document; None for one whose text is not there."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._folder = draft.sources.folder
        self._numbers: dict[str, int | None] = {}
        self._asked: Counter[str] = Counter()
        self._documents = dict(_table(self._folder / "documents.csv"))
        has_stories = any((self._folder / _STORIES).glob("*.content"))
        self._summaries = {} if has_stories else self._read_summaries()

    def read(self, entry: Entry) -> None:
        """One question with its document's text."""
        values = entry.values
        if _is_row(values):
            document = values.wanted("document_id")
            about = self._documents.get(document, Values())
            number = self._number(document, lambda: self._text_of(document, about.title("wiki_title")))
            text, answers = values.wanted("question"), [values.text("answer1"), values.text("answer2")]
            kind = f"{about.text('kind')}, {values.text('set')}"
        else:
            about = values.inner("document")
            document = about.wanted("id")
            number = self._number(document, lambda: self._inner_text(entry, document, about))
            answers = [answer.text("text") for answer in values.objects("answers")]
            text, kind = values.inner("question").wanted("text"), about.text("kind")
        self._asked[document] += 1
        if number is None:
            self._draft.skip(f"{entry.file.name}, document {shown(document)}", "its text is not there")
            return
        question = Question(
            id=f"{document[:12]}-{self._asked[document]}",
            text=text,
            answers=tuple(filter(None, dict.fromkeys(answers))),
            kind=kind.strip(", "),
        )
        self._draft.question(entry.where, question, [number])

    def _number(self, document: str, find: Callable[[], int | None]) -> int | None:
        if document not in self._numbers:
            self._numbers[document] = find()
        return self._numbers[document]

    def _text_of(self, document: str, title: str) -> int | None:
        story = self._folder / _STORIES / f"{document}.content"
        if document in self._summaries:
            return self._draft.later(title or document, self._summaries[document])
        return self._draft.later(title or document, partial(_story, story)) if story.is_file() else None

    def _inner_text(self, entry: Entry, document: str, about: Values) -> int | None:
        summary = about.inner("summary")
        title = summary.title("title") or document
        if text := about.text("text"):
            return self._draft.later(title, _of_page(text))
        if text := summary.text("text"):
            self._draft.fault(entry.file.name, "documents without a text are asked about by their summary")
            return self._draft.later(title, text)
        return None

    def _read_summaries(self) -> dict[str, str]:
        """The summaries by document, if they are there, with a note, for they are another and easier task."""
        file = next((each for name in _SUMMARIES if (each := self._folder / name).is_file()), None)
        if file is None:
            return {}
        found = {key: values.text("summary") for key, values in _table(file)}
        self._draft.fault(
            file.name,
            f"there are no stories ({_STORIES}/DOCUMENT.content, see its download_stories.sh), so that the questions "
            f"are asked about {counted(len(found), 'summary')}",
        )
        return found


def _table(file: Path) -> Iterator[tuple[str, Values]]:
    """The rows of a table by ``document_id``; none if there is no such file."""
    for entry in entries(file) if file.is_file() else ():
        if isinstance(entry.value, dict) and (key := entry.values.text("document_id")):
            yield key, entry.values


def _story(file: Path) -> str:
    """A story as it was downloaded, in whatever encoding: a book as text, a film script as a page."""
    try:
        return _of_page(clean(decode(file.name, file.read_bytes(), html=True)))
    except DocumentError as error:
        raise UnusableError(error.reason) from error
    except OSError as error:
        raise InputError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}.") from error


NARRATIVEQA = Format(
    "narrativeqa",
    "document_id, question, answer1, or document (id, text), question, answers",
    lambda values: _is_row(values) or all(isinstance(values.get(key), dict) for key in ("document", "question")),
    lambda draft: _Stories(draft).read,
    apart=True,
)
