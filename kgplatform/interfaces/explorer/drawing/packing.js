// Circles side by side, in a circle around them: joined ones lie near each other, and none overlap.

import "../vendor/d3-hierarchy.min.js";

const { packEnclose, packSiblings } = globalThis.d3;

/** Of more circles than these, the order follows what is joined without weighing how much, which takes less time. */
const MOST_WEIGHED = 300;
/** Circles that are put in their places, all together, while a better order is sought. */
const TRIED = 12_000;

/**
 * Give `circles` ({ r }) places `x`, `y` around 0, and return the radius of the circle around them.
 *
 * `links`: [place of one, place of the other, weight]. `carefully`: look for an order in which joined ones lie nearer.
 * The same circles and links have the same places.
 */
export function placeTogether(circles, links, { carefully = false } = {}) {
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
  if (circles.length > MOST_WEIGHED) return byWaves(waiting, joined);
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

function byWaves(sorted, joined) {
  const order = new Set();
  for (const first of sorted) {
    const wave = order.has(first) ? [] : [first];
    for (const next of wave) {
      if (order.has(next)) continue;
      order.add(next);
      for (let at = 0; at < joined[next].length; at += 2) wave.push(joined[next][at]);
    }
  }
  return [...order];
}
