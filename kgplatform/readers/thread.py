"""Follow-up questions: made to stand alone by one call of the model, before any reader is asked.

    stand_alone("And when did she die?", [Exchange("Who was Ada Lovelace?", "A mathematician [1].")], calls, 32_768)
    # ('When did Ada Lovelace die?', '')

A rewriting that fails, or that cannot be the same question, is not used: the question is asked as it was put.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgplatform.errors import ModelError
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, fence_for, render
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Window
from kgplatform.text import clipped, count_tokens, tidy

FAILED = "The follow-up question could not be rewritten to stand alone, so it was asked unchanged."
_PROMPT = "readers/standalone"
_TOKENS = 600  # of the reply
_LONGEST_ANSWER = 1200  # characters of an earlier answer that are shown
_MOST_TURNS = 10
_LONGER = 400  # characters that a question may have more than the follow-up that it was made of
_MARK = re.compile(r"\s*\[\d+\]")
_NUMBER = re.compile(r"\d+")
_ASKS = re.compile(r"[?？؟]\W*$")
_EDGES = ' \t*_`"“”„«»>#-'


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier question, as it stands alone, and its answer; None where none was written."""

    question: str
    answer: str | None


class _Standalone(Form):
    reasoning: str = text(400)
    question: str = text(600, ...)


def stand_alone(question: str, earlier: Sequence[Exchange], calls: Calls, context: int) -> tuple[str, str]:
    """``question`` as it stands alone, and what there is to note about it; a step of ``calls`` says how it came about.

    Without anything ``earlier`` it is asked as it is, and the model is not called. ``context``: the tokens of the
    model's window; of what does not fit, the oldest is left out.
    """
    if not earlier:
        return question, ""
    mark = calls.mark()
    try:
        messages = standalone_messages(question, earlier, context)
        reply, _ = ask(calls, messages, _Standalone, stage="standalone", tokens=_TOKENS)
    except ModelError as error:
        calls.add("stand alone", f"failed: {error}", mark, prompt=_PROMPT)
        return question, FAILED
    made = tidy(reply.question)
    fault = why_not(made, question, earlier)
    calls.add("stand alone", f"not used: {fault}" if fault else f"asked as: {made}", mark, prompt=_PROMPT)
    return (question, FAILED) if fault else (made, "")


def standalone_messages(question: str, earlier: Sequence[Exchange], context: int) -> Messages:
    """The prompt: the last exchanges, as many as fit, between tags that none of them can contain."""
    room = Window(context, reply=_TOKENS).room(render(_PROMPT, question=question, turns="", fence=fence_for("")))
    shown: list[str] = []
    for exchange in reversed(earlier[-_MOST_TURNS:]):
        answer = clipped(_MARK.sub("", exchange.answer or "(no answer)"), _LONGEST_ANSWER)
        turn = f"Question: {exchange.question}\nAnswer: {answer}"
        room -= count_tokens(turn) + 2
        if shown and room < 0:
            break
        shown.insert(0, turn)
    turns = "\n\n".join(shown)
    return render(_PROMPT, question=question, turns=turns, fence=fence_for(turns))


def why_not(made: str, question: str, earlier: Sequence[Exchange]) -> str:
    """Why ``made`` cannot be what ``question`` asks; empty where it may be.

    It cannot where it says nothing, is an earlier question that was answered, goes on after its question mark as the
    follow-up does not, is far longer, lacks a number of the follow-up or has one that nobody named.
    """
    asked = tidy(question)
    if made == asked:
        return ""
    if len(made) > len(asked) + _LONGER:
        return "it is too long for a question"
    if re.search(r"[?？؟]", asked) and not re.search(r"[?？؟]", made):
        return "it asks nothing"
    if made.casefold() in {tidy(each.question).casefold() for each in earlier if each.answer}:
        return "it is an earlier question"
    goes_on, may_go_on = (
        re.search(r"[?？؟]", text) is not None and _ASKS.search(text.rstrip(_EDGES)) is None for text in (made, asked)
    )
    if goes_on and not may_go_on:
        return "it goes on after the question"
    numbers, known = set(_NUMBER.findall(made)), set(_NUMBER.findall(asked))
    if lost := sorted(known - numbers):
        return f"it leaves out {lost[0]}"
    told = " ".join(f"{each.question} {each.answer or ''}" for each in earlier)
    if strange := sorted(numbers - known - set(_NUMBER.findall(told))):
        return f"nobody named {strange[0]}"
    return ""
