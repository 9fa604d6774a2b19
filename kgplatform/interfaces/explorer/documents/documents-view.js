// Documents: bring files in and watch them being read, the table of those that are there, and the tree.

import { about, aboutChanges, get, post, refreshAbout, upload } from "../shared/api.js";
import { button, el, failure, fill, freshId, icon, keptList } from "../shared/dom.js";
import { field } from "../shared/fields.js";
import { counted } from "../shared/format.js";
import { documentsTable } from "./documents-table.js";
import { JobCard } from "./job-card.js";

/** Jobs that are still shown after their end. */
const LATEST = 5;
/** Where the browser keeps the jobs whose reports were put away, and how many: the server forgets older ones. */
const [DISMISSED, REMEMBERED] = ["kgplatform.dismissed", 100];

/** The name of a file that has a pasted text: what no disk takes in a name is a space. */
const fileName = (title) => `${title.replace(/[\p{C}\\/:*?"<>|.]+/gu, " ").replace(/\s+/g, " ").trim().slice(0, 80) || "Pasted text"}.txt`;

export function createView({ stage }) {
  const jobs = el("div", { class: "jobs" });
  const add = el("div");
  const tree = el("div");
  const problem = el("div");
  const table = documentsTable({ open: (id) => stage.open(id), onJob: (job) => showJob(job) });
  const element = el("div", { class: "view documents-view" }, el("h1", {}, "Documents"), add, jobs, problem, tree, table.element);
  const cards = new Map();
  const dismissed = new Set(keptList(DISMISSED));

  aboutChanges.addEventListener("change", () => (drawAdd(), drawTree()));
  // A file that is dropped beside the place for it would open in the place of this page.
  for (const type of ["dragover", "drop"]) element.addEventListener(type, (event) => event.preventDefault());

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
    const send = button("upload", "Add to the graph", null, { class: "primary", type: "submit", disabled: true });
    const zone = el("label", { class: "drop-zone", for: input.id }, icon("upload"), el("span", {}, el("strong", {}, "Choose files"), " or drop them here"),
      el("span", { class: "muted" }, "Text, PDF, Office and OpenDocument files, web pages, e-books, mails, tables, JSON lines"));
    const text = el("textarea", { id: `${id}-text`, rows: 4, dir: "auto", on: { input: () => take(chosen) } });
    const title = el("input", { id: `${id}-title`, autocomplete: "off", placeholder: "By default its first words" });
    const problem = el("div");

    function take(files) {
      chosen = files;
      send.disabled = !files.length && !text.value.trim();
      picked.textContent = files.length ? `${counted(files.length, "file")}: ${files.slice(0, 4).map(({ name }) => name).join(", ")}${files.length > 4 ? " …" : ""}` : "";
    }

    zone.addEventListener("dragover", () => zone.classList.add("over"));
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", ({ dataTransfer }) => {
      zone.classList.remove("over");
      const isFolder = [...dataTransfer.items].some((item) => item.webkitGetAsEntry?.()?.isDirectory);
      fill(problem, isFolder && failure(new Error("A folder cannot be dropped here. Choose the files in it.")));
      take(isFolder ? [] : [...dataTransfer.files]);
    });
    const form = el("form", { class: "add-form", on: { submit: (event) => (event.preventDefault(), submit()) } }, input, zone, picked,
      el("details", {}, el("summary", {}, icon("down"), "Paste a text, or addresses of web pages"),
        el("div", { class: "entry-form" }, field("The text, or one address on each line", text), field("Title of the text", title))),
      el("details", {}, el("summary", {}, icon("down"), "Options"), el("div", { class: "options-grid" },
        choice("schema", "Schema", [["", "default"], ...schemas.map((name) => [name, name])]),
        choice("extractor", "Read by", [["", model ? "the language model" : "rules (no model is configured)"], ...(model ? [["local", "rules, without a model"]] : [])]),
        choice("mode", "Outside the schema", [["flexible", "is kept and marked"], ["strict", "is dropped"]]),
        model && el("span", { class: "field check" }, el("label", { for: `${id}-facts` }, "Atomic facts too"), el("input", { type: "checkbox", id: `${id}-facts`, name: "facts" })))),
      el("div", { class: "actions" }, send), problem);

    async function submit() {
      const body = new FormData();
      for (const name of ["schema", "extractor", "mode"]) body.append(name, form.elements[name].value);
      body.append("facts", String(form.elements.facts?.checked ?? false));
      for (const file of chosen) body.append("files", file, file.name);
      const pasted = text.value.trim();
      if (/^https?:\/\/\S+(\s+https?:\/\/\S+)*$/i.test(pasted)) body.append("addresses", pasted);
      else if (pasted) body.append("pasted", "true"), body.append("files", new Blob([pasted], { type: "text/plain" }), fileName(title.value.trim() || pasted.split("\n")[0]));
      send.disabled = true;
      fill(problem);
      picked.textContent = "Sending …";
      try {
        const { job } = await upload("api/documents", body);
        input.value = text.value = title.value = "";
        take([]);
        showJob(job);
      } catch (fault) {
        take(chosen);
        fill(problem, failure(fault));
      }
    }

    return form;
  }

  function showJob(job) {
    if (cards.has(job.id) || dismissed.has(job.id)) return;
    const card = new JobCard(job, { onEnd: changed, onDismiss: putAway, onJob: showJob });
    cards.set(job.id, card);
    jobs.prepend(card.element);
  }

  function putAway(card) {
    dismissed.add(card.id);
    localStorage.setItem(DISMISSED, JSON.stringify([...dismissed].slice(-REMEMBERED)));
    cards.delete(card.id);
    card.element.remove();
    element.querySelector("input, button")?.focus();
  }

  async function changed() {
    await Promise.all([refreshAbout(), table.load()]).catch(() => {}); // the banner says what is the matter
    if (stage.graph.whole || stage.graph.isEmpty) stage.graph.showWhole();
  }

  function drawTree() {
    const { documents: number, has_tree: there, read_only: readOnly } = about();
    if (!number || readOnly) return fill(tree);
    const id = freshId("rebuild");
    const rebuild = el("input", { type: "checkbox", id });
    const start = button("tree", there ? "Update the tree" : "Build the tree", () => build(rebuild.checked), { class: null });
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
    fill(problem);
    try {
      const [told] = await Promise.all([get("api/jobs"), table.load()]);
      const isToBeSeen = ({ state }, at) => at < LATEST || state === "waiting" || state === "running";
      for (const job of told.jobs.filter(isToBeSeen).reverse()) showJob(job);
    } catch (fault) {
      fill(problem, failure(fault, show));
    }
  }

  return { element, title: "Documents", show, focus: () => element.querySelector("input[type=file]")?.focus() };
}
