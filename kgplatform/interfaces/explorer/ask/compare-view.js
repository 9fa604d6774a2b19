// Compare: two readers at the same question, side by side and at the same time.

import { about, titleOf } from "../shared/api.js";
import { announce, button, el, emptyState, ended, enters, fill, freshId, icon, linkButton, placeButton } from "../shared/dom.js";
import { count, counted, duration, named } from "../shared/format.js";
import { navigate, routeTo } from "../shared/router.js";
import { answerCard, citationOpener, waitingCard } from "./answer-card.js";
import { askReader } from "./conversation.js";
import { Timeline } from "./replay.js";
import { ReaderForm } from "./reader-form.js";

export function createView({ stage }) {
  const field = freshId("question");
  const question = el("textarea", { id: field, rows: "2", placeholder: "Ask both", maxlength: "4000" });
  const readers = about().readers.map(({ name }) => name);
  const forms = [new ReaderForm({ label: "First reader", withSearch: false, reader: readers[0] }), new ReaderForm({ label: "Second reader", withSearch: false, reader: readers[1] })];
  const columns = forms.map((form) => ({ form, result: el("div", { class: "result" }) }));
  const summary = el("div", { class: "comparison" });
  let running = null;

  const element = el("div", { class: "view compare-view" }, el("h1", {}, "Compare"),
    el("form", { class: "ask-form", on: { submit: (event) => (event.preventDefault(), submit()) } },
      el("label", { for: field, class: "visually-hidden" }, "Question"),
      el("div", { class: "question-box" }, question, button("send", "Ask both", null, { class: "primary", type: "submit" }))),
    el("div", { class: "columns" }, forms.map((form) => form.element)), summary,
    el("div", { class: "columns" }, columns.map(({ result }, at) => el("section", { "aria-label": at ? "Second reader" : "First reader" }, result))));

  enters(question, submit);

  function submit() {
    const text = question.value.trim();
    if (!text) return question.focus();
    navigate("compare", { q: text, first: forms[0].reader, second: forms[1].reader });
    run(text);
  }

  async function run(text) {
    running?.abort();
    const controller = (running = new AbortController());
    fill(summary);
    const answers = await Promise.all(columns.map((column) => one(text, column, controller)));
    if (controller.signal.aborted) return;
    running = null;
    if (answers.every(Boolean)) draw(answers);
  }

  /** One reader's column; resolves to { answer, seconds }, or null where there is none. */
  async function one(text, { form, result }, whole) {
    const mine = new AbortController();
    whole.signal.addEventListener("abort", () => mine.abort());
    const timeline = new Timeline();
    const { card, done, write, cost } = waitingCard(titleOf(form.reader), () => mine.abort());
    fill(result, card, timeline.element);
    const started = performance.now();
    const onStep = (step, number) => (timeline.append(step), done(step, number));
    try {
      const answer = await askReader({ question: text, reader: form.reader, options: form.changed }, { signal: mine.signal, onStep, onText: write });
      const seconds = (performance.now() - started) / 1000;
      card.replaceWith(answerCard(answer, { open: citationOpener(stage, answer.citations), seconds }));
      timeline.show(answer.trace);
      announce(`${titleOf(form.reader)} has answered`);
      return { answer, seconds };
    } catch (fault) {
      if (whole.signal.aborted) return null; // another question took its place
      card.replaceWith(ended(fault, () => run(text), cost()));
      return null;
    }
  }

  function draw([first, second]) {
    const ranks = new Map(second.answer.evidence.passages.map(({ id }, at) => [id, at + 1]));
    const shared = first.answer.evidence.passages.map((passage, at) => ({ passage, one: at + 1, two: ranks.get(passage.id) })).filter(({ two }) => two);
    const figure = (name, read) => el("tr", {}, el("th", { scope: "row" }, name), [first, second].map((each) => el("td", { class: "number" }, read(each))));
    fill(summary,
      el("div", { class: "table-box" }, el("table", {},
        el("thead", {}, el("tr", {}, el("td", {}), [first, second].map(({ answer }) => el("th", { scope: "col", class: "number" }, titleOf(answer.reader))))),
        el("tbody", {},
          figure("Time", ({ seconds }) => duration(seconds)),
          figure("Model calls", ({ answer }) => count(answer.usage.calls)),
          figure("Tokens", ({ answer }) => count(answer.usage.input_tokens + answer.usage.output_tokens)),
          figure("Steps", ({ answer }) => count(answer.trace.length)),
          figure("Citations", ({ answer }) => count(answer.citations.length)),
          figure("Passages found", ({ answer }) => count(answer.evidence.passages.length))))),
      el("details", { class: "shared", open: shared.length > 0 && shared.length < 6 }, el("summary", {}, icon("down"), `${counted(shared.length, "passage")} found by both`),
        el("ol", {}, shared.map(({ passage, one, two }) => el("li", {},
          placeButton(passage, (...place) => stage.open(...place), named(passage.title)),
          el("span", { class: "muted" }, ` rank ${one} and ${two}`))))));
  }

  function show({ q, first, second }) {
    const isIdle = !columns.some(({ result }) => result.childElementCount);
    if (isIdle && about().documents) fill(summary, emptyState("mark", "One question, two readers", "Both answer at the same time. Compare their answers, citations, steps and costs side by side."));
    else if (isIdle) fill(summary, emptyState("upload", "No documents yet", "Add some and ask what they say.", linkButton(routeTo("documents"), "Add documents", { primary: true })));
    if (q === undefined || q === question.value.trim()) return;
    question.value = q;
    if (first) forms[0].choose(first);
    if (second) forms[1].choose(second);
  }

  return { element, title: "Compare", wide: true, show, focus: () => question.focus() };
}
