// Ask: a conversation, the field for the next question, and what there is to begin with.

import { about, aboutChanges } from "../shared/api.js";
import { button, el, emptyState, enters, failure, fill, freshId, icon, loading } from "../shared/dom.js";
import { currentRoute, navigate, onRoute, setParameters } from "../shared/router.js";
import { Conversation } from "./conversation.js";
import { FirstRun } from "./first-run.js";
import { OnlyDocuments, ReaderForm } from "./reader-form.js";

/** The view; `stage` is where documents and the graph are. */
export function createView({ stage }) {
  const opened = new Map(); // the conversations of this tab, so that "back" shows them as they were
  const field = freshId("question");
  const question = el("textarea", { id: field, rows: "2", placeholder: "Ask what the documents say", maxlength: "4000", spellcheck: "true", "aria-describedby": `${field}-hint` });
  const keep = el("input", { type: "checkbox", id: `${field}-keep` });
  const verify = el("input", { type: "checkbox", id: `${field}-verify` });
  const form = new ReaderForm({ extra: [
    el("p", { class: "field-row" }, keep, el("label", { for: `${field}-keep` }, "Keep the answer in the graph, among the runs")),
    el("p", { class: "field-row" }, verify, el("label", { for: `${field}-verify` }, "Have the model verify each statement (one more call)")),
  ] });
  const only = new OnlyDocuments();
  const go = button("send", "Ask", null, { class: "primary", type: "submit" });
  const first = new FirstRun({ ask: (text) => ((question.value = text), submit()), onGrown: grown });
  const asks = el("form", { class: "ask-form", role: "search", on: { submit: (event) => (event.preventDefault(), submit()) } },
    el("label", { for: field, class: "visually-hidden" }, "Question"),
    el("div", { class: "question-box" }, question, go),
    el("p", { id: `${field}-hint`, class: "visually-hidden" }, "Enter asks; Shift+Enter starts a new line."),
    form.element, only.ticked, only.element);
  const fresh = button("plus", "New conversation", begin, { class: "quiet small" });
  const said = el("p", { class: "muted" });
  const head = el("div", { class: "section-head talk-head" }, said, el("span", { class: "spacer" }), fresh);
  const result = el("div", { class: "result" });
  const element = el("div", { class: "view ask-view" }, el("h1", { class: "visually-hidden" }, "Ask"), head, asks, result);
  let talk = null;
  let wanted = null;
  let before = currentRoute().view; // the view that the address named last

  enters(question, submit);
  onRoute(({ view }) => (before = view));
  form.onChange = drawButton;
  aboutChanges.addEventListener("change", () => !talk && wanted === null && element.isConnected && idle());

  function drawButton() {
    only.suit(form.reader);
    fill(go, icon(form.searchesOnly ? "search" : "send"), form.searchesOnly ? "Search" : "Ask");
  }

  /** The conversation in place of what is there; null for none. The field follows what was said, or comes first. */
  function place(next, ...content) {
    const hadFocus = asks.contains(document.activeElement);
    if (talk !== next) talk?.abort();
    talk = next;
    wanted = null;
    element.classList.toggle("has-turns", talk !== null);
    if (talk) opened.set(talk.id, talk);
    fresh.hidden = !talk;
    said.textContent = talk?.thread ? "This conversation is kept in the graph." : "";
    question.placeholder = talk ? "Ask on" : "Ask what the documents say";
    fill(result, talk ? talk.element : content);
    element.append(...(talk ? [result, asks] : [asks, result]));
    if (hadFocus) question.focus({ preventScroll: true });
  }

  function submit() {
    const text = question.value.trim();
    if (!text || talk?.last?.running) return question.focus();
    if (!about().documents) return first.sayEmpty();
    question.value = "";
    if (!talk) {
      place(new Conversation(stage));
      navigate("ask", { q: text, reader: form.reader, route: form.routeChosen, talk: talk.id });
    }
    talk.ask(text, { reader: form.reader, options: form.changed, route: form.routeChosen, keep: keep.checked, verify: verify.checked, where: only.where });
    question.focus({ preventScroll: true });
  }

  function begin() {
    idle();
    navigate("ask");
    question.focus();
  }

  function idle() {
    place(null, first.element);
    first.draw();
    if (document.activeElement === document.body) question.focus({ preventScroll: true });
  }

  /** A job has changed the graph: it is drawn anew. */
  function grown() {
    if (stage.graph.whole || stage.graph.isEmpty) stage.graph.showWhole();
    if (!talk) question.focus({ preventScroll: true });
  }

  /** Show the conversation `id`, which `load()` resolves to; `otherwise()` where there is none. */
  async function resume(id, load, otherwise) {
    if (talk?.id === id || wanted === id) return;
    if (opened.has(id)) return show(opened.get(id));
    place(null, loading("Loading the conversation"));
    wanted = id;
    try {
      const found = await load();
      if (wanted !== id) return; // something else was opened meanwhile
      if (found) show(found);
      else otherwise();
    } catch (fault) {
      if (wanted === id) fill(result, failure(fault, () => ((wanted = null), resume(id, load, otherwise))));
    }
  }

  function show(found) {
    place(found);
    if (found.last) form.choose(found.last.reader);
    drawButton();
    found.last?.draw();
  }

  /** A link with a question: it is filled in, and not asked. */
  function offer({ q, reader, route }) {
    question.value = q;
    form.choose(reader ?? about().readers[0].name, route);
    drawButton();
    place(null, emptyState("send", "Ready to ask", "This link contains a question. Press the button to ask it.",
      button(null, form.searchesOnly ? "Search" : "Ask", submit, { class: "primary" })));
    wanted = q;
  }

  function showParameters(parameters) {
    only.drawTicked();
    const { q, talk: id, thread } = parameters;
    if (thread !== undefined) return resume(thread, () => Conversation.kept(stage, thread), idle);
    if (id !== undefined) return resume(id, () => Conversation.remembered(stage, id), () => (q === undefined ? idle() : offer(parameters)));
    if (q !== undefined) return wanted === q ? undefined : offer(parameters);
    if (talk && before !== "ask") return setParameters(talk.thread ? { thread: talk.id } : { talk: talk.id }, { replace: true }); // as it was left
    return idle();
  }

  return { element, title: "Ask", show: showParameters, focus: () => question.focus(), timeline: () => talk?.last?.timeline };
}
