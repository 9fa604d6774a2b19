"""From evidence to an answer whose every citation is checked against the store; what all readers share.

    calls = Calls(run.chat, run.ledger, run.tell)
    answered = write_answer(question, found.result, evidence, calls, "reject")
    answered.text, answered.citations        # 'In Kingston [1].', (Citation(document='…', start=12, end=40, …),)

Without a language model the evidence is the answer, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import BaseModel, Field

from kgplatform.errors import ModelError
from kgplatform.models.reply import ask
from kgplatform.places import Place, find_names, find_statement, find_words
from kgplatform.prompt import Messages, render
from kgplatform.readers.reader import AnswerMode, AnswerStyle
from kgplatform.readers.run import Calls, Tell, search_step
from kgplatform.records import Answer, Citation, FoundFact, FoundPassage, SearchResult, Usage
from kgplatform.retrieve.evidence import Evidence, Retrieved, Stored
from kgplatform.sentences import sentences
from kgplatform.text import WORD_RUN, count_tokens, counted, node_id, normalise_name, tidy

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


STYLES: dict[AnswerStyle, str] = {
    "phrase": "the bare answer and nothing else, in as few words as can be: a name, a date, a number or a short phrase",
    "sentences": "in one to three sentences, the answer itself first",
    "report": "in as many paragraphs as it takes, the answer itself first, with headings and lists in Markdown",
}
"""How a prompt says what an answer should be like: "Answer in the language of the question, $style."."""


class _Cited(BaseModel):
    passage: int
    quote: str = ""


class _Reply(BaseModel):
    answer: str = ""
    sufficient: bool = True
    citations: list[_Cited] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of asking the model once. ``holds``: it is cited or marked as own knowledge, not refused."""

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
    """The model's answer from ``result``, less the citations that are wrong; a refusal where nothing was found.

    In open mode the model is asked also where nothing was found. ``notes`` are earlier thoughts, shown to the model
    as data. The steps are added to ``calls``, as ``name``. Raises ``ModelError``, with the failed step added.
    """
    if mode == "reject" and not result.passages:
        calls.note(name, "nothing was found, so the model was not asked")
        return Answered(REFUSAL, note=NOTHING_NEAR)
    mark = calls.mark()
    try:
        messages = answer_messages(question, result, mode, notes)
        reply, repairs = ask(calls, messages, _Reply, stage=_STAGE, show=calls.shown("answer"))
    except ModelError as error:
        calls.add(name, f"failed: {error}", mark, prompt=_PROMPT)
        raise
    calls.add(name, f"answered after {repairs} repairs" if repairs else "answered", mark, prompt=_PROMPT)
    stored = evidence.stored([passage.id for passage in result.passages]) if reply.citations else Stored({}, ())
    citations, wrong = _check_citations(result, reply, stored)
    calls.note("check citations", checked_citations(len(citations), wrong), stored.queries)
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


def checked_citations(holding: int, dropped: int) -> str:
    """The detail of the step that checked the citations of an answer."""
    return f"{counted(holding, 'citation')} checked, {dropped:,} dropped"


def left_out(wrong: int) -> str:
    """A note on citations that were dropped; empty for none."""
    were, their = ("was", "its") if wrong == 1 else ("were", "their")
    return f"{wrong} of the model's citations {were} left out: {their} words are not in the passage." if wrong else ""


def record(reader: str, answered: Answered, evidence: SearchResult, calls: Calls, *notes: str) -> Answer:
    """The answer with what it rests on, its trace, its cost, its counts, and what there is to note about it."""
    return Answer(
        evidence.question,
        reader,
        answered.text,
        answered.citations,
        evidence,
        tuple(calls.steps),
        calls.usage,
        joined(answered.note, *notes),
        counts={name: calls.counts[name] for name in sorted(calls.counts) if calls.counts[name]},
    )


def joined(*notes: str) -> str:
    """Sentences side by side, less those that are empty."""
    return " ".join(filter(None, notes))


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


LARGEST_FENCE = "data-a1a1a1a1a1a1"
"""As many tokens as tags can have, to measure a prompt with."""


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
    return replace(result, passages=tuple(passages), facts=tuple(facts))


def _checked(reply: _Reply, citations: dict[int, Citation], wrong: int, mode: AnswerMode) -> Answered:
    text = reply.answer.strip()
    if text and reply.sufficient and citations:
        return Answered(_renumbered(text, citations), tuple(citations.values()), left_out(wrong), holds=True)
    if mode == "open" and text:
        return Answered(_MARK.sub("", text).strip(), note=OWN_KNOWLEDGE, holds=True)
    return Answered(REFUSAL, note=_UNSUPPORTED if text and reply.sufficient else "")


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
        else:
            held.setdefault(cited.passage, cite(passage, place))
    return held, wrong


def _renumbered(text: str, citations: dict[int, Citation]) -> str:
    """``text`` without marks of passages whose citation was dropped; the others are numbered as they are listed."""
    numbers = {passage: n for n, passage in enumerate(citations, 1)}
    return _MARK.sub(lambda mark: f"[{numbers[int(mark[1])]}]" if int(mark[1]) in numbers else "", text).strip()


MOST_CITED = 3
"""Citations of an answer that quotes nothing."""

_SHORT = 8
"""Words of an answer that is a name, a date or a number."""

_WORDS = r"[^\W\d_][\w'’.\-]*"
# Quoted words; numbers with what joins their parts; names: a word with a capital, and those that follow it, with short
# words between them ("Physical Geography of the Sea").
_TELLING = re.compile(
    r"[\"“«„](?P<quoted>[^\"”»“]{2,80})[\"”»“]"
    r"|(?P<number>\d+(?:[.,:/\-]\d+)*)"
    rf"|(?P<name>(?<!\w)(?=[^\W\d_a-zß-öø-ÿ]){_WORDS}(?:[ ](?:(?:of|the|de|la|von|van|and|du|der|del)[ ]){{0,2}}"
    rf"(?=[^\W\d_a-zß-öø-ÿ]){_WORDS})*)"
)
_EDGES = " \t\r\n.,;:!?*`'\"“”‘’«»()[]{}"
_SMALL = (
    "the a an in on at by from it he she they this that these those there his her its their and but so as for to of i "
    "we you both one who which what when where according based yes no after before since while because however"
)
_OPENERS = frozenset(_SMALL.split())
"""Words that have their capital, if they have one, from the beginning of a sentence."""

_NO_EVIDENCE = _OPENERS | {"true", "false", "none", "unknown", "unclear", "maybe", "not", "n/a"}
"""Answers that any text may hold by chance."""


def with_places(text: str, read: Sequence[FoundPassage], calls: Calls) -> tuple[str, tuple[Citation, ...]]:
    """``text`` with marks of the places in ``read`` that have its words (``cite_words``), and these; a step says so."""
    citations = cite_words(text, read)
    calls.note("find citations", f"the answer's words stand in {len(citations)} of the passages that were read")
    numbers = "".join(f"[{number}]" for number in range(1, len(citations) + 1))
    return f"{text} {numbers}".rstrip(), citations


def cite_words(answer: str, passages: Sequence[FoundPassage]) -> tuple[Citation, ...]:
    """The places in ``passages`` that have the words of ``answer``: at most three, a passage each, in the given order.

    All of a short answer counts, a statement that stands there nearly to the letter, or its names, numbers and quoted
    words: "The castle is Casa Loma" is found where Casa Loma is named. Empty where there is none, and for a bare yes
    or no.
    """
    short = answer.strip(_EDGES)
    is_short = len(WORD_RUN.findall(short)) <= _SHORT and normalise_name(short) not in _NO_EVIDENCE
    if is_short and (found := _cited(passages, partial(_first_name, short))):
        return found
    unique: dict[str, Citation] = {}
    for sentence in sentences(answer):
        for citation in _of_statement(answer[sentence.start : sentence.end], passages):
            unique.setdefault(citation.passage, citation)
    return tuple(unique.values())[:MOST_CITED]


def _of_statement(statement: str, passages: Sequence[FoundPassage]) -> tuple[Citation, ...]:
    """Passages that have the statement, else all of its telling words in one, else the rarest of them."""
    if len(WORD_RUN.findall(statement)) > 1 and (found := _cited(passages, lambda text: find_words(statement, text))):
        return found
    telling = list(dict.fromkeys(_telling(statement)))
    if len(telling) > 1 and (found := _cited(passages, lambda text: find_statement(None, telling, text))):
        return found
    single = (_cited(passages, partial(_first_name, words), most=len(passages)) for words in telling)
    held = [found for found in single if found]
    return min(held, key=len)[:MOST_CITED] if held else ()


def _first_name(name: str, text: str) -> Place | None:
    return next(iter(find_names(name, text)), None)


def _telling(statement: str) -> Iterator[str]:
    for found in _TELLING.finditer(statement):
        words = found[found.lastgroup or 0].strip(_EDGES)
        if found.lastgroup == "name" and found.start() == 0:
            words = _without_opener(words)
        if len(words) > 1 or words.isdigit():
            yield words


def _without_opener(words: str) -> str:
    """A name at the beginning of a sentence, less the article or pronoun that has its capital from there."""
    parts = words.split(" ")
    while parts and parts[0].lower() in _OPENERS:
        parts = parts[1:]
    return " ".join(parts)


def _cited(
    passages: Sequence[FoundPassage], find: Callable[[str], Place | None], most: int = MOST_CITED
) -> tuple[Citation, ...]:
    found: list[Citation] = []
    for passage in passages:
        place = find(passage.text) if len(found) < most else None
        if place is not None:
            found.append(cite(passage, place))
    return tuple(found)


def cite(passage: FoundPassage, place: Place) -> Citation:
    """The citation of ``passage.text[place.start:place.end]``."""
    start, end = passage.start + place.start, passage.start + place.end
    return Citation(passage.document, passage.title, start, end, passage.page, passage.id)
