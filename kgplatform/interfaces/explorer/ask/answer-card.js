// An answer: its words, with numbers that open the documents where they say so, and what it cost.

import { about, titleOf } from "../shared/api.js";
import { button, copyButton, el, fill, freshId, icon, set } from "../shared/dom.js";
import { duration, fileOf, handClass, named, shortened, spent, spentIn, stepName } from "../shared/format.js";
import { markdown } from "../shared/markdown.js";
import { inPassage, placesOf, statedAt } from "../shared/passages.js";
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
    disputeList(answer, open),
    el("footer", { class: "muted" }, figures(answer, seconds), el("span", { class: "spacer" }), answer.run ? el("a", { href: routeTo("runs", { run: answer.run }) }, "saved run") : null, answer.text !== null && copyButton(() => withSources(answer), { class: "quiet small" })));
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

/** The answer with its marks and what its numbers stand for, as it may be pasted elsewhere. */
function withSources({ text, citations, statements = [], disputes }) {
  const marks = statements.flatMap((statement) => marksOf(statement).map(({ words }) => `“${statement.text}”: ${words}`));
  const sources = citations.flatMap((citation, at) => (citation ? [`[${at + 1}] ${named(citation.title)}${citation.location ? `, ${citation.location}` : ""}: ${citation.document}${citation.text ? `\n    ${citation.text}` : ""}`] : []));
  const others = (disputes ?? []).map(({ facts: [, { text: said, citations: [at] }], since }) => `${anotherSays(since)} ${said} (${named(at?.title)}: ${at?.document})`);
  return [text, marks.join("\n"), sources.join("\n"), others.join("\n")].filter(Boolean).join("\n\n");
}

/** What there is to say of a statement beside its citations: { words, isGood }. */
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
  return peekAt(button(null, String(number), () => open(citation), { class: "citation-mark", "aria-label": label }), citation);
}

function citationList({ citations }, open) {
  if (!citations.some(Boolean)) return null;
  return el("ol", { class: "citations", "aria-label": "Where the documents say so" }, citations.map((citation, at) =>
    citation && el("li", {}, button(null, [
      el("span", { class: "citation-number" }, String(at + 1)),
      el("span", { class: "citation-words" },
        ...placeOf(citation),
        citation.text && el("span", { class: "quote", dir: "auto" }, shortened(citation.text, QUOTE)))], () => open(citation), { class: `citation ${handClass(citation.document)}` }))));
}

/** `since`: the day from which what it says takes the place of what the answer rests on, where it does. */
const anotherSays = (since) => `${since ? `Since ${since}, another` : "Another"} passage says:`;

/** What other passages say of what the answer rests on, both with their words. */
function disputeList({ disputes }, open) {
  if (!disputes?.length) return null;
  return el("div", { class: "disputes", role: "group", "aria-label": "What other passages say" }, disputes.map(({ facts: [own, other], since }) => [
    el("p", { class: "note" }, icon("warning"), el("span", {}, `${anotherSays(since)} `, el("strong", { dir: "auto" }, other.text))),
    statedAt(other, open), el("p", { class: "muted" }, "The answer rests on: ", el("span", { dir: "auto" }, own.text)), placesOf(own.citations, open)]));
}

/** Title, place and file of what is cited: several documents may have the title. */
const placeOf = ({ title, location, document }) => [el("strong", { dir: "auto" }, named(title)), location ? ` ${location}` : "",
  el("span", { class: "muted", dir: "auto" }, ` ${fileOf(document)}`)];

/** Opens one of `citations` on the stage, where arrows then lead to the others; null stands for one that is gone. */
export function citationOpener(stage, citations) {
  function open(citation) {
    stage.document.citations = citations.filter(Boolean).map((each) => ({ ...each, open: () => open(each) }));
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
  const spends = el("span", { class: "muted" });
  const card = el("div", { class: "answer card waiting" }, el("div", { class: "waiting-head" }, says, spends, el("span", { class: "spacer" }), button("stop", "Stop", stop)), written);
  const began = performance.now();
  const tick = window.setInterval(() => {
    if (!card.isConnected) return window.clearInterval(tick);
    fill(spends, [`${Math.floor((performance.now() - began) / 1000)} s`, spentIn(steps)].filter(Boolean).join(" · "));
  }, 1000);
  const say = (text) => fill(says.lastChild, text);
  const steps = [];
  const done = (step, number) => (steps.push(step), say(`${name}: step ${number} is done (${stepName(step.name)}) …`));
  const write = (text) => ((written.hidden = !text), fill(draft, markdown(text)));
  return { card, say, done, write, cost: () => spentIn(steps) };
}

// What a citation's number stands for, beside it, while the pointer or the keyboard is there: title, page, and the cited
// sentence, marked in the words of its passage.

const PEEKED = 320;
const GAP = 6;
const LINGER = 150;

const peek = el("div", { id: freshId("peek"), class: "peek", role: "tooltip", popover: "manual" });
let shownFor = null;
let leaving = 0;

peek.addEventListener("pointerenter", () => window.clearTimeout(leaving)); // it can be read and copied from
peek.addEventListener("pointerleave", hideSoon);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !shownFor) return;
  hide();
  event.preventDefault(); // it closes this alone
}, { capture: true });
window.addEventListener("scroll", hide, { capture: true, passive: true });

/** `mark`, a button, with that. Returns it. */
function peekAt(mark, citation) {
  const show = () => showAt(mark, citation);
  return set(mark, { "aria-describedby": peek.id, on: {
    pointerenter: ({ pointerType }) => pointerType === "touch" || show(), // a touch opens the document
    pointerleave: hideSoon,
    focus: () => mark.matches(":focus-visible") && show(),
    blur: hide,
    click: hide,
  } });
}

async function showAt(button, citation) {
  window.clearTimeout(leaving);
  if (shownFor === button) return;
  shownFor = button;
  const words = el("p", { class: "quote", dir: "auto" }, shortened(citation.text || "…", PEEKED));
  fill(peek, ...placeOf(citation), words);
  if (!peek.isConnected) document.getElementById("panel").append(peek); // in a landmark, as all that is read
  peek.showPopover();
  place(button);
  const passage = await inPassage(citation).catch(() => null); // the sentence is there already
  if (passage) fill(words, passage);
  if (shownFor === button) place(button);
}

/** Below the button, or above it where there is no room. */
function place(button) {
  const [at, own] = [button.getBoundingClientRect(), peek.getBoundingClientRect()];
  const below = at.bottom + GAP + own.height <= window.innerHeight;
  peek.style.left = `${Math.max(8, Math.min(at.left - 16, window.innerWidth - own.width - 8))}px`;
  peek.style.top = `${below ? at.bottom + GAP : Math.max(8, at.top - GAP - own.height)}px`;
}

function hideSoon() {
  leaving = window.setTimeout(hide, LINGER);
}

function hide() {
  window.clearTimeout(leaving);
  if (!shownFor) return;
  shownFor = null;
  if (peek.matches(":popover-open")) peek.hidePopover();
  fill(peek);
}
