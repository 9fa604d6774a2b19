// Questions and their follow-ups, each of which knows what was asked before. This browser remembers them; the graph keeps
// only those that began there as a thread.

import * as history from "./history.js";
import { el, reveal } from "../shared/dom.js";
import { about, get } from "../shared/api.js";
import { askInThread, askReader, searchFor } from "./ask-reader.js";
import { SEARCH_ONLY } from "./reader-form.js";
import { Turn } from "./turn.js";

/** Questions that are sent along with the next one; the model is shown the last ten that fit. */
const MOST_EARLIER = 20;

export class Conversation {
  /** `thread`: the id, where the graph keeps it. */
  constructor(stage, { id = newId(), thread = null } = {}) {
    Object.assign(this, { stage, id, thread });
    this.turns = [];
    this.element = el("ol", { class: "turns", "aria-label": "Conversation" });
  }

  /** The conversation that this browser remembers as `id`, or null. */
  static async remembered(stage, id) {
    const kept = await history.conversation(id).catch(() => undefined); // a browser that keeps nothing has none
    if (!kept || kept.graph !== about().graph) return null;
    const talk = new Conversation(stage, { id });
    for (const turn of kept.turns) talk.#take(turn);
    return talk;
  }

  /** A thread that the graph keeps. */
  static async kept(stage, thread) {
    const { turns } = await get(`api/threads/${encodeURIComponent(thread)}`);
    const talk = new Conversation(stage, { id: thread, thread });
    for (const answer of turns) talk.#take({ asked: answer.asked, reader: answer.reader, seconds: null, answer });
    return talk;
  }

  #take({ asked, reader, seconds = null, answer = null, found = null }) {
    const turn = this.#add(asked, reader);
    turn.seconds = seconds;
    if (answer) turn.show(answer, { draws: false });
    else turn.showFound(found, { draws: false });
  }

  #add(asked, reader) {
    this.last?.work.removeAttribute("open");
    const turn = new Turn(this.stage, asked, reader);
    this.turns.push(turn);
    this.element.append(turn.element);
    return turn;
  }

  get last() {
    return this.turns.at(-1) ?? null;
  }

  get isRunning() {
    return Boolean(this.last?.running);
  }

  /** Ask the next question. `how`: { reader, options, route, keep, verify, where }. */
  async ask(asked, how) {
    const turn = this.#add(asked, how.reader);
    reveal(turn.element, "start");
    await this.#run(turn, how);
    reveal(turn.element, "start");
  }

  async #run(turn, how) {
    const { asked } = turn;
    const isDone = how.reader === SEARCH_ONLY
      ? await turn.search((signal) => searchFor(asked, how, { signal }))
      : await turn.answer((listeners) => this.#send(asked, how, listeners), () => turn.running ?? this.#run(turn, how));
    if (isDone) await this.remember();
  }

  #send(question, { reader, options, keep, verify, where }, listeners) {
    if (this.thread) return askInThread({ question, reader, options, where, verify, thread: this.thread }, listeners);
    return askReader({ question, reader, options, keep, verify, where, earlier: this.#earlier() }, listeners);
  }

  /** What was asked before, as it stands alone, with the answers. */
  #earlier() {
    const answered = this.turns.filter((turn) => turn.answered && turn !== this.last);
    return answered.slice(-MOST_EARLIER).map(({ answered: { question, text }, asked }) => ({ question: question ?? asked, answer: text }));
  }

  /** Keep it in this browser, where that is allowed. */
  async remember() {
    const turns = this.turns.map(({ kept }) => kept).filter(Boolean);
    if (this.thread || !turns.length) return;
    await history.keep({ id: this.id, graph: about().graph, at: Date.now(), turns }).catch(() => {}); // it lasts as long as the page
  }

  /** End what is running. */
  abort() {
    this.last?.abort({ silently: true });
  }

  /** Draw what its last answer rests on. */
  draw() {
    this.last?.draw();
  }
}

// crypto.randomUUID is there only where the page came over https or from this machine.
function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
