// What people do with mouse, pen and fingers on a picture: drag, pan, pinch, turn the wheel, tap, tap twice.

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
