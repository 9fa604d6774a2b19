"""What the model finds in a part, and the answer that it makes of it all: forms, read however they are filled in.

    found, _ = ask(calls, messages, Findings, stage="map", free=free_findings)
    found.points[0].point, found.points[0].facts, found.items[0].name

Each field is read by itself: what is wrong in one loses nothing else. What has other keys, comes in several objects or
in lists of lines is put together by ``free_findings`` and ``free_final``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache, partial
from itertools import chain
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, field_validator, model_validator

from kgplatform.models.forms import ANSWER, Form, Words, examples_of, named, thinking
from kgplatform.models.json_text import values_in
from kgplatform.models.labels import labelled
from kgplatform.models.lenient import first_of, numbers_of, objects, plain_keys, truth_of, words_of
from kgplatform.readers.refusals import is_members_refusal
from kgplatform.text import normalise_name, tidy, type_key

M = TypeVar("M", bound=BaseModel)
_Text = Annotated[str, BeforeValidator(partial(words_of, glue="; "))]

_UNSAID = 50
"""The score of a point that has none."""

_MIDDLING = {"high": 90, "hoch": 90, "medium": 50, "mittel": 50, "low": 20, "niedrig": 20, "none": 0}
_SHOWN = re.compile(r"\b(?:facts|statements|communities|collection)\b", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")

POINTS = "points keypoints findings statements punkte aussagen puntos pointscles 要点"
ITEMS = "items things list entities dinge liste elemente éléments elementos 项目"
_TEXTS = "point statement text description claim finding content punkt aussage punto affirmation 要点"
_NAMES = "name item thing title entity nom nombre 名称"
_FACTS = (
    "facts fact factnumbers factids evidence sources citations references statements fakten belege faits hechos 事实"
)
_SCORES = "score importance relevance rating wertung bewertung puntuación 评分"
_CITED = "citations sources references belege 引用"


def _score(value: Any) -> int:
    """0 to 100: of 80, "80", "80/100", "8/10", 0.8 and "high"."""
    if isinstance(value, str):
        if (known := _MIDDLING.get(value.strip().casefold())) is not None:
            return known
        parts = [float(each) for each in re.findall(r"\d+(?:\.\d+)?", value)[:2]]
        value = 100 * parts[0] / parts[1] if "/" in value and len(parts) == 2 and parts[1] else next(iter(parts), None)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return _UNSAID
    return round(max(0.0, min(100.0, 100 * value if isinstance(value, float) and 0 < value < 1 else value)))


def _says_something(text: str) -> bool:
    """Neither empty, nor a placeholder, nor a refusal, nor copied from the prompt's own example."""
    return bool(re.search(r"[^\W_]", text)) and not (_is_copied(text) or _refuses(text))


def _refuses(text: str) -> bool:
    """Whether it says that there is nothing; the model was shown facts and statements, not a text."""
    return is_members_refusal(_SHOWN.sub("text", text))


def _is_copied(text: str) -> bool:
    """Whether it is a placeholder, or from the prompts' own examples: then it was not made from anything."""
    return bool(re.fullmatch(r"\W*<[^<>]*>\W*", text)) or _folded(text) in _examples()


@cache
def _examples() -> frozenset[str]:
    shown = [each for name in ("map", "merge", "reduce") for each in objects(list(examples_of(f"corpus/{name}")))]
    return frozenset(_folded(each[key]) for each in shown for key in ("point", "name", "answer") if key in each) - {""}


def _folded(text: str) -> str:
    return normalise_name(re.sub(r"[\[\],]", "", text)).strip(". ")


def _told(raw: Any, keys: str) -> str:
    return words_of(first_of(raw, keys) if isinstance(raw, Mapping) else raw, "; ")


class Point(BaseModel):
    """A statement with the numbers of the facts and communities that it was made from. ``score``: 0 to 100."""

    point: str = Field("", json_schema_extra={"maxLength": 600})
    communities: list[int] = Field(default_factory=list, json_schema_extra={"maxItems": 20})
    facts: list[int] = Field(default_factory=list, json_schema_extra={"maxItems": 40})
    score: int = Field(_UNSAID, json_schema_extra={"minimum": 0, "maximum": 100})

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: Any) -> dict[str, Any]:
        said = _marked(_told(raw, f"{_TEXTS} {_NAMES}"), "point")
        return {
            "point": said["point"],
            "communities": numbers_of(first_of(raw, "communities community")),
            "facts": numbers_of(first_of(raw, _FACTS)) or said["facts"],
            "score": _score(first_of(raw, _SCORES)),
        }


class Item(BaseModel):
    """A thing that is counted or listed, with the numbers of the facts that say so."""

    name: str = Field("", json_schema_extra={"maxLength": 120})
    facts: list[int] = Field(default_factory=list, json_schema_extra={"maxItems": 10})

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: Any) -> dict[str, Any]:
        if isinstance(raw, Mapping) and first_of(raw, f"{_NAMES} {_TEXTS}") is None and len(raw) == 1:
            ((name, facts),) = raw.items()  # {"Vell Priory": [5]}
            return {"name": str(name), "facts": numbers_of(facts)}
        said = _marked(_told(raw, f"{_NAMES} {_TEXTS}"), "name")
        return {"name": said["name"], "facts": numbers_of(first_of(raw, _FACTS)) or said["facts"]}


class Remaining(BaseModel):
    """The statements that remain of several pages of them; ``facts`` are the numbers of statements here."""

    reasoning: str = Field("", json_schema_extra={"maxLength": 1200})
    points: list[Point] = Field(default_factory=list, json_schema_extra={"maxItems": 40})

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: Any) -> Any:
        """Of an object that lacks a list all of the text is looked at (``free_findings``)."""
        lists = [name for name in ("points", "items") if name in cls.model_fields]
        if not isinstance(raw, Mapping) or not set(lists) <= raw.keys():
            raise ValueError(f"an object with {' and '.join(lists)} is wanted")
        content = {name: _each(raw[name]) for name in lists}
        said = [_told(each, f"{_TEXTS} {_NAMES}") for each in chain.from_iterable(content.values())]
        if said and all(_folded(text) in _examples() for text in said):
            raise ValueError("this is the example of the prompt; say what the part says")
        return {"reasoning": words_of(raw.get("reasoning"), "; "), **content}

    @field_validator("points")
    @classmethod
    def _stated(cls, points: list[Point]) -> list[Point]:
        return [each for each in points if _LETTER.search(each.point) and _says_something(each.point)]


class Findings(Remaining):
    """What a part says about the question."""

    items: list[Item] = Field(default_factory=list, json_schema_extra={"maxItems": 300})

    @field_validator("items")
    @classmethod
    def _named(cls, items: list[Item]) -> list[Item]:
        return [each for each in items if _says_something(each.name)]


def _each(value: Any) -> list[Any]:
    """The items of a list, however it was written: as an object by number or by name, as text, or not at all."""
    if isinstance(value, Mapping):
        if _has(value, f"{_TEXTS} {_NAMES}"):
            return [value]
        numbered = all(str(key).strip().isdigit() for key in value)
        return [each if numbered or isinstance(each, Mapping) else {key: each} for key, each in value.items()]
    items = value if isinstance(value, list | tuple) else words_of(value).splitlines()
    return [each for each in items if each is not None and each != ""]


def _has(content: Any, keys: str) -> bool:
    return not set(keys.split()).isdisjoint(plain_keys(content))


# [3], [3, 7], (facts 3 and 7), 【3】
_MARKS = re.compile(
    r"\[[^\[\]\d]{0,20}(\d[^\[\]]*)\]|【[^\d【】]{0,20}(\d[^【】]*)】"
    r"|[(（][^()\d（）]*(?:fact|fakt|fait|hecho|dato|事实|事實|belege?)[^()\d（）]*(\d[^()（）]*)[)）]",
    re.IGNORECASE,
)
_SCORED = re.compile(
    r"[\s,;–—(\[-]*\b(?:score|importance|relevance|wertung|puntuación|评分)\b\W{0,5}(\d+(?:/\d+)?)\W*", re.IGNORECASE
)


def _marked(text: str, name: str) -> dict[str, Any]:
    """A statement or name with the numbers of facts in brackets behind it; it loses them."""
    facts = [number for found in _MARKS.findall(text) for number in numbers_of(" ".join(found))]
    return {name: tidy(_MARKS.sub("", text)).strip("*_ "), "facts": list(dict.fromkeys(facts))}


_BULLET = re.compile(r"^\s*(?:[-*•·–]|\d{1,3}[.)、])\s+")
_HEADING = re.compile(r"^[\s#*_>]*([^\W\d][^:：\n\[]{0,40}?)[\s*_]*[:：]?[\s*_]*$")


def free_findings(text: str) -> Findings | None:
    """Findings in other forms: JSON under other keys or in several objects, else lines that name facts in brackets.

    None where there is nothing of the kind, and the text does not say that there is nothing to be found.
    """
    points: list[Any] = []
    items: list[Any] = []
    said = False
    for value in values_in(text) or values_in(text, broken=True):
        said = _gather(value, points, items) or said
    if not said:
        said = _gather_lines(text, points, items) or bool(_LETTER.search(text) and _refuses(text))
    return _made(Findings, {"points": points, "items": items}) if said else None


def _made(shape: type[M], content: dict[str, Any]) -> M | None:
    try:
        return shape.model_validate(content)
    except ValidationError:
        return None


def _gather(value: Any, points: list[Any], items: list[Any]) -> bool:
    """Take over what ``value`` holds of both lists; whether it is one of ours at all."""
    if isinstance(value, dict):
        is_one = _has(value, f"{_TEXTS} {_NAMES}")
        if _has(value, f"{POINTS} {ITEMS}") and not is_one:
            points += _each(first_of(value, POINTS))
            items += _each(first_of(value, ITEMS))
            return True
        if is_one and _has(value, f"{_FACTS} {_SCORES}"):
            (items if _has(value, _NAMES) and not _has(value, _SCORES) else points).append(value)
            return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    taken = [_gather(each, points, items) for each in inner]
    return any(taken)


def _gather_lines(text: str, points: list[Any], items: list[Any]) -> bool:
    """Lines with the numbers of facts, under headings that say what they are; points under none."""
    into = points
    before = len(points) + len(items)
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading and not _MARKS.search(line):
            into = items if type_key(heading[1]) in ITEMS.split() else points
            continue
        label, _, rest = line.partition(":")
        if type_key(label) in f"{POINTS} {ITEMS}".split():
            into, line = (items if type_key(label) in ITEMS.split() else points), rest
        if not _MARKS.search(line):
            continue
        score = _SCORED.search(line)
        marked = _marked(_SCORED.sub(" ", _BULLET.sub("", line)), "point")
        if into is items:
            items.append({"name": marked["point"], "facts": marked["facts"]})
        else:
            points.append(marked | ({"score": score[1]} if score else {}))
    return len(points) + len(items) > before


class Final(Form):
    """The answer, with the numbers of what it rests on."""

    reasoning: Words = thinking(2000)
    answer: _Text = named(ANSWER)
    citations: Annotated[list[int], BeforeValidator(numbers_of)] = named(_CITED, [], items=200)
    sufficient: Annotated[bool, BeforeValidator(lambda said: truth_of(said) is not False)] = True

    @field_validator("answer")
    @classmethod
    def _is_an_answer(cls, text: str) -> str:
        if _is_copied(text):
            raise ValueError("this is the example of the prompt; answer the question")
        return text if re.search(r"[^\W_]", text) and not _refuses(text) else ""

    @model_validator(mode="after")
    def _without_an_answer(self) -> Final:
        self.sufficient = self.sufficient and bool(self.answer)
        return self


def free_final(text: str) -> Final | None:
    """An answer under other keys, behind the last label that says so, or as all of a text that has no JSON."""
    for value in values_in(text):
        for each in [inner for inner in (*plain_keys(value).values(), value) if isinstance(inner, dict)]:
            if (said := first_of(each, f"{ANSWER} result text")) is not None:
                fields = {"answer": said, "citations": first_of(each, _CITED)}
                return Final.of(**fields, sufficient=first_of(each, "sufficient"))
    if re.search(r"[{}]", text):
        return None
    answer = (labelled(text, "answer").get("answer") or text).strip().strip("*_# \n")
    return Final.of(answer=answer) if answer else None
