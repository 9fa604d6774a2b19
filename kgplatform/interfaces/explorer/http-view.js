// The HTTP interface, at /docs: every endpoint by topic with what it takes and an example, from the server's own description.

import { get } from "./shared/api.js";
import { copyButton, el, failure, fill, icon, loading } from "./shared/dom.js";
import { markdown } from "./shared/markdown.js";

export function createView() {
  const place = el("div", {});
  const element = el("div", { class: "view" }, el("h1", {}, "Over HTTP"), el("p", { class: "muted" }, "The same for programs: ", el("a", { href: "api/openapi.json" }, "api/openapi.json")), place);

  async function show() {
    fill(place, loading());
    try {
      const { tags, paths } = await get("api/openapi.json");
      const all = Object.entries(paths).flatMap(([path, operations]) => Object.entries(operations).map(([method, operation]) => ({ called: `${method.toUpperCase()} ${path}`, ...operation })));
      fill(place, tags.map(({ name, description }) => el("section", { "aria-label": name }, el("h2", {}, description), all.filter((each) => each.tags?.includes(name)).map(endpoint))));
    } catch (fault) {
      fill(place, failure(fault, show));
    }
  }

  return { element, title: "HTTP", show, focus: () => place.querySelector("summary")?.focus() };
}

function endpoint({ called, summary, description, parameters = [], requestBody, responses }) {
  const answered = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const told = parameters.map(({ name, in: where, description: meaning, schema }) => [el("dt", {}, el("code", {}, name)), el("dd", {}, [`in the ${where}`, meaning ?? schema?.description].filter(Boolean).join(": "))]);
  return el("details", {}, el("summary", {}, icon("down"), el("code", {}, called), ` ${summary ?? ""}`),
    markdown(description ?? ""), told.length ? el("dl", { class: "types" }, told) : null, example("Request", requestBody), example("Answer", answered));
}

function example(title, holder) {
  const [content] = Object.values(holder?.content ?? {});
  const value = content?.example ?? Object.values(content?.examples ?? {})[0]?.value;
  if (value === undefined) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return el("div", {}, el("div", { class: "section-head" }, el("h3", {}, title), copyButton(() => text)), el("pre", { class: "code", tabindex: "0", "aria-label": title }, text));
}
