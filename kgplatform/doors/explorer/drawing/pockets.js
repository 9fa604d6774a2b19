// A place for each of some circles, one after the other: the free pocket beside two others that is nearest to its wish.
//
// Written out with numbers in arrays, since what is here is done a million times for ten thousand entities.

/** How much what a circle is joined to draws it, beside the middle of all. */
const PULL = 0.35;
const TOUCH = 1e-6;

/** Give `circles` ({ x, y, r }) places in this `order`. `joined`: of each circle what it is joined to: number, share, number … */
export function fit(circles, order, joined) {
  const field = new Field(circles, order);
  order.forEach((at, turn) => field.put(at, turn, joined[at]));
  for (const at of order) [circles[at].x, circles[at].y] = [field.x[at], field.y[at]];
}

class Field {
  constructor(circles, order) {
    this.x = new Float64Array(order.length);
    this.y = new Float64Array(order.length);
    this.r = Float64Array.from(circles, ({ r }) => r);
    /** How far each placed circle is, squared, from the wish of the next one, less both radii: nothing that touches it is nearer. */
    this.away = new Float64Array(order.length);
    this.isPlaced = new Uint8Array(order.length);
    this.placed = [];
    /** Beside `one` and `other`, on one `side`. `x`, `y`: where the smallest circle to come lies in it, unless it `isWide`:
     * then only circles of the radius `least` touch both. */
    this.pockets = [];
    /** The middle of all that is placed, and its area; where a circle is tried; and the best place until then. */
    this.middle = new Float64Array(3);
    this.spot = new Float64Array(2);
    this.found = new Float64Array(2);
    this.#lookAhead(order);
  }

  /** The radii of the smallest and the largest circle that are still to come, at each turn and after the last. */
  #lookAhead(order) {
    this.least = new Float64Array(order.length + 1).fill(Infinity);
    this.most = new Float64Array(order.length + 1);
    for (let turn = order.length - 1; turn >= 0; turn -= 1) {
      this.least[turn] = Math.min(this.least[turn + 1], this.r[order[turn]]);
      this.most[turn] = Math.max(this.most[turn + 1], this.r[order[turn]]);
    }
  }

  put(at, turn, joined) {
    this.#find(this.r[at], joined);
    const x = this.spot[0];
    const y = this.spot[1];
    this.x[at] = x;
    this.y[at] = y;
    const smallest = this.least[turn + 1];
    const largest = this.most[turn + 1];
    if (largest) {
      this.#forgetFilled(at, smallest, largest);
      this.#addPockets(at, smallest, largest);
    }
    this.placed.push(at);
    this.isPlaced[at] = 1;
    const area = this.r[at] * this.r[at];
    const { middle } = this;
    middle[2] += area;
    middle[0] += ((x - middle[0]) * area) / middle[2];
    middle[1] += ((y - middle[1]) * area) / middle[2];
  }

  /** Where a circle of the radius `r` goes: into `spot`. */
  #find(r, joined) {
    const { placed, spot } = this;
    if (placed.length < 2) {
      const [first] = placed;
      spot[0] = placed.length ? this.x[first] + this.r[first] + r : 0;
      spot[1] = 0;
      return;
    }
    this.#wish(joined);
    this.#findNear(r, spot[0], spot[1]);
  }

  /** Between what a circle is joined to and the middle of all: into `spot`. */
  #wish(joined) {
    const { middle, spot } = this;
    let x = 0;
    let y = 0;
    let sum = 0;
    for (let at = 0; at < joined.length; at += 2) {
      const other = joined[at];
      if (!this.isPlaced[other]) continue;
      const share = joined[at + 1];
      x += share * this.x[other];
      y += share * this.y[other];
      sum += share;
    }
    spot[0] = sum ? PULL * (x / sum) + (1 - PULL) * middle[0] : middle[0];
    spot[1] = sum ? PULL * (y / sum) + (1 - PULL) * middle[1] : middle[1];
  }

  /** The free pocket that is nearest to a wish: into `spot`. */
  #findNear(r, x, y) {
    const { pockets, placed, away } = this;
    for (let place = 0; place < placed.length; place += 1) {
      const at = placed[place];
      const dx = this.x[at] - x;
      const dy = this.y[at] - y;
      const least = Math.sqrt(dx * dx + dy * dy) - this.r[at] - r;
      away[at] = least * least;
    }
    // With a good one to begin with, nearly all others are left out by how far the circles beside them are.
    const first = this.#nearestPocket(x, y);
    let nearest = first ? this.#look(first, r, x, y, Infinity) : Infinity;
    for (let at = 0; at < pockets.length; at += 1) {
      const pocket = pockets[at];
      if (pocket.least > r || away[pocket.one] >= nearest || away[pocket.other] >= nearest || pocket === first) continue;
      nearest = this.#look(pocket, r, x, y, nearest);
    }
    this.spot.set(this.found);
  }

  #nearestPocket(x, y) {
    let found = null;
    let nearest = Infinity;
    for (let at = 0; at < this.pockets.length; at += 1) {
      const pocket = this.pockets[at];
      const dx = pocket.x - x;
      const dy = pocket.y - y;
      const away = dx * dx + dy * dy;
      if (away >= nearest || pocket.isWide) continue;
      nearest = away;
      found = pocket;
    }
    return found;
  }

  /** How far a circle in a pocket is from a wish, squared, if it has room there and that is less than `nearest`. */
  #look({ one, other, side }, r, x, y, nearest) {
    const { spot } = this;
    if (!this.#besideBoth(one, other, side, r)) return nearest;
    const dx = spot[0] - x;
    const dy = spot[1] - y;
    const away = dx * dx + dy * dy;
    if (away >= nearest || !this.#isFree(r, this.placed)) return nearest;
    this.found.set(spot);
    return away;
  }

  /** Note the pockets beside a circle and each of those around it. */
  #addPockets(at, smallest, largest) {
    const { x, y, r, placed, pockets, spot } = this;
    const near = [];
    for (let place = 0; place < placed.length; place += 1) {
      const one = placed[place];
      const dx = x[one] - x[at];
      const dy = y[one] - y[at];
      const apart = dx * dx + dy * dy;
      const radii = r[one] + r[at];
      if (apart <= (radii + 2 * smallest) * (radii + 2 * smallest)) near.push(one);
      else if (apart < (radii + 2 * largest) * (radii + 2 * largest)) this.#addWide(one, at, (Math.sqrt(apart) - radii) / 2);
    }
    for (const one of near) {
      for (let side = 1; side >= -1; side -= 2) {
        if (!this.#besideBoth(one, at, side, smallest) || !this.#isFree(smallest, near)) continue;
        pockets.push({ one, other: at, side, x: spot[0], y: spot[1], least: smallest, isWide: false });
      }
    }
  }

  #addWide(one, other, least) {
    for (let side = 1; side >= -1; side -= 2) this.pockets.push({ one, other, side, x: NaN, y: NaN, least, isWide: true });
  }

  /** Leave out the pockets in which, beside a new circle, not even the smallest has room, and those that are too wide for all. */
  #forgetFilled(at, smallest, largest) {
    const { pockets } = this;
    const x = this.x[at];
    const y = this.y[at];
    const reach = (this.r[at] + smallest) * (1 - TOUCH);
    let kept = 0;
    for (let place = 0; place < pockets.length; place += 1) {
      const pocket = pockets[place];
      const dx = pocket.x - x;
      const dy = pocket.y - y;
      const isOpen = pocket.isWide ? pocket.least <= largest : dx * dx + dy * dy >= reach * reach;
      if (isOpen) pockets[kept++] = pocket;
    }
    pockets.length = kept;
  }

  /** Where a circle touches two others, on one side of them: into `spot`; false where they are too far apart. */
  #besideBoth(one, other, side, r) {
    const x = this.x[one];
    const y = this.y[one];
    const dx = this.x[other] - x;
    const dy = this.y[other] - y;
    const apart = Math.sqrt(dx * dx + dy * dy);
    const near = this.r[one] + r;
    const far = this.r[other] + r;
    if (apart > near + far) return false;
    const along = (apart * apart + near * near - far * far) / (2 * apart);
    const across = side * Math.sqrt(Math.max(0, near * near - along * along));
    this.spot[0] = x + (along * dx - across * dy) / apart;
    this.spot[1] = y + (along * dy + across * dx) / apart;
    return true;
  }

  /** Whether a circle at `spot` overlaps none of some. */
  #isFree(r, others) {
    const { x, y, r: radii, spot } = this;
    const left = spot[0];
    const top = spot[1];
    for (let place = 0; place < others.length; place += 1) {
      const at = others[place];
      const dx = x[at] - left;
      const dy = y[at] - top;
      const reach = (radii[at] + r) * (1 - TOUCH);
      if (dx * dx + dy * dy < reach * reach) return false;
    }
    return true;
  }
}
