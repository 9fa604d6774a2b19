// The Cypher of a step: to read, to copy, and to open in Neo4j Browser.

import { about } from "../shared/api.js";
import { copyButton, el, icon } from "../shared/dom.js";
import { count, counted, duration } from "../shared/format.js";

const SHOWN = 4000;
/** Of a line that gives a parameter: characters of the longest that is shown whole, and of what is shown of others. */
const [LONGEST, CUT] = [160, 96];

/** A list of { number, name, rows, seconds, text }; the statements of saved runs are texts alone. */
export function statementList(statements) {
  const kept = typeof statements[0] === "string";
  return el("ol", { class: "statements" }, (kept ? withVectors(statements) : statements).map(statement));
}

/** Saved runs hold a vector once, as a text of its own: here it stands before each statement that needs it. */
function withVectors(texts) {
  const told = new Map();
  const whole = [];
  for (const text of texts) {
    const alone = /^:param (\w+) => [^\n]*$/.exec(text);
    if (alone) told.set(alone[1], text);
    else whole.push({ text: [...[...told].filter(([name]) => text.includes(`$${name}`) && !text.includes(`:param ${name} `)).map(([, line]) => line), text].join("\n") });
  }
  return whole;
}

function statement({ name, rows, seconds, text }) {
  const figures = rows === undefined ? "" : `${counted(rows, "row")}, ${duration(seconds)}`;
  const href = browserLink(about()?.browser_url, text);
  return el("li", {},
    el("div", { class: "statement-head" },
      el("code", {}, name ?? "statement"), el("span", { class: "muted" }, figures), el("span", { class: "spacer" }), copyButton(() => text),
      href && el("a", { class: "button small", href, target: "_blank", rel: "noopener noreferrer" }, icon("open"), "Neo4j Browser")),
    el("pre", { class: "cypher", tabindex: "0", "aria-label": `Cypher of ${name ?? "the statement"}` }, lines(text)));
}

const PARTS = /('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\/\/[^\n]*|`[^`]*`|\$\w+|(?<![:\w])[A-Z][A-Z]+\b(?![a-z_(]*`))/g;

/** Coloured by kind; a vector of hundreds of numbers is cut for the eye, never for the clipboard. */
function lines(text) {
  const [given] = /^(?::param .*\n?)*/.exec(text);
  const rest = text.slice(given.length);
  // Each by itself: a text that is cut ends without its quote.
  const parameter = (line) => {
    const { length } = line.trimEnd();
    return length > LONGEST ? [coloured(line.slice(0, CUT)), ` … // ${count(length)} characters, all copied\n`] : coloured(line);
  };
  return [...(given.match(/.+\n?/g) ?? []).flatMap(parameter), ...coloured(rest.length > SHOWN ? `${rest.slice(0, SHOWN)}\n…` : rest)];
}

/** The parts of a statement, each in the colour of its kind. */
export function coloured(text) {
  return text.split(PARTS).map((part) => {
    const [, kind] = KINDS.find(([looks]) => looks.test(part)) ?? [];
    return kind ? el("span", { class: kind }, part) : part;
  });
}

const KINDS = [[/^\/\//, "cy-comment"], [/^['"]/, "cy-text"], [/^\$/, "cy-parameter"], [/^[A-Z]{2,}$/, "cy-word"]];

// Neo4j Browser decodes its whole address before it looks for "arg=…" up to the next & or #, so that these two
// cannot be written plainly. Cypher reads \uXXXX as the character, in names, operators and strings alike.
const UNSAFE = { "&": "\\u0026", "#": "\\u0023" };

// Neo4j Browser draws the result of a text that is one statement. With lines like ":param k => 50;" before it, it makes
// a list of ticks, so that values take the places of their parameters here; the values are Cypher already.
const PARAMETER = /^:param (\w+) => (.*);$/;
const PLACES = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\$(\w+)/g;

/** The statement of `text` with the values of its `:param` lines in it; names in quotes and comments stay. */
function withValues(text) {
  const lines = text.split("\n");
  const values = new Map(lines.flatMap((line) => (PARAMETER.test(line) ? [PARAMETER.exec(line).slice(1)] : [])));
  const statement = lines.filter((line) => !PARAMETER.test(line)).join("\n");
  return statement.replace(PLACES, (found, name) => (name !== undefined && values.has(name) ? values.get(name) : found));
}

/**
 * The address with `statement` in the editor; null where there is no Neo4j Browser. The statement stands in the
 * fragment, which no server sees and whose length has no limit: vectors are thousands of characters.
 */
export function browserLink(browserUrl, statement) {
  if (!browserUrl) return null;
  const page = new URL(browserUrl);
  if (!page.pathname.includes("/browser")) page.pathname = `${page.pathname.replace(/\/$/, "")}/browser/`;
  const safe = withValues(statement).replace(/[&#]/g, (letter) => UNSAFE[letter]);
  page.hash = `?cmd=edit&arg=${encodeURIComponent(safe)}`;
  return page.href;
}
