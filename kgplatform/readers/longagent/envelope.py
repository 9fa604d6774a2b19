"""LongAgent's replies: one JSON object with a type and a content, after whatever a model writes before it.

    read_envelope('<scratchpad>{…}</scratchpad> "type": "answer", "content": "Kingston"', ("answer",))
    # Envelope(type='answer', content='Kingston')

Read as leniently as the transcripts of the paper ask for (arXiv 2402.11550, appendix B): braces that are missing, the
``]}}`` of its own prompt, quotes inside of quotes, Python's way to write objects. A reply without such an object is
asked for again, twice at most.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kgplatform.models.chat import Wanted
from kgplatform.models.json_text import pieces, value_of, without_thoughts
from kgplatform.prompt import Messages, render, with_reminder
from kgplatform.readers.run import Calls
from kgplatform.readers.window import tokens
from kgplatform.text import type_key

MOST_AGAIN = 2
"""Times that a reply which cannot be used is asked for again."""

_FORMS = {
    "member": '{"type": "member", "content": "<name>"}',
    "instruction": '{"type": "instruction", "content": "<the instruction>"}',
    "response": '{"type": "response", "content": "<your answer>"}',
    "answer": '{"type": "answer", "content": "<the answer>"}',
}
"""What is asked for. A conflict is not part of it: only a leader that knows the paper says one."""

_TYPES = {
    "member": "member",
    "response": "response",
    "instruction": "instruction",
    "query": "instruction",
    "newstate": "instruction",
    "answer": "answer",
    "finalanswer": "answer",
    "conflict": "conflict",
}
"""What models write for a type, as ``type_key`` has it; the papers' words for the leader's actions among them."""

_FAULTS = {
    "empty reply": "it was empty.",
    "cut off": "it broke off at the length limit: be shorter.",
    "no json": "there was no JSON object with a type and a content in it.",
    "wrong type": "the type of its JSON object is not one that was asked for.",
    "no content": "the content of its JSON object was empty.",
}
_SCRATCHPAD = re.compile(r"<scratch[ _-]?pad>.*?</scratch[ _-]?pad>", re.DOTALL | re.IGNORECASE)
_SCRATCHPAD_TAG = re.compile(r"</?scratch[ _-]?pad>", re.IGNORECASE)
_CODE_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_QUOTE = r"[\"'“”]?"
# A type and a content without the braces around them, or with quotes in the content that nobody escaped.
_BARE = re.compile(
    rf"{_QUOTE}\btype{_QUOTE}\s*:\s*{_QUOTE}(?P<type>[A-Za-z][A-Za-z _]*?){_QUOTE}\s*,\s*{_QUOTE}content{_QUOTE}\s*:\s*"
)
_CLOSERS = " \t\r\n]}"
# A content in quotes that ends where a paragraph does: what comes after it does not belong to it.
_QUOTED_LINE = re.compile(r"[\"'“].*?[\"'”][\s\]}]*?(?=\n\s*\n)", re.DOTALL)
_NUMBER = re.compile(r"\d{1,9}")


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a reply says."""

    type: str
    content: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those in the content, which name members where the type is a conflict."""
        return tuple(map(int, _NUMBER.findall(self.content)))


@dataclass(frozen=True, slots=True)
class Unusable:
    """A reply without an envelope of a type that was asked for. ``plain``: its text, if it is text without JSON."""

    fault: str
    plain: str = ""


def read_envelope(text: str, wanted: Sequence[str], *, cut_off: bool = False) -> Envelope | Unusable:
    """The last envelope in ``text`` of a ``wanted`` type, outside of scratchpads and thoughts.

    ``cut_off``: the reply broke off, so that only a complete object counts. A response may be empty: nothing was found.
    """
    body = _body(text, cut_off=cut_off)
    fault = ("cut off" if cut_off else "no json") if body else "empty reply"
    found = False
    for value in _objects(body, cut_off=cut_off):
        found = True
        kind = _TYPES.get(type_key(str(value["type"])), "")
        content = _content(value.get("content"))
        if kind in wanted and (content or (kind == "response" and value.get("content") == "")):
            return Envelope(kind, content)
        fault = "no content" if kind in wanted else "wrong type"
    return Unusable(fault, "" if found or cut_off or body.startswith("{") else body)


def ask_envelope(
    calls: Calls,
    messages: Messages,
    wanted: Sequence[str],
    *,
    stage: str,
    form: Wanted,
    enough: Callable[[str], bool] = lambda text: False,
) -> Envelope | Unusable:
    """What the model says; a reply that cannot be used is asked for again, at most twice, with the fault named.

    Each fault is counted in ``calls``. The chat forgets replies of which none could be used. A reply without JSON whose
    text is ``enough`` is not asked for again. ``form`` has the server write JSON, which leaves a member no
    scratchpad. Raises ``ModelError``.
    """
    sent = [messages]
    while True:
        reply = calls.send(sent[-1], stage=stage, wanted=form)
        said = read_envelope(reply.text, wanted, cut_off=reply.cut_off)
        if isinstance(said, Envelope):
            return said
        calls.counts[f"malformed.{said.fault}"] += 1
        if said.plain and enough(said.plain):
            return said
        if len(sent) > MOST_AGAIN:
            break
        # Its number keeps a cached reply to the first reminder from coming again.
        sent.append(with_reminder(messages, _reminder(said.fault, len(sent), wanted)))
    for prompt in sent:
        calls.forget(prompt, wanted=form)
    return said


def reminder_tokens(wanted: Sequence[str]) -> int:
    """The tokens that asking again adds to a prompt, at most."""
    return max(tokens(_reminder(fault, MOST_AGAIN, wanted)) for fault in _FAULTS)


def _reminder(fault: str, number: int, wanted: Sequence[str]) -> str:
    forms = "\n".join(_FORMS[each] for each in wanted if each in _FORMS)
    inputs = {"fault": _FAULTS[fault], "number": str(number), "most": str(MOST_AGAIN), "forms": forms}
    return f"\n\n{render('longagent/again', **inputs)[1]['content']}"


def _body(text: str, *, cut_off: bool) -> str:
    """``text`` less thoughts, scratchpads and the marks of code; a scratchpad that is all there is stays."""
    text = without_thoughts(text, cut_off=cut_off)
    outside = _SCRATCHPAD.sub("", text)
    kept = outside if outside.strip() else text
    return _CODE_FENCE.sub("", _SCRATCHPAD_TAG.sub("", kept)).strip()


def _objects(text: str, *, cut_off: bool) -> Iterator[dict[str, Any]]:
    """The objects in ``text`` that have a type, the last first; then one whose braces or quotes are wrong."""
    parts = sorted(pieces(text), key=lambda part: -text.rfind(part.text))
    values = [value_of(part.text) for part in parts if part.whole or not cut_off]
    items = [each for value in values for each in (reversed(value) if isinstance(value, list) else [value])]
    typed = [item for item in items if isinstance(item, dict) and "type" in item]
    yield from typed
    bare = list(_BARE.finditer(text))
    if bare and not typed and not cut_off:
        content = text[bare[-1].end() :]
        quoted = _QUOTED_LINE.match(content)
        content = (quoted[0] if quoted else content).rstrip(_CLOSERS)
        yield {"type": bare[-1]["type"], "content": _unquoted(content)}


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] in "\"'“" and text[-1] in "\"'”":
        return text[1:-1].strip()
    return text.strip(' \t\r\n"')


def _content(value: Any) -> str:
    """The content as text: JSON where it is a list or an object."""
    if value is None or isinstance(value, str):
        return (value or "").strip()
    return json.dumps(value, ensure_ascii=False)
