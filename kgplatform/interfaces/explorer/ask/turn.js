// One question with what came of it: its answer, also while it is written, its steps, its evidence.

import { announce, el, fill } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { titleOf } from "../shared/api.js";
import { answerCard, citationOpener, waitingCard } from "./answer-card.js";
import { pathOf, Replay } from "./replay.js";
import { idsOfResult } from "./ask-reader.js";
import { counted, duration, stepName } from "../shared/format.js";
import { evidenceList, speaks } from "./evidence-list.js";
import { subgraphOf } from "../graph/graph-panel.js";
import { emptyState, ended } from "../shared/states.js";
import { Timeline } from "./timeline.js";

export class Turn {
  /** `asked`: the question as a person put it; `reader`: the name of who answers it. */
  constructor(stage, asked, reader) {
    Object.assign(this, { stage, asked, reader });
    this.replay = new Replay(stage.graph);
    this.replay.title = `${titleOf(reader)}: what it looked at`;
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

  /** End what is running; `silently`: because something else takes its place. */
  abort({ silently = false } = {}) {
    if (silently) this.leaving = true;
    this.running?.abort();
  }

  #broken(fault, controller, again, cost) {
    this.replay.stopped();
    this.timeline.show(this.replay.steps);
    const card = ended(fault, again, cost);
    const hadFocus = this.place.contains(document.activeElement);
    fill(this.place, card);
    if (this.leaving) return; // nobody is looking
    if (hadFocus) card.querySelector("button")?.focus();
    if (fault.evidence) this.#showFound(fault.evidence, el("p", { class: "muted" }, "This was found until then:"));
    announce(controller.signal.aborted ? "Stopped" : fault.message);
  }

  /** Show an answer that is there; `draws`: what it rests on, too. */
  show(answer, { draws = true } = {}) {
    this.answered = answer;
    const hadFocus = this.place.contains(document.activeElement);
    const card = answerCard(answer, { open: citationOpener(this.stage, answer.citations), seconds: this.seconds });
    fill(this.place, card);
    if (hadFocus) card.querySelector("button")?.focus();
    const steps = answer.trace ?? [];
    this.timeline.show(steps);
    this.work.hidden = !steps.length && !answer.evidence;
    if (answer.evidence) fill(this.found, this.#evidence(answer.evidence, !answer.citations.some(Boolean)));
    const findPath = () => pathOf(answer.citations);
    this.replay.finished(steps, { evidence: answer.evidence, findPath, draws }).catch(() => {}); // the answer stands without its picture
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
    fill(this.place, el("p", { class: "muted" }, summary), isEmpty ? emptyState("search", "Nothing matches this question", "Try other words or another route.") : this.#evidence(found, true));
    announce(summary);
    if (draws) this.draw();
  }

  #showFound(found, ...before) {
    this.work.hidden = false;
    fill(this.found, ...before, this.#evidence(found, true));
  }

  #evidence(found, unfolded) {
    const { stage } = this;
    return evidenceList(found, { open: (...place) => stage.open(...place), pick: (node) => (stage.showGraph(), stage.graph.goTo(node)), unfolded });
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
