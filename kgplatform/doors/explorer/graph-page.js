// Graph: the whole picture on the stage, and beside it the same nodes as a list, for the keyboard and for reading.

import { el, fill, freshId } from "./dom.js";
import { about } from "./about.js";
import { count, counted, named } from "./format.js";
import { legendKey, swatch, typeName } from "./legend.js";
import { emptyState, linkButton } from "./states.js";
import { routeTo } from "./router.js";

const SHOWN = 100;

export function createView({ stage }) {
  const filter = el("input", { type: "search", id: freshId("filter"), placeholder: "Name or type", on: { input: () => draw() } });
  const list = el("ul", { class: "node-list" });
  const summary = el("p", { class: "muted", role: "status" });
  const element = el("div", { class: "view graph-list-view" },
    el("div", { class: "section-head" }, el("h1", {}, "Graph"),
      el("button", { class: "small", type: "button", on: { click: () => (stage.showGraph(), stage.graph.showWhole()) } }, "Whole graph")),
    el("p", { class: "muted" }, "Press a node, here or in the picture, to see what is known about it. Expand draws its neighbours."),
    el("p", { class: "field" }, el("label", { for: filter.id }, "Nodes in the picture"), filter), summary, list);
  let nodes = [...stage.graph.nodes.values()];
  let limit = SHOWN;

  stage.graph.onChange((shown) => {
    nodes = shown;
    limit = SHOWN;
    if (element.isConnected) draw();
  });

  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const fitting = nodes.filter((node) => `${node.name} ${typeName(node)}`.toLowerCase().includes(wanted));
    summary.textContent = fitting.length === nodes.length ? counted(nodes.length, "node") : `${count(fitting.length)} of ${counted(nodes.length, "node")}`;
    const rest = fitting.length - limit;
    fill(list, fitting.slice(0, limit).map(item),
      rest > 0 && el("li", {}, el("button", { class: "small", type: "button", on: { click: () => ((limit += SHOWN), draw()) } }, `Show ${Math.min(rest, SHOWN)} more`)));
  }

  function item(node) {
    return el("li", {}, el("button", { class: "node-row", type: "button", on: { click: () => (stage.showGraph(), stage.graph.goTo(node)) } },
      swatch(legendKey(node), node.kind), el("span", { class: "ellipsis", dir: "auto" }, named(node.name)), el("span", { class: "muted" }, typeName(node))));
  }

  return {
    element,
    title: "Graph",
    show(parameters) {
      draw();
      if (stage.graph.isEmpty && !stage.graph.isLoading && !parameters.node) stage.graph.showWhole();
      if (!about().documents) fill(list, el("li", {}, emptyState("upload", "The graph is empty", "It is made from documents.", linkButton(routeTo("documents"), "Add documents", { primary: true }))));
    },
    focus: () => filter.focus(),
  };
}
