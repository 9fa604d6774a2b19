// What stands out in a picture: what is lit, chosen, or below the pointer.

import { eased, prefersStill } from "./camera.js";

const FADING = 180;
/** What is left of the rest beside what is lit. */
const DIMMED = 0.4;
/** A hub's neighbours are too many to stand out. */
const MOST_SPOKES = 400;

export class Marks {
  constructor() {
    this.clear();
  }

  clear() {
    Object.assign(this, { selected: null, hovered: null, hoveredEdge: null, lit: null, dim: 0, fade: null });
  }

  /** A node is about to go from the picture. */
  forget(node) {
    if (this.selected === node) this.selected = null;
    if (this.hovered === node) this.hovered = null;
    if (node.edges.includes(this.hoveredEdge)) this.hoveredEdge = null;
    this.lit?.nodes.delete(node);
    for (const edge of node.edges) this.lit?.edges.delete(edge);
  }

  /** Let these nodes and edges stand out, and the rest fade; nothing where `lit` is null. */
  light(lit) {
    this.lit = lit;
    const to = lit ? 1 : 0;
    if (prefersStill()) Object.assign(this, { dim: to, fade: null });
    else this.fade = { from: this.dim, to, start: performance.now() };
  }

  get moving() {
    return this.fade !== null;
  }

  step(now) {
    if (!this.fade) return;
    const { from, to, start } = this.fade;
    const part = Math.min(1, Math.max(0, (now - start) / FADING));
    this.dim = from + (to - from) * eased(part);
    if (part >= 1) this.fade = null;
  }

  /** How opaque all is that does not stand out. */
  get restAlpha() {
    return 1 - this.dim * (1 - DIMMED);
  }

  pointedAt() {
    return [...new Set([this.selected, this.hovered])].filter((node) => node && !node.hidden);
  }

  edges() {
    // Beside what is lit, the spokes of a chosen node would look lit too.
    const hubs = this.lit ? [this.hovered].filter(Boolean) : this.pointedAt();
    const spokes = hubs.flatMap((node) => node.edges.slice(0, MOST_SPOKES));
    const all = new Set([...(this.lit?.edges ?? []), ...spokes, ...(this.hoveredEdge ? [this.hoveredEdge] : [])]);
    return [...all].filter(({ source, target }) => !source.hidden && !target.hidden);
  }

  /** The nodes that are drawn over those edges: their ends, and what is lit. */
  nodes() {
    return new Set([...this.edges().flatMap(({ source, target }) => [source, target]), ...[...(this.lit?.nodes ?? [])].filter((node) => !node.hidden)]);
  }
}
