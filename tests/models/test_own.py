"""Models that a program brings along: what they spend is counted, and a budget holds for them too."""

import asyncio

import pytest

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.chat import Chat, Ledger, ManyModels, within
from kgplatform.models.own import AnswerMessages, as_chat
from kgplatform.prompt import Messages
from kgplatform.records import Usage
from kgplatform.testing import ScriptedChat

ASKED: Messages = [{"role": "user", "content": "one two three"}]


async def slowly(messages: Messages) -> str:
    await asyncio.sleep(0)
    return "four five"


class Strings:
    """Its ``send`` is not one of ``Chat``."""

    model = "strings"

    def send(self, messages: Messages, **more: object) -> str:
        return "four"

    def forget(self, messages: Messages, **more: object) -> None: ...


@pytest.mark.parametrize("given", [lambda messages: "four five", slowly, ScriptedChat(lambda messages: "four five")])
def test_what_is_spent_is_counted_within_the_budget(given: Chat | AnswerMessages) -> None:
    chat, whole, part = as_chat(given), Ledger(budget=5), Ledger()
    assert chat is not None
    run = within(within(chat, meter=whole), meter=part)
    assert run.send(ASKED, stage="answer").text == "four five"
    assert whole.by_stage() == part.by_stage() == {"answer": Usage(1, 3, 2)}
    with pytest.raises(BudgetError, match="budget of 5 tokens"):
        run.send(ASKED, stage="answer")
    assert isinstance(run, ManyModels) == isinstance(given, ScriptedChat)


def test_a_chat_that_returns_no_reply() -> None:
    chat = as_chat(Strings())  # type: ignore[arg-type]  # that is the fault
    assert chat is not None
    with pytest.raises(ModelError, match=r"strings must return a kgplatform\.models\.chat\.Reply, not str"):
        chat.send(ASKED, stage="answer")
