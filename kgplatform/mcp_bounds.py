"""Results that a client's window can hold: cut to a number of characters, with a note that says what was left out.

bounded({"passages": [...], "facts": [...]}, 20_000)      # {"passages": […], "facts": [], "note": "12 of 40 …"}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kgplatform.web.encoding import encode

SMALLEST = 1_000
"""Characters in which any result can say something."""

_NOTE_ROOM = 300
_SHORTEST = 80
"""Characters of a text that are left of it at least."""


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
    told += ["Long values are cut."] if cut else []
    plain["note"] = " ".join(filter(None, (plain.get("note", ""), *told, how)))
    return plain


def _shorten_lists(plain: dict[str, Any], room: int) -> dict[str, int]:
    """Drop items until ``plain`` fits or each list has one; returns how many each list had."""
    counts = {name: len(value) for name, value in plain.items() if isinstance(value, list)}
    sizes = {name: [size(item) + 1 for item in plain[name]] for name in counts}
    over = size(plain) - room
    while over > 0:
        name = max(sizes, key=lambda each: (len(sizes[each]) > 1, sum(sizes[each])), default=None)
        if name is None or len(sizes[name]) <= 1:
            break
        over -= sizes[name].pop()
        plain[name].pop()
    return counts


def _shorten_values(plain: dict[str, Any], room: int) -> bool:
    """Halve the longest text inside, again and again, then the largest list, then the largest object, until ``plain``
    fits; whether any was cut. A row keeps its place for every column."""
    cut = False
    for kind, least in ((str, _SHORTEST), (list, 1), (dict, 1)):
        while size(plain) > room:
            found = [each for each in _inside(plain) if isinstance(each[2], kind) and len(each[2]) > least]
            if not found:
                break
            holder, key, value = max(found, key=lambda each: size(each[2]))
            holder[key] = _half(value)
            cut = True
    return cut


def _half(value: Any) -> Any:
    if isinstance(value, str):
        return value[: max(_SHORTEST, len(value) // 2) - 1] + "…"
    items = list(value.items()) if isinstance(value, dict) else value
    kept = items[: len(items) // 2]
    return dict(kept) if isinstance(value, dict) else kept


def _inside(value: Any, depth: int = 0) -> Iterator[tuple[Any, Any, Any]]:
    """All values that may be cut, each with what holds it and where: the lists at the top and their items stay."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(pairs):
        if depth > 1 or isinstance(item, str) or (depth == 1 and isinstance(value, dict)):
            yield value, key, item
        yield from _inside(item, depth + 1)


def size(value: Any) -> int:
    """Characters of ``value`` as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
