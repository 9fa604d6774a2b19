"""Structured answers: what a model wrote, read as a pydantic model; repaired, asked for once more, or reported.

What says nothing is no answer: the prompt's own example sent back, and text that repeats itself without an end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from kgplatform.errors import ReplyError
from kgplatform.models.chat import Chat, Reply, Wanted
from kgplatform.models.forms import REASONING, Form
from kgplatform.models.json_text import (
    mend,
    partial_text,
    pieces,
    pieces_in_order,
    read,
    split_thoughts,
    value_of,
    values_in,
    whole_items,
    without_thoughts,
)
from kgplatform.models.labels import labelled_fields, tables, with_final_answer, yaml_value
from kgplatform.models.lenient import unwrapped, validated, with_arguments
from kgplatform.prompt import Messages, render, with_reminder

M = TypeVar("M", bound=BaseModel)


class _CopiedError(ReplyError):
    """All that a reply has is the example of its prompt: nothing in it is read, as free text neither."""


_ERRORS_SHOWN = 5
_TEXT_SHOWN = 200
_TOO_LONG = "It broke off at the length limit, and there is no more room: say less."
_USUAL_TOKENS = 4096
_MORE_ROOM = 4
"""How many times the room of a reply that was cut off."""

_LEAST_WORDS = 4
"""Of a text that nobody writes a second time by chance."""
_PLACEHOLDER = re.compile(r"\s*(?:<[^<>\n]{2,80}>|\.{3,}|…)\s*")
_NAME = re.compile(r"\b(?!(?:The|An?|In|No) )[A-Z][a-z]+(?: [A-Z][a-z]+)+\b")
_REASONING = frozenset(REASONING.split())
_QUOTES = frozenset(("citations", "citation", "quotes", "quote", "sources"))
"""Keys whose words are looked for in the passages anyway: one that is copied loses itself alone."""
_DECLINES = re.compile(
    r"\W*(?:(?:i['’]m |i am )?(?:so |very )?sorry|i apologi[sz]e|unfortunately)?\W*(?:but )?i(?: can(?:not|['’]t)"
    r"|(?: a|['’])m (?:unable|not able) to) (?:help|assist|comply|continue|fulfil|summari[sz]e)\b(?! but)",
    re.IGNORECASE,
)
_SHORT_REFUSAL = 60
"""Words."""
_TAIL = 600
_LEAST_REPEATS = 4
_SHORTEST_LOOP = 3
_CIRCLE = re.compile(r"(\b.{8,200}?)\1{3,}")
_PARTS = re.compile(r"[.!?;。！？]+\s*")
_SHORT_PART = 8
"""Characters. What is shorter may well be said again."""


def ask(
    chat: Chat,
    messages: Messages,
    shape: type[M],
    *,
    stage: str,
    tokens: int | None = None,
    free: Callable[[str], M | None] = lambda text: None,
    show: Show | None = None,
) -> tuple[M, int]:
    """The model's answer as a ``shape``, and how often it was repaired or asked for again (0 to 3).

    The server is asked for JSON of that shape, of at most ``tokens``. Where a reply has none that can be read,
    ``free`` reads it as free text: None where it makes nothing of it either. ``show``: a field of the shape, and who is
    told its text while it is written.

    An answer that cannot be used is asked for once more, without the broken one, which a small model would repeat; one
    that was cut off, with more room, or where there is none for a shorter one. Whole answers are in the chat's cache,
    so that the same call in another run takes the same way and costs nothing. Raises ``ReplyError`` if the second fails
    too; then the chat forgets both, so that another run asks the model and not its cache.
    """
    wanted = Wanted(shape, tokens, on_text=show.listener() if show else None)
    reply = chat.send(messages, stage=stage, wanted=wanted)
    first = _Read.of(reply, messages, shape, free)
    if first.value is not None and (not first.cut_off or (_is_enough(first.value) and not first.in_prose)):
        return first.value, int(first.repaired)
    more, mended = _once_more(messages, wanted, first, is_full=reply.full)
    second = _Read.of(chat.send(more, stage=stage, wanted=mended), messages, shape, free)
    if second.value is not None:
        return second.value, 1 + int(second.repaired)
    if first.value is not None:
        return first.value, 2
    for sent, how in ((messages, wanted), (more, mended)):
        chat.forget(sent, wanted=how)
    raise ReplyError(
        f"The language model's answer in stage {stage} cannot be used, nor could the one before: {second.fault} "
        "A larger model (KGPLATFORM_CHAT_MODEL) may do better."
    )


@dataclass(frozen=True, slots=True)
class Show:
    """Whom to tell the text of ``field`` while it is written: ``tell`` gets all of it so far.

    ``only``: another field, with the value without which the text is none for ``tell``, as that of an instruction.
    """

    field: str
    tell: Callable[[str], None]
    only: tuple[str, str] | None = None

    def listener(self) -> Callable[[str], None]:
        """What listens to the raw reply."""
        return lambda written: self.tell(partial_text(written, self.field) if self._is_wanted(written) else "")

    def _is_wanted(self, written: str) -> bool:
        return self.only is None or partial_text(written, self.only[0]).casefold() == self.only[1]


@dataclass(frozen=True, slots=True)
class _Read(Generic[M]):
    """What came of reading a reply: the ``value``, or the ``fault``. ``looped``: it repeats itself without an end."""

    value: M | None
    repaired: bool = False
    fault: str = ""
    cut_off: bool = False
    looped: bool = False
    in_prose: bool = False

    @classmethod
    def of(cls, reply: Reply, messages: Messages, shape: type[M], free: Callable[[str], M | None]) -> _Read[M]:
        """``reply``, read as JSON of ``shape``, else by ``free``."""
        looped = reply.cut_off and is_looped(reply.text)
        try:
            value, repaired = _parse(reply.text, shape, cut_off=reply.cut_off, messages=messages)
        except ReplyError as error:
            said = None if looped or isinstance(error, _CopiedError) else _in_prose(reply.text, shape, free)
            said = None if said and _is_copied(said.model_dump(), shape, messages) else said
            fault = "" if said else _with_lack(str(error), reply)
            return cls(said, True, fault, cut_off=reply.cut_off, looped=looped, in_prose=True)
        if reply.cut_off and _only_thinks(value):
            return cls(None, fault="it broke off before it said anything.", cut_off=True, looped=looped)
        return cls(value, repaired, cut_off=reply.cut_off, looped=looped)


def _in_prose(text: str, shape: type[M], free: Callable[[str], M | None]) -> M | None:
    """What a text without JSON says: the fields under its labels, if it has several, else what ``free`` reads."""
    text = with_final_answer(split_thoughts(text)[0])
    if declines(text):
        return None
    fields = labelled_fields(text, shape) if issubclass(shape, Form) else {}  # another shape has its own labels
    for value in (fields, yaml_value(text), tables(text)):
        try:
            if value:
                return validated(unwrapped(value, shape), shape)
        except ValidationError:
            continue
    return free(text) if text.strip() else None


def declines(text: str) -> bool:
    """Whether a short text refuses the task, which says nothing of what was asked."""
    return _DECLINES.match(text) is not None and len(text.split()) <= _SHORT_REFUSAL


def _only_thinks(value: BaseModel) -> bool:
    """Whether a reply that broke off has its reasoning alone: the rest of it would be defaults, which nobody wrote."""
    if not getattr(value, "reasoning", ""):
        return False
    said, fields = value.model_dump(exclude={"reasoning"}), type(value).model_fields
    return not any(
        part if isinstance(part, (str, list, dict)) else fields[name].is_required() for name, part in said.items()
    )


def _is_enough(value: BaseModel) -> bool:
    """Whether a reply that broke off has said what counts, whole and without going round in circles."""
    said = getattr(value, value.COUNTS, "") if isinstance(value, Form) and value.enough else ""
    return isinstance(said, str) and bool(said.strip()) and not is_looped(said)


def _with_lack(fault: str, reply: Reply) -> str:
    return f"{reply.lack[0].upper()}{reply.lack[1:]}." if reply.lack else fault


def _once_more(messages: Messages, wanted: Wanted, first: _Read[Any], *, is_full: bool) -> tuple[Messages, Wanted]:
    """What is asked after ``first``: for the same with more room, where that can be had, or without what was wrong."""
    if first.cut_off and not first.looped and not is_full:
        room = (wanted.tokens or _USUAL_TOKENS) * _MORE_ROOM
        return messages, replace(wanted, tokens=room)
    fault = "It repeated itself without an end." if first.looped else _TOO_LONG if first.cut_off else first.fault
    reminder = render("models/ask_again", error=fault)[1]["content"]
    return with_reminder(messages, f"\n\n{reminder}"), replace(wanted, again=True)


def parse_reply(text: str, shape: type[M]) -> M:
    """The ``shape`` in ``text``, whatever stands around it: thoughts, fences, sentences.

    Where several JSON values are there, the largest that validates counts. Broken JSON is repaired; of JSON that
    breaks off, the complete items of the outermost list are kept. Raises ``ReplyError`` that says what is wrong.
    """
    return _parse(text, shape, cut_off=False)[0]


def _parse(text: str, shape: type[M], *, cut_off: bool, messages: Sequence[dict[str, str]] = ()) -> tuple[M, bool]:
    """The value, and whether its JSON had to be repaired."""
    fault, is_copied = "", False
    several = values_in(without_thoughts(text, cut_off=cut_off)) if getattr(shape, "joins", False) else []
    several = [value for value in several if value not in ({}, [])]
    joined = [(several, False)] if len(several) > 1 else []
    for value, repaired in chain(joined, _values(text, cut_off=cut_off, last=getattr(shape, "last", False))):
        if _is_copied(value, shape, messages):
            is_copied = True
            continue
        try:
            return validated(unwrapped(value, shape), shape), repaired
        except ValidationError as error:
            fault = fault or _in_words(error)
    if is_copied and not fault:
        raise _CopiedError("it repeats the example in place of an answer.")
    if not fault:
        start = " ".join(text.split())[:_TEXT_SHOWN]
        lack = "its JSON is broken beyond repair" if "{" in start else "there is no JSON in it"
        fault = f"{lack}; it begins {start!r}." if start else "it is empty."
    raise ReplyError(fault + (" It broke off at the length limit." if cut_off else ""))


def _values(text: str, *, cut_off: bool, last: bool = False) -> Iterator[tuple[Any, bool]]:
    """JSON values in ``text``, the likeliest first, each with whether it was repaired: the largest, or the ``last``."""
    answer = without_thoughts(text, cut_off=cut_off)
    parts = pieces_in_order(answer)[::-1] if last else pieces(answer)
    for part in parts:
        if part.whole:
            yield from _tried(read, part.text, repaired=False)
    for part in parts:
        if part.whole:
            yield from _tried(mend, part.text, repaired=True)
        else:
            yield from _broken(part.text, cut_off=cut_off)
    if answer != text and not cut_off:  # a tag that stood inside of the answer, as text about such tags has it
        for part in pieces(text):
            if part.whole:
                yield from _tried(read, part.text, repaired=False)


def _broken(text: str, *, cut_off: bool) -> Iterator[tuple[Any, bool]]:
    """Values of JSON whose brackets do not close: mended if only that is wrong, else its complete items."""
    body = text.rstrip("` \t\r\n")
    if not cut_off and body.endswith(("}", "]")):
        yield from _tried(mend, body, repaired=True)
    kept = whole_items(body)
    if kept is not None:
        yield from _tried(read, kept, repaired=True)
        yield from _tried(mend, kept, repaired=True)


def _tried(way: Callable[[str], Any], text: str, *, repaired: bool) -> Iterator[tuple[Any, bool]]:
    """The value of ``text``, if it has one. A repair that saves nothing is none: asking again may bring it."""
    try:
        value = way(text)
    except ValueError:
        return
    if not repaired or _says_something(value):
        yield with_arguments(value), repaired


def _says_something(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return any(map(_says_something, inner)) if inner is not None else value not in ("", None)


def _in_words(error: ValidationError) -> str:
    faults = [f"{'.'.join(map(str, e['loc'])) or 'it'}: {e['msg']}" for e in error.errors(include_url=False)]
    more = f"; and {len(faults) - _ERRORS_SHOWN} more" if len(faults) > _ERRORS_SHOWN else ""
    return "; ".join(faults[:_ERRORS_SHOWN]) + more + "."


def _is_copied(value: Any, shape: type[BaseModel], messages: Sequence[dict[str, str]]) -> bool:
    return not getattr(shape, "may_copy", False) and copied(value, messages)


def copied(value: Any, messages: Sequence[dict[str, str]]) -> bool:
    """Whether a reply's ``value`` is the example of the prompt, or its placeholders.

    It is where one of its texts stands in an example and nowhere in the data, and is a placeholder (``<the answer>``,
    ``…``) or has at least four words; or where one of its own fields, its reasoning apart, speaks of somebody of the
    example. Quotes do not count. Examples are the JSON of the system message, and that beside the tags of the data.
    """
    rules, data = "", ""
    for message in messages:
        inner, beside = ("", message["content"]) if message["role"] == "system" else _parted(message["content"])
        rules, data = f"{rules}\n{beside}", f"{data}\n{inner}"
    said = [text.strip() for text in _texts(value, less=_QUOTES)]
    shown, shown_names = _examples(rules)
    if any(text in shown and text not in data for text in said):
        return True
    names = [name for name in shown_names if name not in data]
    return any(name in text for text in _own_texts(value) for name in names)


_TAGS = re.compile(r"<([a-z]+-[0-9a-f]{12})>.*?</\1>", re.DOTALL)
_EXAMPLE = re.compile(r"^\{.*\}$", re.MULTILINE)


def _parted(user: str) -> tuple[str, str]:
    """The data of a user message and the examples that stand beside it, each a line."""
    examples = [found[0] for found in _EXAMPLE.finditer(_TAGS.sub("", user))]
    for example in examples:
        user = user.replace(example, "")
    return user, "\n".join(examples)


def _own_texts(value: Any) -> list[str]:
    """The texts of the fields of an object, without its reasoning and what lies deeper."""
    fields = value.items() if isinstance(value, dict) else ()
    beside = _REASONING | _QUOTES
    return [text for key, text in fields if isinstance(text, str) and key.casefold() not in beside]


@lru_cache(maxsize=64)
def _examples(rules: str) -> tuple[frozenset[str], frozenset[str]]:
    """The telling texts in the JSON of a prompt's rules, placeholders among them, and its names of several words."""
    texts = [text.strip() for text in _texts([value_of(piece.text) for piece in pieces(rules) if piece.whole])]
    telling = (text for text in texts if _PLACEHOLDER.fullmatch(text) or len(text.split()) >= _LEAST_WORDS)
    return frozenset(telling), frozenset(name for text in texts for name in _NAME.findall(text))


def _texts(value: Any, less: frozenset[str] = frozenset()) -> Iterator[str]:
    """All texts in a value, but those under keys of ``less``."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if str(key).casefold() not in less:
                yield from _texts(inner, less)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, less)


def is_looped(text: str) -> bool:
    """Whether a text goes round in circles: its end is one piece, at least four times; the same words four times in a
    row; or half of it one sentence.

    >>> is_looped("The cable broke. " + "It was mended. " * 9)
    True
    """
    tail = text[-_TAIL:].rstrip()
    for length in range(_SHORTEST_LOOP, len(tail) // _LEAST_REPEATS + 1):
        piece = tail[-length:]
        if any(letter.isalnum() for letter in piece) and tail.endswith(piece * _LEAST_REPEATS):
            return True
    flat = " ".join(text.casefold().split())
    said = Counter(part for part in map(str.strip, _PARTS.split(flat)) if len(part) > _SHORT_PART)
    most = max(said.values(), default=0)
    return bool(_CIRCLE.search(flat)) or (most >= _LEAST_REPEATS and 2 * most >= said.total())
