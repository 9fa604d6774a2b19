// What of a view is taken by words and nodes, in squares: to ask for a place costs the same however much is taken.

const SIDE = 48;

export class Room {
  constructor({ width, height }) {
    this.width = width;
    this.height = height;
    this.columns = Math.ceil(width / SIDE) + 1;
    this.rows = Math.ceil(height / SIDE) + 1;
    this.squares = [];
  }

  /** `box`: { left, right, top, bottom } in pixels; `owner`: who asks for a place is not in its own way. */
  take({ left, right, top, bottom }, owner = null) {
    const taken = { left, right, top, bottom, owner };
    const [firstRow, firstColumn, lastRow, lastColumn] = this.#touched(taken);
    for (let row = firstRow; row <= lastRow; row += 1) {
      for (let column = firstColumn; column <= lastColumn; column += 1) (this.squares[row * this.columns + column] ??= []).push(taken);
    }
  }

  isFree(box, owner) {
    if (box.left < 0 || box.top < 0 || box.right > this.width || box.bottom > this.height) return false;
    const [firstRow, firstColumn, lastRow, lastColumn] = this.#touched(box);
    for (let row = firstRow; row <= lastRow; row += 1) {
      for (let column = firstColumn; column <= lastColumn; column += 1) {
        const square = this.squares[row * this.columns + column];
        if (square && isTaken(square, box, owner)) return false;
      }
    }
    return true;
  }

  #touched({ left, right, top, bottom }) {
    const first = (from) => Math.max(0, Math.floor(from / SIDE));
    return [first(top), first(left), Math.min(this.rows - 1, Math.floor(bottom / SIDE)), Math.min(this.columns - 1, Math.floor(right / SIDE))];
  }
}

function isTaken(square, { left, right, top, bottom }, owner) {
  for (let at = 0; at < square.length; at += 1) {
    const other = square[at];
    if (other.left < right && left < other.right && other.top < bottom && top < other.bottom && other.owner !== owner) return true;
  }
  return false;
}

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
