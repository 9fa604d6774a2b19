// A whole graph that was laid out by the server, as columns.

import { shortText } from "./short-text.js";

/** How far a node usually is from the nearest other: so far that nodes of usual sizes do not cover each other. */
const LEAST_SPACING = 28;
const MOST_SPACING = 90;
/** Nodes whose nearest others are looked for. */
const SAMPLE = 150;

/** Put a GraphMap into an empty scene. */
export function readMap(scene, map) {
  const scale = scaleFor(map);
  const nodes = map.ids.map((id, at) => {
    const data = { id, name: map.names[at], kind: map.kinds[at], type: map.types[at], size: map.sizes[at] };
    return scene.addNode(data, map.x[at] * scale, map.y[at] * scale);
  });
  map.sources.forEach((source, at) => scene.addLine(`line ${at}`, nodes[source], nodes[map.targets[at]]));
  scene.discs = (map.discs ?? []).map(({ name, x, y, radius, depth }) => {
    return { label: shortText(name, 32), x: x * scale, y: y * scale, radius: radius * scale, depth };
  });
  scene.changed();
}

function scaleFor({ x, y }) {
  const wanted = Math.min(MOST_SPACING, Math.max(LEAST_SPACING, 1600 / Math.sqrt(x.length || 1)));
  return wanted / (usualSpacing(x, y) || wanted);
}

// The median distance to the nearest other, of some nodes that are spread over all.
function usualSpacing(x, y) {
  const apart = Math.max(1, Math.floor(x.length / SAMPLE));
  const found = [];
  for (let one = 0; one < x.length; one += apart) {
    let nearest = Infinity;
    for (let other = 0; other < x.length; other += 1) {
      const away = (x[one] - x[other]) ** 2 + (y[one] - y[other]) ** 2;
      if (other !== one && away < nearest) nearest = away;
    }
    if (nearest < Infinity) found.push(Math.sqrt(nearest));
  }
  return found.sort((one, other) => one - other)[found.length >> 1];
}
