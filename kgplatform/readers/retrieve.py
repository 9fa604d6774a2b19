"""Reader ``retrieve``: one search, then one answer whose every citation is checked against the store.

Without a language model the evidence is the answer, and that is said.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from kgplatform.llm import Chat, Ledger
from kgplatform.places import find_words
from kgplatform.prompt import Messages, render
from kgplatform.records import Answer, Citation, Passage, SearchResult, Step, Usage
from kgplatform.reply import ask

AnswerMode = Literal["reject", "open"]

REFUSAL = "The documents do not say."
NO_MODEL = (
    "No language model is configured, so none wrote an answer: this is the evidence, best first. "
    "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server, to get answers."
)
OWN_KNOWLEDGE = "The documents do not say; this answer is the model's own knowledge and cites nothing."
_STAGE = "answer"
_MARK = re.compile(r"\[(\d+)\]")

# The two modes differ in this clause alone (Youtu-GraphRAG, appendix A).
_INSUFFICIENT: dict[AnswerMode, str] = {
    "reject": 'If the passages do not say it, set "sufficient" to false and leave "answer" empty.',
    "open": 'If the passages do not say it, set "sufficient" to false and answer from your own knowledge, without [ ].',
}


class _Cited(BaseModel):
    passage: int
    quote: str = ""


class _Reply(BaseModel):
    answer: str = ""
    sufficient: bool = True
    citations: list[_Cited] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Evidence:
    """How the reader reaches the store: ``search`` a question, and ``read`` passages again by id."""

    search: Callable[[str], SearchResult]
    read: Callable[[Sequence[str]], dict[str, Passage]]


def answer(question: str, evidence: Evidence, chat: Chat | None, ledger: Ledger, mode: AnswerMode = "reject") -> Answer:
    """Search, let the model answer from what was found, and keep the citations that hold."""
    result = evidence.search(question)
    found = f"{len(result.passages)} passages, {len(result.facts)} facts"
    steps = [_search_step(result, found)]
    if chat is None:
        return _answer(result, None, (), steps, Usage(), NO_MODEL)
    if not result.passages:
        return _answer(result, REFUSAL, (), steps, Usage(), "Nothing in the graph is near this question.")
    before, started = ledger.total, time.perf_counter()
    reply, repairs = ask(chat, _messages(result, mode), _Reply, stage=_STAGE)
    usage = _difference(ledger.total, before)
    detail = "answered" if not repairs else f"answered after {repairs} repairs"
    steps.append(Step(_STAGE, detail, round(time.perf_counter() - started, 4), prompt="answer", usage=usage))
    return _checked(result, reply, evidence, mode, steps, usage)


def _search_step(result: SearchResult, found: str) -> Step:
    facts, passages = tuple(each.id for each in result.facts), tuple(each.id for each in result.passages)
    return Step("search", found, result.seconds, facts=facts, passages=passages)


def _messages(result: SearchResult, mode: AnswerMode) -> Messages:
    passages = [f"[{n}] {each.title}: {each.text}" for n, each in enumerate(result.passages, 1)]
    return render(
        "answer",
        question=result.question,
        insufficient=_INSUFFICIENT[mode],
        facts="\n".join(f"- {fact.text}" for fact in result.facts) or "(none)",
        passages="\n\n".join(passages),
    )


def _checked(
    result: SearchResult, reply: _Reply, evidence: Evidence, mode: AnswerMode, steps: list[Step], usage: Usage
) -> Answer:
    citations, wrong = _check_citations(result, reply, evidence)
    steps.append(Step("check citations", f"{len(citations)} hold, {wrong} do not", 0.0))
    text = reply.answer.strip()
    if text and reply.sufficient and citations:
        note = f"{wrong} of the model's citations were left out: their words are not in the passage." if wrong else ""
        return _answer(result, _renumbered(text, citations), tuple(citations.values()), steps, usage, note)
    if mode == "open" and text:
        return _answer(result, _MARK.sub("", text).strip(), (), steps, usage, OWN_KNOWLEDGE)
    unsupported = "The model's answer cited nothing that the documents say." if text and reply.sufficient else ""
    return _answer(result, REFUSAL, (), steps, usage, unsupported)


def _check_citations(result: SearchResult, reply: _Reply, evidence: Evidence) -> tuple[dict[int, Citation], int]:
    """The citations whose words stand in the passage as the store has it, by number, and how many do not."""
    stored = evidence.read([passage.id for passage in result.passages])
    held: dict[int, Citation] = {}
    wrong = 0
    for cited in reply.citations:
        known = 1 <= cited.passage <= len(result.passages)
        passage = stored.get(result.passages[cited.passage - 1].id) if known else None
        place = find_words(cited.quote, passage.text) if passage and cited.quote.strip() else None
        if passage is None or place is None:
            wrong += 1
            continue
        start = passage.start + place.start
        held.setdefault(
            cited.passage,
            Citation(passage.document, passage.title, start, start + place.end - place.start, passage.page, passage.id),
        )
    return held, wrong


def _renumbered(text: str, citations: dict[int, Citation]) -> str:
    """``text`` without marks of passages whose citation does not hold; the others are numbered as they are listed."""
    numbers = {passage: n for n, passage in enumerate(citations, 1)}
    return _MARK.sub(lambda mark: f"[{numbers[int(mark[1])]}]" if int(mark[1]) in numbers else "", text).strip()


def _difference(after: Usage, before: Usage) -> Usage:
    return Usage(
        after.calls - before.calls,
        after.input_tokens - before.input_tokens,
        after.output_tokens - before.output_tokens,
        after.cached_calls - before.cached_calls,
    )


def _answer(
    result: SearchResult,
    text: str | None,
    citations: tuple[Citation, ...],
    steps: list[Step],
    usage: Usage,
    note: str,
) -> Answer:
    return Answer(result.question, "retrieve", text, citations, result, tuple(steps), usage, note)
