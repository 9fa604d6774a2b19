// The words on the picture: which of them have room, and where.

import { shortText } from "../shared/format.js";
import { isSeen, labelOf, middleOf, otherEnd, radiusScale } from "./scene.js";

const FAMILY = 'system-ui, -apple-system, "Segoe UI", sans-serif';
const FONT = `12px ${FAMILY}`;
const SMALL_FONT = `11px ${FAMILY}`;
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
/** How many pixels away from its node, or from its circle, a name may be, in which steps and in how many directions it is tried. */
const NODE_AWAY = { nearest: 22, farthest: 82, step: 20, directions: 12 };
const DISC_AWAY = { nearest: 6, farthest: 132, step: 14, directions: 16 };
/** Pixels within a name's plate that are not pressed with it: a node may be seen there. */
const EDGE = 3;
/** Of more nodes in view than these, only those that can be read keep words off. */
const MOST_BODIES = 2500;
const MOST_EDGE_LABELS = 60;
/** So few that are lit are named in any case. */
const LIT_NAMED = 16;
/** Zoom from which edges are named, and on a map the pixels from node to node. */
const [NEAR, NEAR_PIXELS] = [1.2, 54];
/** Entities whose relations are asked for at once. */
const MOST_ASKED = 150;
/** A moving picture keeps its labels for so many milliseconds. */
const KEPT = 180;

/**
 * A label is { node, disc or edge, dx, dy, width, height, box }: what it names, how many pixels its middle is away from the
 * middle of that, and the rectangle that it took when it was placed; `line` [x, y, x, y]: from what it names to where it stands.
 */
export class Labels {
  constructor() {
    this.placed = [];
    this.chosenAt = -Infinity;
  }

  /** Draw the words on a picture. `marks`: see GraphView; `moving`: whether the next frame is another one. */
  paint(context, scene, camera, theme, marks, { moving, now }) {
    const kept = moving && now - this.chosenAt < KEPT && this.of === scene.version;
    if (!kept) Object.assign(this, { placed: chosen(context, scene, camera, marks), chosenAt: now, of: scene.version });
    context.lineJoin = "round";
    context.textBaseline = "middle";
    context.textAlign = "center";
    const shown = this.placed.map((label) => {
      const { node, disc, edge } = label;
      const isDimmed = marks.lit && !edge && !marks.lit.nodes.has(node);
      return { label, at: camera.toScreen(edge ? middleOf(edge) : node ?? disc), alpha: isDimmed ? marks.restAlpha : 1 };
    });
    Object.assign(context, { strokeStyle: theme.quiet, lineWidth: 1 });
    for (const { label: { line }, at, alpha } of shown.filter(({ label }) => label.line)) {
      context.globalAlpha = alpha;
      context.beginPath();
      context.moveTo(at.x + line[0], at.y + line[1]);
      context.lineTo(at.x + line[2], at.y + line[3]);
      context.stroke();
    }
    for (const { label, at, alpha } of shown) {
      const [x, y] = [at.x + label.dx, at.y + label.dy];
      if (label.disc) paintPlate(context, label, x, y, theme, alpha);
      else paintWords(context, label, x, y, theme, alpha, label.node && (label.node === marks.selected || label.node === marks.hovered));
    }
    context.globalAlpha = 1;
  }

  /** The circle whose name is at a point of the view, or null. */
  discAt({ x, y }) {
    const isOn = ({ left, right, top, bottom }) => x >= left + EDGE && x <= right - EDGE && y >= top + EDGE && y <= bottom - EDGE;
    return this.placed.find(({ disc, box }) => disc && isOn(box))?.disc ?? null;
  }
}

/** The labels of a picture as it is. */
function chosen(context, scene, camera, marks) {
  const room = new Room(camera);
  const placed = placeDiscNames(context, scene.discs, camera, room);
  const { wanted, lit, others } = candidates(scene, marks);
  const name = (node, { away = false, anyway = false, among = room } = {}) => {
    const label = place({ node }, camera.toScreen(node), namesOf(context, node, camera, away), among, { owner: node, anyway });
    if (label) placed.push(label);
    return label;
  };
  const takeBody = (node, among = room) => {
    const [{ x, y }, size] = [camera.toScreen(node), 2 * node.radius * radiusScale(camera.k)];
    among.take(boxOf(x, y, size, size), node);
  };
  for (const node of lit) takeBody(node);
  // Over what is dimmed, too; if need be at the end of a line, or over each other.
  for (const node of lit) name(node, { away: true }) ?? name(node, { anyway: true });
  // From afar the circles are named; what is in one is when it can be read.
  const open = scene.discs.map((disc) => isOpen(disc, camera));
  const isRead = ({ disc }) => marks.lit || !disc || open[disc.at];
  const seen = others.filter((node) => camera.sees(node));
  // What is connected most has its name at every distance, if need be at the end of a line; then what can be read.
  const isSaid = (node) => !isRead(node) && [node.disc, node.region].some(({ label }) => label.includes(labelOf(node)));
  const area = camera.width * camera.height;
  const hubs = marks.lit ? [] : seen.slice(0, Math.ceil(area / HUB_ROOM)).filter((node) => !isSaid(node));
  const readable = seen.filter(isRead);
  for (const node of seen.length > MOST_BODIES ? [...readable, ...hubs] : seen) takeBody(node);
  for (const node of wanted) name(node, { anyway: true });
  for (const node of hubs) {
    if (wanted.includes(node) || name(node, { away: true })) continue;
    // Where all is full: over nodes that are connected less.
    const words = new Room(camera);
    for (const { box } of placed) words.take(box);
    for (const hub of hubs) takeBody(hub, words);
    const over = name(node, { away: true, among: words });
    if (over) room.take(over.box, node);
  }
  placeEdges(context, scene, camera, marks, room, placed);
  const most = Math.max(12, area / ROOM);
  const named = new Set([...wanted, ...hubs]);
  for (const node of readable.slice(0, TRIES)) {
    if (placed.length >= most) break;
    if (!named.has(node)) name(node);
  }
  return placed;
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

/**
 * The first of `names` ({ dx, dy, width, height, … }) that has room round `at`, and takes it, as a label of `named`; null where
 * none has. `anyway`: the first of all; `suits(name)`: whether one may be taken.
 */
function place(named, at, names, room, { owner, anyway = false, suits = () => true } = {}) {
  for (const name of names) {
    if (!name || !suits(name)) continue;
    const box = boxOf(at.x + name.dx, at.y + name.dy, name.width, name.height);
    if (!anyway && !room.isFree(box, owner)) continue;
    room.take(box, owner);
    return { ...named, ...name, box };
  }
  return null;
}

const boxOf = (x, y, width, height) => ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 });

/** Places of a node's name: beside it and, with `away`, farther from it, at the end of a line. */
function* namesOf(context, node, camera, away) {
  if (node.width === null) {
    context.font = FONT;
    node.width = context.measureText(labelOf(node)).width;
  }
  if (!node.width) return;
  const [width, height] = [node.width + 4, HEIGHT];
  const reach = node.radius * radiusScale(camera.k);
  for (const [across, right, along, down] of PLACES) {
    yield { dx: across * (right * (reach + 3) + width / 2), dy: along * (down * (reach + 3) + height / 2), width, height };
  }
  for (const { distance, across, down } of away ? ways(NODE_AWAY) : []) {
    const [dx, dy] = [(distance + width / 2) * across, (distance + height / 2) * down];
    const begin = (reach + 1) / Math.hypot(dx, dy);
    const end = 1 - Math.min((node.width / 2 + 3) / Math.abs(dx), HEIGHT / 2 / Math.abs(dy));
    yield { dx, dy, width, height, line: [begin * dx, begin * dy, end * dx, end * dy] };
  }
}

function placeEdges(context, scene, camera, marks, room, placed) {
  context.font = SMALL_FONT;
  for (const edge of namedEdges(scene, camera, marks)) {
    const text = shortText(edge.data.label || edge.data.type, 32);
    const { x, y } = camera.toScreen(middleOf(edge));
    const box = boxOf(x, y, context.measureText(text).width + 4, 14);
    const isLong = 2 * Math.hypot(edge.target.x - edge.source.x, edge.target.y - edge.source.y) * camera.k > box.right - box.left + 40;
    if (edge !== marks.hoveredEdge && !(isLong && room.isFree(box))) continue;
    room.take(box);
    placed.push({ edge, text, dx: 0, dy: 0, box });
  }
}

/** Zoom from which the edges of a scene are named: on a map where its nodes are so many pixels apart. */
const nearOf = ({ spacing }) => spacing ? NEAR_PIXELS / spacing : NEAR;

function namedEdges(scene, camera, { selected, hovered, hoveredEdge, lit }) {
  const edges = new Set(hoveredEdge ? [hoveredEdge] : []);
  for (const node of lit ? [hovered] : [hovered, selected]) for (const edge of node?.edges ?? []) edges.add(edge);
  for (const edge of lit?.edges ?? []) edges.add(edge);
  if (!lit && camera.k >= nearOf(scene)) for (const edge of scene.named) edges.add(edge);
  const seen = (edge) => !edge.unnamed && isSeen(edge) && camera.sees(middleOf(edge));
  return [...edges].filter(seen).slice(0, MOST_EDGE_LABELS);
}

/** Ids of the entities in view whose lines to others in view have no names yet; each is given once. */
export function unreadIn(scene, camera) {
  if (!scene.discs.length || camera.k < nearOf(scene)) return [];
  const seen = scene.byWeight.filter((node) => camera.sees(node)).slice(0, MOST_ASKED);
  const inView = new Set(seen);
  const found = seen.filter((node) => !node.read && node.edges.some((edge) => edge.unnamed && inView.has(otherEnd(edge, node))));
  for (const node of found) node.read = true;
  return found.length ? seen.map(({ id }) => id) : [];
}

// With an edge of the background's colour, so that they can be read over lines.
function paintWords(context, { node, text }, x, y, theme, alpha, strong) {
  const words = node ? labelOf(node) : text;
  context.globalAlpha = alpha;
  context.font = `${strong ? "600 " : ""}${node ? FONT : SMALL_FONT}`;
  context.lineWidth = 3.5;
  context.strokeStyle = theme.surface;
  context.strokeText(words, x, y);
  context.fillStyle = node ? theme.text : theme.quiet;
  context.fillText(words, x, y);
}

/** The name of a circle on a plate of the background's colour, through which what lies below is still seen a little. */
function paintPlate(context, { lines, font, size, width, height, inside }, x, y, theme, alpha) {
  context.globalAlpha = alpha * (inside ? 0.84 : 0.92);
  context.fillStyle = theme.surface;
  context.beginPath();
  context.roundRect(x - width / 2, y - height / 2, width, height, 6);
  context.fill();
  context.globalAlpha = alpha;
  context.font = font;
  context.fillStyle = inside ? theme.text : theme.quiet;
  lines.forEach((line, at) => context.fillText(line, x, y + (at - (lines.length - 1) / 2) * size * 1.15));
}

// The names of circles: in the middle of those whose parts cannot be read yet, at the upper edge of the others. An outermost
// circle that has no room for its name has it beside it, at the end of a line.

/** Pixels of a letter in the middle of a circle, and at its edge. */
const [SMALLEST, LARGEST] = [11, 22];
const [EDGE_SMALLEST, EDGE_LARGEST] = [12, 17];
/** Radius in pixels from which a circle inside of another is named. */
const LEAST_RADIUS = 20;
/** Of names beside a circle: [width, lines]. */
const BESIDE = [[130, 2], [90, 2], [70, 1]];
/** A circle is open when it has this radius and its entities are so far apart, or its inner circles have such a radius. */
const [OPEN_RADIUS, OPEN_ENTITIES] = [52, 15];
const OPEN_CIRCLES = 44;
/** Width of a space in a font of one pixel, about, and of how many names the widths are kept. */
const SPACE = 0.35;
const MOST_MEASURED = 5000;

/** Whether what is in a circle can be read, so that its own name makes way. */
const isOpen = ({ pitch, hasInner, radius }, { k }) => hasInner ? pitch * k >= OPEN_CIRCLES : pitch * k >= OPEN_ENTITIES && radius * k >= OPEN_RADIUS;

/** Labels of the circles that have room, outer ones first, with { lines, font, size, inside }. */
function placeDiscNames(context, discs, camera, room) {
  const open = discs.map((disc) => isOpen(disc, camera));
  const isReached = ({ around }) => around < 0 || (open[around] && isReached(discs[around]));
  /** A circle as it is in the view; `isAround`: so near that it is all around the view. */
  const inView = (disc) => ({ ...camera.toScreen(disc), disc, radius: disc.radius * camera.k, isAround: disc.radius * camera.k > 0.75 * Math.max(camera.width, camera.height) });
  const isSeen = ({ x, y, radius, disc }) => (radius >= LEAST_RADIUS || !disc.level) && x > -radius && x < camera.width + radius && y > -radius && y < camera.height + radius;
  const seen = discs.filter(isReached).map(inView).filter(isSeen)
    .sort(({ disc: one }, { disc: other }) => one.level - other.level || other.radius - one.radius || one.at - other.at);
  const placed = [];
  const put = (circle, names, suits) => {
    const label = place({ disc: circle.disc }, circle, names, room, { suits });
    if (label) placed.push(label);
    return label;
  };
  const closed = seen.filter((circle) => !open[circle.disc.at] && !put(circle, [inMiddle(context, circle)]));
  const opened = seen.filter((circle) => open[circle.disc.at] && !put(circle, atEdges(context, circle)));
  const outermost = seen.filter(({ disc }) => !disc.level);
  for (const circle of [...closed, ...opened]) {
    if (circle.disc.level || circle.isAround) continue;
    const hasMiddle = circle.x >= 0 && circle.y >= 0 && circle.x <= camera.width && circle.y <= camera.height;
    const beside = () => (hasMiddle ? namesBeside(context, circle) : []);
    // Over another circle only where there is no room between them: it would seem to be that one's.
    const isApart = ({ dx, dy, width, height }) => {
      const { left, right, top, bottom } = boxOf(circle.x + dx, circle.y + dy, width, height);
      return !outermost.some(({ x, y, radius }) => Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom)) < radius - 2);
    };
    put(circle, namesAcross(context, circle)) ?? put(circle, beside(), isApart) ?? put(circle, beside());
  }
  return placed;
}

function inMiddle(context, { disc: { label }, radius }) {
  const inside = { dx: 0, dy: 0, inside: true };
  const fitted = (words, size, lines) => wrapped(context, words, size, 2 * Math.sqrt(Math.max(0, radius ** 2 - (0.58 * lines * size) ** 2)), lines);
  for (let size = Math.min(LARGEST, radius / 4); size > SMALLEST; size *= 0.88) {
    const name = [1, 2, 3].map((lines) => fitted(label, size, lines)).find((each) => each && !each.isCut);
    if (name) return { ...name, ...inside };
  }
  const short = [1, 2, 3].map((lines) => fitted(label, SMALLEST, lines)).filter(Boolean);
  const cut = short.find(({ isCut }) => !isCut) ?? short.at(-1) ?? [8, 6].map((letters) => fitted(shortText(label, letters), SMALLEST, 1)).find(Boolean);
  return cut && { ...cut, ...inside };
}

/** Over the middle of a small circle, a little wider than it is. */
function namesAcross(context, { disc: { label }, radius }) {
  const long = [2, 1].map((lines) => wrapped(context, label, SMALLEST, Math.max(2.4 * radius, 46), lines));
  const short = [8, 6].map((letters) => wrapped(context, shortText(label, letters), SMALLEST, 60, 1));
  return [...long, ...short].filter(Boolean).flatMap((name) => [0, -0.5, 0.5, -0.9, 0.9].map((down) => ({ ...name, dx: 0, dy: down * radius, inside: true })));
}

/** Around a circle: the nearer and the longer the better. */
function* namesBeside(context, { disc: { label }, radius }) {
  for (const [width, lines] of BESIDE) {
    const name = wrapped(context, label, SMALLEST, width, lines) ?? wrapped(context, shortText(label, 10), SMALLEST, width, 1);
    for (const { distance, across, down } of name ? ways(DISC_AWAY) : []) {
      const [dx, dy] = [(radius + distance + name.width / 2) * across, (radius + distance + name.height / 2) * down];
      yield { ...name, dx, dy, inside: true, line: [radius * across, radius * down, dx, dy] };
    }
  }
}

/** Above a circle, else below it, else in its upper or lower part, else in its middle. */
function atEdges(context, circle) {
  const { disc, y, radius, isAround } = circle;
  const size = Math.min(EDGE_LARGEST, Math.max(EDGE_SMALLEST, radius / 12));
  const name = isAround ? null : wrapped(context, disc.label, size, Math.max(110, 1.8 * radius), 2);
  if (!name) return [];
  const away = radius + name.height / 2 - size;
  const above = Math.min(Math.max(-away, name.height / 2 + 2 - y), radius / 2);
  return [...[above, away, -0.6 * radius, 0.6 * radius].map((dy) => ({ ...name, dx: 0, dy, inside: false })), inMiddle(context, circle)];
}

/** A name on at most `most` lines of at most `width` pixels, cut where it has more; null where no word fits. */
function wrapped(context, label, size, width, most) {
  const words = wordsOf(context, label);
  const font = fontOf(size);
  const lines = [];
  let at = 0;
  while (at < words.length && lines.length < most) {
    let [text, wide] = [words[at].text, words[at].width * size];
    if (wide > width) break;
    for (at += 1; at < words.length && wide + (SPACE + words[at].width) * size <= width; at += 1) {
      wide += (SPACE + words[at].width) * size;
      text += ` ${words[at].text}`;
    }
    lines.push({ text, wide });
  }
  if (!lines.length) return null;
  const isCut = at < words.length;
  if (isCut) lines.at(-1).text = `${lines.at(-1).text.replace(/[\s,.;:]+$/, "")}…`;
  const widest = Math.max(...lines.map(({ wide }) => wide)) + (isCut ? 0.6 * size : 0);
  return { lines: lines.map(({ text }) => text), font, size, width: widest + 8, height: lines.length * size * 1.15 + 4, isCut };
}

/** The words of a name with their widths in a font of one pixel: they are measured once. */
const measured = new Map();

function wordsOf(context, label) {
  if (measured.has(label)) return measured.get(label);
  if (measured.size > MOST_MEASURED) measured.clear();
  context.font = fontOf(100);
  const words = label.split(" ").map((text) => ({ text, width: context.measureText(text).width / 100 }));
  measured.set(label, words);
  return words;
}

const fontOf = (size) => `650 ${Math.round(10 * size) / 10}px ${FAMILY}`;

const SIDE = 48;

/** What of a view is taken by words and nodes, in squares: to ask for a place costs the same however much is taken. */
class Room {
  constructor({ width, height }) {
    Object.assign(this, { width, height, columns: Math.ceil(width / SIDE) + 1, rows: Math.ceil(height / SIDE) + 1, squares: [] });
  }

  /** `box`: { left, right, top, bottom } in pixels; `owner`: who asks for a place is not in its own way. */
  take({ left, right, top, bottom }, owner = null) {
    const taken = { left, right, top, bottom, owner };
    this.#isAny(taken, (square, at) => void (square ?? (this.squares[at] = [])).push(taken));
  }

  isFree({ left, right, top, bottom }, owner) {
    if (left < 0 || top < 0 || right > this.width || bottom > this.height) return false;
    return !this.#isAny({ left, right, top, bottom }, (square) => {
      for (let at = 0; at < (square?.length ?? 0); at += 1) {
        const other = square[at];
        if (other.left < right && left < other.right && other.top < bottom && top < other.bottom && other.owner !== owner) return true;
      }
      return false;
    });
  }

  /** Whether `says(square, place)` of any square that a rectangle touches. Loops are written out, since they are run so often. */
  #isAny({ left, right, top, bottom }, says) {
    const [firstRow, firstColumn] = [Math.max(0, Math.floor(top / SIDE)), Math.max(0, Math.floor(left / SIDE))];
    const [lastRow, lastColumn] = [Math.min(this.rows - 1, Math.floor(bottom / SIDE)), Math.min(this.columns - 1, Math.floor(right / SIDE))];
    for (let row = firstRow; row <= lastRow; row += 1) {
      for (let column = firstColumn; column <= lastColumn; column += 1) {
        const at = row * this.columns + column;
        if (says(this.squares[at], at)) return true;
      }
    }
    return false;
  }
}

/** Directions and distances, the nearest first: { distance, across, down }, the last two of a vector of length 1. */
function* ways({ nearest, farthest, step, directions }) {
  for (let distance = nearest; distance <= farthest; distance += step) {
    for (let turn = 0; turn < directions; turn += 1) {
      const angle = (turn * 2 * Math.PI) / directions;
      yield { distance, across: Math.cos(angle), down: Math.sin(angle) };
    }
  }
}
