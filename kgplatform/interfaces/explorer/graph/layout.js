// Where nodes go. Forces push them apart and pull joined ones together; they act a few milliseconds a frame.

import "../vendor/d3-dispatch.min.js";
import "../vendor/d3-quadtree.min.js";
import "../vendor/d3-timer.min.js";
import "../vendor/d3-force.min.js";
import { otherEnd } from "./scene.js";

const { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } = globalThis.d3;

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
/** More nodes than these are not relaxed: one step would hold a frame up. */
const MOST = 3000;
/** Nodes that stay, around those that find their places. */
const MOST_FIXED = 400;
const SPACING = 46;

/** Movement of the `free` nodes until they have found their places. All others stay where they are. */
export class Relaxation {
  /** `aspect`: width of the view by its height. `gentle`: begin with less force, since most is in place already. */
  constructor(scene, free, { aspect = 1.4, gentle = false } = {}) {
    const bodies = new Map();
    for (const node of nodesToMind(scene, free)) {
      const { x, y, radius } = node;
      bodies.set(node, free.has(node) ? { x, y, radius } : { x, y, radius, fx: x, fy: y });
    }
    this.free = [...bodies].filter(([node]) => free.has(node));
    this.simulation = this.free.length > MOST ? null : simulate(bodies, { aspect, gentle });
  }

  /** Go on for `budget` milliseconds, one step at least. Returns whether it is done. */
  step(budget) {
    if (!this.simulation) return true;
    const end = performance.now() + budget;
    do this.simulation.tick();
    while (performance.now() < end && !this.#done);
    for (const [node, body] of this.free) [node.x, node.y] = [body.x, body.y];
    return this.#done;
  }

  get #done() {
    return this.simulation.alpha() < this.simulation.alphaMin();
  }
}

// The free nodes, and of the others the neighbours of free ones and those that lie nearest to them.
function nodesToMind(scene, free) {
  const minded = new Set(free);
  if (minded.size === scene.nodes.size) return minded;
  for (const node of free) for (const edge of node.edges) minded.add(otherEnd(edge, node));
  const middle = meanOf([...free]);
  const away = ({ x, y }) => Math.hypot(x - middle.x, y - middle.y);
  const rest = [...scene.nodes.values()].filter((node) => !minded.has(node)).sort((a, b) => away(a) - away(b));
  for (const node of rest.slice(0, MOST_FIXED)) minded.add(node);
  return minded;
}

function simulate(bodies, { aspect, gentle }) {
  const links = [];
  for (const [node, body] of bodies) {
    for (const edge of node.edges) {
      if (edge.source === node && bodies.has(edge.target)) links.push({ source: body, target: bodies.get(edge.target) });
    }
  }
  const middle = meanOf([...bodies.values()]);
  const apart = ({ source, target }) => 44 + source.radius + target.radius;
  return forceSimulation([...bodies.values()])
    .stop()
    .alpha(gentle ? 0.7 : 1)
    .alphaMin(0.02)
    .alphaDecay(gentle ? 0.05 : 0.028)
    .force("charge", forceManyBody().strength(-260).distanceMax(650))
    .force("link", forceLink(links).distance(apart))
    .force("collide", forceCollide((body) => body.radius + 13).iterations(2))
    .force("x", forceX(gentle ? middle.x : 0).strength(0.05 / Math.sqrt(aspect)))
    .force("y", forceY(gentle ? middle.y : 0).strength(0.05 * Math.sqrt(aspect)));
}

/** Give all of these nodes a first place: on a spiral, the weightiest in the middle. */
export function placeAll(nodes) {
  const sorted = [...nodes].sort((one, other) => other.edges.length - one.edges.length || (one.id < other.id ? -1 : 1));
  sorted.forEach((node, at) => Object.assign(node, spiral({ x: 0, y: 0 }, SPACING * Math.sqrt(at + 0.5), at)));
}

/** Give new nodes a first place: around `center`, or near what they are joined to, or beside all that is there. */
export function placeNear(scene, fresh, center) {
  const waiting = new Set(fresh);
  const box = scene.bounds([...scene.nodes.values()].filter((node) => !waiting.has(node)));
  const beside = box ? { x: box.right + 160, y: (box.top + box.bottom) / 2 } : { x: 0, y: 0 };
  const joined = (node) => node.edges.map((edge) => otherEnd(edge, node)).filter((other) => !waiting.has(other));
  for (let at = 0; waiting.size; at += 1) {
    const node = [...waiting].find((each) => joined(each).length) ?? waiting.values().next().value;
    const known = joined(node);
    const middle = center ?? (known.length ? meanOf(known) : beside);
    const away = (center?.radius ?? 10) + 40 + 10 * Math.sqrt(at);
    Object.assign(node, spiral(middle, known.length || center ? away : SPACING * Math.sqrt(at + 0.5), at));
    waiting.delete(node);
  }
}

const spiral = (middle, away, at) => ({ x: middle.x + away * Math.cos(at * GOLDEN), y: middle.y + away * Math.sin(at * GOLDEN) });

function meanOf(places) {
  const sum = places.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }), { x: 0, y: 0 });
  return { x: sum.x / (places.length || 1), y: sum.y / (places.length || 1) };
}
