"""Questions that are each about one long text: LongBench, LV-Eval and QuALITY. They are asked apart."""

from __future__ import annotations

from functools import partial

from kgplatform.evaluate.datasets import fields
from kgplatform.evaluate.datasets.draft import Draft
from kgplatform.evaluate.datasets.entries import Entry, described, shown
from kgplatform.evaluate.datasets.fields import UnusableError, Values
from kgplatform.evaluate.datasets.format import Format, ReadEntry, Sources
from kgplatform.evaluate.datasets.markup import is_marked_up, plain
from kgplatform.evaluate.question import Question
from kgplatform.readers.choices import MOST

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
