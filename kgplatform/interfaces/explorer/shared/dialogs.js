// Dialogs that ask, with the browser's own <dialog>: focus stays inside, Escape closes, focus goes back.

import { button, el, freshId, iconButton, linkButton } from "./dom.js";

/** Show a dialog; resolves to its return value when it closes, "" after Escape. `build(close)` gives the content. */
export function openDialog(title, build) {
  const heading = freshId("dialog");
  return new Promise((resolve) => {
    const dialog = el("dialog", { "aria-labelledby": heading });
    const close = (value = "") => dialog.close(value);
    dialog.append(el("header", {}, el("h2", { id: heading }, title), iconButton("close", "Close", () => close())), ...build(close));
    dialog.addEventListener("close", () => (dialog.remove(), resolve(dialog.returnValue)));
    dialog.addEventListener("click", (event) => event.target === dialog && close());
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Whether the person agrees to `action` ("Remove"), after reading `question`. */
export async function confirmed(title, question, action) {
  const said = await openDialog(title, (close) => [
    el("p", {}, question),
    el("footer", {},
      button(null, "Cancel", () => close(), { class: null, autofocus: true }), button(null, action, () => close("yes"), { class: "danger" })),
  ]);
  return said === "yes";
}

/** The token that the server asks for, or null; `way`: where people may sign in instead. */
export async function askToken(wasWrong, way = null) {
  const field = freshId("token");
  const input = el("input", { id: field, type: "password", autocomplete: "off", required: true, autofocus: true });
  const said = await openDialog("The server needs a token", (close) => [
    el("form", { on: { submit: (event) => (event.preventDefault(), close(`token:${input.value.trim()}`)) } },
      el("p", {}, wasWrong ? "That token is wrong." : "An admin gave it to you, or it is in the token file that the server was started with. This tab remembers it until it is closed."),
      el("label", { for: field }, "Token"), input,
      el("footer", {}, way && linkButton(way, "Sign in instead"), button(null, "Go on", null, { class: "primary", type: "submit" }))),
  ]);
  return said.startsWith("token:") ? said.slice("token:".length) : null;
}

/** The list of keys. `allowed` says whether single keys work; `allow(bool)` changes it. */
export function showShortcuts(shortcuts, allowed, allow) {
  const box = freshId("keys");
  const check = el("input", { type: "checkbox", id: box, checked: allowed, on: { change: () => allow(check.checked) } });
  return openDialog("Keys", () => [
    el("dl", { class: "keys" }, shortcuts.map(({ key, what }) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
    el("p", { class: "field-row" }, check, el("label", { for: box }, "Single keys work outside of text fields")),
  ]);
}
