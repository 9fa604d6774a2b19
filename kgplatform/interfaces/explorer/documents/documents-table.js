// The documents as a table: sorted by any column, page by page, and several at once asked about, read again, given gists or
// removed.

import { about, get, keepTo, mayChange, post } from "../shared/api.js";
import { confirmed } from "../shared/dialogs.js";
import { announce, button, el, emptyState, failure, fill, freshId, iconButton, loading } from "../shared/dom.js";
import { count, counted, day, decoded, fileOf, handClass, moment, named } from "../shared/format.js";
import { navigate } from "../shared/router.js";

const PAGE = 50;
/** Of those that are listed so many can be chosen at once. */
const MOST = 200;
const PAUSE = 200;
/** `aside`: left out where the screen is narrow. */
const COLUMNS = [
  { sort: "title", title: "Document" },
  { sort: "file", title: "File", aside: true },
  { title: "State" },
  { sort: "passages", title: "Passages", number: true, aside: true },
  { sort: "facts", title: "Facts", number: true },
  { sort: "failed", title: "Failures", number: true },
  { sort: "added", title: "Added", aside: true },
];

/** `open(id)` shows a document; `onJob(job)`: work was begun. Returns { element, load }. */
export function documentsTable({ open, onJob }) {
  const filter = el("input", { type: "search", id: freshId("filter"), placeholder: "Filter by title or file", "aria-label": "Filter documents by title or file", on: { input: () => later() } });
  const chosenBar = el("div", { class: "chosen-bar", role: "group", "aria-label": "The chosen documents", hidden: true });
  const problem = el("div");
  const list = el("div", { class: "documents" }, loading());
  const element = el("section", { "aria-label": "Documents in the graph" }, el("div", { class: "section-head" }, el("h2", {}, "In the graph"), filter), chosenBar, problem, list);
  const state = { sort: "title", descending: false, skip: 0 };
  const chosen = new Map();
  let page = { documents: [], total: 0 };
  let asked = 0;
  let timer = 0;

  const later = () => (window.clearTimeout(timer), (timer = window.setTimeout(() => ((state.skip = 0), show()), PAUSE)));

  async function load() {
    const mine = (asked += 1);
    const found = await get(`api/document-page?${new URLSearchParams({ ...state, text: filter.value.trim(), limit: PAGE })}`);
    if (mine !== asked) return; // a newer one was asked
    page = found;
    if (!page.documents.length && state.skip && page.total) return Object.assign(state, { skip: 0 }), load();
    draw();
  }

  const show = () => load().catch((fault) => fill(list, failure(fault, show)));

  function draw() {
    filter.hidden = !page.total && !filter.value;
    drawChosen();
    if (!page.total) return fill(list, filter.value ? el("p", { class: "muted" }, "No document has this in its title or file.") : emptyState("document", "No documents yet", "Choose files above. Each statement read from them keeps its place in the text."));
    fill(list, el("div", { class: "table-box document-table", tabindex: "0", role: "region", "aria-label": "Table of documents" }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, chooseAll()), COLUMNS.map(head), mayChange() && el("th", { scope: "col" }, el("span", { class: "visually-hidden" }, "Remove")))),
      el("tbody", {}, page.documents.map(row)))), pager());
  }

  function head({ sort, title, number, aside }) {
    if (!sort) return el("th", { scope: "col" }, title);
    const isOrder = state.sort === sort;
    const turn = () => (Object.assign(state, { sort, descending: isOrder ? !state.descending : Boolean(number), skip: 0 }), show());
    return el("th", { scope: "col", class: `${number ? "number" : ""} ${aside ? "aside" : ""}`, "aria-sort": isOrder ? (state.descending ? "descending" : "ascending") : "none" },
      button(null, [title, el("span", { "aria-hidden": "true" }, isOrder ? (state.descending ? " ↓" : " ↑") : "")], turn, { class: "sort" }));
  }

  function row(info) {
    const tick = el("input", { type: "checkbox", checked: chosen.has(info.id), "aria-label": `Choose ${named(info.title)}`, on: { change: () => (tick.checked ? chosen.set(info.id, info) : chosen.delete(info.id), drawChosen()) } });
    return el("tr", {}, el("td", {}, tick),
      el("th", { scope: "row" }, button(null, named(info.title), () => open(info.id), { class: `link ${handClass(info.source)}`, dir: "auto" })),
      el("td", { class: "muted aside", dir: "auto", title: fileOf(info.source) }, placeOf(info.source)),
      el("td", { class: "state" }, stateOf(info)),
      el("td", { class: "number aside" }, count(info.passages)), el("td", { class: "number" }, count(info.facts)),
      el("td", { class: info.failed ? "number warn" : "number", title: info.failures.join(" ") || null }, count(info.failed)),
      el("td", { class: "muted aside", title: moment(info.added_at) }, day(info.added_at)),
      mayChange() && el("td", {}, iconButton("remove", `Remove ${named(info.title)}`, () => remove([info]), { title: "Remove" })));
  }

  /** A file; its folder lists what lies in it and below. */
  function placeOf(source) {
    const [shown, path] = [fileOf(source), /^file:\/\/(.+\/)/s.exec(source)?.[1]];
    const end = shown.lastIndexOf("/") + 1;
    if (!path || !end) return shown;
    const list = () => ((filter.value = decoded(path)), (state.skip = 0), filter.focus(), show());
    return [button(null, shown.slice(0, end), list, { class: "link", "aria-label": `Folder ${shown.slice(0, end)}`, title: `Only those in ${decoded(path)}` }), shown.slice(end)];
  }

  function chooseAll() {
    const all = page.documents.every(({ id }) => chosen.has(id));
    return el("input", { type: "checkbox", checked: all, "aria-label": "Choose all on this page", on: { change: () => {
      for (const info of page.documents) all ? chosen.delete(info.id) : chosen.set(info.id, info);
      draw();
    } } });
  }

  function pager() {
    if (page.total <= PAGE) return el("p", { class: "muted" }, counted(page.total, "document"));
    const chooses = button(null, `Choose ${page.total > MOST ? "the first" : "all"} ${count(Math.min(page.total, MOST))} listed`, chooseListed);
    const turn = (skip) => (Object.assign(state, { skip }), show());
    const last = Math.min(page.total, state.skip + PAGE);
    return el("div", { class: "pager" },
      button(null, "Earlier", () => turn(Math.max(0, state.skip - PAGE)), { disabled: !state.skip }),
      el("span", { class: "muted", role: "status" }, `${count(state.skip + 1)} to ${count(last)} of ${counted(page.total, "document")}`), chooses,
      button(null, "Later", () => turn(state.skip + PAGE), { disabled: last >= page.total }));
  }

  async function chooseListed() {
    try {
      const { documents } = await get(`api/document-page?${new URLSearchParams({ ...state, text: filter.value.trim(), skip: 0, limit: MOST })}`);
      for (const info of documents) chosen.set(info.id, info);
      draw();
    } catch (fault) {
      fill(problem, failure(fault));
    }
  }

  function drawChosen() {
    chosenBar.hidden = !chosen.size;
    fill(chosenBar, el("span", { role: "status" }, `${count(chosen.size)} chosen`),
      button("send", "Ask about these", () => (keepTo([...chosen.values()]), navigate("ask"))),
      mayChange() && [button("refresh", "Read again", reread), about().model && button("document", "Make gists", () => work("gist", [...chosen.values()])),
        button("remove", "Remove", () => remove([...chosen.values()]))], button("close", "Choose none", () => (chosen.clear(), draw())));
  }

  async function reread() {
    const infos = [...chosen.values()];
    const [by, also] = about().model ? ["by the language model", ", also in passages that the model fails at"] : ["by rules, since no model is configured", ""];
    const [these, are, them] = infos.length === 1 ? ["this document", "is", "it"] : ["these documents", "are", "them"];
    const question = `${called(infos)} ${are} read again ${by}. What was read from ${them} before is replaced${also}.`;
    if (await confirmed(`Read ${these} again?`, question, "Read again")) await work("reread", infos);
  }

  async function remove(infos) {
    const [these, support] = infos.length === 1 ? ["this document", "it supports"] : ["these documents", "they support"];
    const question = `${called(infos)} and all that only ${support} will be removed from the graph. Your own files are not deleted.`;
    if (await confirmed(`Remove ${these}?`, question, "Remove")) await work("remove", infos);
  }

  async function work(kind, infos) {
    fill(problem);
    try {
      const { job } = await post("api/documents/jobs", { work: kind, documents: infos.map(({ id }) => id) });
      chosen.clear();
      announce(`${counted(infos.length, "document")}: the work has begun`);
      draw();
      onJob(job);
    } catch (fault) {
      fill(problem, failure(fault));
    }
  }

  return { element, load };
}

const called = (infos) => (infos.length === 1 ? `“${named(infos[0].title)}”` : counted(infos.length, "document"));

function stateOf({ passages, extracted, failed, pages }) {
  const read = extracted === passages ? "read" : extracted + failed === passages ? "read in part" : `${count(extracted)} of ${counted(passages, "passage")} read`;
  return pages ? `${read}, gists` : read;
}
