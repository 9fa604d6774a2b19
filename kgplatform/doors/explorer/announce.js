// One polite voice for people who do not see the page change. Only the latest of quick changes is said.

const region = document.getElementById("announcer");
const PAUSE = 600;
let waiting = 0;

/** Say `text`, once nothing newer has come for a moment. */
export function announce(text) {
  window.clearTimeout(waiting);
  waiting = window.setTimeout(() => (region.textContent = text), PAUSE);
}
