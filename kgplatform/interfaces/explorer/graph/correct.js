// What people correct: the dialog that asks what, the line that says what was done, and the way back.

import { about, get, post, refreshAbout, remove } from "../shared/api.js";
import { openDialog } from "../shared/dialogs.js";
import { button, el, failure, fill, freshId, icon, iconButton, loading } from "../shared/dom.js";
import { field } from "../shared/fields.js";
import { counted, named } from "../shared/format.js";
import { typeName } from "../shared/colors.js";

/** Tells "change" when something was corrected or undone; `detail.now(id)`: what a node has become, null where it is gone. */
export const corrections = new EventTarget();

const line = document.getElementById("done");
/** What was done in this page, the latest last: each the corrections of one press. */
const done = [];
let turn = Promise.resolve();

/** Do `work` when all before it has ended: the server takes one correction at a time. */
function inTurn(work) {
  const result = turn.then(work);
  turn = result.catch(() => {});
  return result;
}

/** Correct what `bodies` say, as api/corrections takes them. Of several, one that is gone was corrected by those before. */
export const correct = (...bodies) => inTurn(async () => {
  const made = [];
  for (const body of bodies) {
    try {
      made.push(await post("api/corrections", body));
    } catch (fault) {
      if (!made.length) throw fault;
    }
  }
  done.push(made);
  await changed(made, `${made[0].text}, ${appliesTo(made[0])}.`, { more: button("undo", "Undo", () => undo(made)), gone: bodies.map(({ fact }) => fact) });
});

/** Undo these corrections; without any, the last that were made in this page. */
export const undo = (wanted = null) => inTurn(async () => {
  const made = wanted ?? done.at(-1) ?? [];
  if (!made.length) return tell(el("span", {}, "Nothing was corrected here that could be undone."));
  const undone = [];
  for (const { id } of made.toReversed()) undone.push((await remove(`api/corrections/${encodeURIComponent(id)}`)).undone);
  const gone = new Set(made.map(({ id }) => id));
  done.splice(0, done.length, ...done.map((act) => act.filter(({ id }) => !gone.has(id))).filter((act) => act.length));
  await changed(undone, `Undone: ${made[0].text}.`);
}).catch((fault) => fill(line, failure(fault)));

async function changed(made, text, { more = null, gone = [] } = {}) {
  tell(el("span", { dir: "auto" }, text), more);
  const ids = [...new Set(made.flatMap(({ entities: both }) => both))];
  const { nodes } = ids.length ? await post("api/graph/subgraph", { ids }).catch(() => ({ nodes: [] })) : { nodes: [] };
  const there = new Set(nodes.map(({ id }) => id));
  const become = (id) => (ids.includes(id) && !there.has(id) ? (ids.find((each) => there.has(each)) ?? id) : id);
  const now = (id) => (gone.includes(id) ? null : become(id));
  corrections.dispatchEvent(new CustomEvent("change", { detail: { now } }));
  refreshAbout().catch(() => {}); // the banner says what is the matter
}

function tell(...words) {
  fill(line, el("div", { class: "done-line" }, icon("check"), words, iconButton("close", "Close this line", () => fill(line))));
}

/** How much a correction does. */
export const appliesTo = ({ passages }) => (passages ? `in ${counted(passages, "passage")}` : "waiting for a passage that it applies to");

/** A button that corrects what `bodies` say, and tells below the head of the page what came of it. */
export function correctButton(symbol, label, bodies, more = {}) {
  const press = ({ currentTarget: pressed }) => {
    pressed.disabled = true;
    correct(...[bodies].flat()).catch((fault) => ((pressed.disabled = false), fill(line, failure(fault))));
  };
  return button(symbol, label, press, { class: "quiet small", ...more });
}

/** Entities whose names are like `text`, the best first: { id, name }, with the type where two have the name. */
export async function entities(text, kinds = ["Entity"]) {
  if (!text) return [];
  const { nodes } = await get(`api/graph/find?${new URLSearchParams({ text, limit: 30 })}`);
  const found = nodes.filter(({ kind }) => kinds.includes(kind));
  const twice = new Set(found.map(({ name }) => name).filter((name, at, all) => all.indexOf(name) !== at));
  return found.map((node) => ({ id: node.id, name: twice.has(node.name) ? `${named(node.name)} (${typeName(node)})` : named(node.name) }));
}

/** What can be asked of the entity of a profile: { says, fields, read() }, by action; `known`: names of types by kind. */
function questions({ node, aliases, documents }, known) {
  const name = text("Name", { value: node.name });
  const into = entityField("The other one", node.id, "What is said of this one is then said of that.");
  const type = text("Type", { value: node.type ?? "" }, known.entities);
  const alias = text("Name");
  const off = el("select", { id: freshId("alias") }, aliases.map((each) => el("option", {}, each)));
  const other = text("Name of the other one");
  const [ticks, ticked] = tickedDocuments(documents);
  const subject = entityField("What it is about", null, null, node);
  const [predicate, object] = [text("Relation or attribute", {}, [...known.relations, ...known.attributes]), entityField("What it leads to", null)];
  const objectType = text("Its type", { required: false }, known.entities, "Only where the graph does not know it yet.");
  const value = el("input", { type: "checkbox", id: freshId("value"), on: { change: () => (objectType.element.hidden = value.checked) } });
  const isValue = el("p", { class: "check" }, value, el("label", { for: value.id }, "a value, such as a number or a date"));
  const told = () => (value.checked || !objectType.read() ? object.read(value.checked) : `${object.read(true)} (${objectType.read()})`);
  return {
    merge: { says: "It is the same as another", fields: [into.element], read: () => ({ into: into.read() }) },
    rename: { says: "It has another name", fields: [name.element], read: () => ({ name: name.read() }) },
    retype: { says: "It is of another type", fields: [type.element], read: () => ({ type: type.read() }) },
    alias: { says: "It has one more name", fields: [alias.element], read: () => ({ name: alias.read() }) },
    ...(aliases.length && { "remove-alias": { says: "One of its names is not its own", fields: [field("Name", off)], read: () => ({ name: off.value }) } }),
    ...(documents.length > 1 && { split: { says: "Some documents mean another one", fields: [other.element, ticks], read: () => ({ name: other.read(), documents: ticked() }) } }),
    add: { says: "A fact is missing", fields: [subject.element, predicate.element, object.element, isValue, objectType.element], read: () => ({ entity: undefined, subject: subject.read(), predicate: predicate.read(), object: told(), value: value.checked }) },
  };
}

/** A labelled field for a text, with `proposals`; { element, read() }. */
function text(label, more = {}, proposals = [], hint = null) {
  const id = freshId("text");
  const input = el("input", { id, autocomplete: "off", required: true, dir: "auto", list: proposals.length ? `${id}-list` : null, ...more });
  const element = field(label, input, hint);
  if (proposals.length) element.append(el("datalist", { id: `${id}-list` }, proposals.map((each) => el("option", { value: each }))));
  return { element, read: () => input.value.trim() };
}

/** The same for an entity, which is proposed by its name; `read()` gives its id where one was proposed. `given`: the one at first. */
function entityField(label, but, hint = null, given = null) {
  const id = freshId("entity");
  const [known, options] = [new Map(given ? [[given.name, given.id]] : []), el("datalist", { id: `${id}-list` })];
  const input = el("input", { id, list: options.id, autocomplete: "off", spellcheck: "false", required: true, dir: "auto", value: given?.name, on: { input: () => propose() } });

  async function propose() {
    const found = (await entities(input.value.trim()).catch(() => [])).filter((each) => each.id !== but);
    for (const each of found) known.set(each.name, each.id);
    fill(options, found.map(({ name }) => el("option", { value: name })));
  }

  const element = field(label, input, hint);
  element.append(options);
  return { element, read: (asText = false) => (asText ? null : known.get(input.value.trim())) ?? input.value.trim() };
}

function tickedDocuments(documents) {
  const boxes = documents.map(({ document: id }) => el("input", { type: "checkbox", id: freshId("in"), value: id, on: { change: () => check() } }));
  const check = () => boxes[0]?.setCustomValidity(boxes.some(({ checked }) => checked) ? "" : "Tick a document.");
  check();
  return [el("fieldset", { class: "ticks" }, el("legend", {}, "Documents that mean the other one"), documents.map(({ title }, at) => el("p", { class: "check" }, boxes[at], el("label", { for: boxes[at].id, dir: "auto" }, named(title))))),
    () => boxes.filter(({ checked }) => checked).map(({ value }) => value)];
}

/** Ask what is to be corrected of an entity, and do it; `first`: the action that is asked for at first. */
export async function askCorrection(id, first = "merge") {
  try {
    const [profile, { schema, expansions }] = await Promise.all([get(`api/graph/profile/${encodeURIComponent(id)}`), get("api/schema")]);
    const of = (kinds, kind, more = []) => [...new Set([...(schema?.[kinds] ?? []), ...expansions.filter((each) => each.kind === kind)].map(({ name }) => name).concat(more))];
    const known = { entities: of("entities", "entity", Object.keys(about().types)), relations: of("relations", "relation"), attributes: of("attributes", "attribute") };
    await openDialog(`Correct ${named(profile.node.name)}`, (close) => [correctionForm(profile.node, questions(profile, known), first, close)]);
  } catch (fault) {
    fill(line, failure(fault));
  }
}

function correctionForm(node, asked, first, close) {
  const [what, place, problem] = [el("select", { id: freshId("what"), on: { change: () => draw() } }, Object.entries(asked).map(([action, { says }]) => el("option", { value: action }, says))), el("div", { class: "entry-form" }), el("div")];
  const why = text("Why (if you like)", { required: false, maxlength: 2000 });
  const send = button(null, "Correct", null, { class: "primary", type: "submit" });
  const draw = () => fill(place, asked[what.value].fields);

  async function submit() {
    send.disabled = true;
    fill(problem, loading("Correcting"));
    try {
      await correct({ action: what.value, entity: node.id, why: why.read(), ...asked[what.value].read() });
      close("done");
    } catch (fault) {
      send.disabled = false;
      fill(problem, failure(fault));
    }
  }

  what.value = first;
  draw();
  const fields = [...place.querySelectorAll("input")];
  (first === "merge" ? what : (fields.find(({ value }) => !value) ?? fields[0])).autofocus = true;
  return el("form", { class: "entry-form", on: { submit: (event) => (event.preventDefault(), submit()) } },
    field("What is to be corrected", what), place, why.element, problem,
    el("footer", {}, button(null, "Cancel", () => close(), { class: null }), send));
}
