"""GraphML, as networkx, igraph, Gephi and yEd read it: typed keys, labels and types as data.

GraphML has texts, whole numbers, numbers and truth values. A property of another type stands as JSON, and the data
``json`` of its node or edge lists the names of those.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape, quoteattr

from kgplatform.exchange.elements import FORMAT, VERSION, Element, Spool, Types, compact, type_of

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_SCALARS = ("boolean", "long", "double", "string")
_FIXED = (
    ("format", "graph", "string"),
    ("version", "graph", "long"),
    ("nodes", "graph", "long"),
    ("relationships", "graph", "long"),
    ("labels", "node", "string"),
    ("json", "node", "string"),
    ("label", "edge", "string"),
    ("ejson", "edge", "string"),
)
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INFINITE = {"NaN": "NaN", "Infinity": "INF", "-Infinity": "-INF"}
"""As XML Schema calls them."""
_LINE_ENDS = {"\r": "&#13;"}

Keys = dict[tuple[str, str], str]
"""Ids of keys by the property's name and type."""


def write_graphml(spool: Spool, path: Path) -> None:
    """Write what ``spool`` holds."""
    node_keys, edge_keys = _keys(spool.node_types, "n"), _keys(spool.relationship_types, "e")
    with path.open("wb") as out:
        _write(out, f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{_NAMESPACE}">')
        for id_, owner, kind in _FIXED:
            _write_key(out, id_, owner, "json" if id_ == "ejson" else id_, kind)
        for owner, keys in (("node", node_keys), ("edge", edge_keys)):
            for (name, kind), id_ in keys.items():
                _write_key(out, id_, owner, name, kind)
        _write(out, '<graph id="graph" edgedefault="directed">')
        head = {"format": FORMAT, "version": VERSION, "nodes": spool.nodes, "relationships": spool.relationships}
        _write(out, "".join(_data(name, str(value)) for name, value in head.items()))
        for node in spool.each_node():
            labels = _data("labels", ":" + ":".join(node.labels))
            _write(out, f"<node id={_attribute(node.id)}>{labels}{_properties(node, node_keys, 'json')}</node>")
        for number, edge in enumerate(spool.each_relationship(), start=1):
            ends = f"source={_attribute(edge.start)} target={_attribute(edge.end)}"
            inside = _data("label", edge.type) + _properties(edge, edge_keys, "ejson")
            _write(out, f'<edge id="e{number}" {ends}>{inside}</edge>')
        _write(out, "</graph>\n</graphml>")


def _keys(types: dict[str, Types], prefix: str) -> Keys:
    found = {(name, kind) for each in types.values() for name, kinds in each.items() for kind in kinds}
    pairs = {(name, kind if kind in _SCALARS else "string") for name, kind in found}
    return {pair: f"{prefix}{number}" for number, pair in enumerate(sorted(pairs))}


def _write_key(out: BinaryIO, id_: str, owner: str, name: str, kind: str) -> None:
    _write(out, f'<key id="{id_}" for="{owner}" attr.name={_attribute(name)} attr.type="{kind}"/>')


def _properties(element: Element, keys: Keys, marker: str) -> str:
    parts, as_json = [], []
    for name, value in element.properties.items():
        kind = type_of(value)
        if kind not in _SCALARS or (kind == "string" and _NO_XML.search(value)):
            as_json.append(name)
            # Other signs than ASCII need no escape, those that XML lacks do.
            parts.append(_data(keys[name, "string"], _NO_XML.sub(_escaped, compact(value))))
        else:
            parts.append(_data(keys[name, kind], _text(value)))
    marked = [_data(marker, compact(as_json))] if as_json else []
    return "".join((*marked, *parts))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return _INFINITE[value["float"]]
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, bool) else repr(value)


def _escaped(sign: re.Match[str]) -> str:
    return f"\\u{ord(sign[0]):04x}"


def _data(key: str, text: str) -> str:
    return f'<data key="{key}">{escape(text, _LINE_ENDS)}</data>'


def _attribute(text: str) -> str:
    return quoteattr(text, {**_LINE_ENDS, "\n": "&#10;", "\t": "&#9;"})


def _write(out: BinaryIO, text: str) -> None:
    out.write(text.encode("utf-8") + b"\n")
