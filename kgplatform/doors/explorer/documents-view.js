// Documents: bring files in and watch them being read, take documents out, and build the tree.

import { announce } from "./announce.js";
import { el, fill, freshId } from "./dom.js";
import { icon } from "./icons.js";
import { get, post, remove, upload } from "./api.js";
import { about, aboutChanges, refreshAbout } from "./about.js";
import { confirmed } from "./dialogs.js";
import { count, counted, day, moment, named } from "./format.js";
import { JobCard } from "./job-card.js";
import { emptyState, failure } from "./states.js";

const SHOWN = 200;
/** Jobs that are still shown after their end. */
const LATEST = 5;

export function createView({ stage }) {
  const jobs = el("div", { class: "jobs" });
  const list = el("div", { class: "documents" });
  const filter = el("input", { type: "search", id: freshId("filter"), placeholder: "Filter by title", "aria-label": "Filter documents by title", hidden: true, on: { input: () => drawList() } });
  const add = el("div");
  const tree = el("div");
  const element = el("div", { class: "view documents-view" }, el("h1", {}, "Documents"), add, jobs, tree,
    el("section", { "aria-label": "Documents in the graph" }, el("div", { class: "section-head" }, el("h2", {}, "In the graph"), filter), list));
  const cards = new Map();
  const dismissed = new Set();
  let documents = [];

  aboutChanges.addEventListener("change", () => (drawAdd(), drawTree()));
  // A file that is dropped beside the place for it would open in the place of this page.
  for (const type of ["dragover", "drop"]) element.addEventListener(type, (event) => event.preventDefault());

  // ------------------------------------------------------------------------------------------------------- files in

  let chosen = [];
  let formDrawnFor = null;

  function drawAdd() {
    const { schemas, model, read_only: readOnly } = about();
    const key = JSON.stringify([schemas, model, readOnly]);
    if (key === formDrawnFor) return; // what was chosen in it stays
    formDrawnFor = key;
    fill(add, readOnly ? el("p", { class: "note" }, "This server is read-only: documents cannot be added or removed.") : uploadForm(schemas, model));
  }

  function uploadForm(schemas, model) {
    const id = freshId("add");
    const choice = (name, label, options) => el("span", { class: "field" }, el("label", { for: `${id}-${name}` }, label),
      el("select", { id: `${id}-${name}`, name }, options.map(([value, text]) => el("option", { value }, text))));
    const input = el("input", { id: `${id}-files`, type: "file", multiple: true, class: "visually-hidden", on: { change: () => take([...input.files]) } });
    const picked = el("p", { class: "muted", role: "status" });
    const send = el("button", { class: "primary", type: "submit", disabled: true }, icon("upload"), "Add to the graph");
    const zone = el("label", { class: "drop-zone", for: input.id }, icon("upload"), el("span", {}, el("strong", {}, "Choose files"), " or drop them here"),
      el("span", { class: "muted" }, "Text, PDF, Office and OpenDocument files, web pages, e-books, mails, tables, JSON lines"));
    const problem = el("div");

    function take(files) {
      chosen = files;
      send.disabled = !files.length;
      picked.textContent = files.length ? `${counted(files.length, "file")}: ${files.slice(0, 4).map(({ name }) => name).join(", ")}${files.length > 4 ? " …" : ""}` : "";
    }

    zone.addEventListener("dragover", () => zone.classList.add("over"));
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", ({ dataTransfer }) => {
      zone.classList.remove("over");
      const isFolder = [...dataTransfer.items].some((item) => item.webkitGetAsEntry?.()?.isDirectory);
      fill(problem, isFolder && failure(new Error("A folder cannot be dropped here. Choose the files in it, or use kgplatform ingest.")));
      take(isFolder ? [] : [...dataTransfer.files]);
    });
    const form = el("form", { class: "add-form", on: { submit: (event) => (event.preventDefault(), submit()) } }, input, zone, picked,
      el("details", {}, el("summary", {}, icon("down"), "Options"), el("div", { class: "options-grid" },
        choice("schema", "Schema", [["", "default"], ...schemas.map((name) => [name, name])]),
        choice("extractor", "Read by", [["", model ? "the language model" : "rules (no model is configured)"], ...(model ? [["local", "rules, without a model"]] : [])]),
        choice("mode", "Outside the schema", [["", "default"], ["strict", "is dropped"], ["flexible", "is kept and marked"]]),
        model && el("span", { class: "field check" }, el("label", { for: `${id}-facts` }, "Atomic facts too"), el("input", { type: "checkbox", id: `${id}-facts`, name: "facts" })))),
      el("div", { class: "actions" }, send), problem);

    async function submit() {
      const body = new FormData();
      for (const name of ["schema", "extractor", "mode"]) body.append(name, form.elements[name].value);
      body.append("facts", String(form.elements.facts?.checked ?? false));
      for (const file of chosen) body.append("files", file, file.name);
      send.disabled = true;
      fill(problem);
      picked.textContent = "Sending …";
      try {
        const { job } = await upload("api/documents", body);
        input.value = "";
        take([]);
        showJob(job);
      } catch (fault) {
        take(chosen);
        fill(problem, failure(fault));
      }
    }

    return form;
  }

  // ----------------------------------------------------------------------------------------------------------- jobs

  function showJob(job) {
    if (cards.has(job.id) || dismissed.has(job.id)) return;
    const card = new JobCard(job, { onEnd: changed, onDismiss: putAway });
    cards.set(job.id, card);
    jobs.prepend(card.element);
  }

  function putAway(card) {
    dismissed.add(card.id);
    cards.delete(card.id);
    card.element.remove();
    element.querySelector("input, button")?.focus();
  }

  async function changed() {
    await Promise.all([refreshAbout(), loadDocuments()]).catch(() => {}); // the banner says what is the matter
    if (stage.graph.whole || stage.graph.isEmpty) stage.graph.showWhole();
  }

  async function loadJobs() {
    const told = await get("api/jobs");
    const isToBeSeen = ({ state }, at) => at < LATEST || state === "waiting" || state === "running";
    for (const job of told.jobs.filter(isToBeSeen).reverse()) showJob(job);
  }

  // ------------------------------------------------------------------------------------------------------ documents

  async function loadDocuments() {
    ({ documents } = await get("api/documents"));
    drawList();
  }

  function drawList() {
    filter.hidden = documents.length < 8;
    const wanted = filter.value.trim().toLowerCase();
    const fitting = documents.filter(({ title }) => title.toLowerCase().includes(wanted));
    if (!documents.length) return fill(list, emptyState("document", "No documents yet", "Choose files above. Each statement read from them keeps its place in the text."));
    fill(list, el("p", { class: "muted" }, `${counted(fitting.length, "document")}, ${counted(fitting.reduce((sum, each) => sum + each.characters, 0), "character")}`),
      el("ul", { class: "document-list" }, fitting.slice(0, SHOWN).map(row)), fitting.length > SHOWN && el("p", { class: "muted" }, `${count(fitting.length - SHOWN)} more: filter by title.`));
  }

  function row(info) {
    const figures = [counted(info.passages, "passage"), info.failed ? `${count(info.failed)} failed` : "", info.pages ? counted(info.pages, "page") : "", day(info.added_at)];
    return el("li", {}, el("button", { class: "document-row", type: "button", on: { click: () => stage.open(info.id) } }, icon("document"),
      el("span", { class: "ellipsis", dir: "auto" }, named(info.title)), el("span", { class: "muted", title: moment(info.added_at) }, figures.filter(Boolean).join(" · "))),
    about().read_only ? null : el("button", { class: "quiet icon-only", type: "button", "aria-label": `Remove ${named(info.title)}`, title: "Remove", on: { click: () => take(info) } }, icon("remove")));
  }

  async function take(info) {
    if (!(await confirmed("Remove this document?", `“${named(info.title)}” and all that only it supports will be removed from the graph. Your own file is not deleted.`, "Remove"))) return;
    try {
      await remove(`api/documents/${encodeURIComponent(info.id)}`);
      announce(`${named(info.title)} was removed`);
      await changed();
    } catch (fault) {
      list.prepend(failure(fault));
    }
  }

  // ----------------------------------------------------------------------------------------------------------- tree

  function drawTree() {
    const { documents: number, has_tree: there, read_only: readOnly } = about();
    if (!number || readOnly) return fill(tree);
    const id = freshId("rebuild");
    const rebuild = el("input", { type: "checkbox", id });
    const start = el("button", { type: "button", on: { click: () => build(rebuild.checked) } }, icon("tree"), there ? "Update the tree" : "Build the tree");
    fill(tree, el("section", { class: "tree-build", "aria-label": "Tree" },
      el("p", {}, there ? "The tree of communities is built. After new documents, an update rebuilds only what changed." : "The tree groups what belongs together into communities. Some readers use it."),
      el("div", { class: "actions" }, start, there && el("span", { class: "field-row" }, rebuild, el("label", { for: id }, "rebuild all of it")))));
  }

  async function build(rebuild) {
    try {
      const { job } = await post("api/tree", { method: null, rebuild });
      showJob(job);
    } catch (fault) {
      fill(tree, failure(fault, drawTree));
    }
  }

  async function show() {
    drawAdd();
    drawTree();
    try {
      await Promise.all([loadDocuments(), loadJobs()]);
    } catch (fault) {
      fill(list, failure(fault, show));
    }
  }

  return { element, title: "Documents", show, focus: () => element.querySelector("input[type=file]")?.focus() };
}
