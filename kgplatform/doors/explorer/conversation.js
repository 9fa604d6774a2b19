// The questions that follow an answer, each with its own; they are a thread, which is kept in the graph.

import { announce } from "./announce.js";
import { el, freshId, reveal } from "./dom.js";
import { icon } from "./icons.js";
import { answerCard, citationOpener, waitingCard } from "./answer-card.js";
import { askInThread } from "./ask-reader.js";
import { counted } from "./format.js";
import { ended } from "./states.js";

/**
 * What stands below the first answer. `first` is its question with reader and options; `form` is where the reader of the
 * next question is chosen. `thread`: the id, if the first answer is kept in one. `opened(listeners)` is told when a
 * follow-up is asked and returns who listens to it: { onStep(step), onAnswer(answer), onEvidence(evidence) }.
 */
export class Conversation {
  constructor({ stage, first, form, thread = null, opened }) {
    Object.assign(this, { stage, first, form, thread, opened });
    const field = freshId("follow-up");
    this.question = el("textarea", { id: field, rows: "1", maxlength: "4000", placeholder: "Ask on: “And when did she …?”", spellcheck: "true" });
    this.turns = el("ol", { class: "turns" });
    this.asks = el("form", { class: "ask-on", on: { submit: (event) => (event.preventDefault(), this.#submit()) } },
      el("label", { for: field, class: "visually-hidden" }, "Ask on"),
      el("div", { class: "question-box" }, this.question, el("button", { type: "submit" }, icon("send"), "Ask on")),
      el("p", { class: "muted" }, "A follow-up may refer to what was asked before. The conversation is saved in the graph."));
    this.element = el("section", { class: "conversation", "aria-label": "Conversation" }, this.turns, this.asks);
    this.question.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
  }

  /** Stop what is being answered. */
  abort() {
    this.running?.abort();
  }

  #submit() {
    const text = this.question.value.trim();
    if (!text || this.running) return this.question.focus();
    this.question.value = "";
    const answers = el("div", {});
    const turn = el("li", { class: "turn" }, el("p", { class: "asked", dir: "auto" }, text), answers);
    this.turns.append(turn);
    this.#ask(text, answers);
    reveal(turn);
  }

  async #ask(text, place) {
    const controller = (this.running = new AbortController());
    const reader = this.form.searchesOnly ? this.first.reader : this.form.reader;
    const { card, say, done, write, cost } = waitingCard(reader, () => controller.abort());
    place.replaceChildren(card);
    const heard = this.opened(reader);
    const onStep = (step, number) => (heard.onStep(step), done(step, number));
    const started = performance.now();
    try {
      await this.#begin(say, controller.signal);
      const options = this.form.searchesOnly ? this.first.options : this.form.changed;
      const answer = await askInThread({ question: text, reader, options, thread: this.thread }, { signal: controller.signal, onStep, onText: write });
      const told = answerCard(answer, { open: citationOpener(this.stage, answer.citations), seconds: (performance.now() - started) / 1000 });
      place.replaceChildren(told);
      reveal(told);
      announce(answer.text === null ? "The evidence is there" : `The answer is there, with ${counted(answer.citations.length, "citation")}: ${answer.text}`);
      heard.onAnswer(answer);
    } catch (fault) {
      const again = () => this.running ?? this.#ask(text, place);
      place.replaceChildren(ended(fault, again, cost()));
      if (fault.evidence) heard.onEvidence(fault.evidence);
    } finally {
      this.running = null;
      this.question.focus({ preventScroll: true });
    }
  }

  /** The first question in a thread of its own, where it is in none: its replies come from the cache. */
  async #begin(say, signal) {
    if (this.thread) return;
    say("Saving the first answer");
    this.thread = (await askInThread(this.first, { signal })).thread;
  }
}
