// Ask: the question, the reader at work, its answer, and the evidence behind it.

import { announce } from "./announce.js";
import { get } from "./api.js";
import { el, fill, freshId } from "./dom.js";
import { icon } from "./icons.js";
import { answerCard, citationOpener, waitingCard } from "./answer-card.js";
import { askInThread, askReader, idsOfResult, searchFor } from "./ask-reader.js";
import { aboutChanges, about } from "./about.js";
import { Conversation } from "./conversation.js";
import { counted, duration, readable } from "./format.js";
import { evidenceList, speaks } from "./evidence-list.js";
import { subgraphOf } from "./graph-panel.js";
import { emptyState, ended, failure, linkButton } from "./states.js";
import { ReaderForm, SEARCH_ONLY } from "./reader-form.js";
import { Replay } from "./replay.js";
import { navigate, routeTo } from "./router.js";
import { Timeline } from "./timeline.js";

/** The view; `stage` is where documents and the graph are. */
export function createView({ stage }) {
  const done = new Map(); // what was answered in this tab, so that "back" shows it again without asking again
  const field = freshId("question");
  const question = el("textarea", { id: field, rows: "2", placeholder: "Ask what the documents say", maxlength: "4000", spellcheck: "true", "aria-describedby": `${field}-hint` });
  const keep = el("input", { type: "checkbox", id: `${field}-keep` });
  const form = new ReaderForm(about(), { extra: el("p", { class: "field-row" }, keep, el("label", { for: `${field}-keep` }, "Save the run in the graph")) });
  const go = el("button", { class: "primary", type: "submit" }, icon("send"), "Ask");
  const result = el("div", { class: "result" });
  let running = null;
  let shown = null;
  let talk = null;

  const asks = el("form", { class: "ask-form", role: "search", on: { submit: (event) => (event.preventDefault(), submit()) } },
    el("label", { for: field, class: "visually-hidden" }, "Question"),
    el("div", { class: "question-box" }, question, go),
    el("p", { id: `${field}-hint`, class: "visually-hidden" }, "Enter asks; Shift+Enter starts a new line."),
    form.element);
  const element = el("div", { class: "view ask-view" }, el("h1", { class: "visually-hidden" }, "Ask"), asks, result);

  question.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  form.onChange = drawButton;
  aboutChanges.addEventListener("change", () => shown === null && !running && idle());

  function drawButton() {
    fill(go, icon(form.searchesOnly ? "search" : "send"), form.searchesOnly ? "Search" : "Ask");
  }

  function keyOf(parameters) {
    return JSON.stringify([parameters.q ?? "", parameters.reader ?? about().readers[0].name, parameters.route ?? ""]);
  }

  function submit() {
    const text = question.value.trim();
    if (!text) return question.focus();
    const parameters = { q: text, reader: form.reader, route: form.routeChosen };
    run(keyOf(parameters), text); // before the address says so, which else would have it shown as a question to ask
    navigate("ask", parameters);
  }

  function run(key, text) {
    running?.abort();
    talk?.abort();
    const controller = (running = new AbortController());
    shown = key;
    const remember = () => done.set(key, { children: [...result.children], ...shownNow });
    const work = form.searchesOnly ? search(text, controller, remember) : ask(text, controller, remember);
    work.catch((fault) => broken(fault, controller)).finally(() => {
      if (running === controller) running = null;
    });
  }

  let shownNow = {};

  async function ask(text, controller, remember) {
    const replay = new Replay(stage.graph);
    replay.title = `What ${form.reader} looked at`;
    const timeline = new Timeline(replay);
    const { card, done: stepDone, write, cost } = waitingCard(form.reader, () => controller.abort());
    const after = el("div", {});
    shownNow = { timeline, replay, cost };
    fill(result, card, timeline.element, after);
    const first = { question: text, reader: form.reader, options: form.changed };
    announce(`${form.reader} is at work`);
    const started = performance.now();
    const onStep = (step, number) => {
      timeline.append(step);
      replay.happened(step);
      stepDone(step, number);
      announce(`Step ${number} is done: ${readable(step.name)}`);
    };
    const listeners = { signal: controller.signal, onStep, onText: write };
    const answer = await (keep.checked ? askInThread(first, listeners) : askReader({ ...first, keep: false }, listeners));
    const seconds = (performance.now() - started) / 1000;
    const told = answerCard(answer, { open: citationOpener(stage, answer.citations), seconds });
    const hadFocus = card.contains(document.activeElement);
    card.replaceWith(told, ...conversation(answer, first, timeline.element, after));
    if (hadFocus) told.querySelector("button")?.focus();
    timeline.show(answer.trace);
    fill(after, evidence(answer.evidence, !answer.citations.length));
    announce(answer.text === null ? "The evidence is there" : `The answer is there, with ${counted(answer.citations.length, "citation")}: ${answer.text}`);
    remember();
    await replay.finished(answer.trace, answer.evidence).catch(() => {}); // the answer stands without its picture
  }

  /** Where the answer can be asked on; the steps and the evidence below are then those of the last follow-up. */
  function conversation({ text, thread }, first, steps, after) {
    if (text === null || about().read_only) return [];
    const opened = (reader) => {
      const replay = new Replay(stage.graph);
      replay.title = `What ${reader} looked at`;
      const timeline = new Timeline(replay);
      steps.replaceWith(timeline.element);
      steps = timeline.element;
      shownNow = Object.assign(shownNow, { timeline, replay });
      fill(after);
      const onAnswer = (answer) => {
        timeline.show(answer.trace);
        fill(after, evidence(answer.evidence, !answer.citations.length));
        replay.finished(answer.trace, answer.evidence).catch(() => {}); // the answer stands without its picture
      };
      const onEvidence = (found) => fill(after, ...foundUntilThen(found));
      return { onStep: (step) => (timeline.append(step), replay.happened(step)), onAnswer, onEvidence };
    };
    talk = new Conversation({ stage, first, form, thread, opened });
    return [talk.element];
  }

  /** A thread that is there already: its questions and answers, and where to ask on. */
  async function resume(id) {
    shown = id;
    shownNow = {};
    fill(result, el("p", { class: "loading" }, el("span", { class: "spinner" }), "Loading the conversation …"));
    try {
      const { turns } = await get(`api/threads/${encodeURIComponent(id)}`);
      if (shown !== id) return; // something else was opened meanwhile
      const timeline = new Timeline();
      const after = el("div", {});
      const last = turns.at(-1);
      const said = turns.map((turn) => [el("p", { class: "asked", dir: "auto" }, turn.asked), answerCard(turn, { open: citationOpener(stage, turn.citations) })]);
      const first = { question: turns[0].asked, reader: last.reader, options: {} };
      fill(result, el("div", { class: "turns" }, said.map((parts) => el("div", { class: "turn" }, parts))), conversation({ text: "", thread: id }, first, timeline.element, after), timeline.element, after);
    } catch (fault) {
      if (shown === id) fill(result, failure(fault, () => resume(id)));
    }
  }

  async function search(text, controller, remember) {
    fill(result, el("p", { class: "loading" }, el("span", { class: "spinner" }), "Searching …"));
    shownNow = {};
    const found = await searchFor(text, form.routeChosen, { signal: controller.signal });
    const summary = `${counted(found.passages.length, "passage")} and ${counted(found.facts.filter(speaks).length, "fact")} in ${duration(found.seconds)}`;
    fill(result, el("p", { class: "muted" }, summary), found.passages.length || found.facts.length ? evidence(found, true) : emptyState("search", "Nothing matches this question", "Try other words or another route."));
    announce(summary);
    remember();
    await stage.graph.show(await subgraphOf(idsOfResult(found)), "What the search found").catch(() => {}); // the list says it too
  }

  function evidence(found, unfolded) {
    return evidenceList(found, { open: (...place) => stage.open(...place), pick: (node) => (stage.showGraph(), stage.graph.goTo(node)), unfolded });
  }

  function foundUntilThen(found) {
    return [el("p", { class: "muted" }, "This was found until then:"), evidence(found, true)];
  }

  function broken(fault, controller) {
    const stopped = fault.name === "AbortError";
    if (stopped && running !== controller) return; // another question took its place
    const retry = () => run(shown, question.value.trim());
    const card = ended(fault, retry, shownNow.cost?.() ?? "");
    const waiting = result.querySelector(".waiting");
    const hadFocus = waiting?.contains(document.activeElement);
    if (waiting) waiting.replaceWith(card);
    else fill(result, card);
    if (fault.evidence) card.after(...foundUntilThen(fault.evidence));
    if (hadFocus) card.querySelector("button")?.focus();
    announce(stopped ? "Stopped" : fault.message);
  }

  function idle() {
    if (!about().documents) {
      fill(result, emptyState("upload", "No documents yet", "Add some and ask what they say. The graph is made from them.", linkButton(routeTo("documents"), "Add documents", { primary: true })));
    } else if (!about().model) {
      fill(result, emptyState("search", "Ask, and see the evidence", "No language model is configured: readers show the passages and facts that they find, and write no answer. To get answers, set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own."));
    } else {
      fill(result, emptyState("mark", "Ask a question", `${counted(about().documents, "document")} and ${counted(about().entities, "entity", "entities")} are in the graph. You will see each step of the reader and the words that support its answer.`));
    }
  }

  function showParameters(parameters) {
    if (parameters.thread !== undefined) {
      if (shown === parameters.thread) return;
      running?.abort();
      talk?.abort();
      running = null; // so that its end is no longer told
      resume(parameters.thread);
      return;
    }
    const key = keyOf(parameters);
    if (parameters.q === undefined || key === shown) {
      if (shown === null) idle();
      return;
    }
    question.value = parameters.q;
    form.choose(parameters.reader ?? about().readers[0].name, parameters.route);
    drawButton();
    running?.abort();
    talk?.abort();
    running = null; // so that its end is no longer told
    const before = done.get(key);
    shown = before ? key : null;
    shownNow = before ?? {};
    if (before) fill(result, before.children);
    else fill(result, emptyState("send", "Ready to ask", "This link contains a question. Press the button to ask it.", el("button", { class: "primary", type: "button", on: { click: submit } }, form.reader === SEARCH_ONLY ? "Search" : "Ask")));
    before?.replay?.whole().catch(() => {}); // the answer stands without its picture
  }

  return { element, title: "Ask", show: showParameters, focus: () => question.focus(), timeline: () => shownNow.timeline };
}
