// Schema: the types that bound what is extracted, drawn with how much of each there is; what was added; and its file.

import { about, get, post } from "../shared/api.js";
import { announce, button, el, emptyState, failure, fill, freshId, icon, linkButton, loading } from "../shared/dom.js";
import { count, counted, named, readable } from "../shared/format.js";
import { swatch } from "../shared/colors.js";
import { routeTo } from "../shared/router.js";
import { schemaDiagram } from "./schema-diagram.js";

export function createView() {
  const element = el("div", { class: "view schema-view" });

  async function draw() {
    fill(element, el("h1", {}, "Schema"), loading());
    try {
      const [told, stats, drawn] = await Promise.all([get("api/schema"), get("api/stats"), get("api/schema/figures")]);
      fill(element, el("h1", {}, "Schema"), told.schema ? described(told, drawn) : none(), el("div", { class: "figures" }, counts("Nodes", stats.nodes), counts("Relationships", stats.relationships)), told.schema && schemaEditor(drawn.text, draw));
    } catch (fault) {
      fill(element, el("h1", {}, "Schema"), failure(fault, draw));
    }
  }

  return { element, title: "Schema", show: draw, focus: () => element.querySelector("a, button")?.focus() };
}

function none() {
  return emptyState("document", "No schema yet", "It comes with the first documents, and says which types of entities, relations and attributes are extracted.", linkButton(routeTo("documents"), "Add documents", { primary: true }));
}

function described({ schema, expansions }, drawn) {
  const types = [...entries(schema.entities), ...grown(expansions, "entity")];
  const relations = [...entries(schema.relations), ...grown(expansions, "relation")];
  const attributes = [...entries(schema.attributes), ...grown(expansions, "attribute")];
  const entities = new Map(drawn.types.map(({ name, count: number }) => [name, number]));
  const joined = new Map();
  for (const { type, count: number } of drawn.relations) joined.set(type, (joined.get(type) ?? 0) + number);
  return [
    el("p", { class: "muted" }, `${named(schema.name)}: ${counted(types.length, "entity type")}, ${counted(relations.length, "relation")}, ${counted(attributes.length, "attribute")}`),
    drawn.chosen && el("p", { class: "note" }, `The next documents are read by the schema ${named(drawn.chosen)}.`),
    drawn.types.length ? schemaDiagram(drawn.types, drawn.relations) : null,
    section("Entity types", types, ({ name }) => partLink({ type: name }, entities.get(name), swatch(name, "Entity"), name)),
    section("Relations", relations, ({ name }) => partLink({ relation: relationshipOf(name) }, joined.get(relationshipOf(name)), readable(name))),
    section("Attributes", attributes, ({ name }) => readable(name)),
    expansions.length ? added(expansions) : el("p", { class: "muted" }, "Nothing was added to it. A type is added when documents propose it with confidence."),
  ];
}

/** A type with how many there are of it, which leads to them in the graph; without any it is only named. */
function partLink(filter, number, ...name) {
  return number ? el("a", { class: "chip-line", href: routeTo("graph", filter) }, name, el("span", { class: "muted" }, count(number))) : el("span", { class: "chip-line" }, name);
}

/** The relationship type of the database for a relation of the schema: "worksFor" and "works for" -> "WORKS_FOR". */
function relationshipOf(name) {
  return name.replace(/([\p{Ll}\d])(?=\p{Lu})/gu, "$1_").replace(/[^\p{L}\p{N}\p{M}]+/gu, "_").toUpperCase();
}

/** Types as a list of { name, description, … }, from a list or from a mapping by name. */
function entries(types) {
  if (Array.isArray(types)) return types.map((each) => (typeof each === "string" ? { name: each } : each));
  return Object.entries(types ?? {}).map(([name, each]) => ({ name, ...(typeof each === "string" ? { description: each } : each) }));
}

function grown(expansions, kind) {
  return expansions.filter((each) => each.kind === kind).map((each) => ({ name: each.name, description: each.example, added: true }));
}

function section(title, types, shownName) {
  if (!types.length) return null;
  return el("section", {}, el("h2", {}, title), el("dl", { class: "types" }, types.map((type) => [
    el("dt", {}, shownName(type), type.added ? el("span", { class: "badge" }, "added") : null),
    el("dd", { class: "muted", dir: "auto" }, [type.description, joins(type)].filter(Boolean).join(" ") || "—"),
  ])));
}

function joins({ heads, tails, pairs, entities }) {
  if (pairs?.length) return `(${pairs.map((pair) => pair.join(" → ")).join(", ")})`;
  if (heads?.length || tails?.length) return `(${(heads ?? []).join(", ") || "any"} → ${(tails ?? []).join(", ") || "any"})`;
  return entities?.length ? `(of ${entities.join(", ")})` : "";
}

function added(expansions) {
  return el("section", {}, el("h2", {}, "What was added"), el("dl", { class: "types" }, expansions.map((each) => [
    el("dt", { dir: "auto" }, each.kind === "entity" ? each.name : readable(each.name)),
    el("dd", {}, `${each.kind}, confidence ${each.confidence.toFixed(2)}, in ${counted(each.count, "document")}`, el("p", { class: "muted", dir: "auto" }, each.example))])));
}

function counts(title, values) {
  const sorted = Object.entries(values).sort(([, first], [, second]) => second - first);
  if (!sorted.length) return null;
  const top = sorted[0][1];
  return el("section", {}, el("h2", {}, title), el("ul", { class: "bars" }, sorted.map(([name, number]) => {
    const bar = el("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${Math.max(1, (100 * number) / top)}%`;
    return el("li", {}, el("span", { class: "ellipsis", title: name }, name), el("span", { class: "bar-track" }, bar), el("span", { class: "number" }, count(number)));
  })));
}

// The schema as a file: written, uploaded, checked, and used by the next ingest. What one wrote is kept until it is used.

const DRAFT = "kgplatform.schema";

/** The form; `text` is the schema now, `onUsed()` is called when another one is used. */
function schemaEditor(text, onUsed) {
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

  return el("details", { class: "schema-editor", open: draft !== null }, el("summary", {}, icon("down"), "Edit or upload a schema"),
    el("p", { class: "field" }, el("label", { for: file.id }, "A YAML or JSON file"), file),
    el("p", { class: "field" }, el("label", { for: id }, "The schema as a file"), field),
    el("div", { class: "actions" }, button(null, "Check", () => send(false), { class: null }),
      !about().read_only && button(null, "Use for the next documents", () => send(true), { class: "primary" }), button(null, "Start over", reset, { class: "quiet" })), said);
}
