// The right side of the page: the graph, and the document that is open. On narrow screens it covers the rest.

import { el } from "./dom.js";
import { icon } from "./icons.js";
import { GraphPanel, subgraphOf } from "./graph-panel.js";
import { DocumentView } from "./document-view.js";
import { setParameters } from "./router.js";

export class Stage {
  constructor(place) {
    this.graph = new GraphPanel({ openDocument: (document, start, end) => this.open(document, start, end) });
    this.document = new DocumentView({ onFact: (fact) => this.#showFact(fact), onClose: () => this.#closeDocument() });
    this.tabs = {
      graph: this.#tab("graph", "node", "Graph"),
      document: this.#tab("document", "document", "Document"),
    };
    this.leave = el("button", { class: "quiet leave-stage", type: "button", on: { click: () => this.hideOnNarrow() } }, icon("back"), "Back");
    place.append(
      el("div", { class: "stage-head" }, this.leave, el("div", { class: "segmented", role: "group", "aria-label": "What is shown here" }, this.tabs.graph, this.tabs.document), this.graph.tools),
      this.graph.element, this.document.element);
    this.#show("graph");
    this.tabs.document.disabled = true;
  }

  #tab(which, symbol, label) {
    return el("button", { type: "button", "aria-pressed": "false", on: { click: () => this.#show(which) } }, icon(symbol), label);
  }

  #show(which) {
    this.shown = which;
    this.graph.element.hidden = this.graph.tools.hidden = which !== "graph";
    this.document.element.hidden = which !== "document";
    for (const [name, tab] of Object.entries(this.tabs)) tab.setAttribute("aria-pressed", String(name === which));
  }

  /** Open a document, with its place in the address. The focus goes to the words. */
  open(document, start = null, end = null) {
    this.opener = window.document.activeElement;
    setParameters({ doc: document, at: start === null ? null : `${start}-${end}` });
  }

  /** The graph, in view also where the screen is narrow. */
  showGraph() {
    this.#show("graph");
    window.document.body.dataset.pane = "stage";
  }

  hideOnNarrow() {
    window.document.body.dataset.pane = "panel";
  }

  /** Bring the stage to what the address says. */
  follow({ doc, at, node }) {
    if (doc) {
      const [start, end] = (at ?? "").split("-").map(Number);
      const key = `${doc} ${at}`;
      this.tabs.document.disabled = false;
      this.#show("document");
      window.document.body.dataset.pane = "stage";
      if (this.opened !== key) this.document.open(doc, at ? start : null, at ? end : null);
      this.opened = key;
    } else if (this.opened) {
      this.opened = null;
      this.tabs.document.disabled = true;
      this.#show("graph");
      this.hideOnNarrow();
      if (this.opener?.isConnected) this.opener.focus();
    }
    if (node && this.graph.card.shown !== node) this.graph.goTo({ id: node });
    else if (!node && this.graph.card.shown) this.graph.choose(null);
  }

  #closeDocument() {
    setParameters({ doc: null, at: null });
  }

  async #showFact(fact) {
    const graph = await subgraphOf([fact.id]);
    this.#show("graph");
    if (this.graph.whole || this.graph.isEmpty) await this.graph.show(graph, fact.text);
    else await this.graph.add(graph, null, fact.text);
    this.graph.light(graph, [fact.id]);
  }
}
