"""Replies that answer or say that the text does not, and what becomes of them.

    said, again = ask_said(calls, messages, AnswerReply, stage="answer", tokens=600)
    read_answer("### Final Answer\n**Brunel**")                              # Said('Brunel')

They are asked for as JSON. What comes as free text is read by its marks (GraphReader, appendix D) and labels, whatever
their case, brackets, stars and language; the last one counts. A reply that cannot be read is asked for once more.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kgplatform.errors import InputError, ReplyError
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages
from kgplatform.readers.answer_old import REFUSAL, Answered, doubts, joined, record, with_places, write_answer
from kgplatform.readers.reader import AnswerMode, AnswerStyle
from kgplatform.readers.refusals import is_members_refusal
from kgplatform.readers.run import Calls
from kgplatform.readers.window import room_for, window_of
from kgplatform.records import Answer, Citation, FoundPassage, SearchResult
from kgplatform.retrieve.evidence import Evidence
from kgplatform.text import tidy

__all__ = ["room_for", "window_of"]  # to go with this module
NO_WORDS = "No words of this answer were found in the text that was read, so it cites nothing."
_REPLY_SHARE = 8
"""Of a small window, the part that a reply may take."""

_REPLY_TOKENS: dict[AnswerStyle, int] = {"phrase": 500, "sentences": 700, "report": 3000}

_YES = r"answerable|beantwortbar|回答可能|可以?回答"
_NO = (
    r"un[\s-]?answerable|not\s+answerable|unbeantwortbar|nicht\s+beantwortbar|sans\s+réponse|sin\s+respuesta"
    r"|无法回答|無法回答|回答不能"
)
_NOTES = r"summary|zusammenfassung|résumé|resumen|摘要|总结|總結|要約"
_WORDS = rf"{_NO}|{_YES}|{_NOTES}"
_MARK = re.compile(
    rf"\[\s*(?P<opened>{_WORDS})\b\s*\]?|(?<!\w)(?P<closed>{_WORDS})\s*\]"
    rf"|^(?:[^\w\n]|_)*(?P<bare>{_WORDS})\b[*_`)\s]*?(?:[:：–—-]|\.?[^\S\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWER_WORDS = (
    r"(?:(?:the|my|so the|thus,? the)\s+)?(?:(?:final|short|correct|direct|best)\s+)?answer"
    r"|(?:endgültige |kurze )?antwort|r[ée]ponse(?: finale| courte)?|respuesta(?: final| corta)?|risposta(?: finale)?"
    r"|resposta(?: final)?|antwoord|svar|odpowiedź|ответ|最终答案|答案|回答|答え|정답|답변|답"
)
# "Answer: …", "**Réponse :** …", "### Final Answer" with the answer in the next line, "The answer is Brunel".
_ANNOUNCED = re.compile(
    rf"(?:^|(?<=[.!?]\s))[^\w\n]*(?:{_ANSWER_WORDS})(?:\s+is)?[*_`]*(?:(?:\s*[:：=]|\s+[–—-](?=\s))[*_`]*"
    r"|(?<=is)\s+(?-i:(?=[A-Z\d\"“*]))|[^\S\n]*\n)\s*",
    re.IGNORECASE | re.MULTILINE,
)
_ASIDE = re.compile(
    r"\n\W*(?:explanation|reasoning|rationale|justification|evidence|sources?|confidence|note|erklärung|begründung"
    r"|quellen?|explication|explicación|理由|解释|説明)\b[*_`]*\s*[:：].*\Z",
    re.IGNORECASE | re.DOTALL,
)
_BOLD = re.compile(r"\A(\*\*|__|`|\")(?!\s)((?:(?!\1).)+)\1([.!]?)\Z", re.DOTALL)
_NUMBER = re.compile(r"(?<=\S)\s?\[\d{1,3}\](?!\w)")
_NO_NOTES = re.compile(
    r"[\s(\[<]*(?:none|nothing(?: new)?|no (?:new |relevant )*(?:notes|information|facts|details)|n/a|keine|the notes"
    r"|notes)?[\s)\]>.]*",
    re.IGNORECASE,
)
# Between a mark and what follows it in its line, and before the next one: a list's bullet in a line of its own stays.
_BEFORE = re.compile(r"(?:[^\S\n]|[*_`:：]|[–—-](?=\s))*\s*")
_AFTER = re.compile(r"[\s*_`#>–—-]*\Z")


@dataclass(frozen=True, slots=True)
class Said:
    """What a reply says. ``answer``: None for unanswerable; ``notes``: empty where it has none.

    ``marked``: it says one of the two outright.
    """

    answer: str | None
    notes: str = ""
    marked: bool = True


class Answering(Form):
    """A reply with an answer, or without."""

    @property
    @abstractmethod
    def said(self) -> Said:
        """What it says."""


class AnswerReply(Answering):
    """An answer in full, or that the text does not have it."""

    reasoning: str = text(600)
    answer: str = ""
    sufficient: bool | None = None

    @property
    def said(self) -> Said:
        """What it says. An answer beside "sufficient": false is what the model would guess: none."""
        return Said(None) if self.sufficient is False else _whole(self.answer)


class PieceReply(AnswerReply):
    """An answer from a piece of a text."""

    PROMPT: ClassVar[str] = "baselines/chunk_read"


class NotesReply(Answering):
    """An answer from a piece of a text and notes, with notes for what comes after; notes alone say: not yet."""

    PROMPT: ClassVar[str] = "baselines/chunk_notes"

    reasoning: str = text(600)
    notes: str = ""
    answer: str = ""
    sufficient: bool | None = None

    @property
    def said(self) -> Said:
        """What it says, with its notes."""
        return Said(None if self.sufficient is False else _whole(self.answer).answer, read_notes(self.notes))


def _whole(answer: str) -> Said:
    """An answer as it stands in a form: a mark or a label in it counts."""
    return read_answer(answer) if answer else Said(None)


def ask_said(calls: Calls, messages: Messages, form: type[Answering], *, stage: str, tokens: int) -> tuple[Said, int]:
    """What the model says, and how many replies could not be read (0 to 2).

    After the second it counts as unanswerable. Raises ``ModelError``.
    """
    before = calls.made
    try:
        reply, _ = ask(calls, messages, form, stage=stage, tokens=tokens, show=calls.shown("answer"))
    except ReplyError:
        return Said(None, marked=False), calls.made - before
    return reply.said, calls.made - before - 1


def read_reply(text: str) -> Said:
    """A reply that has marks. The last that says whether there is an answer counts."""
    parts = _parts(text)
    notes = read_notes(" ".join(content for mark, content in parts if mark == "summary" and content))
    for place, (mark, content) in reversed(list(enumerate(parts))):
        if mark == "unanswerable":
            return Said(None, notes)
        before = parts[0][1] if place == 1 else ""  # the answer first, and then its mark
        if mark == "answerable" and (content or before):
            return _without_refusal(_content(content or before), notes)
    return Said(None, notes, marked=False)


def read_answer(text: str) -> Said:
    """A reply that is an answer in full, or marked as none, or says so in words."""
    said = read_reply(text)
    return said if said.marked else _without_refusal(_content(text))


def read_notes(text: str) -> str:
    """Notes, unless they are a placeholder or say that there are none."""
    return "" if _NO_NOTES.fullmatch(text) else text.strip()


def _without_refusal(answer: str, notes: str = "") -> Said:
    if not answer:
        return Said(None, notes, marked=False)
    return Said(None if is_members_refusal(answer) else answer, notes)


def reply_tokens(style: AnswerStyle, window: int) -> int:
    """The most tokens of a reply, reasons included."""
    return min(_REPLY_TOKENS[style], window // _REPLY_SHARE)


def asked(question: str) -> str:
    """The question as it is shown. Raises ``InputError`` for one without any word."""
    question = tidy(question)
    if not any(letter.isalnum() for letter in question):
        raise InputError("The question is empty. Ask it in words.")
    return question


def finish(
    reader: str,
    question: str,
    answer: str | None,
    read: Sequence[FoundPassage],
    evidence: Evidence,
    calls: Calls,
    mode: AnswerMode,
    note: str = "",
) -> Answer:
    """The end of a run: ``answer`` with the places in ``read`` that have its words, the best first; else a refusal,
    or in open mode what the model knows by itself."""
    text, more = REFUSAL, ""
    citations: tuple[Citation, ...] = ()
    if answer is not None:
        placed, found = with_places(_without_marks(answer), read, calls, question)
        text, citations = placed.text, placed.citations
        more = "" if citations else doubts(found) if found.in_doubt else NO_WORDS
    elif mode == "open":
        nothing = SearchResult(question, (), (), 0.0)
        known = write_answer(question, nothing, evidence, calls, mode, name="own knowledge")
        text, more = known.text, known.note
    answered = Answered(text, citations, joined(note, more))
    return record(reader, answered, SearchResult(question, tuple(read), (), 0.0), calls, is_shown=False)


def _without_marks(answer: str) -> str:
    """``answer`` without "[3]" behind its words: nothing shown had a number. A year stays, and so does all there is."""
    return _NUMBER.sub("", answer).strip()


def _parts(text: str) -> list[tuple[str, str]]:
    """The marks in order, each with what follows it; first, under no mark, what comes before them."""
    found = list(_MARK.finditer(text))
    starts = [0, *(each.end() for each in found)]
    ends = [*(each.start() for each in found), len(text)]
    names = ["", *(_name(each[each.lastgroup or 0]) for each in found)]
    between = (text[start:end] for start, end in zip(starts, ends, strict=True))
    return [(name, _AFTER.sub("", _BEFORE.sub("", part, count=1))) for name, part in zip(names, between, strict=True)]


def _name(mark: str) -> str:
    kinds = {"answerable": _YES, "summary": _NOTES}
    return next((kind for kind, words in kinds.items() if re.fullmatch(words, mark, re.IGNORECASE)), "unanswerable")


def _content(text: str) -> str:
    """An answer without the label before it, remarks after it, and bold letters all over it."""
    announced = [found for found in _ANNOUNCED.finditer(text) if text[found.end() :].strip()]
    if announced:
        text = _ASIDE.sub("", text[announced[-1].end() :])
    text = text.strip()
    bold = _BOLD.match(text)
    return f"{bold[2]}{bold[3]}" if bold else text
