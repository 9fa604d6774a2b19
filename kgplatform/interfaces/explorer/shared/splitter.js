// A border between two parts that people move, with the pointer or with arrow keys; where it stands is kept.

import { el } from "./dom.js";

const STEP = 2;

/**
 * The border between `before` and what follows it in `parent`, a grid whose columns are made of the custom property
 * `--NAME`: the share of `before`, in percent. `least`, `most`: its bounds. `usual`: where it stands at first.
 */
export function splitter(parent, { name, label, usual, least = 20, most = 80 }) {
  const key = `kgplatform.border.${name}`;
  const handle = el("div", { class: "splitter", role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-label": label, "aria-valuemin": least, "aria-valuemax": most, data: { border: name } });
  const rounded = (share) => Math.round(10 * Math.min(most, Math.max(least, share))) / 10;

  function move(share, { keep = true } = {}) {
    const now = rounded(share);
    parent.style.setProperty(`--${name}`, `${now}%`);
    handle.setAttribute("aria-valuenow", String(Math.round(now)));
    handle.setAttribute("aria-valuetext", `${Math.round(now)} percent`);
    if (keep) localStorage.setItem(key, String(now));
  }

  const share = () => Number(handle.getAttribute("aria-valuenow"));
  const isTurned = () => getComputedStyle(parent).direction === "rtl";
  const keys = {
    ArrowLeft: () => share() - (isTurned() ? -STEP : STEP),
    ArrowRight: () => share() + (isTurned() ? -STEP : STEP),
    Home: () => least,
    End: () => most,
    Enter: () => usual,
  };
  handle.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(keys, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    move(keys[event.key]());
    event.preventDefault();
    event.stopPropagation();
  });
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  handle.addEventListener("pointermove", ({ clientX, pointerId }) => {
    if (!handle.hasPointerCapture(pointerId)) return;
    const { left, right, width } = parent.getBoundingClientRect();
    move((100 * (isTurned() ? right - clientX : clientX - left)) / width);
  });
  handle.addEventListener("dblclick", () => move(usual));
  const kept = Number(localStorage.getItem(key));
  move(kept || usual, { keep: false });
  return handle;
}
