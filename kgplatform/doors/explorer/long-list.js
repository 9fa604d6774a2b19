// The first of a long list, and a button that shows the others.

import { el } from "./dom.js";

/** `list` with what `item` makes of the first `most` of `found`, and the button where there are more. */
export function longList(list, found, most, item) {
  list.append(...found.slice(0, most).map(item));
  if (found.length <= most) return [list];
  const unfold = () => {
    more.remove();
    list.append(...found.slice(most).map(item));
    list.children[most].querySelector("button")?.focus(); // the button that had the focus is gone
  };
  const more = el("button", { class: "small", type: "button", on: { click: unfold } }, `Show ${found.length - most} more`);
  return [list, more];
}
