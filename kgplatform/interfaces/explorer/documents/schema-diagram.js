// The schema as a diagram: its types in a ring, as large as they are frequent, and the relations between them with counts.

import { typeColor } from "../shared/colors.js";
import { count, readable, shortText } from "../shared/format.js";
import { svg } from "../shared/dom.js";
import { routeTo } from "../shared/router.js";

const [WIDTH, HEIGHT] = [640, 540];
const RING = { x: 215, y: 180 };
const MOST_TYPES = 16;
/** Relations that are named on one line between two types; the lists below the diagram have all. */
const NAMED = 2;
const [LEAST_RADIUS, MOST_RADIUS] = [11, 34];
/** Pixels of a letter, about, and from one line of words to the next. */
const [LETTER, LINE] = [6.4, 14];

/** An SVG of `types` [{ name, count }] and `relations` [{ head, type, tail, count }]; each leads to its part of the graph. */
export function schemaDiagram(types, relations) {
  const places = placed(inRing(types.slice(0, MOST_TYPES), relations));
  const lines = between(relations, places);
  const most = Math.max(1, ...lines.map(({ total }) => total));
  const taken = [...places.values()].flatMap((type) => [boxOf(type, 2 * type.radius, 2 * type.radius), boxOf(nameAt(type), LETTER * wordsOf(type).length, LINE)]);
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "schema-diagram", role: "group", "aria-label": "Diagram of the schema" },
    arrowhead(), lines.map((line) => curve(line, most)), [...places.values()].map(typeMark), lines.map((line) => words(line, taken)));
}

/** The order in the ring: each beside the one that it is joined to most. */
function inRing(types, relations) {
  const joined = (one, other) => relations.reduce((sum, { head, tail, count: number }) => sum + ((head === one && tail === other) || (head === other && tail === one) ? number : 0), 0);
  const waiting = types.map(({ name }) => name);
  const order = waiting.splice(0, 1);
  while (waiting.length) {
    const last = order.at(-1);
    const best = waiting.reduce((found, name) => (joined(last, name) > joined(last, found) ? name : found));
    order.push(...waiting.splice(waiting.indexOf(best), 1));
  }
  return order.map((name) => types.find((type) => type.name === name));
}

function placed(types) {
  const most = Math.max(1, ...types.map(({ count: number }) => number));
  return new Map(types.map((type, at) => {
    const angle = (2 * Math.PI * at) / types.length - Math.PI / 2;
    const radius = LEAST_RADIUS + (MOST_RADIUS - LEAST_RADIUS) * Math.sqrt(type.count / most);
    return [type.name, { ...type, angle, radius, x: WIDTH / 2 + RING.x * Math.cos(angle), y: HEIGHT / 2 + RING.y * Math.sin(angle) }];
  }));
}

/** One line from type to type, with its relations; the most frequent lines and relations first. */
function between(relations, places) {
  const lines = new Map();
  for (const { head, type, tail, count: number } of relations) {
    const [from, to] = [places.get(head), places.get(tail)];
    if (!from || !to) continue;
    const key = JSON.stringify([head, tail]);
    const line = lines.get(key) ?? { from, to, total: 0, relations: [] };
    line.total += number;
    line.relations.push({ type, count: number });
    lines.set(key, line);
  }
  return [...lines.values()].sort((one, other) => other.total - one.total);
}

/** Lines bend, so that those to and fro lie beside each other; from a type to itself it is a loop outside the ring. */
function shapeOf({ from, to }) {
  if (from === to) {
    const [dx, dy] = [Math.cos(from.angle), Math.sin(from.angle)];
    const out = from.radius + 52;
    const side = (sign) => `${from.x + dx * out - sign * dy * 40} ${from.y + dy * out + sign * dx * 40}`;
    return { path: `M${from.x} ${from.y}C${side(1)} ${side(-1)} ${from.x} ${from.y}`, middle: { x: from.x + dx * (from.radius + 40), y: from.y + dy * (from.radius + 32) } };
  }
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const bend = 24 + 0.08 * length;
  const lean = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  const last = Math.hypot(to.x - lean.x, to.y - lean.y);
  const part = Math.max(0, 1 - (to.radius + 4) / last);
  const tip = { x: lean.x + (to.x - lean.x) * part, y: lean.y + (to.y - lean.y) * part };
  return { path: `M${from.x} ${from.y}Q${lean.x} ${lean.y} ${tip.x} ${tip.y}`, middle: { x: (from.x + 2 * lean.x + to.x) / 4, y: (from.y + 2 * lean.y + to.y) / 4 } };
}

function curve(line, most) {
  const ends = line.from === line.to ? {} : { "marker-end": "url(#schema-arrow)" };
  return svg("path", { d: shapeOf(line).path, class: "schema-line", "stroke-width": (1 + 3 * Math.sqrt(line.total / most)).toFixed(1), ...ends });
}

function arrowhead() {
  return svg("marker", { id: "schema-arrow", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
    svg("path", { d: "M0 0 8 4 0 8z", class: "schema-arrow" }));
}

/** What a line says, where it has room: null where other words are. */
function words(line, taken) {
  const { middle } = shapeOf(line);
  const shown = line.relations.slice(0, NAMED);
  const texts = shown.map(({ type, count: number }) => `${readable(type)} ${count(number)}`);
  const box = boxOf(middle, LETTER * Math.max(...texts.map(({ length }) => length)), LINE * texts.length);
  if (taken.some((other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)) return null;
  taken.push(box);
  return svg("g", {}, shown.map(({ type, count: number }, at) =>
    svg("a", { href: routeTo("graph", { relation: type }), "aria-label": `${readable(type)}, ${count(number)} from ${line.from.name} to ${line.to.name}` },
      svg("text", { x: middle.x, y: middle.y + LINE * (at - (texts.length - 1) / 2) + 4, class: "schema-relation" }, texts[at]))));
}

function boxOf({ x, y }, width, height) {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

function wordsOf({ name, count: number }) {
  return `${shortText(name, 24)} ${count(number)}`;
}

function nameAt({ x, y, radius }) {
  return { x, y: y + radius + 12 };
}

function typeMark(type) {
  const { x, y } = nameAt(type);
  return svg("a", { href: routeTo("graph", { type: type.name }), "aria-label": `${type.name}, ${count(type.count)} entities` },
    svg("circle", { cx: type.x, cy: type.y, r: type.radius, fill: typeColor(type.name) }), svg("text", { x, y: y + 5, class: "schema-type" }, wordsOf(type)));
}
