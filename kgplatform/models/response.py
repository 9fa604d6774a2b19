"""What a server's answer to a chat request says: the reply less the model's thoughts, why it ended, what it cost.

Models think in a field of its own (``reasoning_content``, ``reasoning``), between tags, or in a channel; none of that
is the reply, and a thought that does not end is a reply that was cut off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from kgplatform.errors import ReplyError
from kgplatform.models.chat import Reply
from kgplatform.models.failures import BadAnswerError
from kgplatform.models.json_text import circles, split_thoughts
from kgplatform.prompt import Messages
from kgplatform.records import Usage
from kgplatform.text import count_tokens

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_SHOWN = 200
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(\w+)[^<]*<\|message\|>(.*?)(?=<\|(?:end|return|start|channel)\|>|\Z)", re.DOTALL
)


def read_answer(answer: dict[str, Any], messages: Messages) -> tuple[Reply, bool]:
    """The reply in a server's ``answer`` to ``messages``, and whether the model thought before it.

    Raises ``BadAnswerError`` where there is no message, ``ReplyError`` where the server's filter stopped it.
    """
    message, reason = _message(answer)
    if reason == "content_filter":
        raise ReplyError("The model server's content filter stopped the answer.")
    written = _written(message.get("content")) or _arguments(message)
    thoughts = any(message.get(name) for name in _THOUGHTS)
    text, unclosed = _less_channels(written)
    text, open_thought = split_thoughts(text)
    cut_off = reason == "length" or unclosed or open_thought
    thought = thoughts or text.strip() != written.strip()
    usage = usage_of(answer, messages, written)
    return Reply(text, usage, cut_off, lack="" if text.strip() else _lack(message, thought)), thought


def _message(answer: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Message and finish reason of the first choice."""
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise BadAnswerError("it has no text.")
    reason = choice.get("finish_reason")
    return message, reason if isinstance(reason, str) else None


def _written(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _arguments(message: dict[str, Any]) -> str:
    """What a model wrote as the arguments of a tool, which it was not given, in place of a reply."""
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else {"function": message.get("function_call")}
    function = call.get("function") if isinstance(call, dict) else None
    said = function.get("arguments") if isinstance(function, dict) else None
    return said if isinstance(said, str) else json.dumps(said) if isinstance(said, dict) else ""


def _lack(message: dict[str, Any], thought: bool) -> str:
    """What came in place of a reply."""
    if refusal := message.get("refusal"):
        return f"the model refused: {str(refusal)[:_SHOWN]}"
    if message.get("tool_calls") or message.get("function_call"):
        return "the model called a tool that it was not given"
    return "the model thought, and wrote no reply" if thought else ""


def _less_channels(text: str) -> tuple[str, bool]:
    """The last final channel of gpt-oss's format, and whether there is none although others began."""
    channels = [(found[1], found[2]) for found in _CHANNEL.finditer(text)]
    finals = [said for name, said in channels if name == "final"]
    if not channels:
        return text, False
    return (finals[-1], False) if finals else ("", True)


def usage_of(answer: dict[str, Any], messages: Messages, text: str) -> Usage:
    """The server's own figures, and our count where it gives none."""
    figures = answer.get("usage")
    given = figures if isinstance(figures, dict) else {}
    return Usage(
        calls=1,
        input_tokens=_figure(given.get("prompt_tokens"), "\n".join(m["content"] for m in messages)),
        output_tokens=_figure(given.get("completion_tokens"), text),
    )


def _figure(value: object, text: str) -> int:
    """``value``; our count where it is none, or 0 for a text that has words."""
    return value if isinstance(value, int) and (value > 0 or (value == 0 and not text)) else count_tokens(text)


_ROUND = 800
"""Characters that are four times the same: more than a table or a number says."""
_LOOK = 50
"""Characters from one look for that to the next, which takes longer than a piece does."""


class Pieces:
    """A streamed answer as it comes: ``add`` each event; ``answer`` is the whole, as a server sends it at once.

    ``listen`` gets the text so far, if it is given; first the empty one, since a try before may have written some.
    ``goes_round``: the end of the reply is one piece again and again, which a small model does not come out of. It
    counts as cut off there.
    """

    def __init__(self, listen: Callable[[str], None] | None) -> None:
        self._listen = listen or (lambda text: None)
        self._message: dict[str, Any] = {}
        self._reason: str | None = None
        self._usage: object = None
        self._began = False
        self.goes_round = False
        self._listen("")

    def add(self, event: object) -> None:
        """Take in one event. Raises ``BadAnswerError`` for one that says that something went wrong."""
        if not isinstance(event, dict) or self.goes_round:
            return
        if event.get("error"):
            raise BadAnswerError(f"it says {str(event['error'])[:_SHOWN]}.")
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        self._began = self._began or bool(choice)
        self._reason = choice.get("finish_reason") or self._reason
        delta = choice.get("delta") or choice.get("message") or {}
        for name in ("content", "refusal", *_THOUGHTS):
            if piece := _written(delta.get(name)):
                self._message[name] = self._message.get(name, "") + piece
        if more := _arguments(delta):
            self._message["function_call"] = {"arguments": _arguments(self._message) + more}
        elif delta.get("tool_calls"):
            self._message.setdefault("function_call", {"arguments": ""})
        if delta.get("content"):
            self._listen(said := self._message.get("content", ""))
            is_due = len(said) // _LOOK > (len(said) - len(_written(delta["content"]))) // _LOOK
            if is_due and any(circles(said[-_ROUND:], _ROUND)):
                self.goes_round, self._reason = True, "length"

    def answer(self) -> dict[str, Any]:
        """The whole answer. Raises ``BadAnswerError`` for a stream that ended before the reply did."""
        if not self._began or (self._reason is None and self._usage is None):
            raise BadAnswerError("its stream ended before the reply did.")
        return {"choices": [{"message": self._message, "finish_reason": self._reason}], "usage": self._usage}
