"""Published questions with a corpus for all of them: passages pooled (MuSiQue, HotpotQA, 2WikiMultihopQA), and the two
benchmarks with the name GraphRAG-Bench.

Novels and medicine (GraphRAG-Bench/GraphRAG-Benchmark): each question names the text that it is about. Textbooks
(jeremycp3/GraphRAG-Bench): a file for each sort of question, over all books.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets import fields
from kgplatform.evaluate.datasets.draft import Draft, Format, ReadEntry, Sources
from kgplatform.evaluate.datasets.entries import Entry, described, entries, shown
from kgplatform.evaluate.datasets.fields import UnusableError, Values
from kgplatform.evaluate.results import Question, Text
from kgplatform.text import counted, tidy

# ------------------------------------------------------------------------------------------------------------- passages


_EARLIER = re.compile(r"#(\d+)")
_HOPS = re.compile(r"(\d+)hop")
_SENTENCES_OF_2WIKI = ("evidences", "evidences_id", "entity_ids")

# ------------------------------------------------------------------------------------------------- MuSiQue


def _is_musique(values: Values) -> bool:
    paragraphs = values.get("paragraphs")
    return "question" in values and isinstance(paragraphs, list) and _has(paragraphs[:1], "paragraph_text")


def _has(items: Sequence[object], key: str) -> bool:
    return all(isinstance(item, dict) and key in item for item in items)


def _begin_musique(_: Sources, draft: Draft) -> ReadEntry:
    return partial(_read_musique, draft)


def _read_musique(draft: Draft, entry: Entry) -> None:
    """One question; an unanswerable one is so among its own paragraphs alone, so that all are asked apart then."""
    values: Values = entry.value
    answerable = fields.yes_or_no(values, "answerable", True)
    passages, supporting = _paragraphs(values)
    text = fields.wanted(values, "question")
    answers = (fields.text(values, "answer"), *fields.texts(values, "answer_aliases")) if answerable else ()
    steps = fields.objects(values, "question_decomposition")
    identity = fields.text(values, "id") or entry.place
    draft.apart = draft.apart or not answerable
    draft.question(
        entry.where,
        Question(
            id=identity if answerable else f"{identity} unanswerable",
            text=text,
            answers=tuple(filter(None, dict.fromkeys(answers))),
            supports=tuple(dict.fromkeys(supporting)) if answerable else (),
            parts=_parts(steps) if answerable else (),
            kind=_hops(len(steps), identity),
            answerable=answerable,
        ),
        [draft.text(each.title, each.text) for each in passages],
    )


def _paragraphs(values: Values) -> tuple[list[Text], list[Text]]:
    """All passages, and those that support the answer."""
    passages, supporting = [], []
    for each in fields.objects(values, "paragraphs"):
        is_supporting = fields.yes_or_no(each, "is_supporting", False)
        read = fields.wanted if is_supporting else fields.text
        passage = Text(fields.title(each, "title"), read(each, "paragraph_text"))
        if passage.text:
            passages.append(passage)
        if is_supporting:
            supporting.append(passage)
    return passages, supporting


def _parts(steps: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The parts of a question, the answer to the first one in the place of ``#1``."""
    answers = [fields.text(each, "answer") for each in steps]

    def answer(mark: re.Match[str]) -> str:
        number = int(mark[1])
        if not 1 <= number <= len(answers):
            raise UnusableError(
                f'"question_decomposition" refers to {mark[0]}, but has {counted(len(answers), "part")}'
            )
        return answers[number - 1]

    return tuple(_EARLIER.sub(answer, fields.wanted(each, "question")) for each in steps)


def _hops(steps: int, identity: str) -> str:
    told = _HOPS.match(identity)
    number = steps or (int(told[1]) if told else 0)
    return counted(number, "hop") if number else ""


MUSIQUE = Format("musique", "question, paragraphs (title, paragraph_text)", _is_musique, _begin_musique)

# ---------------------------------------------------------------------------- HotpotQA and 2WikiMultihopQA


def _is_hotpotqa(values: Values) -> bool:
    return {"question", "context", "supporting_facts"} <= values.keys() and not _is_2wiki(values)


def _is_2wiki(values: Values) -> bool:
    return {"question", "context"} <= values.keys() and any(key in values for key in _SENTENCES_OF_2WIKI)


def _begin_hotpotqa(_: Sources, draft: Draft) -> ReadEntry:
    return partial(_read_sentences, draft, "", {})


def _begin_2wiki(sources: Sources, draft: Draft) -> ReadEntry:
    aliases = _aliases(sources, draft) if sources.aliases is not None else {}
    return partial(_read_sentences, draft, " ", aliases)


def _read_sentences(draft: Draft, between: str, aliases: Mapping[str, Sequence[str]], entry: Entry) -> None:
    """One question. ``between``: what parts two sentences of a passage; those of HotpotQA bring their own space."""
    values: Values = entry.value
    text = fields.wanted(values, "question")
    passages = _context(values)
    texts = {title: between.join(_stripped(parts, between)).strip() for title, parts in passages.items()}
    named = _named(values)
    answer = fields.text(values, "answer")
    for title, content in texts.items():
        if content:
            draft.text(title, content)
    draft.question(
        entry.where,
        Question(
            id=fields.text(values, "_id") or fields.text(values, "id") or entry.place,
            text=text,
            answers=tuple(filter(None, dict.fromkeys((answer, *aliases.get(fields.text(values, "answer_id"), ()))))),
            supports=tuple(Text(title, texts.get(title, "")) for title in dict.fromkeys(title for title, _ in named)),
            facts=tuple(_facts(draft, entry.where, passages, named)),
            kind=fields.text(values, "type"),
        ),
    )


def _context(values: Values) -> dict[str, list[str]]:
    """The passages of a question as lists of sentences, by title; as pairs, or as two lists of equal length."""
    found = fields.unpacked(values, "context")
    if isinstance(found, dict):
        lists = fields.listed(found, "sentences" if "sentences" in found else "content")
        pairs = _side_by_side(fields.listed(found, "title"), lists, "context")
    else:
        pairs = [(title, parts) for title, parts in _pairs(found, "context")]
    passages: dict[str, list[str]] = {}
    for title, parts in pairs:
        if not isinstance(parts, list):
            raise UnusableError(f'"context" holds {described(parts)}, expected a list of sentences')
        sentences = [part if isinstance(part, str) else fields.as_text(part, "context") for part in parts]
        passages.setdefault(tidy(fields.as_text(title, "context")), sentences)
    return passages


def _named(values: Values) -> list[tuple[str, int]]:
    """The supporting sentences: title of the passage, and number of the sentence in it, from 0."""
    found = fields.unpacked(values, "supporting_facts")
    if found is None:
        return []
    if isinstance(found, dict):
        pairs: Iterable[Sequence[Any]] = _side_by_side(
            fields.listed(found, "title"), fields.listed(found, "sent_id"), "supporting_facts"
        )
    else:
        pairs = _pairs(found, "supporting_facts")
    key = "supporting_facts"
    return [(tidy(fields.as_text(title, key)), fields.whole(number, key)) for title, number in pairs]


def _side_by_side(titles: list[Any], others: list[Any], key: str) -> list[tuple[Any, Any]]:
    if len(titles) != len(others):
        raise UnusableError(f'"{key}" has {counted(len(titles), "title")} for {len(others):,}, expected as many')
    return list(zip(titles, others, strict=True))


def _pairs(found: object, key: str) -> list[list[Any]]:
    items: list[Any] = found if isinstance(found, list) else [found]
    for item in items:
        if not isinstance(item, list) or len(item) != 2:
            raise UnusableError(f'"{key}" holds {described(item)}, expected lists of two')
    return items


def _facts(
    draft: Draft, where: str, passages: Mapping[str, Sequence[str]], named: Sequence[tuple[str, int]]
) -> Iterable[str]:
    for title, number in named:
        parts = passages.get(title)
        if parts is None:
            continue  # its passage was not among those that were retrieved (full wiki), which is told at the end
        if 0 <= number < len(parts):
            yield fields.as_text(parts[number], "context")
        else:
            draft.fault(
                where,
                f"supporting sentence {number} of {shown(title)} is left out, for that passage has "
                f"{counted(len(parts), 'sentence')}, counted from 0",
            )


def _stripped(parts: Sequence[str], between: str) -> Iterable[str]:
    return (part.strip() for part in parts) if between else parts


def _aliases(sources: Sources, draft: Draft) -> dict[str, tuple[str, ...]]:
    """Other names of answers, by their ids in Wikidata, with the adjectives of places, as its scorer takes them."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries(sources.aliases) if sources.aliases else ():
        try:
            if not isinstance(entry.value, dict):
                raise UnusableError(entry.fault or f"found {described(entry.value)}, expected an object")
            names = (*fields.texts(entry.value, "aliases"), *fields.texts(entry.value, "demonyms"))
            found[fields.wanted(entry.value, "Q_id")] = names
        except (UnusableError, InputError) as error:
            draft.fault(entry.where, str(error))
    return found


HOTPOTQA = Format("hotpotqa", "question, context, supporting_facts", _is_hotpotqa, _begin_hotpotqa)
TWO_WIKI = Format("2wiki", "question, context, evidences", _is_2wiki, _begin_2wiki)


# ------------------------------------------------------------------------------------------------------- GraphRAG-Bench


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
