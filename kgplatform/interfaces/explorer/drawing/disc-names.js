// The names of circles: in the middle of those whose parts cannot be read yet, at the upper edge of the others. An
// outermost circle that has no room for its name has it beside it, at the end of a line.

import { paintLine, ways } from "./room.js";
import { shortText } from "../shared/format.js";

const FAMILY = 'system-ui, -apple-system, "Segoe UI", sans-serif';
/** Pixels of a letter in the middle of a circle, and at its edge. */
const [SMALLEST, LARGEST] = [11, 22];
const [EDGE_SMALLEST, EDGE_LARGEST] = [12, 17];
/** Radius in pixels from which a circle inside of another is named. */
const LEAST_RADIUS = 20;
/** Of names beside a circle: [width, lines], how many pixels they are away from it, and in how many directions they are tried. */
const BESIDE = [[130, 2], [90, 2], [70, 1]];
const AWAY = { nearest: 6, farthest: 132, step: 14, directions: 16 };
/** A circle is open when it has this radius and its entities are so far apart, or its inner circles have such a radius. */
const [OPEN_RADIUS, OPEN_ENTITIES] = [52, 15];
const OPEN_CIRCLES = 44;
const MOST_LINES = 3;
/** Width of a space in a font of one pixel, about, and of how many names the widths are kept. */
const SPACE = 0.35;
const MOST_MEASURED = 5000;

/** Whether what is in a circle can be read, so that its own name makes way. */
export function isOpen({ pitch, hasInner, radius }, { k }) {
  return hasInner ? pitch * k >= OPEN_CIRCLES : pitch * k >= OPEN_ENTITIES && radius * k >= OPEN_RADIUS;
}

/**
 * Names of circles that have room: { disc, lines, font, size, x, y, width, height, inside }, outer circles first; beside a
 * circle also `from`, where a line to it begins.
 */
export function placeDiscNames(context, discs, camera, room) {
  const open = discs.map((disc) => isOpen(disc, camera));
  const isReached = ({ around }) => around < 0 || (open[around] && isReached(discs[around]));
  const seen = discs.filter((disc) => isInView(disc, camera) && isReached(disc)).sort((one, other) => one.level - other.level || other.radius - one.radius || one.at - other.at);
  const placed = [];
  const put = (disc, names) => {
    for (const name of names) {
      if (!name || !room.isFree(boxOf(name))) continue;
      room.take(boxOf(name));
      placed.push({ disc, ...name });
      return true;
    }
    return false;
  };
  const start = sharedStart(discs);
  const closed = seen.filter((disc) => !open[disc.at] && !put(disc, [inMiddle(context, disc, camera, start)]));
  const opened = seen.filter((disc) => open[disc.at] && !put(disc, atEdges(context, disc, camera, start)));
  const outermost = seen.filter(({ level }) => !level);
  for (const disc of [...closed, ...opened]) {
    if (disc.level || isAround(disc, camera)) continue;
    const short = disc.label.slice(start.length);
    if (put(disc, across(context, disc, short, camera))) continue;
    // Over another circle only where there is no room between them: it would seem to be that one's.
    if (!put(disc, apartFrom(outermost, beside(context, disc, short, camera), camera))) put(disc, beside(context, disc, short, camera));
  }
  return placed;
}

function* apartFrom(discs, names, camera) {
  const circles = discs.map((disc) => ({ ...camera.toScreen(disc), reach: disc.radius * camera.k - 2 }));
  for (const name of names) {
    const { left, right, top, bottom } = boxOf(name);
    const isOn = ({ x, y, reach }) => Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom)) < reach;
    if (!circles.some(isOn)) yield name;
  }
}

function isInView({ x, y, radius, level }, camera) {
  const at = camera.toScreen({ x, y });
  const reach = radius * camera.k;
  return (reach >= LEAST_RADIUS || !level) && at.x > -reach && at.x < camera.width + reach && at.y > -reach && at.y < camera.height + reach;
}

/** Whether one is so near that a circle is all around the view. */
function isAround({ radius }, { k, width, height }) {
  return radius * k > 0.75 * Math.max(width, height);
}

/** The rectangle of a name. */
export function boxOf({ x, y, width, height }) {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

const starts = new WeakMap();

/** The words with which all names begin: "Around " of "Around Ann" and "Around Bob". */
function sharedStart(discs) {
  if (!starts.has(discs)) {
    const [first = [], ...others] = discs.filter(({ label }) => label).map(({ label }) => label.split(" "));
    const own = first.findIndex((word, at) => at === first.length - 1 || others.some((words) => words[at] !== word || words.length === at + 1));
    starts.set(discs, others.length && own > 0 ? `${first.slice(0, own).join(" ")} ` : "");
  }
  return starts.get(discs);
}

/** `start`: the words that go first where there is little room. */
function inMiddle(context, disc, camera, start) {
  const radius = disc.radius * camera.k;
  const { x, y } = camera.toScreen(disc);
  const fitted = (label, size, lines) => wrapped(context, label, size, 2 * Math.sqrt(Math.max(0, radius ** 2 - (0.58 * lines * size) ** 2)), lines);
  for (let size = Math.min(LARGEST, radius / 4); size > SMALLEST; size *= 0.88) {
    const name = [1, 2, 3].map((lines) => fitted(disc.label, size, lines)).find((each) => each && !each.isCut);
    if (name) return { ...name, x, y, inside: true };
  }
  const most = disc.label.slice(start.length);
  const short = [1, 2, 3].map((lines) => fitted(most, SMALLEST, lines)).filter(Boolean);
  const cut = short.find(({ isCut }) => !isCut) ?? short.at(-1) ?? [8, 6].map((letters) => fitted(shortText(most, letters), SMALLEST, 1)).find(Boolean);
  return cut && { ...cut, x, y, inside: true };
}

/** Over the middle of a small circle, a little wider than it is. */
function* across(context, disc, label, camera) {
  const { x, y } = camera.toScreen(disc);
  const radius = disc.radius * camera.k;
  const names = [2, 1].map((lines) => wrapped(context, label, SMALLEST, Math.max(2.4 * radius, 46), lines));
  for (const name of [...names, ...[8, 6].map((letters) => wrapped(context, shortText(label, letters), SMALLEST, 60, 1))]) {
    if (name) for (const down of [0, -0.5, 0.5, -0.9, 0.9]) yield { ...name, x, y: y + down * radius, inside: true };
  }
}

/** Around a circle whose middle is in view: the nearer and the longer the better. */
function* beside(context, disc, label, camera) {
  const { x, y } = camera.toScreen(disc);
  const radius = disc.radius * camera.k;
  if (x < 0 || y < 0 || x > camera.width || y > camera.height) return;
  for (const [width, lines] of BESIDE) {
    const name = wrapped(context, label, SMALLEST, width, lines) ?? wrapped(context, shortText(label, 10), SMALLEST, width, 1);
    if (!name) continue;
    for (const { away, across, down } of ways(AWAY)) {
      const [dx, dy] = [(radius + away + name.width / 2) * across, (radius + away + name.height / 2) * down];
      yield { ...name, x: x + dx, y: y + dy, inside: true, from: { x: x + radius * across, y: y + radius * down } };
    }
  }
}

/** Above a circle, else below it, else in its upper or lower part, else in its middle. */
function atEdges(context, disc, camera, start) {
  if (isAround(disc, camera)) return [];
  const radius = disc.radius * camera.k;
  const { x, y } = camera.toScreen(disc);
  const size = Math.min(EDGE_LARGEST, Math.max(EDGE_SMALLEST, radius / 12));
  const name = wrapped(context, disc.label, size, Math.max(110, 1.8 * radius), 2);
  if (!name) return [];
  const away = radius + name.height / 2 - size;
  const above = Math.min(Math.max(y - away, name.height / 2 + 2), y + radius / 2);
  const edges = [above, y + away, y - 0.6 * radius, y + 0.6 * radius].map((at) => ({ ...name, x, y: at, inside: false }));
  return [...edges, inMiddle(context, disc, camera, start)];
}

/** A name on at most `most` lines of at most `width` pixels, cut where it has more; null where no word fits. */
function wrapped(context, label, size, width, most = MOST_LINES) {
  const words = wordsOf(context, label);
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
  return { lines: lines.map(({ text }) => text), font: fontOf(size), size, width: widest + 8, height: lines.length * size * 1.15 + 4, isCut };
}

/** The words of a name with their widths in a font of one pixel: they are measured once. */
const measured = new Map();

function wordsOf(context, label) {
  let words = measured.get(label);
  if (words) return words;
  if (measured.size > MOST_MEASURED) measured.clear();
  context.font = fontOf(100);
  words = label.split(" ").map((text) => ({ text, width: context.measureText(text).width / 100 }));
  measured.set(label, words);
  return words;
}

function fontOf(size) {
  return `650 ${Math.round(10 * size) / 10}px ${FAMILY}`;
}

/** A line from a circle to the name beside it. */
export function paintDiscLine(context, { disc, from, x, y }, drawnAt, camera, theme, alpha) {
  const [now, then] = [camera.toScreen(disc), drawnAt.toScreen(disc)];
  const [right, down] = [now.x - then.x, now.y - then.y];
  paintLine(context, { x: from.x + right, y: from.y + down }, { x: x + right, y: y + down }, theme, alpha);
}

/** Write a name on a plate of the background's colour, through which what lies below is still seen a little; `alpha`: how opaque it is. */
export function paintDiscName(context, { disc, lines, font, size, x, y, width, height, inside }, drawnAt, camera, theme, alpha) {
  const [now, then] = [camera.toScreen(disc), drawnAt.toScreen(disc)];
  const [left, top] = [x + now.x - then.x, y + now.y - then.y];
  context.globalAlpha = alpha * (inside ? 0.84 : 0.92);
  context.fillStyle = theme.surface;
  context.beginPath();
  context.roundRect(left - width / 2, top - height / 2, width, height, 6);
  context.fill();
  context.globalAlpha = alpha;
  context.font = font;
  context.textAlign = "center";
  context.fillStyle = inside ? theme.text : theme.quiet;
  lines.forEach((line, at) => context.fillText(line, left, top + (at - (lines.length - 1) / 2) * size * 1.15));
}
