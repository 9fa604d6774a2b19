// What is said of an entity at which times: a list in their order, and above it the same as bars, for the eye alone.

import { el, longList, placeButton, svg } from "../shared/dom.js";
import { counted, shortened, shownDays } from "../shared/format.js";

const [LISTED, DRAWN, NAME] = [8, 40, 34];
/** Pixels: of a row, of a bar, of the line of years below; and years from one to the next, of which as few as fit are there. */
const [ROW, BAR, AXIS, MOST_YEARS] = [28, 6, 18, 6];
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const DAY = 86_400_000;

/** The timeline of `facts`, [{ text, places }]; null where no place of any says a time. `open` opens a place. */
export function timeline(facts, open) {
  const timed = facts.flatMap(intervalsOf).sort(earlier);
  if (!timed.length) return null;
  const without = facts.filter(({ places }) => !places.some(shownDays)).length;
  const item = ({ text, places: [{ since, until, ...place }] }) => el("li", {}, el("strong", { class: "when" }, shownDays({ ...place, since, until })), el("span", { dir: "auto" }, text), placeButton(place, open));
  return el("section", {}, el("h2", {}, "When"), drawing(timed.slice(0, DRAWN)), longList(el("ol", { class: "facts" }), timed, LISTED, item),
    without ? el("p", { class: "muted" }, `Of ${counted(without, "more fact")} no time is said. All facts stand below.`) : null);
}

/** A fact once for each time that is said of it, with the places that say it. */
function intervalsOf({ text, places }) {
  const times = new Map();
  for (const place of places.filter(shownDays)) times.set(shownDays(place), [...(times.get(shownDays(place)) ?? []), place]);
  return [...times.values()].map((those) => ({ text, since: those[0].since, until: those[0].until, places: those }));
}

const earlier = (one, other) => compare(one.since ?? "", other.since ?? "") || compare(one.until ?? "~", other.until ?? "~");
const compare = (one, other) => (one < other ? -1 : Number(one > other));

/** Bars over a line of years. What has an open end goes to the border, and points on. */
function drawing(timed) {
  const ends = timed.flatMap(({ since, until }) => [since, until]).filter(Boolean).map((day) => Date.parse(day));
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const room = Math.max((most - least) / 16, 180 * DAY);
  const at = (time) => (100 * (time - least + room)) / (most - least + 2 * room);
  const height = timed.length * ROW;
  return el("div", { class: "times" }, svg("svg", { width: "100%", height: height + AXIS, "aria-hidden": "true" },
    yearsIn(least - room, most + room).map((year) => [at(Date.parse(`${String(year).padStart(4, "0")}-01-01`)), year]).map(([x, year]) => [
      svg("line", { x1: `${x}%`, x2: `${x}%`, y2: height, class: "times-year" }), svg("text", { x: `${x}%`, y: height + AXIS - 4, "text-anchor": "middle" }, year)]),
    timed.map((each, row) => bar(each, row * ROW, at))));
}

function bar({ text, since, until }, top, at) {
  const [left, right] = [since ? at(Date.parse(since)) : 0, until ? at(Date.parse(until)) : 100];
  const isLate = left > 50;
  const y = top + ROW - BAR - 4;
  const points = (x, by) => svg("svg", { x: `${x}%`, y: y - 3, overflow: "visible" }, svg("path", { d: `M0 0 ${by} ${BAR / 2 + 3} 0 ${BAR + 6}z`, class: "times-bar" }));
  return [svg("text", { x: `${isLate ? right : left}%`, y: y - 4, dx: isLate ? -2 : 2, "text-anchor": isLate ? "end" : "start" }, shortened(text, NAME)),
    svg("rect", { x: `${left}%`, y, width: `${Math.max(0.4, right - left)}%`, height: BAR, rx: 2, class: "times-bar" }), since ? null : points(0, -7), until ? null : points(100, 7)];
}

/** Years between two times that stand below the bars. */
function yearsIn(from, to) {
  const [first, last] = [from, to].map((time) => new Date(time).getUTCFullYear());
  const step = STEPS.find((each) => (last - first) / each <= MOST_YEARS) ?? STEPS.at(-1);
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, at) => (Math.floor(first / step) + 1 + at) * step).filter((year) => year <= last);
}
