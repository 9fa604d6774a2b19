// What is shown while there is nothing yet, while something loads, and when something failed.

import { el } from "./dom.js";
import { icon } from "./icons.js";

/** A heading, a sentence, and what to do. */
export function emptyState(symbol, title, sentence, ...actions) {
  return el("div", { class: "empty" }, icon(symbol), el("h2", {}, title), el("p", {}, sentence), actions.length ? el("div", { class: "actions" }, actions) : null);
}

export function loading(what = "Loading") {
  return el("p", { class: "loading" }, el("span", { class: "spinner", "aria-hidden": "true" }), `${what} …`);
}

/** The sentence of a fault, and a way on. */
export function failure(fault, retry = null) {
  return el("div", { class: "failure", role: "alert" }, icon("warning"), el("p", {}, fault.message),
    retry && el("button", { class: "small", type: "button", on: { click: retry } }, icon("refresh"), "Try again"));
}

export function linkButton(href, text, { primary = false } = {}) {
  return el("a", { class: primary ? "button primary" : "button", href }, text);
}
