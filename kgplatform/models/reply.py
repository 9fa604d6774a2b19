"""Structured answers: JSON that a model wrote, read as a pydantic model; repaired, asked for once more, or reported.

    reply, repairs = ask(chat, messages, Named, stage="names", tokens=300)

A reply is one JSON value. What stands around it is no part of it: thoughts, fences, sentences, an object of one key,
the call of a function, the quotes of a string. A reply of which nothing can be kept is a failure, and so is the example
of the prompt sent back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, RootModel, ValidationError

from kgplatform.errors import ReplyError
from kgplatform.models.chat import Chat, Reply, Wanted
from kgplatform.models.forms import Lost, aside_of, plain, shorter
from kgplatform.models.json_text import LEAST_REPEATS, circles, json_values, partial_text, value_of, without_thoughts
from kgplatform.prompt import Messages, with_reminder

M = TypeVar("M", bound=BaseModel)

_ERRORS_SHOWN = 5
_TEXT_SHOWN = 200
_TOO_LONG = "It broke off at the length limit, and there is no more room: say less."
_USUAL_TOKENS = 4096
_MORE_ROOM = 4
"""How many times the room of a reply that was cut off."""
_DEEPEST_WRAPPING = 4
_ARGUMENTS = ("arguments", "parameters", "input")

_LEAST_WORDS = 4
"""Of a text that nobody writes a second time by chance."""
_TAGGED = re.compile(r"<([a-z]+-[0-9a-f]{12})>.*?</\1>", re.DOTALL)
_OBJECT = re.compile(r"\{\".*\}(?=\.?$)", re.MULTILINE)
"""An example at the end of a line."""

_TAIL = 800
"""Characters at the end of a text."""
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
    show: Show | None = None,
    unusable: Callable[[M], str] = lambda made: "",
) -> tuple[M, int]:
    """The model's answer as a ``shape``, and how often it was repaired or asked for again (0 to 3).

    The server is asked for JSON of that shape, of at most ``tokens``. ``show``: a field of the shape, and who is told
    its text while it is written. ``unusable``: says why an answer that can be read is of no use; empty where it is
    of some.

    An answer that cannot be used, or lacks a field that cannot, is asked for once more, in a shorter form and without
    the broken one, which a small model would repeat; one that was cut off, with more room, or where there is none for a
    shorter one. A list that was cut off because it went round had said all. Whole answers are in the chat's cache, so
    that the same call in another run takes the same way and costs nothing. Raises ``ReplyError`` if the second fails
    too; then the chat forgets both, so that another run asks the model.
    """
    wanted = Wanted(shape, tokens, on_text=show.listener() if show else None)
    reply = chat.send(messages, stage=stage, wanted=wanted)
    first = _Read.of(reply, messages, shape, unusable)
    if first.value is not None and not first.fault and (first.is_all or not first.cut_off):
        return first.value, int(first.repaired)
    more, mended = _once_more(messages, wanted, first, is_full=reply.full)
    second = _Read.of(chat.send(more, stage=stage, wanted=mended), messages, shape, unusable)
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

        def hear(written: str) -> None:
            is_wanted = self.only is None or partial_text(written, self.only[0]).casefold() == self.only[1]
            self.tell(partial_text(written, self.field) if is_wanted else "")

        return hear


@dataclass(frozen=True, slots=True)
class _Read(Generic[M]):
    """What came of reading a reply: the ``value``, and the ``fault`` where it is none or lacks a field.

    ``looped``: it repeats itself without an end. ``is_all``: it does so in a list that had said all, after which the
    form wants nothing more.
    """

    value: M | None
    repaired: bool = False
    fault: str = ""
    cut_off: bool = False
    looped: bool = False
    is_all: bool = False

    @classmethod
    def of(cls, reply: Reply, messages: Messages, shape: type[M], unusable: Callable[[M], str]) -> _Read[M]:
        """``reply``, read as JSON of ``shape``."""
        looped = reply.cut_off and is_looped(reply.text)
        try:
            how: dict[str, Any] = {"cut_off": reply.cut_off, "messages": messages, "unusable": unusable}
            value, repaired, fault = parse_reply(reply.text, shape, **how)
        except ReplyError as error:
            fault = f"{reply.lack[0].upper()}{reply.lack[1:]}." if reply.lack else str(error)
            return cls(None, fault=fault, cut_off=reply.cut_off, looped=looped)
        return cls(value, repaired, fault, reply.cut_off, looped, is_all=looped and _says_all(value))


def _says_all(value: BaseModel) -> bool:
    """Whether ``value`` has every field that its form cannot do without, and no text in it goes round."""
    said = value.root if isinstance(value, RootModel) else value.model_dump(exclude_unset=True)
    form = getattr(value, "form", type(value))
    return {*form.model_fields} <= {*said, *aside_of(form)} and not any(map(is_looped, _texts(said)))


def _once_more(messages: Messages, wanted: Wanted, first: _Read[Any], *, is_full: bool) -> tuple[Messages, Wanted]:
    """What is asked after ``first``: the same with more room, where that can be had, or less and without the fault."""
    if first.cut_off and not first.looped and not is_full:
        return messages, replace(wanted, tokens=(wanted.tokens or _USUAL_TOKENS) * _MORE_ROOM)
    fault = "It repeated itself without an end." if first.looped else _TOO_LONG if first.cut_off else first.fault
    form = wanted.form or BaseModel
    less = "".join(f' Leave out "{name}".' for name in aside_of(form))
    again = with_reminder(messages, "models/ask_again", error=fault + less)
    return again, replace(wanted, form=shorter(form), again=True)


def parse_reply(
    text: str,
    shape: type[M],
    *,
    cut_off: bool = False,
    messages: Sequence[dict[str, str]] = (),
    unusable: Callable[[M], str] = lambda made: "",
) -> tuple[M, bool, str]:
    """The ``shape`` in ``text``, whatever stands around it: thoughts, fences, sentences; whether it had to be repaired
    or something in it was lost; and what is wrong with a field of it.

    Where several JSON values are there, the largest that validates counts. Broken JSON is repaired; of JSON that
    breaks off, the complete items of the outermost list are kept. Raises ``ReplyError`` that says what is wrong.
    """
    fault = ""
    answer = without_thoughts(text, cut_off=cut_off)
    # JSON in the answer, then in all of the text: a tag may stand inside of an answer about such tags.
    again = json_values(text) if answer != text and not cut_off else iter(())
    for value, repaired in chain(json_values(answer, cut_off=cut_off), again):
        if is_example(value, messages):
            fault = fault or "it repeats the example in place of an answer."
            continue
        lost: list[Lost] = []
        try:
            made = shape.model_validate(unwrapped(value, shape), context=lost)
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, e['loc'])) or 'it'}: {e['msg']}" for e in error.errors(include_url=False)]
            more = f"; and {len(faults) - _ERRORS_SHOWN} more" if len(faults) > _ERRORS_SHOWN else ""
            fault = fault or "; ".join(faults[:_ERRORS_SHOWN]) + more + "."
            continue
        if lack := unusable(made):
            fault = fault or lack
        elif _says_something(made, is_less=bool(lost)):
            return made, repaired or bool(lost), " ".join(f"{each.fault}." for each in lost if each.form is shape)
        else:
            fault = fault or (f"{lost[0].fault}." if lost else "it has nothing of what is asked for.")
    if not fault:
        start = " ".join(text.split())[:_TEXT_SHOWN]
        lack = "its JSON is broken beyond repair" if "{" in start else "there is no JSON in it"
        fault = f"{lack}; it begins {start!r}." if start else "it is empty."
    raise ReplyError(fault + (" It broke off at the length limit." if cut_off else ""))


def unwrapped(value: Any, shape: type[BaseModel]) -> Any:
    """``value`` without what models put around it: an object of one key, a list of one item, a function's call, the
    quotes of a string."""
    fields = {} if issubclass(shape, RootModel) else shape.model_fields
    known = {plain(each) for name, field in fields.items() for each in (name, field.alias or name)}
    for _ in range(_DEEPEST_WRAPPING if known else 0):
        if isinstance(value, str):
            value = value_of(value)
        if isinstance(value, list):
            inner = value[0] if len(value) == 1 else None
        elif isinstance(value, dict):
            # What an object of other keys wraps: the arguments of a call, or the one value that it has.
            inner = next(iter(value.values())) if len(value) == 1 else None
            if "name" in value:
                inner = next((value[key] for key in _ARGUMENTS if key in value), None)
            if known & set(map(plain, value)):
                return value
        else:
            return value
        if inner is None:
            return value
        value = inner
    return value


def _says_something(made: BaseModel, *, is_less: bool) -> bool:
    """Whether anything was kept beside what a reply may lack; where something in it was lost, what is no blank."""
    if isinstance(made, RootModel):
        return bool(made.root)
    said = made.model_fields_set - set(aside_of(type(made)))
    return any(getattr(made, name) for name in said) if is_less else bool(said)


def is_example(value: Any, messages: Sequence[dict[str, str]]) -> bool:
    """Whether ``value`` is, word for word, an object that the prompt shows as an example, and has a sentence of it; or
    has a text of several words of one for a field, which stands nowhere else in the prompt.
    """
    if not isinstance(value, dict):
        return False
    asked = "\n".join(message["content"] for message in messages)
    lines = _OBJECT.findall(_TAGGED.sub("", asked))
    examples = [example for line in lines if isinstance(example := value_of(line), dict)]
    if value in examples and any(len(text.split()) >= _LEAST_WORDS for text in _texts(value)):
        return True
    shown = {text for example in examples for text in example.values() if isinstance(text, str) and " " in text}
    copied = [text for text in value.values() if isinstance(text, str) and text in shown]
    if copied:
        for line in lines:
            asked = asked.replace(line, "")
    return any(text not in asked for text in copied)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def is_looped(text: str) -> bool:
    """Whether a text goes round in circles: its end is one piece, at least four times; the same words four times in a
    row; or half of it one sentence.

    >>> is_looped("The cable broke. " + "It was mended. " * 9)
    True
    """
    flat = " ".join(text.casefold().split())
    if any(any(map(str.isalnum, piece)) for piece in circles(flat[-_TAIL:])):
        return True
    said = Counter(part for part in map(str.strip, _PARTS.split(flat)) if len(part) > _SHORT_PART)
    most = max(said.values(), default=0)
    return bool(_CIRCLE.search(flat)) or (most >= LEAST_REPEATS and 2 * most >= said.total())
