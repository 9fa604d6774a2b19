"""A reply in several JSON values: JSON lines, or one object after the other. Else one alone would be kept."""

from __future__ import annotations

from typing import Any

from kgplatform.models.json_text import Piece, pieces_in_order, value_of, whole_items, without_thoughts


def all_values(text: str, *, cut_off: bool) -> list[Any]:
    """The JSON values of ``text``, in order, mended where they are broken; empty unless there are several."""
    found = pieces_in_order(without_thoughts(text, cut_off=cut_off))
    values = [value for piece in found if (value := _value(piece)) not in (None, {}, [])]
    return values if len(values) > 1 else []


def _value(piece: Piece) -> Any:
    body = piece.text if piece.whole else whole_items(piece.text)
    return value_of(body) if body else None
