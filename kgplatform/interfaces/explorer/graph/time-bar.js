// The time that the picture shows: a year to slide to, and how much is so then. It is there when a person wants it.

import { el, fill, freshId } from "../shared/dom.js";
import { counted } from "../shared/format.js";
import { setParameters } from "../shared/router.js";

/** { element, year, set(text), apply(view) }: `set` takes the year that an address has, null for all times. `onSlide()`: a person chooses another. */
export function timeBar(onSlide) {
  const id = freshId("year");
  const shown = el("output", { for: id });
  const said = el("span", { class: "muted", role: "status" });
  const slider = el("input", { id, type: "range", step: "1", on: {
    input: () => ((bar.year = Number(slider.value)), onSlide()),
    change: () => setParameters({ time: slider.value }, { replace: true }),
  } });
  const element = el("div", { class: "time-bar", hidden: true }, el("label", { for: id }, "Year"), slider, shown, said);

  /** Whether this is another year than before. */
  function set(text) {
    const year = /^\d{1,4}$/.test(text ?? "") ? Number(text) : null;
    const isNew = year !== bar.year;
    bar.year = year;
    element.hidden = year === null;
    return isNew;
  }

  /** Bring the picture to it, and say what is seen: within the years that the picture's facts name. */
  function apply(view) {
    if (!view || (bar.year === null && view.scene.year === null)) return;
    const years = bar.year === null ? null : view.scene.years;
    slider.hidden = shown.hidden = !years;
    if (!years) return view.standIn(null), fill(said, "No fact in the picture says a time.");
    [slider.min, slider.max] = years;
    slider.value = bar.year;
    const { now, untimed, off } = view.standIn(Number(slider.value));
    fill(shown, slider.value);
    fill(said, `${counted(now, "line")} so then${off ? ` · ${off} of other times hidden` : ""}${untimed ? ` · ${untimed} dashed: no time is said` : ""}`);
  }

  const bar = { element, year: null, set, apply };
  return bar;
}
