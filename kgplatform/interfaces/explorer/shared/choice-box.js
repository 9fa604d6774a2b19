// A field for one of many: names are proposed while one types, and what was chosen is an id.

import { el, freshId } from "./dom.js";

const PAUSE = 180;

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
  }

  async function take() {
    window.clearTimeout(timer);
    const text = input.value.trim();
    if (text && !known.has(text)) await propose();
    const next = text ? (known.get(text) ?? null) : null;
    const isUnknown = Boolean(text) && next === null;
    input.setAttribute("aria-invalid", String(isUnknown));
    unknown.textContent = isUnknown ? "Nothing has this name. Choose one that is proposed." : "";
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
