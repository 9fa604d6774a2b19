"""The look of a graph in Neo4j Browser: a GraSS sheet, as the rules of its selectors.

    {"node.Person": {"color": "#3965d9", "caption": "{name}", …}, …}

Browser takes each property from the last rule that fits a node. So the general rules come first: for all nodes, for our
own labels, then for each type, since an entity also has its type as a label.

One colour for each kind of node, here and in the explorer: ``color_of("Person")`` is "#3965d9". The platform's own
kinds have muted colours. Types have strong ones: those of the schemas that are included have a place in ``PALETTE``, no
two of one schema the same; any other type's place follows from its name, so that it has the same colour in every graph,
on every machine. The tables are in ``explorer/shared/palette.json``; ``colors.js`` beside it has the same rule.

All colours stand out from white and from the dark background (contrast of 3:1 or more against both). The palette was
searched for a large smallest distance between two colours in OKLab, with normal vision and without red or green cones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from kgplatform.extract.schema import label_for

_SHARED = json.loads((Path(__file__).parents[1] / "explorer" / "shared" / "palette.json").read_text("utf-8"))
KINDS: dict[str, str] = _SHARED["kinds"]
"""Nodes by the platform's label. ``Entity`` is for those without a type."""
PALETTE: tuple[str, ...] = tuple(color for color, _ in _SHARED["types"])
TYPES: dict[str, str] = {name: color for color, names in _SHARED["types"] for name in names}
"""The types of the schemas that are included."""

_LIGHT, _DARK = "#ffffff", "#10131a"


def color_of(name: str) -> str:
    """The colour of a schema type, or of one of the platform's own kinds, as ``#rrggbb``."""
    hashed = 2166136261  # by 32-bit FNV-1a of the name in UTF-8: short, and the same in JavaScript (``Math.imul``)
    for byte in name.encode("utf-8", "surrogatepass"):
        hashed = (hashed ^ byte) * 16777619 % 2**32
    return KINDS.get(name) or TYPES.get(name) or PALETTE[hashed % len(PALETTE)]


def text_color_on(color: str) -> str:
    """White or nearly black: what reads better on ``color``."""
    return max(_LIGHT, _DARK, key=lambda text: contrast(text, color))


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 counts it, from 1 to 21."""
    lights = []
    for color in (one, other):
        channels = [value / 255 for value in bytes.fromhex(color.removeprefix("#"))]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        lights.append(sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True)))
    return (max(lights) + 0.05) / (min(lights) + 0.05)


Sheet = dict[str, dict[str, str]]

_GRAY = "#a5abb6"
_DIAMETERS = {
    **dict.fromkeys(("Community", "Run", "Fact"), "80px"),
    **dict.fromkeys(("Entity", "Document", "Chunk", "Page", "Attribute", "Keyword", "Step"), "65px"),
}
_OTHERS = "50px"
_CAPTIONS = {"Fact": "{text}", "Attribute": "{value}"}
_EVERYWHERE = ("KeyElement", "Entity")
"""Labels that a node has beside a more specific one; the least specific first."""
_RELATIONSHIPS = {
    "RELATED_TO": {"caption": "{predicate}"},
    "SAME_AS": {"color": "#c24700"},
    "HAS_STEP": {"color": KINDS["Run"]},
    "NEXT_STEP": {"color": KINDS["Run"]},
    "FOLLOWS": {"color": KINDS["Run"]},
    "CITES": {"color": "#cf2268", "shaft-width": "3px"},
}


def sheet_for(types: Iterable[str]) -> Sheet:
    """The rules for a graph whose schema and entities have ``types``; of those that fit a node, the last decides."""
    kinds = [*_EVERYWHERE, *(kind for kind in KINDS if kind not in _EVERYWHERE)]
    nodes = {f"node.{kind}": _node(kind, KINDS[kind]) for kind in kinds}
    typed = {f"node.{label_for(name)}": _colors(color_of(name)) for name in sorted(types)}
    relationships = {f"relationship.{name}": rule for name, rule in _RELATIONSHIPS.items()}
    return {"node": _node("", _GRAY), "relationship": _ANY_RELATIONSHIP, **nodes, **typed, **relationships}


def _node(kind: str, color: str) -> dict[str, str]:
    look = {"diameter": _DIAMETERS.get(kind, _OTHERS), "caption": _CAPTIONS.get(kind, "{name}"), "font-size": "10px"}
    return look | {"border-width": "2px"} | _colors(color)


def _colors(color: str) -> dict[str, str]:
    darker = "#" + "".join(f"{channel * 4 // 5:02x}" for channel in bytes.fromhex(color.removeprefix("#")))
    return {"color": color, "border-color": darker, "text-color-internal": text_color_on(color)}


_ANY_RELATIONSHIP = {
    "color": _GRAY,
    "shaft-width": "1px",
    "font-size": "8px",
    "padding": "3px",
    "text-color-external": "#000000",
    "text-color-internal": "#ffffff",
    "caption": "<type>",
}
