"""The two benchmarks with the name GraphRAG-Bench: the one of novels and medicine, and the one of textbooks.

Novels and medicine (GraphRAG-Bench/GraphRAG-Benchmark): each question names the text that it is about. Textbooks
(jeremycp3/GraphRAG-Bench): a file for each sort of question, over all books.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from functools import partial

from kgplatform.evaluate.datasets import fields
from kgplatform.evaluate.datasets.draft import Draft
from kgplatform.evaluate.datasets.entries import Entry, described, shown
from kgplatform.evaluate.datasets.fields import UnusableError, Values
from kgplatform.evaluate.datasets.format import Format, ReadEntry, Sources
from kgplatform.evaluate.question import Question

_KINDS = {
    "FB": "fill in the blank",
    "MC": "multiple choice",
    "MS": "multiple select",
    "TF": "true or false",
    "OE": "open-ended",
}
_TRUE_OR_FALSE = ("True", "False")


def _fits(values: Values) -> bool:
    return {"question", "source", "question_type"} <= values.keys() or {"Question", "Answer"} <= values.keys()


def _begin(_: Sources, draft: Draft) -> ReadEntry:
    return partial(_read, draft, _texts(draft))


def _texts(draft: Draft) -> dict[str, int]:
    """The texts of the corpus by name, where questions name them; several are several graphs, as it was published."""
    given = draft.given or ()
    numbers = {each.title: draft.text(each.title, each.text) for each in given}
    return numbers if len(numbers) == len(given) else {}


def _read(draft: Draft, numbers: dict[str, int], entry: Entry) -> None:
    if "Question" in entry.value:
        draft.question(entry.where, _from_textbooks(entry))
    else:
        _read_sourced(draft, numbers, entry)


# ------------------------------------------------------------------------------------- novels and medicine


def _read_sourced(draft: Draft, numbers: dict[str, int], entry: Entry) -> None:
    values: Values = entry.value
    text = fields.wanted(values, "question")
    source = fields.title(values, "source")
    if numbers and source not in numbers:
        raise UnusableError(f"its source {shown(source)} is not in the corpus")
    draft.apart = draft.apart or len(numbers) > 1
    draft.question(
        entry.where,
        Question(
            id=fields.text(values, "id") or f"{entry.file.stem} {entry.place}",
            text=text,
            answers=fields.texts(values, "answer"),
            facts=_evidence(values),
            kind=fields.text(values, "question_type"),
        ),
        [numbers[source]] if numbers else [],
    )


def _evidence(values: Values) -> tuple[str, ...]:
    """The statements that are needed: a list, or one text, which may be a list as Python writes it."""
    found = values.get("evidence")
    if isinstance(found, str) and found.strip().startswith("["):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):  # else a statement with a bracket first
            found = ast.literal_eval(found.strip())
    return fields.texts({"evidence": found}, "evidence") if found else ()


# ------------------------------------------------------------------------------------------------ textbooks


def _from_textbooks(entry: Entry) -> Question:
    values: Values = entry.value
    sort = entry.file.stem.upper()
    text = fields.wanted(values, "Question")
    options = _options(values)
    answers = fields.texts(values, "Answer")
    choices: tuple[str, ...] = ()
    if options:
        right = _right(options, answers)
        if len(right) == 1 and sort != "MS":
            choices, answers = tuple(options.values()), (options[right[0]],)
        else:
            listed = "\n".join(f"({letter}) {option}" for letter, option in options.items())
            text, answers = f"{text}\n{listed}", ("; ".join(options[letter] for letter in right),)
    elif sort == "TF":
        choices = _TRUE_OR_FALSE
    kind = _KINDS.get(sort, fields.text(values, "Level-1 Topic"))
    return Question(id=f"{entry.file.stem} {entry.place}", text=text, answers=answers, choices=choices, kind=kind)


def _options(values: Values) -> dict[str, str]:
    """The options by letter."""
    found = values.get("Choices")
    if not found:
        return {}
    if isinstance(found, list):
        found = {chr(ord("A") + number): option for number, option in enumerate(found)}
    if not isinstance(found, dict):
        raise UnusableError(f'"Choices" is {described(found)}, expected an object of options')
    return {letter: fields.as_text(option, "Choices") for letter, option in sorted(found.items())}


def _right(options: dict[str, str], answers: tuple[str, ...]) -> list[str]:
    """The letters of the right options, told as "B", as "ABD", as "A, B, D", as a list of these, or by an option."""
    told = "".join(answers) if all(len(each) == 1 for each in answers) else ", ".join(answers)
    spelled = [each for each in told if each.isalnum()]
    if spelled and all(each in options for each in spelled):
        return sorted(set(spelled))
    right = [letter for letter, option in options.items() if option in answers]
    if not right:
        raise UnusableError(f'its "Answer" {shown(told)} is none of the "Choices"')
    return right


GRAPHRAG_BENCH = Format(
    "graphrag-bench", "question, source, question_type, or Question, Answer, Level-1 Topic", _fits, _begin, True
)
