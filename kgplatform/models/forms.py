"""The forms of replies: pydantic models whose fields a model is asked for, read one by one.

    class Named(Form):
        reasoning: str = text(300)      # thoughts come before what they decide
        name: str
        pages: list[int] = []

Keys are read whatever their case, spaces and underscores. A number where a text is wanted and the reverse are read;
null and an empty text are as good as missing. An item that cannot be read costs itself alone, and so does a field that
the form can do without.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache, partial
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticUseDefault

from kgplatform.models.json_text import pieces, value_of, without_thoughts
from kgplatform.models.lenient import plain_keys, truth_of, words_of
from kgplatform.prompt import source_of

F = TypeVar("F", bound="Form")


def text(most: int, default: str = "") -> Any:
    """A field of text that the server may let grow to ``most`` characters; a longer one is read all the same."""
    return Field(default, json_schema_extra={"maxLength": most})


def items(most: int) -> Any:
    """A list, empty where it is missing, of at most ``most`` items by the server's schema; a longer one is read."""
    return Field(default_factory=list, json_schema_extra={"maxItems": most})


class Lost(NamedTuple):
    """What of a reply could not be read: a field that has a default, or items of a list."""

    fault: str
    is_field: bool


class Form(BaseModel):
    """A reply, or a part of one. It is read as described above with a list for what is lost as the context, else as is.

    ``ASIDE``: the fields without which the reply says as much: they are not asked for a second time, and alone they are
    no reply.
    """

    model_config = ConfigDict(coerce_numbers_to_str=True, populate_by_name=True)
    ASIDE: ClassVar[frozenset[str]] = frozenset({"reasoning"})
    PROMPT: ClassVar[str] = ""

    @classmethod
    def of(cls: type[F], **fields: Any) -> F | None:
        """The form of these ``fields``; None where they cannot be used. To go with the readers of free text."""
        try:
            return cls.model_validate(fields)
        except ValidationError:
            return None

    @model_validator(mode="before")
    @classmethod
    def _under_its_keys(cls, value: Any, info: ValidationInfo) -> Any:
        """The fields that say something, under the names that the form has for them; the first of a name counts."""
        if info.context is None or not isinstance(value, dict):
            return value
        names = _keys(cls)
        found: dict[str, Any] = {}
        for key, said in value.items():
            if said is not None and said != "":
                found.setdefault(names.get(plain(key), key), said)
        return found

    @field_validator("*", mode="wrap")
    @classmethod
    def _what_can_be_read(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        """The value without the items that are wrong; the default of a field that has one and nothing right."""
        try:
            return handler(value)
        except ValidationError as error:
            name = str(info.field_name)
            right = [item for item in value if _is_right(item, handler)] if isinstance(value, list) else []
            if info.context is None or not (
                right or name in cls.model_fields and not cls.model_fields[name].is_required()
            ):
                raise
            fault = error.errors(include_url=False)[0]["msg"]
            info.context.append(Lost(f"{name}: {fault}", is_field=not right))
            if not right:
                raise PydanticUseDefault from None
            return handler(right)


def plain(key: str) -> str:
    """A key as it is compared.

    >>> plain("Final Answer") == plain("final_answer")
    True
    """
    return str(key).replace(" ", "").replace("_", "").casefold()


def aside_of(form: type[BaseModel]) -> list[str]:
    """The names of the fields that ``form`` can do without, in its order."""
    aside = form.ASIDE if issubclass(form, Form) else ()
    return [name for name in form.model_fields if name in aside]


@cache
def shorter(form: type[BaseModel]) -> type[BaseModel]:
    """The schema of ``form`` without the fields that it can do without; ``form`` where it has none."""
    aside = aside_of(form)
    if not aside:
        return form
    kept: dict[str, Any] = {name: (field.annotation, field) for name, field in form.model_fields.items()}
    made: type[BaseModel] = create_model(form.__name__, **{name: kept[name] for name in kept if name not in aside})
    return made


def _is_optional(form: type[BaseModel], name: str) -> bool:
    return name in form.model_fields and not form.model_fields[name].is_required()


def _is_right(item: Any, handler: ValidatorFunctionWrapHandler) -> bool:
    try:
        handler([item])
    except ValidationError:
        return False
    return True


@cache
def _keys(form: type[BaseModel]) -> dict[str, str]:
    """The keys of ``form`` by how they are compared."""
    found: dict[str, str] = {}
    for name, field in form.model_fields.items():
        alias = field.validation_alias
        choices = [each for each in getattr(alias, "choices", [alias, name]) if isinstance(each, str)]
        found |= {plain(each): choices[0] for each in reversed(choices)}
    return found


# ---- What the readers of free text still import; it goes with them.

ANSWER = "answer final_answer response antwort réponse reponse respuesta risposta resposta 答案 回答 答え ответ"
"""The keys of an answer; models write them in the language of the text, whatever is asked for."""
REASONING = (
    "reasoning thought thoughts thinking scratchpad analysis rationale reason explanation begründung raisonnement "
    "razonamiento 推理"
)

_NUMBER_KEYS = ("page", "pages", "number", "label", "index", "id", "value")
_NAMED = (
    r"answer|notes?|summary|gist|reply|response|number|page|letter|statement|reasoning|choice|text|instruction|content"
    r"|name|quote|shortened (?:text|passage)"
)
_PLACEHOLDER = re.compile(
    rf"[\s\"'.…]*|<(?!\s*\d)[^<>\n]*>|[<\[{{(]*\s*(?:(?:the|your|my|an?|new)\s+)+(?:final\s+)?(?:{_NAMED})"
    r"(?:\s+(?:here|itself|goes here|to the question|of option [a-z]|of the question))?\s*[>\]})]*[.…]*|string"
    r"|\$[^\W\d]\w*",
    re.IGNORECASE,
)


def listed(value: Any) -> list[str]:
    """The entries of a list as they were written: ``["5", "7-9"]`` of ``[5, "7-9"]``, of a text, or of objects."""
    if value is None or isinstance(value, bool):
        return []
    if isinstance(value, dict):
        chosen = [value[key] for key in _NUMBER_KEYS if key in value]
        return listed(chosen or list(value))
    if isinstance(value, (list, tuple)):
        return [entry for item in value for entry in listed(item)]
    words = words_of(value)
    return [words] if words else []


def number_of(value: Any) -> int:
    """The last number that a field names, where it names any. Raises ``ValueError``."""
    entries = re.findall(r"-?\d{1,9}(?![\d.]*\d)", " ".join(listed(value)))
    if not entries:
        raise ValueError("write one of the numbers")
    return int(entries[-1])


Words = Annotated[str, BeforeValidator(words_of)]
Lines = Annotated[str, BeforeValidator(partial(words_of, glue="\n"))]
"""A text of which nothing may be lost: the items of a list and the pairs of an object are its lines."""
Flag = Annotated[bool | None, BeforeValidator(truth_of), WithJsonSchema({"type": "boolean"})]
Listed = Annotated[
    list[str],
    BeforeValidator(listed),
    WithJsonSchema({"type": "array", "items": {"type": "integer"}, "maxItems": 100}),
]


def named(keys: str, default: Any = ..., *, most: int | None = None, items: int | None = None) -> Any:
    """A field that is read under any of ``keys``, in whatever letters; the first is the one that is asked for.

    ``most`` characters, ``items`` of a list are what the server may let it have; a longer one is read all the same.
    """
    extra: Any = {"maxLength": most} if most else {"maxItems": items} if items else None
    return Field(default, validation_alias=AliasChoices(*keys.split()), json_schema_extra=extra)


def thinking(most: int = 600) -> Any:
    """The field in which a model thinks before it decides."""
    return named(REASONING, "", most=most)


def is_placeholder(text: str) -> bool:
    """Whether ``text`` is what a prompt would have in the place of words: "<the answer>", "...", "the answer"."""
    return bool(text.strip()) and _PLACEHOLDER.fullmatch(text.strip()) is not None


@cache
def examples_of(prompt: str) -> tuple[dict[str, Any], ...]:
    """The replies that ``prompt`` shows as examples: its lines that are JSON objects."""
    lines = (line for line in source_of(prompt).replace("$$", "$").splitlines() if line.startswith("{"))
    return tuple(json.loads(line) for line in lines)


def is_json(text: str, keys: Iterable[str]) -> bool:
    """Whether ``text`` tries to be an object with one of ``keys``, and so is no free text."""
    parts = pieces(without_thoughts(text, cut_off=False))
    found = {key for part in parts if part.text.startswith("{") for key in plain_keys(value_of(part.text))}
    return bool(found & set(plain_keys(dict.fromkeys(keys))))
