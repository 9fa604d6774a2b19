"""Structured answers: what a model wrote, read as a pydantic model; repaired, asked for once more, or reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pydantic import AliasChoices, BaseModel, RootModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails

from kgplatform.errors import ReplyError
from kgplatform.models.chat import Chat, Reply, Wanted
from kgplatform.models.json_text import mend, pieces, read, whole_items, without_thoughts
from kgplatform.prompt import Messages, render

M = TypeVar("M", bound=BaseModel)

_ERRORS_SHOWN = 5
_TEXT_SHOWN = 200


def ask(
    chat: Chat,
    messages: Messages,
    shape: type[M],
    *,
    stage: str,
    tokens: int | None = None,
    free: Callable[[str], M | None] = lambda text: None,
) -> tuple[M, int]:
    """The model's answer as a ``shape``, and how often it was repaired or asked for again (0 to 3).

    The server is asked for JSON of that shape, of at most ``tokens``. Where a reply has none that can be read,
    ``free`` reads it as free text: None where it makes nothing of it either.

    An answer that cannot be used is asked for once more, with the error. Both answers are in the chat's cache, so that
    the same call in another run takes the same way and costs nothing. Raises ``ReplyError`` if that fails too; then
    the chat forgets both, so that another run asks the model and not its cache.
    """
    wanted = Wanted(shape, tokens)
    reply = chat.send(messages, stage=stage, wanted=wanted)
    try:
        value, repaired = _read(reply, shape, free)
    except ReplyError as error:
        said = {"role": "assistant", "content": reply.text if reply.text.strip() else "(nothing)"}
        asked_again = [*messages, said, render("models/ask_again", error=str(error))[1]]
        again = chat.send(asked_again, stage=stage, wanted=wanted)
    else:
        return value, int(repaired)
    try:
        value, repaired = _read(again, shape, free)
    except ReplyError as error:
        for each in (messages, asked_again):
            chat.forget(each, wanted=wanted)
        raise ReplyError(
            f"The language model's answer in stage {stage} cannot be used, nor could the one before: {error} "
            "A larger model (KGPLATFORM_CHAT_MODEL) may do better."
        ) from error
    return value, 1 + int(repaired)


def parse_reply(text: str, shape: type[M]) -> M:
    """The ``shape`` in ``text``, whatever stands around it: thoughts, fences, sentences.

    Where several JSON values are there, the largest that validates counts. Broken JSON is repaired; of JSON that
    breaks off, the complete items of the outermost list are kept. Raises ``ReplyError`` that says what is wrong.
    """
    return _parse(text, shape, cut_off=False)[0]


def _read(reply: Reply, shape: type[M], free: Callable[[str], M | None]) -> tuple[M, bool]:
    """The value, and whether it had to be repaired or was free text."""
    try:
        return _parse(reply.text, shape, cut_off=reply.cut_off)
    except ReplyError:
        value = free(without_thoughts(reply.text, cut_off=reply.cut_off))
        if value is None:
            raise
        return value, True


def _parse(text: str, shape: type[M], *, cut_off: bool) -> tuple[M, bool]:
    """The value, and whether its JSON had to be repaired."""
    fault = ""
    for value, repaired in _values(text, cut_off=cut_off):
        try:
            return shape.model_validate(_unwrapped(value, shape)), repaired
        except ValidationError as error:
            fault = fault or _in_words(error)
    if not fault:
        start = " ".join(text.split())[:_TEXT_SHOWN]
        lack = "its JSON is broken beyond repair" if "{" in start else "there is no JSON in it"
        fault = f"{lack}; it begins {start!r}." if start else "it is empty."
    raise ReplyError(fault + (" It broke off at the length limit: be shorter." if cut_off else ""))


def _values(text: str, *, cut_off: bool) -> Iterator[tuple[Any, bool]]:
    """JSON values in ``text``, the likeliest first, each with whether it was repaired."""
    answer = without_thoughts(text, cut_off=cut_off)
    parts = pieces(answer)
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
        yield value, repaired


def _says_something(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return any(map(_says_something, inner)) if inner is not None else value not in ("", None)


def _unwrapped(value: Any, shape: type[BaseModel]) -> Any:
    """``value`` without what models put around it: ``[value]``, ``{"result": value}``; or a bare list put into the
    one field that there is. Raises ``ValidationError`` for an object that has none of the fields asked for: with
    defaults it would pass for an empty answer.
    """
    names = [key for name, field in shape.model_fields.items() for key in _keys(name, field)]
    if issubclass(shape, RootModel) or (isinstance(value, dict) and (not value or value.keys() & set(names))):
        return value
    if isinstance(value, (dict, list)) and len(value) == 1:
        inner = next(iter(value.values())) if isinstance(value, dict) else value[0]
        if isinstance(inner, dict) and inner.keys() & set(names):
            return inner
    if isinstance(value, list) and len(shape.model_fields) == 1:
        return {names[0]: value}
    wanted = [_keys(name, field)[0] for name, field in shape.model_fields.items()]
    missing: list[InitErrorDetails] = [{"type": "missing", "loc": (name,), "input": None} for name in wanted]
    raise ValidationError.from_exception_data(shape.__name__, missing)


def _keys(name: str, field: FieldInfo) -> list[str]:
    """The keys under which a field is taken, the one that surely works first."""
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    return [*(choice for choice in choices if isinstance(choice, str)), name]


def _in_words(error: ValidationError) -> str:
    faults = [f"{'.'.join(map(str, e['loc'])) or 'it'}: {e['msg']}" for e in error.errors(include_url=False)]
    more = f"; and {len(faults) - _ERRORS_SHOWN} more" if len(faults) > _ERRORS_SHOWN else ""
    return "; ".join(faults[:_ERRORS_SHOWN]) + more + "."
