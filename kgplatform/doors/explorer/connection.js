// The banner that says that the server is gone, and goes when it is back.

import { el, fill } from "./dom.js";
import { icon } from "./icons.js";
import { get, server } from "./api.js";

const PAUSE = 3;

/** Tells "back" when a server that was gone answers again. */
export const connection = new EventTarget();

/** Watch the server; the banner goes into `place`. */
export function watchServer(place) {
  let gone = false;
  let timer = 0;
  const left = el("span", { "aria-hidden": "true" });

  async function tryAgain() {
    window.clearInterval(timer);
    left.textContent = " Trying …";
    await get("api/health").catch(() => {}); // the events below handle the outcome
    if (gone) countDown(PAUSE);
  }

  function countDown(seconds) {
    window.clearInterval(timer);
    left.textContent = ` Next try in ${seconds} s.`;
    timer = window.setTimeout(() => (seconds > 1 ? countDown(seconds - 1) : tryAgain()), 1000);
  }

  server.addEventListener("gone", () => {
    if (gone) return;
    gone = true;
    const retry = el("button", { class: "small", type: "button", on: { click: tryAgain } }, "Try now");
    const says = el("p", {}, "The server does not answer. Is it still running?", left);
    fill(place, el("div", { class: "banner", role: "alert" }, icon("warning"), says, retry));
    countDown(PAUSE);
  });
  server.addEventListener("answered", () => {
    if (!gone) return;
    gone = false;
    window.clearTimeout(timer);
    fill(place);
    connection.dispatchEvent(new Event("back"));
  });
}
