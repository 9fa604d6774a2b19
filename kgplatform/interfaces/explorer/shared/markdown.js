// Markdown as elements: headings, lists, quotes, code, tables, emphasis, links. Nothing that a model writes is markup of
// the page: all words go in as text nodes, HTML and images stay the characters that they are, and a link leads to the web
// or is none.

import { el } from "./dom.js";

const DEEPEST = 6; // lists and quotes inside each other
const SAFE = new Set(["http:", "https:"]);
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*\S*\s*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^(\s*)([-*+•]|\d{1,9}[.)])\s+(?=\S)/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const INLINE = new RegExp([
  /\\([\\`*_{}[\]()#+\-.!|>~])/, // 1: what is escaped
  /(`{1,2})([^`\n]{1,2000})\2/, // 3: code
  /(!\[[^\]\n]{0,500}\]\([^)\n]{0,2000}\))/, // 4: an image, which stays text
  /\[(\d{1,4})\]/, // 5: a citation
  /\uE000(\d{1,4})\uE000/, // 6: the end of a statement, where the page has something to say of it
  /\[([^[\]\n]{1,500})\]\(([^()\s]{1,2000})\)/, // 7, 8: a link
  /\*\*(?=\S)((?:[^*\n]|\*(?!\*)){1,1000})\*\*/, // 9: bold
  /(?<!\w)__(?=\S)((?:[^_\n]|_(?!_)){1,1000})__(?!\w)/, // 10: bold
  /(?<![\w*])\*(?=[^\s*])([^*\n]{1,1000})\*(?![\w*])/, // 11: italic
  /(?<!\w)_(?=[^\s_])([^_\n]{1,1000})_(?!\w)/, // 12: italic
].map(({ source }) => source).join("|"), "u");

/**
 * The elements of `text`. `cite(number)` makes the element of "[number]", or null where it stands for nothing;
 * `cite(null, n)` what stands behind statement `n`.
 */
export const markdown = (text, cite = () => null) => blocks(String(text).replaceAll("\r\n", "\n").split("\n"), cite, 0);

function blocks(lines, cite, depth) {
  const made = [];
  for (let at = 0; at < lines.length; ) {
    const [element, next] = block(lines, at, cite, depth);
    if (element) made.push(element);
    at = next;
  }
  return made;
}

/** The element that begins at line `at`, and the line after it. */
function block(lines, at, cite, depth) {
  const line = lines[at];
  if (!line.trim()) return [null, at + 1];
  if (FENCE.test(line)) return code(lines, at);
  const heading = HEADING.exec(line);
  if (heading) return [el(`h${Math.min(6, heading[1].length + 2)}`, {}, inline(heading[2], cite)), at + 1];
  if (RULE.test(line)) return [el("hr"), at + 1];
  if (depth < DEEPEST && QUOTE.test(line)) return quote(lines, at, cite, depth);
  if (depth < DEEPEST && ITEM.test(line)) return list(lines, at, cite, depth);
  if (isTable(lines, at)) return table(lines, at, cite);
  return paragraph(lines, at, cite, depth);
}

function code(lines, at) {
  const mark = FENCE.exec(lines[at])[1];
  let end = at + 1;
  while (end < lines.length && !lines[end].trim().startsWith(mark)) end += 1;
  return [el("pre", {}, el("code", {}, lines.slice(at + 1, end).join("\n"))), end + 1];
}

function quote(lines, at, cite, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  return [el("blockquote", {}, blocks(lines.slice(at, end).map((line) => line.replace(QUOTE, "")), cite, depth + 1)), end];
}

/** A list of one sort; what is indented below an item belongs to it. */
function list(lines, at, cite, depth) {
  const [, indent, bullet] = ITEM.exec(lines[at]);
  const ordered = /\d/.test(bullet);
  const items = [];
  let end = at;
  while (end < lines.length) {
    const found = ITEM.exec(lines[end]);
    if (found && found[1].length <= indent.length + 1 && /\d/.test(found[2]) === ordered) items.push([lines[end].slice(found[0].length)]);
    else if (/^\s{2,}\S/.test(lines[end]) && lines[end].search(/\S/) > indent.length) items.at(-1).push(lines[end]);
    else if (!lines[end].trim() && continues(lines[end + 1], indent, ordered)) items.at(-1).push("");
    else break;
    end += 1;
  }
  const start = ordered && Number.parseInt(bullet, 10) !== 1 ? Number.parseInt(bullet, 10) : null;
  return [el(ordered ? "ol" : "ul", { start }, items.map((item) => el("li", {}, itemOf(item, cite, depth)))), end];
}

function continues(line, indent, ordered) {
  if (line === undefined) return false;
  const found = ITEM.exec(line);
  return found ? /\d/.test(found[2]) === ordered || found[1].length > indent.length : line.search(/\S/) > indent.length + 1;
}

/** What an item holds; one line stands in it without a paragraph of its own. */
function itemOf([first, ...rest], cite, depth) {
  const indent = Math.min(...rest.filter((line) => line.trim()).map((line) => line.search(/\S/)), 100);
  return [inline(first, cite), blocks(rest.map((line) => line.slice(Math.min(indent, line.length))), cite, depth + 1)];
}

function isTable(lines, at) {
  return lines[at].includes("|") && at + 1 < lines.length && lines[at + 1].includes("-") && DIVIDER.test(lines[at + 1]) && cells(lines[at]).length === cells(lines[at + 1]).length;
}

function table(lines, at, cite) {
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end += 1;
  const row = (line, tag) => el("tr", {}, cells(line).map((cell) => el(tag, {}, inline(cell, cite))));
  return [el("div", { class: "table-box" }, el("table", {}, el("thead", {}, row(lines[at], "th")), el("tbody", {}, lines.slice(at + 2, end).map((line) => row(line, "td"))))), end];
}

const cells = (line) => line.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim());

function paragraph(lines, at, cite, depth) {
  let end = at + 1;
  const begins = (line, next) => !line.trim() || [FENCE, HEADING, RULE].some((each) => each.test(line)) || (depth < DEEPEST && (QUOTE.test(line) || ITEM.test(line))) || isTable(lines, next);
  while (end < lines.length && !begins(lines[end], end)) end += 1;
  return [el("p", {}, inline(lines.slice(at, end).join("\n"), cite)), end];
}

function inline(text, cite) {
  const made = [];
  let rest = text;
  for (let found = INLINE.exec(rest); found; found = INLINE.exec(rest)) {
    made.push(rest.slice(0, found.index), one(found, cite));
    rest = rest.slice(found.index + found[0].length);
  }
  return [...made, rest].filter((part) => part !== "");
}

function one([whole, escaped, , written, image, number, statement, label, address, ...emphasis], cite) {
  if (escaped !== undefined) return escaped;
  if (written !== undefined) return el("code", {}, written.trim() || written);
  if (image !== undefined) return image;
  if (number !== undefined) return cite(Number(number)) ?? whole;
  if (statement !== undefined) return cite(null, Number(statement)) ?? "";
  if (label !== undefined) return link(label, address, cite) ?? whole;
  const [bold, alsoBold] = emphasis;
  return el(bold ?? alsoBold ? "strong" : "em", {}, inline(emphasis.find((part) => part !== undefined), cite));
}

function link(label, address, cite) {
  const url = URL.canParse(address) ? new URL(address) : null;
  return url && SAFE.has(url.protocol) ? el("a", { href: url.href, title: url.href, target: "_blank", rel: "noopener noreferrer" }, inline(label, cite)) : null;
}
