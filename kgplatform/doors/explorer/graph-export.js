// A picture of the graph to keep.

import { Labels } from "./graph-labels.js";
import { paintScene } from "./graph-painter.js";

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
