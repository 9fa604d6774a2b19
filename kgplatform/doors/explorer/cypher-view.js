// Cypher: one statement, read-only; its rows as a table, and the nodes among them as a graph.

import { announce } from "./announce.js";
import { el, fill, freshId } from "./dom.js";
import { icon } from "./icons.js";
import { post } from "./api.js";
import { about } from "./about.js";
import { count, counted, duration } from "./format.js";
import { subgraphOf } from "./graph-panel.js";
import { browserLink } from "./neo4j-browser.js";
import { failure, loading } from "./states.js";

const SAMPLES = {
  "Documents and their passages": "MATCH (d:Document)<-[:FROM_DOCUMENT]-(c:Chunk)\nRETURN d.name AS document, count(c) AS passages\nORDER BY passages DESC",
  "The most connected entities": "MATCH (e:Entity)\nRETURN e, count { (e)--() } AS connections\nORDER BY connections DESC\nLIMIT 25",
  "Facts with what they are about": "MATCH (s:Entity)<-[:SUBJECT]-(f:Fact)-[:OBJECT]->(o:Entity)\nRETURN s.name AS subject, f.predicate AS predicate, o.name AS object, f.text AS fact\nLIMIT 50",
};

export function createView({ stage }) {
  const field = freshId("cypher");
  const statement = el("textarea", { id: field, class: "code", rows: "6", spellcheck: "false", autocapitalize: "off", value: SAMPLES["The most connected entities"] });
  const parameters = el("textarea", { id: `${field}-parameters`, class: "code", rows: "2", spellcheck: "false", placeholder: '{"name": "Cyrus Field"}' });
  const samples = el("select", { id: `${field}-samples`, on: { change: () => choose() } }, el("option", { value: "" }, "Choose one"), Object.keys(SAMPLES).map((name) => el("option", { value: name }, name)));
  const result = el("div", { class: "result" });
  const run = el("button", { class: "primary", type: "submit" }, icon("play"), "Run");
  const form = el("form", { on: { submit: (event) => (event.preventDefault(), execute()) } },
    el("p", { class: "field" }, el("label", { for: samples.id }, "Examples"), samples),
    el("p", { class: "field" }, el("label", { for: field }, "Statement, read-only"), statement),
    el("details", {}, el("summary", {}, icon("down"), "Parameters"), el("p", { class: "field" }, el("label", { for: parameters.id }, "As JSON"), parameters)),
    el("div", { class: "actions" }, run, el("button", { type: "button", on: { click: openInBrowser } }, icon("open"), "Neo4j Browser"), el("span", { class: "muted" }, "Ctrl+Enter runs it.")));
  const element = el("div", { class: "view cypher-view" }, el("h1", {}, "Cypher"), form, result);

  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) (event.preventDefault(), execute());
  });

  function choose() {
    if (SAMPLES[samples.value]) statement.value = SAMPLES[samples.value];
  }

  function openInBrowser() {
    const href = browserLink(about().browser_url, statement.value);
    if (href) window.open(href, "_blank", "noopener,noreferrer");
    else fill(result, failure(new Error("This database has no Neo4j Browser.")));
  }

  async function execute() {
    let given = {};
    try {
      given = parameters.value.trim() ? JSON.parse(parameters.value) : {};
    } catch {
      return fill(result, failure(new Error("The parameters are not valid JSON. Write them like {\"name\": \"Cyrus Field\"}.")));
    }
    fill(result, loading("Running"));
    run.disabled = true;
    const started = performance.now();
    try {
      const rows = await post("api/cypher", { statement: statement.value, parameters: given });
      draw(rows, (performance.now() - started) / 1000);
    } catch (fault) {
      fill(result, failure(fault));
    } finally {
      run.disabled = false;
    }
  }

  function draw({ columns, rows, truncated }, seconds) {
    const ids = [...new Set(rows.flatMap((row) => row.flatMap(idsIn)))];
    const summary = `${counted(rows.length, "row")}${truncated ? ", more not shown" : ""}, ${duration(seconds)}`;
    const toGraph = el("button", { class: "small", type: "button", on: { click: () => (stage.showGraph(), show(ids)) } }, icon("node"), `Show ${counted(Math.min(ids.length, 500), "node")}`);
    fill(result, el("div", { class: "section-head" }, el("p", { class: "muted", role: "status" }, summary), ids.length ? toGraph : null), rows.length ? table(columns, rows) : null);
    announce(summary);
    if (ids.length) show(ids);
  }

  async function show(ids) {
    try {
      await stage.graph.show(await subgraphOf(ids), `Nodes of the result: ${count(ids.length)}`);
    } catch (fault) {
      result.append(failure(fault));
    }
  }

  return { element, title: "Cypher", show() {}, focus: () => statement.focus() };
}

function table(columns, rows) {
  return el("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": "Rows" }, el("table", {},
    el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col" }, column)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell))))));
}

function cell(value) {
  if (typeof value === "number") return el("td", { class: "number" }, String(value));
  if (value === null) return el("td", { class: "muted" }, "null");
  if (value?.labels) return el("td", { dir: "auto" }, `${value.properties.name ?? value.properties.id ?? ""} `, el("span", { class: "muted" }, `:${value.labels.join(":")}`));
  return el("td", { dir: "auto" }, typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** Ids of the nodes that a value is or holds: a node, a path, a list of them. */
function idsIn(value) {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (value?.labels && value.properties?.id) return [value.properties.id];
  return value?.nodes ? value.nodes.flatMap(idsIn) : [];
}
