// The nodes and edges of a picture: where they are, how large, what lies at a point.

import { kindShape, typeColor } from "../shared/colors.js";
import { shortText } from "../shared/format.js";

/** Radii at zoom 1: [of a node without neighbours, of the largest]. */
const RADII = { Entity: [7, 22], Community: [11, 24], Document: [9, 14], Keyword: [7, 12] };
const SMALL = [6, 9];
/** Above this many nodes and edges, a frame is drawn from a picture of them. */
const MANY = 2500;
/** Kinds of nodes that are there for what is stated of others. */
const STATED = new Set(["Fact", "Attribute"]);

export class Scene {
  constructor() {
    this.clear();
    this.hiddenKeys = new Set();
    /** The year that the picture shows; null where it shows all times. */
    this.year = null;
  }

  clear() {
    this.nodes = new Map();
    this.edges = new Map();
    /** Of a map: its circles, what joins the outermost of them, and how far a node usually is from the next. */
    this.discs = [];
    this.bundles = [];
    this.spacing = 0;
    /** Nodes that move just now. */
    this.live = new Set();
    this.changed();
  }

  /** To be called after anything in the picture is another than before. */
  changed() {
    this.version = (this.version ?? 0) + 1;
    this.ordered = null;
    this.withNames = null;
  }

  get isLarge() {
    return this.nodes.size + this.edges.size > MANY;
  }

  /** Put a node in, or take what is new of one that is there. Returns it. */
  addNode(data, x = undefined, y = undefined) {
    const known = this.nodes.get(data.id);
    if (known) {
      known.weight = Math.max(known.weight, data.degree ?? data.size ?? 0);
      if (data.text !== undefined) Object.assign(known, { data, label: null, width: null });
      this.changed();
      return known;
    }
    const weight = data.size ?? data.degree ?? 0;
    const [least, most] = RADII[data.kind] ?? SMALL;
    const node = {
      id: data.id,
      data,
      x: x ?? data.x,
      y: y ?? data.y,
      radius: Math.min(most, least + 1.4 * Math.sqrt(Math.max(0, weight - 1))),
      weight,
      color: typeColor(data.type ?? data.kind),
      shape: kindShape(data.kind),
      /** What stands beside it, and how wide that is: found out when it is to be written, since few of many are. */
      label: null,
      width: null,
      edges: [],
      /** Of a map: the circle that it is in, the outermost around it, and whether its relations were asked for. */
      disc: null,
      region: null,
      read: false,
      hidden: this.hiddenKeys.has(data.type ?? data.kind),
    };
    this.nodes.set(node.id, node);
    this.changed();
    return node;
  }

  /** Put an edge in, unless a node of it is missing, both are the same, or it is there. */
  addEdge(data) {
    const [source, target] = [this.nodes.get(data.source), this.nodes.get(data.target)];
    if (!source || !target || source === target || this.edges.has(data.id)) return;
    for (const unnamed of between(source, target).filter((edge) => edge.unnamed)) this.removeEdge(unnamed);
    this.#join({ id: data.id, data, source, target, bend: 0, unnamed: false, times: data.times ?? [] });
    spread(between(source, target), source);
    this.changed();
  }

  /** A line of a map: it tells that two nodes are joined, not how. An edge between the two takes its place. */
  addLine(id, source, target, times = []) {
    if (source !== target) this.#join({ id, data: null, source, target, bend: 0, unnamed: true, times });
  }

  #join(edge) {
    edge.state = stateIn(edge.times, this.year);
    this.edges.set(edge.id, edge);
    edge.source.edges.push(edge);
    edge.target.edges.push(edge);
  }

  removeEdge(edge) {
    this.edges.delete(edge.id);
    for (const end of [edge.source, edge.target]) end.edges.splice(end.edges.indexOf(edge), 1);
    this.changed();
  }

  removeNode(node) {
    for (const edge of [...node.edges]) this.removeEdge(edge);
    this.nodes.delete(node.id);
    this.live.delete(node);
    this.changed();
  }

  /** Hide the nodes of these types (or kinds, where a node has no type), and show all others. */
  hide(keys) {
    this.hiddenKeys = new Set(keys);
    this.#hideNodes();
  }

  /** Show what is so in a year, and what says no time; null: all. Returns how many edges are in each state. */
  standIn(year) {
    this.year = year;
    const states = { now: 0, untimed: 0, off: 0 };
    for (const edge of this.edges.values()) states[(edge.state = stateIn(edge.times, year))] += 1;
    this.#hideNodes();
    return states;
  }

  /** [first, last] of the years that edges name; null where none does. */
  get years() {
    const named = [...this.edges.values()].flatMap(({ times }) => times.flatMap(yearsOf));
    return named.length ? [named.reduce((one, other) => Math.min(one, other)), named.reduce((one, other) => Math.max(one, other))] : null;
  }

  /** Those of hidden types, and facts and values that are not so in the year. */
  #hideNodes() {
    for (const node of this.nodes.values()) {
      const facts = STATED.has(node.data.kind) ? node.edges.filter(({ times }) => times.length) : [];
      const isOff = facts.length > 0 && facts.every(({ state }) => state === "off");
      node.hidden = isOff || this.hiddenKeys.has(node.data.type ?? node.data.kind);
    }
    this.changed();
  }

  /** The visible nodes, the weightiest first. */
  get byWeight() {
    this.ordered ??= [...this.nodes.values()]
      .filter((node) => !node.hidden)
      .sort((one, other) => other.weight - one.weight || (one.id < other.id ? -1 : 1));
    return this.ordered;
  }

  /** The edges that say how two nodes are joined. */
  get named() {
    this.withNames ??= [...this.edges.values()].filter((edge) => !edge.unnamed && isSeen(edge));
    return this.withNames;
  }

  /** {left, top, right, bottom} of these nodes in the world, or of all that is drawn, circles too; null if there is none. */
  bounds(nodes = [...this.byWeight, ...this.discs]) {
    const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const { x, y, radius } of nodes) {
      box.left = Math.min(box.left, x - radius);
      box.right = Math.max(box.right, x + radius);
      box.top = Math.min(box.top, y - radius);
      box.bottom = Math.max(box.bottom, y + radius);
    }
    return box.left < Infinity ? box : null;
  }

  /** The node at a point of the view, the nearest if there are several, with some room around small ones. */
  nodeAt(point, camera) {
    const { x, y } = camera.toWorld(point);
    const scale = radiusScale(camera.k) / camera.k;
    const room = 4 / camera.k;
    let [found, nearest] = [null, Infinity];
    for (const node of this.byWeight) {
      const away = Math.hypot(node.x - x, node.y - y) - node.radius * scale;
      if (away <= room && away < nearest) [found, nearest] = [node, away];
    }
    return found;
  }

  /** The edge at a point of the view, within a few pixels. Lines of a map are none. */
  edgeAt(point, camera, within = 5) {
    const { x, y } = camera.toWorld(point);
    let [found, nearest] = [null, within / camera.k];
    for (const edge of this.edges.values()) {
      if (edge.unnamed || !isSeen(edge)) continue;
      const away = distanceToEdge(edge, x, y);
      if (away < nearest) [found, nearest] = [edge, away];
    }
    return found;
  }

  /** The nearest node in a direction ({x, y} of length 1) from `node`: straight ahead counts more than near. */
  nodeTowards(node, direction) {
    let [found, best] = [null, Infinity];
    for (const other of this.byWeight) {
      const [dx, dy] = [other.x - node.x, other.y - node.y];
      const ahead = dx * direction.x + dy * direction.y;
      const aside = Math.abs(dx * direction.y - dy * direction.x);
      if (other === node || ahead <= 0 || aside > 1.5 * ahead) continue;
      if (ahead + 2 * aside < best) [found, best] = [other, ahead + 2 * aside];
    }
    return found;
  }
}

/** Whether an edge is drawn. */
export const isSeen = ({ source, target, state }) => state !== "off" && !source.hidden && !target.hidden;

/** The years that an interval [since, until) names; an end that is open names none. */
const yearsOf = ([since, until]) => [since && Number(since.slice(0, 4)), until && new Date(Date.parse(until) - 1).getUTCFullYear()].filter(Boolean);

/** Whether what is so at `times` is in a year: "now", "off", or "untimed" where a place says no time; "plain" is no fact, or all times are shown. */
function stateIn(times, year) {
  if (year === null || !times.length) return "plain";
  const [first, after] = [year, year + 1].map((each) => `${String(each).padStart(4, "0")}-01-01`);
  if (times.some(([since, until]) => (since || until) && (since ?? "") < after && (until ?? "~") > first)) return "now";
  return times.some(([since, until]) => !since && !until) ? "untimed" : "off";
}

/** The other end of an edge. */
export const otherEnd = (edge, node) => edge.source === node ? edge.target : edge.source;

function between(source, target) {
  const [few, other] = source.edges.length < target.edges.length ? [source, target] : [target, source];
  return few.edges.filter((edge) => otherEnd(edge, few) === other);
}

// Edges between the same two nodes lie beside each other, whichever way each of them points.
function spread(parallel, first) {
  const room = Math.min(34, 150 / parallel.length);
  parallel.forEach((edge, at) => {
    const bend = (at - (parallel.length - 1) / 2) * room;
    edge.bend = edge.source === first ? bend : -bend;
  });
}

/** What stands beside a node: its name, else what it says, else what it is. */
export function labelOf(node) {
  const { name, text, type, kind } = node.data;
  return (node.label ??= shortText(name) || shortText(text) || type || kind);
}

// How nodes and edges lie in the world: sizes, curves, distances.

/** Nodes grow and shrink slower than the picture when it is zoomed: by this at `k` pixels per unit. */
export const radiusScale = (k) => k < 1 ? k ** 0.7 : Math.sqrt(k);

/** The control point of an edge's curve, in the world: of a straight edge its middle. */
export function leaning({ source, target, bend }) {
  const [x, y] = [(source.x + target.x) / 2, (source.y + target.y) / 2];
  if (!bend) return { x, y };
  const [dx, dy] = [target.x - source.x, target.y - source.y];
  const length = Math.hypot(dx, dy) || 1;
  return { x: x - (dy / length) * bend, y: y + (dx / length) * bend };
}

/** The point in the middle of an edge's curve. */
export function middleOf(edge) {
  const { source, target } = edge;
  const lean = leaning(edge);
  return { x: (source.x + 2 * lean.x + target.x) / 4, y: (source.y + 2 * lean.y + target.y) / 4 };
}

/** How far a point of the world is from an edge; Infinity if it is not near. */
function distanceToEdge(edge, x, y) {
  const { source, target } = edge;
  const reach = Math.abs(edge.bend) + 40;
  if (x < Math.min(source.x, target.x) - reach || x > Math.max(source.x, target.x) + reach) return Infinity;
  if (y < Math.min(source.y, target.y) - reach || y > Math.max(source.y, target.y) + reach) return Infinity;
  if (!edge.bend) return distanceToLine(x, y, source, target);
  const middle = middleOf(edge);
  return Math.min(distanceToLine(x, y, source, middle), distanceToLine(x, y, middle, target));
}

function distanceToLine(x, y, from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const along = ((x - from.x) * dx + (y - from.y) * dy) / (dx * dx + dy * dy || 1);
  const part = Math.min(1, Math.max(0, along));
  return Math.hypot(x - from.x - part * dx, y - from.y - part * dy);
}
