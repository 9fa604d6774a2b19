"""The graph's picture, in a real Chromium: what is drawn, and what people do with it."""

from typing import Any

import numpy as np
import pytest
from drawings import ODD_NAMES, draw, edge, large_map, node, pixel, place, settle, triangle, wheel_of
from playwright.sync_api import Page

from kgplatform.interfaces.neo4j_browser.style import KINDS, TYPES, color_of

pytest_plugins = ["explorer_page", "drawing_page"]


def rgb(color: str) -> list[int]:
    return [*bytes.fromhex(color.removeprefix("#")), 255]


def told(page: Page, kind: str) -> list[Any]:
    found: list[Any] = page.evaluate("kind => told.filter(([each]) => each === kind).map(([, what]) => what)", kind)
    return found


def camera(page: Page) -> dict[str, float]:
    found: dict[str, float] = page.evaluate("({ x: view.camera.x, y: view.camera.y, k: view.camera.k })")
    return found


def sizes(page: Page) -> list[int]:
    """How many nodes and edges are in the picture."""
    found: list[int] = page.evaluate("[view.scene.nodes.size, view.scene.edges.size]")
    return found


def drag(page: Page, x: float, y: float, right: float, down: float) -> None:
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right, y + down, steps=4)
    page.mouse.up()


def test_nodes_find_places_of_their_own_that_fit_into_the_box(box: Page) -> None:
    draw(box, wheel_of(60))
    places = [place(box, f"e{at}") for at in range(60)]
    closest = min(abs(a - c) + abs(b - d) for n, (a, b) in enumerate(places) for c, d in places[n + 1 :])
    assert closest > 10
    assert all(20 <= x <= 920 and 10 <= y <= 610 for x, y in places)
    draw(box, wheel_of(60))
    assert [place(box, f"e{at}") for at in range(60)] == places, "the same graph lies the same way each time"
    box.evaluate("document.getElementById('box').style.width = '400px'")
    box.wait_for_function("() => [...document.querySelectorAll('canvas')].at(-1).width === 400")
    settle(box)
    assert all(20 <= x <= 420 and 10 <= y <= 610 for x, y in (place(box, f"e{at}") for at in range(60)))


def test_pressing_chooses_and_twice_expands(box: Page) -> None:
    draw(box, triangle())
    box.mouse.click(*place(box, "e1"))
    assert told(box, "select") == ["e1"]
    box.mouse.dblclick(*place(box, "e2"))
    assert told(box, "expand") == ["e2"]
    box.mouse.click(30, 20)
    assert told(box, "select") == ["e1", "e2", None]
    x, y = place(box, "e0")
    others = [place(box, f"e{at}") for at in (1, 2)]
    drag(box, x, y, 40, 30)
    settle(box)
    assert place(box, "e0") == pytest.approx((x + 40, y + 30), abs=1)
    assert [place(box, f"e{at}") for at in (1, 2)] == others, "the others stay"
    assert told(box, "select") == ["e1", "e2", None], "a drag is no choice"
    assert pixel(box, "e0") == rgb(color_of("Person"))


def test_pressing_an_edge_tells_it(box: Page) -> None:
    graph = triangle()
    graph["edges"] += [edge(0, 1, id="second"), edge(0, 9), edge(1, 1), edge(0, 1)]
    draw(box, graph)
    assert sizes(box) == [3, 4], "what joins nothing, or a node to itself, or is there already, is left out"
    (ax, ay), (bx, by), (cx, cy) = (place(box, f"e{at}") for at in range(3))
    box.mouse.click((bx + cx) / 2, (by + cy) / 2)
    assert told(box, "edge") == ["r1-2"]
    scale = camera(box)["k"]
    middle = ((ax + bx) / 2, (ay + by) / 2)
    for bend, expected in ((-8.5, "r0-1"), (8.5, "second")):
        box.mouse.click(middle[0], middle[1] + bend * scale)
        assert told(box, "edge")[-1] == expected, "edges between the same nodes lie beside each other"
    assert told(box, "select") == []


def test_the_picture_is_panned_and_zoomed_by_mouse_and_fingers(box: Page) -> None:
    draw(box, triangle())
    x, y = place(box, "e0")
    drag(box, 100, 500, 50, -30)
    assert place(box, "e0") == pytest.approx((x + 50, y - 30))
    box.mouse.move(*place(box, "e1"))
    there, far = place(box, "e1"), camera(box)["k"]
    box.mouse.wheel(0, -300)
    box.wait_for_function("far => view.camera.k > far", arg=far)
    assert place(box, "e1") == pytest.approx(there), "what is below the pointer stays there"
    far = camera(box)["k"]
    fingers = box.context.new_cdp_session(box)
    for kind, xs in (("Start", [400]), ("Start", [400, 500]), ("Move", [350, 550]), ("End", [])):
        points = [{"x": x, "y": 500, "id": n} for n, x in enumerate(xs)]
        fingers.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    assert camera(box)["k"] == pytest.approx(2 * far, rel=0.05)
    assert told(box, "select") == []


def test_keys(box: Page) -> None:
    draw(box, triangle())
    box.evaluate(
        "window.left = []; addEventListener('keydown', (event) => event.defaultPrevented || left.push(event.key))"
    )
    box.locator("#box").focus()
    start = camera(box)
    box.keyboard.press("+")
    assert camera(box)["k"] == pytest.approx(start["k"] * 1.5)
    box.keyboard.press("-")
    box.keyboard.press("ArrowRight")
    assert camera(box)["x"] > start["x"]
    box.keyboard.press("0")
    settle(box)
    assert camera(box) == pytest.approx(start)
    assert box.evaluate("left") == []
    for key in ("?", "Enter", "Escape", "Control+ArrowLeft"):
        box.keyboard.press(key)
    assert box.evaluate("left") == ["?", "Enter", "Escape", "Control", "ArrowLeft"], "other keys go on"
    box.keyboard.press("Shift+ArrowDown")
    assert told(box, "select")[-1] == "e0"
    box.keyboard.press("Shift+ArrowRight")
    assert told(box, "select")[-1] == "e1"
    box.keyboard.press("Enter")
    assert told(box, "expand") == ["e1"]
    box.keyboard.press("Escape")
    assert told(box, "select")[-1] is None


def test_the_rest_fades_beside_what_is_lit(box: Page) -> None:
    draw(box, triangle())
    box.evaluate("view.highlight({ nodes: ['e0', 'gone'], edges: ['r0-1', 'gone'] })")
    settle(box)
    assert [pixel(box, each)[3] == 255 for each in ("e0", "e1", "e2")] == [True, True, False]
    box.evaluate("view.remove('e0')")
    settle(box)
    assert sizes(box) == [2, 1], "a node is taken out with its edges, also where it is lit"
    box.evaluate("view.highlight(null)")
    settle(box)
    assert [pixel(box, f"e{at}") for at in (1, 2)] == [rgb(color_of("Place")), rgb(color_of("Event"))]


_WORDS = """view.labels.placed.filter(({ edge }) => !edge).map(({ node, disc, dx, dy, width, height }) => {
  const { x, y } = view.camera.toScreen(node ?? disc);
  const half = node ? [node.width / 2, 6] : [width / 2, height / 2];
  return [node ? "node" : "disc", x + dx, y + dy, ...half, node?.id ?? disc.at];
})"""
_BODIES = """view.scene.byWeight.filter((node) => view.camera.sees(node)).map((node) => {
  const { x, y } = view.camera.toScreen(node);
  return [node.id, x, y, node.radius * (view.camera.k < 1 ? view.camera.k ** 0.7 : view.camera.k ** 0.5)];
})"""


def assert_apart(words: list[Any], *, by: float = 0) -> None:
    for at, (_, x, y, half, high, _) in enumerate(words):
        for _, left, top, wide, tall, _ in words[:at]:
            assert abs(x - left) >= half + wide + by or abs(y - top) >= high + tall + by, "no name lies over another"


def test_words_do_not_overlap(box: Page) -> None:
    """What is lit is named in any case, though its nodes are close to each other."""
    draw(box, wheel_of(80))
    words = box.evaluate(_WORDS)
    assert len(words) >= 21
    assert_apart(words)
    ids = [f"e{at}" for at in range(1, 9)]
    box.evaluate("[1, 2, 3].forEach(() => view.zoomOut())")
    box.evaluate("ids => view.highlight({ nodes: ids, edges: [] })", ids)
    settle(box)
    words = box.evaluate(_WORDS)
    assert set(ids) <= {each[5] for each in words}
    assert_apart(words)


def test_odd_names_are_only_names(box: Page) -> None:
    graph = {
        "nodes": [node(at, name=name, text=name) for at, name in enumerate(ODD_NAMES)],
        "edges": [edge(0, at, label=name) for at, name in enumerate(ODD_NAMES) if at],
    }
    draw(box, graph)
    box.evaluate("view.focus(['e0', 'e1']); view.select('e0')")
    settle(box)
    assert box.locator("#box *").count() == 1, "there is the canvas and nothing else"
    labels = box.evaluate("import('/graph/scene.js').then(({ labelOf }) => view.scene.byWeight.map(labelOf))")
    assert len(labels) == len(ODD_NAMES)
    assert all(0 < len(label) <= 40 and "\u202e" not in label and "\n" not in label for label in labels)
    assert "Person" in labels, "who has no name and says nothing is called by its type"
    short = box.evaluate("import('/shared/format.js').then(({ shortText }) => shortText('👩‍👩‍👧‍👦'.repeat(40), 5))")
    assert short == "👩‍👩‍👧‍👦" * 4 + "…", "no letter is cut in two"


def test_a_large_graph_is_walked_like_a_small_one(box: Page) -> None:
    draw(box, None)
    box.evaluate("map => view.setMap(map)", large_map(2500, 5000))
    settle(box)
    assert sizes(box)[0] == 2500
    box.mouse.click(*place(box, "e0"))
    assert told(box, "select") == ["e0"], "its name lies beside it"
    box.evaluate("view.focus(['e0'])")
    settle(box)
    assert pixel(box, "e0") == rgb(color_of("Person"))
    box.evaluate("view.select(null); view.focus(['e1200', 'e1203'])")
    settle(box)
    assert pixel(box, "e1201") == rgb(color_of("Place")), "the picture of a large graph is drawn where the camera went"


def test_a_map_names_its_communities_first_and_then_what_is_in_them(box: Page) -> None:
    map_ = large_map(2500, 3000)
    draw(box, None)
    box.evaluate("map => (view.onRest = (ids) => told.push(['rest', ids.length]), view.setMap(map))", map_)
    settle(box)
    far = box.evaluate(_WORDS)
    assert sorted(each[5] for each in far if each[0] == "disc") == list(range(10)), "each outermost circle is named"
    hubs = [each[5] for each in far if each[0] == "node"]
    assert {"e0", "e1", "e2"} <= set(hubs) and len(hubs) < 20, "and what is connected most"
    assert_apart(far, by=-1)
    _, x, y, *_ = next(each for each in far if each[5] == 3)  # a circle's
    box.mouse.click(x + 20, y + 10)
    settle(box)
    assert box.evaluate("view.camera.k * view.scene.discs[3].radius") > 200, "a name that is pressed is gone into"
    assert told(box, "select") == []
    box.evaluate("view.standAt(view.scene.discs[3].x, view.scene.discs[3].y, 2.4)")
    settle(box)
    near, bodies = box.evaluate(_WORDS), box.evaluate(_BODIES)
    assert sum(each[0] == "node" for each in near) > 10
    for kind, x, y, half, high, of in near:
        for id_, left, top, radius in bodies if kind == "node" else ():
            dx, dy = max(abs(left - x) - half, 0), max(abs(top - y) - high, 0)
            assert id_ == of or np.hypot(dx, dy) >= radius - 1, "no name lies over a node"
    assert told(box, "rest"), "what can be read is asked for"


def test_colours_are_those_of_neo4j_browser(box: Page) -> None:
    names = [*KINDS, *TYPES, "人物", "risk factor", "", "toString", "constructor", "__proto__", "É", "🙂", "x" * 500]
    ask = """async ([names, theme]) => {
      const colors = await import("/shared/colors.js");
      return names.map((name) => colors.typeColor(name, theme));
    }"""
    for theme in ("light", "dark"):
        assert box.evaluate(ask, [names, theme]) == [color_of(name) for name in names]


_PICTURE = """async (theme) => {
  view.setTheme(theme);
  const { pictureOf } = await import("/graph/painter.js");
  const blob = await pictureOf(view);
  const image = await createImageBitmap(blob);
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  return [blob.type, [image.width, image.height], [...context.getImageData(2, 2, 1, 1).data]];
}"""


def test_a_picture_to_keep(box: Page) -> None:
    draw(box, triangle())
    for theme, ground in (("light", [255, 255, 255, 255]), ("dark", [15, 20, 28, 255])):
        assert box.evaluate(_PICTURE, theme) == ["image/png", [1800, 1200], ground]
