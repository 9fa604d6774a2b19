"""Questions about one long text each, which are asked apart: LongBench and LongBench v2, LV-Eval, InfiniteBench and
Needle-in-a-Haystack PLUS, with the text inside; QuALITY, about articles; and NarrativeQA, about whole books and film
scripts, from its tables or from objects.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from kgplatform.errors import DocumentError, InputError
from kgplatform.evaluate.datasets.draft import Draft, Format
from kgplatform.evaluate.datasets.entries import Entry, UnusableError, Values, as_text, entries, whole
from kgplatform.evaluate.needles.heat_map import KINDS, cell_name
from kgplatform.evaluate.terms import Question
from kgplatform.readers.choices import MOST_CHOICES
from kgplatform.sources.corpus_file import described, shown
from kgplatform.sources.decode import decode
from kgplatform.sources.files.file_text import clean
from kgplatform.sources.html_text import visible_text
from kgplatform.text import counted

_TAG = re.compile(
    r"</?(?:html|body|p|br|div|span|pre|table|tr|td|h[1-6]|i|b|em|strong|u|a|font|center|blockquote|ul|ol|li)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_PAGE = re.compile(r"<(?:!doctype\s+html|html|head|body|pre|table)[\s>]", re.IGNORECASE)
_HEAD = 1 << 14
_SCRIPT = re.compile(r"<pre.*?(?:</pre>|\Z)", re.IGNORECASE | re.DOTALL)


def plain(html: str) -> str:
    """The text of ``html``, with the lines of ``pre``, as film scripts have them."""
    return visible_text(_SCRIPT.sub(lambda script: script[0].replace("\n", "<br>"), html).encode())


def _of_page(text: str) -> str:
    """The text of a page of HTML; of a book in plain text, with a tag here and there, all of it."""
    return plain(text) if _PAGE.search(text[:_HEAD]) else text.strip()


_Read = Callable[[Draft, Entry], None]


def _has(*keys: str) -> Callable[[Values], bool]:
    return lambda values: values.keys() >= set(keys)


_is_context = _has("input", "context", "answers")


def _is_plus(values: Values) -> bool:
    return _is_context(values) and "depth_percent" in values


def _is_longbench(values: Values) -> bool:
    return _is_context(values) and ("_id" in values or "all_classes" in values) and not _is_plus(values)


def _is_lveval(values: Values) -> bool:
    return _is_context(values) and not (_is_longbench(values) or _is_plus(values))


def _read_context(draft: Draft, entry: Entry) -> None:
    """One question about its context, which it may share with others."""
    values = entry.values
    task = values.text("dataset") or (entry.file.stem if "options" in values else "")
    kind = _cell(values) if _is_plus(values) else task
    own = values.text("_id") or (values.text("id") if _is_plus(values) else "")
    identity = own or f"{kind or entry.file.stem} {values.text('id') or entry.place}"
    text = values.text("input")
    if not text:
        raise UnusableError('its "input" is empty: this task is not a question')
    listed = values.texts(*(key for key in ("all_classes", "options") if values.get(key)))
    question = Question(
        id=identity,
        text=text,
        answers=values.texts("answers", "answer"),
        keywords=values.texts("answer_keywords") if values.get("answer_keywords") else (),
        choices=listed if len(listed) <= MOST_CHOICES else (),  # of a classification task, where they are not too many
        kind=kind,
    )
    draft.question(entry.where, question, [_shared(draft, identity, values)])


def _shared(draft: Draft, title: str, values: Values) -> int:
    """The number of the context, which is a text of the corpus once; it is called after its first question."""
    context = values.wanted("context")
    if context not in draft.known:
        draft.known[context] = draft.text(title, context)
    return draft.known[context]


def _cell(values: Values) -> str:
    """Where the needles stand, as a map over length and depth has it."""
    told = values.get("depth_percent")
    depths = tuple(float(each) / 100 for each in _NUMBER.findall(json.dumps(told)))
    if not depths:
        raise UnusableError(f'"depth_percent" is {described(told)}, expected numbers from 0 to 100')
    length = whole(values.get("context_length"), "context_length")
    kind = values.text("dataset").removeprefix("needle_")  # theirs are needle_squad and needle_hotpotqa
    known = kind if kind in KINDS else "single" if len(depths) == 1 else "multi"
    return cell_name(known, length, depths[0] if len(depths) == 1 else depths)


_NUMBER = re.compile(r"\d+(?:\.\d+)?")


_LETTERS = tuple(f"choice_{letter}" for letter in "ABCD")


def _read_longbench_v2(draft: Draft, entry: Entry) -> None:
    """One question with four choices. Its kind is what the paper's tables have: how hard, and how long the text."""
    values = entry.values
    identity = values.text("_id") or entry.place
    question = Question(
        id=identity,
        text=values.wanted("question"),
        answers=(values.wanted("answer"),),
        choices=tuple(map(values.wanted, _LETTERS)),
        kind=", ".join(filter(None, (values.text("difficulty"), values.text("length")))),
    )
    draft.question(entry.where, question, [_shared(draft, identity, values)])


def _of_contexts(name: str, expects: str, fits: Callable[[Values], bool], read: _Read = _read_context) -> Format:
    return Format(name, expects, fits, lambda draft: partial(read, draft), several=True, apart=True)


LONGBENCH = _of_contexts("longbench", "input, context, answers, _id, all_classes", _is_longbench)
LONGBENCH_V2 = _of_contexts(
    "longbench-v2",
    "question, choice_A to choice_D, answer, context",
    _has("question", "context", "answer", *_LETTERS),
    _read_longbench_v2,
)
LVEVAL = _of_contexts("lveval", "input, context, answers, answer_keywords", _is_lveval)
NIAH_PLUS = _of_contexts("niah-plus", "input, context, answers, context_length, depth_percent", _is_plus)
INFINITEBENCH = _of_contexts(
    "infinitebench",
    "input, context, answer, options",
    _has("input", "context", "answer", "options"),
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
