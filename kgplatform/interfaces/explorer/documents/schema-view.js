// Schema: the types that bound what is extracted, drawn with how much of each there is; what was added; and its file.

import { about, get, post } from "../shared/api.js";
import { swatch, typeColor } from "../shared/colors.js";
import { announce, button, el, emptyState, failure, fill, freshId, icon, linkButton, loading, svg } from "../shared/dom.js";
import { count, counted, named, readable, shortText } from "../shared/format.js";
import { routeTo } from "../shared/router.js";

export function createView() {
  const element = el("div", { class: "view schema-view" });

  async function draw() {
    fill(element, el("h1", {}, "Schema"), loading());
    try {
      const [told, stats, drawn] = await Promise.all([get("api/schema"), get("api/stats"), get("api/schema/figures")]);
      const types = told.schema ? described(told, drawn) : emptyState("document", "No schema yet", "It comes with the first documents, and says which types of entities, relations and attributes are extracted.",
        linkButton(routeTo("documents"), "Add documents", { primary: true }));
      fill(element, el("h1", {}, "Schema"), types, el("div", { class: "figures" }, counts("Nodes", stats.nodes), counts("Relationships", stats.relationships)), told.schema && schemaEditor(drawn.text, draw));
    } catch (fault) {
      fill(element, el("h1", {}, "Schema"), failure(fault, draw));
    }
  }

  return { element, title: "Schema", show: draw, focus: () => element.querySelector("a, button")?.focus() };
}

function described({ schema, expansions }, drawn) {
  const grown = (kind) => expansions.filter((each) => each.kind === kind).map(({ name, example }) => ({ name, description: example, added: true }));
  const types = [...entries(schema.entities), ...grown("entity")];
  const relations = [...entries(schema.relations), ...grown("relation")];
  const attributes = [...entries(schema.attributes), ...grown("attribute")];
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
const relationshipOf = (name) => name.replace(/([\p{Ll}\d])(?=\p{Lu})/gu, "$1_").replace(/[^\p{L}\p{N}\p{M}]+/gu, "_").toUpperCase();

/** Types as a list of { name, description, … }, from a list or from a mapping by name. */
function entries(types) {
  if (Array.isArray(types)) return types.map((each) => (typeof each === "string" ? { name: each } : each));
  return Object.entries(types ?? {}).map(([name, each]) => ({ name, ...(typeof each === "string" ? { description: each } : each) }));
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
    [name, field.value] = [chosen.name, await chosen.text()];
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

const [WIDTH, HEIGHT] = [640, 540];
const RING = { x: 215, y: 180 };
const MOST_TYPES = 16;
/** Relations that are named on one line between two types; the lists below the diagram have all. */
const NAMED = 2;
const [LEAST_RADIUS, MOST_RADIUS] = [11, 34];
/** Pixels of a letter, about, and from one line of words to the next. */
const [LETTER, LINE] = [6.4, 14];

/** An SVG of `types` [{ name, count }] and `relations` [{ head, type, tail, count }]; each leads to its part of the graph. */
function schemaDiagram(types, relations) {
  const places = placed(inRing(types.slice(0, MOST_TYPES), relations));
  const lines = between(relations, places);
  const most = Math.max(1, ...lines.map(({ total }) => total));
  const taken = [...places.values()].flatMap((type) => [boxOf(type, 2 * type.radius, 2 * type.radius), boxOf(nameAt(type), LETTER * wordsOf(type).length, LINE)]);
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "schema-diagram", role: "group", "aria-label": "Diagram of the schema" },
    svg("marker", { id: "schema-arrow", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
      svg("path", { d: "M0 0 8 4 0 8z", class: "schema-arrow" })),
    lines.map((line) => svg("path", {
      d: shapeOf(line).path, class: "schema-line", "stroke-width": (1 + 3 * Math.sqrt(line.total / most)).toFixed(1), "marker-end": line.from !== line.to && "url(#schema-arrow)" })),
    [...places.values()].map(typeMark), lines.map((line) => words(line, taken)));
}

/** The order in the ring: each beside the one that it is joined to most. */
function inRing(types, relations) {
  const joined = (one, other) => relations.reduce((sum, { head, tail, count: number }) => sum + ((head === one && tail === other) || (head === other && tail === one) ? number : 0), 0);
  const waiting = types.map(({ name }) => name);
  const order = waiting.splice(0, 1);
  while (waiting.length) {
    const last = order.at(-1);
    const best = waiting.reduce((found, name) => (joined(last, name) > joined(last, found) ? name : found));
    order.push(...waiting.splice(waiting.indexOf(best), 1));
  }
  return order.map((name) => types.find((type) => type.name === name));
}

function placed(types) {
  const most = Math.max(1, ...types.map(({ count: number }) => number));
  return new Map(types.map((type, at) => {
    const angle = (2 * Math.PI * at) / types.length - Math.PI / 2;
    const radius = LEAST_RADIUS + (MOST_RADIUS - LEAST_RADIUS) * Math.sqrt(type.count / most);
    return [type.name, { ...type, angle, radius, x: WIDTH / 2 + RING.x * Math.cos(angle), y: HEIGHT / 2 + RING.y * Math.sin(angle) }];
  }));
}

/** One line from type to type, with its relations; the most frequent lines and relations first. */
function between(relations, places) {
  const lines = new Map();
  for (const { head, type, tail, count: number } of relations) {
    const [from, to] = [places.get(head), places.get(tail)];
    if (!from || !to) continue;
    const key = JSON.stringify([head, tail]);
    const line = lines.get(key) ?? { from, to, total: 0, relations: [] };
    line.total += number;
    line.relations.push({ type, count: number });
    lines.set(key, line);
  }
  return [...lines.values()].sort((one, other) => other.total - one.total);
}

/** Lines bend, so that those to and fro lie beside each other; from a type to itself it is a loop outside the ring. */
function shapeOf({ from, to }) {
  if (from === to) {
    const [dx, dy] = [Math.cos(from.angle), Math.sin(from.angle)];
    const out = from.radius + 52;
    const side = (sign) => `${from.x + dx * out - sign * dy * 40} ${from.y + dy * out + sign * dx * 40}`;
    return { path: `M${from.x} ${from.y}C${side(1)} ${side(-1)} ${from.x} ${from.y}`, middle: { x: from.x + dx * (from.radius + 40), y: from.y + dy * (from.radius + 32) } };
  }
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const bend = 24 + 0.08 * length;
  const lean = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  const last = Math.hypot(to.x - lean.x, to.y - lean.y);
  const part = Math.max(0, 1 - (to.radius + 4) / last);
  const tip = { x: lean.x + (to.x - lean.x) * part, y: lean.y + (to.y - lean.y) * part };
  return { path: `M${from.x} ${from.y}Q${lean.x} ${lean.y} ${tip.x} ${tip.y}`, middle: { x: (from.x + 2 * lean.x + to.x) / 4, y: (from.y + 2 * lean.y + to.y) / 4 } };
}

/** What a line says, where it has room: null where other words are. */
function words(line, taken) {
  const { middle } = shapeOf(line);
  const shown = line.relations.slice(0, NAMED);
  const texts = shown.map(({ type, count: number }) => `${readable(type)} ${count(number)}`);
  const box = boxOf(middle, LETTER * Math.max(...texts.map(({ length }) => length)), LINE * texts.length);
  if (taken.some((other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)) return null;
  taken.push(box);
  return svg("g", {}, shown.map(({ type, count: number }, at) =>
    svg("a", { href: routeTo("graph", { relation: type }), "aria-label": `${readable(type)}, ${count(number)} from ${line.from.name} to ${line.to.name}` },
      svg("text", { x: middle.x, y: middle.y + LINE * (at - (texts.length - 1) / 2) + 4, class: "schema-relation" }, texts[at]))));
}

const boxOf = ({ x, y }, width, height) => ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 });

const wordsOf = ({ name, count: number }) => `${shortText(name, 24)} ${count(number)}`;
const nameAt = ({ x, y, radius }) => ({ x, y: y + radius + 12 });

function typeMark(type) {
  const { x, y } = nameAt(type);
  return svg("a", { href: routeTo("graph", { type: type.name }), "aria-label": `${type.name}, ${count(type.count)} entities` },
    svg("circle", { cx: type.x, cy: type.y, r: type.radius, fill: typeColor(type.name) }), svg("text", { x, y: y + 5, class: "schema-type" }, wordsOf(type)));
}
