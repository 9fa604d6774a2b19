// Puts discs, edges and nodes on a canvas, without words.

import { leaning, radiusScale } from "./geometry.js";

export const THEMES = {
  light: { surface: "#ffffff", text: "#171b21", quiet: "#55606f", edge: "#8a97a9", accent: "#1d5fd3", disc: "#5b6b82" },
  dark: { surface: "#0f141c", text: "#e6eaf0", quiet: "#a3afbe", edge: "#6a798e", accent: "#7cb0ff", disc: "#8fa1b8" },
};

const TURN = 2 * Math.PI;
/** Elements that are drawn between two looks at the clock. */
const PORTION = 250;
/** Zoom from which edges have arrowheads, and smallest radius in pixels of nodes with an outline. */
const ARROWS = 0.55;
const OUTLINED = 4;
/** Pixels between two nodes of a large map below which the lines between circles are drawn as bundles. */
const FAR = 11;
/** How opaque lines from one outermost circle to another are beside those that stay in one. */
const LONG = 0.3;

/** Draw all of a scene, in portions: between two of them the caller may stop to look at the clock. */
export function* paintScene(context, scene, camera, theme) {
  const isFar = seenFromFar(scene, camera);
  if (isFar) paintBundles(context, scene.bundles, camera, theme);
  paintDiscs(context, scene.discs, camera, theme);
  const still = (node) => !node.hidden && !scene.live.has(node);
  const edges = [...scene.edges.values()].filter(({ source, target }) => still(source) && still(target));
  const [near, long] = [[], []];
  for (const edge of edges) (leaves(edge) ? long : near).push(edge);
  const style = edgeStyle(scene, camera, theme);
  const layers = isFar ? [[near.filter(({ source, target }) => source.disc === target.disc), style]] : [[long, { ...style, alpha: style.alpha * LONG }], [near, style]];
  for (const [layer, how] of layers) {
    for (const portion of portions(layer)) {
      paintEdges(context, portion, camera, how);
      yield;
    }
  }
  for (const portion of portions(scene.byWeight.filter(still).reverse())) {
    paintNodes(context, portion, camera, theme);
    yield;
  }
}

/** Whether lines from circle to circle would be a tangle: then bundles say which circles are joined. */
function seenFromFar({ isLarge, spacing }, { k }) {
  return isLarge && spacing * k > 0 && spacing * k < FAR;
}

function leaves({ source, target, unnamed }) {
  return unnamed && source.region !== target.region;
}

function* portions(list) {
  for (let at = 0; at < list.length; at += PORTION) yield list.slice(at, at + PORTION);
}

/** How edges look that nobody points at: the more there are, the fainter. */
export function edgeStyle(scene, camera, theme) {
  const crowd = Math.min(1, scene.edges.size / 20000);
  const alpha = Math.min(0.75, (0.65 - 0.45 * crowd) * Math.min(1.6, Math.max(0.6, Math.sqrt(camera.k) * 1.2)));
  return { color: theme.edge, alpha, width: scene.isLarge ? 1 : 1.2, arrows: !scene.isLarge && camera.k >= ARROWS };
}

/** Draw edges in one colour. Lines of a map have no arrowheads: they say nothing of a direction. */
export function paintEdges(context, edges, camera, { color, alpha, width, arrows }) {
  context.save();
  context.globalAlpha *= alpha;
  context.strokeStyle = color;
  context.lineWidth = width;
  context.beginPath();
  for (const edge of edges) {
    if (passesBy(edge, camera)) continue;
    traceEdge(context, edge, camera);
  }
  context.stroke();
  if (arrows) {
    context.fillStyle = color;
    context.beginPath();
    for (const edge of edges) if (!edge.unnamed && !passesBy(edge, camera)) traceArrow(context, edge, camera, width);
    context.fill();
  }
  context.restore();
}

// Written out for speed: a map has tens of thousands of edges.
function traceEdge(context, edge, camera) {
  const { source, target } = edge;
  const [left, top] = [camera.width / 2 - camera.x * camera.k, camera.height / 2 - camera.y * camera.k];
  context.moveTo(source.x * camera.k + left, source.y * camera.k + top);
  if (edge.bend) {
    const lean = leaning(edge);
    context.quadraticCurveTo(lean.x * camera.k + left, lean.y * camera.k + top, target.x * camera.k + left, target.y * camera.k + top);
  } else {
    context.lineTo(target.x * camera.k + left, target.y * camera.k + top);
  }
}

function passesBy({ source, target }, { x, y, k, width, height }) {
  const [across, down] = [width / 2 / k + 40, height / 2 / k + 40];
  return (
    (source.x < x - across && target.x < x - across) || (source.x > x + across && target.x > x + across) ||
    (source.y < y - down && target.y < y - down) || (source.y > y + down && target.y > y + down)
  );
}

function traceArrow(context, edge, camera, width) {
  const tip = camera.toScreen(edge.target);
  const from = camera.toScreen(edge.bend ? leaning(edge) : edge.source);
  const angle = Math.atan2(tip.y - from.y, tip.x - from.x);
  const reach = edge.target.radius * radiusScale(camera.k) + 1.5;
  const [x, y] = [tip.x - reach * Math.cos(angle), tip.y - reach * Math.sin(angle)];
  const size = 5 + width * 1.5;
  context.moveTo(x, y);
  context.lineTo(x - size * Math.cos(angle - 0.42), y - size * Math.sin(angle - 0.42));
  context.lineTo(x - size * Math.cos(angle + 0.42), y - size * Math.sin(angle + 0.42));
  context.closePath();
}

/** Draw nodes in their colours. `ring`: colour of a line around each. */
export function paintNodes(context, nodes, camera, theme, { ring = null, grown = 1 } = {}) {
  const scale = radiusScale(camera.k) * grown;
  for (const node of nodes) {
    if (!camera.sees(node)) continue;
    const { x, y } = camera.toScreen(node);
    const radius = Math.max(1.2, node.radius * scale);
    context.beginPath();
    traceShape(context, node.shape, x, y, radius);
    context.fillStyle = node.color;
    context.fill();
    if (radius >= OUTLINED) {
      context.lineWidth = 1.5;
      context.strokeStyle = theme.surface;
      context.stroke();
    }
    if (ring) paintRing(context, node.shape, x, y, radius, ring);
  }
}

function paintRing(context, shape, x, y, radius, color) {
  context.beginPath();
  traceShape(context, shape, x, y, radius + 3);
  context.lineWidth = 2.5;
  context.strokeStyle = color;
  context.stroke();
}

function traceShape(context, shape, x, y, radius) {
  if (shape === "circle") {
    context.arc(x, y, radius, 0, TURN);
  } else if (shape === "square") {
    context.rect(x - radius * 0.85, y - radius * 0.85, radius * 1.7, radius * 1.7);
  } else {
    traceCorners(context, CORNERS[shape], x, y, radius);
  }
}

// [corners, angle of the first, size beside that of a circle]
const CORNERS = { diamond: [4, 0, 1.15], triangle: [3, -TURN / 4, 1.2], hexagon: [6, -TURN / 4, 1.08] };

function traceCorners(context, [corners, first, size], x, y, radius) {
  for (let at = 0; at < corners; at += 1) {
    const angle = first + (at * TURN) / corners;
    const [px, py] = [x + radius * size * Math.cos(angle), y + radius * size * Math.sin(angle)];
    if (at) context.lineTo(px, py);
    else context.moveTo(px, py);
  }
  context.closePath();
}

function paintBundles(context, bundles, camera, theme) {
  context.save();
  context.strokeStyle = theme.disc;
  context.globalAlpha = 0.3;
  context.lineCap = "round";
  for (const { source, target, weight } of bundles) {
    const [from, to] = [camera.toScreen(source), camera.toScreen(target)];
    context.lineWidth = Math.min(9, 0.8 + Math.sqrt(weight) * Math.min(1, 2.5 * camera.k));
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
  }
  context.restore();
}

/** Outermost circles hide the bundles behind them. */
function paintDiscs(context, discs, camera, theme) {
  context.save();
  context.lineWidth = 1;
  for (const disc of discs) {
    const { x, y } = camera.toScreen(disc);
    context.beginPath();
    context.arc(x, y, disc.radius * camera.k, 0, TURN);
    if (!disc.level) {
      context.globalAlpha = 1;
      context.fillStyle = theme.surface;
      context.fill();
    }
    context.fillStyle = context.strokeStyle = theme.disc;
    context.globalAlpha = 0.07;
    context.fill();
    context.globalAlpha = disc.level ? 0.22 : 0.4;
    context.stroke();
  }
  context.restore();
}
