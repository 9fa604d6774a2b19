// The graph on the stage: what is shown of it, its legend, the card of the chosen node, and steps drawn on it.

import { announce } from "./announce.js";
import { el, fill } from "./dom.js";
import { icon } from "./icons.js";
import { get, post } from "./api.js";
import { about } from "./about.js";
import { count, counted, named } from "./format.js";
import { findBox } from "./find-box.js";
import { Legend, legendKey, repaintSwatches } from "./legend.js";
import { NodeCard } from "./node-card.js";
import { emptyState, failure, linkButton, loading } from "./states.js";
import { currentRoute, routeTo, setParameters } from "./router.js";

const MOST_IDS = 500;
const WHOLE = 10_000;
const AROUND = 40;
const STRUCTURE = new Set(["MENTIONS", "FROM_CHUNK", "FROM_DOCUMENT", "SUBJECT", "OBJECT", "VALUE", "MEMBER_OF", "PAGE_OF"]);

/** What the steps and the evidence of `ids` look like in the graph. */
export function subgraphOf(ids) {
  return post("api/graph/subgraph", { ids: [...new Set(ids)].slice(0, MOST_IDS) });
}

export class GraphPanel {
  /** `openDocument(document, start, end)`. `owner`: the replay whose steps the picture shows, if it shows one's. */
  constructor({ openDocument }) {
    this.nodes = new Map();
    this.edges = new Map();
    this.listeners = new Set();
    this.owner = null;
    this.title = el("p", { class: "graph-title muted" });
    this.canvas = el("div", { class: "canvas", tabindex: "0", role: "application", "aria-label": "Graph. Plus and minus zoom, arrows move, Enter expands the chosen node. The list under Graph has the same nodes." });
    this.notice = el("div", { class: "graph-notice" });
    this.legend = new Legend((hidden) => this.#hide(hidden));
    this.card = new NodeCard({
      close: () => this.choose(null),
      expand: (node) => this.expand(node),
      hide: (node) => this.take(node),
      pick: (node) => this.goTo(node),
      open: openDocument,
    });
    this.tools = el("div", { class: "graph-tools" }, findBox((node) => this.goTo(node)), this.#tools());
    this.element = el("div", { class: "graph-body" }, this.canvas, this.notice, this.title, this.legend.element, this.card.element);
    window.addEventListener("themechange", () => (this.view?.setTheme(theme()), repaintSwatches()));
  }

  #tools() {
    const tool = (name, symbol, label, does) =>
      el("button", { class: "quiet icon-only", type: "button", "aria-label": label, title: label, data: { tool: name }, on: { click: does } }, icon(symbol));
    return el("div", { class: "tool-row", role: "group", "aria-label": "Picture" },
      tool("whole", "map", "Whole graph", () => this.showWhole()),
      tool("in", "plus", "Zoom in", () => this.view?.zoomIn()),
      tool("out", "minus", "Zoom out", () => this.view?.zoomOut()),
      tool("fit", "fit", "Fit into view", () => this.view?.fit()),
      tool("save", "image", "Save as a picture", () => this.#save()));
  }

  /** The drawing library is loaded when the first picture is wanted, after the page stands. */
  async #ready() {
    this.loaded ??= import("./graph-view.js").then(({ GraphView }) => {
      this.view = new GraphView(this.canvas, {
        onSelect: (node) => this.choose(node, { fromPicture: true }),
        onExpand: (node) => this.expand(node),
        onEdge: (edge) => this.#tellEdge(edge && (this.edges.get(edge.id) ?? edge)),
      });
      this.view.setTheme(theme());
    });
    await this.loaded.catch((fault) => {
      this.loaded = null; // the next picture tries again
      throw fault;
    });
  }

  onChange(listener) {
    this.listeners.add(listener);
  }

  // ------------------------------------------------------------------------------------------------- what is shown

  /** The most connected part of the whole graph. */
  async showWhole() {
    fill(this.notice, loading("Drawing the graph"));
    try {
      const [map] = await Promise.all([get(`api/graph/map?limit=${WHOLE}`), this.#ready()]);
      this.#forget();
      map.ids.forEach((id, at) => this.nodes.set(id, { id, name: map.names[at], kind: map.kinds?.[at] ?? "Entity", type: map.types[at], text: "", degree: undefined }));
      this.view.setMap(map);
      this.whole = true;
      this.#changed(map.total_nodes > map.ids.length ? `The ${count(map.ids.length)} most connected of ${counted(map.total_nodes, "entity", "entities")}` : `All ${counted(map.ids.length, "entity", "entities")}`);
      fill(this.notice, map.ids.length ? null : this.#nothing());
    } catch (fault) {
      fill(this.notice, failure(fault, () => this.showWhole()));
    }
  }

  /** Exactly these nodes and edges. */
  async show(graph, title) {
    await this.#ready();
    this.#forget();
    this.#take(graph);
    this.view.setGraph({ nodes: graph.nodes, edges: graph.edges.map(quiet) });
    fill(this.notice, graph.nodes.length ? null : emptyState("node", "Nothing to draw", "None of this is in the graph, or no longer."));
    this.#changed(title);
  }

  /** These too, beside what is there. */
  async add(graph, around = null, title = null) {
    await this.#ready();
    this.#take(graph);
    fill(this.notice);
    this.view.addGraph({ nodes: graph.nodes, edges: graph.edges.map(quiet) }, { around });
    this.#changed(title);
  }

  async clear(title = "") {
    await this.#ready();
    this.#forget();
    this.view.clear();
    fill(this.notice);
    this.#changed(title);
  }

  get isEmpty() {
    return this.nodes.size === 0;
  }

  #forget() {
    this.nodes.clear();
    this.edges.clear();
    this.owner?.pause();
    this.owner = null;
    this.whole = false;
    this.legend.reset();
    this.card.hide();
  }

  #take({ nodes, edges }) {
    for (const node of nodes) this.nodes.set(node.id, node);
    for (const edge of edges) this.edges.set(edge.id, edge);
  }

  #changed(title) {
    if (title !== null && title !== undefined) this.title.textContent = title;
    this.legend.draw(this.nodes.values());
    for (const listener of this.listeners) listener([...this.nodes.values()]);
  }

  #nothing() {
    if (about()?.documents) return emptyState("node", "No entity yet", "The documents are in, but nothing was extracted from them.", linkButton(routeTo("documents"), "Go to documents"));
    return emptyState("upload", "The graph is empty", "Add documents, and what they say will be drawn here.", linkButton(routeTo("documents"), "Add documents", { primary: true }));
  }

  #hide(hidden) {
    const shown = [...this.nodes.values()].filter((node) => !hidden.has(legendKey(node)));
    if (this.view.setHidden) this.view.setHidden(hidden);
    else this.view.highlight({ nodes: shown.map(({ id }) => id), edges: [] }, { dim: true });
    announce(`${counted(shown.length, "node")} in the picture`);
    for (const listener of this.listeners) listener(shown);
  }

  // ----------------------------------------------------------------------------------------------------- one node

  /** Choose a node of the picture, or none. */
  choose(node, { fromPicture = false } = {}) {
    if (!node) {
      this.card.hide();
      if (!fromPicture) this.view?.select(null);
    } else {
      const known = this.nodes.get(node.id) ?? node;
      if (!fromPicture) this.view.select(node.id);
      this.card.show(node.id, known);
      announce(`${named(known.name)}, ${legendKey(known)}`);
    }
    const id = node?.id ?? null;
    if ((currentRoute().parameters.node ?? null) !== id) setParameters({ node: id }, { replace: true });
  }

  /** Bring a node into the picture, wherever it is in the graph, and choose it. */
  async goTo(node) {
    await this.#ready();
    if (!this.view.has(node.id)) {
      try {
        const graph = await get(`api/graph/neighbours/${encodeURIComponent(node.id)}?limit=${AROUND}`);
        if (this.whole || this.isEmpty) await this.show(graph, `Around ${named(graph.nodes.find(({ id }) => id === node.id)?.name)}`);
        else await this.add(graph, null);
      } catch (fault) {
        this.card.show(node.id, node.name ? node : null);
        return fill(this.notice, this.isEmpty ? failure(fault) : null);
      }
    }
    this.choose(this.nodes.get(node.id) ?? node);
    this.view.focus([node.id]);
  }

  /** Draw the neighbours of a node around it. */
  async expand(node) {
    try {
      const graph = await get(`api/graph/neighbours/${encodeURIComponent(node.id)}?limit=${AROUND}`);
      const before = this.nodes.size;
      await this.add(graph, node.id);
      const more = graph.more ? `; ${count(graph.more)} more are not shown` : "";
      this.title.textContent = `${counted(this.nodes.size - before, "neighbour")} of ${named(node.name)} added${more}`;
      announce(this.title.textContent);
    } catch (fault) {
      this.title.textContent = fault.message;
    }
  }

  /** Take a node out of the picture; the graph keeps it. */
  take(node) {
    this.view.remove(node.id);
    this.nodes.delete(node.id);
    for (const [id, edge] of this.edges) if (edge.source === node.id || edge.target === node.id) this.edges.delete(id);
    this.choose(null);
    this.#changed();
  }

  #tellEdge(edge) {
    if (!edge) return;
    const [from, to] = [this.nodes.get(edge.source), this.nodes.get(edge.target)];
    this.title.textContent = `${named(from?.name)} — ${edge.label || edge.type} → ${named(to?.name)}`;
  }

  // -------------------------------------------------------------------------------------------------------- steps

  /** Light up what a step was at, and dim the rest. `graph` is its part of the picture. */
  light(graph, facts = []) {
    if (!this.view) return;
    const stated = new Set(facts);
    const mine = graph.edges.filter((edge) => edge.fact && stated.has(edge.fact));
    const edges = (mine.length ? mine : graph.edges).map(({ id }) => id);
    this.view.highlight({ nodes: graph.nodes.map(({ id }) => id), edges }, { dim: true });
  }

  unlight() {
    this.view?.clearHighlight();
  }

  fit() {
    this.view?.fit();
  }

  async #save() {
    if (!this.view) return;
    const address = URL.createObjectURL(await this.view.toPNG());
    el("a", { href: address, download: "graph.png" }).click();
    window.setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
}

/** Edges that only say where something stands are drawn without words: there are many, and their ends tell. */
function quiet(edge) {
  return STRUCTURE.has(edge.type) ? { ...edge, label: "", type: "" } : edge;
}

function theme() {
  return document.documentElement.dataset.theme;
}
