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

from contextlib import suppress
from functools import cache
from typing import Any, ClassVar, NamedTuple

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticUseDefault

from kgplatform.text import type_key


def text(most: int, default: Any = "") -> Any:
    """A text that the server may let grow to ``most`` characters; a longer one is read all the same. ``default``:
    ``...`` for a field that must be there."""
    return Field(default, json_schema_extra={"maxLength": most})


def items(most: int, default: Any = ()) -> Any:
    """A list of at most ``most`` items by the server's schema; a longer one is read. ``default`` is as for a text."""
    extra: Any = {"maxItems": most}
    return Field(..., json_schema_extra=extra) if default is ... else Field(list(default), json_schema_extra=extra)


class Lost(NamedTuple):
    """What of a reply could not be read: items of a list, or a field of ``form`` that has a default."""

    fault: str
    form: type[BaseModel] | None


class Form(BaseModel):
    """A reply, or a part of one. It is read as described above with a list for what is lost as the context, else as is.

    ``ASIDE``: the fields without which the reply says as much: they are not asked for a second time, and alone they are
    no reply.
    """

    model_config = ConfigDict(coerce_numbers_to_str=True, populate_by_name=True)
    ASIDE: ClassVar[frozenset[str]] = frozenset({"reasoning"})

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
                found.setdefault(names.get(type_key(str(key))) or str(key), said)
        return found

    @field_validator("*", mode="wrap")
    @classmethod
    def _what_can_be_read(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        """The value without the items that are wrong; the default of a field that has one and nothing right."""
        try:
            return handler(value)
        except ValidationError as error:
            name = str(info.field_name)
            is_optional = name in cls.model_fields and not cls.model_fields[name].is_required()
            right = []
            for item in value if isinstance(value, list) else ():
                with suppress(ValidationError):
                    handler([item])
                    right.append(item)
            if info.context is None or not (right or is_optional):
                raise
            fault = error.errors(include_url=False)[0]["msg"]
            info.context.append(Lost(f"{name}: {fault}", form=None if right else cls))
            if not right:
                raise PydanticUseDefault from None
            return handler(right)


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


@cache
def _keys(form: type[BaseModel]) -> dict[str, str]:
    """The keys of ``form`` by how they are compared."""
    keys = (field.alias or name for name, field in form.model_fields.items())
    return {type_key(key): key for key in keys}
