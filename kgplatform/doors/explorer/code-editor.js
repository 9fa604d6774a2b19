// A field for a statement whose words are coloured while one types: the field's own letters are unseen above them.

import { el, fill } from "./dom.js";
import { coloured } from "./statements.js";

/** { element, field, set(text) }. `field` is the textarea: it has the value, the focus and the label. */
export function codeEditor({ id, rows, value = "" }) {
  const shown = el("pre", { class: "code", "aria-hidden": "true" });
  const field = el("textarea", { id, class: "code", rows: String(rows), spellcheck: "false", autocapitalize: "off", autocomplete: "off", value });
  const element = el("div", { class: "code-editor" }, shown, field);

  function draw() {
    fill(shown, ...coloured(`${field.value}\n`)); // a last line that is empty has a height, too
    follow();
  }

  function follow() {
    shown.scrollTop = field.scrollTop;
    shown.scrollLeft = field.scrollLeft;
  }

  function set(text) {
    field.value = text;
    draw();
  }

  field.addEventListener("input", draw);
  field.addEventListener("scroll", follow);
  draw();
  return { element, field, set };
}
