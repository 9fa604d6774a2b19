"""Colours, and the style sheet that is made of them."""

from __future__ import annotations

import re

from kgplatform.extract.schema import label_for, load_schema
from kgplatform.interfaces.neo4j_browser.style import (
    KINDS,
    PALETTE,
    TYPES,
    as_grass,
    color_of,
    contrast,
    sheet_for,
    text_color_on,
)

ODD = ["人物", "Risk Factor", "risk factor", "", "toString", "constructor", "__proto__", "É", "🙂", "x" * 500]


def test_a_colour_stands_out_and_its_text_can_be_read() -> None:
    for color in (*PALETTE, *KINDS.values()):
        assert re.fullmatch("#[0-9a-f]{6}", color)
        assert min(contrast(color, "#ffffff"), contrast(color, "#0f141c")) >= 3, color
        assert contrast(color, text_color_on(color)) >= 4.3, color


def test_no_two_types_of_a_shipped_schema_share_a_colour() -> None:
    for name in ("general", "company", "biomedical", "literature"):
        types = [each.name for each in load_schema(name).entities]
        assert set(types) <= set(TYPES)
        assert len({color_of(each) for each in types}) == len(types), name
    assert {color_of(name) for name in ODD} <= set(PALETTE)


def properties(sheet: dict[str, dict[str, str]], *labels: str) -> dict[str, str]:
    """What Browser 5.24 gives a node: the properties of all rules that fit, the last one deciding."""
    shown: dict[str, str] = {}
    for selector, rule in sheet.items():
        kind, *wanted = selector.split(".")
        if kind == "node" and set(wanted) <= set(labels):
            shown |= rule
    return shown


def test_the_type_decides_over_entity_and_key_element() -> None:
    sheet = sheet_for({"Person", "Risk Factor", "人物"})
    for name in ("Person", "Risk Factor", "人物"):
        shown = properties(sheet, "KeyElement", "Entity", label_for(name))
        assert (shown["color"], shown["diameter"], shown["caption"]) == (color_of(name), "65px", "{name}")
    assert properties(sheet, "Entity", "KeyElement")["color"] == KINDS["Entity"]
    assert properties(sheet, "KeyElement")["color"] == KINDS["KeyElement"]
    assert properties(sheet, "Stranger")["caption"] == "{name}"


def test_every_kind_of_node_has_a_rule_of_its_own() -> None:
    sheet = sheet_for(())
    assert {selector for selector in sheet if selector.startswith("node.")} == {f"node.{kind}" for kind in KINDS}
    assert len({properties(sheet, kind)["color"] for kind in KINDS}) == len(KINDS)
    assert sheet["relationship.RELATED_TO"]["caption"] == "{predicate}"
    written = dict(re.findall(r"(\S+) \{\n(.*?)\n\}\n", as_grass(sheet), re.DOTALL))
    assert list(written) == list(sheet)
    assert f"color: {KINDS['Entity']};" in written["node.Entity"]
