// Questions and their follow-ups, each of which knows what was asked before. This browser remembers them; the graph keeps
// only those that began there as a thread.

import { about, ApiError, events, get, post } from "../shared/api.js";
import { el, reveal } from "../shared/dom.js";
import { SEARCH_ONLY } from "./reader-form.js";
import { Turn } from "./turn.js";

/** Questions that are sent along with the next one; the model is shown the last ten that fit. */
const MOST_EARLIER = 20;

// crypto.randomUUID is there only where the page came over https or from this machine.
const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

export class Conversation {
  /** `thread`: the id, where the graph keeps it. */
  constructor(stage, { id = newId(), thread = null } = {}) {
    Object.assign(this, { stage, id, thread });
    this.turns = [];
    this.element = el("ol", { class: "turns", "aria-label": "Conversation" });
  }

  /** The conversation that this browser remembers as `id`, or null. */
  static async remembered(stage, id) {
    const kept = await within("readonly", (store) => store.get(id)).catch(() => undefined); // a browser that keeps nothing has none
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
      ? await turn.search((signal) => post("api/search", { question: asked, route: how.route, where: how.where }, { signal }))
      : await turn.answer((listeners) => this.#send(asked, how, listeners), () => turn.running ?? this.#run(turn, how));
    if (isDone) await this.remember();
  }

  #send(question, { reader, options, keep, verify, where }, listeners) {
    const body = { question, reader, options, verify, where };
    if (this.thread) return askReader(body, listeners, `api/threads/${encodeURIComponent(this.thread)}`);
    // What was asked before, as it stands alone, with the answers.
    const answered = this.turns.filter((turn) => turn.answered && turn !== this.last).slice(-MOST_EARLIER);
    const earlier = answered.map((turn) => ({ question: turn.answered.question ?? turn.asked, answer: turn.answered.text }));
    return askReader({ ...body, keep, earlier }, listeners);
  }

  /** Keep it in this browser as it is now, where that is allowed; the oldest of its graph goes where there are too many. */
  async remember() {
    const turns = this.turns.map(({ kept }) => kept).filter(Boolean);
    if (this.thread || !turns.length) return;
    const { graph } = about();
    try {
      await within("readwrite", (store) => store.put({ id: this.id, graph, at: Date.now(), turns }));
      for (const { id } of (await conversationsOf(graph)).slice(KEPT)) await forget(id);
    } catch {
      // It lasts as long as the page.
    }
  }

  /** End what is running, because something else takes its place. */
  abort() {
    this.last?.leave();
  }

}

// The conversations of this browser, so that they survive a reload: in IndexedDB, the latest fifty of each graph.

const STORE = "conversations";
const KEPT = 50;

let opening = null;

function database() {
  if (opening) return opening;
  const request = indexedDB.open("kgplatform", 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" }).createIndex("graph", "graph");
  return (opening = told(request));
}

/** What `work(store)` asks for, once it is there. */
const within = async (mode, work) => told(work((await database()).transaction(STORE, mode).objectStore(STORE)));

function told(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** All conversations of a graph, the latest first: { id, graph, at, turns }. */
export async function conversationsOf(graph) {
  const all = await within("readonly", (store) => store.index("graph").getAll(graph));
  return all.sort((one, other) => other.at - one.at);
}

export const forget = (id) => within("readwrite", (store) => store.delete(id));

/**
 * Ask a reader; resolves to the answer. `onStep(step, number)` is called with each step, `onText` with the answer so far, while
 * it is written. Aborting `signal` stops the reader. `body`: { question, reader, options, where, keep, verify, earlier }, of which
 * `verify` has the model say once more whether its citations support it, and `earlier` is what this question may refer to.
 * `path`: that of a thread that the graph keeps, for a follow-up in it.
 */
export async function askReader(body, { signal, onStep, onText }, path = "api/ask") {
  let written = []; // characters as the server counts them
  for await (const { event, data } of events(path, { body, signal })) {
    if (event === "step") onStep(data.step, data.number);
    else if (event === "text") onText((written = [...written.slice(0, data.start), ...data.text]).join(""));
    else if (event === "answer") return data;
    else if (event === "error") throw Object.assign(new ApiError(data), { evidence: data.evidence ?? null });
  }
  throw new ApiError({ kind: "ServerGone", message: "The connection to the server was lost before the answer came." });
}
