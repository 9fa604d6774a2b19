"""Short answers to sub-questions, to be put into those that wait for them.

fill_in({1: ("Which rivers meet at Ilsen?", found)}, calls, room)      # {1: ('Aldbeck', 'Wend')}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.forms import Form, several, worded
from kgplatform.models.reply import ask
from kgplatform.prompt import render
from kgplatform.readers.answer import fence_for, shown_facts, shown_passages
from kgplatform.readers.run import Calls
from kgplatform.readers.youtu.sub_questions import MOST_ANSWERS
from kgplatform.records import SearchResult
from kgplatform.text import tidy

_PROMPT = "youtu/fill_in"
_REPLY = 600
"""Tokens of a reply at most."""
_LONGEST = 200
"""Characters: what is longer is not a name, a date, a number or a thing."""


class _Answer(Form):
    number: int
    answers: list[str] = several(MOST_ANSWERS)


class _Answers(Form):
    reasoning: str = worded(600)
    answers: list[_Answer] = several(8)


def fill_in(
    asked: Mapping[int, tuple[str, SearchResult]], calls: Calls, within: Callable[[SearchResult, int], SearchResult]
) -> dict[int, tuple[str, ...]]:
    """Short answers by number, for those of ``asked`` (number to question and its evidence) that have any.

    A failure answers none: the step says so. Raises ``BudgetError`` alone. ``within(result, n)``: what of a result fits
    into one of ``n`` equal shares of the prompt.
    """
    mark = calls.mark()
    parts = "\n\n".join(_part(n, words, within(found, len(asked))) for n, (words, found) in asked.items())
    questions = "\n".join(f"{n}. {words}" for n, (words, _) in asked.items())
    messages = render(_PROMPT, most=str(MOST_ANSWERS), fence=fence_for(parts), parts=parts, questions=questions)
    try:
        reply, _ = ask(calls, messages, _Answers, stage="fill_in", tokens=_REPLY)
    except BudgetError:
        raise
    except ModelError as error:
        calls.add("fill in", f"failed, so the words of the sub-questions are used: {error}", mark, prompt=_PROMPT)
        return {}
    given = {each.number: short for each in reversed(reply.answers) if (short := _short(each.answers))}
    answers = {n: given[n] for n in asked if n in given}
    told = {n: " or ".join(answers.get(n, ("not answered, its words are used",))) for n in asked}
    calls.add("fill in", "; ".join(f"#{n}: {words}" for n, words in told.items()), mark, prompt=_PROMPT)
    return answers


def _part(number: int, question: str, shown: SearchResult) -> str:
    facts, passages = shown_facts(shown.facts), shown_passages(shown.passages)
    return f"Question {number}: {question}\n\nFacts:\n{facts}\n\nPassages:\n{passages}"


def _short(said: Sequence[str]) -> tuple[str, ...]:
    """The answers that name something, each once."""
    kept = [words for words in map(tidy, said) if words and len(words) <= _LONGEST]
    return tuple(dict.fromkeys(kept))[:MOST_ANSWERS]
