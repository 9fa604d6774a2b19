// Models: which server and model write the answers, whether they answer, and what they have cost.

import { get, post, refreshAbout } from "../shared/api.js";
import { announce, button, el, failure, fill, icon, loading } from "../shared/dom.js";
import { count, counted, duration, readable } from "../shared/format.js";

/** What calls were for, by the names that the parts of the platform give them. */
const STAGES = {
  extract: "reading documents", facts: "atomic facts", embed: "embedding", tree: "naming communities", paginate: "splitting into pages", gist: "gists",
  answer: "answering", standalone: "follow-ups", decompose: "taking questions apart", reflect: "reflecting", statement: "writing Cypher", map: "reading communities",
  reduce: "putting together", merge: "putting together", plan: "planning", nodes: "choosing where to begin", chunk: "reading passages", read: "reading passages",
  neighbours: "choosing neighbours", "look up": "choosing pages", leader: "leading the team", member: "reading in the team", trial: "testing",
};

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

  function language({ chat, has_key: hasKey, budget }) {
    if (!chat) return el("section", { class: "card model" }, el("h2", {}, "Language model"), el("p", {}, "None is connected: questions show the evidence, and no answer is written."), howTo());
    const test = button("play", "Test the connection", () => run(test), { class: null });
    return el("section", { class: "card model" }, el("h2", {}, "Language model"),
      el("dl", { class: "types" }, pair("Model", chat.model), pair("Server", chat.address), pair("Key", hasKey ? "is set; it is never shown" : "none is set"), budget ? pair("Budget", `${count(budget)} tokens for each start of the server`) : null),
      el("div", { class: "actions" }, test), tried, el("details", {}, el("summary", {}, icon("down"), "Connect another"), howTo()));
  }

  function howTo() {
    return el("div", { class: "how-to" },
      el("p", {}, "Write one of these into a file called .env in the folder in which you start the server, and start the server again:"),
      el("pre", { tabindex: "0", "aria-label": "For OpenAI" }, "OPENAI_API_KEY=your key\nKGPLATFORM_CHAT_MODEL=gpt-4.1-mini"),
      el("pre", { tabindex: "0", "aria-label": "For a model on your own machine" }, "OPENAI_BASE_URL=http://127.0.0.1:11434/v1\nKGPLATFORM_CHAT_MODEL=the model's name"),
      el("p", { class: "muted" }, "The second is for any server that speaks the OpenAI protocol, such as one on your own machine."));
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
