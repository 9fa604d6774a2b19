// The ways between two entities: two fields, and the facts on the shortest ways from one to the other in the picture.

import { el } from "./dom.js";
import { icon } from "./icons.js";
import { get } from "./api.js";
import { choiceBox } from "./choice-box.js";
import { named } from "./format.js";
import { typeName } from "./legend.js";
import { setParameters } from "./router.js";

/** { element, set(parameters) }. What is chosen goes into the address; the picture follows the address. */
export function wayForm() {
  const chosen = { from: null, to: null };
  const choose = (end) => (id) => {
    chosen[end] = id;
    if (chosen.from && chosen.to) setParameters({ ...chosen, around: null, view: null, page: null });
    else if (!id) setParameters({ from: null, to: null });
  };
  const box = (end, label) => choiceBox({ label, placeholder: "Name of an entity", look: entities, nameOf: async (id) => named((await get(`api/graph/nodes/${encodeURIComponent(id)}`)).node.name), onChoose: choose(end) });
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

async function entities(text) {
  if (!text) return [];
  const { nodes } = await get(`api/graph/find?${new URLSearchParams({ text, limit: 30 })}`);
  const found = nodes.filter(({ kind }) => kind === "Entity" || kind === "KeyElement");
  const twice = new Set(found.map(({ name }) => name).filter((name, at, all) => all.indexOf(name) !== at));
  return found.map((node) => ({ id: node.id, name: twice.has(node.name) ? `${named(node.name)} (${typeName(node)})` : named(node.name) }));
}
