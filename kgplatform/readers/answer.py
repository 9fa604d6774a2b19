"""From evidence to an answer whose citations are numbers of shown sentences; what all readers share.

    calls = Calls(run.chat, run.ledger, run.tell)
    answered = write_answer(question, select(found.result, 1100), calls, "reject")
    answered.text, answered.citations        # 'In Kingston [1].', (Citation(document='…', start=12, end=40, …),)

Without a language model the evidence is the answer, and that is said. Whether the cited sentences support an answer is
left to the model, where somebody asks for it (``verified``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from pydantic import model_validator

from kgplatform.errors import ModelError
from kgplatform.models.forms import Form, items, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, fence_for, render
from kgplatform.readers.grounding import ground, without_numbers
from kgplatform.readers.reader import AnswerMode, AnswerStyle
from kgplatform.readers.run import Calls, Tell, search_step
from kgplatform.readers.selection import Selection
from kgplatform.readers.window import Numbering
from kgplatform.records import Answer, Citation, SearchResult, Statement, Usage
from kgplatform.search.evidence import Retrieved
from kgplatform.text import counted
from kgplatform.text.sentences import numbers_in

REFUSAL = "The documents do not say."
NO_MODEL = (
    "No language model is configured, so there is no answer, only the evidence, best first. Set OPENAI_API_KEY, or "
    "OPENAI_BASE_URL for a local server, to get answers."
)
NOTHING_NEAR = "Nothing in the graph is related to this question."
OWN_KNOWLEDGE = "The documents do not say; this answer is the model's own knowledge and cites nothing."
NOT_CITED = "The model cites no sentence for this answer."
PARTIAL = "According to the model, what it read answers the question only in part, if at all."
NONE = "(none)"
_NOT_COMPARED = "Names and numbers were not compared: answer and sources are in different languages."
PROMPT = "readers/answer"

# The two modes differ in this clause alone (Youtu-GraphRAG, appendix A).
INSUFFICIENT: dict[AnswerMode, str] = {
    "reject": 'If they do not, false, and "answer" is what they do say about it, or empty.',
    "open": 'If they do not, false, and "answer" is from your own knowledge, without numbers.',
}

STYLES: dict[AnswerStyle, str] = {
    "phrase": "the bare answer and nothing else, in as few words as can be: a name, a date, a number or a short phrase",
    "sentences": "in one to three sentences, the answer itself first",
    "report": "in as many paragraphs as it takes, the answer itself first, with headings and lists in Markdown",
}
"""How a prompt says what an answer should be like: "in the language of the question, $style."."""
_MARKED = ". Behind each statement stand the numbers of its sentences in brackets, such as [2.3] or [2.3][4.1]"

_EXAMPLES: dict[AnswerStyle, str] = {
    "phrase": '"Pell Harbour", "evidence": ["4.1"]',
    "sentences": '"She grew up in Pell Harbour [4.1]: Orla Quennell founded Tarrow Mills [2.3].", '
    '"evidence": ["4.1", "2.3"]',
    "report": '"# Tarrow Mills\\nOrla Quennell founded it [2.3]. She grew up in Pell Harbour [4.1].", '
    '"evidence": ["2.3", "4.1"]',
}
"""Answer and evidence in each style."""
REPLY_TOKENS: dict[AnswerStyle, int] = {"phrase": 200, "sentences": 500, "report": 3000}
"""The most tokens of a reply."""
_REPLY_SHARE = 8


def manner(style: AnswerStyle, mode: AnswerMode = "reject", field: str = "answer") -> dict[str, str]:
    """What every prompt for an answer says of it: its style, and what the ``field`` of the reply has where there is
    none."""
    return {"style": STYLES[style], "insufficient": INSUFFICIENT[mode].replace('"answer"', f'"{field}"')}


def cited_manner(style: AnswerStyle, mode: AnswerMode = "reject", *, example: bool = True) -> dict[str, str]:
    """The same for a prompt that also says how sentences are cited, with an ``example`` where it shows one.

    A phrase has its numbers as "evidence" alone: a small model answers worse where it has to write both at once. The
    answer comes first and the question last for the same reason (docs/explanation/benchmarks/answers.md).
    """
    said = manner(style, mode)
    marked = "" if style == "phrase" else _MARKED
    return {**said, "style": said["style"] + marked} | ({"example": _EXAMPLES[style]} if example else {})


def reply_room(style: AnswerStyle, window: int) -> int:
    """The tokens of a window that are kept for a reply: of a small one an eighth."""
    return min(REPLY_TOKENS[style], window // _REPLY_SHARE)


class AnswerReply(Form):
    """The reply to every prompt that asks for an answer. Raises ``ValueError`` for an empty answer that is called
    sufficient."""

    ASIDE: ClassVar[frozenset[str]] = frozenset({"evidence"})

    answer: str = text(6000)
    evidence: list[str] = items(12)
    sufficient: bool = True

    @model_validator(mode="after")
    def _says_something(self) -> AnswerReply:
        self.answer = self.answer.strip()
        if self.sufficient and not without_numbers(self.answer):
            raise ValueError('write the "answer", or set "sufficient" to false')
        return self


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of asking the model once. ``sufficient``: whether the model said that the evidence has the answer."""

    text: str
    citations: tuple[Citation, ...] = ()
    note: str = ""
    sufficient: bool | None = None
    statements: tuple[Statement, ...] = ()
    dropped: int = 0

    @property
    def plain(self) -> str:
        """The text without the numbers of its citations, for prompts that number sentences in another order."""
        return without_numbers(self.text)

    @property
    def holds(self) -> bool:
        """Whether it is an answer, and not a refusal."""
        return self.text != REFUSAL


def write_answer(
    question: str,
    selected: Selection,
    calls: Calls,
    mode: AnswerMode,
    *,
    shown: Numbering | None = None,
    name: str = "answer",
    notes: str = "",
    style: AnswerStyle = "sentences",
    fence: str = "",
) -> Answered:
    """The model's answer from what was ``selected``, with the sentences that it cites.

    In open mode the model is asked also where nothing was found. ``shown``: what the run has shown before, whose
    numbers stay. ``notes`` are earlier thoughts, shown to the model as data; ``fence`` is as for ``answer_messages``.
    The steps are added to ``calls``, as ``name``. Raises ``ModelError``, with the failed step added.
    """
    if mode == "reject" and selected.is_empty:
        calls.note(name, "nothing was found, so the model was not asked")
        return Answered(REFUSAL, note=NOTHING_NEAR)
    shown = shown or Numbering()
    messages = answer_messages(question, selected.text(shown), mode, notes, style, fence)
    return ask_answer(calls, messages, shown, mode, prompt=PROMPT, tokens=REPLY_TOKENS[style], name=name)


def ask_answer(
    calls: Calls,
    messages: Messages,
    shown: Numbering,
    mode: AnswerMode,
    *,
    prompt: str,
    tokens: int,
    name: str = "answer",
    told: str = "",
) -> Answered:
    """The model's answer to ``messages``, made of ``prompt``, whose numbers are those of ``shown``. The step ``name``
    is added to ``calls``, also where it fails; ``told`` begins its detail. Raises ``ModelError``."""
    mark = calls.mark()
    try:
        reply, repairs = ask(calls, messages, AnswerReply, stage="answer", tokens=tokens, show=calls.shown("answer"))
    except ModelError as error:
        calls.add(name, f"failed: {error}", mark, prompt=prompt)
        raise
    answered = answer_of(reply, shown, mode)
    calls.add(name, told + outcome(answered, repairs), mark, prompt=prompt)
    return answered


def answer_of(reply: AnswerReply, shown: Numbering, mode: AnswerMode) -> Answered:
    """What a model's ``reply`` says, and on what it rests: nothing is left out but numbers that were not shown."""
    if not without_numbers(reply.answer):
        return Answered(REFUSAL, sufficient=False)
    grounded = ground(reply.answer, shown, numbers_in(reply.evidence))
    cited, dropped = [each for each in grounded.statements if each.citations], grounded.dropped
    were, they = ("was", "It names a sentence") if dropped == 1 else ("were", "They name sentences")
    note = joined(
        "" if reply.sufficient else PARTIAL,
        "" if cited else NOT_CITED,
        _NOT_COMPARED if cited and not any(each.compared for each in cited) else "",
        f"{dropped} of the model's citations {were} left out: {they} that the model was not shown." if dropped else "",
    )
    if mode == "open" and not reply.sufficient and not grounded.citations:
        note = OWN_KNOWLEDGE
    return Answered(grounded.text, grounded.citations, note, reply.sufficient, grounded.statements, dropped)


def answer_messages(
    question: str, evidence: str, mode: AnswerMode, notes: str = "", style: AnswerStyle = "sentences", fence: str = ""
) -> Messages:
    """The prompt: numbered ``evidence`` between tags that no passage can contain, and the question after it. ``fence``:
    the tags of an earlier prompt, which stay while they can: what is the same to the letter need not be read again."""
    return render(
        PROMPT,
        question=question,
        **cited_manner(style, mode),
        fence=fence_for(evidence, notes, used=fence),
        evidence=evidence,
        notes=f"\n\nNotes:\n{notes}" if notes else "",
    )


def outcome(answered: Answered, repairs: int) -> str:
    """The detail of the step that asked for an answer."""
    said = f"answered, {counted(len(answered.citations), 'citation')}" if answered.holds else "declined"
    dropped = f", {answered.dropped:,} dropped" if answered.dropped else ""
    return f"{said}{dropped} after {counted(repairs, 'repair')}" if repairs else said + dropped


def record(
    reader: str, answered: Answered, evidence: SearchResult, calls: Calls, *notes: str, is_shown: bool = True
) -> Answer:
    """The answer with what it rests on, its trace, its cost, its counts, and what there is to note about it.

    Of a refusal that was the model's it is noted in what it found no answer. ``is_shown``: the ``evidence`` is what the
    model was shown.
    """
    note = answered.note
    if answered.text == REFUSAL and answered.sufficient is False and not note:
        numbers = ((len(evidence.passages), "passage"), (len(evidence.facts), "fact")) if is_shown else ()
        shown = " and ".join(counted(number, name) for number, name in numbers if number)
        what = f"the {shown} that it was shown" if shown else "what it read"
        note = f"The language model found no answer in {what}."
    return Answer(
        evidence.question,
        reader,
        answered.text,
        answered.citations,
        evidence,
        tuple(calls.steps),
        calls.usage,
        joined(note, *notes),
        counts={name: calls.counts[name] for name in sorted(calls.counts) if calls.counts[name]},
        statements=answered.statements,
        sufficient=answered.sufficient,
    )


def joined(*notes: str) -> str:
    """Sentences side by side, less those that are empty."""
    return " ".join(filter(None, notes))


def without_model(question: str, reader: str, found: Retrieved, tell: Tell) -> Answer:
    """The evidence as it is, for want of a language model."""
    step = search_step(found)
    tell(step)
    return Answer(question, reader, None, (), found.result, (step,), Usage(), NO_MODEL)


class Verdicts(Form):
    """``supported``: of each statement, in order, whether its sentences support it."""

    supported: list[bool] = items(60)


def verified(answer: Answer, calls: Calls) -> Answer:
    """``answer`` with what the model says of each cited statement: whether the cited sentences alone support it. One
    call, a step of the trace. Raises ``ModelError``."""
    cited = [each for each in answer.statements if each.citations]
    if not cited:
        return answer
    text = "\n\n".join(
        f"Statement {number}: {without_numbers(each.text)}\n"
        f"Sentences: {' '.join(answer.citations[place - 1].text for place in each.citations)}"
        for number, each in enumerate(cited, 1)
    )
    mark = calls.mark()
    messages = render("readers/verify", fence=fence_for(text), statements=text, question=answer.question)
    reply, _ = ask(calls, messages, Verdicts, stage="verify", tokens=20 + 10 * len(cited))
    verdicts = iter(reply.supported[: len(cited)])
    statements = [
        replace(each, supported=next(verdicts, None) if each.citations else None) for each in answer.statements
    ]
    detail = f"the model finds {sum(reply.supported[: len(cited)])} of {counted(len(cited), 'statement')} supported"
    calls.add("verify", detail, mark, prompt="readers/verify")
    trace, usage = (*answer.trace, *calls.steps), answer.usage + calls.usage
    return replace(answer, statements=tuple(statements), trace=trace, usage=usage)
