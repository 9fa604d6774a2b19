// The graph as a picture to walk through: drawn on a canvas, moved by mouse, fingers and keys.

import { Camera, prefersStill, trackGestures } from "./camera.js";
import { Labels, unreadIn } from "./labels.js";
import { placeAll, placeNear, Relaxation } from "./layout.js";
import { readMap } from "./map.js";
import { edgeStyle, paintEdges, paintNodes, paintScene, Picture, THEMES } from "./painter.js";
import { isSeen, Scene } from "./scene.js";

/** Milliseconds of a frame for finding places; before the first frame; and the most for all of it. */
const STEP = 10;
const HEAD_START = 40;
const MOST_RELAXING = 4000;
const MOST_DENSITY = 2;
const NO_ONE = () => {};

export class GraphView {
  /**
   * Fills `container`, which has a size of its own, the keyboard and a name.
   *
   * The callbacks are called for what people do, never for what the program does: `onSelect(nodeOrNull)`,
   * `onExpand(node)`, `onEdge(edge)`. They get the nodes and edges as they were given. `onRest(ids)`: the picture of a map rests, and these entities in it
   * are so near that their relations can be read, which `nameLines` takes.
   */
  constructor(container, { onSelect = NO_ONE, onExpand = NO_ONE, onEdge = NO_ONE, onRest = NO_ONE } = {}) {
    Object.assign(this, { container, onSelect, onExpand, onEdge, onRest });
    this.scene = new Scene();
    this.camera = new Camera();
    this.marks = new Marks();
    this.labels = new Labels();
    this.picture = new Picture();
    this.theme = THEMES.light;
    this.relaxation = null;
    /** Nodes that came to rest, until the picture of a large graph has them. */
    this.landed = new Set();
    /** Whether the camera keeps all in view while nodes find their places. */
    this.follows = false;
    /** Whether all is in view and nobody moved the camera since: then it stays so when the container changes its size. */
    this.fitted = true;
    this.frame = null;
    this.waiting = [];
    this.canvas = document.createElement("canvas");
    Object.assign(this.canvas.style, { display: "block", width: "100%", height: "100%", cursor: "grab" });
    this.canvas.setAttribute("aria-hidden", "true");
    this.context = this.canvas.getContext("2d");
    container.append(this.canvas);
    container.addEventListener("keydown", keysOf(this));
    trackGestures(this.canvas, this.#gestures());
    new ResizeObserver(() => this.resize()).observe(container);
    this.resize();
  }

  /** Show exactly these. */
  setGraph(graph) {
    this.clear();
    this.addGraph(graph);
  }

  /** Show a map: parallel columns `ids`, `names`, `kinds`, `types`, `x`, `y`, `sizes`, `sources`, `targets`, and `discs`. */
  setMap(map) {
    this.clear();
    readMap(this.scene, map);
    this.fit({ smooth: false });
    this.#drawAtOnce();
  }

  /**
   * Put these in beside what is there, which stays where it is. Nodes without `x` and `y` find their places by themselves.
   * `around`: id of the node that they come from. Of a map, relations take the places of its lines.
   */
  addGraph({ nodes, edges }, { around = null } = {}) {
    const wasEmpty = this.scene.nodes.size === 0;
    const fresh = nodes.filter(({ id }) => !this.scene.nodes.has(id)).map(({ id }) => id);
    for (const node of nodes) this.scene.addNode(node);
    for (const edge of edges) this.scene.addEdge(edge);
    const free = new Set(fresh.map((id) => this.scene.nodes.get(id)).filter(({ x, y }) => x === undefined || y === undefined));
    if (free.size) {
      if (wasEmpty) placeAll(free);
      else placeNear(this.scene, free, this.scene.nodes.get(around) ?? null);
      this.#relax(new Set([...free, ...(this.relaxation ? this.scene.live : [])]), { gentle: !wasEmpty });
    }
    if (wasEmpty) this.fit({ smooth: false });
    this.follows = wasEmpty && Boolean(this.relaxation);
    this.refresh();
  }

  /** Take a node out of the picture, with its edges. */
  remove(id) {
    const node = this.scene.nodes.get(id);
    if (!node) return;
    this.marks.forget(node);
    this.scene.removeNode(node);
    if (this.relaxation) this.#relax(new Set(this.scene.live), { gentle: true });
    this.refresh();
  }

  clear() {
    this.scene.clear();
    this.marks.clear();
    this.picture.clear();
    this.relaxation = null;
    this.landed.clear();
    this.follows = false;
    this.#tellBusy(true);
    this.refresh();
  }

  // For those who hear the page, and for whoever waits for the picture.
  #tellBusy(isBusy) {
    if (isBusy === this.isBusy) return;
    this.isBusy = isBusy;
    this.container.setAttribute("aria-busy", String(isBusy));
  }

  /** Hide the nodes of these types (kinds, where a node has no type), with their edges; show all others. */
  setHidden(keys) {
    this.scene.hide(keys);
    this.refresh();
  }

  /** Show what is so in a year; null: all. Returns how many edges are so, say no time, and are of other times. */
  standIn(year) {
    const states = this.scene.standIn(year);
    this.refresh();
    return states;
  }

  /** Let these nodes and edges (ids) stand out, and the rest fade; null for none. */
  highlight(lit) {
    const known = (ids, all) => new Set(ids.map((id) => all.get(id)).filter(Boolean));
    const [nodes, edges] = lit ? [known(lit.nodes, this.scene.nodes), known(lit.edges, this.scene.edges)] : [];
    for (const { source, target } of edges ?? []) nodes.add(source).add(target);
    this.marks.lit = lit && { nodes, edges };
    this.refresh();
  }

  /** Mark a node as the chosen one; null for none. */
  select(id) {
    this.marks.selected = this.scene.nodes.get(id) ?? null;
    this.refresh();
  }

  /** Bring these nodes into view. `right`, `bottom`: pixels of the view that something else covers there. */
  focus(ids, { right = 0, bottom = 0 } = {}) {
    const nodes = ids.map((id) => this.scene.nodes.get(id)).filter(Boolean);
    if (!nodes.length) return;
    const closest = nodes.length === 1 ? Math.max(1.2, this.camera.k) : 1.5;
    const { x, y, k } = this.camera.standFor(this.scene.bounds(nodes), { padding: 90, closest });
    this.#moveCamera(() => this.camera.goTo({ x: x + right / 2 / k, y: y + bottom / 2 / k, k }));
  }

  /** "light" or "dark". */
  setTheme(theme) {
    this.theme = THEMES[theme];
    this.refresh();
  }

  /** All of it into view. */
  fit({ smooth = true } = {}) {
    this.follows = Boolean(this.relaxation);
    this.fitted = true;
    const box = this.scene.bounds();
    if (box) this.camera.goTo(this.camera.standFor(box), { smooth });
    this.refresh();
  }

  /** Move the picture by pixels. */
  pan(dx, dy) {
    this.#moveCamera(() => this.camera.pan(dx, dy));
  }

  /** Look at a point of the world, at `k` pixels per unit. */
  standAt(x, y, k) {
    this.#moveCamera(() => this.camera.goTo({ x, y, k }, { smooth: false }));
  }

  zoomIn() {
    this.#moveCamera(() => this.camera.glideZoom(1.5));
  }

  zoomOut() {
    this.#moveCamera(() => this.camera.glideZoom(1 / 1.5));
  }

  /** Take the size of the container. It is done by itself whenever that changes. */
  resize() {
    const { clientWidth: width, clientHeight: height } = this.container;
    const density = Math.min(MOST_DENSITY, window.devicePixelRatio || 1);
    if (width === this.camera.width && height === this.camera.height && density === this.density) return;
    this.density = density;
    Object.assign(this.camera, { width: Math.max(1, width), height: Math.max(1, height) });
    this.canvas.width = Math.round(this.camera.width * this.density);
    this.canvas.height = Math.round(this.camera.height * this.density);
    this.#tellBusy(true);
    if (this.fitted) this.fit({ smooth: false });
    this.#drawAtOnce(); // a canvas that changes its size is empty
  }

  #gestures() {
    return {
      wheel: "zoom",
      grab: (point) => this.scene.nodeAt(point, this.camera),
      drag: (node, point) => {
        if (this.relaxation) this.#calm();
        if (!this.scene.live.has(node)) (this.scene.live.add(node), this.scene.changed());
        this.#moveCamera(() => Object.assign(node, this.camera.toWorld(point)));
      },
      drop: () => (this.#calm(), this.refresh()),
      pan: (dx, dy) => this.pan(dx, dy),
      zoom: (factor, point) => this.#moveCamera(() => this.camera.zoom(factor, point)),
      tap: (point) => {
        const { disc, node, edge } = this.#at(point);
        // So near to a circle of a map that what is in it can be read.
        if (disc) this.#moveCamera(() => this.camera.goTo(this.camera.standFor(this.scene.bounds([disc]), { padding: 24 })));
        else if (edge) this.onEdge(edge.data);
        else this.choose(node);
      },
      doubleTap: (point) => {
        const { node } = this.#at(point);
        if (node) this.onExpand(node.data);
        else this.#moveCamera(() => this.camera.zoom(1.6, point));
      },
      hover: (point) => this.#hover(point),
    };
  }

  #moveCamera(move) {
    Object.assign(this, { follows: false, fitted: false }); // from now on the camera goes where it is told to, and not by itself
    move();
    this.refresh();
  }

  /** What is at a point: the name of a circle, which lies over what is in it; a node, or an edge. */
  #at(point) {
    const disc = this.labels.discAt(point);
    const node = disc ? null : this.scene.nodeAt(point, this.camera);
    return { disc, node, edge: disc || node ? null : this.scene.edgeAt(point, this.camera) };
  }

  /** A person chose this node, or none: as `select`, and it is told. */
  choose(node) {
    this.select(node?.id ?? null);
    this.onSelect(node?.data ?? null);
  }

  #hover(point) {
    const { disc, node, edge } = point ? this.#at(point) : { disc: null, node: null, edge: null };
    this.canvas.style.cursor = node || edge || disc ? "pointer" : "grab";
    if (node === this.marks.hovered && edge === this.marks.hoveredEdge) return;
    Object.assign(this.marks, { hovered: node, hoveredEdge: edge });
    this.refresh();
  }

  #relax(free, { gentle }) {
    this.relaxation = new Relaxation(this.scene, free, { aspect: this.camera.width / this.camera.height, gentle });
    this.relaxedFrom = performance.now();
    this.#tellBusy(true);
    this.scene.live = free;
    this.scene.changed();
    // So far that nobody sees the first, wild steps.
    if (this.relaxation.step(gentle ? 0 : HEAD_START)) this.#calm();
  }

  // What moved is where it belongs: it is part of the picture again.
  #calm() {
    this.relaxation = null;
    if (this.scene.isLarge) for (const node of this.scene.live) this.landed.add(node);
    this.scene.live = new Set();
    this.scene.changed();
  }

  #relaxOn(now) {
    if (!this.relaxation) return;
    if (this.relaxation.step(STEP) || now - this.relaxedFrom > MOST_RELAXING) this.#calm();
    const box = this.follows && this.scene.bounds();
    if (box) this.camera.goTo(this.camera.standFor(box), { smooth: false });
    if (!this.relaxation) this.follows = false;
  }

  /** Draw at the next frame. */
  refresh() {
    this.frame ??= requestAnimationFrame((now) => {
      this.frame = null;
      this.camera.step(now);
      this.#relaxOn(now);
      this.#draw(now);
    });
  }

  /** Draw before the browser's next frame, for which one may wait as long as it takes to draw. */
  #drawAtOnce() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.#draw(performance.now());
  }

  #draw(now) {
    const { context, scene, camera, theme, marks } = this;
    const moving = Boolean(camera.journey || this.relaxation);
    context.setTransform(this.density, 0, 0, this.density, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    // Who wants little movement sees the nodes when they have found their places.
    if (!(this.relaxation && prefersStill())) {
      context.globalAlpha = marks.restAlpha;
      if (scene.isLarge) this.picture.paint(context, scene, camera, theme, this.density);
      else for (const _ of paintScene(context, scene, camera, theme));
      this.paintMarked(context);
      if (!this.picture.work) this.landed.clear();
      this.labels.paint(context, scene, camera, theme, marks, { moving, now });
    }
    if (moving || this.picture.work) return this.refresh();
    this.#tellBusy(false);
    const unread = unreadIn(scene, camera);
    if (unread.length) this.onRest(unread);
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Draw what stands out: what moves, what is lit, what is chosen. */
  paintMarked(context) {
    const { scene, camera, theme, marks } = this;
    context.globalAlpha = marks.lit ? marks.restAlpha : 1;
    const live = [...scene.live, ...this.landed].filter((node) => !node.hidden && scene.nodes.has(node.id));
    const moved = live.flatMap((node) => node.edges).filter(isSeen);
    paintEdges(context, moved, camera, edgeStyle(scene, camera, theme));
    paintNodes(context, live, camera, theme);
    context.globalAlpha = 1;
    const strong = { color: theme.accent, alpha: 0.85, width: 2, arrows: camera.k > 0.4 };
    paintEdges(context, marks.edges(), camera, strong);
    paintNodes(context, marks.nodes(), camera, theme);
    paintNodes(context, marks.pointedAt(), camera, theme, { ring: theme.accent });
  }

  /** Resolves when nothing moves and all is drawn. */
  settled() {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.refresh();
    });
  }
}

/** What is left of the rest beside what is lit. */
const DIMMED = 0.4;
/** A hub's neighbours are too many to stand out. */
const MOST_SPOKES = 400;

/** What stands out in a picture: what is lit, chosen, or below the pointer. */
class Marks {
  constructor() {
    this.clear();
  }

  clear() {
    Object.assign(this, { selected: null, hovered: null, hoveredEdge: null, lit: null });
  }

  /** A node is about to go from the picture. */
  forget(node) {
    if (this.selected === node) this.selected = null;
    if (this.hovered === node) this.hovered = null;
    if (node.edges.includes(this.hoveredEdge)) this.hoveredEdge = null;
    this.lit?.nodes.delete(node);
    for (const edge of node.edges) this.lit?.edges.delete(edge);
  }

  /** How opaque all is that does not stand out. */
  get restAlpha() {
    return this.lit ? DIMMED : 1;
  }

  pointedAt() {
    return [...new Set([this.selected, this.hovered])].filter((node) => node && !node.hidden);
  }

  edges() {
    // Beside what is lit, the spokes of a chosen node would look lit too.
    const hubs = this.lit ? [this.hovered].filter(Boolean) : this.pointedAt();
    const spokes = hubs.flatMap((node) => node.edges.slice(0, MOST_SPOKES));
    const all = new Set([...(this.lit?.edges ?? []), ...spokes, ...(this.hoveredEdge ? [this.hoveredEdge] : [])]);
    return [...all].filter(isSeen);
  }

  /** The nodes that are drawn over those edges: their ends, and what is lit. */
  nodes() {
    return new Set([...this.edges().flatMap(({ source, target }) => [source, target]), ...[...(this.lit?.nodes ?? [])].filter((node) => !node.hidden)]);
  }
}

const PAN = 60;
const ARROWS = { ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } };

/** The graph without a mouse: what keys do in a GraphView, as a listener for `keydown`. Keys that it does not know go on. */
function keysOf(view) {
  const selected = () => view.marks.selected;
  // To the next node in that direction; to the weightiest if none is chosen.
  function walk(direction) {
    const next = selected() ? view.scene.nodeTowards(selected(), direction) : view.scene.byWeight[0];
    if (!next) return;
    view.choose(next);
    if (!view.camera.sees(next)) view.focus([next.id]);
  }
  const does = {
    "+": () => view.zoomIn(),
    "=": () => view.zoomIn(),
    "-": () => view.zoomOut(),
    0: () => view.fit(),
    Enter: () => view.onExpand(selected().data),
    Escape: () => view.choose(null),
  };
  return (event) => {
    const { key, shiftKey } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[key];
    if (!arrow && (!Object.hasOwn(does, key) || (["Enter", "Escape"].includes(key) && !selected()))) return;
    event.preventDefault();
    if (!arrow) does[key]();
    else if (shiftKey) walk(arrow);
    else view.pan(-arrow.x * PAN, -arrow.y * PAN);
  };
}
