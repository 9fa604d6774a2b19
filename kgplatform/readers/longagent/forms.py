"""LongAgent's replies: one JSON object with a type and a content, as in the paper, and room to reason before it.

    said, repairs = ask(calls, messages, Decided, stage="leader", tokens=1024, free=reads(Decided))
    said.type, said.content                  # 'answer', 'Kingston'

Read as leniently as models write and as the paper's transcripts ask for (arXiv 2402.11550, appendix B): a content
under another key or inside of another object, braces that are missing, scratchpads, labels in prose. The words of the
prompts' own examples are no reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, ClassVar, Literal, TypeVar, get_args

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from kgplatform.models.json_text import pieces, pieces_in_order, value_of
from kgplatform.readers.refusals import is_members_refusal
from kgplatform.text import normalise_name, tidy, type_key

NO_MENTION = "No Mention"

_TYPES = {
    "member": "member expert kind membername",
    "response": "response",
    "instruction": "instruction query newstate newinstruction instruct question anweisung anleitung instrucción "
    "istruzione 指令 指示 инструкция",
    "answer": "answer finalanswer final antwort réponse reponse respuesta risposta resposta antwoord 答案 回答 "
    "答え 답변 ответ",
    "conflict": "conflict conflicts konflikt conflit conflicto",
}
_TYPE_OF = {word: kind for kind, words in _TYPES.items() for word in words.split()}
_KEYS = {
    "type": "type action decision name tool function choice typ",
    "content": "content text value result output message reply summary parameters arguments inhalt contenu "
    "contenido 内容",
    "quote": "quote quotes quotation citation evidence support supportingquote excerpt zitat cita citazione 引用",
    "reasoning": "reasoning scratchpad thoughts thought thinking analysis rationale explanation begründung notes",
    "collect": "collect collects collecting list",
}
_KEY_OF = {word: key for key, words in _KEYS.items() for word in words.split()}
_CONTENT_FIRST = ("content", "text", "value")

_PLACEHOLDER = re.compile(
    r"<[^<>]*>|\.{2,}|…|\$\w+|(?:the|your|my) (?:answer|instruction|response|content|name|quote)(?: here)?"
)
EXAMPLES = frozenset(
    map(
        normalise_name,
        (
            "the Zilverbrand",
            "At the regatta of 1911 the cup went to the Zilverbrand",
            "Which boat won the cup of 1911?",
            "Who was the helmsman of the Zilverbrand in 1911?",
            "Onno Feikema",
            "the Zilverbrand 1911, the Klipgeest 1912",
        ),
    )
)
"""What the prompts' examples have as a content. Said by a model, it was copied."""

_MOST_PLAIN = 40
"""Words of a reply without any form that is taken for its content."""

_SCRATCHPAD = re.compile(r"<scratch[ _-]?pad>.*?</scratch[ _-]?pad>", re.DOTALL | re.IGNORECASE)
_SCRATCHPAD_TAG = re.compile(r"</?scratch[ _-]?pad>", re.IGNORECASE)
_CODE_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_QUOTE = r"[\"'“”]?"
# A type and a content without the braces around them, or with quotes in the content that nobody escaped.
_BARE = re.compile(
    rf"{_QUOTE}\btype{_QUOTE}\s*:\s*{_QUOTE}(?P<type>[A-Za-z][A-Za-z _]*?){_QUOTE}\s*[,\n]\s*"
    rf"{_QUOTE}content{_QUOTE}\s*:\s*",
    re.IGNORECASE,
)
_CLOSERS = " \t\r\n]}"
# A content in quotes that ends where a paragraph does: what comes after it does not belong to it.
_QUOTED_LINE = re.compile(r"[\"'“].*?[\"'”][\s\]}]*?(?=\n\s*\n)", re.DOTALL)
_LABELS = "|".join(
    sorted({*_TYPE_OF, "final answer", "new instruction", "new state", "my answer"}, key=len, reverse=True)
)
# "### Final Answer\nKingston", "**Antwort:** Kingston", "The answer is Kingston", "Instruction - Who …?"
_LABELLED = re.compile(
    rf"(?:^|\b(?:the|my|la|die|le|el) )\W*(?P<type>{_LABELS})\b[*_\s]*(?:(?:is|ist|est|es|è|é)\b[*_\s]*:?|"
    r"[:：–-]|\n)[*_\s]*"
    r"(?P<content>\S[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTE_LINE = re.compile(r"^\W*(?:quote|zitat|citation|cita|evidence)\b\W*[:：](?P<quote>[^\n]+)", re.I | re.MULTILINE)
_NUMBER = re.compile(r"\d{1,9}")
_AROUND = ' \t\r\n*_`"“”'


class Said(BaseModel):
    """What a reply says: the paper's envelope. An answer without content says that there is none."""

    only: ClassVar[str] = ""

    reasoning: str = Field("", json_schema_extra={"maxLength": 600})
    type: str
    content: str = Field(json_schema_extra={"maxLength": 2000})

    @model_validator(mode="before")
    @classmethod
    def _of_any_form(cls, value: Any) -> Any:
        """The fields of an object whatever its keys are called. Raises ``ValueError`` for one that says nothing."""
        if not isinstance(value, dict):
            return value
        said = _fields(value, cls.types())
        kind = said.get("type") or (cls.types()[0] if len(cls.types()) == 1 else "")
        if kind not in cls.types():
            raise ValueError(f"its type must be one of {', '.join(cls.types())}")
        if "content" not in said:
            raise ValueError("it has no content")
        content = _as_text(said["content"])
        if _is_copied(content):
            raise ValueError(f"its content, {content[:60]}, is that of the example")
        if not content and kind not in ("answer", "response", "conflict"):
            raise ValueError("its content is empty")
        content = content or (NO_MENTION if kind == "answer" else "")
        return {**said, "type": kind, "content": content}

    @field_validator("reasoning", mode="before")
    @classmethod
    def _text(cls, value: Any) -> str:
        return _as_text(value)

    @classmethod
    def types(cls) -> tuple[str, ...]:
        """What ``type`` may be, the likeliest first."""
        return get_args(cls.model_fields["type"].annotation)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those in the content, which name members where the type is a conflict."""
        return tuple(map(int, _NUMBER.findall(self.content)))


class _Instructs(Said):
    """``collect``: the members' replies are to be put together, since each has a part of a list or of a count."""

    collect: bool = False

    @field_validator("collect", mode="before")
    @classmethod
    def _is_true(cls, value: Any) -> bool:
        return str(value).casefold() in ("true", "yes", "1", "ja", "oui", "sí", "si")


class Chosen(Said):
    """A kind of members."""

    type: Literal["member"]


class Instructed(_Instructs):
    """The first instruction."""

    type: Literal["instruction"]


class Decided(_Instructs):
    """What follows from a round."""

    type: Literal["answer", "instruction", "conflict"]


class Settled(_Instructs):
    """What follows from a round whose conflicts were resolved."""

    type: Literal["answer", "instruction"]


class Ended(Said):
    """The answer after the last round."""

    type: Literal["answer"]


class Responded(Said):
    """What a member says, or the sum of some replies. ``quote``: the words of its part that say so."""

    type: Literal["response"]
    quote: str = Field("", json_schema_extra={"maxLength": 400})

    @field_validator("quote", mode="before")
    @classmethod
    def _words(cls, value: Any) -> str:
        quote = _as_text(value)
        return "" if _is_copied(quote) else quote


S = TypeVar("S", bound=Said)


def reads(form: type[S], plain: str = "") -> Callable[[str], S | None]:
    """How free text is read as ``form``: the last object in it, else what a label announces, else short prose.

    ``plain``: the type that short prose has; by default the only one that the form has, none where it has several.
    """
    plain = plain or (form.types()[0] if len(form.types()) == 1 else "")
    return lambda text: next(_validated(form, _candidates(_outside_scratchpads(text), plain)), None)


def _validated(form: type[S], candidates: Iterator[dict[str, Any]]) -> Iterator[S]:
    for each in candidates:
        try:
            yield form.model_validate(each)
        except ValidationError:
            continue


def _candidates(text: str, plain: str) -> Iterator[dict[str, Any]]:
    objects = list(_objects(text))
    yield from objects
    if any(_fields(each, ()) for each in objects):
        return
    bare = list(_BARE.finditer(text))
    if bare:
        content = text[bare[-1].end() :]
        quoted = _QUOTED_LINE.match(content)
        content = (quoted[0] if quoted else content).rstrip(_CLOSERS)
        if content.startswith('"') <= content.endswith('"'):  # else it broke off
            yield {"type": bare[-1]["type"], "content": _unquoted(content)}
        return
    labelled = list(_LABELLED.finditer(text))
    if labelled and "{" not in labelled[-1]["content"]:
        said = {"type": labelled[-1]["type"], "content": labelled[-1]["content"].strip(_AROUND)}
        quotes = [each["quote"].strip(_AROUND) for each in _QUOTE_LINE.finditer(text)]
        yield {**said, "quote": quotes[-1] if quotes else ""}
    is_prose = not text.lstrip().startswith(("{", "[", "<"))
    if plain and text and is_prose and (len(text.split()) <= _MOST_PLAIN or is_members_refusal(text)):
        yield {"type": plain, "content": "" if is_members_refusal(text) else text.strip(_AROUND)}


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The objects in ``text``, the last first; one that is not closed only where its last string is."""
    parts = reversed(pieces_in_order(text))
    values = [value_of(part.text) for part in parts if part.whole or part.text.rstrip(" `\n").endswith(('"', "}", "]"))]
    items = [each for value in values for each in (reversed(value) if isinstance(value, list) else [value])]
    yield from (item for item in items if isinstance(item, dict))


def _fields(value: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any]:
    """The fields of ``value`` by the names that the forms have for them, out of what is wrapped round them."""
    named = {type_key(str(key)): each for key, each in value.items()}
    said: dict[str, Any] = {}
    for key, each in named.items():
        field = _KEY_OF.get(key)
        if field and (field not in said or key in _CONTENT_FIRST):
            said[field] = each
    kind = _kind(said.pop("type", None), wanted)
    keyed = {_kind(key, wanted): each for key, each in named.items() if key in _TYPE_OF}
    filled = {each: content for each, content in keyed.items() if not _is_empty(content)}
    if kind in keyed:
        said["content"] = keyed[kind]
    elif not kind and len(filled or keyed) == 1 and "content" not in said:
        kind, said["content"] = next(iter((filled or keyed).items()))
    inner = said.get("content") if "content" in said else next(iter(value.values())) if len(value) == 1 else None
    inner = (
        inner if isinstance(inner, dict) else next((each for each in named.values() if isinstance(each, dict)), None)
    )
    if inner and ("content" not in said or isinstance(said["content"], dict)):
        deeper = _fields(inner, wanted)
        if "content" in deeper:
            said = {**said, **deeper}
            kind = kind or deeper.get("type", "")
    return {**said, "type": kind} if kind else said


def _kind(said: Any, wanted: tuple[str, ...]) -> str:
    """The type that ``said`` means; an answer and a response are one where only one of them is wanted."""
    kind = _TYPE_OF.get(type_key(str(said or "")), "")
    twin = {"answer": "response", "response": "answer"}.get(kind, "")
    return twin if kind not in wanted and twin in wanted else kind


def _is_empty(content: Any) -> bool:
    return content is None or content == "" or content == []


def _as_text(value: Any) -> str:
    """The content as text: lists joined, an object as JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(each, (dict, list)) for each in value):
        return "; ".join(filter(None, map(_as_text, value)))
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_copied(content: str) -> bool:
    folded = normalise_name(content).strip(" .")
    return _PLACEHOLDER.fullmatch(folded) is not None or normalise_name(content) in EXAMPLES


def _outside_scratchpads(text: str) -> str:
    """``text`` less scratchpads and the marks of code; a scratchpad that is all there is stays."""
    outside = _SCRATCHPAD.sub("", text)
    kept = outside if outside.strip() else text
    return _CODE_FENCE.sub("", _SCRATCHPAD_TAG.sub("", kept)).strip()


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] in "\"'“" and text[-1] in "\"'”":
        return text[1:-1].strip()
    return text.strip(' \t\r\n"')


# ------------------------------------------------------------------------------------------------------------ grouping

Relation = Literal["same", "complementary", "conflicting"]
_RELATIONS: tuple[tuple[Relation, str], ...] = (
    ("conflicting", r"conflict|contradict|differ|incompat|disagree|widerspr|contradi|矛盾|冲突"),
    ("complementary", r"complement|togeth|belong|unite|both|ergänz|互补|補"),
    ("same", r"same|equal|agree|identical|equivalent|gleich|même|igual|相同|同"),
)


class Group(BaseModel):
    """Replies by number, and how they stand to each other."""

    members: list[int]
    relation: Relation


class Grouped(BaseModel):
    """How replies stand to each other; one that is in no group stands by itself."""

    reasoning: str = Field("", json_schema_extra={"maxLength": 600})
    groups: list[Group] = Field(json_schema_extra={"maxItems": 30})

    @model_validator(mode="before")
    @classmethod
    def _of_any_form(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        named = {type_key(str(key)): each for key, each in value.items()}
        listed = next((each for each in named.values() if isinstance(each, list) and _is_groups(each)), None)
        by_relation = [(_relation(key), each) for key, each in named.items() if _relation(key)]
        groups = [_group(each) for each in listed or ()]
        groups += [_group({"relation": kind, "members": each}) for kind, found in by_relation for each in _sets(found)]
        if not groups and not any(isinstance(each, list) for each in named.values()):
            raise ValueError("it has no groups")
        kept = [each for each in groups if each is not None]
        return {"reasoning": _as_text(named.get("reasoning")), "groups": kept}


def reads_groups(text: str) -> Grouped | None:
    """Lines as "Same: 1, 3" or "Members 2 and 4 contradict each other"; None where there is none."""
    text = _outside_scratchpads(text)
    for part in pieces(text):
        value = value_of(part.text)
        with suppress(ValidationError):
            return Grouped.model_validate({"groups": value} if isinstance(value, list) else value)
    lines = [{"relation": line, "members": line} for line in re.split(r"[\n;.]", text) if "{" not in line]
    groups = [group for line in lines if (group := _group(line)) is not None]
    return Grouped.model_validate({"groups": groups}) if groups else None


def _is_groups(listed: list[Any]) -> bool:
    return any(isinstance(each, dict) for each in listed)


def _sets(found: Any) -> list[Any]:
    """One set of numbers, or several."""
    return found if isinstance(found, list) and any(isinstance(each, list) for each in found) else [found]


def _group(item: Any) -> dict[str, Any] | None:
    """A group of two or more numbers that has a relation; None for anything else."""
    if not isinstance(item, dict):
        return None
    named = {type_key(str(key)): each for key, each in item.items()}
    said = next((each for key, each in named.items() if key in ("relation", "type", "kind", "status", "label")), "")
    relation = _relation(str(said))
    numbers = [int(each) for value in named.values() if value is not said for each in _NUMBER.findall(str(value))]
    numbers = numbers or [int(each) for each in _NUMBER.findall(str(said))]
    unique = list(dict.fromkeys(numbers))
    return {"members": unique, "relation": relation} if relation and len(unique) > 1 else None


def _relation(said: str) -> Relation | None:
    folded = tidy(said).casefold()
    return next((relation for relation, words in _RELATIONS if re.search(words, folded)), None)
