"""The answer from all notebooks of GraphReader (section 3.4), its marks checked against what was read.

answered = conclude(paths, brief, evidence, calls)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kgplatform.errors import ModelError, ReplyError
from kgplatform.locations import citation_of
from kgplatform.models.chat import Chat
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import Show, ask
from kgplatform.places import Place, find_words, fold_words
from kgplatform.prompt import Messages
from kgplatform.readers.answer_old import (
    NOTHING_NEAR,
    OWN_KNOWLEDGE,
    REFUSAL,
    Answered,
    checked_citations,
    cite,
    left_out,
    unconfirmed,
    with_places,
)
from kgplatform.readers.graphreader.brief import OWN_KNOWLEDGE_MARK, Brief
from kgplatform.readers.graphreader.explore import Walk
from kgplatform.readers.refusals import is_members_refusal
from kgplatform.readers.run import Calls
from kgplatform.records import Citation, FoundPassage
from kgplatform.retrieve.evidence import Evidence
from kgplatform.text import WORD_RUN, counted, is_unspaced, normalise_name
from kgplatform.text.sentences import sentences

NO_REPLY = "The model's last reply was empty, and so was the one after it."
_ANSWER = "answer"
_PROMPT = "graphreader/answer"
# "[ID-1003 "…"]", "(ID-1003)", and several in one pair; brackets inside of the words, one level deep.
_INSIDE = r"\s*ID\s*[-_–]?\s*\d"
_MARK = re.compile(
    rf"\[(?={_INSIDE})(?P<square>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]|\((?={_INSIDE})(?P<round>[^()]*(?:\([^()]*\)[^()]*)*)\)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:^|(?<=[,;\s]))\s*ID\s*[-_–]?\s*(\d{1,12})(?!\d)", re.IGNORECASE)
_STRAY = re.compile(r"\s?\[\d{1,2}\]")
_EDGES = " \t\r\n,;:.\"'“”‘’«»„"
_LITTLE = (
    "the and was were are has had have for from with that this which who whom whose what when where its his her their "
    "they them there into onto upon about also been being not but than then"
)
_EMPTY_WORDS = frozenset(_LITTLE.split())
_MOST_OF_IT = 0.5
"""Of the words of a statement, the share that a sentence must have to be the one that says it."""


class _Reply(Form):
    reasoning: str = text(1500)
    answer: str = ""
    sufficient: bool | None = None


def ask_answer(chat: Chat, messages: Messages, *, tokens: int, show: Show | None = None) -> tuple[str, bool]:
    """The final answer, empty where there is none, and whether the notebooks say it.

    In a reply of at most ``tokens``. Raises ``ReplyError`` where two replies are empty.
    """
    reply, _ = ask(chat, messages, _Reply, stage=_ANSWER, tokens=tokens, show=show)
    return reply.answer.strip(), reply.sufficient is not False


@dataclass(frozen=True, slots=True)
class _Mark:
    """``[start, end)`` of the answer, the passages that it names with their words, and the statement before it."""

    start: int
    end: int
    items: tuple[tuple[int, str], ...]
    statement: str


@dataclass
class _Checked:
    """The correct citations, each place once; per mark their numbers from 1; the passages that the marks name, by id;
    and how many marks were wrong."""

    citations: list[Citation] = field(default_factory=list)
    numbers: list[list[int]] = field(default_factory=list)
    passages: dict[str, FoundPassage] = field(default_factory=dict)
    wrong: int = 0


def conclude(paths: Sequence[Walk], brief: Brief, evidence: Evidence, calls: Calls) -> Answered:
    """The model's answer from all notebooks, its marks checked. The steps are added to ``calls``.

    Notebooks mark where each thing stands, as ``[ID-1003: words of the passage]``, and the model carries those marks
    into its answer. A mark is correct if its words stand in the passage as the store has it, or in another one that was
    read: it becomes ``[1]`` and a citation. One without words cites the sentence of the passage that says most of the
    statement before it.

    Whether the answer is supported is decided by its own words, in the marked passages and in those that were read
    (``with_places``): where they are not there it is refused, whatever its marks, or shown without citations
    (``unconfirmed``), and in open mode it is the model's own knowledge. Where no mark is correct, those places are its
    citations. Raises ``ModelError``, with the failed step added.
    """
    mode = brief.options.mode
    if mode == "reject" and not paths:
        calls.note(_ANSWER, "the graph has no node to begin at, so the model was not asked")
        return Answered(REFUSAL, note=NOTHING_NEAR)
    text, is_sufficient = _ask(paths, brief, calls)
    if is_refusal(text):
        return Answered(REFUSAL, note="" if text or not is_sufficient else NO_REPLY)
    if mode == "open" and text.casefold().startswith(OWN_KNOWLEDGE_MARK.casefold()):
        return Answered(_without_marks(text[len(OWN_KNOWLEDGE_MARK) :]), note=OWN_KNOWLEDGE, holds=True)
    marks = list(_marks(text))
    checked = _check(marks, paths, evidence, calls)
    calls.counts["malformed.citation"] += checked.wrong
    read = checked.passages | {passage.id: passage for path in paths for passage in path.read.values()}
    bare = _without_marks(text)
    placed, found = with_places(bare, list(read.values()), calls, brief.question)
    if not placed.holds and mode == "open":
        return Answered(bare, note=OWN_KNOWLEDGE, holds=True)
    if not placed.holds:
        return unconfirmed(bare, found) if is_sufficient else Answered(REFUSAL)
    if not checked.citations:
        return placed
    return Answered(_numbered(text, marks, checked), tuple(checked.citations), left_out(checked.wrong), holds=True)


def is_refusal(answer: str) -> bool:
    """Whether an answer, its marks apart, says that there is none; empty says so too."""
    said = _without_marks(answer)
    return normalise_name(said).startswith(normalise_name(REFUSAL).rstrip(".")) or is_members_refusal(said)


def _ask(paths: Sequence[Walk], brief: Brief, calls: Calls) -> tuple[str, bool]:
    """The final answer as the model wrote it, and whether the notebooks say it; empty where two replies say nothing."""
    mark, made = calls.mark(), calls.made
    messages = brief.answer_messages([path.notebook for path in paths])
    try:
        show = calls.shown("answer")
        said, is_sufficient = ask_answer(calls, messages, tokens=brief.window.reply, show=show)
    except ReplyError:
        said, is_sufficient = "", True
    except ModelError as error:
        calls.add(_ANSWER, f"failed: {error}", mark, prompt=_PROMPT)
        raise
    calls.counts["malformed.no final answer"] += calls.made - made - 1 + (not said)
    filled = sum(bool(path.notebook) for path in paths)
    detail = f"from {counted(len(paths), 'notebook')}, {len(paths) - filled} of them empty"
    calls.add(_ANSWER, detail if said else f"{detail}; no final answer", mark, prompt=_PROMPT)
    return said, is_sufficient


def _marks(text: str) -> Iterator[_Mark]:
    """The marks of an answer in order; those side by side are about the same statement."""
    end, statement = 0, ""
    for found in _MARK.finditer(text):
        before = text[end : found.start()]
        said = [before[sentence.start : sentence.end] for sentence in sentences(before)]
        statement = said[-1] if said else statement
        end = found.end()
        inside = found[found.lastgroup or 0]
        items = list(_ITEM.finditer(inside))
        ends = [*(item.start() for item in items), len(inside)][1:]
        words = [inside[each.end() : stop].strip(_EDGES) for each, stop in zip(items, ends, strict=True)]
        numbers = [int(item[1]) for item in items]
        yield _Mark(found.start(), end, tuple(zip(numbers, words, strict=True)), statement)


def _check(marks: Sequence[_Mark], paths: Sequence[Walk], evidence: Evidence, calls: Calls) -> _Checked:
    """Each mark looked up in the passage that it names, as the store has it."""
    ids = {number: id_ for path in paths for number, id_ in path.passages.items()}
    wanted = [ids[number] for mark in marks for number, _ in mark.items if number in ids]
    stored = evidence.stored(list(dict.fromkeys(wanted))) if wanted else None
    found = _Checked(passages=dict(stored.passages) if stored else {})
    for mark in marks:
        numbers: list[int] = []
        for number, words in mark.items:
            passage = stored.passages.get(ids.get(number, "")) if stored else None
            citation = _citation(passage, words, mark.statement) if passage else None
            citation = citation or _elsewhere(words, paths)
            if citation is None:
                found.wrong += 1
                continue
            if citation not in found.citations:
                found.citations.append(citation)
            numbers.append(found.citations.index(citation) + 1)
        found.numbers.append(list(dict.fromkeys(numbers)))
    detail = checked_citations(len(found.citations), found.wrong)
    calls.note("check citations", detail, stored.queries if stored else ())
    return found


def _elsewhere(words: str, paths: Sequence[Walk]) -> Citation | None:
    """Where another passage that was read has the words of a mark: several are read at once, and their ids mixed up."""
    read = {passage.id: passage for path in paths for passage in path.read.values()} if words else {}
    found = ((passage, find_words(words, passage.text)) for passage in read.values())
    return next((cite(passage, place) for passage, place in found if place), None)


def _citation(passage: FoundPassage, words: str, statement: str) -> Citation | None:
    """Where ``passage`` has the words of a mark; without words that say something, where it says most of the
    statement."""
    if _content_words(words):
        place = find_words(words, passage.text)
        return cite(passage, place) if place else None
    wanted = _content_words(statement)
    if not wanted & _content_words(passage.text):
        return None
    best = _best_sentence(wanted, passage.text)
    if best is not None:
        return cite(passage, best)
    return citation_of(passage, passage.start, passage.end, found=False)


def _best_sentence(wanted: set[str], text: str) -> Place | None:
    """The sentence with most of the words ``wanted``, the shortest of equals; None if none has half of them."""
    scored = [
        (
            len(wanted & _content_words(text[sentence.start : sentence.end])),
            sentence.start - sentence.end,
            -sentence.start,
            sentence,
        )
        for sentence in sentences(text)
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


def _numbered(text: str, marks: Sequence[_Mark], checked: _Checked) -> str:
    """``text`` with the numbers of the citations in the place of its marks; wrong ones are left out."""
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
