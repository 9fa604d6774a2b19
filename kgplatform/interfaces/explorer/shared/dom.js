// Elements without a template language. What documents and models say goes in as text nodes, never as markup.

/**
 * An element: el("button", { class: "quiet", on: { click } }, icon("copy"), "Copy").
 * Properties are attributes; `on` holds listeners, `data` the dataset; true is an empty attribute, false and null none.
 */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else if (name === "data") Object.assign(made.dataset, value);
    else if (name === "value") made.value = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Replace what `parent` holds. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return parent;
}

const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");

/** Bring `element` into view, at once for those who want no motion. */
export function reveal(element, block = "nearest") {
  element.scrollIntoView({ block, behavior: reduced.matches ? "instant" : "smooth" });
}

let last = 0;

/** An id for `for` and `aria-…` that no other element has. */
export function freshId(word) {
  last += 1;
  return `${word}-${last}`;
}

/** Copy `text`; says on the button for a moment whether that went well. */
export async function copyText(text, button) {
  const label = button.querySelector("span") ?? button;
  const before = label.textContent;
  try {
    await navigator.clipboard.writeText(text);
    label.textContent = "Copied";
  } catch {
    label.textContent = "Not allowed"; // the browser keeps the clipboard to itself
  }
  window.setTimeout(() => (label.textContent = before), 1500);
}

const region = document.getElementById("announcer");
const PAUSE = 600;
let waiting = 0;

/** Say `text`, once nothing newer has come for a moment. */
export function announce(text) {
  window.clearTimeout(waiting);
  waiting = window.setTimeout(() => (region.textContent = text), PAUSE);
}

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

/** Enter in a text field of several lines does this; Shift+Enter begins a new line. */
export function enters(field, does) {
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    does();
  });
}
