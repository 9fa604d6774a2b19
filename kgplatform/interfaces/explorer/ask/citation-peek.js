// What a citation's number stands for, beside it, while the pointer or the keyboard is there: title, page, and the cited
// sentence, marked in the words of its passage.

import { el, fill, freshId } from "../shared/dom.js";
import { get } from "../shared/api.js";
import { named, shortened, slice } from "../shared/format.js";

const QUOTE = 320;
const AROUND = 160;
const GAP = 6;
const LINGER = 150;

const peek = el("div", { id: freshId("peek"), class: "peek", role: "tooltip", popover: "manual" });
let shownFor = null;
let leaving = 0;

peek.addEventListener("pointerenter", () => window.clearTimeout(leaving)); // it can be read and copied from
peek.addEventListener("pointerleave", hideSoon);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !shownFor) return;
  hide();
  event.preventDefault(); // it closes this alone
}, { capture: true });
window.addEventListener("scroll", hide, { capture: true, passive: true });

/** `button` with that. Returns the button. */
export function peekAt(button, citation) {
  button.setAttribute("aria-describedby", peek.id);
  const show = () => showAt(button, citation);
  button.addEventListener("pointerenter", ({ pointerType }) => pointerType === "touch" || show()); // a touch opens the document
  button.addEventListener("pointerleave", hideSoon);
  button.addEventListener("focus", () => button.matches(":focus-visible") && show());
  button.addEventListener("blur", hide);
  button.addEventListener("click", hide);
  return button;
}

async function showAt(button, citation) {
  window.clearTimeout(leaving);
  if (shownFor === button) return;
  shownFor = button;
  const words = el("p", { class: "quote", dir: "auto" }, shortened(citation.text || "…", QUOTE));
  fill(peek, el("strong", { dir: "auto" }, named(citation.title)), citation.location ? ` ${citation.location}` : "", words);
  if (!peek.isConnected) document.getElementById("panel").append(peek); // in a landmark, as all that is read
  peek.showPopover();
  place(button);
  const passage = await inPassage(citation).catch(() => null); // the sentence is there already
  if (passage) fill(words, passage);
  if (shownFor === button) place(button);
}

/** The cited words, marked, with those round them. */
async function inPassage({ document: id, start, end }) {
  const { text, start: first, end: last, characters } = await get(`api/documents/${encodeURIComponent(id)}?${new URLSearchParams({ start: Math.max(0, start - AROUND), end: end + AROUND })}`);
  const part = (from, to) => slice(text, from - first, to - first);
  const [before, after] = [part(first, start), part(end, last)];
  return [first > 0 ? `…${before.replace(/^\S*/, "")}` : before, el("mark", {}, shortened(part(start, end), QUOTE)), last < characters ? `${after.replace(/\S*$/, "")}…` : after];
}

/** Below the button, or above it where there is no room. */
function place(button) {
  const [at, own] = [button.getBoundingClientRect(), peek.getBoundingClientRect()];
  const below = at.bottom + GAP + own.height <= window.innerHeight;
  peek.style.left = `${Math.max(8, Math.min(at.left - 16, window.innerWidth - own.width - 8))}px`;
  peek.style.top = `${below ? at.bottom + GAP : Math.max(8, at.top - GAP - own.height)}px`;
}

function hideSoon() {
  leaving = window.setTimeout(hide, LINGER);
}

function hide() {
  window.clearTimeout(leaving);
  if (!shownFor) return;
  shownFor = null;
  if (peek.matches(":popover-open")) peek.hidePopover();
  fill(peek);
}
