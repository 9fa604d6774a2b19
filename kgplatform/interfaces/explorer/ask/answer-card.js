// An answer: its words, with numbers that open the documents where they say so, and what it cost.

import { copyText, el, fill } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { about, titleOf } from "../shared/api.js";
import { peekAt } from "./citation-peek.js";
import { duration, named, shortened, spent, spentIn, stepName } from "../shared/format.js";
import { markdown } from "../shared/markdown.js";
import { routeTo } from "../shared/router.js";

const QUOTE = 160;

/** What the page puts round the number of a statement behind it, for `markdown`. */
const SIGN = "\uE000";

/** The card of `answer`; `open(citation)` opens the document at the cited words. `seconds`: what it took here. */
export function answerCard(answer, { open, seconds = null }) {
  return el("article", { class: "answer card", "aria-label": "Answer" },
    answer.text === null ? withoutModel(answer) : [status(answer), answerText(answer, open)],
    notes(answer),
    citationList(answer, open),
    el("footer", { class: "muted" }, figures(answer, seconds), el("span", { class: "spacer" }), answer.run ? el("a", { href: routeTo("runs", { run: answer.run }) }, "saved run") : null, answer.text === null ? null : copyButton(answer)));
}

/** What an answer that cites nothing is: one that the model did not find, or one that rests on nothing. */
function status({ citations, sufficient, statements = [] }) {
  if (citations.length) return null;
  return el("p", { class: "status" }, sufficient === false && !statements.length ? "No answer found" : "Not cited");
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

/** The answer with its marks and what its numbers stand for, as it may be pasted elsewhere. */
function withSources({ text, citations, statements = [] }) {
  const marks = statements.flatMap((statement) => marksOf(statement).map(({ words }) => `“${statement.text}”: ${words}`));
  const sources = citations.flatMap((citation, at) => (citation ? [`[${at + 1}] ${named(citation.title)}${citation.location ? `, ${citation.location}` : ""}: ${citation.document}${citation.text ? `\n    ${citation.text}` : ""}`] : []));
  return [text, marks.join("\n"), sources.join("\n")].filter(Boolean).join("\n\n");
}

/** What there is to say of a statement beside its citations. */
function marksOf({ unread, supported }) {
  const verdict = { words: `the model finds this ${supported ? "" : "not "}supported by its citation`, isGood: supported };
  return [unread.length && { words: `not in the cited text: ${unread.join(", ")}` }, supported !== null && verdict].filter(Boolean);
}

function withoutModel(answer) {
  const isSaid = about()?.model || answer.failed;
  const message = isSaid ? answer.note : "No language model is connected, so there is no answer. Below is the evidence, best first.";
  const how = isSaid ? null : el("p", {}, el("a", { href: routeTo("models") }, "Connect a model"));
  return el("div", { class: "without-model" }, el("p", {}, message), how);
}

/** The words, with a button for each number that stands for a citation, and the marks behind each statement. */
function answerText(answer, open) {
  const cite = (number, statement) => {
    if (statement !== undefined) return marksOf(answer.statements[statement]).map(({ words, isGood }) => el("span", { class: isGood ? "mark good" : "mark" }, words));
    return answer.citations[number - 1] ? mark(number, answer.citations[number - 1], open) : null;
  };
  return el("div", { class: "answer-text", dir: "auto" }, markdown(withSigns(answer), cite));
}

/** The text with a sign behind each statement that has marks. */
function withSigns({ text, statements = [] }) {
  let [signed, rest] = ["", text.replaceAll(SIGN, "")];
  statements.forEach((statement, number) => {
    const start = rest.indexOf(statement.text);
    if (start < 0 || !marksOf(statement).length) return;
    const end = start + statement.text.trimEnd().length;
    signed += `${rest.slice(0, end)}${SIGN}${number}${SIGN}`;
    rest = rest.slice(end);
  });
  return signed + rest;
}

function mark(number, citation, open) {
  const label = `Citation ${number}: ${named(citation.title)}`;
  const button = el("button", { class: "citation-mark", type: "button", "aria-label": label, on: { click: () => open(citation) } }, String(number));
  return peekAt(button, citation);
}

function citationList({ citations }, open) {
  if (!citations.some(Boolean)) return null;
  return el("ol", { class: "citations", "aria-label": "Where the documents say so" }, citations.map((citation, at) =>
    citation && el("li", {}, el("button", { class: "citation", type: "button", on: { click: () => open(citation) } },
      el("span", { class: "citation-number" }, String(at + 1)),
      el("span", { class: "citation-words" },
        el("strong", { dir: "auto" }, named(citation.title)), citation.location ? ` ${citation.location}` : "",
        citation.text && el("span", { class: "quote", dir: "auto" }, shortened(citation.text, QUOTE)))))));
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
  const written = el("div", { hidden: true }, el("p", { class: "muted" }, "A draft:"), draft);
  const says = el("p", { class: "loading" }, el("span", { class: "spinner", "aria-hidden": "true" }), el("span", {}, `${name}: at work …`));
  const card = el("div", { class: "answer card waiting" }, el("div", { class: "waiting-head" }, says, el("button", { class: "small", type: "button", on: { click: stop } }, icon("stop"), "Stop")), written);
  const say = (text) => fill(says.lastChild, text);
  const steps = [];
  const done = (step, number) => (steps.push(step), say(`${name}: step ${number} is done (${stepName(step.name)}) …`));
  const write = (text) => ((written.hidden = !text), fill(draft, markdown(text)));
  return { card, say, done, write, cost: () => spentIn(steps) };
}
