"""What readers are compared with, beside the baselines among them: one search by one route, and the model alone."""

from __future__ import annotations

from dataclasses import dataclass

from kgplatform.errors import InputError, ReplyError
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.prompt import fence_for, render
from kgplatform.readers.answer import OWN_KNOWLEDGE, REFUSAL, REPLY_TOKENS, STYLES, Answered, record
from kgplatform.readers.reader import AnswerMode, AnswerStyle, check, style_option
from kgplatform.readers.run import Calls
from kgplatform.records import Answer, SearchResult

CLOSED = "closed"
ROUTES = ("bm25", "dense", "hybrid")
"""Comparators that are the reader ``retrieve`` by the route of that name."""


@dataclass(frozen=True, slots=True)
class ClosedOptions:
    """The model alone, without any document: nothing could make it refuse."""

    mode: AnswerMode = "open"
    answer_style: AnswerStyle = style_option()

    def __post_init__(self) -> None:
        check(self)
        if self.mode != "open":
            raise InputError("closed is the model without documents: its only mode is open.")


_NO_ANSWER = "The language model gave no answer from its own knowledge."
_ZERO_SHOT = "evaluate/zero_shot"
_THOUGHTS = 200
"""Tokens of them, before the answer."""


class Known(Form):
    """The answer that the model holds right, or most likely."""

    reasoning: str = text(600)
    answer: str


def answer_closed(question: str, calls: Calls, options: ClosedOptions) -> Answer:
    """What the model knows by itself; it cites nothing. Raises ``ModelError``."""
    style = options.answer_style
    mark = calls.mark()
    messages = render(_ZERO_SHOT, question=question, style=STYLES[style], fence=fence_for(question))
    try:
        said, _ = ask(calls, messages, Known, stage="answer", tokens=_THOUGHTS + REPLY_TOKENS[style])
        told, answered = "from the model's own knowledge", Answered(said.answer.strip(), note=OWN_KNOWLEDGE)
    except ReplyError:
        told, answered = "the model gave no answer", Answered(REFUSAL, note=_NO_ANSWER)
    calls.add("answer", told, mark, prompt=_ZERO_SHOT)
    return record(CLOSED, answered, SearchResult(question, (), (), 0.0), calls)
