// Tree: communities, inner communities, keywords, entities and their values, as a picture that unfolds.

import { about, aboutChanges, drawing, get } from "../shared/api.js";
import { button, el, emptyState, failure, fill, linkButton, loading } from "../shared/dom.js";
import { findBox } from "../shared/fields.js";
import { kindName, named, readable, sizeOf } from "../shared/format.js";
import { routeTo } from "../shared/router.js";
import { corrections } from "../graph/correct.js";

export function createView({ stage }) {
  const place = el("div", { class: "tree-place" });
  const told = el("div", { class: "tree-told card", role: "status", hidden: true });
  const element = el("div", { class: "view tree-page" }, el("div", { class: "section-head" }, el("h1", {}, "Tree"), findBox(reveal, { label: "Find in the tree", kinds: ["Community", "Entity"] }),
    button("refresh", "Fold all", () => tree?.refresh())), place, told);
  let tree = null;
  let changed = false;

  aboutChanges.addEventListener("change", () => (changed = true));
  corrections.addEventListener("change", () => element.isConnected && tree?.refresh({ keeps: true }));
  window.addEventListener("themechange", () => tree?.setTheme(document.documentElement.dataset.theme));

  async function draw() {
    if (tree && !changed) return;
    changed = false;
    tree = null;
    if (!about().has_tree) return fill(place, noTree());
    fill(place, loading(drawing("the tree")));
    try {
      const { TreeView } = await import("./tree-view.js");
      fill(place);
      const load = async (parent, skip, limit) => (await get(`api/tree?${new URLSearchParams({ skip, limit, ...(parent === null ? {} : { parent }) })}`)).nodes;
      tree = new TreeView(place, { load, onSelect: select, theme: document.documentElement.dataset.theme });
    } catch (fault) {
      fill(place, failure(fault, draw));
    }
  }

  function noTree() {
    if (!about().documents) return emptyState("upload", "No documents yet", "The tree is built from what documents say.", linkButton(routeTo("documents"), "Add documents", { primary: true }));
    return emptyState("tree", "No tree yet", "A tree groups what belongs together into communities, with names and summaries. Readers use it, and you can browse it.", linkButton(routeTo("documents"), "Build it under Documents", { primary: true }));
  }

  /** The way to a node leads through the communities around it. */
  async function reveal(node) {
    try {
      const { communities } = await get(`api/graph/nodes/${encodeURIComponent(node.id)}`);
      const ids = [...communities.map(({ id }) => id).reverse(), node.id];
      if (!(await tree?.reveal(ids))) tell(el("p", {}, `${named(node.name)} is not in the tree.`));
    } catch (fault) {
      tell(el("p", {}, fault.message));
    }
  }

  function tell(...content) {
    told.hidden = false;
    fill(told, content);
  }

  function select(node) {
    const parts = [readable(kindName(node.kind)), sizeOf(node)].filter(Boolean).join(" · ");
    tell(el("div", { class: "section-head" }, el("h2", { dir: "auto" }, named(node.name)),
      button("node", "Show in the graph", () => showInGraph(node))),
      el("p", { class: "muted" }, parts), node.summary && el("p", { dir: "auto" }, node.summary));
  }

  async function showInGraph(node) {
    stage.showGraph();
    const graph = await get(`api/graph/neighbours/${encodeURIComponent(node.id)}?limit=100`).catch(() => null);
    if (!graph) return stage.graph.goTo(node);
    await stage.graph.show(graph, named(node.name));
    stage.graph.choose(graph.nodes.find(({ id }) => id === node.id) ?? node);
  }

  return { element, title: "Tree", show: draw, focus: () => place.querySelector("[tabindex='0']")?.focus() };
}
