// A whole graph: entities in circles, which are communities, and circles in the circles around them.

import "./vendor/d3-hierarchy.min.js";
import { shortText } from "./short-text.js";

const { hierarchy, pack } = globalThis.d3;

/** How far a node usually is from the nearest other: so far that nodes of usual sizes do not cover each other. */
const LEAST_SPACING = 28;
const MOST_SPACING = 90;
/** Room of an entity by the radius that it is packed with: an entity has an area of 3 or more, and a gap. */
const ROOM = 3.4;

/** Put a GraphMap into an empty scene. The same map has the same picture: nothing here is left to chance. */
export function readMap(scene, map) {
  const nodes = [];
  scene.discs = [];
  for (const { data, x, y, r } of packed(map)) {
    if (data.row !== undefined) nodes[data.row] = scene.addNode(entityOf(map, data.row), x, y);
    else if (data.name) scene.discs.push({ label: shortText(data.name, 32), x, y, radius: r });
  }
  map.sources.forEach((source, at) => scene.addLine(`line ${at}`, nodes[source], nodes[map.targets[at]]));
  scene.changed();
}

function entityOf(map, row) {
  return { id: map.ids[row], name: map.names[row], kind: map.kinds[row], type: map.types[row], size: map.sizes[row] };
}

// All circles, outer ones first. The largest of those in one circle lies in its middle.
function packed({ ids, sizes, inside, discs }) {
  const whole = { parts: [] };
  const circles = discs.map(({ name }) => ({ name, parts: [] }));
  discs.forEach(({ around }, at) => (circles[around] ?? whole).parts.push(circles[at]));
  inside.forEach((disc, row) => (circles[disc] ?? whole).parts.push({ row, area: 1 + Math.log2(1 + sizes[row]) }));
  const spacing = Math.min(MOST_SPACING, Math.max(LEAST_SPACING, 1600 / Math.sqrt(ids.length || 1)));
  const root = hierarchy(whole, ({ parts }) => parts)
    .sum(({ area }) => area ?? 0)
    .sort((one, other) => other.value - one.value);
  const layout = pack()
    .radius(({ value }) => (spacing / ROOM) * Math.sqrt(value))
    .padding(({ height }) => (height > 1 ? spacing / 2 : 1));
  return layout(root).descendants();
}
