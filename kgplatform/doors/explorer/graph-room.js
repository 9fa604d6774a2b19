// What of a view is taken by words and nodes, in squares: to ask for a place costs the same however much is taken.

const SIDE = 48;

export class Room {
  constructor({ width, height }) {
    Object.assign(this, { width, height, columns: Math.ceil(width / SIDE) + 1, squares: new Map() });
  }

  /** `box`: { left, right, top, bottom } in pixels; `owner`: who asks for a place is not in its own way. */
  take(box, owner = null) {
    const taken = { ...box, owner };
    this.#some(box, (key) => {
      const square = this.squares.get(key);
      if (square) square.push(taken);
      else this.squares.set(key, [taken]);
      return false;
    });
  }

  isFree(box, owner) {
    const isOutside = box.left < 0 || box.top < 0 || box.right > this.width || box.bottom > this.height;
    if (isOutside) return false;
    return !this.#some(box, (key) => this.squares.get(key)?.some((other) => other.owner !== owner && overlap(box, other)));
  }

  /** Whether something holds for one of the squares that a box touches. */
  #some({ left, right, top, bottom }, holds) {
    const [first, last] = [Math.max(0, Math.floor(left / SIDE)), Math.min(this.columns - 1, Math.floor(right / SIDE))];
    const end = Math.min(Math.ceil(this.height / SIDE), Math.floor(bottom / SIDE));
    for (let row = Math.max(0, Math.floor(top / SIDE)); row <= end; row += 1) {
      for (let column = first; column <= last; column += 1) if (holds(row * this.columns + column)) return true;
    }
    return false;
  }
}

function overlap(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
