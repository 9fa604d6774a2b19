"""What the tests of the explorer's pictures draw, and how they look at it."""

import random
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

import kgplatform

FILES = Path(kgplatform.__file__).parent / "interfaces" / "explorer"
ADDRESS = "http://drawing.test"
"""Answered by the test itself: no call goes to the network."""

ODD_NAMES = (
    *("<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "جامعة القاهرة ومكتبة الإسكندرية"),
    *("abc \u202e txt.exe", "👩‍👩‍👧‍👦 family", "long " * 400, "", "two\nlines\tand\0zero"),
)

_DRAW = """async (graph) => {
  const { GraphView } = await import("/graph/view.js");
  const told = (window.told = []);
  const box = document.getElementById("box");
  box.tabIndex = 0;
  window.view = new GraphView(box, {
    onSelect: (node) => told.push(["select", node && node.id]),
    onExpand: (node) => told.push(["expand", node.id]),
    onEdge: (edge) => told.push(["edge", edge.id]),
  });
  if (graph) view.setGraph(graph);
  await view.settled();
}"""

_PIXEL = """([x, y]) => {
  const canvas = document.querySelector("canvas");
  const [red, green, blue, alpha] = canvas.getContext("2d").getImageData(Math.round(x), Math.round(y), 1, 1).data;
  return [red, green, blue, alpha];
}"""


def draw(page: Page, graph: dict[str, Any] | None) -> None:
    """Make a GraphView of ``graph``: ``view`` on the page; what it tells goes to ``told``."""
    page.evaluate(_DRAW, graph)


def settle(page: Page) -> None:
    """Wait until the picture rests."""
    page.evaluate("view.settled()")


def place(page: Page, node: str) -> tuple[float, float]:
    """Where a node is, in pixels of the page."""
    at = page.evaluate("id => view.camera.toScreen(view.scene.nodes.get(id))", node)
    return at["x"] + 20, at["y"] + 10


def pixel(page: Page, node: str) -> list[int]:
    """The colour in the middle of a node as [red, green, blue, opacity]."""
    x, y = place(page, node)
    found: list[int] = page.evaluate(_PIXEL, [x - 20, y - 10])
    return found


def node(number: int, **other: Any) -> dict[str, Any]:
    """An entity ``e<number>``, as the server gives it."""
    given = {"id": f"e{number}", "name": f"Name {number}", "kind": "Entity", "type": "Person", "text": "", "degree": 2}
    return given | other


def edge(source: int, target: int, **other: Any) -> dict[str, Any]:
    """A relation of ``e<source>`` to ``e<target>``."""
    given = {"id": f"r{source}-{target}", "source": f"e{source}", "target": f"e{target}"}
    return given | {"type": "KNOWS", "label": "knows", "fact": None} | other


def triangle() -> dict[str, Any]:
    """Three nodes with places of their own, far enough apart to be pressed, each joined to the next."""
    places = ((0, 0), (300, 0), (150, 200))
    types = ("Person", "Place", "Event")
    nodes = [node(at, x=x, y=y, type=types[at]) for at, (x, y) in enumerate(places)]
    return {"nodes": nodes, "edges": [edge(0, 1), edge(1, 2), edge(2, 0)]}


def wheel_of(count: int) -> dict[str, Any]:
    """A hub and its spokes, without places."""
    return {"nodes": [node(at) for at in range(count)], "edges": [edge(0, at) for at in range(1, count)]}


def large_map(nodes: int, lines: int) -> dict[str, Any]:
    """Columns as ``/api/graph/map`` gives them: nodes in discs of fifty, five discs in one, lines to any."""
    chance = random.Random(7)
    side = int(nodes**0.5) + 1
    inner = [{"id": f"c{at}", "name": f"Community {at}", "around": at // 5} for at in range(-(-nodes // 50))]
    outer = [{"id": f"o{at}", "name": f"Outer {at}", "around": -1} for at in range(-(-len(inner) // 5))]
    ends = [
        (at := chance.randrange(nodes), (at + chance.choice((1, side, chance.randrange(nodes)))) % nodes)
        for _ in range(lines)
    ]
    ends = sorted({(min(pair), max(pair)) for pair in ends if pair[0] != pair[1]})
    return {
        "ids": [f"e{at}" for at in range(nodes)],
        "names": [f"Entity {at}" for at in range(nodes)],
        "kinds": ["Entity"] * nodes,
        "types": [("Person", "Place", "Event", "Work")[at % 4] for at in range(nodes)],
        "sizes": [1 + int(40 / (1 + at)) for at in range(nodes)],
        "inside": [len(outer) + at // 50 for at in range(nodes)],
        "sources": [source for source, _ in ends],
        "targets": [target for _, target in ends],
        "discs": [*outer, *inner],
    }
