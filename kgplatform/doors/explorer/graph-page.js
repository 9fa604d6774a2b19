// Graph: the whole picture or a part of it on the stage, and beside it the same nodes as a list, or one entity as a page.

import { el, fill, freshId } from "./dom.js";
import { get } from "./api.js";
import { about, aboutChanges } from "./about.js";
import { count, counted, named } from "./format.js";
import { entityPage } from "./entity-page.js";
import { filterForm, filtersIn } from "./graph-filters.js";
import { sceneList } from "./graph-scenes.js";
import { wayForm } from "./graph-ways.js";
import { legendKey, swatch, typeName } from "./legend.js";
import { emptyState, failure, linkButton, loading } from "./states.js";
import { navigate, routeTo } from "./router.js";

const SHOWN = 100;

export function createView({ stage }) {
  const filter = el("input", { type: "search", id: freshId("filter"), placeholder: "Name or type", on: { input: () => draw() } });
  const list = el("ul", { class: "node-list" });
  const summary = el("p", { class: "muted", role: "status" });
  const [filters, ways] = [filterForm(), wayForm()];
  const listed = el("div", { class: "graph-listed" },
    el("div", { class: "section-head" }, el("h1", {}, "Graph"),
      el("button", { class: "small", type: "button", on: { click: () => whole() } }, "Whole graph")),
    el("p", { class: "muted" }, "Press a node, here or in the picture, to see what is known about it. Press a community's name to go into it."),
    el("div", { class: "graph-choices" }, filters.element, ways.element, sceneList(stage.graph)),
    el("p", { class: "field" }, el("label", { for: filter.id }, "Nodes in the picture"), filter), summary, list);
  const page = el("div", { hidden: true });
  const element = el("div", { class: "view graph-list-view" }, listed, page);
  let nodes = [...stage.graph.nodes.values()];
  let limit = SHOWN;
  let paged = null;

  aboutChanges.addEventListener("change", () => filters.refresh());
  stage.graph.onChange((shown) => {
    nodes = shown;
    limit = SHOWN;
    if (element.isConnected) draw();
  });

  function whole() {
    stage.showGraph();
    navigate("graph", {});
    stage.graph.showWhole();
  }

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

  async function drawPage(id) {
    paged = id;
    listed.hidden = Boolean(id);
    page.hidden = !id;
    if (!id) return;
    fill(page, loading("Loading the page"));
    try {
      const profile = await get(`api/graph/profile/${encodeURIComponent(id)}`);
      if (paged !== id) return; // the person went on meanwhile
      fill(page, entityPage(profile, { open: (...place) => stage.open(...place), show: (node) => (stage.showGraph(), stage.graph.goTo(node)) }));
    } catch (fault) {
      if (paged === id) fill(page, el("a", { href: routeTo("graph") }, "All nodes"), failure(fault, () => drawPage(id)));
    }
  }

  /** The picture that an address asks for; null where it asks for none of its own. */
  function picture(parameters) {
    const { from, to, around, hide, view } = parameters;
    const seen = { hide: hide?.split("~") ?? [], view: view?.split(",").map(Number) ?? null };
    if (from && to) return { key: `${from} ${to}`, show: () => stage.graph.showWays(from, to, seen) };
    if (around) return { key: around, show: () => stage.graph.showNodes(around.split("~"), seen) };
    const only = filtersIn(parameters);
    if (only || hide || view) return { key: routeTo("", only ?? {}), show: () => stage.graph.showWhole({ only, ...seen }) };
    return null;
  }

  return {
    element,
    title: "Graph",
    show(parameters) {
      filters.set(parameters);
      ways.set(parameters);
      draw();
      if ((parameters.page ?? null) !== paged) drawPage(parameters.page ?? null);
      const wanted = picture(parameters);
      const scene = wanted && `${wanted.key} ${parameters.hide ?? ""} ${parameters.view ?? ""}`;
      if (wanted && stage.graph.scene !== scene) (wanted.show(), (stage.graph.scene = scene));
      else if (!wanted && stage.graph.scene && !parameters.page) stage.graph.showWhole();
      else if (!wanted && stage.graph.isEmpty && !stage.graph.isLoading && !parameters.node) stage.graph.showWhole();
      if (!about().documents) fill(list, el("li", {}, emptyState("upload", "The graph is empty", "It is made from documents.", linkButton(routeTo("documents"), "Add documents", { primary: true }))));
    },
    focus: () => (page.hidden ? filter : page.querySelector("a, button"))?.focus(),
  };
}
