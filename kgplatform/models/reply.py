"""Structured answers: JSON that a model wrote, read as a pydantic model; repaired, asked for once more, or reported.

    reply, repairs = ask(chat, messages, Named, stage="names", tokens=300)

A reply is one JSON value. What stands around it is no part of it: thoughts, fences, sentences, an object of one key,
the call of a function, the quotes of a string. A reply of which nothing can be kept is a failure, and so is the example
of the prompt sent back.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, RootModel, ValidationError

from kgplatform.errors import ReplyError
from kgplatform.models.chat import Chat, Reply, Wanted
from kgplatform.models.forms import Lost, aside_of, shorter
from kgplatform.prompt import Messages, with_reminder
from kgplatform.text import type_key, without_lone_surrogates

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_ANSWER_FIRST = re.compile(r"\s*(?:```\w*\s*)?[{\[]")
# A bracket that opens JSON, and not an aside in a sentence.
_OPENING = re.compile(r"""\{\s*(?:["'}]|\w+\s*:|$)|\[\s*(?:["'\[{\]]|$)""")
_BRACKET = re.compile(r"[{\[]")
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"?|[][{},]', re.DOTALL)
"""What JSON is made of, and strings, in which the same marks are text."""
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_UNREAD = {"\\b": "\b", "\\f": "\f"}
"""Escapes that json-repair leaves as they are."""
_DEEPEST = 200
_MOST_BRACKETS = 100
_DECODER = json.JSONDecoder(strict=False)
"""Line breaks inside of strings are allowed."""

LEAST_REPEATS = 4
_SHORTEST_CIRCLE = 3


def circles(text: str, least: int = 0) -> Iterator[str]:
    """The pieces of which the end of ``text`` is one again and again: four times at least, and over ``least``
    characters.

    >>> list(circles("It broke. " + "Mended. " * 4))
    ['Mended. ']
    """
    for size in range(_SHORTEST_CIRCLE, len(text) // LEAST_REPEATS + 1):
        end = text[-max(least, LEAST_REPEATS * size) :]
        if len(end) >= least and end[size:] == end[:-size]:
            yield end[-size:]


def without_thoughts(text: str, *, cut_off: bool) -> str:
    """``text`` less what reasoning models write before they answer, also where one of the two tags is missing.

    Tags inside of an answer stay. A thought without an end in a text that was cut off leaves nothing: the model had
    not begun to answer.
    """
    while (thought := _THOUGHT.search(text)) and "{" not in text[: thought.start()]:
        text = text[: thought.start()] + text[thought.end() :]
    if _ANSWER_FIRST.match(text):
        return text
    ends = [found.end() for found in _THOUGHT_END.finditer(text)]
    text = text[ends[-1] :] if ends else text
    start = _THOUGHT_START.search(text)
    if start is None or text[: start.start()].strip():
        return text
    return text[: start.start()] if cut_off else text[start.end() :]


def split_thoughts(text: str) -> tuple[str, bool]:
    """``text`` less thoughts, and whether it begins with one that does not end: then nothing but that is there."""
    answer = without_thoughts(text, cut_off=False)
    begun = _THOUGHT_START.match(text.lstrip())
    unclosed = begun is not None and not _THOUGHT_END.search(text)
    return ("" if unclosed else answer), unclosed


def json_values(text: str, *, cut_off: bool = False) -> Iterator[tuple[Any, bool]]:
    """The objects and lists in ``text``, the likeliest first, each with whether it was repaired.

    Whole values come first, the longest before others, of two as long the later one; then what json-repair makes of
    the first that is broken. Of one that breaks off, the last item of its outermost list goes, or its last member: that
    may lack more than its end.

    >>> list(json_values('As in [1]: {"names": ["Ada", "Bo"]} and {"names": ["C', cut_off=True))[:1]
    [({'names': ['Ada', 'Bo']}, False)]
    """
    value = _decoded(text.strip())
    if isinstance(value, str):  # the quotes of a string round it
        text = value
    whole: list[tuple[int, int, Any]] = []
    broken, at = "", 0
    for _ in range(_MOST_BRACKETS):
        bracket = _BRACKET.search(text, at)
        if bracket is None:
            break
        start = bracket.start()
        try:
            value, at = _DECODER.raw_decode(text, start)
            whole.append((at - start, start, value))
        except (ValueError, RecursionError):
            at = start + 1
            if _OPENING.match(text, start):
                broken = text[start:].rstrip("` \t\r\n")
                break
    for *_, value in sorted(whole, key=lambda found: found[:2], reverse=True):
        yield _storable(value), False
    is_closed = not cut_off and broken.endswith(("}", "]"))
    part = broken if is_closed else _whole_part(broken)
    decoded = None if is_closed else _decoded(part)
    for value in mended(part) if decoded is None else [decoded]:
        if isinstance(value, (dict, list)) and value:
            yield value, True


def _whole_part(text: str) -> str:
    """``text`` less what it breaks off in: the last item of its outermost list that is open, or the last member. The
    brackets that are open there are closed."""
    opened: list[str] = []
    ends: list[int] = [0]  # of the last whole item, on each level
    for mark in _MARK.finditer(text):
        if mark[0] in "[{":
            opened.append("]" if mark[0] == "[" else "}")
            ends.append(0)
        elif mark[0] == ",":
            ends[-1] = mark.start()
        elif mark[0] in "]}" and opened:
            opened.pop()
            ends.pop()
            ends[-1] = mark.end()
    level = opened.index("]") + 1 if "]" in opened else len(opened)
    while level and not ends[level]:
        level -= 1
    return text[: ends[level]] + "".join(reversed(opened[:level])) if opened else text


def mended(text: str) -> list[Any]:
    """What json-repair makes of ``text``: a value, or several, the longest first; nothing of nothing."""
    level = deepest = 0
    for mark in re.findall(r"[\[\]{}]", text):
        level += 1 if mark in "[{" else -1 if level else 0
        deepest = max(deepest, level)
    if not text or deepest > _DEEPEST:
        return []
    import json_repair  # a tenth of a second that most replies do not need

    try:
        readable = _ESCAPE.sub(lambda each: _UNREAD.get(each[0], each[0]), text)
        value = json_repair.loads(readable, skip_json_loads=True)
    except (RecursionError, IndexError, KeyError, TypeError, ValueError):  # what its parser can raise on odd text
        return []
    several = sorted(value, key=lambda each: -len(str(each))) if isinstance(value, list) and text[0] == "{" else [value]
    return [_storable(each) for each in several if each != ""]


def value_of(text: str) -> Any:
    """The value of ``text``, repaired where it is broken; None where nothing can be made of it."""
    value = _decoded(text)
    return value if value is not None else next(iter(mended(text.strip())), None)


def _decoded(text: str) -> Any:
    try:
        return _storable(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None


def partial_text(text: str, field: str) -> str:
    """The text of ``field`` in JSON that is still being written, as far as it goes; empty where it has not begun.

    >>> partial_text('{"reasoning": "…", "answer": "In King', "answer")
    'In King'
    """
    found = re.search(rf'"{re.escape(field)}"\s*:\s*"((?:[^"\\]|\\.)*)', text, re.DOTALL)
    if found is None:
        return ""
    try:
        read = str(json.loads(f'"{found[1]}"', strict=False))
        return without_lone_surrogates(read[:-1] if "\ud800" <= read[-1:] <= "\udbff" else read)  # half a letter
    except ValueError:  # it ends within \u00e9
        return partial_text(text[: text.rfind("\\")], field)


def _storable(value: Any) -> Any:
    """``value`` with half surrogate pairs replaced: no database and no file takes them."""
    if isinstance(value, str):
        return without_lone_surrogates(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return value


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
        is_all = False
        if looped:  # it may have every field that its form cannot do without, and no text in it that goes round
            said = value.root if isinstance(value, RootModel) else value.model_dump(exclude_unset=True)
            form = getattr(value, "form", type(value))
            is_all = {*form.model_fields} <= {*said, *aside_of(form)} and not any(map(is_looped, _texts(said)))
        return cls(value, repaired, fault, reply.cut_off, looped, is_all=is_all)


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
    known = {type_key(each) for name, field in fields.items() for each in (name, field.alias or name)}
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
            if known & {type_key(str(key)) for key in value}:
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
    has a text of several words of one for a field, which stands nowhere else in the prompt."""
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
