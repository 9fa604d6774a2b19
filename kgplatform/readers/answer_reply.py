"""The reply to the prompt that asks for an answer: read field by field, so that a bad field loses only itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, model_validator

from kgplatform.readers.marks import label_of

_EXAMPLE = ("orla quennell", "pell harbour", "tarrow mills")
"""Names of the prompt's example: a reply with them has copied it."""

_PLACEHOLDER = re.compile(r"\W*|<[^<>]*>|\W*(?:the|your) (?:final )?answer\W*", re.IGNORECASE)
_FALSE = frozenset(["false", "no", "0", "none", "null", "nein", "non", "insufficient"])
_FREE_LABEL = re.compile(
    r"^[\W_]*(?:the )?(?:final |short )?(?:answer|antwort|réponse|respuesta|risposta|答案|回答|答)[*_`\s]*[:：\n]"
    r"[\s*_`]*",
    re.IGNORECASE | re.MULTILINE,
)


def _text_of(value: Any) -> str:
    """A field that should be text, whatever it is."""
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no"}.get(value, "") if isinstance(value, bool) else ""
    if isinstance(value, dict):
        return next((_text_of(each) for each in value.values() if isinstance(each, str | int | float)), "")
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text_of, value)))
    return str(value).strip()


def _cited_in(value: Any) -> Iterator[dict[str, str]]:
    """What a field of citations says, whatever its form: a list or one, numbers, marks, objects, bare quotes."""
    if isinstance(value, list):
        for each in value:
            yield from _cited_in(each)
    elif isinstance(value, dict):
        keys = {str(key).strip().casefold(): each for key, each in value.items()}
        named = next((keys[key] for key in ("passage", "fact", "source", "number", "id", "index") if key in keys), None)
        quote = next((_text_of(keys[key]) for key in ("quote", "text", "words", "content") if key in keys), "")
        if named is not None or quote:
            label = label_of(named)
            yield {"passage": f"F{label}" if "fact" in keys and label[:1].isdigit() else label, "quote": quote}
        else:
            yield from ({"passage": label_of(key), "quote": _text_of(each)} for key, each in value.items())
    elif isinstance(value, str) and not re.fullmatch(r"\W*(?:passage|fact|F)?\W*\d+\W*", value, re.IGNORECASE):
        yield {"passage": "", "quote": value.strip()}
    elif value is not None and label_of(value):
        yield {"passage": label_of(value), "quote": ""}


class Cited(BaseModel):
    """``passage``: its label, "2" or "F1"; empty where the words alone are given."""

    passage: str = ""
    quote: str = Field("", json_schema_extra={"maxLength": 300})


class AnswerReply(BaseModel):
    """Its fields stand in the order in which they are written: thoughts before decisions."""

    reasoning: str = Field(default="", json_schema_extra={"maxLength": 800})
    answer: str = Field(
        "",
        validation_alias=AliasChoices(
            "answer", "Answer", "ANSWER", "final_answer", "Final Answer", "antwort", "response"
        ),
        json_schema_extra={"maxLength": 4000},
    )
    citations: list[Cited] = Field(default_factory=list, json_schema_extra={"maxItems": 12})
    sufficient: bool = True

    @model_validator(mode="before")
    @classmethod
    def _field_by_field(cls, value: Any) -> Any:
        """Each field as it should be, whatever was written: one that cannot be read loses nothing but itself."""
        if not isinstance(value, dict):
            return value
        keys = {str(key).strip().casefold().replace(" ", "_"): each for key, each in value.items()}
        said = next((keys[key] for key in ("answer", "final_answer", "antwort", "response") if key in keys), None)
        text = _text_of(said)
        if text and (
            _PLACEHOLDER.fullmatch(re.sub(r"\[\w+\]", "", text))
            and not re.fullmatch(r"\[\w+\]", text)
            or any(name in text.casefold() for name in _EXAMPLE)
        ):
            raise ValueError("the answer is that of the example; answer the question that is asked")
        cited = next((keys[key] for key in ("citations", "citation", "sources", "quotes") if key in keys), None)
        enough = _text_of(keys.get("sufficient", True)).casefold() not in _FALSE
        return {
            "reasoning": _text_of(keys.get("reasoning")),
            "answer": text,
            "citations": list(_cited_in(cited)),
            "sufficient": enough,
        }


def read_free(text: str) -> AnswerReply | None:
    """An answer in prose with its marks: what stands after the last "Answer:", if one does. None for broken JSON."""
    found = list(_FREE_LABEL.finditer(text))
    said = text[found[-1].end() :] if found else text
    said = said.strip().strip("*").strip()
    if not any(letter.isalnum() for letter in said) or re.match(r"(?:```\w*\s*)?[{\[]\s*[\"'}\]]", said):
        return None
    return AnswerReply(answer=said)
