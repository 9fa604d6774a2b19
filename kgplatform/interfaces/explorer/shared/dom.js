// Elements without a template language. What documents and models say goes in as text nodes, never as markup.

import { fileOf, handClass, named, shownDays } from "./format.js";
import icons from "./icons.json" with { type: "json" };

const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * An element: el("button", { class: "quiet", on: { click } }, icon("copy"), "Copy").
 * Properties are attributes; `on` holds listeners, `data` the dataset; true is an empty attribute, false and null none.
 */
export const el = (tag, properties = {}, ...children) => fill(set(document.createElement(tag), properties), children);

/** The same of a drawing: svg("circle", { r: 3, fill: color }). */
export const svg = (tag, properties = {}, ...children) => fill(set(document.createElementNS(NAMESPACE, tag), properties), children);

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
export const button = (symbol, label, click, more = {}) => el("button", { class: "small", type: "button", on: click && { click }, ...more }, symbol && icon(symbol), label);

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
export const linkCopier = (route, more = {}) => copyButton(() => new URL(route(), document.baseURI).href, { label: "Copy link", symbol: "link", ...more });

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

export const loading = (what = "Loading") => el("p", { class: "loading" }, el("span", { class: "spinner", "aria-hidden": "true" }), `${what} …`);

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

export const linkButton = (href, text, { primary = false } = {}) => el("a", { class: primary ? "button primary" : "button", href }, text);

/** A button that opens a document at a place: { document, start, end, title, location }, and the time said there; `by_hand`: a person added it. */
export function placeButton(place, open, words = `${named(place.title)}${place.location ? `, ${place.location}` : ""}`) {
  const file = place.document.includes(":") ? fileOf(place.document) : null; // the id of a node says none
  const hand = place.by_hand ? "by-hand" : handClass(place.document);
  const time = shownDays(place);
  return button(hand ? "pen" : "document", [time && el("span", { class: "when" }, time), el("span", {}, words)], () => open(place.document, place.start, place.end), { class: `place ${hand}`, title: hand ? "added by hand" : file });
}

/** The icon called `name`: lines of the text's colour, 16 pixels wide; decoration beside words or a label. */
export const icon = (name) => svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, icons[name].map((d) => svg("path", { d })));
