// Questions to a reader, whose steps come as they happen, and searches without one.

import { ApiError, events, post } from "./api.js";

/** Resolves to the answer. `onStep(step, number)` is called with each step. Aborting `signal` stops the reader. */
export async function askReader({ question, reader, options, keep }, { signal, onStep }) {
  for await (const { event, data } of events("api/ask", { body: { question, reader, options, keep }, signal })) {
    if (event === "step") onStep(data.step, data.number);
    else if (event === "answer") return data;
    else if (event === "error") throw new ApiError(data.kind, data.message);
  }
  throw new ApiError("ServerGone", "The connection to the server was lost before the answer came.");
}

export function searchFor(question, route, { signal }) {
  return post("api/search", { question, route }, { signal });
}

/** All that a step was at, by id. */
export function idsOf(step) {
  return [...(step.elements ?? []), ...(step.facts ?? []), ...(step.passages ?? []), ...(step.pages ?? [])];
}

/** What a search result names, the best of it. */
export function idsOfResult({ passages = [], facts = [], communities = [] }, most = 20) {
  return [facts, passages, communities].flatMap((found) => found.slice(0, most).map(({ id }) => id));
}
