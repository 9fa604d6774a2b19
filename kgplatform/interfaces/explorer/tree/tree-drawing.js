// The elements of the tree's picture. They are nested as the tree is, for those who hear it.

import { kindShape } from "../shared/colors.js";
import { kindName, shortText, sizeOf } from "../shared/format.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
/** Pixels from one line to the next. */
export const ROW = 42;
const LETTERS = 27;
const LINE = 14;

export class Drawing {
  constructor(container) {
    this.svg = make("svg", { width: "100%", height: "100%" });
    Object.assign(this.svg.style, { display: "block", cursor: "grab", userSelect: "none" });
    this.links = make("g", { fill: "none", "stroke-width": 1.3, "aria-hidden": "true" });
    this.tree = make("g", { role: "tree", "aria-label": "Knowledge tree" });
    this.scene = make("g", {}, [this.links, this.tree]);
    this.svg.append(this.scene);
    container.append(this.svg);
    this.parts = new Map();
    this.branches = new WeakMap();
    /** Whether the keyboard was in the tree before its elements were removed to be made again. */
    this.hadFocus = false;
  }

  setTheme(theme) {
    this.theme = theme;
    this.links.setAttribute("stroke", theme.edge);
    this.hadFocus = this.tree.contains(document.activeElement);
    for (const [, { item }] of this.parts) item.remove();
    this.parts.clear();
    this.links.replaceChildren();
  }

  /** See the picture as the camera does. */
  look({ x, y, k, width, height }) {
    this.scene.setAttribute("transform", `translate(${width / 2 - x * k} ${height / 2 - y * k}) scale(${k})`);
  }

  /** The branch that an element of the picture belongs to, or null. */
  branchOf(element) {
    const part = element.closest("[data-body], [role=treeitem]");
    return (part && this.branches.get(part)) ?? null;
  }

  focus(branch) {
    this.parts.get(branch)?.item.focus({ preventScroll: true });
  }

  // ------------------------------------------------------------------------------------------------------ elements

  /** Make what is seen, keep what was, take away what is no longer. Places come with `place`. */
  draw(branches, { current, selected, colorOf }) {
    const kept = new Set(branches.visible());
    const hadFocus = this.hadFocus || this.tree.contains(document.activeElement);
    this.hadFocus = false;
    for (const [branch, { item, link }] of this.parts) {
      if (kept.has(branch)) continue;
      item.remove();
      link.remove();
      this.parts.delete(branch);
    }
    this.#fill(this.tree, branches.root, colorOf);
    this.tree.setAttribute("aria-busy", String(branches.root.busy));
    this.mark({ current, selected });
    if (hadFocus && current && !this.tree.contains(document.activeElement)) this.focus(current);
  }

  #fill(group, parent, colorOf) {
    parent.below.forEach((branch, at) => {
      const part = this.parts.get(branch) ?? this.#make(branch, colorOf);
      if (group.children[at] !== part.item) group.insertBefore(part.item, group.children[at] ?? null);
      this.#describe(branch, part, at, parent);
      if (branch.below.length) {
        if (!part.group) part.item.append((part.group = make("g", { role: "group" })));
        this.#fill(part.group, branch, colorOf);
      } else {
        part.group?.remove();
        part.group = null;
      }
    });
  }

  #describe(branch, { item, body, state, name }, at, parent) {
    set(item, { "aria-level": branch.level, "aria-posinset": at + 1, "aria-setsize": parent.below.length });
    if (branch.mayOpen) item.setAttribute("aria-expanded", String(branch.open));
    else item.removeAttribute("aria-expanded");
    item.setAttribute("aria-busy", String(branch.busy));
    body.style.cursor = "pointer";
    state.textContent = branch.busy ? "…" : branch.mayOpen && !branch.open ? `+${branch.node.children}` : "";
    if (branch.line) {
      item.setAttribute("aria-label", branch.name);
      name.textContent = branch.name;
    }
  }

  #make(branch, colorOf) {
    const ring = make("rect", { rx: 6, fill: "none", stroke: this.theme.accent, "stroke-width": 2, visibility: "hidden" });
    const state = make("text", { "font-size": 11, fill: this.theme.quiet, "aria-hidden": "true" });
    const { shape, radius } = this.#symbol(branch, colorOf);
    const { text, name } = this.#words(branch, radius);
    // A body has no empty places: between its symbol and its words there is something to press, too.
    const place = { x: -radius, y: -ROW / 2 + 1, height: ROW - 2, width: radius + 204 };
    const ground = make("rect", { ...place, rx: 6, fill: this.theme.accent, "fill-opacity": 0 });
    const body = make("g", { "data-body": "" }, [ground, ring, shape, text, state]);
    body.append(make("title", {}, [document.createTextNode(toldOf(branch))]));
    const item = make("g", { role: "treeitem", "aria-label": labelOf(branch), "data-id": branch.node?.id ?? "" }, [body]);
    item.style.outline = "none";
    const link = make("path", { opacity: 0.6 });
    if (branch.level > 1) this.links.append(link);
    const part = { item, body, ground, ring, link, state, name, radius, group: null };
    item.addEventListener("focus", () => this.#ring(part, true));
    item.addEventListener("blur", () => this.#ring(part, false));
    this.parts.set(branch, part);
    for (const element of [body, item]) this.branches.set(element, branch);
    return part;
  }

  #ring({ body, ring }, visible) {
    if (visible) {
      const { x, y, width, height } = this.#extent(body);
      set(ring, { x: x - 4, y: y - 2, width: width + 8, height: height + 4 });
    }
    ring.setAttribute("visibility", visible ? "visible" : "hidden");
  }

  #extent(body) {
    const boxes = [...body.querySelectorAll("[data-symbol], text")].map((each) => each.getBBox()).filter(({ width }) => width);
    const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
    const width = Math.max(...boxes.map((box) => box.x + box.width)) - x;
    return { x, y, width, height: Math.max(...boxes.map((box) => box.y + box.height)) - y };
  }

  #symbol(branch, colorOf) {
    if (branch.line) return { radius: 4, shape: make("circle", { r: 3, fill: this.theme.quiet, "data-symbol": "" }) };
    const radius = Math.min(17, 5 + 1.3 * Math.sqrt(Math.max(0, branch.node.size)));
    const fill = colorOf(branch.node);
    const kind = kindShape(branch.node.kind);
    const shape = kind === "circle" ? make("circle", { r: radius }) : make("polygon", { points: corners(kind, radius) });
    return { shape: set(shape, { fill, stroke: this.theme.surface, "stroke-width": 1.5, "data-symbol": "" }), radius };
  }

  #words(branch, radius) {
    const lines = wrapped(branch.line ? branch.name : branch.node.name || branch.node.summary || branch.node.kind);
    const x = radius + 8;
    const style = { "font-size": 12.5, fill: branch.line ? this.theme.accent : this.theme.text };
    const halo = { stroke: this.theme.surface, "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round" };
    const spans = lines.map((line, at) => {
      const y = (at - (lines.length - 1) / 2) * LINE + 4;
      return make("tspan", { x, y }, [document.createTextNode(line)]);
    });
    const text = make("text", { ...style, ...halo }, spans);
    text.style.unicodeBidi = "plaintext";
    return { text, name: spans[0] };
  }

  /** Which one the keyboard is at, and which one was chosen. */
  mark({ current, selected }) {
    for (const [branch, { item, ground }] of this.parts) {
      item.setAttribute("tabindex", branch === current ? "0" : "-1");
      item.setAttribute("aria-selected", String(branch === selected));
      ground.setAttribute("fill-opacity", branch === selected ? 0.13 : 0);
    }
  }

  // -------------------------------------------------------------------------------------------------------- places

  place(visible) {
    for (const branch of visible) {
      const { body, link, state, radius } = this.parts.get(branch);
      const { x, y } = branch.at;
      body.setAttribute("transform", `translate(${x} ${y})`);
      if (branch.level > 1) link.setAttribute("d", curve(this.#end(branch.parent), { x: x - radius - 3, y }));
      if (state.textContent) this.#placeState(body, state);
    }
  }

  // A link leaves its parent behind the parent's words.
  #end(parent) {
    const { body } = this.parts.get(parent);
    const box = (body.extent ??= body.querySelector("text").getBBox());
    return { x: parent.at.x + box.x + box.width + 6, y: parent.at.y };
  }

  #placeState(body, state) {
    const box = (body.extent ??= body.querySelector("text").getBBox());
    set(state, { x: box.x + box.width + 6, y: 4 });
  }
}

function make(name, attributes, children = []) {
  const element = set(document.createElementNS(NAMESPACE, name), attributes);
  element.append(...children);
  return element;
}

function set(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function corners(kind, radius) {
  const [count, first] = { hexagon: [6, -90], diamond: [4, 0], triangle: [3, -90], square: [4, 45] }[kind];
  const angles = Array.from({ length: count }, (_, at) => ((first + (at * 360) / count) * Math.PI) / 180);
  return angles.map((angle) => `${radius * Math.cos(angle)},${radius * Math.sin(angle)}`).join(" ");
}

function curve(from, to) {
  const middle = (from.x + to.x) / 2;
  return `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
}

/** A name on one or two lines. */
function wrapped(name) {
  const text = shortText(name, 2 * LETTERS);
  if (text.length <= LETTERS) return [text];
  const space = text.lastIndexOf(" ", LETTERS);
  const cut = space > 8 ? space : null;
  if (cut !== null) return [text.slice(0, cut), shortText(text.slice(cut + 1), LETTERS)];
  return [shortText(name, LETTERS)];
}

function toldOf({ line, node, reason, name }) {
  if (line) return reason ?? name;
  return [node.name, node.summary].filter(Boolean).join("\n");
}

function labelOf({ line, node, name }) {
  if (line) return name;
  const kind = kindName(node.kind).toLowerCase();
  return [node.name || node.summary || "without a name", kind, sizeOf(node)].filter(Boolean).join(", ");
}
