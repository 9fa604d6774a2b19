// What a citation's number stands for, beside it, while the pointer or the keyboard is there: title, page and quote.

import { el, fill, freshId } from "./dom.js";
import { get } from "./api.js";
import { named, shortened, slice } from "./format.js";

const QUOTE = 320;
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

/** `button` with that; `passage`: the text that the citation is in, where it is known. Returns the button. */
export function peekAt(button, citation, passage = null) {
  button.setAttribute("aria-describedby", peek.id);
  const show = () => showAt(button, citation, passage);
  button.addEventListener("pointerenter", ({ pointerType }) => pointerType === "touch" || show()); // a touch opens the document
  button.addEventListener("pointerleave", hideSoon);
  button.addEventListener("focus", () => button.matches(":focus-visible") && show());
  button.addEventListener("blur", hide);
  button.addEventListener("click", hide);
  return button;
}

async function showAt(button, citation, passage) {
  window.clearTimeout(leaving);
  if (shownFor === button) return;
  shownFor = button;
  const words = el("p", { class: "quote", dir: "auto" }, "…");
  fill(peek, el("strong", { dir: "auto" }, named(citation.title)), citation.location ? ` ${citation.location}` : "", words);
  if (!peek.isConnected) document.getElementById("panel").append(peek); // in a landmark, as all that is read
  peek.showPopover();
  place(button);
  words.textContent = await quoteOf(citation, passage).catch(() => "The words could not be loaded.");
  if (shownFor === button) place(button);
}

async function quoteOf({ document: id, start, end, found }, passage) {
  if (found === false) return "The whole passage: the cited words were not found in it.";
  if (passage) return `“${shortened(slice(passage.text, start - passage.start, end - passage.start), QUOTE)}”`;
  const { text } = await get(`api/documents/${encodeURIComponent(id)}?${new URLSearchParams({ start, end })}`);
  return `“${shortened(text, QUOTE)}”`;
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
}
