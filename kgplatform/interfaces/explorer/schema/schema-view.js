// Schema: the types that bound what is extracted, drawn with how much of each there is; what was added; and its file.

import { el, fill } from "../shared/dom.js";
import { get } from "../shared/api.js";
import { count, counted, named, readable } from "../shared/format.js";
import { swatch } from "../shared/legend.js";
import { schemaDiagram } from "./schema-diagram.js";
import { schemaEditor } from "./schema-editor.js";
import { emptyState, failure, linkButton, loading } from "../shared/states.js";
import { routeTo } from "../shared/router.js";

export function createView() {
  const element = el("div", { class: "view schema-view" });

  async function draw() {
    fill(element, el("h1", {}, "Schema"), loading());
    try {
      const [told, stats, drawn] = await Promise.all([get("api/schema"), get("api/stats"), get("api/schema/figures")]);
      fill(element, el("h1", {}, "Schema"), ...(told.schema ? described(told, drawn) : [none()]), figures(stats), told.schema && schemaEditor(drawn.text, draw));
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

function figures(stats) {
  return el("div", { class: "figures" }, counts("Nodes", stats.nodes), counts("Relationships", stats.relationships));
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
