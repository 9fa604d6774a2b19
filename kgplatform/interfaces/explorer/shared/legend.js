// What the colours mean, with counts; a click takes a type out of the picture, and another brings it back.

import { el, fill } from "./dom.js";
import { kindShape, typeColor } from "./colors.js";
import { count, kindName } from "./format.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const OUTLINES = {
  circle: "M7 1.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Z",
  square: "M2 2h10v10H2z",
  diamond: "M7 .8 13.2 7 7 13.2.8 7z",
  triangle: "M7 1.5 13 12.5H1z",
  hexagon: "M7 .8 12.4 3.9v6.2L7 13.2 1.6 10.1V3.9z",
};

/** What a legend goes by: the schema type of an entity, else the label of its kind. */
export function legendKey(node) {
  return node.type ?? node.kind;
}

/** The same as people read it. */
export function typeName(node) {
  return node.type ?? kindName(node.kind);
}

/** A small shape in the colour of a type. It is repainted when the theme changes. */
export function swatch(key, kind) {
  const svg = document.createElementNS(NAMESPACE, "svg");
  svg.setAttribute("viewBox", "0 0 14 14");
  svg.setAttribute("class", "swatch");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(NAMESPACE, "path");
  path.setAttribute("d", OUTLINES[kindShape(kind ?? key)] ?? OUTLINES.circle);
  path.dataset.key = key;
  path.setAttribute("fill", colorNow(key));
  svg.append(path);
  return svg;
}

function colorNow(key) {
  return typeColor(key, document.documentElement.dataset.theme);
}

/** Give all swatches on the page the colours of the theme. */
export function repaintSwatches() {
  for (const path of document.querySelectorAll(".swatch path")) path.setAttribute("fill", colorNow(path.dataset.key));
}

export class Legend {
  /** `onChange(hidden)`: the set of types that are not to be seen. */
  constructor(onChange) {
    this.hidden = new Set();
    this.onChange = onChange;
    this.element = el("div", { class: "legend", role: "group", "aria-label": "Types in the picture: press one to hide it", hidden: true });
  }

  /** Show the types of `nodes`, the most frequent first. */
  draw(nodes) {
    const counts = new Map();
    const examples = new Map();
    for (const node of nodes) {
      const key = legendKey(node);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      examples.set(key, node);
    }
    const sorted = [...counts].sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1));
    fill(this.element, sorted.map(([key, number]) => this.#button(key, examples.get(key), number)));
    this.element.hidden = !sorted.length;
  }

  reset() {
    this.hidden.clear();
  }

  /** These types are not to be seen. */
  hide(keys) {
    for (const key of keys) this.hidden.add(key);
  }

  /** Bring a type back into the picture; returns whether it was hidden. */
  reveal(key) {
    const wasHidden = this.hidden.delete(key);
    if (wasHidden) this.onChange(this.hidden);
    return wasHidden;
  }

  #button(key, node, number) {
    const button = el("button", { type: "button", class: "legend-key", "aria-pressed": String(!this.hidden.has(key)) },
      swatch(key, node.kind), el("span", { class: "ellipsis" }, typeName(node)), el("span", { class: "muted" }, count(number)));
    button.addEventListener("click", () => {
      if (!this.hidden.delete(key)) this.hidden.add(key);
      button.setAttribute("aria-pressed", String(!this.hidden.has(key)));
      this.onChange(this.hidden);
    });
    return button;
  }
}
