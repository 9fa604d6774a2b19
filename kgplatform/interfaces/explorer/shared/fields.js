// Fields of forms: one with its label; a combobox that finds a node by its name, best first.

import { get } from "./api.js";
import { el, fill, freshId, icon } from "./dom.js";
import { named } from "./format.js";
import { legendKey, swatch, typeName } from "./colors.js";

const PAUSE = 180;

/** `input`, which has an id, below its label, with a hint behind it. */
export const field = (label, input, hint) => el("p", {}, el("label", { for: input.id }, label), input, hint && el("span", { class: "muted" }, hint));

/** The box; `onChoose(node)` is called with the choice. `kinds`: of which nodes; all where none are named. */
export function findBox(onChoose, { label = "Find in the graph", kinds = null } = {}) {
  const list = freshId("found");
  const options = el("ul", { id: list, role: "listbox", "aria-label": "Nodes found", hidden: true });
  const input = el("input", {
    type: "search", role: "combobox", placeholder: label, autocomplete: "off", spellcheck: "false",
    "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list, "aria-label": label,
  });
  let found = [];
  let foundFor = "";
  let at = -1;
  let timer = 0;
  let asked = 0;

  function close() {
    options.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(node) {
    input.value = node.name;
    close();
    onChoose(node);
  }

  function point(index) {
    at = index;
    [...options.children].forEach((option, number) => option.setAttribute("aria-selected", String(number === at)));
    if (at < 0) return;
    input.setAttribute("aria-activedescendant", options.children[at].id);
    options.children[at].scrollIntoView({ block: "nearest" });
  }

  function draw() {
    fill(options, found.map((node, number) =>
      el("li", { id: `${list}-${number}`, role: "option", "aria-selected": "false", on: { mousedown: (event) => (event.preventDefault(), choose(node)) } },
        swatch(legendKey(node), node.kind), el("span", { class: "ellipsis" }, named(node.name)), el("span", { class: "muted" }, typeName(node)))),
      !found.length && el("li", { class: "muted", role: "option", "aria-disabled": "true", "aria-selected": "false" }, "No node has this name"));
    options.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (found.length) point(0);
  }

  /** `chooses`: take the best at once, as the person asked for it before it was there. */
  async function look(chooses = false) {
    const text = input.value.trim();
    const mine = (asked += 1);
    if (!text) return close();
    const { nodes } = await get(`api/graph/find?${new URLSearchParams({ text, limit: kinds ? 60 : 12 })}`).catch(() => ({ nodes: [] }));
    if (mine !== asked || document.activeElement !== input) return; // a newer one was asked, or the person left
    found = nodes.filter(({ kind }) => !kinds || kinds.includes(kind)).slice(0, 12);
    foundFor = text;
    if (chooses && found.length) choose(found[0]);
    else draw();
  }

  input.addEventListener("input", () => {
    asked += 1; // what is still on its way is not what is wanted now
    window.clearTimeout(timer);
    timer = window.setTimeout(() => look(), PAUSE);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") window.clearTimeout(timer);
    if (event.key === "Enter" && foundFor !== input.value.trim()) look(true);
    else if (event.key === "Enter" && found[at] && !options.hidden) choose(found[at]);
    else if (event.key === "Enter") look();
    else if (event.key === "ArrowDown" && options.hidden) look();
    else if (event.key === "ArrowDown") point(Math.min(at + 1, found.length - 1));
    else if (event.key === "ArrowUp") point(Math.max(at - 1, 0));
    else if (event.key === "Escape" && !options.hidden) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return el("div", { class: "find-box" }, icon("search"), input, options);
}

// A field for one of many: names are proposed while one types, and what was chosen is an id.

/**
 * A labelled field. `look(text)` resolves to the best [{ id, name }]; `nameOf(id)` to the name of one that an address gives.
 * `onChoose(idOrNull)`. Returns { element, set(idOrNull) }.
 */
export function choiceBox({ label, placeholder, look, nameOf, onChoose }) {
  const id = freshId("choice");
  const options = el("datalist", { id: `${id}-list` });
  const input = el("input", { id, type: "search", list: options.id, placeholder, autocomplete: "off", spellcheck: "false" });
  const unknown = el("span", { class: "muted", role: "status" });
  const known = new Map();
  let chosen = null;
  let timer = 0;

  async function propose() {
    const found = await look(input.value.trim()).catch(() => []);
    for (const each of found) known.set(each.name, each.id);
    options.replaceChildren(...found.map(({ name }) => el("option", { value: name })));
    return found[0] ?? null;
  }

  async function take() {
    window.clearTimeout(timer);
    let text = input.value.trim();
    const best = text && !known.has(text) ? await propose() : null;
    if (text !== input.value.trim()) return; // the person went on meanwhile
    if (best && !known.has(text)) text = input.value = best.name; // a part of a name stands for the best that has it
    const next = text ? (known.get(text) ?? null) : null;
    const isUnknown = Boolean(text) && next === null;
    input.setAttribute("aria-invalid", String(isUnknown));
    unknown.textContent = isUnknown ? "Nothing here has a name like this." : "";
    if (next === chosen || isUnknown) return;
    chosen = next;
    onChoose(next);
  }

  input.addEventListener("focus", propose);
  input.addEventListener("input", () => {
    window.clearTimeout(timer);
    if (known.has(input.value) || !input.value) take();
    else timer = window.setTimeout(() => propose().then(() => known.has(input.value) && take()), PAUSE);
  });
  input.addEventListener("change", take);

  async function set(value) {
    if (value === chosen) return;
    chosen = value;
    input.removeAttribute("aria-invalid");
    unknown.textContent = "";
    input.value = "";
    if (value === null) return;
    const name = await nameOf(value).catch(() => "");
    if (chosen === value) (known.set(name, value), (input.value = name));
  }

  return { element: el("p", { class: "field" }, el("label", { for: id }, label), input, options, unknown), set };
}
