// A job of the server: stage, share, rate and time left; then its report, with what was skipped and why.

import { recheckNote } from "../ask/recheck.js";
import { about, ApiError, events, get, post, remove } from "../shared/api.js";
import { announce, button, el, failure, fill, icon, iconButton } from "../shared/dom.js";
import { count, counted, duration, readable, spent } from "../shared/format.js";

const ENDS = new Set(["done", "failed", "stopped"]);
const AGAIN = 3000;
/** Browsers open six connections to one server, and other parts of the page need some too. */
const MOST_STREAMS = 2;
const TITLES = {
  ingest: "Reading documents",
  tree: "Building the tree",
  sample: "Loading the sample",
  reread: "Reading documents again",
  gist: "Making gists",
  remove: "Removing documents",
};
const AGAIN_BELOW = "To try again, choose the documents under “In the graph”.";
const EXTRACTORS = { llm: "language model", local: "rules", recorded: "a file of facts" };

let streams = 0;

export class JobCard {
  /** `onEnd(job)` is called once, when a running job has ended; `onJob(job)` with one that its report began. */
  constructor(job, { onEnd, onDismiss, onJob }) {
    Object.assign(this, { id: job.id, title: TITLES[job.kind] ?? job.kind, onEnd, onDismiss, onJob });
    this.marks = []; // when how much of the stage was done: the rate is that of the last seconds
    this.element = el("article", { class: "job card", "aria-label": this.title });
    this.#draw(job);
    if (!ENDS.has(job.state)) this.#follow();
  }

  async #follow() {
    try {
      const job = streams < MOST_STREAMS ? await this.#listen() : await get(`api/jobs/${this.id}`);
      if (job) this.#draw(job);
      if (ENDS.has(job?.state)) {
        this.element.append(recheckNote());
        return this.onEnd(job);
      }
    } catch (fault) {
      if (fault.status === 404) { // the last hundred jobs are remembered
        fill(this.element, this.#head("no longer known"), el("p", { class: "muted" }, "The server has forgotten this job. What it did is kept."));
        return this.onEnd(null);
      } // else the server may come back
    }
    window.setTimeout(() => this.#follow(), AGAIN);
  }

  /** Draw what the server tells; resolves to the job at its end, or to null where the stream broke off before. */
  async #listen() {
    streams += 1;
    try {
      for await (const { event, data } of events(`api/jobs/${this.id}/events`)) {
        if (event === "end") return data;
        this.#draw(data);
      }
      return null;
    } finally {
      streams -= 1;
    }
  }

  #head(what) {
    return el("div", { class: "section-head" }, el("h2", {}, `${this.title}: ${what}`), iconButton("close", "Dismiss this report", () => this.onDismiss(this)));
  }

  #draw(job) {
    if (ENDS.has(job.state)) return this.#drawEnd(job);
    if (!this.bar) {
      this.bar = el("progress", { "aria-label": `${this.title}: progress` });
      this.stage = el("p", { class: "job-stage" });
      this.time = el("p", { class: "muted" });
      const stop = button("stop", "Stop", () => remove(`api/jobs/${this.id}`).catch(() => {}));
      fill(this.element, el("div", { class: "section-head" }, el("h2", {}, this.title), stop), fileNames(job), this.bar, el("div", { class: "job-line" }, this.stage, this.time));
    }
    this.stage.textContent = job.state === "waiting" ? job.note || "Waiting for its turn" : `${job.stage || "Starting"}${job.total ? `: ${count(job.done)} of ${count(job.total)}` : ""}`;
    this.time.textContent = [job.seconds ? duration(job.seconds) : "", this.#pace(job)].filter(Boolean).join(" · ");
    if (job.total) Object.assign(this.bar, { max: job.total, value: job.done });
    else this.bar.removeAttribute("value");
  }

  /** "12 a second, 40 s left", from how fast this stage went in its last seconds. */
  #pace({ stage, done, total, seconds }) {
    if (!total) return "";
    if (this.marks[0]?.stage !== stage || done < this.marks.at(-1)?.done) this.marks = [];
    this.marks.push({ stage, done, seconds });
    if (this.marks.length > 20) this.marks.shift();
    const [first] = this.marks;
    const rate = (done - first.done) / (seconds - first.seconds);
    if (!Number.isFinite(rate) || rate <= 0) return "";
    const speed = rate >= 1 ? `${count(rate)} a second` : `${count(rate * 60)} per minute`;
    return total > done ? `${speed}, about ${duration((total - done) / rate)} left` : speed;
  }

  #drawEnd(job) {
    const what = { done: "done", failed: "failed", stopped: "stopped; what was done is kept" }[job.state];
    announce(`${this.title}: ${what}`);
    fill(this.element, this.#head(what), fileNames(job),
      job.error ? failure(new ApiError(job.error)) : null,
      job.report && el("div", { class: "report" }, REPORTS[job.kind]?.(job.report), leftOut(job.report, (documents, told) => this.#keepAll(documents, told))));
  }

  async #keepAll(documents, told) {
    try {
      this.onJob((await post("api/documents/jobs", { work: "reread", documents, mode: "flexible" })).job);
    } catch (fault) {
      fill(told, failure(fault));
    }
  }
}

function fileNames({ files }) {
  if (!files?.length) return null;
  return el("p", { class: "muted ellipsis", dir: "auto" }, files.slice(0, 5).join(", ") + (files.length > 5 ? ` and ${files.length - 5} more` : ""));
}

function figures(pairs) {
  const shown = pairs.filter(([, value]) => value !== 0 && value !== undefined && value !== "");
  return el("dl", { class: "figures-row" }, shown.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, typeof value === "number" ? count(value) : value))));
}

/** What is to be said of each kind of job at its end. */
const REPORTS = {
  ingest: (report) => [
    figures([["added", report.added], ["changed", report.changed], ["unchanged", report.unchanged], ["passages", report.passages],
      ["passages read", report.extracted], ["statements kept", report.kept], ["mapped to the schema", report.mapped], ["outside the schema", report.off_schema], ["dropped by the schema", report.dropped],
      ["entities", report.names], ["without a type", report.untyped], ["words not found", report.statements_not_found], ["facts read", report.facts_found],
      ["read by", EXTRACTORS[report.extractor] ?? report.extractor], ["took", duration(total(report.seconds))], ["model", stages(report.usage)]]),
    problems("file skipped", "files skipped", faults(report.skipped, false)),
    problems("part of a file skipped", "parts of files skipped", faults(report.skipped, true)),
    problems("passage failed", "passages failed", [...report.failed, ...report.facts_failed].map(({ name, reason }) => [name, reason]), AGAIN_BELOW),
    problems("text without a vector", "texts without a vector", (report.unembedded ?? []).map(({ name, reason }) => [name, reason]), AGAIN_BELOW),
    report.expansions_added?.length ? el("p", {}, `Added to the schema: ${report.expansions_added.map(({ name }) => readable(name)).join(", ")}.`) : null,
    remarks(report),
  ],
  tree: (report) => [
    figures([["communities", report.communities], ["entities", report.entities], ["keywords", report.keywords], ["new", report.communities_new],
      ["kept", report.communities_kept], ["gone", report.communities_gone], ["named by the model", report.named_by_model],
      ["named after members", report.named_by_members], ["took", duration(total(report.seconds))], ["model", stages(report.usage)]]),
    remarks(report),
  ],
  gist: (report) => [
    figures([["documents", report.documents], ["with all gists", report.complete_documents], ["pages", report.pages], ["gists written", report.written], ["kept", report.kept],
      ["words", report.words], ["words of the gists", report.gist_words]]),
    problems("page failed", "pages failed", report.failed.map(({ document, page, reason }) => [`${document}, page ${page + 1}`, reason]), AGAIN_BELOW),
    remarks(report),
  ],
  remove: ({ removed }) => figures([["removed", removed]]),
};
REPORTS.sample = REPORTS.reread = REPORTS.ingest;

/** Files that were skipped, or of which only a part was: [path, reason]. */
const faults = (skipped, inPart) => skipped.filter(({ in_part = false }) => in_part === inPart).map(({ path, reason }) => [path, reason]);

const OF_SCHEMA = ["type", "relation", "attribute"];
const COMMONEST = 5;

/** What the schema left out most, with a button that keeps it (the model's replies are in the cache); and names, by the reason. */
function leftOut({ left_out: kinds = {}, documents = [] }, keep) {
  const lacking = OF_SCHEMA.flatMap((kind) => Object.entries(kinds[kind] ?? {}).map(([name, times]) => ({ kind, name, times }))).sort((a, b) => b.times - a.times);
  const names = Object.entries(kinds).filter(([kind]) => !OF_SCHEMA.includes(kind));
  const told = el("div");
  return [
    lacking.length ? el("p", {}, `Most often not in the schema: ${lacking.slice(0, COMMONEST).map(({ kind, name, times }) => `${kind} ${name} (${count(times)})`).join("; ")}.`) : null,
    lacking.length && documents.length && !about().read_only ? button("refresh", "Read again and keep these too", () => keep(documents, told)) : null,
    told,
    names.map(([reason, said]) => problems(`name left out: ${reason}`, `names left out: ${reason}`, Object.keys(said).map((name) => [name, ""]))),
  ];
}

function remarks({ stopped, notes }) {
  const said = [stopped, ...(notes ?? [])].filter(Boolean);
  return said.length ? el("ul", { class: "notes" }, said.map((note) => el("li", {}, note))) : null;
}

/** `then`: what to do about them. */
function problems(one, many, rows, then = "") {
  if (!rows.length) return null;
  return el("details", { class: "problems", open: rows.length < 6 }, el("summary", {}, icon("warning"), counted(rows.length, one, many)),
    el("ul", {}, rows.map(([name, reason]) => el("li", {}, el("strong", { dir: "auto" }, name), ` ${reason}`))), then && el("p", { class: "muted" }, then));
}

function total(seconds) {
  const { total, ...stages } = seconds ?? {};
  return total ?? Object.values(stages).reduce((sum, each) => sum + each, 0);
}

function stages(usage) {
  const sum = { calls: 0, input_tokens: 0, output_tokens: 0, cached_calls: 0 };
  for (const each of Object.values(usage ?? {})) for (const name of Object.keys(sum)) sum[name] += each[name] ?? 0;
  return spent(sum);
}
