// Puts discs, edges and nodes on a canvas, without words.

import { Camera } from "./camera.js";
import { Labels } from "./labels.js";
import { isSeen, leaning, radiusScale } from "./scene.js";

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
const DASHES = [2, 4];
/** Pixels between two nodes of a large map below which the lines between circles are drawn as bundles. */
const FAR = 11;
/** How opaque lines from one outermost circle to another are beside those that stay in one. */
const LONG = 0.3;

/** Draw all of a scene, in portions: between two of them the caller may stop to look at the clock. */
export function* paintScene(context, scene, camera, theme) {
  // From afar lines from circle to circle would be a tangle: then bundles say which circles are joined.
  const pixels = scene.spacing * camera.k;
  const isFar = scene.isLarge && pixels > 0 && pixels < FAR;
  if (isFar) paintBundles(context, scene.bundles, camera, theme);
  paintDiscs(context, scene.discs, camera, theme);
  const still = (node) => !node.hidden && !scene.live.has(node);
  const [near, long] = [[], []];
  for (const edge of scene.edges.values()) {
    const { source, target, unnamed } = edge;
    if (still(source) && still(target) && isSeen(edge)) (unnamed && source.region !== target.region ? long : near).push(edge);
  }
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
  for (const dashes of [[], DASHES]) { // what says no time is dashed
    context.beginPath();
    context.setLineDash(dashes);
    for (const edge of edges) if ((edge.state === "untimed") === (dashes === DASHES) && !passesBy(edge, camera)) traceEdge(context, edge, camera);
    context.stroke();
  }
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
export function paintNodes(context, nodes, camera, theme, { ring = null } = {}) {
  const scale = radiusScale(camera.k);
  for (const node of nodes) {
    if (!camera.sees(node)) continue;
    const { x, y } = camera.toScreen(node);
    const radius = Math.max(1.2, node.radius * scale);
    traceShape(context, node.shape, x, y, radius);
    context.fillStyle = node.color;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = theme.surface;
    if (radius >= OUTLINED) context.stroke();
    if (!ring) continue;
    traceShape(context, node.shape, x, y, radius + 3);
    context.lineWidth = 2.5;
    context.strokeStyle = ring;
    context.stroke();
  }
}

// [corners, angle of the first, size beside that of a circle]
const CORNERS = { diamond: [4, 0, 1.15], triangle: [3, -TURN / 4, 1.2], hexagon: [6, -TURN / 4, 1.08] };

function traceShape(context, shape, x, y, radius) {
  context.beginPath();
  if (shape === "circle") return context.arc(x, y, radius, 0, TURN);
  if (shape === "square") return context.rect(x - radius * 0.85, y - radius * 0.85, radius * 1.7, radius * 1.7);
  const [corners, first, size] = CORNERS[shape];
  for (let at = 0; at < corners; at += 1) {
    const angle = first + (at * TURN) / corners;
    context.lineTo(x + radius * size * Math.cos(angle), y + radius * size * Math.sin(angle));
  }
  return context.closePath();
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

// A large graph is drawn in slices to a picture beside the screen. While people pan and zoom, that picture moves, and a
// new one is drawn; so a frame takes about as long with ten thousand nodes as with ten.

/** Part of the view that the picture has more on each side, so that panning does not show its end at once. */
const MARGIN = 0.2;
/** Milliseconds of a frame for drawing: with something on the screen, and with nothing yet. */
const SLICE = 10;
const FIRST_SLICE = 32;

export class Picture {
  constructor() {
    this.clear();
  }

  /** Forget what was drawn: it is of another graph. */
  clear() {
    this.shown = null;
    this.work = null;
  }

  /** Put the picture on the canvas as the camera sees it, then draw on at a new one if this one is out of date. */
  paint(context, scene, camera, theme, density) {
    this.#begin(scene, camera, theme, density);
    if (this.work) this.#draw(this.shown ? SLICE : FIRST_SLICE);
    const { canvas, camera: drawn } = this.shown ?? this.work;
    const [{ x, y }, scale] = [camera.toScreen(drawn), camera.k / drawn.k];
    const [width, height] = [drawn.width * scale, drawn.height * scale];
    context.drawImage(canvas, x - width / 2, y - height / 2, width, height);
    // The camera may have gone on since what is done now was begun.
    this.#begin(scene, camera, theme, density);
  }

  #begin(scene, camera, theme, density) {
    const isOf = (sheet) => sheet && sheet.version === scene.version && sheet.theme === theme && sheet.density === density;
    if (this.work && isOf(this.work)) return;
    this.work = null;
    if (isOf(this.shown) && covers(this.shown.camera, camera)) return;
    const part = 1 + 2 * MARGIN;
    const { x, y, k, width, height } = camera;
    const wider = Object.assign(new Camera(), { x, y, k, width: Math.ceil(width * part), height: Math.ceil(height * part) });
    const canvas = Object.assign(document.createElement("canvas"), { width: wider.width * density, height: wider.height * density });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.scale(density, density);
    this.work = { canvas, context, camera: wider, steps: paintScene(context, scene, wider, theme), version: scene.version, theme, density };
  }

  #draw(budget) {
    const end = performance.now() + budget;
    let step;
    do {
      step = this.work.steps.next();
      // Browsers put drawing off until someone looks: this look makes the clock tell the truth.
      this.work.context.getImageData(0, 0, 1, 1);
    } while (!step.done && performance.now() < end);
    if (!step.done) return;
    this.shown = this.work;
    this.work = null;
  }
}

function covers(sheet, camera) {
  if (sheet.k !== camera.k) return false;
  const [across, down] = [Math.abs(sheet.x - camera.x) * camera.k, Math.abs(sheet.y - camera.y) * camera.k];
  return across <= (sheet.width - camera.width) / 2 && down <= (sheet.height - camera.height) / 2;
}

const FINER = 2;

/** What a GraphView shows, with its background, at twice the size: a promise of a PNG as a Blob. */
export function pictureOf(view) {
  const { camera, scene, theme, marks } = view;
  const canvas = Object.assign(document.createElement("canvas"), { width: camera.width * FINER, height: camera.height * FINER });
  const context = canvas.getContext("2d");
  context.scale(FINER, FINER);
  context.globalAlpha = marks.restAlpha;
  for (const _ of paintScene(context, scene, camera, theme));
  context.globalAlpha = 1;
  view.paintMarked(context);
  new Labels().paint(context, scene, camera, theme, marks, { moving: false, now: 0 });
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, camera.width, camera.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
