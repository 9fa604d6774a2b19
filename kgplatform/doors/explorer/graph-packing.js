// Circles side by side, in a circle around them: joined ones lie near each other, and none overlap.

import "./vendor/d3-hierarchy.min.js";

const { packEnclose, packSiblings } = globalThis.d3;

/** More circles than these come one after the other around the middle, which takes less time. */
const MOST_FITTED = 300;
/** How much what a circle is joined to draws it, beside the middle of all. */
const PULL = 0.35;
const TOUCH = 1e-6;

/**
 * Give `circles` ({ r }) places `x`, `y` around 0, and return the radius of the circle around them.
 *
 * `links`: [place of one, place of the other, weight]. The same circles and links have the same places.
 */
export function placeTogether(circles, links) {
  if (!circles.length) return 0;
  const joined = joinedOf(circles.length, links);
  const order = outwards(circles, joined);
  if (circles.length > MOST_FITTED) packSiblings(order.map((at) => circles[at]));
  else fit(circles, order, joined);
  const around = packEnclose(circles);
  for (const circle of circles) (circle.x -= around.x), (circle.y -= around.y);
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

/** Each into the free pocket beside two others that is nearest to what it is joined to and to the middle. */
function fit(circles, order, joined) {
  const radii = circles.map(({ r }) => r);
  const [smallest, widest] = [Math.min(...radii), 2 * Math.max(...radii)];
  const placed = [];
  const pockets = [];
  const middle = { x: 0, y: 0, area: 0 };
  const there = new Uint8Array(circles.length);
  for (const at of order) {
    const circle = circles[at];
    Object.assign(circle, placeFor(circle.r, placed, pockets, wish(circles, joined[at], there, middle)));
    forgetFilled(pockets, circle, smallest);
    for (const other of placed) addPockets(pockets, other, circle, placed, smallest, widest);
    placed.push(circle);
    there[at] = 1;
    const area = circle.r ** 2;
    middle.area += area;
    middle.x += ((circle.x - middle.x) * area) / middle.area;
    middle.y += ((circle.y - middle.y) * area) / middle.area;
  }
}

/** A pocket: beside two circles, on one side of them. `x`, `y`: where the smallest circle lies in it, if it touches both. */
function addPockets(pockets, one, other, placed, smallest, widest) {
  const reach = one.r + other.r + widest;
  if ((one.x - other.x) ** 2 + (one.y - other.y) ** 2 >= reach * reach) return;
  for (let side = 1; side >= -1; side -= 2) {
    const pocket = { one, other, side, x: 0, y: 0, touches: false };
    pocket.touches = besideBoth(pocket, one, other, smallest, side);
    if (!pocket.touches || isFree(pocket, smallest, placed)) pockets.push(pocket);
  }
}

/** Leave out the pockets in which, beside a new circle, not even the smallest has room any more. */
function forgetFilled(pockets, circle, smallest) {
  const reach = (circle.r + smallest) * (1 - TOUCH);
  let kept = 0;
  for (const pocket of pockets) {
    const dx = pocket.x - circle.x;
    const dy = pocket.y - circle.y;
    if (!pocket.touches || dx * dx + dy * dy >= reach * reach) pockets[kept++] = pocket;
  }
  pockets.length = kept;
}

function wish(circles, joined, there, middle) {
  const sum = { x: 0, y: 0, share: 0 };
  for (let at = 0; at < joined.length; at += 2) {
    const other = joined[at];
    const share = joined[at + 1];
    if (!there[other]) continue;
    sum.x += share * circles[other].x;
    sum.y += share * circles[other].y;
    sum.share += share;
  }
  if (!sum.share) return middle;
  const mean = (axis) => PULL * (sum[axis] / sum.share) + (1 - PULL) * middle[axis];
  return { x: mean("x"), y: mean("y") };
}

function placeFor(r, placed, pockets, wanted) {
  if (!placed.length) return { x: 0, y: 0 };
  if (placed.length === 1) return { x: placed[0].x + placed[0].r + r, y: placed[0].y };
  const place = { x: 0, y: 0 };
  const found = { x: 0, y: 0 };
  let nearest = Infinity;
  for (const pocket of pockets) {
    if (!besideBoth(place, pocket.one, pocket.other, r, pocket.side)) continue;
    const away = (place.x - wanted.x) ** 2 + (place.y - wanted.y) ** 2;
    if (away >= nearest || !isFree(place, r, placed)) continue;
    nearest = away;
    Object.assign(found, place);
  }
  return found;
}

/** Set `place` to where a circle touches two others, on one side of them; false where they are too far apart. */
function besideBoth(place, one, other, r, side) {
  const dx = other.x - one.x;
  const dy = other.y - one.y;
  const apart = Math.sqrt(dx * dx + dy * dy);
  const near = one.r + r;
  const far = other.r + r;
  if (apart > near + far) return false;
  const along = (apart * apart + near * near - far * far) / (2 * apart);
  const across = side * Math.sqrt(Math.max(0, near * near - along * along));
  place.x = one.x + (along * dx - across * dy) / apart;
  place.y = one.y + (along * dy + across * dx) / apart;
  return true;
}

// Written out for speed: these two are called a million times for ten thousand entities.
function isFree({ x, y }, r, placed) {
  for (let at = 0; at < placed.length; at += 1) {
    const other = placed[at];
    const dx = other.x - x;
    const dy = other.y - y;
    const reach = (other.r + r) * (1 - TOUCH);
    if (dx * dx + dy * dy < reach * reach) return false;
  }
  return true;
}
