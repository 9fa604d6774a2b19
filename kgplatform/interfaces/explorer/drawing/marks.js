// What stands out in a picture: what is lit, chosen, or below the pointer.

import { eased, prefersStill } from "./camera.js";
import { otherEnd } from "./scene.js";

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
    Object.assign(this, { selected: null, hovered: null, hoveredEdge: null, lit: null });
    Object.assign(this, { dim: 0, dimTo: 0, fade: null });
  }

  /** A node is about to go from the picture. */
  forget(node) {
    if (this.selected === node) this.selected = null;
    if (this.hovered === node) this.hovered = null;
    if (node.edges.includes(this.hoveredEdge)) this.hoveredEdge = null;
    this.lit?.nodes.delete(node);
    for (const edge of node.edges) this.lit?.edges.delete(edge);
  }

  light(scene, nodeIds, edgeIds, dim) {
    const nodes = new Set(nodeIds.map((id) => scene.nodes.get(id)).filter(Boolean));
    const among = () => [...nodes].flatMap((node) => node.edges.filter((edge) => nodes.has(otherEnd(edge, node))));
    const edges = new Set(edgeIds ? edgeIds.map((id) => scene.edges.get(id)).filter(Boolean) : among());
    for (const { source, target } of edges) nodes.add(source).add(target);
    this.lit = { nodes, edges };
    this.#fadeTo(dim ? 1 : 0);
  }

  unlight() {
    this.lit = null;
    this.#fadeTo(0);
  }

  // ---------------------------------------------------------------------------------------------------------- fading

  #fadeTo(dimTo) {
    this.fade = { from: this.dim, to: dimTo, start: performance.now() };
    if (!prefersStill()) return;
    this.dim = dimTo;
    this.fade = null;
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

  // ------------------------------------------------------------------------------------------------------- what it is

  pointedAt() {
    return [...new Set([this.selected, this.hovered])].filter((node) => node && !node.hidden);
  }

  litNodes() {
    return [...(this.lit?.nodes ?? [])].filter((node) => !node.hidden);
  }

  edges() {
    // Beside what is lit, the spokes of a chosen node would look lit too.
    const hubs = this.lit ? [this.hovered].filter(Boolean) : this.pointedAt();
    const spokes = hubs.flatMap((node) => node.edges.slice(0, MOST_SPOKES));
    const all = new Set([...(this.lit?.edges ?? []), ...spokes, ...(this.hoveredEdge ? [this.hoveredEdge] : [])]);
    return [...all].filter(({ source, target }) => !source.hidden && !target.hidden);
  }

  /** The ends of the edges that stand out: they are drawn over them. */
  nodesOfEdges() {
    return new Set(this.edges().flatMap(({ source, target }) => [source, target]));
  }
}
