// The names of circles: in the middle of those whose parts cannot be read yet, at the upper edge of the others.

import { shortText } from "./short-text.js";

const FAMILY = 'system-ui, -apple-system, "Segoe UI", sans-serif';
/** Pixels of a letter in the middle of a circle, and at its edge. */
const [SMALLEST, LARGEST] = [11, 22];
const [EDGE_SMALLEST, EDGE_LARGEST] = [12, 17];
/** Radius in pixels from which a circle is named. */
const LEAST_RADIUS = 20;
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

/** Names of circles that have room: { disc, lines, font, size, x, y, width, height, inside }, outer circles first. */
export function placeDiscNames(context, discs, camera, room) {
  const open = discs.map((disc) => isOpen(disc, camera));
  const isReached = ({ around }) => around < 0 || (open[around] && isReached(discs[around]));
  const seen = discs.filter((disc) => isInView(disc, camera) && isReached(disc)).sort((one, other) => one.level - other.level || other.radius - one.radius || one.at - other.at);
  const placed = [];
  const put = (disc, names) => {
    const name = names.find((each) => each && room.isFree(boxOf(each)));
    if (!name) return;
    room.take(boxOf(name));
    placed.push({ disc, ...name });
  };
  const start = sharedStart(discs);
  for (const disc of seen.filter(({ at }) => !open[at])) put(disc, [inMiddle(context, disc, camera, start)]);
  for (const disc of seen.filter(({ at }) => open[at])) put(disc, atEdges(context, disc, camera, start));
  return placed;
}

function isInView({ x, y, radius }, camera) {
  const at = camera.toScreen({ x, y });
  const reach = radius * camera.k;
  return reach >= LEAST_RADIUS && at.x > -reach && at.x < camera.width + reach && at.y > -reach && at.y < camera.height + reach;
}

function boxOf({ x, y, width, height }) {
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

/** Above a circle, else below it, else in it. */
function atEdges(context, disc, camera, start) {
  const radius = disc.radius * camera.k;
  if (radius > 0.75 * Math.max(camera.width, camera.height)) return [];
  const { x, y } = camera.toScreen(disc);
  const size = Math.min(EDGE_LARGEST, Math.max(EDGE_SMALLEST, radius / 12));
  const name = wrapped(context, disc.label, size, Math.max(110, 1.8 * radius), 2);
  if (!name) return [];
  const away = radius + name.height / 2 - size;
  const above = Math.min(Math.max(y - away, name.height / 2 + 2), y + radius / 2);
  return [{ ...name, x, y: above, inside: false }, { ...name, x, y: y + away, inside: false }, inMiddle(context, disc, camera, start)];
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
