// The right side of the page: the graph, and the document that is open, beside each other where there is room. On narrow
// screens it covers the rest.

import { about } from "./shared/api.js";
import { button, el, set } from "./shared/dom.js";
import { currentRoute, setParameters } from "./shared/router.js";
import { DocumentView } from "./documents/document-view.js";
import { corrections } from "./graph/correct.js";
import { GraphPanel, subgraphOf } from "./graph/graph-panel.js";

/** Whether a document opens beside the graph, or in its place. */
const BESIDE = "kgplatform.beside";
const roomy = window.matchMedia("(width >= 1200px)");

export class Stage {
  constructor(place) {
    this.place = place;
    this.graph = new GraphPanel({ openDocument: (document, start, end) => this.open(document, start, end) });
    this.document = new DocumentView({ onFact: (fact) => this.#showFact(fact), onClose: () => this.#closeDocument() });
    const choose = (which) => {
      if (which !== "graph") localStorage.setItem(BESIDE, which);
      this.#show(which);
    };
    const tab = (which, symbol, label) => button(symbol, label, () => choose(which), { class: null, "aria-pressed": "false" });
    this.tabs = { graph: tab("graph", "node", "Graph"), document: tab("document", "document", "Document"), both: tab("both", "both", "Both") };
    this.body = el("div", { class: "stage-body" });
    this.body.append(this.graph.element, splitter(this.body, { name: "graph", label: "Width of the graph", usual: 50 }), this.document.element);
    const leave = button("back", "Back", () => (this.shown === "document" ? this.#closeDocument() : this.hideOnNarrow()), { class: "quiet leave-stage" });
    place.append(
      el("div", { class: "stage-head" }, leave, el("div", { class: "segmented", role: "group", "aria-label": "What is shown here" }, Object.values(this.tabs)), this.graph.tools),
      this.body);
    this.tabs.document.disabled = this.tabs.both.disabled = true;
    this.#show("graph");
    corrections.addEventListener("change", ({ detail }) => this.#corrected(detail.now));
    roomy.addEventListener("change", () => this.shown === "both" && !roomy.matches && this.#show("document"));
  }

  #show(which) {
    this.shown = which;
    this.body.dataset.shown = which;
    this.graph.element.hidden = this.graph.tools.hidden = which === "document";
    this.document.element.hidden = which === "graph";
    if (which !== "document" && about() && this.graph.isEmpty && !this.graph.isLoading) this.graph.showWhole();
    for (const [name, tab] of Object.entries(this.tabs)) tab.setAttribute("aria-pressed", String(name === which));
  }

  /** Open a document, with its place in the address. The focus goes to the words. */
  open(document, start = null, end = null) {
    this.opener = window.document.activeElement;
    const at = start === null ? null : `${start}-${end}`;
    if (this.opened !== keyOf(document, at)) return setParameters({ doc: document, at });
    // It is open already, behind the graph or, on a narrow screen, behind the view.
    this.#showDocument();
    this.document.focusMark();
  }

  #showDocument() {
    this.tabs.document.disabled = this.tabs.both.disabled = false;
    const wasBeside = this.shown === "both";
    this.#show(roomy.matches && localStorage.getItem(BESIDE) !== "document" ? "both" : "document");
    if (this.shown === "both" && !wasBeside && this.graph.isFitted && this.graph.lit.length) {
      this.graph.bringLit(); // there is less room for the picture now
      this.isNear = true;
    }
    window.document.body.dataset.pane = "stage";
  }

  /** The graph, in view also where the screen is narrow. */
  showGraph() {
    if (this.shown === "document") this.#show("graph");
    window.document.body.dataset.pane = "stage";
  }

  hideOnNarrow() {
    window.document.body.dataset.pane = "panel";
  }

  /** The graph in view, and the keyboard where a node is looked for. */
  find() {
    this.showGraph();
    this.graph.findBox.querySelector("input").focus();
  }

  /** What Escape closes: the document, else the card, else on a narrow screen all of this. */
  closeOne() {
    if (this.shown !== "graph") this.#closeDocument();
    else if (!this.graph.card.element.hidden) this.graph.choose(null);
    else this.hideOnNarrow();
  }

  /** Bring the stage to what the address says. */
  follow({ doc, at, node, time }) {
    this.graph.standIn(time ?? null);
    const key = doc ? keyOf(doc, at) : null;
    if (doc && this.opened !== key) {
      this.opened = key;
      this.#showDocument();
      const [, start, end] = /^(\d{1,9})-(\d{1,9})$/.exec(at ?? "") ?? []; // else the whole document
      this.document.open(doc, start && Number(start), end && Number(end));
    } else if (!doc && this.opened) {
      this.opened = null;
      this.tabs.document.disabled = this.tabs.both.disabled = true;
      this.#show("graph");
      if (this.isNear) this.graph.fit();
      this.isNear = false;
      if (!this.place.contains(this.opener)) this.hideOnNarrow();
      if (this.opener?.isConnected) this.opener.focus();
    }
    if (node && this.graph.card.shown !== node) this.graph.goTo({ id: node });
    else if (!node && this.graph.card.shown) this.graph.choose(null);
  }

  /** What was corrected is shown as it is: `now(id)`: what a node has become, null where it is gone. */
  async #corrected(now) {
    this.document.refresh();
    await this.graph.redraw(now).catch(() => {}); // the banner says what is the matter
    const { page, node } = currentRoute().parameters;
    const next = { page: page && now(page), node: node && now(node) };
    if (next.page === page && next.node === node) this.follow(currentRoute().parameters);
    else setParameters(next, { replace: true }); // which is followed
    if (document.activeElement === document.body) document.querySelector("#done button")?.focus(); // what was pressed is gone
  }

  #closeDocument() {
    setParameters({ doc: null, at: null });
  }

  async #showFact(fact) {
    const graph = await subgraphOf([fact.id]).catch(() => null);
    if (!graph) return; // the banner says what is the matter
    if (this.graph.whole || this.graph.isEmpty) await this.graph.show(graph, fact.text);
    else await this.graph.add(graph, null, fact.text);
    if (this.shown === "document") this.#show("graph");
    this.graph.light(graph, [fact.id]);
  }
}

const keyOf = (document, at) => `${document} ${at ?? ""}`;

// A border between two parts that people move, with the pointer or with arrow keys; where it stands is kept.

const STEP = 2;

/**
 * The border between `before` and what follows it in `parent`, a grid whose columns are made of the custom property
 * `--NAME`: the share of `before`, in percent. `least`, `most`: its bounds. `usual`: where it stands at first.
 */
export function splitter(parent, { name, label, usual, least = 20, most = 80 }) {
  const key = `kgplatform.border.${name}`;
  const handle = el("div", { class: "splitter", role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-label": label, "aria-valuemin": least, "aria-valuemax": most, data: { border: name } });

  function move(share, { keep = true } = {}) {
    const now = Math.round(10 * Math.min(most, Math.max(least, share))) / 10;
    parent.style.setProperty(`--${name}`, `${now}%`);
    set(handle, { "aria-valuenow": Math.round(now), "aria-valuetext": `${Math.round(now)} percent` });
    if (keep) localStorage.setItem(key, String(now));
  }

  const isTurned = () => getComputedStyle(parent).direction === "rtl";
  const moved = (by) => Number(handle.getAttribute("aria-valuenow")) + (isTurned() ? -by : by);
  const keys = {
    ArrowLeft: () => moved(-STEP),
    ArrowRight: () => moved(STEP),
    Home: () => least,
    End: () => most,
    Enter: () => usual,
  };
  handle.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(keys, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    move(keys[event.key]());
    event.preventDefault();
    event.stopPropagation();
  });
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  handle.addEventListener("pointermove", ({ clientX, pointerId }) => {
    if (!handle.hasPointerCapture(pointerId)) return;
    const { left, right, width } = parent.getBoundingClientRect();
    move((100 * (isTurned() ? right - clientX : clientX - left)) / width);
  });
  handle.addEventListener("dblclick", () => move(usual));
  move(Number(localStorage.getItem(key)) || usual, { keep: false });
  return handle;
}
