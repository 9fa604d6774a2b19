"""From the notebooks of all walks to one answer whose marks are checked against the store (GraphReader, section 3.4).

    conclude(paths, brief, evidence, calls, counts)

Notebooks mark where each thing stands, as ``[ID-1003 "words of the passage"]``, and the model carries those marks into
its answer. A mark holds if its words stand in the passage as the store has it: it becomes ``[1]`` and a citation. A
mark without words holds at the sentence of the passage that says most of the statement before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kgplatform.errors import ModelError
from kgplatform.models.json_text import without_thoughts
from kgplatform.places import Place, find_words, fold_words
from kgplatform.prompt import render
from kgplatform.readers.answer import NOTHING_NEAR, OWN_KNOWLEDGE, REFUSAL, Answered
from kgplatform.readers.calls import Calls
from kgplatform.readers.citations import cite, cite_words
from kgplatform.readers.graphreader.actions import json_values
from kgplatform.readers.graphreader.brief import OWN_KNOWLEDGE_MARK, Brief
from kgplatform.readers.graphreader.path import Path
from kgplatform.readers.reader import AnswerMode
from kgplatform.records import Citation, FoundPassage
from kgplatform.retrieve.evidence import Evidence
from kgplatform.sentences import sentences
from kgplatform.text import WORD_RUN, is_unspaced, normalise_name, type_key

UNSUPPORTED = "The model's answer cites nothing that holds, and its words are in no passage that was read."
NO_REPLY = "The model's last reply was empty, and so was the one after it."
_NAME = "answer"
_PROMPT = "graphreader/answer"
_STAGE = "answer"
_FORM = "Final answer: <the final answer with its marks>"

# "[ID-1003 "…"]", "(ID-1003)", and several in one pair; brackets inside of the words, one level deep.
_INSIDE = r"\s*ID\s*[-_–]?\s*\d"
_MARK = re.compile(
    rf"\[(?={_INSIDE})(?P<square>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]|\((?={_INSIDE})(?P<round>[^()]*(?:\([^()]*\)[^()]*)*)\)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:^|(?<=[,;\s]))\s*ID\s*[-_–]?\s*(\d{1,12})(?!\d)", re.IGNORECASE)
_STRAY = re.compile(r"\s?\[\d{1,2}\]")
_FINAL = re.compile(r"^[ \t>#*_`-]*final[ _]answer[*_`]*[ \t]*[:：][*_`]*", re.IGNORECASE | re.MULTILINE)
_EDGES = " \t\r\n,;:.\"'“”‘’«»„"
_LITTLE = (
    "the and was were are has had have for from with that this which who whom whose what when where its his her their "
    "they them there into onto upon about also been being not but than then"
)
_EMPTY_WORDS = frozenset(_LITTLE.split())
_MOST_OF_IT = 0.5
"""Of the words of a statement, the share that a sentence must have to be the one that says it."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """``[start, end)`` of the answer, the passages that it names with their words, and the statement before it."""

    start: int
    end: int
    items: tuple[tuple[int, str], ...]
    statement: str


@dataclass
class _Checked:
    """The citations that hold, each place once; per mark their numbers from 1; and how many do not hold."""

    citations: list[Citation] = field(default_factory=list)
    numbers: list[list[int]] = field(default_factory=list)
    wrong: int = 0


def conclude(paths: Sequence[Path], brief: Brief, evidence: Evidence, calls: Calls, counts: Counter[str]) -> Answered:
    """The model's answer from all notebooks, and what holds of its marks. The steps are added to ``calls``.

    In reject mode the answer needs a citation: where no mark holds, the places of its own words in the passages that
    were read; else it is refused. Raises ``ModelError``, with the failed step added.
    """
    mode = brief.options.mode
    if mode == "reject" and not paths:
        calls.note(_NAME, "the graph has no node to begin at, so the model was not asked")
        return Answered(REFUSAL, note=NOTHING_NEAR)
    text = _ask(paths, brief, calls, counts)
    own = text.casefold().startswith(OWN_KNOWLEDGE_MARK.casefold())
    if not text or normalise_name(text).startswith(normalise_name(REFUSAL).rstrip(".")):
        return Answered(REFUSAL, note="" if text else NO_REPLY)
    if own and mode == "open":
        return Answered(_without_marks(text[len(OWN_KNOWLEDGE_MARK) :]), note=OWN_KNOWLEDGE, holds=True)
    marks = list(_marks(text))
    checked = _check(marks, paths, evidence, calls)
    if checked.wrong:
        counts["malformed.citation"] += checked.wrong
    if checked.citations:
        return Answered(_numbered(text, marks, checked), tuple(checked.citations), _left_out(checked.wrong), holds=True)
    return _by_words(_without_marks(text), paths, mode, calls)


def read_final(reply: str) -> tuple[str, bool]:
    """The final answer of a reply, and whether it was marked as such; else all of it.

    >>> read_final("Analyze: two of three say so.\\n**Final answer:** Casa Loma")
    ('Casa Loma', True)
    """
    text = without_thoughts(reply, cut_off=False).strip()
    found = list(_FINAL.finditer(text))
    if found:
        return text[found[-1].end() :].strip().strip("*").strip(), True
    if re.match(r"(?:```\w*\s*)?\{", text):
        for value in json_values(text):
            if not isinstance(value, dict):
                continue
            keys = {type_key(str(key)): item for key, item in value.items()}
            final = next((keys[key] for key in ("finalanswer", "answer") if key in keys), None)
            if isinstance(final, str | int | float):
                return str(final).strip(), True
    return text, False


def _ask(paths: Sequence[Path], brief: Brief, calls: Calls, counts: Counter[str]) -> str:
    """The final answer as the model wrote it; an empty reply is asked for once more."""
    mark = calls.mark()
    messages = brief.answer_messages([path.notebook for path in paths])
    try:
        text, is_marked = read_final(calls.send(messages, stage=_STAGE).text)
        if not text:
            counts["malformed.no final answer"] += 1
            reminder = render("graphreader/again", fault="it was empty.", forms=_FORM)[1]["content"]
            again = [messages[0], {**messages[1], "content": f"{messages[1]['content']}\n\n{reminder}"}]
            text, is_marked = read_final(calls.send(again, stage=_STAGE).text)
    except ModelError as error:
        calls.add(_NAME, f"failed: {error}", mark, prompt=_PROMPT)
        raise
    if not is_marked:
        counts["malformed.no final answer"] += 1
    filled = sum(bool(path.notebook) for path in paths)
    detail = f"from {len(paths)} notebooks, {len(paths) - filled} of them empty"
    calls.add(_NAME, detail if is_marked else f"{detail}; no final answer marked", mark, prompt=_PROMPT)
    return text


# ------------------------------------------------------------------------------------------------------------- marks


def _marks(text: str) -> Iterator[_Mark]:
    """The marks of an answer in order; those side by side are about the same statement."""
    end, statement = 0, ""
    for found in _MARK.finditer(text):
        before = text[end : found.start()]
        said = [before[each.start : each.end] for each in sentences(before)]
        statement = said[-1] if said else statement
        end = found.end()
        inside = found[found.lastgroup or 0]
        items = list(_ITEM.finditer(inside))
        ends = [*(each.start() for each in items), len(inside)][1:]
        words = [inside[each.end() : stop].strip(_EDGES) for each, stop in zip(items, ends, strict=True)]
        numbers = [int(each[1]) for each in items]
        yield _Mark(found.start(), end, tuple(zip(numbers, words, strict=True)), statement)


def _check(marks: Sequence[_Mark], paths: Sequence[Path], evidence: Evidence, calls: Calls) -> _Checked:
    """Each mark looked up in the passage that it names, as the store has it."""
    ids = {number: id_ for path in paths for number, id_ in path.passages.items()}
    wanted = [ids[number] for mark in marks for number, _ in mark.items if number in ids]
    stored = evidence.stored(list(dict.fromkeys(wanted))) if wanted else None
    checked = _Checked()
    for mark in marks:
        numbers: list[int] = []
        for number, words in mark.items:
            passage = stored.passages.get(ids.get(number, "")) if stored else None
            citation = _citation(passage, words, mark.statement) if passage else None
            if citation is None:
                checked.wrong += 1
                continue
            if citation not in checked.citations:
                checked.citations.append(citation)
            numbers.append(checked.citations.index(citation) + 1)
        checked.numbers.append(list(dict.fromkeys(numbers)))
    detail = f"{len(checked.citations)} hold, {checked.wrong} do not"
    calls.note("check citations", detail, stored.queries if stored else ())
    return checked


def _citation(passage: FoundPassage, words: str, statement: str) -> Citation | None:
    """Where ``passage`` has the words of a mark; without words, where it says most of the statement."""
    if words:
        place = find_words(words, passage.text)
        return cite(passage, place) if place else None
    wanted = _content_words(statement)
    if not wanted & _content_words(passage.text):
        return None
    best = _best_sentence(wanted, passage.text)
    if best is not None:
        return cite(passage, best)
    return Citation(passage.document, passage.title, passage.start, passage.end, passage.page, passage.id, found=False)


def _best_sentence(wanted: set[str], text: str) -> Place | None:
    """The sentence with most of the words ``wanted``, the shortest of equals; None if none has half of them."""
    scored = [
        (len(wanted & _content_words(text[each.start : each.end])), each.start - each.end, -each.start, each)
        for each in sentences(text)
    ]
    if not scored:
        return None
    shared, _, _, best = max(scored, key=lambda each: each[:3])
    return Place(best.start, best.end, exact=False) if shared >= _MOST_OF_IT * len(wanted) else None


def _content_words(text: str) -> set[str]:
    """The words that say something, folded; single letters of scripts that are written without spaces."""
    words: set[str] = set()
    for word in WORD_RUN.findall(fold_words(text)):
        if is_unspaced(word):
            words.update(word)
        elif word.isdigit() or (len(word) > 2 and word not in _EMPTY_WORDS):
            words.add(word)
    return words


# -------------------------------------------------------------------------------------------------------- the answer


def _numbered(text: str, marks: Sequence[_Mark], checked: _Checked) -> str:
    """``text`` with the numbers of the citations in the place of its marks; marks that do not hold are left out."""
    parts: list[str] = []
    end = 0
    for mark, numbers in zip(marks, checked.numbers, strict=True):
        before = _STRAY.sub("", text[end : mark.start])
        parts.append(before if numbers else before.rstrip())
        parts.append("".join(f"[{number}]" for number in numbers))
        end = mark.end
    return "".join([*parts, _STRAY.sub("", text[end:])]).strip()


def _without_marks(text: str) -> str:
    return _STRAY.sub("", re.sub(rf"\s*(?:{_MARK.pattern})", "", text, flags=re.IGNORECASE)).strip()


def _by_words(text: str, paths: Sequence[Path], mode: AnswerMode, calls: Calls) -> Answered:
    """An answer without a mark that holds: its words in what was read; else a refusal, or the model's own knowledge."""
    passages = list({passage.id: passage for path in paths for passage in path.read.values()}.values())
    citations = cite_words(text, passages)
    calls.note("find citations", f"the answer's words stand in {len(citations)} of the passages that were read")
    if citations:
        numbers = "".join(f"[{number}]" for number in range(1, len(citations) + 1))
        return Answered(f"{text} {numbers}", citations, holds=True)
    if mode == "open":
        return Answered(text, note=OWN_KNOWLEDGE, holds=True)
    return Answered(REFUSAL, note=UNSUPPORTED)


def _left_out(wrong: int) -> str:
    if not wrong:
        return ""
    return f"Marks of the model's answer that do not hold were left out: {wrong}."
