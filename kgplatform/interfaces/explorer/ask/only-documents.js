// "Only documents with …": names and values of their metadata, to which a question can be kept.

import { el, fill, freshId } from "../shared/dom.js";
import { about, aboutChanges, get } from "../shared/api.js";
import { icon } from "../shared/icons.js";

export class OnlyDocuments {
  /** The names are asked for when it is opened first, and again where the graph has changed since. */
  constructor() {
    this.known = null; // the names with their values
    this.isOld = true;
    this.rows = el("div", { class: "only-rows", on: { change: () => this.#tell() } });
    this.note = el("p", { class: "muted" });
    this.more = el("button", { class: "quiet small", type: "button", hidden: true, on: { click: () => this.#add().focus() } }, icon("plus"), "Another");
    this.chosen = el("span", {}, "…");
    this.element = el("details", { class: "options only-documents", on: { toggle: () => this.element.open && this.#load() } },
      el("summary", {}, icon("down"), el("span", {}, "Only documents with ", this.chosen)), this.note, this.rows, this.more);
    aboutChanges.addEventListener("change", () => (this.isOld = true));
  }

  /** What was chosen, as the server wants it: of each name its values, any of which will do. */
  get where() {
    const where = {};
    for (const row of this.rows.children) {
      const [name, value] = [row.querySelector(".only-name").value, row.querySelector(".only-value").selectedOptions[0]];
      if (value?.value) (where[name] ??= []).push(JSON.parse(value.value));
    }
    return where;
  }

  /** The reader that is chosen: one that reads the whole graph is kept to nothing. */
  suit(reader) {
    const { title, whole_graph: whole } = about().readers.find(({ name }) => name === reader) ?? {};
    this.note.textContent = whole ? `“${title}” reads the whole graph: it cannot be kept to some documents.` : "";
  }

  /** The choice, also where the rows are folded away. */
  #tell() {
    this.chosen.textContent = Object.entries(this.where).map(([name, values]) => `${name} ${values.join(" or ")}`).join(", ") || "…";
  }

  async #load() {
    if (!this.isOld) return;
    this.isOld = false;
    try {
      ({ names: this.known } = await get("api/metadata"));
      this.more.hidden = !this.known.length;
      if (!this.known.length) this.note.textContent = "The documents have no metadata, such as an author or a year.";
      else if (!this.rows.children.length) this.#add();
    } catch (fault) {
      this.isOld = true;
      this.note.textContent = `Not loaded: ${fault.message}`;
    }
  }

  /** One more name with its values; gives the choice of the name. */
  #add() {
    const id = freshId("only");
    const value = el("select", { id: `${id}-value`, class: "only-value", "aria-label": "Value" });
    const name = el("select", { id, class: "only-name", "aria-label": "Metadata", on: { change: () => this.#offer(name, value) } },
      this.known.map((each) => el("option", { value: each.name }, each.name)));
    const row = el("div", { class: "field-row" }, name, value,
      el("button", { class: "quiet small", type: "button", "aria-label": "Remove", on: { click: () => (row.remove(), this.#tell()) } }, icon("close")));
    this.#offer(name, value);
    this.rows.append(row);
    return name;
  }

  #offer(name, value) {
    const { values, distinct } = this.known.find((each) => each.name === name.value) ?? { values: [], distinct: 0 };
    fill(value, el("option", { value: "" }, "any"), values.map(([each, documents]) => el("option", { value: JSON.stringify(each) }, `${each} (${documents})`)),
      distinct > values.length && el("option", { disabled: true }, `… and ${distinct - values.length} more`));
  }
}
