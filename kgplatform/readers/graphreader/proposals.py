"""Nodes that a model proposes, with their scores (GraphReader, figure 8), whatever form its reply has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import BaseModel, Field, model_validator

from kgplatform.models.chat import Chat
from kgplatform.models.json_text import values_in
from kgplatform.models.lenient import first_of, objects, words_of
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages
from kgplatform.readers.graphreader.actions import undecorated
from kgplatform.text import normalise_name

Known = Callable[[str], str | None]
"""The node that words name, None for one that is not in the list."""

_NODE = r"(?:node|key element|knoten|n[œo]e?ud|nodo|nó|узел|节点|節點|ノード)"
_SCORE = (
    r"(?:score|relevance|punktzahl|punkte|bewertung|puntuación|puntaje|pontuação|分数|得分|评分|スコア|点数|оценка)"
)
_NAME_KEYS = "node name nodename keyelement element entity title knoten nœud nodo 节点 ノード"
_SCORE_KEYS = "score relevance value rating points punktzahl puntuación 分数 得分 スコア"
_LIST_KEYS = "nodes initialnodes selectednodes keyelements knoten nodos 节点"
_START = re.compile(
    rf"(?:[^\w\n\"'(\[]|_)*(?:\(?\d{{1,3}}[.)][ \t]+)?[*_`|]*[ \t]*"
    rf"(?P<label>[\"']?{_NODE}[*_`\"']*[ \t]*(?:[:：=]|is\b)[*_`]*[ \t]*)?",
    re.IGNORECASE,
)
_NUMBER = r"(?P<score>\d{1,3}(?:\.\d+)?)(?![\d.]*\d)"
_GAP = r"[*_`\"' \t]*(?:[,;，|(（:：=\t–—-]|[ \t])[*_`\"' \t(|–—-]*"
_ENDS = (
    re.compile(rf"{_GAP}(?P<by>{_SCORE})[*_`\"']*[ \t]*(?:[:：=]|is\b|of\b)?[*_` \t]*{_NUMBER}.*$", re.IGNORECASE),
    re.compile(rf"{_GAP}{_NUMBER}(?:[ \t]*(?:/[ \t]*100?|%|points?|分))?(?P<by>)[*_`\"' \t)）|.]*$", re.IGNORECASE),
)
_SCORE_LINE = re.compile(rf"\n[^\w\n]*({_SCORE}[^\w\n]*[:：=])", re.IGNORECASE)
_NONE_OF_THEM = re.compile(r"\W*(?:none of|no (?:relevant )?nodes?\b|kein(?:er|e)? (?:der )?knoten)", re.IGNORECASE)
_NONE = frozenset(
    {"none", "n/a", "no node", "null", "keiner", "keine", "aucun", "ninguno", "nessuno", "无", "なし", "нет", ""}
)


@dataclass(frozen=True, slots=True)
class Proposals:
    """Nodes with their scores, 0 to 100, in the order of the reply; and the names that are not in the list."""

    scores: dict[str, float]
    invented: tuple[str, ...]


class _Scored(BaseModel):
    node: str = Field(json_schema_extra={"maxLength": 200})
    score: float = Field(json_schema_extra={"minimum": 0, "maximum": 100})


class _Reply(BaseModel):
    reasoning: str = Field(json_schema_extra={"maxLength": 800})
    nodes: list[_Scored] = Field(json_schema_extra={"maxItems": 20})

    @model_validator(mode="before")
    @classmethod
    def _put_into_form(cls, value: Any) -> Any:
        pairs = _pairs_of(value)
        if not pairs and not (isinstance(value, dict) and value.get("nodes", 0) in ([], None, "", "none")):
            raise ValueError("it names no node")
        return {"reasoning": words_of(first_of(value, "reasoning"), "\n"), "nodes": _as_items(pairs)}


def ask_nodes(chat: Chat, messages: Messages, known: Known, *, tokens: int) -> Proposals:
    """What the model proposes, in at most ``tokens``. Raises ``ReplyError`` where two replies say nothing."""
    reply, _ = ask(chat, messages, _Reply, stage="nodes", tokens=tokens, free=partial(_free, known))
    scores: dict[str, float] = {}
    invented: list[str] = []
    for each in reply.nodes:
        name = known(each.node) or known(undecorated(each.node))
        if name is not None:
            scores[name] = max(each.score, scores.get(name, 0.0))
        elif normalise_name(undecorated(each.node)) not in _NONE:
            invented.append(each.node)
    return Proposals(scores, tuple(invented))


def _free(known: Known, text: str) -> _Reply | None:
    pairs = [pair for value in values_in(text, broken=True) for pair in _pairs_of(value)] or _pairs_in(text, known)
    says_none = normalise_name(text).strip("*_`. \n") in _NONE - {""} or _NONE_OF_THEM.match(text)
    return _Reply(reasoning="", nodes=_as_items(pairs)) if pairs or says_none else None  # type: ignore[arg-type]  # coerced


def _pairs_in(text: str, known: Known) -> list[tuple[str, float | None]]:
    """The lines that name a node: by a label of its name or its score, else by a name that is in the list."""
    pairs: list[tuple[str, float | None]] = []
    for line in _SCORE_LINE.sub(r", \1", text).splitlines():
        words, score, is_labelled = _taken_apart(line)
        name = next((form for form in (words, undecorated(words), undecorated(line)) if known(form)), None)
        if name or (is_labelled and words and not re.search(r"\bnodes?\b", words, re.IGNORECASE)):
            pairs.append((name or undecorated(words), score))
    return pairs


def _taken_apart(line: str) -> tuple[str, float | None, bool]:
    """The name in a line, its score, and whether one of the two has a label."""
    start = _START.match(line)
    words = line[start.end() :] if start else line
    found = next((end for pattern in _ENDS if (end := pattern.search(words)) and end.start()), None)
    is_labelled = bool((start and start["label"]) or (found and found["by"]))
    name = words[: found.start()] if found else words
    return name.strip(" \t*_`|"), _number(found["score"]) if found else None, is_labelled


def _pairs_of(value: object) -> list[tuple[str, float | None]]:
    """Names and scores in a JSON value: objects, ``[name, score]``, ``{name: score}``, or bare names."""
    pairs = [(words_of(name, "\n"), _number(score)) for name, score in map(_named, objects(value)) if name is not None]
    if pairs:
        return pairs
    inner = first_of(value, _LIST_KEYS)
    value = value if inner is None else inner
    if isinstance(value, dict):
        return [(key, _number(score)) for key, score in value.items() if _number(score) is not None]
    return [_pair_of(item) for item in value if _pair_of(item)[0]] if isinstance(value, list) else []


def _named(value: dict[str, Any]) -> tuple[Any, Any]:
    name = first_of(value, _NAME_KEYS)
    return (None if isinstance(name, dict | list) else name), first_of(value, _SCORE_KEYS)


def _pair_of(item: object) -> tuple[str, float | None]:
    if isinstance(item, list) and len(item) == 2:
        return words_of(item[0], "\n"), _number(item[1])
    return _taken_apart(item)[:2] if isinstance(item, str) else ("", None)


def _number(value: object) -> float | None:
    found = re.search(r"\d+(?:\.\d+)?", str(value)) if isinstance(value, str | int | float) else None
    return min(100.0, float(found[0])) if found else None


def _as_items(pairs: Iterable[tuple[str, float | None]]) -> list[dict[str, Any]]:
    """Pairs as the form has them: shares of 1 as percent; without any score in the order of the reply, best first."""
    pairs = list(pairs)
    scores = [score for _, score in pairs if score is not None]
    is_share = bool(scores) and max(scores) <= 1 and any(score % 1 for score in scores)
    placed = [100.0 - place if not scores else score or 0.0 for place, (_, score) in enumerate(pairs)]
    return [
        {"node": name, "score": max(0.0, score * (100 if is_share else 1))}
        for (name, _), score in zip(pairs, placed, strict=True)
    ]
