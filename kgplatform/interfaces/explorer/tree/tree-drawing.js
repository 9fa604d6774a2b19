// The elements of the tree's picture. They are nested as the tree is, for those who hear it.

import { kindShape, typeColor } from "../shared/colors.js";
import { set, svg } from "../shared/dom.js";
import { kindName, shortText, sizeOf } from "../shared/format.js";

/** Pixels from one line to the next. */
export const ROW = 42;
const LETTERS = 27;
const LINE = 14;

export class Drawing {
  constructor(container) {
    this.svg = svg("svg", { width: "100%", height: "100%" });
    Object.assign(this.svg.style, { display: "block", cursor: "grab", userSelect: "none" });
    this.links = svg("g", { fill: "none", "stroke-width": 1.3, "aria-hidden": "true" });
    this.tree = svg("g", { role: "tree", "aria-label": "Knowledge tree" });
    this.scene = svg("g", {}, [this.links, this.tree]);
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

  /** Make what is seen, keep what was, take away what is no longer. Places come with `place`. */
  draw(branches, { current, selected }) {
    const kept = new Set(branches.visible());
    const hadFocus = this.hadFocus || this.tree.contains(document.activeElement);
    this.hadFocus = false;
    for (const [branch, { item, link }] of this.parts) {
      if (kept.has(branch)) continue;
      item.remove();
      link.remove();
      this.parts.delete(branch);
    }
    this.#fill(this.tree, branches.root);
    this.tree.setAttribute("aria-busy", String(branches.root.busy));
    this.mark({ current, selected });
    if (hadFocus && current && !this.tree.contains(document.activeElement)) this.focus(current);
  }

  #fill(group, parent) {
    parent.below.forEach((branch, at) => {
      const part = this.parts.get(branch) ?? this.#make(branch);
      if (group.children[at] !== part.item) group.insertBefore(part.item, group.children[at] ?? null);
      this.#describe(branch, part, at, parent);
      if (branch.below.length) {
        if (!part.group) part.item.append((part.group = svg("g", { role: "group" })));
        this.#fill(part.group, branch);
      } else {
        part.group?.remove();
        part.group = null;
      }
    });
  }

  #describe(branch, { item, state, name }, at, parent) {
    set(item, { "aria-level": branch.level, "aria-posinset": at + 1, "aria-setsize": parent.below.length, "aria-busy": String(branch.busy) });
    if (branch.mayOpen) item.setAttribute("aria-expanded", String(branch.open));
    else item.removeAttribute("aria-expanded");
    state.textContent = branch.busy ? "…" : branch.mayOpen && !branch.open ? `+${branch.node.children}` : "";
    if (branch.line) {
      item.setAttribute("aria-label", branch.name);
      name.textContent = branch.name;
    }
  }

  #make(branch) {
    const ring = svg("rect", { rx: 6, fill: "none", stroke: this.theme.accent, "stroke-width": 2, visibility: "hidden" });
    const state = svg("text", { "font-size": 11, fill: this.theme.quiet, "aria-hidden": "true" });
    const { shape, radius } = this.#symbol(branch);
    const { text, name } = this.#words(branch, radius);
    // A body has no empty places: between its symbol and its words there is something to press, too.
    const place = { x: -radius, y: -ROW / 2 + 1, height: ROW - 2, width: radius + 204 };
    const ground = svg("rect", { ...place, rx: 6, fill: this.theme.accent, "fill-opacity": 0 });
    const { line, node, reason, name: called } = branch;
    const label = line ? called : [node.name || node.summary || "without a name", kindName(node.kind).toLowerCase(), sizeOf(node)].filter(Boolean).join(", ");
    const told = line ? (reason ?? called) : [node.name, node.summary].filter(Boolean).join("\n");
    const body = svg("g", { "data-body": "" }, ground, ring, shape, text, state, svg("title", {}, told));
    body.style.cursor = "pointer";
    const item = svg("g", { role: "treeitem", "aria-label": label, "data-id": branch.node?.id ?? "" }, [body]);
    item.style.outline = "none";
    const link = svg("path", { opacity: 0.6 });
    if (branch.level > 1) this.links.append(link);
    const part = { item, body, ground, ring, link, state, name, radius, group: null };
    item.addEventListener("focus", () => this.#ring(part));
    item.addEventListener("blur", () => ring.setAttribute("visibility", "hidden"));
    this.parts.set(branch, part);
    for (const element of [body, item]) this.branches.set(element, branch);
    return part;
  }

  /** The ring round a body that has the keyboard. */
  #ring({ body, ring }) {
    const boxes = [...body.querySelectorAll("[data-symbol], text")].map((each) => each.getBBox()).filter(({ width }) => width);
    const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
    const [right, bottom] = [Math.max(...boxes.map((box) => box.x + box.width)), Math.max(...boxes.map((box) => box.y + box.height))];
    set(ring, { x: x - 4, y: y - 2, width: right - x + 8, height: bottom - y + 4, visibility: "visible" });
  }

  #symbol(branch) {
    if (branch.line) return { radius: 4, shape: svg("circle", { r: 3, fill: this.theme.quiet, "data-symbol": "" }) };
    const { kind: label, size, summary } = branch.node;
    const radius = Math.min(17, 5 + 1.3 * Math.sqrt(Math.max(0, size)));
    const fill = typeColor(label === "Entity" && summary ? summary : label);
    const kind = kindShape(label);
    const shape = kind === "circle" ? svg("circle", { r: radius }) : svg("polygon", { points: corners(kind, radius) });
    return { shape: set(shape, { fill, stroke: this.theme.surface, "stroke-width": 1.5, "data-symbol": "" }), radius };
  }

  #words(branch, radius) {
    const lines = wrapped(branch.line ? branch.name : branch.node.name || branch.node.summary || branch.node.kind);
    const x = radius + 8;
    const style = { "font-size": 12.5, fill: branch.line ? this.theme.accent : this.theme.text };
    const halo = { stroke: this.theme.surface, "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round" };
    const spans = lines.map((line, at) => svg("tspan", { x, y: (at - (lines.length - 1) / 2) * LINE + 4 }, line));
    const text = svg("text", { ...style, ...halo }, spans);
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

  place(visible) {
    for (const branch of visible) {
      const { body, link, state, radius } = this.parts.get(branch);
      const { at: { x, y }, parent } = branch;
      body.setAttribute("transform", `translate(${x} ${y})`);
      if (branch.level > 1) {
        const [from, to] = [parent.at.x + this.#behindWords(parent), x - radius - 3];
        link.setAttribute("d", `M${from} ${parent.at.y}C${(from + to) / 2} ${parent.at.y} ${(from + to) / 2} ${y} ${to} ${y}`);
      }
      if (state.textContent) set(state, { x: this.#behindWords(branch), y: 4 });
    }
  }

  /** How far from the middle of a branch its words end, and a little room. */
  #behindWords(branch) {
    const part = this.parts.get(branch);
    part.extent ??= part.body.querySelector("text").getBBox();
    return part.extent.x + part.extent.width + 6;
  }
}

function corners(kind, radius) {
  const [count, first] = { hexagon: [6, -90], diamond: [4, 0], triangle: [3, -90], square: [4, 45] }[kind];
  const angles = Array.from({ length: count }, (_, at) => ((first + (at * 360) / count) * Math.PI) / 180);
  return angles.map((angle) => `${radius * Math.cos(angle)},${radius * Math.sin(angle)}`).join(" ");
}

/** A name on one or two lines. */
function wrapped(name) {
  const text = shortText(name, 2 * LETTERS);
  if (text.length <= LETTERS) return [text];
  const space = text.lastIndexOf(" ", LETTERS);
  return space > 8 ? [text.slice(0, space), shortText(text.slice(space + 1), LETTERS)] : [shortText(name, LETTERS)];
}
