"""One's own questions: JSON lines with the names of this page. docs/data-sets.md has them with examples."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from kgplatform.evaluate.datasets import fields
from kgplatform.evaluate.datasets.draft import Draft, Format, ReadEntry, Sources, write_lines
from kgplatform.evaluate.datasets.entries import Entry, described, shown
from kgplatform.evaluate.datasets.fields import UnusableError, Values
from kgplatform.evaluate.results import Question, Text
from kgplatform.text import counted, tidy

KEYS = (
    *("id", "question", "answer", "answers", "answerable", "keywords", "choices", "documents", "passages", "facts"),
    *("parts", "within", "kind", "hops", "placeholders"),
)
"""What an object may hold; only ``question`` is demanded of every one."""

_NEEDED = ("question", "answer", "answers")
"""Of these it is told if nothing stands there; of the others an empty cell of a table, or null, is no key."""

_RESULTS = ({"key", "setup"}, {"rater"}, {"reader", "trace"})
"""By these keys an answer, a rating or a trace is known, which may lie in the same folder and tell their question."""


def _fits(values: Values) -> bool:
    return isinstance(values.get("question"), str) and not any(keys <= values.keys() for keys in _RESULTS)


def _begin(_: Sources, draft: Draft) -> ReadEntry:
    return partial(_read, draft)


def _read(draft: Draft, entry: Entry) -> None:
    values: Values = {key: value for key, value in entry.value.items() if value not in ("", None) or key in _NEEDED}
    for key in entry.value:
        if key not in KEYS:
            draft.fault(entry.file.name, f"the key {shown(key)} is not known and not used")
    answerable = fields.yes_or_no(values, "answerable", True)
    answers = tuple(dict.fromkeys((*fields.texts(values, "answer"), *fields.texts(values, "answers"))))
    if answers and not answerable:
        draft.fault(entry.where, '"answerable" is false, so that its answer is not used')
    draft.question(
        entry.where,
        Question(
            id=tidy(fields.text(values, "id")) or entry.place,
            text=fields.wanted(values, "question"),
            answers=answers if answerable else (),
            keywords=fields.texts(values, "keywords"),
            choices=tuple(fields.as_text(each, "choices") for each in fields.listed(values, "choices")),
            supports=_supports(values),
            facts=fields.texts(values, "facts"),
            parts=fields.texts(values, "parts"),
            within=tuple(map(tidy, fields.texts(values, "within"))),
            kind=_kind(values),
            answerable=answerable,
            placeholders=_placeholders(values),
        ),
    )


def _supports(values: Values) -> tuple[Text, ...]:
    named = [Text(tidy(each)) for each in fields.texts(values, "documents")]
    passages = [Text(_title(each), fields.text(each, "text")) for each in fields.objects(values, "passages")]
    return tuple(dict.fromkeys((*named, *passages)))


def _title(passage: Values) -> str:
    return tidy(fields.wanted(passage, "title"))


def _kind(values: Values) -> str:
    if "kind" in values or "hops" not in values:
        return tidy(fields.text(values, "kind"))
    return counted(fields.whole(values["hops"], "hops"), "hop")


def _placeholders(values: Values) -> dict[str, tuple[str, ...]]:
    found = values.get("placeholders", {})
    if not isinstance(found, dict):
        raise UnusableError(f'"placeholders" is {described(found)}, expected an object of lists of names')
    names = {fields.as_text(key, "placeholders"): fields.texts(found, key) for key in found}
    for key, each in names.items():
        if not each:
            raise UnusableError(f'"placeholders" has no name for {shown(key)}')
    return names


OWN = Format("own", "question, answer", _fits, _begin)


# --------------------------------------------------------------------------------------------------- writing


def write_questions(file: Path, questions: Iterable[Question]) -> Path:
    """Write ``questions`` as JSON lines that ``load`` reads back, equal to them; returns the file.

    The file is written whole or not at all. Raises ``InputError`` where that fails.
    """
    return write_lines(file, map(_values, questions))


def _values(question: Question) -> dict[str, Any]:
    named_alone = not any(each.text for each in question.supports)
    values = {
        "id": question.id,
        "question": question.text,
        "answers": question.answers,
        "keywords": question.keywords,
        "choices": question.choices,
        "documents": [each.title for each in question.supports] if named_alone else [],
        "passages": [] if named_alone else [{"title": each.title, "text": each.text} for each in question.supports],
        "facts": question.facts,
        "parts": question.parts,
        "within": question.within,
        "kind": question.kind,
        "placeholders": question.placeholders,
    }
    kept = {key: value for key, value in values.items() if value}
    return kept if question.answerable else kept | {"answerable": False}
