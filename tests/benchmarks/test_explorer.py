"""The explorer on a graph of ten thousand entities, in a real Chromium that draws without a graphics card.

What is measured is what a person waits for: the page, the picture of the whole graph on it, a pressed node's panel, and
on the picture alone the frames while it is dragged and zoomed. From a press to the next paint it is the browser's own
event timing.
"""

from collections.abc import Callable
from statistics import quantiles

from data_sets import Place
from graphs import new_graph
from large_graph import write_large_graph
from playwright.sync_api import Browser, Page
from tables import Section
from web_server import served

ENTITIES = 10_000
PAINT_LIMIT, INTERACTION_LIMIT = 1000, 100
"""Milliseconds."""
_DRAW = """async () => {
  const { GraphView } = await import("/static/graph/view.js");
  const map = await (await fetch("api/graph/map?limit=10000")).json();
  const box = document.createElement("div");
  Object.assign(box.style, { position: "fixed", inset: "0", zIndex: 1000, background: "white" });
  Object.assign(box, { role: "application", tabIndex: 0 });
  document.body.replaceChildren(box);
  window.view = new GraphView(box, { onSelect: () => {} });
  const frame = () => new Promise(requestAnimationFrame);
  await view.settled();
  const start = performance.now();
  view.setMap(map);
  await frame();
  await frame();
  const first = performance.now() - start;
  await view.settled();
  return { nodes: map.ids.length, edges: map.sources.length, first, all: performance.now() - start };
}"""
_WATCH = """() => {
  window.frames = [];
  let last = performance.now();
  const tick = (now) => {
    frames.push(now - last);
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}"""

_LISTEN = """
window.told = { drawn: [], events: [] };
new MutationObserver((list) => {
  for (const { target } of list) if (target.ariaBusy === "false") told.drawn.push(performance.now());
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["aria-busy"] });
const seen = (list) => list.getEntries().forEach(({ name, duration }) => told.events.push([name, duration]));
new PerformanceObserver(seen).observe({ type: "event", durationThreshold: 16 });
"""
_DATA = """() => {
  const map = performance.getEntriesByType("resource").find(({ name }) => name.includes("api/graph/map"));
  return [map.responseEnd, told.drawn.find((time) => time > map.responseEnd)];
}"""
_SPOTS = """() => {
  const canvas = document.querySelector(".canvas canvas");
  const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const isOpaque = (at) => data[at + 3] > 200; // a line's faint pixel can have any colour
  const spread = ([red, green, blue]) => Math.max(red, green, blue) - Math.min(red, green, blue);
  const isColour = (at) => isOpaque(at) && spread(data.slice(at, at + 3)) > 100;
  const spots = [];
  for (let y = 40; y < height - 40; y += 7) {
    for (let x = 40; x < width - 360; x += 7) if (isColour(4 * (y * width + x))) spots.push([x, y]);
  }
  const apart = Math.floor(spots.length / 40);
  const some = spots.filter((_, at) => at % apart === 0);
  // Two presses beside each other would be a double click.
  const far = ([x, y], at) => !at || Math.hypot(x - some[at - 1][0], y - some[at - 1][1]) > 20;
  return some.filter(far).slice(0, 20);
}"""
"""Twenty places where a node's colour is, where the panel does not cover the picture."""


def test_explorer(place: Place, section: Callable[[str, str], Section], chromium: Browser) -> None:
    found = section("explorer", f"The explorer on {ENTITIES:,} entities, drawn without a graphics card")
    with new_graph(place, "explorer", embedder="hash:64") as graph:
        write_large_graph(graph.store, ENTITIES)
        with served(graph) as address:
            for measure in (_measure_page, _measure_picture):
                page = chromium.new_page(viewport={"width": 1280, "height": 800})
                measure(page, address, found)
                page.close()


def _measure_page(page: Page, address: str, found: Section) -> None:
    """The graph view as people open it, by its address, and nodes pressed there."""
    page.add_init_script(_LISTEN)
    page.goto(f"{address}/#/graph")
    page.set_default_timeout(120_000)
    page.locator(".graph-title", has_text=f"{ENTITIES:,}").wait_for(state="attached")
    page.locator(".canvas[aria-busy=false]").wait_for(state="attached")
    data, drawn = page.evaluate(_DATA)
    found.add("the graph view's picture, after its data came", drawn - data, "ms", at_most=PAINT_LIMIT)
    picture = page.locator(".canvas").bounding_box()
    assert picture
    page.evaluate("told.events.length = 0")
    panels = 0
    for x, y in page.evaluate(_SPOTS):
        page.mouse.click(picture["x"] + x, picture["y"] + y)
        page.locator(".node-card .muted", has_text="Loading").wait_for(state="detached")
        panels += page.locator(".node-card:not([hidden]) .actions").count()
        page.keyboard.press("Escape")
    found.add("panels of nodes opened by twenty presses", panels, exactly=20)
    kinds = ("pointerdown", "pointerup", "click")
    times = [time for name, time in page.evaluate("told.events") if name in kinds] or [0.0]
    found.add(
        "pressing a node of the graph view, to the next paint: longest", max(times), "ms", at_most=INTERACTION_LIMIT
    )


def _measure_picture(page: Page, address: str, found: Section) -> None:
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    found.add("the page's first paint", painted, "ms", at_most=PAINT_LIMIT)
    drawn = page.evaluate(_DRAW)
    found.add("nodes in the picture", drawn["nodes"], exactly=ENTITIES)
    found.add("first picture after the data came", drawn["first"], "ms", at_most=PAINT_LIMIT)
    found.add("all of it drawn", drawn["all"], "ms", at_most=PAINT_LIMIT)
    page.evaluate(_WATCH)
    _frames(page, found, "dragged", _drag)
    _frames(page, found, "zoomed", _zoom)


def _frames(page: Page, found: Section, what: str, moved: Callable[[Page], None]) -> None:
    page.evaluate("frames.length = 0")
    moved(page)
    times: list[float] = page.evaluate("frames")
    page.evaluate("view.settled()")
    found.add(f"frames while it is {what}: 95 %", quantiles(times, n=20)[-1], "ms", at_most=INTERACTION_LIMIT)


def _drag(page: Page) -> None:
    page.mouse.move(30, 30)
    page.mouse.down()
    for at in range(60):
        page.mouse.move(30 + 8 * at, 30 + 5 * at)
    page.mouse.up()


def _zoom(page: Page) -> None:
    page.mouse.move(640, 400)
    for _ in range(30):
        page.mouse.wheel(0, -60)
