"""What the model finds in a part, and the answer that it makes of it all: forms, read however they are filled in.

    found, _ = ask(calls, messages, Findings, stage="map", free=free_findings)
    found.points[0].point, found.points[0].facts, found.items[0].name

Each field is read by itself: what is wrong in one loses nothing else. What has other keys, comes in several objects or
in lists of lines is put together by ``free_findings`` and ``free_final``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from kgplatform.models.json_text import pieces_in_order, value_of, whole_items
from kgplatform.readers.refusals import is_members_refusal
from kgplatform.text import normalise_name, tidy

M = TypeVar("M", bound=BaseModel)

_UNSAID = 50
"""The score of a point that has none."""

_MIDDLING = {"high": 90, "hoch": 90, "medium": 50, "mittel": 50, "low": 20, "niedrig": 20, "none": 0}
_EXAMPLES = frozenset(
    (
        *("vell priory sells its ale at the spring fair", "nordmark abbey", "vell priory"),
        *("the ostry mill burned down in 1704", "the halden mill ground oats"),
        "fire above all 13 and the salt tax 2",
    )
)
"""What stands in the prompts' own examples; a reply that has it was not made from anything."""

_NO = frozenset(
    ("false", "no", "nein", "non", "não", "falso", "falsch", "faux", "いいえ", "否", "insufficient", "none", "0")
)
_MOST_RANGE = 100
_SHOWN = re.compile(r"\b(?:facts|statements|communities|collection)\b", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")

POINTS = ("points", "keypoints", "findings", "statements", "punkte", "aussagen", "puntos", "pointscles", "要点")
ITEMS = ("items", "things", "list", "entities", "dinge", "liste", "elemente", "éléments", "elementos", "项目")
_TEXTS = (
    *("point", "statement", "text", "description", "claim", "finding", "content"),
    *("punkt", "aussage", "punto", "affirmation", "要点"),
)
_NAMES = ("name", "item", "thing", "title", "entity", "nom", "nombre", "名称")
_FACTS = ("facts", "fact", "factnumbers", "factids", "evidence", "sources", "citations", "references", "statements")
_FACTS_ELSEWHERE = ("fakten", "belege", "faits", "hechos", "事实")
_SCORES = ("score", "importance", "relevance", "rating", "wertung", "bewertung", "puntuación", "评分")
_ANSWERS = (
    *("answer", "finalanswer", "response", "result", "text", "antwort", "réponse", "respuesta", "risposta"),
    *("答案", "回答"),
)


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _first(content: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((content[key] for key in keys if key in content), None)


def _plain(content: Mapping[Any, Any]) -> dict[str, Any]:
    return {_key(str(key)): value for key, value in content.items()}


def numbers(value: Any) -> list[int]:
    """All whole numbers in ``value``, whatever holds them: 3, "[3]", "facts 3-5", [{"fact": "3"}]. Each once."""
    found: list[int] = []
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int | float):
        found = [int(value)] if math.isfinite(value) else []
    elif isinstance(value, str):
        for first, last in re.findall(r"(\d{1,7})(?:\s*[-–—]\s*[^\W\d]{0,2}(\d{1,7}))?", value):
            end = int(last or first)
            inside = range(int(first), end + 1) if 0 <= end - int(first) < _MOST_RANGE else (int(first), end)
            found += inside
    elif isinstance(value, Mapping):
        inner = [each for each in value if numbers(str(each))]
        found = numbers(inner or list(value.values()))
    elif isinstance(value, Sequence):
        found = [number for each in value for number in numbers(each)]
    return list(dict.fromkeys(found))


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


def _words(value: Any) -> str:
    """``value`` as text: of a list or an object its parts, one after the other."""
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_words(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(filter(None, map(_words, value)))
    return "" if value is None else str(value).strip()


def _says_something(text: str) -> bool:
    """Neither empty, nor a placeholder, nor a refusal, nor copied from the prompt's own example."""
    empty = not re.search(r"[^\W_]", text) or re.fullmatch(r"\W*<[^<>]*>\W*", text)
    return not empty and not _is_example(text) and not _refuses(text)


def _refuses(text: str) -> bool:
    """Whether it says that there is nothing; the model was shown facts and statements, not a text."""
    return is_members_refusal(_SHOWN.sub("text", text))


class Point(BaseModel):
    """A statement with the numbers of the facts and communities that it was made from. ``score``: 0 to 100."""

    point: str = Field("", json_schema_extra={"maxLength": 600})
    communities: list[int] = Field(default_factory=list, json_schema_extra={"maxItems": 20})
    facts: list[int] = Field(default_factory=list, json_schema_extra={"maxItems": 40})
    score: int = Field(_UNSAID, json_schema_extra={"minimum": 0, "maximum": 100})

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: Any) -> dict[str, Any]:
        if not isinstance(raw, Mapping):
            return _marked(_words(raw), "point")
        content = _plain(raw)
        said = _first(content, (*_TEXTS, *_NAMES))
        facts = _first(content, (*_FACTS, *_FACTS_ELSEWHERE))
        marked = _marked(_words(said), "point")
        return {
            "point": marked["point"],
            "communities": numbers(_first(content, ("communities", "community"))),
            "facts": numbers(facts) or marked["facts"],
            "score": _score(_first(content, _SCORES)),
        }


class Item(BaseModel):
    """A thing that is counted or listed, with the numbers of the facts that say so."""

    name: str = Field("", json_schema_extra={"maxLength": 120})
    facts: list[int] = Field(default_factory=list, json_schema_extra={"maxItems": 10})

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: Any) -> dict[str, Any]:
        if not isinstance(raw, Mapping):
            return _marked(_words(raw), "name")
        content = _plain(raw)
        said = _first(content, (*_NAMES, *_TEXTS))
        if said is None and len(raw) == 1:  # {"Vell Priory": [5]}
            ((name, facts),) = raw.items()
            return {"name": str(name), "facts": numbers(facts)}
        marked = _marked(_words(said), "name")
        return {
            "name": marked["name"],
            "facts": numbers(_first(content, (*_FACTS, *_FACTS_ELSEWHERE))) or marked["facts"],
        }


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
        said = [_said(each) for each in chain.from_iterable(content.values())]
        if said and all(_is_example(text) for text in said):
            raise ValueError("this is the example of the prompt; say what the part says")
        return {"reasoning": _words(raw.get("reasoning")), **content}

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


def _said(raw: Any) -> str:
    return _words(_first(_plain(raw), (*_TEXTS, *_NAMES)) if isinstance(raw, Mapping) else raw)


def _is_example(text: str) -> bool:
    return normalise_name(re.sub(r"[\[\],]", "", text)).strip(". ") in _EXAMPLES


def _each(value: Any) -> list[Any]:
    """The items of a list, however it was written: as an object by number or by name, as text, or not at all."""
    if isinstance(value, list | tuple):
        return [each for each in value if each is not None]
    if isinstance(value, Mapping):
        if {_key(str(key)) for key in value} & {*_TEXTS, *_NAMES}:
            return [value]
        numbered = all(str(key).strip().isdigit() for key in value)
        return [each if numbered or isinstance(each, Mapping) else {key: each} for key, each in value.items()]
    return [line for line in _words(value).splitlines() if line.strip()]


# [3], [3, 7], (facts 3 and 7), 【3】
_MARKS = re.compile(
    r"\[[^\[\]\d]{0,20}(\d[^\[\]]*)\]|【[^\d【】]{0,20}(\d[^【】]*)】"
    r"|[(（][^()\d（）]*(?:fact|fakt|fait|hecho|dato|事实|事実|belege?)[^()\d（）]*(\d[^()（）]*)[)）]",
    re.IGNORECASE,
)
_SCORED = re.compile(
    r"[\s,;–—(\[-]*\b(?:score|importance|relevance|wertung|puntuación|评分)\b\W{0,5}(\d+(?:/\d+)?)\W*", re.IGNORECASE
)


def _marked(text: str, name: str) -> dict[str, Any]:
    """A statement or name with the numbers of facts in brackets behind it; it loses them."""
    facts = [number for found in _MARKS.findall(text) for number in numbers(" ".join(found))]
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
    for value in _values(text):
        said = _gather(value, points, items) or said
    if not said:
        said = _gather_lines(text, points, items) or bool(_LETTER.search(text) and _refuses(text))
    return _made(Findings, {"points": points, "items": items}) if said else None


def _values(text: str) -> Iterator[Any]:
    """The JSON values in ``text``, in order; of one that breaks off, its complete items."""
    for piece in pieces_in_order(text):
        with suppress(ValueError):
            yield value_of(piece.text if piece.whole else whole_items(piece.text) or piece.text)


def _made(shape: type[M], content: dict[str, Any]) -> M | None:
    try:
        return shape.model_validate(content)
    except ValidationError:
        return None


def _gather(value: Any, points: list[Any], items: list[Any]) -> bool:
    """Take over what ``value`` holds of both lists; whether it is one of ours at all."""
    if isinstance(value, list):
        return _gather_all(value, points, items)
    if not isinstance(value, dict):
        return False
    content = _plain(value)
    keys = content.keys()
    if keys & {*POINTS, *ITEMS} and not keys & {*_TEXTS, *_NAMES}:
        points += _each(_first(content, POINTS))
        items += _each(_first(content, ITEMS))
        return True
    if keys & {*_TEXTS, *_NAMES} and keys & {*_FACTS, *_FACTS_ELSEWHERE, *_SCORES}:
        (items if keys & {*_NAMES} and not keys & {*_SCORES} else points).append(value)
        return True
    return _gather_all(value.values(), points, items)


def _gather_all(values: Iterable[Any], points: list[Any], items: list[Any]) -> bool:
    taken = [_gather(each, points, items) for each in values if isinstance(each, dict | list)]
    return any(taken)


def _gather_lines(text: str, points: list[Any], items: list[Any]) -> bool:
    """Lines with the numbers of facts, under headings that say what they are; points under none."""
    into = points
    before = len(points) + len(items)
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading and not _MARKS.search(line):
            into = items if _key(heading[1]) in ITEMS else points
            continue
        label, _, rest = line.partition(":")
        if _key(label) in (*POINTS, *ITEMS):
            into, line = (items if _key(label) in ITEMS else points), rest
        if not _MARKS.search(line):
            continue
        score = _SCORED.search(line)
        marked = _marked(_SCORED.sub(" ", _BULLET.sub("", line)), "point")
        if into is items:
            items.append({"name": marked["point"], "facts": marked["facts"]})
        else:
            points.append(marked | ({"score": score[1]} if score else {}))
    return len(points) + len(items) > before


class Final(BaseModel):
    """The answer, with the numbers of what it rests on."""

    reasoning: str = Field("", json_schema_extra={"maxLength": 2000})
    answer: str = ""
    citations: list[int] = Field(default_factory=list, json_schema_extra={"maxItems": 200})
    sufficient: bool = True

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping) or "answer" not in raw:
            raise ValueError('an object with the field "answer" is wanted')
        return _final(raw["answer"], raw.get("citations"), raw.get("sufficient"), raw.get("reasoning"))


def _final(answer: Any, citations: Any, sufficient: Any, reasoning: Any = "") -> dict[str, Any]:
    text = _words(answer)
    if _is_example(text) or re.fullmatch(r"\W*<[^<>]*>\W*", text):
        raise ValueError("this is the example of the prompt; answer the question")
    enough = not (sufficient is False or _key(str(sufficient)) in _NO if sufficient is not None else False)
    says = bool(re.search(r"[^\W_]", text)) and not _refuses(text)
    return {
        "reasoning": _words(reasoning),
        "answer": text if says else "",
        "citations": numbers(citations),
        "sufficient": enough and says,
    }


_LABELLED = re.compile(
    r"^[\s#*_>]*(?:(?:the\s+)?(?:final\s+)?(?:answer|antwort|réponse|respuesta(?:\s+final)?|risposta)\b(?:\s+is)?"
    r"|答案|回答|答え)[\s*_]*(?:[:：–—-][\s*_]*|$)",
    re.IGNORECASE | re.MULTILINE,
)


def free_final(text: str) -> Final | None:
    """An answer under other keys, behind the last label that says so, or as all of a text that has no JSON."""
    for value in _values(text):
        content = _plain(value) if isinstance(value, dict) else {}
        inner = [_plain(each) for each in content.values() if isinstance(each, dict)]
        for each in (*inner, content):
            if (said := _first(each, _ANSWERS)) is not None:
                cited = _first(each, ("citations", "sources", "references", "belege", "引用"))
                return _made(Final, {"answer": said, "citations": cited, "sufficient": each.get("sufficient")})
    if re.search(r"[{}]", text):
        return None
    labels = list(_LABELLED.finditer(text))
    answer = (text[labels[-1].end() :] if labels else text).strip().strip("*_# \n")
    return _made(Final, {"answer": answer}) if answer else None
