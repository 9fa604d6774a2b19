// The steps of a run drawn on the graph: as they happen, and again afterwards, forwards, backwards, at any speed.

import { idsOf, idsOfResult } from "./ask-reader.js";
import { subgraphOf } from "./graph-panel.js";

const BEAT = 1400;

export class Replay {
  /** `onStep(index)` is called with the step, -1 for the whole run; `onPlay(playing)`. */
  constructor(panel, { onStep = () => {}, onPlay = () => {} } = {}) {
    this.panel = panel;
    this.onStep = onStep;
    this.onPlay = onPlay;
    this.steps = [];
    this.at = -1;
    this.speed = 1;
    this.timer = 0;
    this.graphs = new Map();
    this.drawing = Promise.resolve();
    this.title = "";
  }

  get playing() {
    return this.timer !== 0;
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

  async #own(graph) {
    await this.panel.show(graph, this.title);
    this.panel.owner = this;
    this.drawn = true;
    this.complete = false;
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
    if (!path) return { all, path };
    return { all: { ...all, nodes: joined(all.nodes, path.nodes), edges: joined(all.edges, path.edges) }, path };
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

/** Both lists as one, each id once. */
function joined(one, other) {
  return [...new Map([...one, ...other].map((each) => [each.id, each])).values()];
}
