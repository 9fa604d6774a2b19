"""Results that a client's window can hold: cut to a number of characters, with a note that says what was left out.

bounded({"passages": [...], "facts": [...]}, 20_000)      # {"passages": […], "facts": [], "note": "12 of 40 …"}
"""

from __future__ import annotations

import json
from typing import Any

from kgplatform.web.encoding import encode

SMALLEST = 1_000
"""Characters in which any result can say something."""

_NOTE_ROOM = 300
_SHORTEST = 80
"""Characters of a text that are left of it at least."""
_TOP, _ROW = 0, 1
"""Depths: of what has a name in the result, and of the items of a list there."""


def bounded(result: dict[str, Any], most: int, how: str = "") -> dict[str, Any]:
    """``result`` as plain JSON, at most about ``most`` characters of it. ``how`` to get more, as the end of a note.

    Lists lose items from their ends, the largest list first, then long values theirs.
    """
    plain: dict[str, Any] = json.loads(encode(result))
    if size(plain) <= most:
        return plain
    room = most - _NOTE_ROOM
    left = [
        f"{len(plain[name])} of {count} {name}"
        for name, count in _shorten_lists(plain, room).items()
        if len(plain[name]) < count
    ]
    cut = _shorten_values(plain, room)
    told = [f"Shown are {' and '.join(left)}."] if left else []
    told += ["Long values are cut."] if cut is not plain else []
    return cut | {"note": " ".join(filter(None, (cut.get("note", ""), *told, how)))}


def _shorten_lists(plain: dict[str, Any], room: int) -> dict[str, int]:
    """Drop items until ``plain`` fits or each list has one; returns how many each list had."""
    counts = {name: len(value) for name, value in plain.items() if _has_parts(value)}
    sizes = {name: [size(item) + 1 for item in plain[name]] for name in counts}
    over = size(plain) - room
    while over > 0:
        name = max(sizes, key=lambda each: (len(sizes[each]) > 1, sum(sizes[each])), default=None)
        if name is None or len(sizes[name]) <= 1:
            break
        over -= sizes[name].pop()
        plain[name].pop()
    return counts


def _has_parts(value: Any) -> bool:
    """Whether it is a list of rows or objects; the names of columns are none."""
    return isinstance(value, list) and any(isinstance(each, (dict, list)) for each in value)


def _shorten_values(plain: dict[str, Any], room: int) -> dict[str, Any]:
    """``plain`` with its texts cut ever shorter, then what lists and objects inside hold, until it fits."""
    text = items = room  # nothing that is longer fits
    while size(plain) > room and (text > _SHORTEST or items > 1):
        if text > _SHORTEST:
            text = max(_SHORTEST, text // 2)
        else:
            items //= 2
        plain = {name: _cut(value, text, items, _TOP) for name, value in plain.items()}
    return plain


def _cut(value: Any, text: int, items: int, depth: int) -> Any:
    """``value`` with texts of at most ``text`` characters and, inside of it, at most ``items`` items. A list at the top
    keeps what it has, and a row or an object in it its columns."""
    if isinstance(value, str):
        return value if len(value) <= text else value[: text - 1] + "…"
    most = items if depth > _ROW else None
    if isinstance(value, dict):
        inner = depth + 1 if depth > _TOP else _ROW + 1
        return {name: _cut(each, text, items, inner) for name, each in [*value.items()][:most]}
    if isinstance(value, list):
        return [_cut(each, text, items, depth + 1) for each in value[:most]]
    return value


def size(value: Any) -> int:
    """Characters of ``value`` as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
