// Runs that were saved in the graph, to read and replay.

import { get, titleOf } from "../shared/api.js";
import { el, emptyState, failure, fill, icon, linkButton, loading } from "../shared/dom.js";
import { count, counted, duration, moment, named } from "../shared/format.js";
import { routeTo } from "../shared/router.js";
import { answerCard, citationOpener } from "./answer-card.js";
import { recheckNote } from "./recheck.js";
import { pathOf, Replay, Timeline } from "./replay.js";

/** Citation marks, which lead nowhere in a list. */
const MARKS = / ?\[\d+\]/g;

export function createView({ stage }) {
  const element = el("div", { class: "view runs-view" });
  let shown = null;
  let timeline = null;

  async function list() {
    shown = null;
    timeline = null;
    fill(element, el("h1", {}, "Runs"), loading());
    try {
      const [{ runs }, { threads }] = await Promise.all([get("api/runs"), get("api/threads")]);
      if (shown !== null) return; // one of them was opened meanwhile
      fill(element, el("h1", {}, "Runs"), runs.length ? recheckNote() : null, runs.length ? el("ul", { class: "run-list" }, runs.map(row))
        : emptyState("play", "No saved runs", "Tick “Keep the answer in the graph” among the options of a question, and replay it here.", linkButton(routeTo("ask"), "Ask a question", { primary: true })),
        conversations(threads));
    } catch (fault) {
      fill(element, el("h1", {}, "Runs"), failure(fault, list));
    }
  }

  function conversations(threads) {
    if (!threads.length) return null;
    return [el("h2", {}, "Conversations"), el("ul", { class: "run-list" }, threads.map((thread) =>
      el("li", {}, el("a", { class: "run-row", href: routeTo("ask", { thread: thread.id }) },
        el("strong", { dir: "auto" }, named(thread.question)),
        el("span", { class: "muted" }, `${counted(thread.turns, "question")} · ${moment(thread.at)}`)))))];
  }

  function row(run) {
    return el("li", {}, el("a", { class: "run-row", href: routeTo("runs", { run: run.id }) },
      el("strong", { dir: "auto" }, named(run.question)),
      el("span", { class: "clamp two", dir: "auto" }, run.answer?.replaceAll(MARKS, "") ?? run.note),
      el("span", { class: "muted" }, figures(run))));
  }

  function figures(run) {
    const tokens = run.input_tokens + run.output_tokens;
    return [titleOf(run.reader), moment(run.at), duration(run.seconds ?? 0), tokens ? `${count(tokens)} tokens` : ""].filter(Boolean).join(" · ");
  }

  async function open(id) {
    if (shown === id) return;
    shown = id;
    fill(element, back(), loading("Loading the run"));
    try {
      const { run, steps, citations = [] } = await get(`api/runs/${encodeURIComponent(id)}`);
      if (shown === id) await draw(run, steps, citations);
    } catch (fault) {
      shown = null;
      fill(element, back(), failure(fault, () => open(id)));
    }
  }

  async function draw(run, steps, citations) {
    const replay = new Replay(stage.graph, `${titleOf(run.reader)}: what it looked at`);
    timeline = new Timeline(replay);
    // In the form of a fresh answer. What it found stands in its steps.
    const answer = { ...run, text: run.answer, citations, run: null, usage: { ...run, cached_calls: 0 } };
    fill(element, back(), el("h1", { dir: "auto" }, named(run.question)), el("p", { class: "muted" }, figures(run)),
      answerCard(answer, { open: citationOpener(stage, citations) }),
      el("p", {}, linkButton(routeTo("ask", { q: run.question, reader: run.reader }), "Ask this again")),
      timeline.element);
    timeline.show(steps);
    await replay.finished(steps, { findPath: () => pathOf(citations) }).catch(() => {}); // the words stand without their picture
  }

  const back = () => el("p", {}, el("a", { class: "back-link", href: routeTo("runs") }, icon("back"), "All runs"));

  return { element, title: "Runs", show: ({ run }) => (run ? open(run) : list()), focus: () => element.querySelector("a")?.focus(), timeline: () => timeline };
}
