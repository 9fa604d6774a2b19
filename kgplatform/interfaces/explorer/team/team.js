// The workspaces that somebody may open; and for admins of the server workspaces, people, tokens, rights and the log.

import { get, post, remove, useToken } from "../shared/api.js";
import { confirmed } from "../shared/dialogs.js";
import { announce, button, copyButton, el, emptyState, failure, fill, icon, loading } from "../shared/dom.js";
import { field } from "../shared/fields.js";

const panel = document.getElementById("panel");
const view = el("div", { class: "view team-view" });
const said = el("div", { role: "status" });

fill(document.getElementById("theme-button"), icon("sun"), icon("moon")).addEventListener("click", () => window.toggleTheme());
fill(panel, view);
show();

async function show() {
  fill(view, el("h1", {}, "Workspaces"), loading());
  try {
    const me = await get("api/me");
    fill(document.getElementById("status"), me.name, me.is_session && button(null, "Sign out", leave));
    fill(view, el("h1", {}, "Workspaces"), spaces(me), me.is_admin && [said, ...(await desk())]);
  } catch (fault) {
    fill(view, el("h1", {}, "Workspaces"), failure(fault, show));
  }
}

/** Do it, say what came of it, and show what there is now. */
async function does(work, words) {
  fill(said);
  try {
    const done = await work();
    await show();
    fill(said, el("p", { class: "works" }, icon("check"), words(done)));
    announce(said.textContent);
  } catch (fault) {
    fill(said, failure(fault));
    said.scrollIntoView({ block: "nearest" });
  }
}

function spaces({ workspaces, is_admin: isAdmin }) {
  if (!workspaces.length) return emptyState("document", "No workspace yet", isAdmin ? "Make one below." : "Ask an admin to let you into one.");
  return table("Workspaces", ["Name", "You are", ""], workspaces.map(({ name, role, is_part: isPart, archived }) => [
    archived ? el("span", { class: "muted" }, `${name} (archived)`) : el("a", { href: `w/${name}/` }, name), isPart ? `${role} of a part` : role,
    isAdmin && el("div", { class: "actions" },
      button(null, "Rename", () => rename(name)),
      button(null, archived ? "Restore" : "Archive", () => does(() => post(`api/workspaces/${name}`, { archived: !archived }), () => `${name} is ${archived ? "open again" : "archived"}.`)),
      button("close", "Delete", () => erase(name))),
  ]));
}

async function leave() {
  await post("api/signout", {});
  window.location.reload();
}

async function rename(name) {
  const row = el("input", { id: "new-name", required: true, value: name, autocomplete: "off", spellcheck: "false" });
  const done = (event) => (event.preventDefault(), does(() => post(`api/workspaces/${name}`, { name: row.value.trim() }), (to) => `${name} is called ${to.name} now.`));
  fill(said, el("form", { class: "field-row", on: { submit: done } }, field(`New name of ${name}`, row), button(null, "Rename", null, { type: "submit", class: "primary" })));
  row.focus();
}

async function erase(name) {
  const agreed = await confirmed(`Delete ${name}?`, "Its graph, its uploads and its caches are gone for ever.", "Delete");
  if (agreed) await does(() => remove(`api/workspaces/${name}`), () => `${name} is deleted.`);
}

async function desk() {
  const [{ users, tokens, grants }, { lines }] = await Promise.all([get("api/people"), get("api/audit?limit=100")]);
  return [
    form("New workspace", [["name", "Name", { pattern: "[a-z0-9]([a-z0-9\\-]*[a-z0-9])?" }, "Lower-case letters, digits and hyphens"]], (given) => post("api/workspaces", given), ({ name }) => `${name} is there.`),
    el("h2", {}, "People"),
    users.length > 0 && table("Users", ["User", "Groups", ""], users.map(({ name, groups }) => [name, groups.join(", "),
      el("div", { class: "actions" }, button("plus", "Token", () => hand(name)), button("close", "Remove", () => does(() => remove(`api/people/users/${encodeURIComponent(name)}`), () => `${name} is removed, with all tokens.`)))])),
    form("Add a user", [["name", "Name"], ["groups", "Groups", { required: false }, "With commas between them"]],
      add, ({ name, token }) => (token ? shown(`${name} is the first user, and an admin of everything. The token, which this tab uses now, is shown only here: `, token) : `${name} is a user. Make a token, or let them sign in.`)),
    tokens.length > 0 && table("Tokens", ["Token", "User", "Good until", ""], tokens.map(({ id, user, expires }) => [id, user, expires.slice(0, 10), button("close", "Revoke", () => does(() => remove(`api/people/tokens/${id}`), () => `The token ${id} is revoked.`))])),
    el("h2", {}, "Rights"),
    grants.length > 0 && table("Rights", ["Workspace", "Who", "Role", "Documents", ""], grants.map(({ workspace, who, role, where }) => [workspace, who, role, where || "all",
      button("close", "Take away", () => does(() => post("api/people/grants/remove", { workspace, who }), () => `${who} may do nothing more there by that right.`))])),
    form("Let somebody in", [["workspace", "Workspace", {}, "* for all"], ["who", "Who", { placeholder: "user:ann" }, "user:NAME, group:NAME or claim:NAME=VALUE"], ["role", "Role", { list: ["reader", "editor", "admin"] }], ["where", "Documents of a reader", { required: false, placeholder: "department = legal" }, "A condition; empty for all"]],
      (given) => post("api/people/grants", given), ({ who, role, workspace }) => `${who} is ${role} in ${workspace}.`),
    el("h2", {}, "Log"),
    table("Log", ["When", "Who", "Workspace", "Did", "Asked", "Status"], lines.map(({ at, who, workspace, does: what, asked, status }) => [at.slice(0, 19).replace("T", " "), who, workspace, what, asked, status])),
  ];
}

/** Add a user. With the first one the server closes to all without a token: that of the new admin opens it here. */
async function add({ name, groups }) {
  const made = await post("api/people/users", { name, groups: groups.split(",").map((each) => each.trim()).filter(Boolean) });
  if (made.token) useToken(made.token);
  return made;
}

const hand = (user) => does(() => post("api/people/tokens", { user }), ({ token, expires }) => shown(`A token of ${user}, good until ${expires.slice(0, 10)}. It is shown only now: `, token));

const shown = (words, token) => el("span", {}, words, el("code", {}, token), " ", copyButton(() => token));

function table(caption, heads, rows) {
  return el("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": caption }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head || el("span", { class: "visually-hidden" }, "Actions"))))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell) => el("td", {}, cell ?? "")))))));
}

/** A form of text fields: [name, label, properties, hint] each; a `list` is what to choose from. */
function form(title, fields, send, words) {
  const inputs = fields.map(([name, label, { list = null, ...more } = {}, hint]) => {
    const id = `${title}-${name}`.replaceAll(" ", "-").toLowerCase();
    const input = list ? el("select", { id, name }, list.map((each) => el("option", {}, each))) : el("input", { id, name, required: true, autocomplete: "off", spellcheck: "false", ...more });
    return el("div", { class: "field" }, el("label", { for: id }, label), input, hint && el("span", { class: "muted" }, hint));
  });
  const submit = (event) => {
    event.preventDefault();
    does(() => send(Object.fromEntries(new FormData(event.target))), words);
  };
  return el("form", { class: "card", "aria-label": title, on: { submit } }, el("strong", {}, title), el("div", { class: "field-row" }, inputs, button(null, title, null, { type: "submit", class: null })));
}
