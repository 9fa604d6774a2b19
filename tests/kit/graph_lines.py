"""A small graph as the lines of an export, to change and to write into a file."""

import json
from pathlib import Path
from typing import Any

from conftest import DIMENSION

VECTOR = [0.5] * DIMENSION
GRAPH = {"format": 1, "embeddingModel": f"hash:{DIMENSION}", "embeddingDimension": DIMENSION, "schema": "{}"}

Line = dict[str, Any]


def node(id_: str, *labels: str, **properties: Any) -> Line:
    """The line of a node."""
    return {"node": id_, "labels": list(labels), "properties": properties}


def link(kind: str, start: str, end: str, **properties: Any) -> Line:
    """The line of a relationship."""
    return {"relationship": kind, "start": start, "end": end, "properties": properties}


def good() -> list[Line]:
    """The smallest graph that says something."""
    return [
        node("graph", "Graph", **GRAPH),
        node("d", "Document", name="D", key="d", sha256="0"),
        node("c", "Chunk", name="D · 1", text="Ada knew Charles.", embedding=VECTOR),
        node("a", "Entity", "KeyElement", "Person", name="Ada", key="ada", embedding=VECTOR),
        node("b", "Entity", "KeyElement", name="Charles", key="charles", embedding=VECTOR),
        link("FROM_DOCUMENT", "c", "d"),
        link("KNEW", "a", "b", weight=1),
    ]


def write(path: Path, lines: list[Line]) -> Path:
    """A file with the lines, which can say more than an export does."""
    path.parent.mkdir(exist_ok=True)
    nodes = sum("node" in each for each in lines)
    head = {"format": "kgplatform-graph", "version": 1, "nodes": nodes, "relationships": len(lines) - nodes}
    written = (json.dumps(each, separators=(",", ":")) for each in [head, *lines])
    path.write_text("".join(f"{each.replace(':Infinity', ':1e400')}\n" for each in written))
    return path
