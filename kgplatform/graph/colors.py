"""One colour for each kind of node, wherever a person sees the graph: in Neo4j Browser and in the explorer.

    color_of("Person")   # "#3965d9"

The platform's own kinds have muted colours. Types have strong ones: those of the schemas that come along have a place
in ``PALETTE``, no two of one schema the same; any other type's place follows from its name, so that it has the same
colour in every graph, on every machine. ``explorer/colors.js`` has the same tables and the same rule.

All colours stand out from white and from the dark background (contrast of 3:1 or more against both). The palette was
searched for a large smallest distance between two colours in OKLab, with normal vision and without red or green cones.
"""

from __future__ import annotations

PALETTE = (
    *("#3965d9", "#f06502", "#4da081", "#8c76fe", "#866800", "#007379", "#e45abb", "#809421"),
    *("#c08166", "#b732bd", "#cf2268", "#009bcb", "#665fa1", "#2f7847", "#976f95", "#c24700"),
)

KINDS = {
    "Entity": "#67788f",
    "KeyElement": "#7f8555",
    "Attribute": "#a17a62",
    "Fact": "#7a838f",
    "Chunk": "#5b7f93",
    "Document": "#44688c",
    "Keyword": "#a8823f",
    "Community": "#8f6b1e",
    "Page": "#84749b",
    "Run": "#a65561",
    "Step": "#b07a86",
}
"""Nodes by the platform's label. ``Entity`` is for those without a type."""

_PLACES = (
    ("Person", "Character"),
    ("Organization", "Company", "Group"),
    ("Place", "Risk Factor"),
    ("Product", "Drug", "Object"),
    ("Event", "Process"),
    ("Concept", "Theme", "Chemical", "Technology"),
    ("Work", "Symptom", "Brand"),
    ("Organism", "Industry"),
    ("Time", "Anatomy"),
    ("Language", "Protein"),
    ("Disease", "Risk"),
    ("Author", "Procedure"),
    ("Field", "Institution", "Population"),
    ("Gene", "Market"),
    ("Study", "Regulation"),
    ("Award", "Cell", "Deal"),
)
TYPES = {name: color for names, color in zip(_PLACES, PALETTE, strict=True) for name in names}
"""The types of the schemas that come along."""

_LIGHT, _DARK = "#ffffff", "#10131a"


def color_of(name: str) -> str:
    """The colour of a schema type, or of one of the platform's own kinds, as ``#rrggbb``."""
    return KINDS.get(name) or TYPES.get(name) or PALETTE[_fnv1a(name) % len(PALETTE)]


def text_color_on(color: str) -> str:
    """White or nearly black: what reads better on ``color``."""
    return max(_LIGHT, _DARK, key=lambda text: contrast(text, color))


def darker(color: str) -> str:
    """``color`` for the border of a node that is filled with it."""
    return "#" + "".join(f"{channel * 4 // 5:02x}" for channel in _channels(color))


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 counts it, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(color))]
    return sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _channels(color: str) -> bytes:
    return bytes.fromhex(color.removeprefix("#"))


def _fnv1a(text: str) -> int:
    """The 32-bit FNV-1a hash of the text in UTF-8: short, and the same in JavaScript (``Math.imul``)."""
    value = 2166136261
    for byte in text.encode("utf-8", "surrogatepass"):
        value = (value ^ byte) * 16777619 % 2**32
    return value
