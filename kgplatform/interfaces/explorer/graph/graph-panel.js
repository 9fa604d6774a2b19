// The graph on the stage: what is shown of it, its legend, the card of the chosen node, and steps drawn on it.

import { about, drawing, get, post } from "../shared/api.js";
import { legendKey, swatch, typeName } from "../shared/colors.js";
import { announce, el, emptyState, failure, fill, iconButton, linkButton, loading, set } from "../shared/dom.js";
import { findBox } from "../shared/fields.js";
import { count, counted, named, readable, shortened } from "../shared/format.js";
import { currentRoute, routeTo, setParameters } from "../shared/router.js";
import { whereOf } from "./graph-filters.js";
import { NodeCard } from "./node-card.js";
import { timeBar } from "./time-bar.js";

const MOST_IDS = 500;
const WHOLE = 10_000;
const AROUND = 40;
const LONGEST_TITLE = 120;
const NARROW = 560;
const STRUCTURE = new Set(["MENTIONS", "FROM_CHUNK", "FROM_DOCUMENT", "SUBJECT", "OBJECT", "VALUE", "MEMBER_OF", "PAGE_OF"]);

/** What the steps and the evidence of `ids` look like in the graph. */
export const subgraphOf = (ids) => post("api/graph/subgraph", { ids: [...new Set(ids)].slice(0, MOST_IDS) });

export class GraphPanel {
  /** `openDocument(document, start, end)`. `onShown(nodes)`: what is seen in the picture has changed. */
  constructor({ openDocument }) {
    this.nodes = new Map();
    this.edges = new Map();
    this.onShown = () => {};
    /** The replay whose steps the picture shows, if it shows one's. */
    this.owner = null;
    /** Ids of the nodes that are lit, and types that are not to be seen. */
    this.lit = [];
    this.hidden = new Set();
    /** Of the pictures that were asked for; the last one counts. */
    this.turn = 0;
    this.isLoading = false;
    /** What of an address the picture was made for; null where it was not. */
    this.scene = null;
    this.title = el("p", { class: "graph-title muted" });
    this.canvas = el("div", { class: "canvas", tabindex: "0", role: "application", "aria-label": "Graph. Plus and minus zoom, arrows move, Shift and arrows choose the next node, Enter expands it. The list under Graph has the same nodes." });
    this.notice = el("div", { class: "graph-notice" });
    this.legend = el("div", { class: "legend", role: "group", "aria-label": "Types in the picture: press one to hide it", hidden: true });
    this.card = new NodeCard({
      close: () => this.choose(null),
      expand: (node) => this.expand(node),
      hide: (node) => this.take(node),
      pick: (node) => this.goTo(node),
      open: openDocument,
    });
    this.time = timeBar(() => this.#tellShown());
    this.findBox = findBox((node) => this.goTo(node));
    const tool = (name, symbol, label, does) => iconButton(symbol, label, does, { data: { tool: name } });
    this.tools = el("div", { class: "graph-tools" }, this.findBox, el("div", { class: "tool-row", role: "group", "aria-label": "Picture" },
      tool("whole", "map", "Whole graph", () => this.showWhole()),
      tool("in", "plus", "Zoom in", () => this.view?.zoomIn()),
      tool("out", "minus", "Zoom out", () => this.view?.zoomOut()),
      tool("fit", "fit", "Fit into view", () => this.view?.fit()),
      set(tool("time", "clock", "At a time", () => setParameters({ time: this.time.year === null ? new Date().getFullYear() : null }, { replace: true })), { "aria-pressed": "false" }),
      tool("save", "image", "Save as a picture", () => this.#save())));
    this.element = el("div", { class: "graph-body" }, el("div", { class: "graph-picture" }, this.canvas, this.notice, this.title, this.card.element), this.time.element, this.legend);
    window.addEventListener("themechange", () => this.view?.setTheme(theme()));
  }

  /** The drawing library is loaded when the first picture is wanted, after the page stands. */
  async #ready() {
    this.loaded ??= import("./view.js").then(({ GraphView }) => {
      this.view = new GraphView(this.canvas, {
        onSelect: (node) => this.choose(node, { fromPicture: true }),
        onExpand: (node) => this.expand(node),
        onEdge: (edge) => this.#tellEdge(edge && (this.edges.get(edge.id) ?? edge)),
        onRest: (ids) => this.#nameLines(ids),
      });
      this.view.setTheme(theme());
    });
    await this.loaded.catch((fault) => {
      this.loaded = null; // the next picture tries again
      throw fault;
    });
  }

  /** The most connected part of the whole graph. `only`: what its entities meet, as an address has it; `hide`: types
   * that are not seen; `view`: [x, y, zoom] of who looks at it. */
  showWhole(how = {}) {
    const { only = null, hide = [], view = null } = how;
    this.scene = null;
    this.how = how;
    const { where: metadata = "", ...others } = only ?? {};
    return this.#draw(() => get(`api/graph/map?${new URLSearchParams({ limit: WHOLE, ...others, metadata })}`), (map) => {
      this.#forget();
      map.ids.forEach((id, at) => this.nodes.set(id, { id, name: map.names[at], kind: map.kinds[at], type: map.types[at], text: "" }));
      this.#drawLegend();
      this.view.setMap(map);
      this.#look(hide, view);
      this.whole = true;
      this.#changed(titleOf(map, only));
      fill(this.notice, map.ids.length ? null : this.#nothing(only));
    });
  }

  /** The shortest ways from one node to another. */
  showWays(from, to, seen) {
    const address = `api/graph/ways?${new URLSearchParams({ source: from, target: to })}`;
    return this.#showLoaded(() => get(address), seen, ({ nodes }) => {
      if (!nodes.length) return "Nothing joins the two";
      return nodes.some(({ kind }) => kind === "Chunk") ? "No fact joins the two: they are named together, in these passages" : "The shortest ways between the two";
    }, "No fact joins the two, and no passages that name them do.");
  }

  /** These nodes (ids), and the edges among them. */
  showNodes(ids, seen) {
    return this.#showLoaded(() => subgraphOf(ids), seen, ({ nodes }) => counted(nodes.length, "node"));
  }

  #showLoaded(load, { hide, view }, title, none) {
    return this.#draw(load, async (graph) => {
      const { scene } = this;
      await this.show(graph, title(graph), none);
      this.scene = scene;
      this.#look(hide, view);
    });
  }

  /** `put` in the picture what `load()` resolves to, unless another one is wanted meanwhile. */
  async #draw(load, put) {
    const turn = (this.turn += 1);
    this.isLoading = true;
    fill(this.notice, loading(drawing("the graph")));
    try {
      const [loaded] = await Promise.all([load(), this.#ready()]);
      if (turn !== this.turn) return;
      await put(loaded);
    } catch (fault) {
      if (turn === this.turn) fill(this.notice, failure(fault, () => this.#draw(load, put)));
    } finally {
      if (turn === this.turn) this.isLoading = false;
    }
  }

  /** As a scene was left: these types hidden, and seen from there. */
  #look(hide, view) {
    if (hide.length) {
      for (const key of hide) this.hidden.add(key);
      this.view.setHidden(this.hidden);
      this.#drawLegend();
    }
    if (view?.length === 3 && view.every(Number.isFinite) && view[2] > 0) this.view.standAt(...view);
  }

  /** What the lines between these say: they are near enough to be read. Without an answer they stay lines. */
  async #nameLines(ids) {
    const { turn } = this;
    const graph = await subgraphOf(ids).catch(() => null);
    if (!graph || turn !== this.turn) return;
    for (const edge of graph.edges) this.edges.set(edge.id, edge);
    this.view.addGraph({ nodes: [], edges: graph.edges.map(quiet) });
    this.time.apply(this.view);
  }

  /** Exactly these nodes and edges. */
  async show(graph, title, none = "None of this is in the graph any more.") {
    this.turn += 1;
    this.isLoading = false;
    this.scene = null;
    await this.#ready();
    this.#forget();
    this.#take(graph);
    this.#drawLegend();
    this.view.setGraph({ nodes: graph.nodes, edges: graph.edges.map(quiet) });
    fill(this.notice, graph.nodes.length ? null : emptyState("node", "Nothing to draw", none));
    this.#changed(title);
  }

  /** What is shown, as it is by now; `now(id)`: what a node has become, null where it is gone. */
  async redraw(now) {
    if (this.isEmpty) return;
    const { scene } = this;
    if (this.whole) await this.showWhole(this.how);
    else {
      const ids = new Set([...this.nodes.keys()].map(now));
      const { nodes, edges } = await subgraphOf([...ids].filter(Boolean));
      const there = new Set(nodes.map(({ id }) => id).filter((id) => ids.has(id))); // not what is near them
      await this.show({ nodes: nodes.filter(({ id }) => there.has(id)), edges: edges.filter(({ source, target }) => there.has(source) && there.has(target)) }, this.title.textContent);
    }
    this.scene = scene;
  }

  /** These too, beside what is there. */
  async add(graph, around = null, title = null) {
    await this.#ready();
    this.#take(graph);
    this.#drawLegend();
    fill(this.notice);
    this.view.addGraph({ nodes: graph.nodes, edges: graph.edges.map(quiet) }, { around });
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
    this.lit = [];
    this.whole = false;
    this.card.hide();
    this.view.clear();
    this.hidden.clear();
    this.view.setHidden(this.hidden);
  }

  #take({ nodes, edges }) {
    for (const node of nodes) this.nodes.set(node.id, node);
    for (const edge of edges) this.edges.set(edge.id, edge);
  }

  #changed(title) {
    if (title !== null && title !== undefined) this.tell(title);
    this.#tellShown();
  }

  /** What is seen of the picture, in its year and of the types that are not hidden. Returns how many nodes. */
  #tellShown() {
    this.time.apply(this.view);
    const shown = [...this.nodes.values()].filter(({ id }) => !this.view?.scene.nodes.get(id)?.hidden);
    this.onShown(shown);
    return shown.length;
  }

  /** Show what is so in a year, as an address has it; null: all. */
  standIn(year) {
    if (!this.time.set(year)) return;
    this.tools.querySelector("[data-tool=time]").setAttribute("aria-pressed", String(this.time.year !== null));
    this.view?.resize();
    this.#tellShown();
  }

  /** What stands above the picture. Names may be long. */
  tell(title) {
    this.title.textContent = shortened(title, LONGEST_TITLE);
  }

  /** What the colours mean, with counts. It takes room of the picture, and is there before that is fitted into the rest. */
  #drawLegend() {
    const found = new Map();
    for (const node of this.nodes.values()) {
      const key = legendKey(node);
      found.set(key, { key, node, number: (found.get(key)?.number ?? 0) + 1 });
    }
    const sorted = [...found.values()].sort((one, other) => other.number - one.number || (one.key < other.key ? -1 : 1));
    fill(this.legend, sorted.map(({ key, node, number }) =>
      el("button", { type: "button", class: "legend-key", "aria-pressed": String(!this.hidden.has(key)), on: { click: ({ currentTarget }) => this.#toggle(key, currentTarget) } },
        swatch(key, node.kind), el("span", { class: "ellipsis" }, typeName(node)), el("span", { class: "muted" }, count(number)))));
    this.legend.hidden = !sorted.length;
    this.view.resize();
  }

  /** Take a type out of the picture, or bring it back. */
  #toggle(key, pressed = null) {
    if (!this.hidden.delete(key)) this.hidden.add(key);
    pressed?.setAttribute("aria-pressed", String(!this.hidden.has(key)));
    this.view.setHidden(this.hidden);
    announce(`${counted(this.#tellShown(), "node")} in the picture`);
  }

  #nothing(only) {
    if (only) return emptyState("node", "Nothing fits the filters", "Take one of them away to see more.");
    if (about()?.documents) return emptyState("node", "No entities yet", "The documents were added, but nothing was extracted from them.", linkButton(routeTo("documents"), "Go to documents"));
    return emptyState("upload", "The graph is empty", "Add documents, and what they say is drawn here.", linkButton(routeTo("documents"), "Add documents", { primary: true }));
  }

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
    if (!this.nodes.has(node.id)) {
      try {
        const graph = await get(`api/graph/neighbours/${encodeURIComponent(node.id)}?limit=${AROUND}`);
        if (this.whole || this.isEmpty) await this.show(graph, `Around ${shortened(named(graph.nodes.find(({ id }) => id === node.id)?.name), 60)}`);
        else await this.add(graph, null);
      } catch {
        if (this.isEmpty && !this.isLoading) await this.showWhole();
        return this.card.show(node.id, node.name ? node : null); // it says what is the matter
      }
    }
    const known = this.nodes.get(node.id) ?? node;
    if (this.hidden.has(legendKey(known))) (this.#toggle(legendKey(known)), this.#drawLegend());
    this.choose(known);
    // Not under the card, which is as in the style sheet: at the side, and on a narrow screen below.
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.view.focus([node.id], width < NARROW ? { bottom: 0.45 * height } : { right: 336 });
  }

  /** Draw the neighbours of a node around it. */
  async expand(node) {
    const name = shortened(named(node.name), 60);
    this.tell(`Looking for the neighbours of ${name} …`);
    try {
      const graph = await get(`api/graph/neighbours/${encodeURIComponent(node.id)}?limit=${AROUND}`);
      const before = this.nodes.size;
      await this.add(graph, node.id);
      const more = graph.more ? `; ${count(graph.more)} more are not shown` : "";
      const added = this.nodes.size - before;
      this.tell(added ? `${counted(added, "neighbour")} of ${name} added${more}` : `The neighbours of ${name} are in the picture already${more}`);
    } catch (fault) {
      this.tell(fault.message);
    }
    announce(this.title.textContent);
  }

  /** Take a node out of the picture; the graph keeps it. */
  take(node) {
    this.view.remove(node.id);
    this.nodes.delete(node.id);
    for (const [id, edge] of this.edges) if (edge.source === node.id || edge.target === node.id) this.edges.delete(id);
    this.choose(null);
    this.#drawLegend();
    this.#changed();
  }

  /** An edge that was pressed: what it says, and, of one that comes from a fact, where the documents say so. */
  #tellEdge(edge) {
    if (!edge) return;
    const [from, to] = [this.nodes.get(edge.source), this.nodes.get(edge.target)];
    this.tell(`${shortened(named(from?.name), 40)} — ${shortened(edge.label || edge.type, 40)} → ${shortened(named(to?.name), 40)}`);
    if (!edge.fact) return;
    this.view.select(null);
    this.choose({ id: edge.fact, name: this.title.textContent, kind: "Fact", type: null }, { fromPicture: true });
  }

  /** Light up what a step was at, and dim the rest. `graph` is its part of the picture. */
  light(graph, facts = []) {
    if (!this.view) return;
    const stated = new Set(facts);
    const mine = graph.edges.filter((edge) => edge.fact && stated.has(edge.fact));
    const edges = (mine.length ? mine : graph.edges).map(({ id }) => id);
    this.lit = graph.nodes.map(({ id }) => id);
    this.view.highlight({ nodes: this.lit, edges });
  }

  unlight() {
    this.lit = [];
    this.view?.highlight(null);
  }

  /** What is lit fills the picture, whose size has just changed. */
  bringLit() {
    this.view?.resize();
    this.view?.focus(this.lit);
  }

  fit() {
    this.view?.fit();
  }

  /** Whether all is in view, and nobody moved the camera since. */
  get isFitted() {
    return this.view?.fitted ?? true;
  }

  async #save() {
    if (!this.view) return;
    const { pictureOf } = await import("./painter.js");
    const address = URL.createObjectURL(await pictureOf(this.view));
    el("a", { href: address, download: "graph.png" }).click();
    window.setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
}

/** Edges that only say where something stands are drawn without words: there are many, and their ends tell. */
function quiet(edge) {
  if (STRUCTURE.has(edge.type)) return { ...edge, label: "", type: "" };
  return { ...edge, label: edge.type === "NEXT_CHUNK" ? "next passage" : edge.label.replaceAll("_", " ") };
}

/** "87 entities of type Person, with 3 facts or more". */
function titleOf({ ids, total_nodes: total, together }, only) {
  const entities = counted(ids.length, "entity", "entities");
  const lines = together ? `; ${counted(together, "line joins", "lines join")} names of the same sentence` : "";
  if (!only && total > ids.length) return `The ${count(ids.length)} most connected of ${counted(total, "entity", "entities")}${lines}`;
  if (!only) return total ? `All ${entities}${lines}` : ""; // what fills an empty graph is drawn beneath this line
  const { type, relation, community, document, least, where } = only;
  const metadata = Object.entries(whereOf(where)).map(([name, value]) => `${name} ${shortened([value].flat().join(" or "), 40)}`);
  const said = [type && `of type ${type}`, relation && `with the relation ${readable(relation)}`, community && "in one community", document && "in one document", metadata.length && `in documents with ${metadata.join(" and ")}`, least && `with ${counted(Number(least), "fact")} or more`];
  return `${ids.length < WHOLE ? entities : `The ${count(ids.length)} most connected entities`} ${said.filter(Boolean).join(", ")}`;
}

const theme = () => document.documentElement.dataset.theme;
