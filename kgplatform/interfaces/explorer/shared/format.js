// Figures and words as people read them.

const whole = new Intl.NumberFormat("en");
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** 12345 -> "12,345". */
export const count = (number) => whole.format(Math.round(number ?? 0));

/** (1, "step") -> "1 step"; (2, "entity", "entities") -> "2 entities". */
export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** Seconds -> "85 ms", "2.4 s", "3 min 05 s". */
export function duration(seconds) {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const rounded = Math.round(seconds);
  return `${Math.floor(rounded / 60)} min ${String(rounded % 60).padStart(2, "0")} s`;
}

/** An ISO time as this person's own; as it is where it is none. */
export function moment(text, format = when) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? String(text ?? "") : format.format(time);
}

/** The day of an ISO time. */
export const day = (text) => moment(text, date);

const DIGITS = { day: 10, month: 7 };
const DAY = 86_400_000;

/**
 * When something is so, { since, until, granularity }, as kgplatform/shown.py writes it: "1842–1861", "since 2024-03", "until
 * 2020-05-12"; "" where no time is said. `until` is the day after the last.
 */
export function shownDays({ since, until, granularity }) {
  if (!since && !until) return "";
  const digits = DIGITS[granularity] ?? 4;
  const first = (since ?? "").slice(0, digits);
  const last = until ? new Date(Date.parse(until) - DAY).toISOString().slice(0, digits) : "";
  if (!first || !last) return first ? `since ${first}` : `until ${last}`;
  return first === last ? first : `${first}–${last}`;
}

/** "SUBJECT_OF" or "window_tokens" -> "subject of", "window tokens". */
export const readable = (name) => String(name).replaceAll("_", " ").toLowerCase();

/** What a step did; GraphReader's functions are called as in its paper, where a passage is a chunk. */
export const stepName = (name) => readable(name).replace(/\bchunk\b/, "passage");

/** `text` with at most `limit` characters; an ellipsis says that there is more. */
export function shortened(text, limit) {
  const letters = Array.from(text ?? "");
  return letters.length <= limit ? letters.join("") : `${letters.slice(0, limit - 1).join("").trimEnd()}…`;
}

const KINDS = { Chunk: "Passage", KeyElement: "Key element" };

/** What people call a kind of node: the store's label `Chunk` is a passage. */
export const kindName = (kind) => Object.hasOwn(KINDS, kind) ? KINDS[kind] : kind;

const SIZES = { Community: ["entity", "entities"], Entity: ["fact"], Attribute: ["fact"] };

/** How much a node of the tree holds, in words; "" for a keyword, which stands for one entity. */
export const sizeOf = ({ kind, size }) => size && SIZES[kind] ? counted(size, ...SIZES[kind]) : "";

/** Name that may be empty. */
export const named = (name) => name?.trim() ? name : "(no name)";

/**
 * "file:///a/b/Voyages.jsonl#The%20cable" -> "b/Voyages.jsonl#The cable": a file with its folder, which tell documents of one
 * title apart; an upload under the name that it was given; another address as it is.
 */
export function fileOf(uri) {
  if (handClass(uri)) return "added by hand";
  if (!uri.startsWith("file:")) return decoded(uri.replace(/^text:/, ""));
  const [, folder, name, part] = /([^/#]*)\/([^/#]*)(#.*)?$/s.exec(uri);
  const file = decoded(name);
  return (folder === "uploads" ? decoded(file.replace(/(%[0-9A-F]?)?%-[0-9a-f]{12}/g, "…")) : `${decoded(folder)}/${file}`) + decoded(part ?? "");
}

/** The class of what a person added; "" of what a document says, by its address. */
export const handClass = (uri) => (uri.startsWith("correction:") ? "by-hand" : "");

export function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a percent sign of its own
  }
}

/** Tokens and calls of a usage record, in words; "" where no model was called. */
export function spent(usage) {
  if (!usage || !(usage.calls || usage.cached_calls)) return "";
  const cached = usage.cached_calls ? `, ${counted(usage.cached_calls, "answer")} from the cache` : "";
  return `${counted(usage.calls, "call")}${cached}, ${count(usage.input_tokens + usage.output_tokens)} tokens`;
}

/** What `steps` cost together, in words. */
export function spentIn(steps) {
  const sum = (name) => steps.reduce((total, { usage }) => total + (usage?.[name] ?? 0), 0);
  return spent(Object.fromEntries(["calls", "cached_calls", "input_tokens", "output_tokens"].map((name) => [name, sum(name)])));
}

const MOST_LETTERS = 26;

const segmenter = globalThis.Intl?.Segmenter ? new Intl.Segmenter() : null;

/**
 * A name on one line, of at most `most` letters as people count them.
 *
 * Marks that turn the direction of the text around them are left out: they would turn other words too.
 */
export function shortText(text, most = MOST_LETTERS) {
  const line = (text ?? "").slice(0, 40 * most).replace(/[\u202a-\u202e\u2066-\u2069]/g, "").replace(/[\s\p{Cc}]+/gu, " ").trim();
  if (line.length <= most) return line;
  const letters = segmenter ? Array.from(segmenter.segment(line), ({ segment }) => segment) : Array.from(line);
  return letters.length <= most ? line : `${letters.slice(0, most - 1).join("").trimEnd()}…`;
}
