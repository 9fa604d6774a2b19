// The Cypher of a step: to read, to copy, and to open in Neo4j Browser.

import { copyText, el } from "./dom.js";
import { icon } from "./icons.js";
import { count, counted, duration } from "./format.js";
import { about } from "./about.js";
import { browserLink } from "./neo4j-browser.js";

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
  const copy = el("button", { class: "small", type: "button", on: { click: () => copyText(text, copy) } }, icon("copy"), el("span", {}, "Copy"));
  const figures = rows === undefined ? "" : `${counted(rows, "row")}, ${duration(seconds)}`;
  return el("li", {},
    el("div", { class: "statement-head" },
      el("code", {}, name ?? "statement"), el("span", { class: "muted" }, figures), el("span", { class: "spacer" }), copy, browserButton(text)),
    el("pre", { class: "cypher", tabindex: "0", "aria-label": `Cypher of ${name ?? "the statement"}` }, ...lines(text)));
}

function browserButton(text) {
  const href = browserLink(about()?.browser_url, text);
  if (!href) return null;
  return el("a", { class: "button small", href, target: "_blank", rel: "noopener noreferrer" }, icon("open"), "Neo4j Browser");
}

const PARTS = /('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\/\/[^\n]*|`[^`]*`|\$\w+|(?<![:\w])[A-Z][A-Z]+\b(?![a-z_(]*`))/g;

/** Coloured by kind; a vector of hundreds of numbers is cut for the eye, never for the clipboard. */
function lines(text) {
  const [given] = /^(?::param .*\n?)*/.exec(text);
  const rest = text.slice(given.length);
  return [...(given.match(/.+\n?/g) ?? []).flatMap(parameter), ...coloured(rest.length > SHOWN ? `${rest.slice(0, SHOWN)}\n…` : rest)];
}

/** By itself: a text that is cut ends without its quote. */
function parameter(line) {
  const { length } = line.trimEnd();
  return length > LONGEST ? [...coloured(line.slice(0, CUT)), ` … // ${count(length)} characters, all copied\n`] : coloured(line);
}

/** The parts of a statement, each in the colour of its kind. */
export function coloured(text) {
  return text.split(PARTS).map((part) => {
    const kind = kindOf(part);
    return kind ? el("span", { class: kind }, part) : part;
  });
}

function kindOf(part) {
  if (part.startsWith("//")) return "cy-comment";
  if (/^['"]/.test(part)) return "cy-text";
  if (part.startsWith("$")) return "cy-parameter";
  return /^[A-Z]{2,}$/.test(part) ? "cy-word" : null;
}
