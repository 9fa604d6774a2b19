// Where a picture is looked at from: the point of the world in the middle of the view, and pixels per unit of the world.

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
