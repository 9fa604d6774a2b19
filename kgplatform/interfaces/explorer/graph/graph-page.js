// Graph: the whole picture or a part of it on the stage, and beside it the same nodes as a list, or one entity as a page.

import { about, aboutChanges, get, mayChange } from "../shared/api.js";
import { announce, button, el, emptyState, failure, fill, freshId, icon, iconButton, keptList, linkButton, linkCopier, loading } from "../shared/dom.js";
import { choiceBox } from "../shared/fields.js";
import { count, counted, named } from "../shared/format.js";
import { legendKey, swatch, typeName } from "../shared/colors.js";
import { currentRoute, navigate, routeTo, setParameters } from "../shared/router.js";
import { corrections, entities } from "./correct.js";
import { filterForm, FILTERS, filtersIn } from "./graph-filters.js";
import { entityPage } from "./node-card.js";

const SHOWN = 100;

export function createView({ stage }) {
  const filter = el("input", { type: "search", id: freshId("filter"), placeholder: "Name or type", on: { input: () => draw() } });
  const list = el("ul", { class: "node-list" });
  const summary = el("p", { class: "muted", role: "status" });
  const [filters, ways] = [filterForm(), wayForm()];
  const listed = el("div", { class: "graph-listed" },
    el("div", { class: "section-head" }, el("h1", {}, "Graph"), el("div", { class: "actions" },
      mayChange() && el("a", { class: "button small", href: routeTo("corrections") }, icon("pen"), "Duplicates and corrections"),
      el("a", { class: "button small", href: routeTo("conflicts") }, icon("warning"), "Conflicts"), button(null, "Whole graph", () => whole()))),
    el("p", { class: "muted" }, "Press a node, here or in the picture, to see what is known about it. Press a community's name to go into it."),
    el("div", { class: "graph-choices" }, filters.element, ways.element, sceneList(stage.graph)),
    el("p", { class: "field" }, el("label", { for: filter.id }, "Nodes in the picture"), filter), summary, list);
  const page = el("div", { hidden: true });
  const element = el("div", { class: "view graph-list-view" }, listed, page);
  let nodes = [...stage.graph.nodes.values()];
  let limit = SHOWN;
  let paged = null;

  aboutChanges.addEventListener("change", () => filters.refresh());
  stage.graph.onShown = (shown) => {
    nodes = shown;
    limit = SHOWN;
    if (element.isConnected) draw();
  };

  const whole = () => (stage.showGraph(), navigate("graph", {}), stage.graph.showWhole());
  const go = (node) => (stage.showGraph(), stage.graph.goTo(node));

  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const fitting = nodes.filter((node) => `${node.name} ${typeName(node)}`.toLowerCase().includes(wanted));
    summary.textContent = fitting.length === nodes.length ? counted(nodes.length, "node") : `${count(fitting.length)} of ${counted(nodes.length, "node")}`;
    const rest = fitting.length - limit;
    fill(list, fitting.slice(0, limit).map(item),
      rest > 0 && el("li", {}, button(null, `Show ${Math.min(rest, SHOWN)} more`, () => ((limit += SHOWN), draw()))));
  }

  function item(node) {
    const words = [swatch(legendKey(node), node.kind), el("span", { class: "ellipsis", dir: "auto" }, named(node.name)), el("span", { class: "muted" }, typeName(node))];
    return el("li", {}, button(null, words, () => go(node), { class: "node-row" }));
  }

  corrections.addEventListener("change", ({ detail }) => {
    if (!element.isConnected) paged = null; // it is loaded when it is opened again
    else if (paged) drawPage(detail.now(paged), { again: true });
  });

  async function drawPage(id, { again = false } = {}) {
    paged = id;
    listed.hidden = Boolean(id);
    page.hidden = !id;
    if (!id) return;
    const inPage = () => [...page.querySelectorAll("a, button")];
    if (!again) fill(page, loading("Loading the page"));
    try {
      const profile = await get(`api/graph/profile/${encodeURIComponent(id)}`);
      if (paged !== id) return; // the person went on meanwhile
      const at = inPage().indexOf(document.activeElement);
      fill(page, entityPage(profile, { open: (...place) => stage.open(...place), show: go }));
      if (at >= 0) inPage().at(Math.min(at, inPage().length - 1)).focus({ preventScroll: true }); // where the keyboard was
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

/** { element, set(parameters) }. What is chosen goes into the address; the picture follows the address. */
function wayForm() {
  const chosen = { from: null, to: null };
  const choose = (end) => (id) => {
    chosen[end] = id;
    if (chosen.from && chosen.to) setParameters({ ...chosen, around: null, view: null, page: null });
    else if (!id) setParameters({ from: null, to: null });
  };
  const box = (end, label) => choiceBox({ label, placeholder: "Name of an entity", look: (text) => entities(text, ["Entity", "KeyElement"]), nameOf: async (id) => named((await get(`api/graph/nodes/${encodeURIComponent(id)}`)).node.name), onChoose: choose(end) });
  const [from, to] = [box("from", "From"), box("to", "To")];
  const element = el("details", { class: "graph-filters" }, el("summary", {}, icon("down"), "Way between two"), el("div", { class: "options-grid" }, from.element, to.element));

  function set(parameters) {
    if (!parameters.from || !parameters.to) {
      if (!chosen.from || !chosen.to) return; // one is chosen, and the other is still to come
      Object.assign(chosen, { from: null, to: null });
    } else {
      Object.assign(chosen, { from: parameters.from, to: parameters.to });
      element.open = true;
    }
    from.set(chosen.from);
    to.set(chosen.to);
  }

  return { element, set };
}

const KEPT = "kgplatform.scenes";
const MOST_NODES = 300;
const PLACES = ["node", "time", "from", "to", ...FILTERS];

/** The address of what the picture shows now: filters, a way, or else its nodes; what is hidden; and from where it is seen. */
function sceneOf(graph) {
  const { parameters } = currentRoute();
  const kept = Object.fromEntries(PLACES.filter((name) => parameters[name]).map((name) => [name, parameters[name]]));
  const shown = graph.whole || kept.from ? {} : { around: [...graph.nodes.keys()].slice(0, MOST_NODES).join("~") };
  const { x, y, k } = graph.view.camera;
  const view = [Math.round(x), Math.round(y), Number(k.toFixed(4))].join(",");
  return routeTo("graph", { ...kept, ...shown, hide: [...graph.hidden].join("~"), view });
}

/** A list of scenes, and the buttons to keep or to send what is seen now. `graph` is the panel with the picture. */
function sceneList(graph) {
  const list = el("ul", { class: "scenes" });
  const field = freshId("scene");
  const name = el("input", { id: field, placeholder: "Name of a new scene", maxlength: "80", required: true });
  const form = el("form", { class: "field-row", on: { submit: (event) => (event.preventDefault(), keep()) } },
    el("label", { class: "visually-hidden", for: field }, "Name of a new scene"), name, button("plus", "Save", null, { type: "submit" }), linkCopier(() => sceneOf(graph)));

  function keep() {
    const called = name.value.trim();
    save([{ name: called, address: sceneOf(graph) }, ...saved().filter((scene) => scene.name !== called)]);
    announce(`${called} is saved in this browser`);
    name.value = "";
  }

  function draw() {
    fill(list, saved().map(({ name: called, address }) => el("li", {}, el("a", { href: address, class: "ellipsis", dir: "auto" }, called),
      iconButton("remove", `Remove the scene ${called}`, () => save(saved().filter((scene) => scene.name !== called))))));
    list.hidden = !list.children.length;
  }

  function save(scenes) {
    localStorage.setItem(KEPT, JSON.stringify(scenes));
    draw();
  }

  draw();
  return el("details", { class: "graph-filters" }, el("summary", {}, icon("down"), "Scenes"), list, form);
}

const saved = () => keptList(KEPT, ({ name, address }) => name && String(address).startsWith("#/graph"));
