// Questions to a reader, whose steps come as they happen, and searches without one.

import { ApiError, events, post } from "../shared/api.js";

/**
 * Resolves to the answer. `onStep(step, number)` is called with each step, `onText` with the answer so far, while it is
 * written. Aborting `signal` stops the reader. `verify`: the model is asked once more whether its citations support it.
 * `earlier`: questions and answers that this one may refer to.
 */
export function askReader({ question, reader, options, where = {}, keep = false, verify = false, earlier = [] }, listeners) {
  return answered("api/ask", { question, reader, options, where, keep, verify, earlier }, listeners);
}

/** The same for a follow-up in a thread that the graph keeps. */
export function askInThread({ question, reader, options, where, verify, thread }, listeners) {
  return answered(`api/threads/${encodeURIComponent(thread)}`, { question, reader, options, where, verify }, listeners);
}

async function answered(path, body, { signal, onStep = () => {}, onText = () => {} }) {
  let written = []; // characters as the server counts them
  for await (const { event, data } of events(path, { body, signal })) {
    if (event === "step") onStep(data.step, data.number);
    else if (event === "text") onText((written = [...written.slice(0, data.start), ...data.text]).join(""));
    else if (event === "answer") return data;
    else if (event === "error") throw Object.assign(new ApiError(data), { evidence: data.evidence ?? null });
  }
  throw new ApiError({ kind: "ServerGone", message: "The connection to the server was lost before the answer came." });
}

export function searchFor(question, { route, where }, { signal }) {
  return post("api/search", { question, route, where }, { signal });
}

/** All that a step was at, by id. */
export function idsOf(step) {
  return [...(step.elements ?? []), ...(step.facts ?? []), ...(step.passages ?? []), ...(step.pages ?? [])];
}

/** What a search result names, the best of it. */
export function idsOfResult({ passages = [], facts = [], communities = [] }, most = 20) {
  return [facts, passages, communities].flatMap((found) => found.slice(0, most).map(({ id }) => id));
}
