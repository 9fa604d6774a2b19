"""Forms that replies are read as: fields that take whatever models put into them, one by one.

    class Pages(Form):
        PROMPT = "readagent/lookup"
        reasoning: Reasoning = ""
        pages: Listed = named("pages page seiten")

    parse_reply('{"Page": "5-7"}', Pages).pages          # ['5-7']

A field of a wrong type is brought to the right one, and loses only itself. What is refused is a reply that copies the
example of its prompt, or has a placeholder for its words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError, WithJsonSchema, model_validator

from kgplatform.models.json_text import pieces, value_of, without_thoughts
from kgplatform.models.lenient import keyed, plain_keys, truth_of, words_of
from kgplatform.prompt import source_of

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


F = TypeVar("F", bound="Form")


class Form(BaseModel):
    """A reply to ``PROMPT``, or a part of one. Raises ``ValueError`` where the reply is the prompt's own example."""

    PROMPT: ClassVar[str] = ""
    COUNTS: ClassVar[str] = ""
    """The field whose words must be the model's own."""
    whole: ClassVar[bool] = False
    """The form finds its fields in the reply by itself, so that nothing is taken off it before."""
    last: ClassVar[bool] = False
    """Of several objects in a reply the last counts that can be read, and not the largest."""
    may_copy: ClassVar[bool] = False
    """An example of the prompt may be the reply that is wanted; what is copied in vain is found elsewhere."""
    enough: ClassVar[bool] = False
    """A reply that broke off after the words of ``COUNTS`` has said what is needed."""

    @model_validator(mode="before")
    @classmethod
    def _under_its_keys(cls, value: Any) -> Any:
        return keyed(value, cls) if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _is_its_own(self: F) -> F:
        said = getattr(self, self.COUNTS, "")
        if isinstance(said, str) and is_placeholder(said):
            raise ValueError(f"{said!r} stands for words, and is none of them: write your own")
        if self.PROMPT and any(self._copies(example) for example in examples_of(self.PROMPT)):
            raise ValueError("it is the example of the instructions: write what is so for this text and this question")
        return self

    def _copies(self, example: Mapping[str, Any]) -> bool:
        """Whether it has the words of ``example``, or its reasoning with the same number, letter or list."""
        said, shown = getattr(self, self.COUNTS, ""), example.get(self.COUNTS)
        if isinstance(said, str) and len(said.split()) > 1:
            return said == shown
        thought = words_of(example.get("reasoning"))
        return bool(thought) and getattr(self, "reasoning", "") == thought and words_of(said) == words_of(shown)

    @classmethod
    def of(cls: type[F], **fields: Any) -> F | None:
        """The form of these ``fields``, as free text is read; None where they cannot be used."""
        try:
            return cls.model_validate(fields)
        except ValidationError:
            return None


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
