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
    if (this.panel.owner === this) this.panel.light(graph, this.steps[at].facts);
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

  /** The whole run is known. `evidence`: a search result that belongs to it. */
  async finished(steps, evidence = null) {
    this.steps = steps;
    this.ended = true;
    this.all = subgraphOf([...steps.flatMap(idsOf), ...(evidence ? idsOfResult(evidence) : [])]);
    await Promise.all([this.drawing, this.all]);
    if (this.at === -1 && (this.panel.owner === this || !this.drawn)) await this.whole();
  }

  /** The graph of all steps, nothing dimmed. */
  async whole() {
    this.at = -1;
    this.onStep(-1);
    const all = await this.all;
    if (this.at !== -1) return; // a step was chosen meanwhile
    await this.#drawAll(all);
    this.panel.unlight();
    this.panel.fit();
  }

  /** Light up step `index`; the whole run at -1. */
  async goTo(index) {
    if (index < 0) return this.whole();
    const at = (this.at = Math.min(index, this.steps.length - 1));
    this.onStep(at);
    const [graph, all] = await Promise.all([this.#graphOf(this.steps[at]), this.all]);
    if (this.at !== at) return; // it went on meanwhile
    await this.#drawAll(all);
    this.panel.light(graph, this.steps[at].facts);
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
