// The statements that were run in this browser, the last first.

import { el, fill } from "./dom.js";
import { icon } from "./icons.js";
import { moment } from "./format.js";

const KEPT = "kgplatform.statements";
const MOST = 50;

/** { element, note(statement) }; `onChoose` gets { statement, parameters }. */
export function statementHistory(onChoose) {
  const list = el("ol", { class: "history" });
  const forget = el("button", { class: "small", type: "button", on: { click: () => (localStorage.removeItem(KEPT), draw()) } }, icon("remove"), "Forget all");
  const element = el("details", { class: "statement-history" }, el("summary", {}, icon("down"), "History"), el("p", { class: "muted" }, "Kept in this browser only."), list, forget);

  function note(run) {
    const others = saved().filter(({ statement, parameters }) => statement !== run.statement || parameters !== run.parameters);
    localStorage.setItem(KEPT, JSON.stringify([{ ...run, at: new Date().toISOString() }, ...others].slice(0, MOST)));
    draw();
  }

  function draw() {
    const runs = saved();
    element.hidden = !runs.length;
    fill(list, runs.map((run) => el("li", {}, el("button", { class: "link", type: "button", title: run.statement, on: { click: () => onChoose(run) } }, el("code", { class: "ellipsis" }, run.statement.replaceAll(/\s+/g, " "))), el("span", { class: "muted" }, moment(run.at)))));
  }

  draw();
  return { element, note };
}

/** What cannot be read is as if nothing were kept. */
function saved() {
  try {
    const runs = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(runs) ? runs.filter(({ statement, parameters }) => typeof statement === "string" && typeof parameters === "string") : [];
  } catch {
    return [];
  }
}
