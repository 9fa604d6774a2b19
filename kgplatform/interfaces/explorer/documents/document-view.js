// A document at the words that were cited: marked, in view, and with the focus; more of the text on request.

import { get } from "../shared/api.js";
import { announce, button, el, failure, fill, icon, iconButton, loading, reveal } from "../shared/dom.js";
import { count, counted, fileOf, handClass, named } from "../shared/format.js";
import { routeTo } from "../shared/router.js";

const AROUND = 4000;
const STATEMENTS = 100;

export class DocumentView {
  /** `onFact(id)`: a statement was pressed; `onClose()`. */
  constructor({ onFact, onClose }) {
    Object.assign(this, { onFact, onClose });
    /** Those that the arrows lead through: { document, start, end, open() }. */
    this.citations = [];
    this.element = el("article", { class: "document-view" });
  }

  /** Open `document` (id or URI) at [start, end); from its beginning where no place is given. */
  async open(document, start = null, end = null) {
    const wanted = (this.wanted = { document, start, end });
    this.text = this.body = null;
    fill(this.element, loading("Opening the document"));
    try {
      const text = await this.#load(document, start === null ? 0 : Math.max(0, start - AROUND), start === null ? 2 * AROUND : end + AROUND);
      if (this.wanted !== wanted) return;
      this.text = text;
      this.letters = Array.from(text.text);
      this.#draw();
      this.focusMark();
    } catch (fault) {
      if (this.wanted === wanted) fill(this.element, this.#bar("Document"), failure(fault, () => this.open(document, start, end)));
    }
  }

  /** What is open, as it is by now: facts that are stated there may be others. */
  async refresh() {
    const { wanted, text } = this;
    if (!text) return;
    try {
      const now = await this.#load(text.id, text.start, text.end);
      if (this.wanted !== wanted || this.text !== text) return;
      const { scrollTop } = this.body;
      const [hadFocus, isOpen] = [this.body.contains(document.activeElement), this.body.querySelector(".document-facts")?.open];
      this.text = now;
      this.#draw();
      if (isOpen) this.body.querySelector(".document-facts")?.setAttribute("open", "");
      if (hadFocus) this.body.focus({ preventScroll: true });
      this.body.scrollTop = scrollTop;
    } catch {
      if (this.wanted === wanted) this.open(wanted.document, wanted.start, wanted.end); // which says that it is gone
    }
  }

  #load(document, start, end) {
    return get(`api/documents/${encodeURIComponent(document)}?${new URLSearchParams({ start, end })}`);
  }

  /** More of the text, before what is shown or after it. */
  async #more(before, pressed) {
    const { wanted } = this;
    const { id, start, end } = this.text;
    pressed.disabled = true;
    pressed.nextElementSibling?.remove();
    try {
      const part = before ? await this.#load(id, Math.max(0, start - 2 * AROUND), start) : await this.#load(id, end, end + 2 * AROUND);
      if (this.wanted === wanted) this.#join(part, before);
    } catch (fault) {
      pressed.disabled = false;
      pressed.after(el("span", { role: "alert" }, ` ${fault.message}`));
    }
  }

  #join(part, before) {
    const { start, end } = this.text;
    if (before ? part.end !== start : part.start !== end) return; // it is there already: two presses, one after the other
    const letters = Array.from(part.text);
    const height = this.body.scrollHeight;
    const top = this.body.scrollTop;
    this.letters = before ? [...letters, ...this.letters] : [...this.letters, ...letters];
    const facts = new Map([...this.text.facts, ...part.facts].map((fact) => [`${fact.id} ${fact.start}`, fact]));
    this.text = { ...this.text, start: Math.min(start, part.start), end: Math.max(end, part.end), facts: [...facts.values()] };
    this.#draw();
    this.body.scrollTop = before ? top + this.body.scrollHeight - height : top;
    this.body.focus({ preventScroll: true });
  }

  #draw() {
    const { text } = this;
    const more = (before) => button(null, "Show more", ({ currentTarget }) => this.#more(before, currentTarget));
    this.body = el("div", { class: "document-body", tabindex: "0", role: "region", "aria-label": `Text of ${named(text.title)}` },
      text.start === 0 && text.summary && el("section", { class: "introduction", "aria-label": "Summary by the model" }, el("p", { dir: "auto" }, text.summary),
        el("ul", {}, text.questions.map((question) => el("li", {}, el("a", { href: routeTo("ask", { q: question }), dir: "auto" }, question))))),
      text.start > 0 && el("p", { class: "muted more-text" }, `${count(text.start)} characters before this `, more(true)),
      el("div", { class: "document-text", dir: "auto" }, this.#segments()),
      text.end < text.characters && el("p", { class: "muted more-text" }, `${count(text.characters - text.end)} characters after this `, more(false)),
      this.#statements());
    fill(this.element, this.#bar(text.title), this.body);
  }

  #bar(title) {
    const { document, start, end } = this.wanted;
    const at = this.citations.findIndex((each) => each.document === document && each.start === start && each.end === end);
    const total = this.text?.characters;
    const place = start === null ? counted(total, "character") : `characters ${count(start)} to ${count(end)} of ${count(total)}`;
    const step = (by, symbol, label) => {
      const next = this.citations[(at + by + this.citations.length) % this.citations.length];
      return iconButton(symbol, label, () => next.open());
    };
    return el("header", {},
      el("div", { class: "document-title" }, el("h2", { dir: "auto", class: this.text && handClass(this.text.uri) }, named(title)), this.text && el("p", { class: "muted ellipsis", title: this.text.uri }, `${place} · ${fileOf(this.text.uri)}`)),
      at >= 0 && this.citations.length > 1 && el("div", { class: "tool-row" }, step(-1, "previous", "Previous citation"), el("span", { class: "muted" }, `${at + 1} of ${this.citations.length}`), step(1, "next", "Next citation")),
      iconButton("close", "Close the document", this.onClose));
  }

  /** The text in pieces: cut wherever the marked words or a stated fact begin or end. */
  #segments() {
    const { start: from, end: to, facts } = this.text;
    const inside = (at) => at > from && at < to;
    const stated = facts.filter((fact) => fact.found && fact.start !== null);
    const places = this.wanted.start === null ? stated : [...stated, this.wanted];
    const cuts = [...new Set([from, to, ...places.flatMap(({ start, end }) => [start, end]).filter(inside)])].sort((a, b) => a - b);
    const piece = (start, end) => {
      const letters = this.letters.slice(start - from, end - from).join("");
      return stated.some((fact) => fact.start <= start && end <= fact.end) ? el("span", { class: "stated" }, letters) : letters;
    };
    const pieces = cuts.slice(0, -1).map((start, at) => ({ start, piece: piece(start, cuts[at + 1]) }));
    const within = (low, high) => pieces.filter(({ start }) => start >= low && start < high).map((each) => each.piece);
    if (this.wanted.start === null) return within(from, to);
    const { start, end } = this.wanted;
    return [...within(from, start), el("mark", { tabindex: "-1" }, within(start, end)), ...within(end, to)];
  }

  #statements() {
    const facts = [...new Map(this.text.facts.map((fact) => [fact.id, fact])).values()];
    if (!facts.length) return null;
    return el("details", { class: "document-facts" }, el("summary", {}, icon("down"), `${counted(facts.length, "fact")} stated here`),
      el("ul", { class: "facts" }, facts.slice(0, STATEMENTS).map((fact) =>
        el("li", {}, button("node", fact.text, () => this.onFact(fact), { class: "place" })))));
  }

  /** Bring the cited words into view, with the focus; the text, where none were cited. */
  focusMark() {
    const mark = this.element.querySelector("mark");
    if (!mark) return this.body?.focus({ preventScroll: true });
    reveal(mark, "center");
    mark.focus({ preventScroll: true });
    announce(`${named(this.text.title)}, at the cited words`);
  }
}

