// The steps of a run as a list, each with what it asked, found and cost, and the buttons that replay them.

import { announce, el, fill, freshId, icon, iconButton, reveal, set } from "../shared/dom.js";
import { counted, duration, spent, stepName } from "../shared/format.js";
import { statementList } from "./statements.js";

const SPEEDS = [0.5, 1, 2, 4];

export class Timeline {
  /** `replay`: where the steps are drawn, or null where there is no picture. */
  constructor(replay = null) {
    this.replay = replay;
    this.list = el("ol", { class: "steps" });
    this.heading = el("h2", {}, "Steps");
    this.controls = replay ? this.#controls() : null;
    this.element = el("section", { class: "timeline", "aria-label": "Steps of the reader", hidden: true }, el("div", { class: "section-head" }, this.heading, this.controls), this.list);
    if (replay) Object.assign(replay, { onStep: (at) => this.#mark(at), onPlay: (playing) => this.#drawPlay(playing) });
  }

  /** A step that just happened. */
  append(step) {
    this.element.hidden = false;
    this.list.append(this.#item(step, this.list.childElementCount));
    this.#count();
  }

  /** All steps, once the run is over. */
  show(steps) {
    this.element.hidden = !steps.length;
    const before = [...this.list.children];
    const open = new Set(before.flatMap((item, at) => (item.querySelector("[aria-expanded=true]") ? [at] : [])));
    const focused = before.findIndex((item) => item.contains(document.activeElement));
    fill(this.list, steps.map((step, at) => this.#item(step, at)));
    for (const at of open) this.list.children[at]?.querySelector(".step-head").click();
    this.list.children[focused]?.querySelector(".step-head").focus();
    this.#count();
    if (this.replay) {
      this.controls.hidden = steps.length < 1;
      this.slider.max = String(steps.length);
      this.#mark(this.replay.at);
    }
  }

  #count() {
    this.heading.textContent = counted(this.list.childElementCount, "step");
  }

  #item(step, at) {
    const body = freshId("step");
    const details = el("div", { id: body, class: "step-body", hidden: true });
    const head = el("button", { class: "step-head", type: "button", "aria-expanded": "false", "aria-controls": body },
      el("span", { class: "step-number" }, String(at + 1)),
      el("span", { class: "step-name" }, stepName(step.name)),
      step.path ? el("span", { class: "path-badge", data: { path: String(((step.path - 1) % 6) + 1) } }, `path ${step.path}`) : null,
      el("span", { class: "step-detail", dir: "auto" }, step.detail),
      el("span", { class: "step-cost muted" }, step.seconds === undefined ? "" : duration(step.seconds)));
    head.addEventListener("click", () => {
      const opens = details.hidden;
      if (opens && !details.childElementCount) details.append(...stepBody(step));
      details.hidden = !opens;
      head.setAttribute("aria-expanded", String(opens));
      if (opens && this.replay?.ended) this.#draw(at);
    });
    return el("li", { class: "step" }, head, details);
  }

  #mark(at) {
    [...this.list.children].forEach((item, number) => {
      if (number === at) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
    this.slider.value = String(at + 1);
    this.slider.setAttribute("aria-valuetext", at < 0 ? "the whole run" : `step ${at + 1}`);
    this.place.textContent = at < 0 ? "whole run" : `${at + 1} / ${this.list.childElementCount}`;
    if (at >= 0 && this.list.children[at]) reveal(this.list.children[at]);
  }

  #controls() {
    this.playButton = iconButton("play", "Replay on the graph", () => this.toggle());
    this.slider = el("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step shown on the graph", on: { input: () => this.#go(Number(this.slider.value) - 1) } });
    this.place = el("span", { class: "muted step-place" }, "whole run");
    const speed = el("select", { class: "small", "aria-label": "Speed of the replay", on: { change: () => (this.replay.speed = Number(speed.value)) } },
      SPEEDS.map((each) => el("option", { value: String(each), selected: each === 1 }, `${each}×`)));
    return el("div", { class: "replay", role: "group", "aria-label": "Replay", hidden: true },
      iconButton("previous", "Previous step", () => this.step(-1)), this.playButton, iconButton("next", "Next step", () => this.step(1)), this.slider, this.place, speed);
  }

  /** Play or pause. */
  toggle() {
    if (!this.replay.ended) return; // it is drawn as it happens
    if (this.replay.timer) this.replay.pause();
    else this.replay.play();
  }

  /** One step forwards or backwards. */
  step(by) {
    if (!this.replay.ended) return;
    this.#go(Math.max(-1, Math.min(this.replay.at + by, this.replay.steps.length - 1)));
  }

  #draw(at) {
    this.replay.pause();
    this.replay.goTo(at).catch(() => {}); // the words of the step stand without their picture
  }

  #go(at) {
    this.#draw(at);
    const step = this.replay.steps[at];
    announce(step ? `Step ${at + 1} of ${this.replay.steps.length}: ${stepName(step.name)}` : "The whole run");
  }

  #drawPlay(playing) {
    const label = playing ? "Pause" : "Replay on the graph";
    fill(set(this.playButton, { "aria-label": label, title: label }), icon(playing ? "pause" : "play"));
  }
}

function stepBody(step) {
  const found = [["elements", "key element"], ["facts", "fact"], ["passages", "passage"], ["pages", "page"]]
    .filter(([name]) => step[name]?.length).map(([name, one]) => counted(step[name].length, one));
  return [
    el("p", { class: "muted" }, [step.prompt && `prompt ${step.prompt}`, spent(step.usage), found.join(", ")].filter(Boolean).join(" · ") || "No model was called and nothing was looked up."),
    step.reply ? el("div", { class: "reply" }, el("h3", {}, "What the model wrote"), el("pre", { tabindex: "0", dir: "auto", "aria-label": "What the model wrote" }, step.reply)) : null,
    step.statements?.length ? statementList(step.statements) : null,
  ].filter(Boolean);
}
