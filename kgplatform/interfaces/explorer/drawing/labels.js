// The words on the picture: which of them have room, and where.

import { Camera } from "./camera.js";
import { paintLine, Room, ways } from "./room.js";
import { boxOf, isOpen, paintDiscLine, paintDiscName, placeDiscNames } from "./disc-names.js";
import { middleOf, radiusScale } from "./geometry.js";
import { labelOf, otherEnd } from "./scene.js";
import { shortText } from "../shared/format.js";

const FONT = '12px system-ui, -apple-system, "Segoe UI", sans-serif';
const SMALL_FONT = FONT.replace("12px", "11px");
const HEIGHT = 15;
/** Pixels of the view for each label, and how many nodes are tried. */
const ROOM = 7000;
const TRIES = 400;
/** Pixels of the view for each of those that are connected most: they are named before all others. */
const HUB_ROOM = 45000;
/** Where a name may stand beside its node: [halves of its width, parts of the node's reach; the same of its height]. */
const PLACES = [
  ...[[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, -1, 1], [-1, 1, 0, 0]],
  ...[[1, 0.7, 1, 0.7], [1, 0.7, -1, 0.7], [-1, 0.7, 1, 0.7], [-1, 0.7, -1, 0.7]],
  ...[[0.5, 0, 1, 1], [-0.5, 0, 1, 1], [0.5, 0, -1, 1], [-0.5, 0, -1, 1]],
];
/** How many pixels away from its node a name may be, in which steps and in how many directions it is tried. */
const AWAY = { nearest: 22, farthest: 82, step: 20, directions: 12 };
/** Pixels within a name's plate that are not pressed with it: a node may be seen there. */
const EDGE = 3;
/** Of more nodes in view than these, only those that can be read keep words off. */
const MOST_BODIES = 2500;
const MOST_EDGE_LABELS = 60;
/** So few that are lit are named in any case. */
const LIT_NAMED = 16;
/** Zoom from which edges are named, and on a map the pixels from node to node. */
const [NEAR, NEAR_PIXELS] = [1.2, 54];
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
    const alpha = marks.lit ? marks.restAlpha : 1;
    for (const label of this.placed) {
      if (label.from) paintDiscLine(context, label, this.drawnAt, camera, theme, alpha);
      if (label.isAway) paintNodeLine(context, label, camera, theme, marks.lit?.nodes.has(label.node) ? 1 : alpha);
    }
    for (const label of this.placed) {
      if (label.disc) {
        paintDiscName(context, label, this.drawnAt, camera, theme, alpha);
        continue;
      }
      context.globalAlpha = !marks.lit || !label.node || marks.lit.nodes.has(label.node) ? 1 : marks.restAlpha;
      paintLabel(context, label, camera, theme, marks);
    }
    context.globalAlpha = 1;
  }

  #choose(context, scene, camera, marks) {
    const room = new Room(camera);
    const placed = placeDiscNames(context, scene.discs, camera, room);
    const { wanted, lit, others } = candidates(scene, marks);
    for (const node of lit) room.take(bodyOf(node, camera), node);
    // Over what is dimmed, too; if need be at the end of a line, or over each other.
    for (const node of lit) push(placed, placeNode(context, node, camera, room, false) ?? placeAway(node, camera, room) ?? placeNode(context, node, camera, room, true));
    // From afar the circles are named; what is in one is when it can be read.
    const open = scene.discs.map((disc) => isOpen(disc, camera));
    const isRead = ({ disc }) => marks.lit || !disc || open[disc.at];
    const seen = others.filter((node) => camera.sees(node));
    // What is connected most has its name at every distance, if need be at the end of a line; then what can be read.
    const isSaid = (node) => !isRead(node) && [node.disc, node.region].some(({ label }) => label.includes(labelOf(node)));
    const hubs = marks.lit ? [] : seen.slice(0, Math.ceil((camera.width * camera.height) / HUB_ROOM)).filter((node) => !isSaid(node));
    const readable = seen.filter(isRead);
    const bodies = seen.length > MOST_BODIES ? [...readable, ...hubs] : seen;
    for (const node of bodies) room.take(bodyOf(node, camera), node);
    for (const node of wanted) push(placed, placeNode(context, node, camera, room, true));
    for (const node of hubs) if (!wanted.includes(node)) push(placed, placeHub(context, node, camera, room, hubs, placed));
    const most = Math.max(12, (camera.width * camera.height) / ROOM);
    placeEdges(context, scene, camera, marks, room, placed);
    const named = new Set([...wanted, ...hubs]);
    for (const node of readable.slice(0, TRIES)) {
      if (placed.length >= most) break;
      if (!named.has(node)) push(placed, placeNode(context, node, camera, room, false));
    }
    this.drawnAt = Object.assign(new Camera(), camera);
    return placed;
  }

  /** The circle whose name is at a point of the view, or null. */
  discAt({ x, y }) {
    const isOn = (name) => Math.abs(name.x - x) <= name.width / 2 - EDGE && Math.abs(name.y - y) <= name.height / 2 - EDGE;
    return this.placed.find((name) => name.disc && isOn(name))?.disc ?? null;
  }
}

// Named in any case: what the person points at, and the little that is lit. Then much that is lit, and then the rest.
function candidates(scene, { selected, hovered, lit }) {
  const wanted = [selected, hovered].filter((node) => node && !node.hidden);
  if (!lit) return { wanted, lit: [], others: scene.byWeight };
  const [bright, dim] = [[], []];
  for (const node of scene.byWeight) (lit.nodes.has(node) ? bright : dim).push(node);
  if (bright.length > LIT_NAMED) return { wanted, lit: [], others: [...bright, ...dim] };
  return { wanted, lit: bright.filter((node) => !wanted.includes(node)), others: dim };
}

function push(list, thing) {
  if (thing) list.push(thing);
}

function bodyOf(node, camera) {
  const { x, y } = camera.toScreen(node);
  const reach = node.radius * radiusScale(camera.k);
  return { left: x - reach, right: x + reach, top: y - reach, bottom: y + reach };
}

function placeNode(context, node, camera, room, anyway) {
  if (node.width === null) {
    context.font = FONT;
    node.width = context.measureText(labelOf(node)).width;
  }
  if (!node.width) return null;
  const { x, y } = camera.toScreen(node);
  const reach = node.radius * radiusScale(camera.k) + 3;
  const half = node.width / 2 + 2;
  for (const [across, right, along, down] of PLACES) {
    const dx = across * (right * reach + half);
    const dy = along * (down * reach + HEIGHT / 2);
    const box = { left: x + dx - half, right: x + dx + half, top: y + dy - HEIGHT / 2, bottom: y + dy + HEIGHT / 2 };
    if (!anyway && !room.isFree(box, node)) continue;
    room.take(box, node);
    return { node, dx, dy, box };
  }
  return null;
}

/** Beside a node, else farther from it; where all is full, over nodes that are connected less. */
function placeHub(context, node, camera, room, hubs, placed) {
  const found = placeNode(context, node, camera, room, false) ?? placeAway(node, camera, room);
  if (found) return found;
  const words = new Room(camera);
  for (const label of placed) words.take(label.box ?? boxOf(label));
  for (const hub of hubs) words.take(bodyOf(hub, camera), hub);
  const over = placeNode(context, node, camera, words, false) ?? placeAway(node, camera, words);
  if (over) room.take(over.box, node);
  return over;
}

/** Where there is no room beside a node that has been measured: farther from it, at the end of a line. */
function placeAway(node, camera, room) {
  const { x, y } = camera.toScreen(node);
  const half = node.width / 2 + 2;
  for (const { away, across, down } of node.width ? ways(AWAY) : []) {
    const [dx, dy] = [(away + half) * across, (away + HEIGHT / 2) * down];
    const box = { left: x + dx - half, right: x + dx + half, top: y + dy - HEIGHT / 2, bottom: y + dy + HEIGHT / 2 };
    if (!room.isFree(box, node)) continue;
    room.take(box, node);
    return { node, dx, dy, box, isAway: true };
  }
  return null;
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

/** Zoom from which the edges of a scene are named: on a map where its nodes are so many pixels apart. */
function nearOf({ spacing }) {
  return spacing ? NEAR_PIXELS / spacing : NEAR;
}

function namedEdges(scene, camera, { selected, hovered, hoveredEdge, lit }) {
  const edges = new Set(hoveredEdge ? [hoveredEdge] : []);
  for (const node of lit ? [hovered] : [hovered, selected]) for (const edge of node?.edges ?? []) edges.add(edge);
  for (const edge of lit?.edges ?? []) edges.add(edge);
  if (!lit && camera.k >= nearOf(scene)) for (const edge of scene.named) edges.add(edge);
  const seen = (edge) => !edge.unnamed && !edge.source.hidden && !edge.target.hidden && camera.sees(middleOf(edge));
  return [...edges].filter(seen).slice(0, MOST_EDGE_LABELS);
}

function paintLabel(context, { node, edge, text, dx, dy }, camera, theme, marks) {
  const at = camera.toScreen(edge ? middleOf(edge) : node);
  if (node) {
    const strong = node === marks.selected || node === marks.hovered;
    return paintWords(context, labelOf(node), at.x + dx, at.y + dy, strong ? `600 ${FONT}` : FONT, theme.text, theme);
  }
  return paintWords(context, text, at.x, at.y, SMALL_FONT, theme.quiet, theme);
}

function paintNodeLine(context, { node, dx, dy }, camera, theme, alpha) {
  const { x, y } = camera.toScreen(node);
  const begin = (node.radius * radiusScale(camera.k) + 1) / Math.hypot(dx, dy);
  const end = 1 - Math.min((node.width / 2 + 3) / Math.abs(dx), HEIGHT / 2 / Math.abs(dy));
  paintLine(context, { x: x + begin * dx, y: y + begin * dy }, { x: x + end * dx, y: y + end * dy }, theme, alpha);
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

/** Entities that are asked about at once. */
const MOST = 150;

/** Ids of the entities in view whose lines to others in view have no names yet; each is given once. */
export function unreadIn(scene, camera) {
  if (!scene.discs.length || camera.k < nearOf(scene)) return [];
  const seen = scene.byWeight.filter((node) => camera.sees(node)).slice(0, MOST);
  const inView = new Set(seen);
  const found = seen.filter((node) => !node.read && node.edges.some((edge) => edge.unnamed && inView.has(otherEnd(edge, node))));
  for (const node of found) node.read = true;
  return found.length ? seen.map(({ id }) => id) : [];
}
