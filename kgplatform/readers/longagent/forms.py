"""LongAgent's replies: one JSON object with a type and a content, as in the paper, and room to reason before it.

    said, repairs = ask(calls, messages, Decided, stage="leader", tokens=1024, free=Decided.free)
    said.type, said.content                  # 'answer', 'Kingston'

Read as leniently as models write and as the paper's transcripts ask for (arXiv 2402.11550, appendix B): a content
under another key or inside of another object, braces that are missing, scratchpads, labels in prose. The words of the
prompts' own examples are no reply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import BeforeValidator, model_validator

from kgplatform.models.forms import Form, Words, examples_of, is_placeholder, named, thinking
from kgplatform.models.json_text import pieces_in_order, value_of, values_in
from kgplatform.models.lenient import first_of, items_of, keyed, numbers_of, plain_keys, truth_of, words_of
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
_TYPE = "type action decision name tool function choice typ"
_PROMPTS = ("member", "joint", "instruct", "decide", "end", "batch")
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
_AROUND = ' \t\r\n*_`"“”'

_Text = Annotated[str, BeforeValidator(partial(words_of, glue="; "))]
S = TypeVar("S", bound="Said")


class Said(Form):
    """What a reply says: the paper's envelope. An answer without content says that there is none."""

    whole: ClassVar[bool] = True
    last: ClassVar[bool] = True

    reasoning: Words = thinking()
    type: str = named(_TYPE)
    content: _Text = named(
        "content text value result output message reply summary parameters arguments inhalt contenu contenido 内容",
        most=2000,
    )

    @model_validator(mode="before")
    @classmethod
    def _of_any_form(cls, value: Any) -> Any:
        """The fields of an object whatever its keys are called. Raises ``ValueError`` for one that says nothing."""
        if not isinstance(value, dict):
            return value
        said = cls._fields(value)
        kind = said.get("type") or (cls.types()[0] if len(cls.types()) == 1 else "")
        if kind not in cls.types():
            raise ValueError(f"its type must be one of {', '.join(cls.types())}")
        if "content" not in said:
            raise ValueError("it has no content")
        content = words_of(said["content"], "; ")
        if _is_copied(content):
            raise ValueError(f"its content, {content[:60]}, is that of the example")
        if not content and kind not in ("answer", "response", "conflict"):
            raise ValueError("its content is empty")
        content = content or (NO_MENTION if kind == "answer" else "")
        return {**said, "type": kind, "content": content}

    @classmethod
    def _fields(cls, value: dict[str, Any]) -> dict[str, Any]:
        """The fields of ``value`` under the names of the form, out of what is wrapped round them."""
        said = {key: item for key, item in keyed(value, cls).items() if key in cls.model_fields}
        kind = cls._kind(said.pop("type", None))
        known = ((cls._kind(key), item) for key, item in plain_keys(value).items() if key in _TYPE_OF)
        under = {kind: item for kind, item in known if kind in cls.types()}
        under = {key: item for key, item in under.items() if item not in (None, "", [])} or under
        if kind in under:
            said["content"] = under[kind]
        elif not kind and len(under) == 1 and "content" not in said:
            kind, said["content"] = next(iter(under.items()))
        content = said.get("content", next(iter(value.values())) if len(value) == 1 else None)
        inner = content if isinstance(content, dict) else next((i for i in value.values() if isinstance(i, dict)), None)
        if inner and ("content" not in said or isinstance(said["content"], dict)):
            deeper = cls._fields(inner)
            if "content" in deeper:
                said |= deeper
                kind = kind or deeper.get("type", "")
        return {**said, "type": kind} if kind else said

    @classmethod
    def _kind(cls, said: Any) -> str:
        """The type that ``said`` means; an answer and a response are one where only one of them is wanted."""
        kind = _TYPE_OF.get(type_key(str(said or "")), "")
        twin = {"answer": "response", "response": "answer"}.get(kind, "")
        return twin if kind not in cls.types() and twin in cls.types() else kind

    @classmethod
    def types(cls) -> tuple[str, ...]:
        """What ``type`` may be, the likeliest first."""
        return get_args(cls.model_fields["type"].annotation)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those in the content, which name members where the type is a conflict."""
        return tuple(numbers_of(self.content))


class _Instructs(Said):
    """``collect``: the members' replies are to be put together, since each has a part of a list or of a count."""

    collect: Annotated[bool, BeforeValidator(lambda said: truth_of(said) is True)] = named(
        "collect collects collecting list", False
    )


class Chosen(Said):
    """A kind of members."""

    type: Literal["member"] = named(_TYPE)


class Instructed(_Instructs):
    """The first instruction."""

    type: Literal["instruction"] = named(_TYPE)


class Decided(_Instructs):
    """What follows from a round."""

    type: Literal["answer", "instruction", "conflict"] = named(_TYPE)


class Settled(_Instructs):
    """What follows from a round whose conflicts were resolved."""

    type: Literal["answer", "instruction"] = named(_TYPE)


class Ended(Said):
    """The answer after the last round."""

    type: Literal["answer"] = named(_TYPE)


def _own(value: Any) -> str:
    quote = words_of(value, "; ")
    return "" if _is_copied(quote) else quote


class Responded(Said):
    """What a member says, or the sum of some replies. ``quote``: the words of its part that say so."""

    type: Literal["response"] = named(_TYPE)
    quote: Annotated[str, BeforeValidator(_own)] = named(
        "quote quotes quotation citation evidence support supporting_quote excerpt zitat cita citazione 引用",
        "",
        most=400,
    )


def reads(form: type[S], plain: str = "") -> Callable[[str], S | None]:
    """How free text is read as ``form``: the last object in it, else what a label announces, else short prose.

    ``plain``: the type that short prose has; by default the only one that the form has, none where it has several.
    """
    plain = plain or (form.types()[0] if len(form.types()) == 1 else "")

    def read(text: str) -> S | None:
        found = (form.of(**each) for each in _candidates(_outside_scratchpads(text), plain, form))
        return next(filter(None, found), None)

    return read


def _candidates(text: str, plain: str, form: type[Said]) -> Iterator[dict[str, Any]]:
    whole = [
        part.text for part in pieces_in_order(text) if part.whole or part.text.rstrip(" `\n").endswith(('"', "}", "]"))
    ]
    items = [item for body in whole for item in items_of(value_of(body)) if isinstance(item, dict)]
    yield from reversed(items)
    if any(form._fields(item) for item in items):
        return
    bare = list(_BARE.finditer(text))
    if bare:
        content = text[bare[-1].end() :]
        quoted = _QUOTED_LINE.match(content)
        content = (quoted[0] if quoted else content).rstrip(" \t\r\n]}")
        if content.startswith('"') <= content.endswith('"'):  # else it broke off
            yield {"type": bare[-1]["type"], "content": _unquoted(content)}
        return
    labelled = list(_LABELLED.finditer(text))
    if labelled and "{" not in labelled[-1]["content"]:
        quotes = [found["quote"].strip(_AROUND) for found in _QUOTE_LINE.finditer(text)]
        content = labelled[-1]["content"].strip(_AROUND)
        yield {"type": labelled[-1]["type"], "content": content, "quote": quotes[-1] if quotes else ""}
    is_prose = not text.lstrip().startswith(("{", "[", "<"))
    if plain and text and is_prose and (len(text.split()) <= _MOST_PLAIN or is_members_refusal(text)):
        yield {"type": plain, "content": "" if is_members_refusal(text) else text.strip(_AROUND)}


@cache
def examples() -> frozenset[str]:
    """What the prompts' examples have as a content or a quote. Said by a model, it was copied."""
    shown = [example for name in _PROMPTS for example in examples_of(f"longagent/{name}")]
    said = {normalise_name(example.get(key, "")) for example in shown for key in ("content", "quote")}
    return frozenset(said - {"", normalise_name(NO_MENTION)})


def _is_copied(content: str) -> bool:
    return is_placeholder(content.strip(" .")) or normalise_name(content) in examples()


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


class Group(Form):
    """Replies by number, and how they stand to each other."""

    members: list[int]
    relation: Relation


class Grouped(Form):
    """How replies stand to each other; one that is in no group stands by itself."""

    reasoning: Words = thinking()
    groups: list[Group] = named("groups", items=30)

    @model_validator(mode="before")
    @classmethod
    def _of_any_form(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        found = plain_keys(value)
        listed = next((each for each in found.values() if isinstance(each, list) and _has_objects(each)), [])
        by_relation = [(_relation(key), each) for key, each in found.items() if _relation(key)]
        groups = [*map(_group, listed)]
        groups += [_group({"relation": kind, "members": each}) for kind, sets in by_relation for each in _sets(sets)]
        if not groups and not any(isinstance(each, list) for each in found.values()):
            raise ValueError("it has no groups")
        return {"reasoning": found.get("reasoning"), "groups": [each for each in groups if each is not None]}

    @classmethod
    def free(cls, text: str) -> Grouped | None:
        """Lines as "Same: 1, 3" or "Members 2 and 4 contradict each other"; None where there is none."""
        text = _outside_scratchpads(text)
        for value in values_in(text, broken=True):
            if found := cls.of(groups=value) if isinstance(value, list) else cls.of(**value):
                return found
        lines = [line for line in re.split(r"[\n;.]", text) if "{" not in line]
        groups = [group for line in lines if (group := _group({"relation": line, "members": line})) is not None]
        return cls.of(groups=groups) if groups else None


def _has_objects(listed: list[Any]) -> bool:
    return any(isinstance(each, dict) for each in listed)


def _sets(found: Any) -> list[Any]:
    """One set of numbers, or several."""
    return found if isinstance(found, list) and any(isinstance(each, list) for each in found) else [found]


def _group(item: Any) -> dict[str, Any] | None:
    """A group of two or more numbers that has a relation; None for anything else."""
    said = first_of(item, "relation type kind status label")
    relation = _relation(str(said))
    told = [each for each in item.values() if each is not said] if isinstance(item, dict) else []
    members = numbers_of(list(map(str, told))) or numbers_of(str(said))
    return {"members": members, "relation": relation} if relation and len(members) > 1 else None


def _relation(said: str) -> Relation | None:
    folded = tidy(said).casefold()
    return next((relation for relation, words in _RELATIONS if re.search(words, folded)), None)
