// An answer: its words, with numbers that open the documents where they say so, and what it cost.

import { copyText, el, fill } from "./dom.js";
import { icon } from "./icons.js";
import { about, titleOf } from "./about.js";
import { peekAt } from "./citation-peek.js";
import { duration, named, shortened, slice, spent, spentIn, stepName } from "./format.js";
import { markdown } from "./markdown.js";
import { routeTo } from "./router.js";

const QUOTE = 160;

/** The card of `answer`; `open(citation)` opens the document at the cited words. `seconds`: what it took here. */
export function answerCard(answer, { open, seconds = null }) {
  return el("article", { class: "answer card", "aria-label": "Answer" },
    answer.text === null ? withoutModel(answer) : answerText(answer, open),
    notes(answer),
    citationList(answer, open),
    el("footer", { class: "muted" }, figures(answer, seconds), el("span", { class: "spacer" }), answer.run ? el("a", { href: routeTo("runs", { run: answer.run }) }, "saved run") : null, answer.text === null ? null : copyButton(answer)));
}

/** What there is to note; that a follow-up was asked in other words is nothing to warn of. */
function notes({ text, note, asked, question }) {
  if (!note || text === null) return null;
  const end = asked && asked !== question && note.includes(question) ? note.indexOf(question) + question.length : 0;
  const [asAnother, rest] = [note.slice(0, end), note.slice(end).trim()];
  return [asAnother && el("p", { class: "muted", dir: "auto" }, asAnother), rest && el("p", { class: "note" }, icon("warning"), rest)].filter(Boolean);
}

function figures(answer, seconds) {
  const took = seconds ?? answer.seconds ?? null;
  return el("span", {}, [titleOf(answer.reader), took === null ? "" : duration(took), spent(answer.usage)].filter(Boolean).join(" · "));
}

function copyButton(answer) {
  const copy = el("button", { class: "quiet small", type: "button", on: { click: () => copyText(withSources(answer), copy) } }, icon("copy"), el("span", {}, "Copy"));
  return copy;
}

/** The answer with what its numbers stand for, as it may be pasted elsewhere. */
function withSources({ text, citations }) {
  const sources = citations.flatMap((citation, at) => (citation ? [`[${at + 1}] ${named(citation.title)}${citation.location ? `, ${citation.location}` : ""}: ${citation.document}`] : []));
  return sources.length ? `${text}\n\n${sources.join("\n")}` : text;
}

function withoutModel(answer) {
  const isSaid = about()?.model || answer.failed;
  const message = isSaid ? answer.note : "No language model is connected, so there is no answer. Below is the evidence, best first.";
  const how = isSaid ? null : el("p", {}, el("a", { href: routeTo("models") }, "Connect a model"));
  return el("div", { class: "without-model" }, el("p", {}, message), how);
}

/** The words, with a button for each number that stands for a citation. */
function answerText(answer, open) {
  const texts = textsOf(answer);
  const cite = (number) => (answer.citations[number - 1] ? mark(number, answer.citations[number - 1], open, texts) : null);
  return el("div", { class: "answer-text", dir: "auto" }, markdown(answer.text, cite));
}

function mark(number, citation, open, texts) {
  const label = `Citation ${number}: ${named(citation.title)}`;
  const button = el("button", { class: "citation-mark", type: "button", "aria-label": label, on: { click: () => open(citation) } }, String(number));
  return peekAt(button, citation, texts.get(citation.passage));
}

/** The passages that were found, by id. */
const textsOf = ({ evidence }) => new Map((evidence?.passages ?? []).map((passage) => [passage.id, passage]));

function citationList(answer, open) {
  const { citations } = answer;
  if (!citations.some(Boolean)) return null;
  const texts = textsOf(answer);
  return el("ol", { class: "citations", "aria-label": "Where the documents say so" }, citations.map((citation, at) =>
    citation && el("li", {}, el("button", { class: "citation", type: "button", on: { click: () => open(citation) } },
      el("span", { class: "citation-number" }, String(at + 1)),
      el("span", { class: "citation-words" },
        el("strong", { dir: "auto" }, named(citation.title)), citation.location ? ` ${citation.location}` : "",
        quoteOf(citation, texts.get(citation.passage)))))));
}

function quoteOf(citation, passage) {
  if (!citation.found) return el("span", { class: "muted quote" }, "the whole passage: the cited words were not found in it");
  if (!passage) return null;
  const words = slice(passage.text, citation.start - passage.start, citation.end - passage.start);
  return words ? el("span", { class: "quote", dir: "auto" }, `“${shortened(words, QUOTE)}”`) : null;
}

/** The passages that two answers both found, with their ranks in each. */
export function sharedPassages(first, second) {
  const ranks = new Map((second.evidence.passages ?? []).map((passage, at) => [passage.id, at + 1]));
  return (first.evidence.passages ?? []).flatMap((passage, at) => (ranks.has(passage.id) ? [{ passage, first: at + 1, second: ranks.get(passage.id) }] : []));
}

/** Opens one of `citations` on the stage, where arrows then lead to the others; null stands for one that is gone. */
export function citationOpener(stage, citations) {
  function open(citation) {
    stage.document.setCitations(citations.filter(Boolean).map((each) => ({ ...each, open: () => open(each) })));
    stage.open(citation.document, citation.start, citation.end);
  }
  return open;
}

/**
 * Where an answer is still on its way: `done` tells which step is, `say` what is done now, `write` shows a draft; `cost` is
 * that of the steps so far, in words.
 */
export function waitingCard(name, stop) {
  const draft = el("div", { class: "answer-text", dir: "auto" });
  const written = el("div", { hidden: true }, el("p", { class: "muted" }, "A draft, not checked yet:"), draft);
  const says = el("p", { class: "loading" }, el("span", { class: "spinner", "aria-hidden": "true" }), el("span", {}, `${name}: at work …`));
  const card = el("div", { class: "answer card waiting" }, el("div", { class: "waiting-head" }, says, el("button", { class: "small", type: "button", on: { click: stop } }, icon("stop"), "Stop")), written);
  const say = (text) => fill(says.lastChild, text);
  const steps = [];
  const done = (step, number) => (steps.push(step), say(`${name}: step ${number} is done (${stepName(step.name)}) …`));
  const write = (text) => ((written.hidden = !text), fill(draft, markdown(text)));
  return { card, say, done, write, cost: () => spentIn(steps) };
}
