// Elements without a template language. What documents and models say goes in as text nodes, never as markup.

import { fileOf, named } from "./format.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * An element: el("button", { class: "quiet", on: { click } }, icon("copy"), "Copy").
 * Properties are attributes; `on` holds listeners, `data` the dataset; true is an empty attribute, false and null none.
 */
export function el(tag, properties = {}, ...children) {
  return fill(set(document.createElement(tag), properties), children);
}

/** The same of a drawing: svg("circle", { r: 3, fill: color }). */
export function svg(tag, properties = {}, ...children) {
  return fill(set(document.createElementNS(NAMESPACE, tag), properties), children);
}

/** Give an element properties, as `el` does. */
export function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  return element;
}

/** Replace what `parent` holds by those children that there are. */
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

/** A button with an icon and words. `more`: further properties, such as a class in place of "small". */
export function button(symbol, label, click, more = {}) {
  return el("button", { class: "small", type: "button", on: click && { click }, ...more }, symbol && icon(symbol), label);
}

/** A button with an icon alone; `label` is for those who hear it, and for the pointer that rests on it. */
export function iconButton(symbol, label, click, more = {}) {
  return el("button", { class: "quiet icon-only", type: "button", "aria-label": label, title: label, on: click && { click }, ...more }, icon(symbol));
}

/** A button that copies what `text()` gives, and says for a moment whether that went well. */
export function copyButton(text, { label = "Copy", symbol = "copy", ...more } = {}) {
  const says = el("span", {}, label);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
      says.textContent = "Copied";
    } catch {
      says.textContent = "Not allowed"; // the browser keeps the clipboard to itself
    }
    window.setTimeout(() => (says.textContent = label), 1500);
  }
  return button(symbol, says, copy, more);
}

/** A button that copies the link to a place of the page. */
export function linkCopier(route, more = {}) {
  return copyButton(() => new URL(route(), document.baseURI).href, { label: "Copy link", symbol: "link", ...more });
}

/** The list that this browser keeps as `key`, of what `fits(each)`; what cannot be read is as if nothing were kept. */
export function keptList(key, fits = () => true) {
  try {
    const list = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(list) ? list.filter(fits) : [];
  } catch {
    return [];
  }
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
  const more = button(null, `Show ${found.length - most} more`, unfold);
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

/** What is shown where there is nothing yet: a heading, a sentence, and what to do. */
export function emptyState(symbol, title, sentence, ...actions) {
  return el("div", { class: "empty" }, icon(symbol), el("h2", {}, title), el("p", {}, sentence), actions.length ? el("div", { class: "actions" }, actions) : null);
}

export function loading(what = "Loading") {
  return el("p", { class: "loading" }, el("span", { class: "spinner", "aria-hidden": "true" }), `${what} …`);
}

/** The sentence of a fault, what was `spent` on it, and a way on. */
export function failure(fault, retry = null, spent = "") {
  return el("div", { class: "failure", role: "alert" }, icon("warning"), el("p", {}, fault.message, spent && el("span", { class: "muted" }, ` ${spent}`)),
    retry && button("refresh", "Try again", retry));
}

/** What stands in place of an answer that `fault` ended, which may be that it was stopped; what was `spent`, a way on. */
export function ended(fault, retry, spent) {
  if (fault.name !== "AbortError") return failure(fault, retry, spent);
  return el("div", { class: "answer card" }, el("p", {}, "Stopped.", spent && el("span", { class: "muted" }, ` ${spent}`)),
    button("refresh", "Ask again", retry));
}

export function linkButton(href, text, { primary = false } = {}) {
  return el("a", { class: primary ? "button primary" : "button", href }, text);
}

/** A button that opens a document at a place: { document, start, end, title, location }. */
export function placeButton(place, open, words = `${named(place.title)}${place.location ? `, ${place.location}` : ""}`) {
  const file = place.document.includes(":") ? fileOf(place.document) : null; // the id of a node says none
  return button("document", words, () => open(place.document, place.start, place.end), { class: "place", title: file });
}

/** Small icons, drawn with lines of the text's colour; all are decoration beside words or a label. */
const SHAPES = {
  mark: ["M8 3.2a1.7 1.7 0 1 0 0 .01", "M3.4 12.2a1.7 1.7 0 1 0 0 .01", "M12.6 12.2a1.7 1.7 0 1 0 0 .01", "M7.2 5 4.3 10.6M8.8 5l2.9 5.6M5.3 12.3h5.4"],
  search: ["M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Z", "m10.4 10.4 3.1 3.1"],
  send: ["M8 13V3.5", "M4 7.3 8 3.2l4 4.1"],
  stop: ["M4.5 4.5h7v7h-7z"],
  play: ["M5 3.2v9.6l7.5-4.8z"],
  pause: ["M5.5 3.5v9M10.5 3.5v9"],
  previous: ["M11.5 3.5 6 8l5.5 4.5z", "M4 3.5v9"],
  next: ["M4.5 3.5 10 8l-5.5 4.5z", "M12 3.5v9"],
  close: ["m4 4 8 8M12 4l-8 8"],
  plus: ["M8 3.5v9M3.5 8h9"],
  minus: ["M3.5 8h9"],
  fit: ["M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3"],
  map: ["M2.5 4.2 6 2.8l4 1.6 3.5-1.4v8.8L10 13.2l-4-1.6-3.5 1.4z", "M6 2.8v8.8M10 4.4v8.8"],
  image: ["M2.5 3.5h11v9h-11z", "m3 11 3-3 2.2 2.2L10.5 8l2.5 2.5", "M6 5.8v.01"],
  copy: ["M5.5 5.5h7v7h-7z", "M10.5 5.5v-2h-7v7h2"],
  open: ["M9 3h4v4M13 3 7.5 8.5", "M11.5 9v3.5h-8v-8H7"],
  document: ["M4 2.5h5l3 3v8H4z", "M9 2.5v3h3", "M6 8.5h4M6 11h4"],
  both: ["M2.5 3h11v10h-11z", "M8 3v10"],
  node: ["M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7Z"],
  expand: ["M8 6.3a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4Z", "M8 2v2.2M8 11.8V14M2 8h2.2M11.8 8H14"],
  hide: ["M2 8s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4Z", "m3 13 10-10"],
  link: ["M6.8 9.2 9.2 6.8", "M7.5 5 9 3.5a2.5 2.5 0 0 1 3.5 3.5L11 8.5", "M8.5 11 7 12.5A2.5 2.5 0 0 1 3.5 9L5 7.5"],
  remove: ["M3 4.5h10M6.5 4.5v-1.5h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5"],
  upload: ["M8 10.5v-8M4.8 5.5 8 2.3l3.2 3.2", "M3 10v3h10v-3"],
  sun: ["M8 5.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4Z", "M8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M3.6 12.4l1-1M11.4 4.6l1-1"],
  moon: ["M12.8 9.6A5.3 5.3 0 0 1 6.4 3.2a5.3 5.3 0 1 0 6.4 6.4Z"],
  help: ["M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Z", "M6.3 6.3c.2-2.2 3.6-2.2 3.5 0 0 1.3-1.8 1.3-1.8 2.7", "M8 11.4v.01"],
  warning: ["M8 2.5 14 13H2z", "M8 6.5v3M8 11.3v.01"],
  check: ["m3.5 8.5 3 3 6-7"],
  back: ["M9.5 3.5 5 8l4.5 4.5"],
  down: ["m4 6 4 4 4-4"],
  tree: ["M8 2.5v4M8 6.5H4v3M8 6.5h4v3M8 6.5v3", "M3 9.5h2v3H3zM7 9.5h2v3H7zM11 9.5h2v3h-2z"],
  refresh: ["M13 8a5 5 0 1 1-1.6-3.7", "M13 2.5v2.8h-2.8"],
};

/** The icon called `name`, 16 pixels wide, hidden from assistive technology. */
export function icon(name) {
  return svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, SHAPES[name].map((d) => svg("path", { d })));
}
