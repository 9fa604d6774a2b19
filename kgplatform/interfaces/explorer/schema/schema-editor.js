// The schema as a file: written, uploaded, checked, and used by the next ingest. What one wrote is kept until it is used.

import { announce, el, fill, freshId } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { about, post } from "../shared/api.js";
import { counted } from "../shared/format.js";
import { failure } from "../shared/states.js";

const DRAFT = "kgplatform.schema";

/** The form; `text` is the schema now, `onUsed()` is called when another one is used. */
export function schemaEditor(text, onUsed) {
  const id = freshId("schema");
  const draft = localStorage.getItem(DRAFT);
  const field = el("textarea", { id, class: "code", rows: "18", spellcheck: "false", value: draft ?? text, on: { input: () => localStorage.setItem(DRAFT, field.value) } });
  const file = el("input", { id: `${id}-file`, type: "file", accept: ".yaml,.yml,.json", on: { change: () => read() } });
  const said = el("div", { role: "status" });
  let name = "schema.yaml";

  async function read() {
    const [chosen] = file.files;
    if (!chosen) return;
    name = chosen.name;
    field.value = await chosen.text();
    localStorage.setItem(DRAFT, field.value);
    await send(false);
  }

  async function send(use) {
    fill(said);
    try {
      const { schema } = await post("api/schema", { text: field.value, name, use });
      const figures = `${counted(schema.entities.length, "entity type")}, ${counted(schema.relations.length, "relation")}, ${counted(schema.attributes.length, "attribute")}`;
      const sentence = use ? "The next documents are read by it. To read those that are there again, choose them under Documents." : `It can be used: ${figures}.`;
      fill(said, el("p", { class: "note" }, icon("check"), sentence));
      announce(sentence);
      if (use) (localStorage.removeItem(DRAFT), onUsed());
    } catch (fault) {
      fill(said, failure(fault));
    }
  }

  function reset() {
    localStorage.removeItem(DRAFT);
    name = "schema.yaml";
    field.value = text;
    fill(said);
  }

  const button = (label, does, extra = {}) => el("button", { type: "button", on: { click: does }, ...extra }, label);
  return el("details", { class: "schema-editor", open: draft !== null }, el("summary", {}, icon("down"), "Edit or upload a schema"),
    el("p", { class: "field" }, el("label", { for: file.id }, "A YAML or JSON file"), file),
    el("p", { class: "field" }, el("label", { for: id }, "The schema as a file"), field),
    el("div", { class: "actions" }, button("Check", () => send(false)),
      about().read_only ? null : button("Use for the next documents", () => send(true), { class: "primary" }), button("Start over", reset, { class: "quiet" })), said);
}
