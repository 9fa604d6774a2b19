// Models: which server and model write the answers, whether they answer, what they have cost; and another to connect.

import { about, get, post, refreshAbout } from "../shared/api.js";
import { announce, button, el, failure, fill, icon, loading } from "../shared/dom.js";
import { field } from "../shared/fields.js";
import { count, counted, duration, readable } from "../shared/format.js";

/** What calls were for, by the names that the parts of the platform give them. */
const STAGES = {
  extract: "reading documents", introduce: "introducing documents", facts: "atomic facts", embed: "embedding", tree: "naming communities", paginate: "splitting into pages", gist: "gists",
  answer: "answering", standalone: "follow-ups", decompose: "taking questions apart", reflect: "reflecting", statement: "writing Cypher", map: "reading communities",
  reduce: "putting together", merge: "putting together", plan: "planning", nodes: "choosing where to begin", chunk: "reading passages", read: "reading passages",
  neighbours: "choosing neighbours", "look up": "choosing pages", leader: "leading the team", member: "reading in the team", trial: "testing",
};

const SERVERS = { Ollama: "http://127.0.0.1:11434/v1", "LM Studio": "http://127.0.0.1:1234/v1", "llama.cpp": "http://127.0.0.1:8080/v1" };

export function createView() {
  const element = el("div", { class: "view models-view" });
  const tried = el("div", { class: "trial", role: "status" });
  const spending = el("section", { "aria-label": "Spent" });

  async function show() {
    fill(element, el("h1", {}, "Models"), loading());
    fill(tried);
    try {
      const told = await get("api/models");
      fill(element, el("h1", {}, "Models"), language(told),
        el("section", { class: "card model" }, el("h2", {}, "Embedding model"), el("dl", { class: "types" }, pair("Model", told.embedder)), el("p", { class: "muted" }, "It finds passages and facts that mean what is asked.")), spending);
      drawSpent(told);
    } catch (fault) {
      fill(element, el("h1", {}, "Models"), failure(fault, show));
    }
  }

  function language({ chat, has_key: hasKey, budget, is_open: isOpen }) {
    const other = isOpen && !about().read_only ? connection() : el("p", {}, "The model was chosen where the server was started, by its environment or by a file called .env: change it there, and start the server again.");
    if (!chat) return el("section", { class: "card model" }, el("h2", {}, "Language model"), el("p", {}, "None is connected: questions show the evidence, and no answer is written."), other);
    const test = button("play", "Test the connection", () => run(test), { class: null });
    return el("section", { class: "card model" }, el("h2", {}, "Language model"),
      el("dl", { class: "types" }, pair("Model", chat.model), pair("Server", chat.address), pair("Key", hasKey ? "is set; it is never shown" : "none is set"), budget ? pair("Budget", `${count(budget)} tokens for each start of the server`) : null),
      el("div", { class: "actions" }, test), tried, el("details", {}, el("summary", {}, icon("down"), "Connect another"), other));
  }

  /** The form for a server, its key and one of its models. */
  function connection() {
    const address = el("input", { id: "model-address", type: "url", list: "model-addresses", placeholder: "http://127.0.0.1:11434/v1", autocomplete: "off", spellcheck: "false" });
    const key = el("input", { id: "model-key", type: "password", autocomplete: "off", spellcheck: "false" });
    const model = el("input", { id: "model-name", list: "model-names", required: true, autocomplete: "off", spellcheck: "false" });
    const names = el("datalist", { id: "model-names" });
    const said = el("div", { role: "status" });
    const server = () => ({ address: address.value.trim() || null, key: key.value.trim() || null });

    async function look() {
      fill(said, loading("Asking the server for its models"));
      try {
        const { models } = await post("api/models/list", server());
        fill(names, models.map((name) => el("option", { value: name })));
        if (models.length && !models.includes(model.value)) model.value = models[0];
        fill(said, el("p", {}, models.length ? `It has ${counted(models.length, "model")}: ${models.slice(0, 8).join(", ")}${models.length > 8 ? " …" : ""}` : "It lists no models. Check the address, or type the model's name."));
      } catch (fault) {
        fill(said, failure(fault));
      }
    }

    async function connect(event) {
      event.preventDefault();
      fill(said, loading("Waiting for the model"));
      try {
        const { ok, reply, seconds, error } = await post("api/models/connect", { ...server(), model: model.value.trim() });
        if (!ok) return fill(said, failure(new Error(error)));
        await refreshAbout();
        await show();
        fill(tried, el("p", { class: "works" }, icon("check"), `Connected. It answered “${reply}” after ${duration(seconds)}.`));
        announce("Connected");
      } catch (fault) {
        fill(said, failure(fault));
      }
    }

    return el("form", { class: "entry-form", on: { submit: connect }, "aria-label": "Connect a language model" },
      field("Address of the server", address, "Any server that speaks OpenAI's protocol: Ollama, llama.cpp, LM Studio, vLLM … Leave it empty for OpenAI."),
      el("datalist", { id: "model-addresses" }, Object.entries(SERVERS).map(([name, value]) => el("option", { value }, name))),
      field("Key", key, "Servers on your own machine need none. It is kept in a file that only you can read, and never shown."),
      field("Model", model), names,
      el("div", { class: "actions" }, button("search", "List its models", look, { class: null }), el("button", { type: "submit", class: "primary" }, "Connect")), said);
  }

  async function run(test) {
    test.disabled = true;
    fill(tried, loading("Waiting for the model"));
    try {
      const { ok, reply, seconds, usage, error } = await post("api/models/test", {});
      const tokens = ok && counted(usage.input_tokens + usage.output_tokens, "token");
      fill(tried, ok ? el("p", { class: "works" }, icon("check"), `It answered “${reply}” after ${duration(seconds)}, for ${tokens}.`) : failure(new Error(error)));
      announce(ok ? "The model answered" : error);
      drawSpent(await get("api/models"));
      refreshAbout().catch(() => {}); // the banner says what is the matter
    } catch (fault) {
      fill(tried, failure(fault));
    } finally {
      test.disabled = false;
    }
  }

  function drawSpent({ spent, money }) {
    const tokens = (each) => each.input_tokens + each.output_tokens;
    const sum = (read) => spent.reduce((total, each) => total + read(each), 0);
    const row = (name, calls, cached, used, tag = "td") => el("tr", {}, el("th", { scope: "row" }, name), [calls, cached, used].map((number) => el(tag, { class: "number" }, count(number))));
    fill(spending, el("h2", {}, "Spent since the server started"), !spent.length ? el("p", { class: "muted" }, "Nothing yet.") : el("div", { class: "table-box" }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "For"), ["Calls", "From the cache", "Tokens"].map((name) => el("th", { scope: "col", class: "number" }, name)))),
      el("tbody", {}, spent.map((each) => row(STAGES[each.stage] ?? readable(each.stage), each.calls, each.cached_calls, tokens(each))),
        row("together", sum(({ calls }) => calls), sum((each) => each.cached_calls), sum(tokens))))),
    spent.length > 0 && el("p", { class: "muted" }, money ? `About ${money.amount.toFixed(money.amount < 1 ? 4 : 2)} ${money.currency} by the list prices of ${money.as_of}.` : "What that costs is not known: there are prices only for OpenAI's own models."));
  }

  return { element, title: "Models", show, focus: () => element.querySelector("button")?.focus() };
}

const pair = (name, value) => [el("dt", {}, name), el("dd", {}, value)];
