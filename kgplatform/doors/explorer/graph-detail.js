// Which relations of a map a person has come near enough to read: its lines only say that two entities are joined.

import { nearOf } from "./graph-labels.js";
import { otherEnd } from "./graph-scene.js";

/** Entities that are asked about at once. */
const MOST = 150;

/** Ids of the entities in view whose lines to others in view have no names yet; each is given once. */
export function unreadIn(scene, camera) {
  if (!scene.discs.length || camera.k < nearOf(scene)) return [];
  const seen = scene.byWeight.filter((node) => camera.sees(node)).slice(0, MOST);
  const inView = new Set(seen);
  const found = seen.filter((node) => !node.read && node.edges.some((edge) => edge.unnamed && inView.has(otherEnd(edge, node))));
  for (const node of found) node.read = true;
  return found.length ? seen.map(({ id }) => id) : [];
}
