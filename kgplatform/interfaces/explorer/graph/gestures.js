// What people do with mouse, pen and fingers on a picture: drag, pan, pinch, turn the wheel, tap, tap twice.

const STEADY = 4;
const TWICE = { time: 350, distance: 14 };
const LINE = 16;

/**
 * Tell `handlers` what is done on `element`; points are pixels from its upper left corner. Returns a function that ends it.
 *
 * `grab(point)`: what lies there to be dragged, or null; then `drag(thing, point)` and `drop(thing)`.
 * `pan(dx, dy)`, `zoom(factor, point)`, `tap(point)`, `doubleTap(point)`, `hover(pointOrNull)`.
 * `wheel`: what the wheel does without Ctrl, "zoom" or "pan". All but `pan` and `zoom` may be left out.
 */
export function trackGestures(element, handlers) {
  const gestures = new Gestures(element, handlers);
  const ended = new AbortController();
  const on = (type, does, options) => element.addEventListener(type, does, { signal: ended.signal, ...options });
  on("pointerdown", (event) => gestures.down(event));
  on("pointermove", (event) => gestures.move(event));
  on("pointerup", (event) => gestures.up(event, true));
  on("pointercancel", (event) => gestures.up(event, false));
  on("pointerleave", (event) => gestures.leave(event));
  on("wheel", (event) => gestures.wheel(event), { passive: false });
  element.style.touchAction = "none";
  return () => ended.abort();
}

class Gestures {
  constructor(element, handlers) {
    this.element = element;
    this.handlers = handlers;
    this.pointers = new Map();
    this.thing = null;
    this.moved = false;
    this.lastTap = null;
  }

  #point(event) {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  down(event) {
    if (event.button !== 0) return;
    const point = this.#point(event);
    this.pointers.set(event.pointerId, point);
    if (this.pointers.size === 1) {
      this.start = point;
      this.moved = false;
      this.thing = this.handlers.grab?.(point) ?? null;
    } else {
      this.#letGo();
      this.moved = true;
    }
  }

  move(event) {
    const point = this.#point(event);
    const last = this.pointers.get(event.pointerId);
    if (!last) return this.handlers.hover?.(point);
    if (!this.moved && distance(point, this.start) < STEADY) return undefined;
    if (!this.moved) this.#begin(event, last);
    if (this.pointers.size > 1) this.#pinch(event.pointerId, last, point);
    else if (this.thing) this.handlers.drag(this.thing, point);
    else this.handlers.pan(point.x - last.x, point.y - last.y);
    this.pointers.set(event.pointerId, point);
    return undefined;
  }

  // Captured only once it moves: the click of a pointer that did not move goes to what is below it.
  #begin(event, last) {
    this.moved = true;
    this.element.setPointerCapture(event.pointerId);
    this.handlers.hover?.(null);
    Object.assign(last, this.start);
  }

  #pinch(id, last, point) {
    const other = [...this.pointers].find(([each]) => each !== id)[1];
    const middle = (one) => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
    const [before, after] = [middle(last), middle(point)];
    this.handlers.pan(after.x - before.x, after.y - before.y);
    this.handlers.zoom(Math.max(1, distance(point, other)) / Math.max(1, distance(last, other)), after);
  }

  up(event, deliberate) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (this.pointers.size) return;
    this.#letGo();
    if (deliberate && !this.moved) this.#tapped(this.#point(event), event.timeStamp);
  }

  leave(event) {
    if (this.element.hasPointerCapture(event.pointerId)) return;
    this.up(event, false);
    this.handlers.hover?.(null);
  }

  #letGo() {
    if (this.thing && this.moved) this.handlers.drop?.(this.thing);
    this.thing = null;
  }

  #tapped(point, time) {
    const last = this.lastTap;
    const twice = last && time - last.time < TWICE.time && distance(point, last.point) < TWICE.distance;
    this.lastTap = twice ? null : { point, time };
    if (twice) this.handlers.doubleTap?.(point);
    else this.handlers.tap?.(point);
  }

  wheel(event) {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    // A pinch on a touchpad comes as a wheel with Ctrl, in small steps.
    if (event.ctrlKey) this.handlers.zoom(Math.exp(-dy * 0.01), this.#point(event));
    else if (this.handlers.wheel === "pan") this.handlers.pan(-dx, -dy);
    else this.handlers.zoom(Math.exp(-dy * 0.002), this.#point(event));
  }
}

function distance(one, other) {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
