// Talking to the server: JSON, uploads, streams of events, and what it says of itself. All faults are an ApiError with one
// sentence.

import { askToken } from "./dialogs.js";

const TOKEN = "kgplatform.token";

/**
 * What went wrong, from what the server tells: { kind, message, code, parameters }, in the page's words where it has a code.
 * `kind` is "ServerGone" where nobody answers; `status` that of the reply, or 0.
 */
export class ApiError extends Error {
  constructor(told, status = 0) {
    const { code, parameters, message } = told;
    const words = Object.hasOwn(WORDS, code ?? "") ? WORDS[code] : message;
    super(typeof words === "function" ? words(parameters ?? {}) : words);
    this.kind = told.kind;
    this.status = status;
  }
}

/** Tells "gone" when nobody answers, and "answered" at each reply. */
export const server = new EventTarget();

let asking = null;

async function send(path, { headers, ...init } = {}) {
  for (;;) {
    const token = sessionStorage.getItem(TOKEN);
    const allowed = token ? { ...headers, Authorization: `Bearer ${token}` } : headers;
    const response = await fetch(path, { ...init, headers: allowed }).catch(lost("The server does not answer."));
    server.dispatchEvent(new Event("answered"));
    if (response.ok) return response;
    if (response.status !== 401) {
      const told = await response.json().catch(() => null); // a proxy may answer with a page
      throw new ApiError(told?.error ?? { kind: "Error", message: `The server answered with status ${response.status}.` }, response.status);
    }
    asking ??= wayIn().then((way) => askToken(token !== null, way)).finally(() => (asking = null));
    const given = await asking;
    if (given === null) throw new ApiError({ kind: "NoToken", message: "The server needs a token." }, 401);
    useToken(given);
  }
}

/** Where people sign in with a provider and come back from to this page; null where they cannot. */
async function wayIn() {
  const told = await fetch("/api/signin").then((response) => (response.ok ? response.json() : {})).catch(() => ({}));
  return told.provider ? `/signin?${new URLSearchParams({ back: window.location.pathname })}` : null;
}

/** Send this token from now on, in this tab. */
export const useToken = (token) => sessionStorage.setItem(TOKEN, token);

/** What to do with a fault of the network: it is told, unless the page itself broke the request off. */
function lost(message) {
  return (fault) => {
    if (fault.name === "AbortError") throw fault;
    server.dispatchEvent(new Event("gone"));
    throw new ApiError({ kind: "ServerGone", message });
  };
}

/** What is not among the chosen documents is shown as all of them have it. */
export async function get(path, options) {
  const elsewhere = (fault) => (fault.status === 404 && kept(path) !== path ? send(path, options) : Promise.reject(fault));
  return (await send(kept(path), options).catch(elsewhere)).json();
}
export const post = async (path, body, options) => (await send(path, asJson(body, options))).json();
export const remove = async (path, options) => (await send(path, { ...options, method: "DELETE" })).json();

/** Files and fields, as a form sends them. */
export const upload = async (path, form, options) => (await send(path, { ...options, method: "POST", body: form })).json();

function asJson(body, options = {}) {
  const extra = { "Content-Type": "application/json", ...options.headers };
  return { ...options, method: "POST", body: JSON.stringify(body), headers: extra };
}

/** Server-sent events as { event, data }, `data` parsed. With a `body` it is posted. Ends when the stream ends. */
export async function* events(path, { body, signal } = {}) {
  const wanted = { signal, headers: { Accept: "text/event-stream" } };
  const response = await send(path, body === undefined ? wanted : asJson(body, wanted));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(lost("The connection to the server was lost."));
      if (done) return;
      const blocks = `${rest}${value}`.replaceAll("\r\n", "\n").split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const told = [...block.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line);
        if (told.length) yield { event: /^event: ?(.*)$/m.exec(block)?.[1] ?? "message", data: JSON.parse(told.join("\n")) };
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // it may be closed already
  }
}

// What the server says of itself and of the graph: readers, routes, schemas, counts. Asked again when they change.

/** Tells "change" when `about()` has changed. */
export const aboutChanges = new EventTarget();

let known = null;

/** The last that the server said; null before it has. */
export const about = () => known;

export async function refreshAbout() {
  known = await get("api/about");
  aboutChanges.dispatchEvent(new Event("change"));
  return known;
}

/** Whether this server lets who looks at the page change the graph. */
export const mayChange = () => !known.read_only;

/** What people call a reader. */
export const titleOf = (name) => known?.readers.find((reader) => reader.name === name)?.title ?? name;

// Documents that were ticked: questions of this tab keep to them, and so does what is looked at, in a graph of these alone.

const LOOKS = /^api\/(graph\/(?!find)|tree|communities)/;
const tickedKey = () => `kgplatform.ticked.${known?.graph}`;

/** Keep to these documents ({ id, title }), until that is taken back; none stands for all. Tells "ticked", too. */
export function keepTo(documents) {
  sessionStorage.setItem(tickedKey(), JSON.stringify(documents.map(({ id, title }) => ({ id, title }))));
  for (const told of ["change", "ticked"]) aboutChanges.dispatchEvent(new Event(told));
}

export const ticked = () => JSON.parse(sessionStorage.getItem(tickedKey()) ?? "[]");

const keeps = () => ticked().length > 0 && ticked().length <= 150; // an address has room for no more
/** What is said of a picture that is awaited. */
export const drawing = (what) => `Drawing ${what}${keeps() ? " of the chosen documents, which takes a while the first time" : ""}`;

function kept(path) {
  const where = keeps() && LOOKS.test(path) && new URLSearchParams({ where: JSON.stringify({ document: ticked().map(({ id }) => id) }) });
  return where ? `${path}${path.includes("?") ? "&" : "?"}${where}` : path;
}

// Errors that name commands carry a code: here are their words for the page, which has no commands.

const WORDS = {
  empty_graph: "The graph is empty. Add documents first.",
  no_documents: "The graph has no documents. Add some first.",
  unfinished_ingest: "The first ingest is unfinished. Add the same files again under Documents.",
  no_entities: "The graph has no entities to build a tree from. Add documents first.",
  no_tree: "The graph has no finished tree. Build it under Documents first, or choose another reader or route.",
  no_gists: "No gists yet. Make them under Documents first; that reads each document once.",
  no_gist_vectors: "The gists are not finished. Make them again under Documents.",
  unknown_document: ({ document }) => `There is no document ${document} in the graph. See the list under Documents.`,
  unknown_run: ({ run }) => `There is no saved run ${run} in the graph.`,
  statement_refused: ({ why }) => why,
  statement_writes: "This statement changes the graph. Only statements that read can run here.",
  statement_loads: "LOAD CSV is refused: statements may not read files or URLs. Add files under Documents.",
};
