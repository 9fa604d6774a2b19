// Cypher: one statement, read-only; its rows as a table, and the nodes among them as a graph.

import { about, get, post } from "../shared/api.js";
import { announce, button, el, failure, fill, freshId, icon, keptList, linkCopier, loading } from "../shared/dom.js";
import { count, counted, duration, moment } from "../shared/format.js";
import { routeTo, setParameters } from "../shared/router.js";
import { browserLink, coloured } from "./statements.js";
import { subgraphOf } from "../graph/graph-panel.js";

const FIRST = "MATCH (e:Entity)\nRETURN e, count { (e)--() } AS connections\nORDER BY connections DESC\nLIMIT 25";
const SAMPLES = [
  { title: "Documents and their passages", statement: "MATCH (d:Document)<-[:FROM_DOCUMENT]-(c:Chunk)\nRETURN d.name AS document, count(c) AS passages\nORDER BY passages DESC" },
  { title: "Facts with what they are about", statement: "MATCH (s:Entity)<-[:SUBJECT]-(f:Fact)-[:OBJECT]->(o:Entity)\nRETURN s.name AS subject, f.predicate AS predicate, o.name AS object, f.text AS fact\nLIMIT 50" },
];

export function createView({ stage }) {
  const id = freshId("cypher");
  const editor = codeEditor({ id, rows: 8, value: FIRST });
  const statement = editor.field;
  const parameters = el("textarea", { id: `${id}-parameters`, class: "code", rows: "2", spellcheck: "false", placeholder: '{"name": "Cyrus Field"}' });
  const samples = el("select", { id: `${id}-samples`, on: { change: () => choose() } }, el("option", { value: "" }, "Choose one"));
  const shows = el("p", { class: "muted", hidden: true });
  const result = el("div", { class: "result" });
  const run = button("play", "Run", null, { class: "primary", type: "submit" });
  const stop = button("stop", "Stop", () => running?.abort(), { class: null, hidden: true });
  const history = statementHistory(({ statement: text, parameters: given }) => take(text, given));
  const given = el("details", {}, el("summary", {}, icon("down"), "Parameters"), el("p", { class: "field" }, el("label", { for: parameters.id }, "As JSON"), parameters));
  const form = el("form", { on: { submit: (event) => (event.preventDefault(), execute()) } },
    el("p", { class: "field" }, el("label", { for: samples.id }, "Saved queries"), samples), shows,
    el("div", { class: "field" }, el("label", { for: id }, "Statement, read-only"), editor.element), given,
    el("div", { class: "actions" }, run, stop, button("open", "Neo4j Browser", openInBrowser, { class: null }), linkCopier(() => routeTo("cypher", written()), { class: null }), el("span", { class: "muted" }, "Ctrl+Enter runs it.")));
  const element = el("div", { class: "view cypher-view" }, el("h1", {}, "Cypher"), form, result, history.element);
  let queries = null;
  let running = null;

  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) (event.preventDefault(), execute());
  });

  /** The same queries as in Neo4j Browser. Without an answer they are left out, and asked for the next time. */
  async function loadQueries() {
    queries ??= get("api/saved-queries").then(({ queries: saved }) => [...saved, ...SAMPLES], () => (queries = null));
    const known = await queries;
    if (known && samples.options.length === 1) samples.append(...known.map(({ title }, at) => el("option", { value: String(at) }, title)));
  }

  async function choose() {
    const query = (await queries)?.[samples.value];
    shows.hidden = !query?.about;
    shows.textContent = query?.about ?? "";
    if (query) take(query.statement, "");
  }

  function take(text, values) {
    editor.set(text);
    parameters.value = values;
    if (values) given.open = true;
    statement.focus();
  }

  const written = () => ({ statement: statement.value, parameters: parameters.value.trim() });

  function openInBrowser() {
    const href = browserLink(about().browser_url, statement.value);
    if (href) window.open(href, "_blank", "noopener,noreferrer");
    else fill(result, failure(new Error("This database has no Neo4j Browser.")));
  }

  async function execute() {
    if (running) return;
    let values = {};
    try {
      values = parameters.value.trim() ? JSON.parse(parameters.value) : {};
    } catch {
      return fill(result, failure(new Error("The parameters are not valid JSON. Write them like {\"name\": \"Cyrus Field\"}.")));
    }
    fill(result, loading("Running"));
    history.note(written());
    setParameters(written(), { replace: true });
    isRunning(new AbortController());
    const started = performance.now();
    try {
      const rows = await post("api/cypher", { statement: statement.value, parameters: values }, { signal: running.signal });
      draw(rows, (performance.now() - started) / 1000);
    } catch (fault) {
      // The server ends a statement whose client has gone.
      fill(result, fault.name === "AbortError" ? el("p", { class: "muted", role: "status" }, "Stopped.") : failure(fault));
    } finally {
      isRunning(null);
    }
  }

  function isRunning(control) {
    const hadFocus = document.activeElement === stop || document.activeElement === run;
    running = control;
    run.disabled = Boolean(control);
    stop.hidden = !control;
    if (hadFocus) (control ? stop : run).focus();
  }

  function draw({ columns, rows, truncated, notes }, seconds) {
    const ids = [...new Set(rows.flatMap((row) => row.flatMap(idsIn)))];
    const summary = `${counted(rows.length, "row")}${truncated ? ", more not shown" : ""}, ${duration(seconds)}`;
    const toGraph = button("node", `Show ${counted(Math.min(ids.length, 500), "node")}`, () => (stage.showGraph(), show(ids)));
    fill(result, el("div", { class: "section-head" }, el("p", { class: "muted", role: "status" }, summary), ids.length ? toGraph : null), notes.map((note) => el("p", { class: "note" }, icon("warning"), note)), rows.length ? table(columns, rows) : null);
    announce([summary, ...notes].join(". "));
    if (ids.length) show(ids);
  }

  async function show(ids) {
    try {
      await stage.graph.show(await subgraphOf(ids), `Nodes of the result: ${count(ids.length)}`);
    } catch (fault) {
      result.append(failure(fault));
    }
  }

  return {
    element,
    title: "Cypher",
    /** A link brings a statement, and runs nothing. */
    show({ statement: text, parameters: values }) {
      loadQueries();
      if (text && text !== statement.value) take(text, values ?? "");
    },
    focus: () => statement.focus(),
  };
}

function table(columns, rows) {
  return el("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": "Rows" }, el("table", {},
    el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col" }, column)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell))))));
}

function cell(value) {
  if (typeof value === "number") return el("td", { class: "number" }, String(value));
  if (value === null) return el("td", { class: "muted" }, "null");
  return el("td", { dir: "auto" }, shown(value));
}

/** Labels that every entity has. */
const PLAIN = new Set(["Entity", "KeyElement"]);

/** A value in words: a node by its name and labels, a relationship by its type, a path by both; all else as JSON. */
function shown(value) {
  const quiet = (text) => el("span", { class: "muted" }, text);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.flatMap((each, at) => [at ? ", " : "", shown(each)].flat());
  if (value.labels && value.properties) return [`${value.properties.name ?? value.properties.id ?? ""} `, quiet(`:${value.labels.find((label) => !PLAIN.has(label)) ?? value.labels[0] ?? ""}`)];
  if (value.type && value.properties) return [quiet(`[:${value.type}]`)];
  if (value.nodes && value.forward) return value.nodes.flatMap((node, at) => [at ? quiet(value.forward[at - 1] ? ` —${value.relationships[at - 1].type}→ ` : ` ←${value.relationships[at - 1].type}— `) : "", shown(node)].flat());
  return JSON.stringify(value);
}

/** Ids of the nodes that a value is or holds: a node, a path, a list of them. */
function idsIn(value) {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (value?.labels && value.properties?.id) return [value.properties.id];
  return value?.nodes ? value.nodes.flatMap(idsIn) : [];
}

/**
 * A field whose words are coloured while one types: its own letters are unseen above them. { element, field, set(text) }; `field`
 * is the textarea, which has the value, the focus and the label.
 */
function codeEditor({ id, rows, value = "" }) {
  const shown = el("pre", { class: "code", "aria-hidden": "true" });
  const field = el("textarea", { id, class: "code", rows: String(rows), spellcheck: "false", autocapitalize: "off", autocomplete: "off", value });
  const element = el("div", { class: "code-editor" }, shown, field);

  const follow = () => Object.assign(shown, { scrollTop: field.scrollTop, scrollLeft: field.scrollLeft });
  function draw() {
    fill(shown, coloured(`${field.value}\n`)); // a last line that is empty has a height, too
    follow();
  }

  field.addEventListener("input", draw);
  field.addEventListener("scroll", follow);
  draw();
  return { element, field, set: (text) => ((field.value = text), draw()) };
}

const KEPT = "kgplatform.statements";
const MOST = 50;

/** What was run in this browser, the last first: { element, note(statement) }; `onChoose` gets { statement, parameters }. */
function statementHistory(onChoose) {
  const list = el("ol", { class: "history" });
  const forget = button("remove", "Forget all", () => (localStorage.removeItem(KEPT), draw()));
  const element = el("details", { class: "statement-history" }, el("summary", {}, icon("down"), "History"), el("p", { class: "muted" }, "Kept in this browser only."), list, forget);

  function note(run) {
    const others = saved().filter(({ statement, parameters }) => statement !== run.statement || parameters !== run.parameters);
    localStorage.setItem(KEPT, JSON.stringify([{ ...run, at: new Date().toISOString() }, ...others].slice(0, MOST)));
    draw();
  }

  function draw() {
    const runs = saved();
    element.hidden = !runs.length;
    fill(list, runs.map((run) => el("li", {},
      button(null, el("code", { class: "ellipsis" }, run.statement.replaceAll(/\s+/g, " ")), () => onChoose(run), { class: "link", title: run.statement }), el("span", { class: "muted" }, moment(run.at)))));
  }

  draw();
  return { element, note };
}

const saved = () => keptList(KEPT, ({ statement, parameters }) => typeof statement === "string" && typeof parameters === "string");
