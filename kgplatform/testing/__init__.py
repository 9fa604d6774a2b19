"""Test doubles that work: a chat that plays a script, an embedder without a model, a server on loopback.

>>> chat = ScriptedChat(["Paris"])
>>> chat.send([{"role": "user", "content": "The capital of France?"}], stage="answer").text
'Paris'
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgplatform.models.chat import FREE_TEXT, Reply, Wanted
from kgplatform.models.embed import HashEmbedder
from kgplatform.prompt import Messages
from kgplatform.records import Usage
from kgplatform.testing.openai_server import Fault, OpenAIServer, RecordedRequest
from kgplatform.text import count_tokens

__all__ = ["Fault", "HashEmbedder", "OpenAIServer", "RecordedRequest", "ScriptedChat", "SentMessages"]

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class SentMessages:
    """One call that a ``ScriptedChat`` got."""

    messages: Messages
    stage: str
    wanted: Wanted


class ScriptedChat:
    """A ``Chat`` that answers from a list, in order, or by a function of the messages. ``calls`` has what was sent.

    Several threads may use it; a list is then played in the order in which they come.
    """

    def __init__(
        self, answers: Sequence[str | Reply] | Callable[[Messages], str | Reply], *, model: str = "scripted"
    ) -> None:
        self.model = model
        self.calls: list[SentMessages] = []
        self._answers = answers
        self._lock = threading.Lock()

    def send(self, messages: Messages, *, stage: str, wanted: Wanted = FREE_TEXT) -> Reply:
        """The next answer. Raises ``AssertionError`` where the script is at its end."""
        with self._lock:
            number = len(self.calls)
            self.calls.append(SentMessages([dict(message) for message in messages], stage, wanted))
        if callable(self._answers):
            answer = self._answers(messages)
        elif number < len(self._answers):
            answer = self._answers[number]
        else:
            last, length = messages[-1]["content"][:_SHOWN], len(self._answers)
            raise AssertionError(
                f"The script has {length} answers, and call {number + 1} came, stage {stage}: {last!r}"
            )
        if wanted.on_text:
            wanted.on_text(answer.text if isinstance(answer, Reply) else answer)
        if isinstance(answer, Reply):
            return answer
        sent = sum(count_tokens(message["content"]) for message in messages)
        return Reply(answer, Usage(1, sent, count_tokens(answer)), cut_off=False)

    def forget(self, messages: Messages, *, wanted: Wanted = FREE_TEXT) -> None:
        """Nothing to do: a script remembers no answers."""

    def with_model(self, model: str) -> ScriptedChat:
        """The same script, played to another name."""
        other = copy.copy(self)
        other.model = model
        return other
