// What is shown while there is nothing yet, while something loads, and when something failed.

import { el } from "./dom.js";
import { named } from "./format.js";
import { icon } from "./icons.js";

/** A heading, a sentence, and what to do. */
export function emptyState(symbol, title, sentence, ...actions) {
  return el("div", { class: "empty" }, icon(symbol), el("h2", {}, title), el("p", {}, sentence), actions.length ? el("div", { class: "actions" }, actions) : null);
}

export function loading(what = "Loading") {
  return el("p", { class: "loading" }, el("span", { class: "spinner", "aria-hidden": "true" }), `${what} …`);
}

/** The sentence of a fault, what was `spent` on it, and a way on. */
export function failure(fault, retry = null, spent = "") {
  return el("div", { class: "failure", role: "alert" }, icon("warning"), el("p", {}, fault.message, spent && el("span", { class: "muted" }, ` ${spent}`)),
    retry && el("button", { class: "small", type: "button", on: { click: retry } }, icon("refresh"), "Try again"));
}

/** What stands in place of an answer that `fault` ended, which may be that it was stopped; what was `spent`, a way on. */
export function ended(fault, retry, spent) {
  if (fault.name !== "AbortError") return failure(fault, retry, spent);
  return el("div", { class: "answer card" }, el("p", {}, "Stopped.", spent && el("span", { class: "muted" }, ` ${spent}`)),
    el("button", { class: "small", type: "button", on: { click: retry } }, icon("refresh"), "Ask again"));
}

export function linkButton(href, text, { primary = false } = {}) {
  return el("a", { class: primary ? "button primary" : "button", href }, text);
}

/** A button that opens a document at a place: { document, start, end, title, location }. */
export function placeButton(place, open, words = `${named(place.title)}${place.location ? `, ${place.location}` : ""}`) {
  return el("button", { class: "place", type: "button", on: { click: () => open(place.document, place.start, place.end) } }, icon("document"), words);
}
