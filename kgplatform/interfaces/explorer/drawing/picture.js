// A large graph is drawn in slices to a picture beside the screen. While people pan and zoom, that picture moves, and a
// new one is drawn; so a frame takes about as long with ten thousand nodes as with ten.

import { Camera } from "./camera.js";
import { paintScene } from "./painter.js";
import { Labels } from "./labels.js";

/** Part of the view that the picture has more on each side, so that panning does not show its end at once. */
const MARGIN = 0.2;
/** Milliseconds of a frame for drawing: with something on the screen, and with nothing yet. */
const SLICE = 10;
const FIRST_SLICE = 32;

export class Picture {
  constructor() {
    this.shown = null;
    this.work = null;
  }

  /** Forget what was drawn: it is of another graph. */
  clear() {
    this.shown = null;
    this.work = null;
  }

  get busy() {
    return this.work !== null;
  }

  /** Put the picture on the canvas as the camera sees it, then draw on at a new one if this one is out of date. */
  paint(context, scene, camera, theme, density) {
    this.#begin(scene, camera, theme, density);
    if (this.work) this.#draw(this.shown ? SLICE : FIRST_SLICE);
    put(context, this.shown ?? this.work, camera);
    // The camera may have gone on since what is done now was begun.
    this.#begin(scene, camera, theme, density);
  }

  #begin(scene, camera, theme, density) {
    const isOf = (sheet) => sheet && sheet.version === scene.version && sheet.theme === theme && sheet.density === density;
    if (this.work && isOf(this.work)) return;
    this.work = null;
    if (isOf(this.shown) && covers(this.shown.camera, camera)) return;
    const sheet = newSheet(camera, density);
    const steps = paintScene(sheet.context, scene, sheet.camera, theme);
    this.work = { ...sheet, steps, version: scene.version, theme, density };
  }

  #draw(budget) {
    const end = performance.now() + budget;
    let step;
    do {
      step = this.work.steps.next();
      // Browsers put drawing off until someone looks: this look makes the clock tell the truth.
      this.work.context.getImageData(0, 0, 1, 1);
    } while (!step.done && performance.now() < end);
    if (!step.done) return;
    this.shown = this.work;
    this.work = null;
  }
}

function newSheet(camera, density) {
  const wider = Object.assign(new Camera(), { x: camera.x, y: camera.y, k: camera.k });
  wider.width = Math.ceil(camera.width * (1 + 2 * MARGIN));
  wider.height = Math.ceil(camera.height * (1 + 2 * MARGIN));
  const canvas = document.createElement("canvas");
  canvas.width = wider.width * density;
  canvas.height = wider.height * density;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.scale(density, density);
  return { canvas, context, camera: wider };
}

function covers(sheet, camera) {
  if (sheet.k !== camera.k) return false;
  const [across, down] = [Math.abs(sheet.x - camera.x) * camera.k, Math.abs(sheet.y - camera.y) * camera.k];
  return across <= (sheet.width - camera.width) / 2 && down <= (sheet.height - camera.height) / 2;
}

function put(context, { canvas, camera: drawn }, camera) {
  const scale = camera.k / drawn.k;
  const { x, y } = camera.toScreen(drawn);
  const [width, height] = [drawn.width * scale, drawn.height * scale];
  context.drawImage(canvas, x - width / 2, y - height / 2, width, height);
}

const FINER = 2;

/** What a GraphView shows, with its background, at twice the size: a promise of a PNG as a Blob. */
export function pictureOf(view) {
  const { camera, scene, theme, marks } = view;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: camera.width * FINER, height: camera.height * FINER });
  const context = canvas.getContext("2d");
  context.scale(FINER, FINER);
  context.globalAlpha = marks.restAlpha;
  for (const _ of paintScene(context, scene, camera, theme));
  context.globalAlpha = 1;
  view.paintMarked(context);
  new Labels().paint(context, scene, camera, theme, marks, { moving: false, now: 0 });
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, camera.width, camera.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
