// What stands where nothing was asked yet: the three steps with their state, questions to begin with, and what was asked
// before in this browser.

import { about, get, post, refreshAbout } from "../shared/api.js";
import { confirmed } from "../shared/dialogs.js";
import { button, el, failure, fill, icon, iconButton, linkButton, loading } from "../shared/dom.js";
import { counted, moment } from "../shared/format.js";
import { routeTo } from "../shared/router.js";
import { conversationsOf, forget } from "./conversation.js";
import { JobCard } from "../documents/job-card.js";

const SHOWN = 5;

export class FirstRun {
  /** `ask(question)`: one of the questions was pressed. `onGrown()`: a job has changed the graph. */
  constructor({ ask, onGrown }) {
    Object.assign(this, { ask, onGrown });
    this.steps = el("ol", { class: "first-steps", "aria-label": "Steps" });
    this.said = el("div", {});
    this.job = el("div", { class: "jobs" });
    this.earlier = el("div", {});
    this.element = el("div", { class: "first-run" }, this.said, this.steps, this.job, this.earlier);
  }

  /** Draw the state as it is now. */
  async draw() {
    const { documents, entities, has_tree: hasTree, outside_tree: outside, read_only: readOnly, model } = about();
    const place = el("div", { class: "questions" });
    const missing = outside ? `${counted(outside, "entity is", "entities are")} not in it yet.` : "Related entities are grouped.";
    const grouped = hasTree ? missing : "It groups related entities. Some ways to answer need it.";
    fill(this.said);
    fill(this.steps,
      step(documents > 0, "Add documents", documents ? `${counted(documents, "document")} with ${counted(entities, "entity", "entities")} in the graph.` : "The graph is empty.", documents || readOnly ? null : [
        button(null, "Load the sample", () => this.#start("api/sample", {}), { class: "primary" }),
        linkButton(routeTo("documents"), "Add your own"),
        el("p", { class: "muted" }, "The sample is twenty short documents about the first telegraph cables. Its facts were written by hand; no model read them."),
      ]),
      step(hasTree && !outside, hasTree && outside ? "Update the tree" : "Build the tree", grouped, documents && (!hasTree || outside) && !readOnly
        ? [button("tree", hasTree ? "Update the tree" : "Build the tree", () => this.#start("api/tree", { method: null, rebuild: false }), { class: null })] : null),
      step(false, "Ask", documents ? "Type a question above, or begin with one of these:" : "Then ask what the documents say.", documents ? [place] : null),
      el("li", { class: "muted model-line" }, model ? `Answers are written by ${model}.` : "No language model is connected: you see the evidence, and no answer is written.", " ", el("a", { href: routeTo("models") }, model ? "Models" : "Connect a model")));
    const [{ questions }] = await Promise.all([documents ? get("api/questions").catch(() => ({ questions: [] })) : { questions: [] }, this.#drawEarlier()]); // the banner says what is the matter
    fill(place, questions.map((question) => button(null, question, () => this.ask(question), { class: "suggestion", dir: "auto" })));
  }

  /** A question was asked, and there is nothing to ask: what to do. */
  sayEmpty() {
    const way = this.steps.querySelector("button, a");
    fill(this.said, el("p", { class: "note", role: "alert" }, icon("warning"), "The graph is empty. Load the sample or add documents, then ask."));
    way?.focus();
  }

  /** Queue a job, and follow it to its end. */
  async #start(path, body) {
    for (const button of this.steps.querySelectorAll("button")) button.disabled = true;
    fill(this.job, loading("Beginning")); // a server that has just started takes a while
    try {
      const { job } = await post(path, body);
      const card = new JobCard(job, { onEnd: () => refreshAbout().catch(() => {}).then(this.onGrown), onDismiss: () => fill(this.job) });
      fill(this.job, card.element);
    } catch (fault) {
      await this.draw();
      fill(this.job, failure(fault));
    }
  }

  async #drawEarlier() {
    const talks = await conversationsOf(about().graph).catch(() => []); // a browser that keeps nothing has none
    fill(this.earlier, talks.length > 0 && el("section", { class: "earlier", "aria-label": "Earlier conversations" },
      el("div", { class: "section-head" }, el("h2", {}, "Earlier"), button(null, "Clear all", () => this.#clear(), { class: "quiet small" })),
      el("ul", {}, talks.slice(0, SHOWN).map((talk) => this.#row(talk))),
      talks.length > SHOWN && el("details", {}, el("summary", {}, icon("down"), `${talks.length - SHOWN} older`), el("ul", {}, talks.slice(SHOWN).map((talk) => this.#row(talk)))),
      el("p", { class: "muted" }, "Only this browser remembers them.")));
  }

  #row({ id, at, turns }) {
    const { asked } = turns[0];
    return el("li", { class: "earlier-row" },
      el("a", { href: routeTo("ask", { talk: id }), dir: "auto" }, asked),
      el("span", { class: "muted" }, `${counted(turns.length, "question")} · ${moment(at)}`),
      iconButton("remove", `Forget “${asked}”`, () => this.#forget(id), { title: "Forget" }));
  }

  async #forget(id) {
    await forget(id);
    await this.#drawEarlier();
    (this.earlier.querySelector("a") ?? this.steps.querySelector("button, a"))?.focus();
  }

  async #clear() {
    if (!(await confirmed("Forget all conversations?", "All conversations about this graph are removed from this browser. What was kept in the graph stays there.", "Forget them"))) return;
    for (const { id } of await conversationsOf(about().graph)) await forget(id);
    await this.#drawEarlier();
  }
}

function step(isDone, title, state, actions) {
  return el("li", { class: isDone ? "first-step done" : "first-step" },
    el("div", {}, el("h2", {}, title, isDone && el("span", { class: "visually-hidden" }, " (done)")), el("p", { class: "muted" }, state), actions && el("div", { class: "actions" }, actions)));
}
