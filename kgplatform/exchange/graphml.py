"""GraphML, as networkx, igraph, Gephi and yEd read it: typed keys, labels and types as data.

GraphML has texts, whole numbers, numbers and truth values. A property of another type stands as JSON, and the data
``json`` of its node or edge lists the names of those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape, quoteattr

from lxml import etree  # type: ignore[import-untyped]  # it publishes no types

from kgplatform.errors import InputError
from kgplatform.exchange.elements import FORMAT, VERSION, Element, Node, PlacedElement, Relationship, fault_at, type_of
from kgplatform.exchange.json_lines import Spool, Types, check_counts, check_header, compact, strict_json

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


def read_graphml(path: Path) -> Iterator[PlacedElement]:
    """The elements of a file. Raises ``InputError``. No entity is resolved, and no other file or address is opened."""
    counts = {Node: 0, Relationship: 0}
    reader = _Reader(path)
    for place, element in reader.elements():
        counts[type(element)] += 1
        yield place, element
    check_counts(path, reader.said, counts[Node], counts[Relationship])


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._fault = partial(fault_at, path)
        self._keys: dict[str, tuple[str, str]] = {}
        self._head: dict[str, Any] = {}
        self.said = (0, 0)

    def elements(self) -> Iterator[PlacedElement]:
        try:
            with self._path.open("rb") as stream:
                for element in self._parsed(stream):
                    place = f"line {element.sourceline}"
                    name = etree.QName(element).localname
                    if name == "key":
                        self._keys[element.get("id", "")] = (element.get("attr.name", ""), element.get("attr.type", ""))
                    elif name == "data" and _is_in_graph(element):
                        self._head[self._name(element)] = self._value(place, element)
                    elif name in ("node", "edge"):
                        yield place, self._element(place, element, is_node=name == "node")
                        _forget(element)
        except etree.XMLSyntaxError as error:
            said = " ".join(error.msg.split())
            raise InputError(f"{self._path} is not valid XML ({said}). Nothing was imported.") from error
        self._check_head()

    def _parsed(self, stream: BinaryIO) -> Iterator[etree._Element]:
        options = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
        parser = etree.iterparse(stream, events=("end",), **options)
        is_first = True
        for _, element in parser:
            if is_first and element.getroottree().docinfo.doctype:
                raise InputError(f"{self._path} has a document type (DOCTYPE), which no exported graph has.")
            is_first = False
            if not isinstance(element.tag, str) or etree.QName(element).namespace != _NAMESPACE:
                raise self._fault(f"line {element.sourceline}", "is not GraphML")
            yield element

    def _check_head(self) -> None:
        self.said = check_header(self._path, self._head, "its graph element")

    def _element(self, place: str, element: etree._Element, *, is_node: bool) -> Element:
        if not self.said[0]:
            self._check_head()
        given = {self._key(place, each): each for each in element}
        if len(given) < len(element):
            raise self._fault(place, "has one property twice")
        marker = given.pop("json" if is_node else "ejson", None)
        names = self._json(place, marker.text or "") if marker is not None else []
        kind = given.pop("labels" if is_node else "label", None)
        if kind is None or not kind.text or not isinstance(names, list):
            raise self._fault(place, "is neither a node nor an edge of a graph that was exported")
        properties: dict[str, Any] = {}
        for each in given.values():
            name = self._name(each)
            if name in properties:
                raise self._fault(place, f"has the property {name!r} twice")
            properties[name] = self._json(place, each.text or "") if name in names else self._value(place, each)
        if is_node:
            return Node(element.get("id", ""), tuple(sorted(kind.text.split(":")[1:])), properties)
        return Relationship(kind.text, element.get("source", ""), element.get("target", ""), properties)

    def _key(self, place: str, element: etree._Element) -> str:
        key: str = element.get("key", "")
        if etree.QName(element).localname != "data" or key not in self._keys or len(element):
            raise self._fault(place, "has something in it that no exported graph has")
        return key

    def _name(self, element: etree._Element) -> str:
        name, _ = self._keys.get(element.get("key", ""), ("", ""))
        return name

    def _value(self, place: str, element: etree._Element) -> Any:
        kind, text = self._keys.get(element.get("key", ""), ("", ""))[1], element.text or ""
        if kind == "string":
            return text
        if kind == "double" and text in _INFINITE.values():
            return {"float": next(name for name, written in _INFINITE.items() if written == text)}
        value = self._json(place, text)
        wanted = {"boolean": bool, "long": int, "double": float}.get(kind)
        if type(value) is not wanted:
            raise self._fault(place, f"has {text[:40]!r} where a {kind or 'key that there is'} should be")
        return value

    def _json(self, place: str, text: str) -> Any:
        try:
            return strict_json(text)
        except (ValueError, RecursionError) as error:
            raise self._fault(place, f"has a value that cannot be read: {text[:40]!r}") from error


def _is_in_graph(element: etree._Element) -> bool:
    parent = element.getparent()
    return parent is not None and etree.QName(parent).localname == "graph"


def _forget(element: etree._Element) -> None:
    """Give up the memory of an element that was read, and of what stands before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
