// Names that stand away from what they name: where they are tried, and the line to them.

/** Directions and distances, the nearest first: { away, across, down }, the last two of a vector of length 1. */
export function* ways({ nearest, farthest, step, directions }) {
  for (let away = nearest; away <= farthest; away += step) {
    for (let turn = 0; turn < directions; turn += 1) {
      const angle = (turn * 2 * Math.PI) / directions;
      yield { away, across: Math.cos(angle), down: Math.sin(angle) };
    }
  }
}

/** The line between two points of the view; `alpha`: how opaque it is. */
export function paintLine(context, from, to, theme, alpha) {
  context.globalAlpha = alpha;
  context.strokeStyle = theme.quiet;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
  context.stroke();
}
