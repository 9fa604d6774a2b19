// Where a picture is looked at from: the point of the world in the middle of the view, and pixels per unit of the world. And what
// people do with mouse, pen and fingers on it: drag, pan, pinch, turn the wheel, tap, tap twice.

const SLOW = 320;

const stillness = window.matchMedia("(prefers-reduced-motion: reduce)");

/** Whether the person asked the system for less movement on the screen. */
export const prefersStill = () => stillness.matches;

export class Camera {
  /** `least`, `most`: bounds of `k`, the pixels per unit. */
  constructor({ least = 0.02, most = 6 } = {}) {
    Object.assign(this, { x: 0, y: 0, k: 1, width: 1, height: 1, least, most, journey: null });
  }

  toScreen({ x, y }) {
    return { x: (x - this.x) * this.k + this.width / 2, y: (y - this.y) * this.k + this.height / 2 };
  }

  toWorld({ x, y }) {
    return { x: (x - this.width / 2) / this.k + this.x, y: (y - this.height / 2) / this.k + this.y };
  }

  /** Whether a point of the world is in the view, or near it. */
  sees({ x, y }) {
    const [across, down] = [Math.abs(x - this.x) * this.k, Math.abs(y - this.y) * this.k];
    return across < this.width / 2 + 20 && down < this.height / 2 + 20;
  }

  /** Move by pixels, as a hand moves paper. */
  pan(dx, dy) {
    this.journey = null;
    this.x -= dx / this.k;
    this.y -= dy / this.k;
  }

  /** Zoom so that what is at `point` of the view stays there. */
  zoom(factor, point = { x: this.width / 2, y: this.height / 2 }) {
    const { x, y, k, width, height } = this;
    const zoomed = this.#bounded(k * factor);
    const [dx, dy] = [point.x - width / 2, point.y - height / 2];
    Object.assign(this, { x: x + dx / k - dx / zoomed, y: y + dy / k - dy / zoomed, k: zoomed, journey: null });
  }

  /** Zoom about the middle of the view in an eased movement; two calls in a row add up. */
  glideZoom(factor) {
    const from = this.journey?.to ?? this;
    this.goTo({ x: from.x, y: from.y, k: this.#bounded(from.k * factor) });
  }

  #bounded(k) {
    return Math.min(this.most, Math.max(this.least, k));
  }

  /** Where to stand to see all of `bounds` ({left, top, right, bottom} in the world), no closer than `closest`. */
  standFor(bounds, { padding = Math.min(48, this.width / 16), closest = 1.5 } = {}) {
    const room = { x: Math.max(40, this.width - 2 * padding), y: Math.max(40, this.height - 2 * padding) };
    const wide = Math.max(1e-6, bounds.right - bounds.left);
    const high = Math.max(1e-6, bounds.bottom - bounds.top);
    const k = Math.min(closest, room.x / wide, room.y / high);
    return { x: (bounds.left + bounds.right) / 2, y: (bounds.top + bounds.bottom) / 2, k: this.#bounded(k) };
  }

  /** Stand there: at once, or in an eased movement that `step` makes. */
  goTo(to, { smooth = true } = {}) {
    if (!smooth || prefersStill()) Object.assign(this, to, { journey: null });
    else this.journey = { from: { x: this.x, y: this.y, k: this.k }, to, start: performance.now() };
  }

  /** One frame of a movement at the time `now`. */
  step(now) {
    if (!this.journey) return;
    const { from, to, start } = this.journey;
    const part = eased(Math.min(1, Math.max(0, (now - start) / SLOW)));
    this.k = from.k * (to.k / from.k) ** part;
    // The middle moves so that all of the picture seems to move at one speed while it is zoomed.
    const way = Math.abs(to.k - from.k) < 1e-9 ? part : (1 / from.k - 1 / this.k) / (1 / from.k - 1 / to.k);
    this.x = from.x + (to.x - from.x) * way;
    this.y = from.y + (to.y - from.y) * way;
    if (part >= 1) this.journey = null;
  }
}

/** Slow, fast, slow: from 0 to 1. */
export const eased = (part) => part < 0.5 ? 4 * part ** 3 : 1 - (2 - 2 * part) ** 3 / 2;

const STEADY = 4;
const TWICE = { time: 350, distance: 14 };
const LINE = 16;

/**
 * Tell `handlers` what is done on `element`; points are pixels from its upper left corner.
 *
 * `grab(point)`: what lies there to be dragged, or null; then `drag(thing, point)` and `drop(thing)`.
 * `pan(dx, dy)`, `zoom(factor, point)`, `tap(point)`, `doubleTap(point)`, `hover(pointOrNull)`.
 * `wheel`: what the wheel does without Ctrl, "zoom" or "pan". All but `pan` and `zoom` may be left out.
 */
export function trackGestures(element, handlers) {
  const pointers = new Map(); // those that are down, and where they were last
  let thing = null;
  let moved = false;
  let start = null;
  let lastTap = null;

  function pointOf({ clientX, clientY }) {
    const box = element.getBoundingClientRect();
    return { x: clientX - box.left, y: clientY - box.top };
  }

  function down(event) {
    if (event.button !== 0) return;
    const point = pointOf(event);
    pointers.set(event.pointerId, point);
    if (pointers.size > 1) {
      letGo();
      moved = true;
    } else {
      [start, moved, thing] = [point, false, handlers.grab?.(point) ?? null];
    }
  }

  function move(event) {
    const point = pointOf(event);
    const last = pointers.get(event.pointerId);
    if (!last) return handlers.hover?.(point);
    if (!moved) {
      if (distance(point, start) < STEADY) return;
      // Captured only once it moves: the click of a pointer that did not move goes to what is below it.
      moved = true;
      element.setPointerCapture(event.pointerId);
      handlers.hover?.(null);
      Object.assign(last, start);
    }
    if (pointers.size > 1) pinch(event.pointerId, last, point);
    else if (thing) handlers.drag(thing, point);
    else handlers.pan(point.x - last.x, point.y - last.y);
    pointers.set(event.pointerId, point);
  }

  function pinch(id, last, point) {
    const other = [...pointers].find(([each]) => each !== id)[1];
    const middle = (one) => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
    const [before, after] = [middle(last), middle(point)];
    handlers.pan(after.x - before.x, after.y - before.y);
    handlers.zoom(Math.max(1, distance(point, other)) / Math.max(1, distance(last, other)), after);
  }

  function up(event, deliberate) {
    if (!pointers.delete(event.pointerId) || pointers.size) return;
    letGo();
    if (!deliberate || moved) return;
    const [point, time] = [pointOf(event), event.timeStamp];
    const twice = lastTap && time - lastTap.time < TWICE.time && distance(point, lastTap.point) < TWICE.distance;
    lastTap = twice ? null : { point, time };
    if (twice) handlers.doubleTap?.(point);
    else handlers.tap?.(point);
  }

  function letGo() {
    if (thing && moved) handlers.drop?.(thing);
    thing = null;
  }

  function leave(event) {
    if (element.hasPointerCapture(event.pointerId)) return;
    up(event, false);
    handlers.hover?.(null);
  }

  function wheel(event) {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    // A pinch on a touchpad comes as a wheel with Ctrl, in small steps.
    if (event.ctrlKey) handlers.zoom(Math.exp(-dy * 0.01), pointOf(event));
    else if (handlers.wheel === "pan") handlers.pan(-dx, -dy);
    else handlers.zoom(Math.exp(-dy * 0.002), pointOf(event));
  }

  const does = { pointerdown: down, pointermove: move, pointerup: (event) => up(event, true), pointercancel: (event) => up(event, false), pointerleave: leave };
  for (const [type, listener] of Object.entries(does)) element.addEventListener(type, listener);
  element.addEventListener("wheel", wheel, { passive: false });
  element.style.touchAction = "none";
}

const distance = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);
