// The words on the picture: which of them have room, and where.

import { leaning, middleOf, radiusScale } from "./graph-geometry.js";
import { shortText } from "./short-text.js";

const FONT = '12px system-ui, -apple-system, "Segoe UI", sans-serif';
const SMALL_FONT = FONT.replace("12px", "11px");
const HEIGHT = 15;
/** Pixels of the view for each label, the same on a large graph, and how many nodes are tried. */
const ROOM = 7000;
const LARGE_ROOM = 14000;
const TRIES = 400;
const MOST_EDGE_LABELS = 60;
/** So few that are lit are named in any case. */
const LIT_NAMED = 16;
/** Zoom from which all edges of a small graph are named. */
const NEAR = 1.2;
/** A moving picture keeps its labels for so many milliseconds. */
const KEPT = 180;

export class Labels {
  constructor() {
    this.placed = [];
    this.chosenAt = -Infinity;
  }

  /** Draw the words on a picture. `marks`: see GraphView; `moving`: whether the next frame is another one. */
  paint(context, scene, camera, theme, marks, { moving, now }) {
    const kept = moving && now - this.chosenAt < KEPT && this.of === scene.version;
    if (!kept) {
      this.placed = this.#choose(context, scene, camera, marks);
      Object.assign(this, { chosenAt: now, of: scene.version });
    }
    context.lineJoin = "round";
    context.textBaseline = "middle";
    for (const label of this.placed) {
      context.globalAlpha = !marks.lit || !label.node || marks.lit.nodes.has(label.node) ? 1 : marks.restAlpha;
      paintLabel(context, label, camera, theme, marks);
    }
    context.globalAlpha = 1;
  }

  #choose(context, scene, camera, marks) {
    const room = new Room(camera);
    const placed = placeDiscs(context, scene, camera, room);
    const { wanted, lit, others } = candidates(scene, marks);
    for (const node of lit) room.take(bodyOf(node, camera), node);
    // Over what is dimmed, too; if need be over each other.
    for (const node of lit) push(placed, placeNode(context, node, camera, room, false) ?? placeNode(context, node, camera, room, true));
    const few = others.length <= TRIES;
    if (few) for (const node of others) room.take(bodyOf(node, camera), node);
    const most = Math.max(12, (camera.width * camera.height) / (scene.isLarge ? LARGE_ROOM : ROOM));
    for (const node of wanted) push(placed, placeNode(context, node, camera, room, true));
    placeEdges(context, scene, camera, marks, room, placed);
    let tries = TRIES;
    for (const node of others) {
      if (placed.length >= most || tries <= 0) break;
      if (!camera.sees(node)) continue;
      tries -= 1;
      if (!few) room.take(bodyOf(node, camera), node);
      push(placed, placeNode(context, node, camera, room, false));
    }
    return placed;
  }
}

// Named in any case: what the person points at, and the little that is lit. Then much that is lit, and then the rest.
function candidates(scene, { selected, hovered, lit }) {
  const wanted = [selected, hovered].filter((node) => node && !node.hidden);
  const [bright, dim] = [[], []];
  for (const node of scene.byWeight) (lit?.nodes.has(node) ? bright : dim).push(node);
  if (bright.length > LIT_NAMED) return { wanted, lit: [], others: [...bright, ...dim] };
  return { wanted, lit: bright.filter((node) => !wanted.includes(node)), others: dim };
}

function push(list, thing) {
  if (thing) list.push(thing);
}

/** What of the view is taken by words and nodes. */
class Room {
  constructor({ width, height }) {
    Object.assign(this, { width, height, boxes: [] });
  }

  take(box, owner = null) {
    this.boxes.push({ ...box, owner });
  }

  isFree(box, owner) {
    const outside = box.left < 0 || box.top < 0 || box.right > this.width || box.bottom > this.height;
    return !outside && !this.boxes.some((other) => other.owner !== owner && overlap(box, other));
  }
}

function overlap(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

function bodyOf(node, camera) {
  const { x, y } = camera.toScreen(node);
  const reach = node.radius * radiusScale(camera.k);
  return { left: x - reach, right: x + reach, top: y - reach, bottom: y + reach };
}

function placeNode(context, node, camera, room, anyway) {
  if (!node.label) return null;
  if (node.width === null) {
    context.font = FONT;
    node.width = context.measureText(node.label).width;
  }
  const { x, y } = camera.toScreen(node);
  const reach = node.radius * radiusScale(camera.k) + 3;
  const half = node.width / 2 + 2;
  const places = [[0, reach + HEIGHT / 2], [reach + half, 0], [0, -reach - HEIGHT / 2], [-reach - half, 0]];
  for (const [dx, dy] of places) {
    const box = { left: x + dx - half, right: x + dx + half, top: y + dy - HEIGHT / 2, bottom: y + dy + HEIGHT / 2 };
    if (!room.isFree(box, node) && !anyway) continue;
    room.take(box, node);
    return { node, dx, dy };
  }
  return null;
}

// A community's name stands in the upper part of its disc while the disc is larger than its name and smaller than the view.
function placeDiscs(context, scene, camera, room) {
  const placed = [];
  for (const disc of scene.discs) {
    const radius = disc.radius * camera.k;
    if (radius < 45 || radius > 0.6 * Math.max(camera.width, camera.height)) continue;
    context.font = SMALL_FONT;
    const half = context.measureText(disc.label).width / 2 + 4;
    const { x, y } = camera.toScreen(disc);
    const box = { left: x - half, right: x + half, top: y - radius + 2, bottom: y - radius + 18 };
    if (half > radius * 1.2 || !room.isFree(box)) continue;
    room.take(box);
    placed.push({ disc });
  }
  return placed;
}

function placeEdges(context, scene, camera, marks, room, placed) {
  context.font = SMALL_FONT;
  for (const edge of namedEdges(scene, camera, marks)) {
    const text = shortText(edge.data.label || edge.data.type, 32);
    const { x, y } = camera.toScreen(middleOf(edge));
    const half = context.measureText(text).width / 2 + 2;
    const box = { left: x - half, right: x + half, top: y - 7, bottom: y + 7 };
    const isLong = Math.hypot(edge.target.x - edge.source.x, edge.target.y - edge.source.y) * camera.k > half + 20;
    if (edge !== marks.hoveredEdge && !(isLong && room.isFree(box))) continue;
    room.take(box);
    placed.push({ edge, text });
  }
}

function namedEdges(scene, camera, { selected, hovered, hoveredEdge, lit }) {
  const edges = new Set(hoveredEdge ? [hoveredEdge] : []);
  for (const node of lit ? [hovered] : [hovered, selected]) for (const edge of node?.edges ?? []) edges.add(edge);
  for (const edge of lit?.edges ?? []) edges.add(edge);
  if (!lit && !scene.isLarge && camera.k >= NEAR) for (const edge of scene.edges.values()) edges.add(edge);
  const seen = (edge) => !edge.unnamed && !edge.source.hidden && !edge.target.hidden && camera.sees(middleOf(edge));
  return [...edges].filter(seen).slice(0, MOST_EDGE_LABELS);
}

function paintLabel(context, { node, disc, edge, text, dx, dy }, camera, theme, marks) {
  const at = camera.toScreen(edge ? middleOf(edge) : (disc ?? node));
  if (node) {
    const strong = node === marks.selected || node === marks.hovered;
    return paintWords(context, node.label, at.x + dx, at.y + dy, strong ? `600 ${FONT}` : FONT, theme.text, theme);
  }
  if (disc) return paintWords(context, disc.label, at.x, at.y - disc.radius * camera.k + 10, SMALL_FONT, theme.quiet, theme);
  return paintWords(context, text, at.x, at.y, SMALL_FONT, theme.quiet, theme);
}

// With an edge of the background's colour, so that they can be read over lines.
function paintWords(context, words, x, y, font, color, theme) {
  context.font = font;
  context.textAlign = "center";
  context.lineWidth = 3.5;
  context.strokeStyle = theme.surface;
  context.strokeText(words, x, y);
  context.fillStyle = color;
  context.fillText(words, x, y);
}
