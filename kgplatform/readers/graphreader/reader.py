"""Reader ``graphreader`` (GraphReader, arXiv 2406.14550): agents walk the graph, each with a notebook, then one answer.

    answer(question, run, Options(nodes=3))

Calls of the model: 1 for the rational plan, as many as the names of all nodes need for the initial nodes, at most 10
function calls on each of 5 paths, and 1 for the answer. Pages of what does not fit into the window, and replies that
are asked for again, are calls of the model and no function calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.json_text import without_thoughts
from kgplatform.places import Place, find_words, fold_words
from kgplatform.readers.answer import (
    NOTHING_NEAR,
    OWN_KNOWLEDGE,
    REFUSAL,
    Answered,
    checked_citations,
    cite,
    left_out,
    record,
    with_places,
    without_model,
)
from kgplatform.readers.graphreader.actions import first_of, json_values
from kgplatform.readers.graphreader.brief import OWN_KNOWLEDGE_MARK, PROMPTS, Brief, make_brief, reminded
from kgplatform.readers.graphreader.explore import Walk, explore
from kgplatform.readers.graphreader.initial_nodes import initial_nodes
from kgplatform.readers.graphreader.options import Options
from kgplatform.readers.reader import AnswerMode, Reader
from kgplatform.readers.run import Calls, Run
from kgplatform.records import Answer, Citation, FoundFact, FoundPassage, SearchResult
from kgplatform.retrieve.evidence import Evidence
from kgplatform.sentences import sentences
from kgplatform.text import WORD_RUN, is_unspaced, normalise_name, tidy
from kgplatform.work.threads import side_by_side

_PLAN_STEP = "rational plan"
_PLAN_PROMPT = "graphreader/plan"


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer, its citations checked, and the walks that led to it, step by step.

    Raises ``InputError`` for a question that is empty or leaves no room in the window, ``BudgetError`` where the
    tokens ran out, ``ModelError`` where the model failed before anything was noted, or at the answer itself.
    """
    question = tidy(question)
    if run.chat is None:
        return without_model(question, READER.name, run.evidence.search(question), run.tell)
    brief = make_brief(question, options)
    calls = Calls(run.chat, run.ledger, run.tell)
    nodes = run.evidence.nodes(question)
    if options.plan:
        brief = _plan(brief, calls)
    planned = run.evidence.nodes(f"{question} {brief.plan}") if options.prefilter and brief.plan else nodes
    starts = initial_nodes(brief, nodes, planned, run.chat, calls)
    walks = [partial(explore, number, node, brief, nodes, run.chat, run.tell) for number, node in enumerate(starts, 1)]
    paths = side_by_side(walks, len(walks))
    errors = [path.error for path in paths if path.error]
    if errors and len(errors) == len(paths) and not any(path.notebook for path in paths):
        raise errors[0]
    for path in paths:
        calls.steps += path.calls.steps
        calls.counts += path.calls.counts
    answered = conclude(paths, brief, run.evidence, calls)
    failures = [f"Path {path.number} ended early: {path.error}" for path in paths if path.error]
    return record(READER.name, answered, _seen(question, paths, calls), calls, *failures)


def _plan(brief: Brief, calls: Calls) -> Brief:
    """The brief with the rational plan. Without a usable one the run continues. Raises ``BudgetError`` alone."""
    mark = calls.mark()
    try:
        plan = without_thoughts(calls.send(brief.plan_messages(), stage="plan").text, cut_off=False).strip()
    except BudgetError:
        raise
    except ModelError as error:
        calls.counts["failed.plan"] += 1
        calls.add(_PLAN_STEP, f"failed, so there is no plan: {error}", mark, prompt=_PLAN_PROMPT)
        return brief
    brief = brief.with_plan(plan)
    detail = tidy(brief.plan)
    if not plan:
        calls.counts["malformed.no plan"] += 1
        detail = "the reply was empty, so there is no plan"
    elif len(brief.plan) < len(plan):
        calls.counts["cut.plan"] += 1
        detail = f"cut to {len(brief.plan):,} of {len(plan):,} characters: {detail}"
    calls.add(_PLAN_STEP, detail, mark, prompt=_PLAN_PROMPT)
    return brief


def _seen(question: str, paths: Sequence[Walk], calls: Calls) -> SearchResult:
    """The passages that were read and the facts that were shown, in order of reading, path by path."""
    passages = {each.id: each for path in paths for each in path.read.values()}
    facts = {id_: text for path in paths for id_, text in path.facts.items()}
    found = tuple(FoundFact(id_, text, 0.0, (), ()) for id_, text in facts.items())
    return SearchResult(question, tuple(passages.values()), found, sum(step.seconds for step in calls.steps))


UNSUPPORTED = "The model's answer has no correct citation, and its words are in no passage that was read."
NO_REPLY = "The model's last reply was empty, and so was the one after it."
_ANSWER = "answer"
_PROMPT = "graphreader/answer"
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
    """The correct citations, each place once; per mark their numbers from 1; and how many were wrong."""

    citations: list[Citation] = field(default_factory=list)
    numbers: list[list[int]] = field(default_factory=list)
    wrong: int = 0


def conclude(paths: Sequence[Walk], brief: Brief, evidence: Evidence, calls: Calls) -> Answered:
    """The model's answer from all notebooks, its marks checked. The steps are added to ``calls``.

    Notebooks mark where each thing stands, as ``[ID-1003 "words of the passage"]``, and the model carries those marks
    into its answer. A mark is correct if its words stand in the passage as the store has it: it becomes ``[1]`` and a
    citation. One without words cites the sentence of the passage that says most of the statement before it.

    In reject mode the answer needs a citation: where no mark is correct, the places of its own words in the passages
    that were read; else it is refused. Raises ``ModelError``, with the failed step added.
    """
    mode = brief.options.mode
    if mode == "reject" and not paths:
        calls.note(_ANSWER, "the graph has no node to begin at, so the model was not asked")
        return Answered(REFUSAL, note=NOTHING_NEAR)
    text = _ask(paths, brief, calls)
    own = text.casefold().startswith(OWN_KNOWLEDGE_MARK.casefold())
    if not text or normalise_name(text).startswith(normalise_name(REFUSAL).rstrip(".")):
        return Answered(REFUSAL, note="" if text else NO_REPLY)
    if own and mode == "open":
        return Answered(_without_marks(text[len(OWN_KNOWLEDGE_MARK) :]), note=OWN_KNOWLEDGE, holds=True)
    marks = list(_marks(text))
    checked = _check(marks, paths, evidence, calls)
    calls.counts["malformed.citation"] += checked.wrong
    if checked.citations:
        return Answered(_numbered(text, marks, checked), tuple(checked.citations), left_out(checked.wrong), holds=True)
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
            final = first_of(value, ("finalanswer", "answer"))
            if isinstance(final, str | int | float):
                return str(final).strip(), True
    return text, False


def _ask(paths: Sequence[Walk], brief: Brief, calls: Calls) -> str:
    """The final answer as the model wrote it; an empty reply is asked for once more."""
    mark = calls.mark()
    messages = brief.answer_messages([path.notebook for path in paths])
    try:
        text, is_marked = read_final(calls.send(messages, stage=_ANSWER).text)
        if not text:
            calls.counts["malformed.no final answer"] += 1
            again = reminded(messages, "it was empty.", _FORM)
            text, is_marked = read_final(calls.send(again, stage=_ANSWER).text)
    except ModelError as error:
        calls.add(_ANSWER, f"failed: {error}", mark, prompt=_PROMPT)
        raise
    calls.counts["malformed.no final answer"] += not is_marked
    filled = sum(bool(path.notebook) for path in paths)
    detail = f"from {len(paths)} notebooks, {len(paths) - filled} of them empty"
    calls.add(_ANSWER, detail if is_marked else f"{detail}; no final answer marked", mark, prompt=_PROMPT)
    return text


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
    found = _Checked()
    for mark in marks:
        numbers: list[int] = []
        for number, words in mark.items:
            passage = stored.passages.get(ids.get(number, "")) if stored else None
            citation = _citation(passage, words, mark.statement) if passage else None
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


def _by_words(text: str, paths: Sequence[Walk], mode: AnswerMode, calls: Calls) -> Answered:
    """An answer without a correct mark: its words in what was read; else a refusal, or the model's own knowledge."""
    passages = list({passage.id: passage for path in paths for passage in path.read.values()}.values())
    cited, citations = with_places(text, passages, calls)
    if citations:
        return Answered(cited, citations, holds=True)
    if mode == "open":
        return Answered(text, note=OWN_KNOWLEDGE, holds=True)
    return Answered(REFUSAL, note=UNSUPPORTED)


READER = Reader(
    "graphreader",
    "Makes a plan and walks over the graph, node by node, with a notebook.",
    Options,
    answer,
    needs=lambda options: ("entities", "facts"),
    kept=lambda answered: (),  # the answer is written from the notebooks alone
    usual=True,
    stages=tuple(PROMPTS),
    reads=PROMPTS.values(),
)
