// One question with what came of it: its answer, also while it is written, its steps, its evidence.

import { titleOf } from "../shared/api.js";
import { announce, button, el, emptyState, ended, fill, icon, longList, placeButton } from "../shared/dom.js";
import { counted, duration, named, stepName } from "../shared/format.js";
import { answerCard, citationOpener, waitingCard } from "./answer-card.js";
import { idsOfResult, pathOf, Replay, Timeline } from "./replay.js";
import { subgraphOf } from "../graph/graph-panel.js";

export class Turn {
  /** `asked`: the question as a person put it; `reader`: the name of who answers it. */
  constructor(stage, asked, reader) {
    Object.assign(this, { stage, asked, reader });
    this.replay = new Replay(stage.graph, `${titleOf(reader)}: what it looked at`);
    this.timeline = new Timeline(this.replay);
    this.place = el("div", { class: "turn-answer" });
    this.found = el("div", {});
    this.work = el("details", { class: "work", open: true, hidden: true }, el("summary", {}, icon("down"), "Steps and evidence"), this.timeline.element, this.found);
    this.element = el("li", { class: "turn" }, el("h2", { class: "asked", dir: "auto" }, asked), this.place, this.work);
  }

  /** Ask: `ask(listeners)` resolves to the answer. Resolves to whether there is one. `again()` is offered after a fault. */
  async answer(ask, again) {
    const controller = (this.running = new AbortController());
    const { card, done, write, cost } = waitingCard(titleOf(this.reader), () => controller.abort());
    fill(this.place, card);
    announce(`${titleOf(this.reader)}: at work`);
    const onStep = (step, number) => {
      this.work.hidden = false;
      this.timeline.append(step);
      this.replay.happened(step);
      done(step, number);
      this.#foundSoFar(step.passages ?? []);
      announce(`Step ${number} is done: ${stepName(step.name)}`);
    };
    const started = performance.now();
    try {
      const answer = await ask({ signal: controller.signal, onStep, onText: write });
      this.seconds = (performance.now() - started) / 1000;
      this.show({ ...answer, asked: this.asked });
      announce(answer.text === null ? "The evidence is there" : `The answer is there, with ${counted(answer.citations.length, "citation")}: ${answer.text}`);
      return true;
    } catch (fault) {
      this.#broken(fault, controller, again, cost());
      return false;
    } finally {
      this.running = null;
    }
  }

  /** The passages that a step found, while the answer is not there yet. */
  async #foundSoFar(passages) {
    if (!passages.length) return;
    const { nodes } = await subgraphOf(passages.slice(0, SO_FAR)).catch(() => ({ nodes: [] }));
    const shown = nodes.filter(({ kind }) => kind === "Chunk").sort((one, other) => passages.indexOf(one.id) - passages.indexOf(other.id));
    if (!this.running || !shown.length) return; // the answer has them
    fill(this.found, el("section", { class: "evidence", "aria-label": "Found so far" }, el("p", { class: "muted" }, "Found so far, the nearest first:"),
      el("ol", {}, shown.map((node) => el("li", { class: "passage" }, el("strong", { dir: "auto" }, named(node.name)), el("p", { dir: "auto", class: "clamp" }, node.text))))));
  }

  /** End what is running, because something else takes its place. */
  leave() {
    this.leaving = true;
    this.running?.abort();
  }

  #broken(fault, controller, again, cost) {
    this.replay.stopped();
    this.timeline.show(this.replay.steps);
    this.#put(ended(fault, again, cost));
    if (this.leaving) return; // nobody is looking
    if (fault.evidence) {
      this.work.hidden = false;
      fill(this.found, el("p", { class: "muted" }, "This was found until then:"), this.#evidence(fault.evidence, true));
    }
    announce(controller.signal.aborted ? "Stopped" : fault.message);
  }

  /** Show an answer that is there; `draws`: what it rests on, too. */
  show(answer, { draws = true } = {}) {
    this.answered = answer;
    this.#put(answerCard(answer, { open: citationOpener(this.stage, answer.citations), seconds: this.seconds }));
    const steps = answer.trace ?? [];
    this.timeline.show(steps);
    this.work.hidden = !steps.length && !answer.evidence;
    if (answer.evidence) fill(this.found, this.#evidence(answer.evidence, !answer.citations.some(Boolean)));
    this.replay.finished(steps, { evidence: answer.evidence, findPath: () => pathOf(answer.citations), draws }).catch(() => {}); // the answer stands without its picture
  }

  /** Search alone: `search(signal)` resolves to what was found. */
  async search(search) {
    const controller = (this.running = new AbortController());
    fill(this.place, el("p", { class: "loading" }, el("span", { class: "spinner" }), "Searching …"));
    try {
      this.showFound(await search(controller.signal));
      return true;
    } catch (fault) {
      this.#broken(fault, controller, () => this.search(search), "");
      return false;
    } finally {
      this.running = null;
    }
  }

  /** Show what a search found; `draws`: in the graph, too. */
  showFound(found, { draws = true } = {}) {
    this.result = found;
    const summary = `${counted(found.passages.length, "passage")} and ${counted(found.facts.filter(speaks).length, "fact")} in ${duration(found.seconds)}`;
    const isEmpty = !found.passages.length && !found.facts.length;
    fill(this.place, el("p", { class: "muted" }, summary), isEmpty ? emptyState("search", "Nothing matches this question", "Try other words or another way to search.") : this.#evidence(found, true));
    announce(summary);
    if (draws) this.draw();
  }

  /** A card in place of what is there, which keeps the keyboard where it had it. */
  #put(card) {
    const hadFocus = this.place.contains(document.activeElement);
    fill(this.place, card);
    if (hadFocus && !this.leaving) card.querySelector("button")?.focus();
  }

  #evidence(found, unfolded) {
    const { stage } = this;
    const pick = (node) => (stage.showGraph(), stage.graph.goTo(node));
    return evidenceList(found, { open: (...place) => stage.open(...place), pick, unfolded });
  }

  /** Draw what it looked at, or found. */
  async draw() {
    try {
      if (this.answered) await this.replay.whole();
      const ids = this.result ? idsOfResult(this.result) : [];
      if (ids.length) await this.stage.graph.show(await subgraphOf(ids), "What the search found");
    } catch {
      // The words stand without their picture.
    }
  }

  /** As it is remembered; null where there is nothing yet. */
  get kept() {
    if (this.result) return { asked: this.asked, reader: this.reader, found: this.result };
    if (!this.answered) return null;
    const trace = (this.answered.trace ?? []).map(({ queries, ...step }) => step); // the statements say the same
    return { asked: this.asked, reader: this.reader, seconds: this.seconds, answer: { ...this.answered, trace } };
  }
}

// What a search found, best first: passages, each with its best sentence; facts that speak to the question, and folded
// away those that do not; paths of facts, communities.

const FOUND = 10;
const SO_FAR = 5;

/** `open(document, start, end)` opens a document there; `pick(node)` shows a node in the graph. */
function evidenceList(result, { open, pick, unfolded = false }) {
  const communityItem = (community) => el("li", {}, button("tree", named(community.name), () => pick(community), { class: "place" }), el("p", { class: "muted clamp", dir: "auto" }, community.summary));
  const factItem = ({ text, citations }) => el("li", {}, el("span", { dir: "auto" }, text), el("span", { class: "places" }, citations.slice(0, 3).map((place) => placeOf(place, open))));
  return el("section", { class: "evidence", "aria-label": "Evidence" },
    result.fits === false ? el("p", { class: "note" }, `No passage is likely to answer this${result.missing?.length ? `, and none mentions ${result.missing.slice(0, 3).join(", ")}` : ""}: these are only the nearest.`) : null,
    fold("passage", result.passages, unfolded, (each) => passageItem(each, open)),
    fold("fact", result.facts.filter(speaks), unfolded, factItem),
    fold("less relevant fact", result.facts.filter((each) => !speaks(each)), false, factItem, "less relevant facts"),
    fold("path", result.paths ?? [], false, pathItem),
    result.communities?.length ? fold("community", result.communities, false, communityItem, "communities") : null);
}

/** Whether a fact speaks to the question; so do those that nobody judged. */
const speaks = (fact) => fact.relevant !== false;

function fold(one, found, open, item, many = undefined) {
  if (!found.length) return null;
  return el("details", { open }, el("summary", {}, icon("down"), counted(found.length, one, many)), longList(el("ol"), found, FOUND, item));
}

function passageItem(passage, open) {
  const best = passage.sentence ?? passage;
  return el("li", { class: "passage", title: passage.routes.length ? `found by ${passage.routes.join(", ")}` : null },
    placeButton({ ...passage, start: best.start, end: best.end, location: best.location }, open),
    el("p", { dir: "auto", class: "clamp" }, best.text),
    passage.copies.length ? el("p", { class: "muted places" }, "The same text: ", passage.copies.slice(0, 3).map((copy) => placeOf(copy, open))) : null);
}

const placeOf = (place, open) => placeButton(place, open, named(place.title));

function pathItem(path) {
  return el("li", { class: "path", dir: "auto" }, path.names.map((name, at) =>
    at === 0 ? el("strong", {}, named(name)) : [el("span", { class: "muted" }, path.forward[at - 1] ? ` — ${path.predicates[at - 1]} → ` : ` ← ${path.predicates[at - 1]} — `), el("strong", {}, named(name))]));
}
