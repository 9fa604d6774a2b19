"""From evidence to an answer whose every citation is checked against the store; what all readers share.

    calls = Calls(run.chat, run.ledger, run.tell)
    answered = write_answer(question, found.result, evidence, calls, "reject")
    answered.text, answered.citations        # 'In Kingston [1].', (Citation(document='…', start=12, end=40, …),)

Without a language model the evidence is the answer, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from kgplatform.errors import ModelError
from kgplatform.models.reply import ask
from kgplatform.places import find_words
from kgplatform.prompt import Messages, render
from kgplatform.readers.calls import Calls, Tell, ids_of, search_step
from kgplatform.readers.reader import AnswerMode
from kgplatform.records import Answer, Citation, FoundFact, FoundPassage, SearchResult, Usage
from kgplatform.retrieve.evidence import Evidence, Retrieved, Stored
from kgplatform.text import count_tokens, node_id, tidy

REFUSAL = "The documents do not say."
NO_MODEL = (
    "No language model is configured, so none wrote an answer: this is the evidence, best first. "
    "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server, to get answers."
)
NOTHING_NEAR = "Nothing in the graph is near this question."
OWN_KNOWLEDGE = "The documents do not say; this answer is the model's own knowledge and cites nothing."
NONE = "(none)"
_UNSUPPORTED = "The model's answer cited nothing that the documents say."
_STAGE = "answer"
_PROMPT = "readers/answer"
_FACTS_SHARE = 4
_MARK = re.compile(r"\[(\d+)\]")

# The two modes differ in this clause alone (Youtu-GraphRAG, appendix A).
INSUFFICIENT: dict[AnswerMode, str] = {
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
class Answered:
    """What came of asking the model once. ``holds``: it is an answer, cited or marked as the model's own knowledge,
    and no refusal."""

    text: str
    citations: tuple[Citation, ...] = ()
    note: str = ""
    holds: bool = False

    @property
    def plain(self) -> str:
        """The text without the numbers of its citations, for prompts that number passages in another order."""
        return tidy(_MARK.sub("", self.text))


def write_answer(
    question: str,
    result: SearchResult,
    evidence: Evidence,
    calls: Calls,
    mode: AnswerMode,
    *,
    name: str = "answer",
    notes: str = "",
) -> Answered:
    """The model's answer from ``result``, less the citations that do not hold; a refusal where nothing was found.

    In open mode the model is asked also where nothing was found. ``notes`` are earlier thoughts, shown to the model
    as data. The steps are added to ``calls``, as ``name``. Raises ``ModelError``, with the failed step added.
    """
    if mode == "reject" and not result.passages:
        calls.note(name, "nothing was found, so the model was not asked")
        return Answered(REFUSAL, note=NOTHING_NEAR)
    mark = calls.mark()
    try:
        reply, repairs = ask(calls, answer_messages(question, result, mode, notes), _Reply, stage=_STAGE)
    except ModelError as error:
        calls.add(name, f"failed: {error}", mark, prompt=_PROMPT)
        raise
    detail = "answered" if not repairs else f"answered after {repairs} repairs"
    calls.add(name, detail, mark, prompt=_PROMPT)
    stored = evidence.stored(ids_of(result)[0]) if reply.citations else Stored({}, ())
    citations, wrong = _check_citations(result, reply, stored)
    calls.note("check citations", f"{len(citations)} hold, {wrong} do not", stored.queries)
    return _checked(reply, citations, wrong, mode)


def answer_messages(question: str, result: SearchResult, mode: AnswerMode, notes: str = "") -> Messages:
    """The prompt: numbered passages and facts between tags that no passage can contain."""
    facts, passages = shown_facts(result.facts), shown_passages(result.passages)
    return render(
        _PROMPT,
        question=question,
        insufficient=INSUFFICIENT[mode],
        fence=fence_for(facts, passages, notes),
        facts=facts,
        passages=passages,
        notes=f"\n\nNotes:\n{notes}" if notes else "",
    )


def without_model(question: str, reader: str, found: Retrieved, tell: Tell) -> Answer:
    """The evidence as it is, for want of a language model."""
    step = search_step(found)
    tell(step)
    return Answer(question, reader, None, (), found.result, (step,), Usage(), NO_MODEL)


def shown_passages(passages: Sequence[FoundPassage]) -> str:
    """Passages as a prompt shows them, numbered from 1."""
    return "\n\n".join(f"[{n}] {each.title}: {each.text}" for n, each in enumerate(passages, 1)) or NONE


def shown_facts(facts: Sequence[FoundFact]) -> str:
    """Facts as a prompt shows them, one a line."""
    return "\n".join(f"- {fact.text}" for fact in facts) or NONE


def fence_for(*texts: str) -> str:
    """The name of the tags round ``texts``: made from them, so that none of them can contain it."""
    return f"data-{node_id(*texts)[:12]}"


def within(result: SearchResult, tokens: int) -> SearchResult:
    """``result`` less what does not fit into ``tokens``, best first; the first passage always fits.

    Facts take a quarter at most: they say in short what passages say, and only passages can be cited.
    """
    facts: list[FoundFact] = []
    left = tokens // _FACTS_SHARE
    for fact in result.facts:
        cost = count_tokens(fact.text) + 1
        if cost <= left:
            facts.append(fact)
            left -= cost
    passages: list[FoundPassage] = []
    left = tokens - tokens // _FACTS_SHARE + left
    for passage in result.passages:
        cost = count_tokens(passage.title) + count_tokens(passage.text) + 4
        if cost <= left or not passages:
            passages.append(passage)
            left -= cost
    return SearchResult(
        result.question, tuple(passages), tuple(facts), result.seconds, result.paths, result.communities
    )


def _checked(reply: _Reply, citations: dict[int, Citation], wrong: int, mode: AnswerMode) -> Answered:
    text = reply.answer.strip()
    if text and reply.sufficient and citations:
        return Answered(_renumbered(text, citations), tuple(citations.values()), _left_out(wrong), holds=True)
    if mode == "open" and text:
        return Answered(_MARK.sub("", text).strip(), note=OWN_KNOWLEDGE, holds=True)
    return Answered(REFUSAL, note=_UNSUPPORTED if text and reply.sufficient else "")


def _left_out(wrong: int) -> str:
    were, their = ("was", "its") if wrong == 1 else ("were", "their")
    return f"{wrong} of the model's citations {were} left out: {their} words are not in the passage." if wrong else ""


def _check_citations(result: SearchResult, reply: _Reply, stored: Stored) -> tuple[dict[int, Citation], int]:
    """The citations whose words stand in the passage as the store has it, by number, and how many do not."""
    held: dict[int, Citation] = {}
    wrong = 0
    for cited in reply.citations:
        known = 1 <= cited.passage <= len(result.passages)
        passage = stored.passages.get(result.passages[cited.passage - 1].id) if known else None
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
