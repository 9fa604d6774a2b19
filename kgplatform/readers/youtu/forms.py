"""What models make of a form: keys in other words and letters, values of other types, objects in a wrapping.

    read = fields(raw, {"query": ("query", "new_query")})
    read["query"]            # of {"result": {"New Query": ["Who was Vink?"]}}: ["Who was Vink?"]

One field that cannot be read is lost alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kgplatform.models.json_text import pieces_in_order, value_of
from kgplatform.readers.refusals import is_members_refusal
from kgplatform.text import normalise_name, tidy

Names = Mapping[str, Sequence[str]]
"""Fields, each with the keys under which models write it."""

_DEEPEST = 4
_JOINERS = re.compile(r"[\s_-]+")
_EVIDENCE = re.compile(r"\b(?:evidence|facts?)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,3}")
_SIGNS = " .!?;:,*_`\"'“”„«»()[]<>{}-–—。！？：，"
_NONE = (
    "none, null, nil, nan, n/a, na, unknown, unclear, empty, nothing, no answer, no new query, not stated, not found, "
    "not mentioned, not given, not specified, not available, not known, not in the evidence, not enough evidence, "
    "nothing is missing, nothing missing, the documents do not say, "
    "keine, keine angabe, keine angaben, keine antwort, unbekannt, nicht angegeben, nicht bekannt, nicht erwähnt, "
    "nichts, "
    "aucun, aucune, aucune réponse, inconnu, non précisé, non mentionné, pas mentionné, rien, "
    "ninguno, ninguna, ninguna respuesta, desconocido, no se menciona, no se indica, no consta, nada, "
    "sconosciuto, non indicato, nessuno, nessuna, desconhecido, não mencionado, onbekend, niet vermeld, "
    "无, 没有, 未知, 未提及, 未说明, 不知道, なし, 不明, 記載なし, 없음, 알 수 없음, неизвестно, не указано"
)
_NOTHING = frozenset(_NONE.split(", "))


def says_nothing(text: str) -> bool:
    """Whether ``text`` is one of the many forms of "none", or a refusal."""
    bare = normalise_name(text.strip(_SIGNS)).strip(_SIGNS)
    return not bare or bare in _NOTHING or is_members_refusal(_EVIDENCE.sub("text", text))


def plain_keys(raw: object) -> dict[str, Any]:
    """A mapping with its keys in one spelling; of anything else, nothing."""
    if not isinstance(raw, dict):
        return {}
    return {_JOINERS.sub("_", str(key).strip(_SIGNS).lower()): value for key, value in raw.items()}


def fields(raw: object, names: Names) -> dict[str, Any]:
    """The fields that ``raw``, or what it is wrapped in, has, by their own names. Raises ``ValueError`` without any."""
    content = _object(raw, {key for keys in names.values() for key in keys}, _DEEPEST)
    if content is None:
        raise ValueError(f"the reply must be one JSON object with the keys {', '.join(names)}")
    found = {name: next((key for key in keys if key in content), None) for name, keys in names.items()}
    return {name: content[key] for name, key in found.items() if key is not None}


def text_of(value: object) -> str:
    """One text: of a list what it holds, side by side; of an object its first text; empty for anything else."""
    return " ".join(filter(None, texts_of(value)))


def texts_of(value: object) -> list[str]:
    """The texts of a list, or of what should have been one. What cannot be read stays, as an empty text."""
    if isinstance(value, list):
        return [text_of(item) for item in value]
    if isinstance(value, dict):
        return [next(filter(None, map(text_of, value.values())), "")]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return [""]
    return [tidy(str(value))]


def truth_of(value: object) -> bool | None:
    """True for true, "Yes" and 1, False for their opposites, None for anything else."""
    said = str(value).strip(_SIGNS).lower()
    if said in ("true", "yes", "1", "ja", "oui", "sí", "是"):
        return True
    return False if said in ("false", "no", "0", "nein", "non", "否") else None


def number_of(value: object) -> int:
    """The first number in ``value``: 1 of 1, "1", "#1", "[1]" and "Question 1"; 0 where it has none."""
    found = None if isinstance(value, bool) else _NUMBER.search(str(value))
    return int(found[0]) if found else 0


def whole_objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects in ``text`` in their order, as models write them one a line; none that breaks off."""
    values = [value_of(piece.text) for piece in pieces_in_order(text) if piece.whole]
    return [value for value in values if isinstance(value, dict)]


def _object(raw: object, keys: set[str], depth: int) -> dict[str, Any] | None:
    """The outermost object in ``raw`` that has one of ``keys``."""
    content = plain_keys(raw)
    if content.keys() & keys:
        return content
    inner = list(content.values()) if isinstance(raw, dict) else raw if isinstance(raw, list) else []
    if depth:
        return next(filter(None, (_object(each, keys, depth - 1) for each in inner)), None)
    return None
