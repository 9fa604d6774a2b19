// Scenes: pictures of the graph under names of one's own. A scene is an address, so it can be sent to others, too.

import { announce } from "./announce.js";
import { copyText, el, fill, freshId } from "./dom.js";
import { icon } from "./icons.js";
import { currentRoute, routeTo } from "./router.js";
import { FILTERS } from "./graph-filters.js";

const KEPT = "kgplatform.scenes";
const MOST_NODES = 300;
const PLACES = ["node", "from", "to", ...FILTERS];

/** The address of what the picture shows now: filters, a way, or else its nodes; what is hidden; and from where it is seen. */
export function sceneOf(graph) {
  const { parameters } = currentRoute();
  const kept = Object.fromEntries(PLACES.filter((name) => parameters[name]).map((name) => [name, parameters[name]]));
  const shown = graph.whole || kept.from ? {} : { around: [...graph.nodes.keys()].slice(0, MOST_NODES).join("~") };
  const { x, y, k } = graph.view.camera;
  const view = [Math.round(x), Math.round(y), Number(k.toFixed(4))].join(",");
  return routeTo("graph", { ...kept, ...shown, hide: [...graph.legend.hidden].join("~"), view });
}

/** A list of scenes, and the buttons to keep or to send what is seen now. `graph` is the panel with the picture. */
export function sceneList(graph) {
  const list = el("ul", { class: "scenes" });
  const field = freshId("scene");
  const name = el("input", { id: field, placeholder: "Name of a new scene", maxlength: "80", required: true });
  const copy = el("button", { class: "small", type: "button", on: { click: () => copyText(new URL(sceneOf(graph), document.baseURI).href, copy) } }, icon("link"), el("span", {}, "Copy link"));
  const form = el("form", { class: "field-row", on: { submit: (event) => (event.preventDefault(), keep()) } },
    el("label", { class: "visually-hidden", for: field }, "Name of a new scene"), name, el("button", { class: "small", type: "submit" }, icon("plus"), "Save"), copy);

  function keep() {
    const scenes = saved().filter((scene) => scene.name !== name.value.trim());
    save([{ name: name.value.trim(), address: sceneOf(graph) }, ...scenes]);
    announce(`${name.value.trim()} is saved in this browser`);
    name.value = "";
    draw();
  }

  function draw() {
    fill(list, saved().map(({ name: called, address }) => el("li", {}, el("a", { href: address, class: "ellipsis", dir: "auto" }, called),
      el("button", { class: "quiet icon-only", type: "button", "aria-label": `Remove the scene ${called}`, on: { click: () => (save(saved().filter((scene) => scene.name !== called)), draw()) } }, icon("remove")))));
    list.hidden = !list.children.length;
  }

  draw();
  return el("details", { class: "graph-filters" }, el("summary", {}, icon("down"), "Scenes"), list, form);
}

/** What is kept in this browser; what cannot be read is as if nothing were kept. */
function saved() {
  try {
    const scenes = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(scenes) ? scenes.filter(({ name, address }) => name && String(address).startsWith("#/graph")) : [];
  } catch {
    return [];
  }
}

function save(scenes) {
  localStorage.setItem(KEPT, JSON.stringify(scenes));
}
