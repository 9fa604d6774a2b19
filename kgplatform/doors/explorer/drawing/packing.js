// Circles side by side, in a circle around them: joined ones lie near each other, and none overlap.

import "../vendor/d3-hierarchy.min.js";
import { fit } from "./pockets.js";

const { packEnclose, packSiblings } = globalThis.d3;

/** More circles than these come one after the other around the middle, which takes less time. */
const MOST_FITTED = 300;

/**
 * Give `circles` ({ r }) places `x`, `y` around 0, and return the radius of the circle around them.
 *
 * `links`: [place of one, place of the other, weight]. The same circles and links have the same places.
 */
export function placeTogether(circles, links) {
  if (!circles.length) return 0;
  const spots = circles.map(({ r }) => ({ x: 0, y: 0, r })); // alike in shape, whatever they stand for, which is faster
  const joined = joinedOf(spots.length, links);
  const order = outwards(spots, joined);
  if (spots.length > MOST_FITTED) packSiblings(order.map((at) => spots[at]));
  else fit(spots, order, joined);
  const around = packEnclose(spots);
  for (let at = 0; at < spots.length; at += 1) {
    circles[at].x = spots[at].x - around.x;
    circles[at].y = spots[at].y - around.y;
  }
  return around.r;
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
  if (circles.length > MOST_FITTED) return byWaves(waiting, joined);
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
