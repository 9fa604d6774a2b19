// The page: which view is open, the stage beside it, keys, theme, and what happens when the server goes away.

import { about, aboutChanges, get, mayChange, refreshAbout, server, ticked } from "./shared/api.js";
import { showShortcuts } from "./shared/dialogs.js";
import { button, el, failure, fill, icon, loading } from "./shared/dom.js";
import { counted } from "./shared/format.js";
import { undo } from "./graph/correct.js";
import { currentRoute, navigate, onRoute, routeTo } from "./shared/router.js";
import { splitter, Stage } from "./stage.js";

const VIEWS = {
  ask: { name: "Ask", load: () => import("./ask/ask-view.js") },
  graph: { name: "Graph", load: () => import("./graph/graph-page.js") },
  tree: { name: "Tree", load: () => import("./tree/tree-page.js") },
  documents: { name: "Documents", load: () => import("./documents/documents-view.js") },
  compare: { name: "Compare", load: () => import("./ask/compare-view.js") },
  runs: { name: "Runs", load: () => import("./ask/runs-view.js") },
  schema: { name: "Schema", load: () => import("./documents/schema-view.js") },
  cypher: { name: "Cypher", load: () => import("./ask/cypher-view.js") },
  models: { name: "Models", load: () => import("./ask/models-view.js") },
  corrections: { under: "graph", load: () => import("./graph/corrections-view.js") },
  conflicts: { under: "graph", load: () => import("./graph/conflicts-view.js") },
  http: { load: () => import("./http-view.js") }, // where /docs leads; without a name it is not among the links
};
const NAMED = Object.keys(VIEWS).filter((id) => VIEWS[id].name);
const KEYS = "kgplatform.keys";

const main = document.getElementById("panel");
const nav = document.getElementById("views");
const stage = new Stage(document.getElementById("stage"));
const WIDTH = { label: "Width of the view", least: 25, most: 70 };
// A table of documents wants more room than the other views; the style sheet shows the border of the one that is open.
const borders = [splitter(main.parentElement, { ...WIDTH, name: "panel", usual: 42 }), splitter(main.parentElement, { ...WIDTH, name: "table", usual: 60 })];
const opened = new Map();
let current = null;
let followed = 0;
let shownFor = "";

function drawNav(view) {
  fill(nav, NAMED.map((id) => el("a", { href: `#/${id}`, "aria-current": id === (VIEWS[view].under ?? view) ? "page" : null }, VIEWS[id].name)));
}

/** Bring the page to what the address says. */
async function follow({ view, parameters }) {
  if (!Object.hasOwn(VIEWS, view)) return navigate("ask", {}, { replace: true });
  const mine = (followed += 1);
  if (current?.id !== view) {
    drawNav(view);
    if (!opened.has(view)) {
      fill(main, loading());
      try {
        const { createView } = await VIEWS[view].load();
        if (!opened.has(view)) opened.set(view, createView({ stage }));
      } catch {
        const fault = new Error("This part of the page could not be loaded: the server does not answer.");
        current = null; // what stands there is no view: every address leads on from it
        // A module that could not be loaded stays so for the browser until the page is loaded again.
        return fill(main, el("div", { class: "view" }, failure(fault, () => window.location.reload())));
      }
      if (mine !== followed) return; // the person went on meanwhile
    }
    const moved = current !== null;
    current = { id: view, ...opened.get(view) };
    fill(main, current.element);
    main.scrollTop = 0;
    document.title = `${current.title} · kgplatform`;
    if (moved) stage.hideOnNarrow();
    if (moved) main.focus({ preventScroll: true });
  }
  document.body.classList.toggle("wide", Boolean(current.wide) && !parameters.doc);
  // Where only the stage is to show something else, the view stays as it is.
  const { doc, at, node, time, ...own } = parameters;
  const wanted = routeTo(view, own);
  if (wanted !== shownFor) {
    shownFor = wanted;
    await current.show(parameters);
  }
  if (mine === followed) stage.follow(parameters);
}

function drawStatus() {
  const { documents, model, version } = about();
  const status = document.getElementById("status");
  const of = ticked().length ? `${ticked().length} of ` : "";
  fill(status, `${of}${counted(documents, "document")} · ${model ?? "no model"}`);
  status.title = `kgplatform ${version}`;
}

const keysAllowed = () => localStorage.getItem(KEYS) !== "off";

const SHORTCUTS = [
  { key: "/", what: "Go to the question or the first field of the view", does: () => current?.focus() },
  { key: "f", what: "Find a node in the graph", does: () => (current?.wide ? navigate("graph") : stage.find()) },
  { key: "p", what: "Replay the steps or pause", does: () => current?.timeline?.()?.toggle() },
  { key: "[", what: "Previous step", does: () => current?.timeline?.()?.step(-1) },
  { key: "]", what: "Next step", does: () => current?.timeline?.()?.step(1) },
  { key: "u", what: "Undo the last correction", does: () => mayChange() && undo() },
  { key: "t", what: "Light or dark theme", does: () => window.toggleTheme() },
  { key: `1 … ${NAMED.length}`, what: "Go to a view" },
  { key: "+ − 0", what: "In the picture: zoom in, zoom out, show all" },
  { key: "Shift ←↑↓→", what: "In the picture: choose the next node in that direction; without Shift, pan" },
  { key: "Enter", what: "In the picture: draw the neighbours of the chosen node" },
  { key: "Esc", what: "Close the dialog, card or document" },
  { key: "?", what: "This list", does: () => showKeys() },
];

const showKeys = () => showShortcuts(SHORTCUTS, keysAllowed(), (allowed) => localStorage.setItem(KEYS, allowed ? "on" : "off"));

function onKey(event) {
  // Brackets are typed with AltGr on many keyboards, which counts as Ctrl and Alt.
  const isCommand = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
  if (event.defaultPrevented || isCommand || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return stage.closeOne();
  if (!keysAllowed() || event.target.closest("input, textarea, select, [role=application], [role=tree], [role=separator]")) return;
  const view = NAMED[Number(event.key) - 1];
  const shortcut = SHORTCUTS.find(({ key, does }) => does && key === event.key);
  if (view) navigate(view);
  else if (shortcut) shortcut.does();
  else return;
  event.preventDefault();
}

/** Seconds from one try to the next. */
const PAUSE = 3;

/** Watch the server; the banner goes into `place`. `onBack()`: a server that was gone answers again. */
function watchServer(place, onBack) {
  let gone = false;
  let timer = 0;
  const left = el("span", { "aria-hidden": "true" });

  async function tryAgain() {
    window.clearInterval(timer);
    left.textContent = " Trying …";
    await get("api/health").catch(() => {}); // the events below handle the outcome
    if (gone) countDown(PAUSE);
  }

  function countDown(seconds) {
    window.clearInterval(timer);
    left.textContent = ` Next try in ${seconds} s.`;
    timer = window.setTimeout(() => (seconds > 1 ? countDown(seconds - 1) : tryAgain()), 1000);
  }

  server.addEventListener("gone", () => {
    if (gone) return;
    gone = true;
    const says = el("p", {}, "The server does not answer. Is it still running?", left);
    fill(place, el("div", { class: "banner", role: "alert" }, icon("warning"), says, button(null, "Try now", tryAgain)));
    countDown(PAUSE);
  });
  server.addEventListener("answered", () => {
    if (!gone) return;
    gone = false;
    window.clearTimeout(timer);
    fill(place);
    onBack();
  });
}

let begun = false;

async function begin() {
  try {
    await refreshAbout();
  } catch (fault) {
    return fill(main, el("div", { class: "view" }, failure(fault, begin)));
  }
  if (begun) return; // two tries at once: the one of the button, and the one of the banner
  begun = true;
  onRoute(follow);
  await follow(currentRoute());
  if (stage.graph.isEmpty && !stage.opened && currentRoute().view !== "graph") stage.graph.showWhole();
}

// In the stage, for all that people reach is to be in a landmark.
stage.place.prepend(...borders);
drawNav(Object.hasOwn(VIEWS, currentRoute().view) ? currentRoute().view : "ask");
fill(document.getElementById("theme-button"), icon("sun"), icon("moon"));
fill(document.getElementById("help-button"), icon("help"));
fill(document.getElementById("stage-button"), icon("node"), "Graph");
document.getElementById("brand-mark").append(icon("mark"));
const space = /^\/w\/([^/]+)\//.exec(window.location.pathname)?.[1]; // of many, behind one address
if (space) document.querySelector(".brand").append(el("a", { href: "/", title: "All workspaces" }, space));
document.getElementById("theme-button").addEventListener("click", () => window.toggleTheme());
document.getElementById("help-button").addEventListener("click", showKeys);
document.getElementById("stage-button").addEventListener("click", () => stage.showGraph());
document.addEventListener("keydown", onKey);
document.getElementById("skip").addEventListener("click", (event) => (event.preventDefault(), main.focus()));
watchServer(document.getElementById("banner"), () => (about() ? refreshAbout().catch(() => server.dispatchEvent(new Event("gone"))) : begin()));
aboutChanges.addEventListener("change", drawStatus);
aboutChanges.addEventListener("ticked", () => (stage.graph.whole || stage.graph.isEmpty) && stage.graph.showWhole());
begin();
