// What the server says of itself and of the graph: readers, routes, schemas, counts. Asked again when they change.

import { get } from "./api.js";

/** Tells "change" when `about()` has changed. */
export const aboutChanges = new EventTarget();

let known = null;

/** The last that the server said; null before it has. */
export function about() {
  return known;
}

export async function refreshAbout() {
  known = await get("api/about");
  aboutChanges.dispatchEvent(new Event("change"));
  return known;
}

/** What people call a reader. */
export function titleOf(name) {
  return known?.readers.find((reader) => reader.name === name)?.title ?? name;
}
