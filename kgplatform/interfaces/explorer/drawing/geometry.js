// How nodes and edges lie in the world: sizes, curves, distances.

/** Nodes grow and shrink slower than the picture when it is zoomed: by this at `k` pixels per unit. */
export function radiusScale(k) {
  return k < 1 ? k ** 0.7 : Math.sqrt(k);
}

/** The control point of an edge's curve, in the world: of a straight edge its middle. */
export function leaning({ source, target, bend }) {
  const [x, y] = [(source.x + target.x) / 2, (source.y + target.y) / 2];
  if (!bend) return { x, y };
  const [dx, dy] = [target.x - source.x, target.y - source.y];
  const length = Math.hypot(dx, dy) || 1;
  return { x: x - (dy / length) * bend, y: y + (dx / length) * bend };
}

/** The point in the middle of an edge's curve. */
export function middleOf(edge) {
  const { source, target } = edge;
  const lean = leaning(edge);
  return { x: (source.x + 2 * lean.x + target.x) / 4, y: (source.y + 2 * lean.y + target.y) / 4 };
}

/** How far a point of the world is from an edge; Infinity if it is not near. */
export function distanceToEdge(edge, x, y) {
  const { source, target } = edge;
  const reach = Math.abs(edge.bend) + 40;
  if (x < Math.min(source.x, target.x) - reach || x > Math.max(source.x, target.x) + reach) return Infinity;
  if (y < Math.min(source.y, target.y) - reach || y > Math.max(source.y, target.y) + reach) return Infinity;
  if (!edge.bend) return distanceToLine(x, y, source, target);
  const middle = middleOf(edge);
  return Math.min(distanceToLine(x, y, source, middle), distanceToLine(x, y, middle, target));
}

function distanceToLine(x, y, from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const along = ((x - from.x) * dx + (y - from.y) * dy) / (dx * dx + dy * dy || 1);
  const part = Math.min(1, Math.max(0, along));
  return Math.hypot(x - from.x - part * dx, y - from.y - part * dy);
}
