"""From evidence to an answer whose every citation is checked against the store; what all readers share.

    calls = Calls(run.chat, run.ledger, run.tell)
    answered = write_answer(question, found.result, evidence, calls, "reject")
    answered.text, answered.citations        # 'In Kingston [1].', (Citation(document='…', start=12, end=40, …),)

Without a language model the evidence is the answer, and that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgplatform.errors import ModelError
from kgplatform.locations import citation_of
from kgplatform.models.reply import ask
from kgplatform.places import Place, find_names, find_words
from kgplatform.prompt import Messages, render
from kgplatform.readers.answer_reply import AnswerReply
from kgplatform.readers.marks import labels, marked, renumbered, replaced, without_marks
from kgplatform.readers.reader import AnswerMode, AnswerStyle
from kgplatform.readers.refusals import is_members_refusal, without_refusal
from kgplatform.readers.run import Calls, Tell, search_step
from kgplatform.readers.statements import Source
from kgplatform.readers.support import Support, named_in, nearest, says_something, support
from kgplatform.records import Answer, Citation, FoundFact, FoundPassage, SearchResult, Usage
from kgplatform.retrieve.evidence import Evidence, Retrieved, Stored
from kgplatform.text import WORD_RUN, counted, node_id, tidy

REFUSAL = "The documents do not say."
NO_MODEL = (
    "No language model is configured, so none wrote an answer: this is the evidence, best first. "
    "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server, to get answers."
)
NOTHING_NEAR = "Nothing in the graph is near this question."
OWN_KNOWLEDGE = "The documents do not say; this answer is the model's own knowledge and cites nothing."
NONE = "(none)"
_UNSUPPORTED = "The model's answer was left out, since nothing that was read supports it:"
_IN_DOUBT = "This answer is not confirmed, so it cites nothing:"
_STAGE = "answer"
_PROMPT = AnswerReply.PROMPT

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

REPLY_TOKENS: dict[AnswerStyle, int] = {"phrase": 500, "sentences": 900, "report": 3000}
"""The most tokens of a reply, its reasoning and its quotes included."""


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
        return tidy(without_marks(self.text, len(self.citations)))


def write_answer(
    question: str,
    result: SearchResult,
    evidence: Evidence,
    calls: Calls,
    mode: AnswerMode,
    *,
    name: str = "answer",
    notes: str = "",
    style: AnswerStyle = "sentences",
    fence: str = "",
) -> Answered:
    """The model's answer from ``result``, cited where passages and facts say it; a refusal where they do not.

    In open mode the model is asked also where nothing was found. ``notes`` are earlier thoughts, shown to the model
    as data; ``fence`` is as for ``answer_messages``. The steps are added to ``calls``, as ``name``. Raises
    ``ModelError``, with the failed step added.
    """
    if mode == "reject" and not (result.passages or result.facts):
        calls.note(name, "nothing was found, so the model was not asked")
        return Answered(REFUSAL, note=NOTHING_NEAR)
    mark = calls.mark()
    messages = answer_messages(question, result, mode, notes, style, fence)
    try:
        reply, repairs = ask(
            calls,
            messages,
            AnswerReply,
            stage=_STAGE,
            tokens=REPLY_TOKENS[style],
            show=calls.shown("answer"),
        )
    except ModelError as error:
        calls.add(name, f"failed: {error}", mark, prompt=_PROMPT)
        raise
    is_refusal = not reply.answer or is_members_refusal(reply.answer)
    calls.add(name, outcome(is_refusal, repairs), mark, prompt=_PROMPT)
    stored = Stored({}, ()) if is_refusal else evidence.stored([passage.id for passage in result.passages])
    shown = _Shown.of(result, stored, reply)
    found = Support() if is_refusal else shown.support(question)
    citations = shown.citations(question, found) if found.holds else {}
    wrong = 0 if is_refusal else shown.wrong(citations)
    answered = _checked(reply, shown, citations, found, wrong, mode, is_refusal)
    detail = checked_citations(sum(map(len, citations.values())), wrong)
    lost = f"; not supported, so left out: {shown.plain}" if answered.text == REFUSAL and not is_refusal else ""
    calls.note("check citations", "nothing to check" if is_refusal else detail + lost, stored.queries)
    return answered


def answer_messages(
    question: str,
    result: SearchResult,
    mode: AnswerMode,
    notes: str = "",
    style: AnswerStyle = "sentences",
    fence: str = "",
) -> Messages:
    """The prompt: numbered passages and facts between tags that no passage can contain, and the question after them.

    ``fence``: the tags of an earlier prompt, which stay while they can: what is the same to the letter need not be read
    again.
    """
    facts, passages = shown_facts(result.facts), shown_passages(result.passages)
    return render(
        _PROMPT,
        question=question,
        style=STYLES[style],
        insufficient=INSUFFICIENT[mode],
        fence=fence_for(facts, passages, notes, used=fence),
        facts=facts,
        passages=passages,
        notes=f"\n\nNotes:\n{notes}" if notes else "",
    )


def outcome(is_refusal: bool, repairs: int) -> str:
    """The detail of the step that asked for an answer."""
    said = "declined" if is_refusal else "answered"
    return f"{said} after {counted(repairs, 'repair')}" if repairs else said


def checked_citations(holding: int, dropped: int) -> str:
    """The detail of the step that checked the citations of an answer."""
    return f"{counted(holding, 'citation')} checked" + (f", {dropped:,} dropped" if dropped else "")


def left_out(wrong: int) -> str:
    """A note on citations that were dropped; empty for none."""
    were, their = ("was", "its") if wrong == 1 else ("were", "their")
    return f"{wrong} of the model's citations {were} left out: {their} words are not in the passage." if wrong else ""


def record(
    reader: str, answered: Answered, evidence: SearchResult, calls: Calls, *notes: str, is_shown: bool = True
) -> Answer:
    """The answer with what it rests on, its trace, its cost, its counts, and what there is to note about it.

    A refusal about which there is nothing else to note was the model's: then it is noted in what it found no answer.
    ``is_shown``: the ``evidence`` is what the model was shown.
    """
    note = joined(answered.note, *notes)
    if answered.text == REFUSAL and not note:
        note = _declined(evidence) if is_shown else _NOT_FOUND
    return Answer(
        evidence.question,
        reader,
        answered.text,
        answered.citations,
        evidence,
        tuple(calls.steps),
        calls.usage,
        note,
        counts={name: calls.counts[name] for name in sorted(calls.counts) if calls.counts[name]},
    )


_NOT_FOUND = "The language model found no answer in what it read."


def _declined(evidence: SearchResult) -> str:
    numbers = ((len(evidence.passages), "passage"), (len(evidence.facts), "fact"))
    shown = " and ".join(counted(number, name) for number, name in numbers if number)
    return f"The language model found no answer in the {shown} that it was shown." if shown else _NOT_FOUND


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
    """Facts as a prompt shows them, one a line, numbered from F1."""
    return "\n".join(f"[F{n}] {fact.text}" for n, fact in enumerate(facts, 1)) or NONE


LARGEST_FENCE = "data-a1a1a1a1a1a1"
"""As many tokens as tags can have, to measure a prompt with."""


def fence_for(*texts: str, used: str = "") -> str:
    """The name of the tags round ``texts``: made from them, so that none of them can contain it.

    ``used``, that of an earlier prompt, stays where none does contain it: its beginning is then the same.
    """
    return used if used and not any(used in text for text in texts) else f"data-{node_id(*texts)[:12]}"


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a prompt showed and a reply marks: ``sources`` by label, those that the reply cites first."""

    reply: AnswerReply
    shown: frozenset[str]
    cited: tuple[str, ...]
    passages: dict[str, FoundPassage]
    facts: dict[str, FoundFact]

    @classmethod
    def of(cls, result: SearchResult, stored: Stored, reply: AnswerReply) -> _Shown:
        """The passages as the store has them; facts that have a place."""
        shown = labels(len(result.passages), len(result.facts))
        known = {str(n): stored.passages.get(each.id) for n, each in enumerate(result.passages, 1)}
        facts = {f"F{n}": each for n, each in enumerate(result.facts, 1) if each.citations}
        named = [each.passage for each in reply.citations if each.passage in shown]
        cited = tuple(dict.fromkeys([*marked(reply.answer, shown), *named]))
        return cls(reply, shown, cited, {label: each for label, each in known.items() if each}, facts)

    @property
    def meant(self) -> frozenset[str]:
        """All labels that are marks in the answer: what was shown, and what the reply lists as cited."""
        return self.shown | {each.passage for each in self.reply.citations if each.passage}

    @property
    def plain(self) -> str:
        """The answer without marks."""
        return replaced(self.reply.answer, self.meant, lambda inside: "")

    def support(self, question: str) -> Support:
        """Whether what was shown supports the reply, else what it cites of that. The sources are those of ``order``.

        What names nothing that the question names, though something else does, tells of somebody else.
        """
        everything = self._from(question, self.order)
        if everything.holds or not self.cited:
            return everything
        cited = self._from(question, self.cited)
        is_asked_about = named_in(question, self._sources(self.cited)) or not named_in(
            question, self._sources(self.order)
        )
        return cited if cited.holds and is_asked_about else everything  # which knows what was not read at all

    @property
    def order(self) -> tuple[str, ...]:
        """All labels, the cited ones first."""
        known = [label for label in (*self.cited, *self.passages, *self.facts) if self._source(label)]
        return tuple(dict.fromkeys(known))

    def _from(self, question: str, wanted: Sequence[str]) -> Support:
        order = [label for label in self.order if label in wanted]
        return support(question, without_refusal(self.plain), self._sources(order))

    def _sources(self, labels: Sequence[str]) -> list[Source]:
        return [source for label in labels if (source := self._source(label))]

    def _source(self, label: str) -> Source | None:
        if passage := self.passages.get(label):
            return Source(passage.text, passage.title)
        fact = self.facts.get(label)
        return Source(fact.text) if fact else None

    def citations(self, question: str, found: Support) -> dict[str, list[Citation]]:
        """The places that support the answer, by label, and those of further quotes that stand in their passages."""
        cited: dict[str, list[Citation]] = {}
        for number, place in found.places:
            label = self.order[number]
            fact = self.facts.get(label)
            if fact:
                cited[label] = [max(fact.citations, key=lambda each: each.found)]
            else:
                cited.setdefault(label, []).append(cite(self.passages[label], place))
        said = f"{question} {self.plain}"
        for label, passage in self.passages.items():
            quoted = self._quoted(label, passage)
            words = passage.text[quoted.start : quoted.end] if quoted else ""
            if quoted and (label not in cited or support(question, self.plain, [Source(words, passage.title)]).holds):
                cited[label] = [cite(passage, quoted)]
            elif label in self.bare and label not in cited and (best := nearest(said, passage.text)):
                cited[label] = [cite(passage, best)]
        return {label: cited[label] for label in self.order if label in cited}

    @property
    def bare(self) -> frozenset[str]:
        """The labels that are cited without any words."""
        return frozenset(self.cited) - {each.passage for each in self.reply.citations if each.quote}

    def _quoted(self, label: str, passage: FoundPassage) -> Place | None:
        """The first of the reply's quotes that stands in ``passage``, if it says anything."""
        quotes = (each.quote for each in self.reply.citations if each.passage in (label, ""))
        places = (find_words(quote, passage.text) for quote in quotes if says_something(quote))
        return next(filter(None, places), None)

    def wrong(self, cited: dict[str, list[Citation]]) -> int:
        """How many of the reply's citations lead nowhere."""
        return sum(each.passage not in cited for each in self.reply.citations if each.passage)


def _checked(
    reply: AnswerReply,
    shown: _Shown,
    citations: dict[str, list[Citation]],
    found: Support,
    wrong: int,
    mode: AnswerMode,
    is_refusal: bool,
) -> Answered:
    """A reply that calls the evidence insufficient and gives an answer whose words are there has decided too early."""
    if citations:
        places = list(dict.fromkeys(place for each in citations.values() for place in each))
        numbers = {label: [places.index(place) + 1 for place in each] for label, each in citations.items()}
        text = renumbered(reply.answer, shown.meant, numbers)
        return Answered(text, tuple(places), left_out(wrong), holds=True)
    if mode == "open" and not is_refusal:
        return Answered(shown.plain, note=OWN_KNOWLEDGE, holds=True)
    if is_refusal or not reply.sufficient:
        return Answered(REFUSAL)
    return unconfirmed(shown.plain, found)


def unconfirmed(answer: str, found: Support) -> Answered:
    """An ``answer`` that the check does not confirm: as it is where it may be right, else a refusal that says why."""
    if found.in_doubt:
        return Answered(answer, note=doubts(found))
    return Answered(REFUSAL, note=joined(_UNSUPPORTED, found.why))


def doubts(found: Support) -> str:
    """The note on an answer that may be right and is not confirmed."""
    return joined(_IN_DOUBT, found.why)


MOST_CITED = 3
"""Passages that are cited for a name, a date or a number that each of them has."""

_SHORT = 8
"""Words of an answer that is a name, a date or a number."""

_EDGES = " \t\r\n.,;:!?*`'\"“”‘’«»()[]{}"


def with_places(text: str, read: Sequence[FoundPassage], calls: Calls, question: str = "") -> tuple[Answered, Support]:
    """``text`` with marks of the places in ``read`` that have its words (``cite_words``), and whether they support it;
    a step says so."""
    found = support(question, text, _sources(read))
    citations = _cited(found, text, read, question)
    calls.note("find citations", f"the answer's words stand in {len(citations)} of the passages that were read")
    numbers = "".join(f"[{number}]" for number in range(1, len(citations) + 1))
    return Answered(f"{text} {numbers}".rstrip(), citations, holds=found.holds), found


def cite_words(answer: str, passages: Sequence[FoundPassage], question: str = "") -> tuple[Citation, ...]:
    """The places in ``passages`` that support ``answer``, as ``support`` says; empty where they do not.

    Of a name, a date or a number it is the words themselves, in at most three of the passages that support it, in the
    given order; of statements the sentences that say them.
    """
    return _cited(support(question, answer, _sources(passages)), answer, passages, question)


def _sources(passages: Sequence[FoundPassage]) -> list[Source]:
    return [Source(passage.text, passage.title) for passage in passages]


def _cited(found: Support, answer: str, passages: Sequence[FoundPassage], question: str) -> tuple[Citation, ...]:
    if not found.holds:
        return ()
    short = answer.strip(_EDGES)
    if len(WORD_RUN.findall(short)) <= _SHORT:
        named = [(each, next(iter(find_names(short, each.text)), None)) for each in passages]
        alone = [
            cite(each, place)
            for each, place in named
            if place and support(question, answer, [Source(each.text, each.title)]).holds
        ]
        if alone:
            return tuple(alone[:MOST_CITED])
    return tuple(cite(passages[number], place) for number, place in found.places)


def cite(passage: FoundPassage, place: Place) -> Citation:
    """The citation of ``passage.text[place.start:place.end]``."""
    start, end = passage.start + place.start, passage.start + place.end
    return citation_of(passage, start, end)
