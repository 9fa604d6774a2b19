"""The look of a graph in Neo4j Browser: a GraSS sheet, as the rules of its selectors.

    {"node.Person": {"color": "#3965d9", "caption": "{name}", …}, …}

Browser takes each property from the last rule that fits a node. So the general rules come first: for all nodes, for our
own labels, then for each type, since an entity also has its type as a label.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgplatform.graph.colors import KINDS, color_of, darker, text_color_on
from kgplatform.ingest.schema import label_for

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
    "CITES": {"color": "#cf2268", "shaft-width": "3px"},
}


def sheet_for(types: Iterable[str]) -> Sheet:
    """The rules for a graph whose schema and entities have ``types``; of those that fit a node, the last decides."""
    kinds = [*_EVERYWHERE, *(kind for kind in KINDS if kind not in _EVERYWHERE)]
    nodes = {f"node.{kind}": _node(kind, KINDS[kind]) for kind in kinds}
    typed = {f"node.{label_for(name)}": _colors(color_of(name)) for name in sorted(types)}
    relationships = {f"relationship.{name}": rule for name, rule in _RELATIONSHIPS.items()}
    return {"node": _node("", _GRAY), "relationship": _ANY_RELATIONSHIP, **nodes, **typed, **relationships}


def as_grass(sheet: Sheet) -> str:
    """The sheet as Browser's command ``:style`` reads it."""
    return "\n".join(f"{selector} {{\n{_lines(rule)}}}\n" for selector, rule in sheet.items())


def _node(kind: str, color: str) -> dict[str, str]:
    look = {"diameter": _DIAMETERS.get(kind, _OTHERS), "caption": _CAPTIONS.get(kind, "{name}"), "font-size": "10px"}
    return look | {"border-width": "2px"} | _colors(color)


def _colors(color: str) -> dict[str, str]:
    return {"color": color, "border-color": darker(color), "text-color-internal": text_color_on(color)}


def _lines(rule: dict[str, str]) -> str:
    return "".join(f"  {name}: {repr(value) if name == 'caption' else value};\n" for name, value in rule.items())


_ANY_RELATIONSHIP = {
    "color": _GRAY,
    "shaft-width": "1px",
    "font-size": "8px",
    "padding": "3px",
    "text-color-external": "#000000",
    "text-color-internal": "#ffffff",
    "caption": "<type>",
}
