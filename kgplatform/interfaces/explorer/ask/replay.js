// The steps of a run drawn on the graph: as they happen, and again afterwards, forwards, backwards, at any speed; and as a list, each
// with what it asked, found and cost, with the buttons that replay them.

import { get } from "../shared/api.js";
import { announce, el, fill, freshId, icon, iconButton, reveal, set } from "../shared/dom.js";
import { counted, duration, spent, stepName } from "../shared/format.js";
import { subgraphOf } from "../graph/graph-panel.js";
import { statementList } from "./statements.js";

const BEAT = 1400;

export class Replay {
  /** `title`: what stands above the picture. `onStep(index)` is called with the step, -1 for the whole run; `onPlay(playing)`. */
  constructor(panel, title) {
    Object.assign(this, { panel, title, onStep: () => {}, onPlay: () => {} });
    Object.assign(this, { steps: [], at: -1, speed: 1, timer: 0, graphs: new Map(), drawing: Promise.resolve() });
  }

  /** A step that just happened: it is drawn behind those before it. */
  happened(step) {
    this.steps.push(step);
    const at = this.steps.length - 1;
    this.drawing = this.drawing.then(() => this.#drawNew(at)).catch(() => {}); // the answer does without the picture
  }

  async #drawNew(at) {
    if (this.ended) return; // the picture of all steps comes
    const graph = await this.#graphOf(this.steps[at]);
    if (!graph.nodes.length || this.ended) return;
    if (this.panel.owner === this) await this.panel.add(graph);
    else if (!this.drawn) await this.#own(graph);
    if (this.panel.owner !== this) return;
    this.panel.light(graph, this.steps[at].facts);
    if (this.panel.isFitted) this.panel.fit(); // what came is in view, too
  }

  /** A graph in a picture of its own. */
  async #own(graph) {
    await this.panel.show(graph, this.title);
    this.panel.owner = this;
    Object.assign(this, { drawn: true, complete: false });
  }

  /** The whole run's graph, where the picture does not have it. */
  async #drawAll(all) {
    if (this.panel.owner !== this) await this.#own(all);
    else if (!this.complete) await this.panel.add(all);
    this.complete = true;
  }

  /**
   * The whole run is known. `evidence`: a search result that belongs to it; `findPath()` resolves to what its answer rests
   * on, or to null. `draws`: at once, where the picture is free.
   */
  async finished(steps, { evidence = null, findPath = async () => null, draws = true } = {}) {
    this.steps = steps;
    this.ended = true;
    this.#find = () => this.#everything(evidence, findPath);
    await this.drawing;
    if (draws && this.at === -1 && (this.panel.owner === this || !this.drawn)) await this.whole();
  }

  #find = async () => ({ all: { nodes: [], edges: [] }, path: null });

  /** The graph of the whole run, and in it what the answer rests on. */
  get #run() {
    this.found ??= this.#find().catch((fault) => {
      this.found = null; // the next time tries again
      throw fault;
    });
    return this.found;
  }

  async #everything(evidence, findPath) {
    const ids = [...this.steps.flatMap(idsOf), ...(evidence ? idsOfResult(evidence) : [])];
    const [all, path] = await Promise.all([subgraphOf(ids), findPath().catch(() => null)]); // without it the whole run is shown
    const joined = (one, other) => [...new Map([...one, ...other].map((each) => [each.id, each])).values()]; // each id once
    return { all: path ? { ...all, nodes: joined(all.nodes, path.nodes), edges: joined(all.edges, path.edges) } : all, path };
  }

  /** The run was ended before its answer: nothing stays dimmed. */
  stopped() {
    this.ended = true;
    this.#find = () => this.#everything(null, async () => null);
    if (this.panel.owner !== this) return;
    this.panel.unlight();
    this.panel.fit();
  }

  /** The graph of all steps. What the answer rests on stands out, where that is known. */
  async whole() {
    this.at = -1;
    this.onStep(-1);
    const { all, path } = await this.#run;
    if (this.at !== -1) return; // a step was chosen meanwhile
    await this.#drawAll(all);
    if (path) this.panel.light(path);
    else this.panel.unlight();
    this.panel.fit();
  }

  /** Light up step `index`, at the last one what the answer rests on; the whole run at -1. */
  async goTo(index) {
    if (index < 0) return this.whole();
    const at = (this.at = Math.min(index, this.steps.length - 1));
    this.onStep(at);
    const [graph, { all, path }] = await Promise.all([this.#graphOf(this.steps[at]), this.#run]);
    if (this.at !== at) return; // it went on meanwhile
    await this.#drawAll(all);
    if (path && at === this.steps.length - 1) this.panel.light(path);
    else this.panel.light(graph, this.steps[at].facts);
  }

  play() {
    if (this.at >= this.steps.length - 1) this.at = -1;
    this.#beat();
    this.onPlay(true);
  }

  pause() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.onPlay(false);
  }

  #beat() {
    this.goTo(this.at + 1).catch(() => {}); // a step whose graph cannot be had is passed over
    this.timer = window.setTimeout(() => (this.at < this.steps.length - 1 ? this.#beat() : this.pause()), BEAT / this.speed);
  }

  #graphOf(step) {
    const ids = idsOf(step);
    const key = ids.join(" ");
    if (!this.graphs.has(key)) this.graphs.set(key, ids.length ? subgraphOf(ids) : Promise.resolve({ nodes: [], edges: [], more: 0 }));
    return this.graphs.get(key);
  }
}

const MOST_CITED = 12;
const MOST_FACTS = 40;

/** Resolves to { nodes, edges } of what `citations` lead to in the graph, or to null where they lead nowhere. */
export async function pathOf(citations) {
  const cited = citations.filter(Boolean).slice(0, MOST_CITED);
  if (!cited.length) return null;
  const facts = (await Promise.all(cited.map(factsOf))).flat().slice(0, MOST_FACTS);
  const passages = new Set(cited.map(({ passage }) => passage));
  const path = along(await subgraphOf([...passages, ...facts]), passages, new Set(facts));
  return path.nodes.length ? path : null;
}

/**
 * Passage, fact, entity: a triple is an edge between its entities, which then follow the passage themselves; an atomic
 * fact is a node. Its words that are no entities ("asked") are left out where it has any.
 */
function along({ nodes, edges }, passages, facts) {
  const kinds = new Map(nodes.map(({ id, kind }) => [id, kind]));
  const states = edges.filter(({ fact, source, target }) => facts.has(fact) || facts.has(source) || facts.has(target));
  const isMatter = (id) => !passages.has(id) && !facts.has(id);
  const hasEntities = states.some(({ source, target }) => kinds.get(source) === "Entity" || kinds.get(target) === "Entity");
  const kept = states.filter(({ source, target }) => !hasEntities || ![source, target].some((id) => isMatter(id) && kinds.get(id) === "KeyElement"));
  const joined = new Set(kept.filter(({ fact }) => facts.has(fact)).flatMap(({ source, target }) => [source, target]));
  const links = edges.filter(({ source, target }) => (passages.has(source) && joined.has(target)) || (passages.has(target) && joined.has(source)));
  const ends = new Set(kept.flatMap(({ source, target }) => [source, target]));
  return { nodes: nodes.filter(({ id }) => passages.has(id) || facts.has(id) || ends.has(id)), edges: [...new Set([...kept, ...links])] };
}

/** The ids of the facts that the cited words state; of a whole passage none: it states too many. */
async function factsOf({ document, start, end, found }) {
  if (found === false) return [];
  const text = await get(`api/documents/${encodeURIComponent(document)}?${new URLSearchParams({ start, end })}`).catch(() => null); // it may be gone
  const shared = (fact) => Math.min(fact.end, end) - Math.max(fact.start, start);
  return (text?.facts ?? []).filter((fact) => 2 * shared(fact) >= Math.min(fact.end - fact.start, end - start)).map(({ id }) => id);
}

/** All that a step was at, by id. */
const idsOf = (step) => [...(step.elements ?? []), ...(step.facts ?? []), ...(step.passages ?? []), ...(step.pages ?? [])];

/** What a search result names, the best of it. */
export const idsOfResult = ({ passages = [], facts = [], communities = [] }, most = 20) => [facts, passages, communities].flatMap((found) => found.slice(0, most).map(({ id }) => id));

const SPEEDS = [0.5, 1, 2, 4];

export class Timeline {
  /** `replay`: where the steps are drawn, or null where there is no picture. */
  constructor(replay = null) {
    this.replay = replay;
    this.list = el("ol", { class: "steps" });
    this.heading = el("h2", {}, "Steps");
    this.controls = replay ? this.#controls() : null;
    this.element = el("section", { class: "timeline", "aria-label": "Steps of the reader", hidden: true }, el("div", { class: "section-head" }, this.heading, this.controls), this.list);
    const drawPlay = (label, symbol) => fill(set(this.playButton, { "aria-label": label, title: label }), icon(symbol));
    const onPlay = (playing) => (playing ? drawPlay("Pause", "pause") : drawPlay("Replay on the graph", "play"));
    if (replay) Object.assign(replay, { onStep: (at) => this.#mark(at), onPlay });
  }

  /** A step that just happened. */
  append(step) {
    this.element.hidden = false;
    this.list.append(this.#item(step, this.list.childElementCount));
    this.heading.textContent = counted(this.list.childElementCount, "step");
  }

  /** All steps, once the run is over. */
  show(steps) {
    this.element.hidden = !steps.length;
    const before = [...this.list.children];
    const open = new Set(before.flatMap((item, at) => (item.querySelector("[aria-expanded=true]") ? [at] : [])));
    const focused = before.findIndex((item) => item.contains(document.activeElement));
    fill(this.list, steps.map((step, at) => this.#item(step, at)));
    for (const at of open) this.list.children[at]?.querySelector(".step-head").click();
    this.list.children[focused]?.querySelector(".step-head").focus();
    this.heading.textContent = counted(steps.length, "step");
    if (this.replay) {
      this.controls.hidden = steps.length < 1;
      this.slider.max = String(steps.length);
      this.#mark(this.replay.at);
    }
  }

  #item(step, at) {
    const body = freshId("step");
    const details = el("div", { id: body, class: "step-body", hidden: true });
    const head = el("button", { class: "step-head", type: "button", "aria-expanded": "false", "aria-controls": body },
      el("span", { class: "step-number" }, String(at + 1)),
      el("span", { class: "step-name" }, stepName(step.name)),
      step.path ? el("span", { class: "path-badge", data: { path: String(((step.path - 1) % 6) + 1) } }, `path ${step.path}`) : null,
      el("span", { class: "step-detail", dir: "auto" }, step.detail),
      el("span", { class: "step-cost muted" }, step.seconds === undefined ? "" : duration(step.seconds)));
    head.addEventListener("click", () => {
      const opens = details.hidden;
      if (opens && !details.childElementCount) details.append(...stepBody(step));
      details.hidden = !opens;
      head.setAttribute("aria-expanded", String(opens));
      if (opens && this.replay?.ended) this.#draw(at);
    });
    return el("li", { class: "step" }, head, details);
  }

  #mark(at) {
    [...this.list.children].forEach((item, number) => {
      if (number === at) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
    this.slider.value = String(at + 1);
    this.slider.setAttribute("aria-valuetext", at < 0 ? "the whole run" : `step ${at + 1}`);
    this.place.textContent = at < 0 ? "whole run" : `${at + 1} / ${this.list.childElementCount}`;
    if (at >= 0 && this.list.children[at]) reveal(this.list.children[at]);
  }

  #controls() {
    this.playButton = iconButton("play", "Replay on the graph", () => this.toggle());
    this.slider = el("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step shown on the graph", on: { input: () => this.#go(Number(this.slider.value) - 1) } });
    this.place = el("span", { class: "muted step-place" }, "whole run");
    const speed = el("select", { class: "small", "aria-label": "Speed of the replay", on: { change: () => (this.replay.speed = Number(speed.value)) } },
      SPEEDS.map((each) => el("option", { value: String(each), selected: each === 1 }, `${each}×`)));
    return el("div", { class: "replay", role: "group", "aria-label": "Replay", hidden: true },
      iconButton("previous", "Previous step", () => this.step(-1)), this.playButton, iconButton("next", "Next step", () => this.step(1)), this.slider, this.place, speed);
  }

  /** Play or pause. */
  toggle() {
    if (!this.replay.ended) return; // it is drawn as it happens
    if (this.replay.timer) this.replay.pause();
    else this.replay.play();
  }

  /** One step forwards or backwards. */
  step(by) {
    if (!this.replay.ended) return;
    this.#go(Math.max(-1, Math.min(this.replay.at + by, this.replay.steps.length - 1)));
  }

  #draw(at) {
    this.replay.pause();
    this.replay.goTo(at).catch(() => {}); // the words of the step stand without their picture
  }

  #go(at) {
    this.#draw(at);
    const step = this.replay.steps[at];
    announce(step ? `Step ${at + 1} of ${this.replay.steps.length}: ${stepName(step.name)}` : "The whole run");
  }
}

function stepBody(step) {
  const found = [["elements", "key element"], ["facts", "fact"], ["passages", "passage"], ["pages", "page"]]
    .filter(([name]) => step[name]?.length).map(([name, one]) => counted(step[name].length, one));
  return [
    el("p", { class: "muted" }, [step.prompt && `prompt ${step.prompt}`, spent(step.usage), found.join(", ")].filter(Boolean).join(" · ") || "No model was called and nothing was looked up."),
    step.reply ? el("div", { class: "reply" }, el("h3", {}, "What the model wrote"), el("pre", { tabindex: "0", dir: "auto", "aria-label": "What the model wrote" }, step.reply)) : null,
    step.statements?.length ? statementList(step.statements) : null,
  ].filter(Boolean);
}
