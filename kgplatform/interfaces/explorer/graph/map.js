// A whole graph: entities in circles, which are communities, in the circles around them. What is related lies near.

import "../vendor/d3-hierarchy.min.js";
import { shortText } from "../shared/format.js";

/** How far a node usually is from the nearest other: so far that nodes of usual sizes do not cover each other. */
const LEAST_SPACING = 28;
const MOST_SPACING = 90;
/** An entity with many facts has more room than the usual one, for its name: at most by this. */
const MOST_ROOM = 2.6;
/** A circle without a name is called by so many of the entities in it. */
const NAMED_BY = 3;
/** Of a circle, the lines to so many others are drawn as bundles: those that say most. */
const BUNDLES = 3;

/** Of lines whose facts say no time. */
const UNTIMED = [[null, null]];

/** Put a GraphMap into an empty scene. The same map has the same picture: nothing here is left to chance. */
export function readMap(scene, map) {
  const spacing = Math.min(MOST_SPACING, Math.max(LEAST_SPACING, 1600 / Math.sqrt(map.ids.length || 1)));
  const { whole, discs, leaves } = nested(map, spacing);
  for (const disc of discs) disc.name ||= nameOf(disc, map);
  map.sources.forEach((source, at) => join(leaves[source], leaves[map.targets[at]]));
  pack(whole, spacing);
  whole.x = whole.y = 0;
  settle(whole);
  scene.spacing = spacing;
  scene.discs = discs.map(drawnDisc);
  const nodes = leaves.map((leaf, row) => {
    const node = scene.addNode({ id: map.ids[row], name: map.names[row], kind: map.kinds[row], type: map.types[row], size: map.sizes[row] }, leaf.x, leaf.y);
    let outermost = leaf;
    while (outermost.around.around) outermost = outermost.around;
    return Object.assign(node, { disc: leaf.around.drawn ?? null, region: outermost.drawn ?? null });
  });
  const times = new Map(map.times ?? []);
  map.sources.forEach((source, at) => scene.addLine(at, nodes[source], nodes[map.targets[at]], times.get(at) ?? UNTIMED));
  scene.bundles = bundled(nodes, map);
  scene.changed();
}

function nested({ sizes, inside, discs: given }, spacing) {
  const whole = circle("");
  const discs = given.map(({ name }) => circle(name));
  given.forEach(({ around }, at) => put(discs[at], discs[around] ?? whole));
  const usual = [...sizes].sort((one, other) => one - other)[sizes.length >> 1] || 1;
  const leaves = sizes.map((size, row) => ({ row, r: (spacing / 2) * Math.min(MOST_ROOM, 0.75 + (0.25 * size) / usual) }));
  leaves.forEach((leaf, row) => put(leaf, discs[inside[row]] ?? whole));
  const deepen = (disc, depth) => {
    disc.depth = depth;
    for (const part of disc.parts ?? []) deepen(part, depth + 1);
  };
  deepen(whole, 0);
  return { whole, discs, leaves };
}

/** `links`: how often two of its parts are joined; `pulls`: a part, and what outside it is joined to, and so on. */
const circle = (name) => ({ name, parts: [], links: new Map(), pulls: [], around: null });

function put(part, disc) {
  part.around = disc;
  part.place = disc.parts.push(part) - 1;
}

/** Note a line between two leaves where it matters: between the two that it joins side by side, and in what they lie in. */
function join(one, other) {
  let a = one;
  let b = other;
  while (a.around !== b.around) {
    if (a.depth >= b.depth) a = a.around;
    else b = b.around;
  }
  const { links, parts } = a.around;
  const key = Math.min(a.place, b.place) * parts.length + Math.max(a.place, b.place);
  links.set(key, (links.get(key) ?? 0) + 1);
  for (let part = one; part !== a; part = part.around) part.around.pulls.push(part, b);
  for (let part = other; part !== b; part = part.around) part.around.pulls.push(part, a);
}

/** Give all circles in `disc` places around its middle, inner ones first; `disc` gets its radius. */
function pack(disc, spacing) {
  const { parts } = disc;
  const isInnermost = parts.every((part) => !part.parts);
  for (const part of parts) if (part.parts) pack(part, spacing);
  const gap = isInnermost ? 1 : spacing / 2;
  for (const part of parts) part.r += gap / 2;
  const links = [...disc.links].map(([key, weight]) => [Math.floor(key / parts.length), key % parts.length, weight]);
  disc.r = placeTogether(parts, links, { carefully: !isInnermost }) + (isInnermost ? spacing / 3 : gap);
  for (const part of parts) part.r -= gap / 2;
}

/** From places around the middle of each circle to places in the whole, outer circles first. */
function settle(disc) {
  turn(disc);
  for (const part of disc.parts) {
    part.x += disc.x;
    part.y += disc.y;
  }
  for (const part of disc.parts) if (part.parts) settle(part);
}

/** Turn what is in a circle, or its mirror image, so that what is joined to others outside lies on their side. */
function turn({ x, y, parts, pulls }) {
  const [straight, mirrored] = [{ re: 0, im: 0 }, { re: 0, im: 0 }];
  for (let at = 0; at < pulls.length; at += 2) {
    const part = pulls[at];
    const to = pulls[at + 1];
    const away = Math.hypot(to.x - x, to.y - y) || 1;
    const dx = (to.x - x) / away;
    const dy = (to.y - y) / away;
    straight.re += dx * part.x + dy * part.y;
    straight.im += dy * part.x - dx * part.y;
    mirrored.re += dx * part.x - dy * part.y;
    mirrored.im += dy * part.x + dx * part.y;
  }
  const [a, b] = [Math.hypot(straight.re, straight.im), Math.hypot(mirrored.re, mirrored.im)];
  if (!a && !b) return;
  const flip = b > a ? -1 : 1;
  const [cos, sin] = b > a ? [mirrored.re / b, mirrored.im / b] : [straight.re / a, straight.im / a];
  for (const part of parts) [part.x, part.y] = [cos * part.x - sin * flip * part.y, sin * part.x + cos * flip * part.y];
}

/** A circle as it is drawn. `pitch`: how far two of its parts usually are apart, by which it shows when they can be read. */
function drawnDisc(disc, at) {
  const inner = disc.parts.filter((part) => part.parts);
  const pitch = inner.length ? Math.max(...inner.map(({ r }) => r)) : (1.8 * disc.r) / Math.sqrt(disc.parts.length);
  const { x, y, r: radius } = disc;
  disc.drawn = { at, label: shortText(disc.name, 80), x, y, radius, pitch, hasInner: inner.length > 0, around: disc.around.drawn?.at ?? -1, level: disc.depth - 1 };
  return disc.drawn;
}

/** Communities that only lie together have no name of their own: they are called by the most connected in them. */
function nameOf(disc, map) {
  const rows = [];
  const collect = (part) => (part.parts ? part.parts.forEach(collect) : rows.push(part.row));
  collect(disc);
  const best = rows.sort((one, other) => map.sizes[other] - map.sizes[one] || one - other).slice(0, NAMED_BY);
  return best.map((row) => shortText(map.names[row])).join(", ");
}

/** Which outermost circles are joined more than others, by the lines between them: { source, target, weight }. */
function bundled(nodes, map) {
  const found = new Map();
  const sums = new Map();
  const size = nodes.length;
  map.sources.forEach((source, at) => {
    const [one, other] = [nodes[source].region, nodes[map.targets[at]].region];
    if (!one || !other || one === other) return;
    const [first, second] = one.at < other.at ? [one, other] : [other, one];
    const key = first.at * size + second.at;
    const bundle = found.get(key) ?? { source: first, target: second, weight: 0 };
    bundle.weight += 1;
    found.set(key, bundle);
    for (const disc of [one, other]) sums.set(disc, (sums.get(disc) ?? 0) + 1);
  });
  const strength = ({ source, target, weight }) => weight / Math.sqrt(sums.get(source) * sums.get(target));
  const sorted = [...found.values()].sort((one, other) => strength(other) - strength(one) || one.source.at - other.source.at || one.target.at - other.target.at);
  const taken = new Map();
  return sorted.filter(({ source, target }) => {
    const few = [source, target].some((disc) => (taken.get(disc) ?? 0) < BUNDLES);
    if (few) for (const disc of [source, target]) taken.set(disc, (taken.get(disc) ?? 0) + 1);
    return few;
  });
}

// Circles side by side, in a circle around them: joined ones lie near each other, and none overlap.

const { packEnclose, packSiblings } = globalThis.d3;

/** Circles that are put in their places, all together, while a better order is sought. */
const TRIED = 12_000;

/**
 * Give `circles` ({ r }) places `x`, `y` around 0, and return the radius of the circle around them.
 *
 * `links`: [place of one, place of the other, weight]. `carefully`: look for an order in which joined ones lie nearer.
 * The same circles and links have the same places.
 */
function placeTogether(circles, links, { carefully = false } = {}) {
  if (!circles.length) return 0;
  const spots = circles.map(({ r }) => ({ x: 0, y: 0, r })); // alike in shape, whatever they stand for, which is faster
  const joined = joinedOf(spots.length, links);
  const order = outwards(spots, joined).map((at) => spots[at]);
  if (carefully) bringNearer(order, spots, joined);
  packSiblings(order);
  const around = packEnclose(spots);
  for (let at = 0; at < spots.length; at += 1) {
    circles[at].x = spots[at].x - around.x;
    circles[at].y = spots[at].y - around.y;
  }
  return around.r;
}

/** Swap two in the order wherever that brings joined ones nearer, until it helps no more or has taken long enough. */
function bringNearer(order, spots, joined) {
  let best = lengthOf(packSiblings(order) && spots, joined);
  let left = TRIED;
  for (let helps = true; helps; ) {
    helps = false;
    for (let one = 0; one < order.length; one += 1) {
      for (let other = one + 1; other < order.length; other += 1) {
        if ((left -= order.length) < 0) return;
        [order[one], order[other]] = [order[other], order[one]];
        const length = lengthOf(packSiblings(order) && spots, joined);
        if (length < best - 1e-9) [best, helps] = [length, true];
        else [order[one], order[other]] = [order[other], order[one]];
      }
    }
  }
}

/** How long all lines between joined ones are, each by how much it joins them. */
function lengthOf(spots, joined) {
  let sum = 0;
  joined.forEach((others, at) => {
    for (let each = 0; each < others.length; each += 2) {
      const other = spots[others[each]];
      sum += others[each + 1] * Math.hypot(spots[at].x - other.x, spots[at].y - other.y);
    }
  });
  return sum;
}

/** Of each circle what it is joined to: place, weight, place, weight … Who is joined to much is not drawn to all of it alike. */
function joinedOf(size, links) {
  const joined = Array.from({ length: size }, () => []);
  const sums = new Float64Array(size);
  for (const [one, other, weight] of links) (sums[one] += weight), (sums[other] += weight);
  for (const [one, other, weight] of links) {
    const share = weight / Math.sqrt(sums[one] * sums[other]);
    joined[one].push(other, share);
    joined[other].push(one, share);
  }
  return joined;
}

/** The order in which they are placed: the largest first, then whichever is joined most to those before. */
function outwards(circles, joined) {
  const waiting = circles.map((_, at) => at).sort((one, other) => circles[other].r - circles[one].r || one - other);
  const drawn = new Float64Array(circles.length);
  const order = [];
  while (waiting.length) {
    let best = 0;
    for (let at = 1; at < waiting.length; at += 1) if (drawn[waiting[at]] > drawn[waiting[best]]) best = at;
    const [next] = waiting.splice(best, 1);
    order.push(next);
    for (let at = 0; at < joined[next].length; at += 2) drawn[joined[next][at]] += joined[next][at + 1];
  }
  return order;
}
