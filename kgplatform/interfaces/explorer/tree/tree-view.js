// The knowledge tree as a picture that unfolds: SVG, moved like the graph, walked through by keys as trees are.

import { Camera, eased, prefersStill, trackGestures } from "../graph/camera.js";
import { THEMES } from "../graph/painter.js";
import { Drawing, ROW } from "./tree-drawing.js";

const COLUMN = 264;
const MOVING = 220;
/** More than so many do not move to their places: they are there. */
const MOST_MOVING = 400;
/** Pixels between the picture's first column and the view's edge, and room around what is brought into view. */
const EDGE = 40;
const ROOM = 24;
/** Milliseconds within which letters belong to one name, and by how much a key zooms. */
const TYPING = 600;
const ZOOM = 1.4;

export class TreeView {
  /**
   * Fills `container`, which must have a size of its own.
   *
   * `load(idOrNull, skip, limit)`: a promise of the TreeNodes below a node, or of the outermost. `onSelect(treeNode)`: a person
   * chose it. `theme`: "light" or "dark".
   */
  constructor(container, { load, onSelect, theme = "light" }) {
    Object.assign(this, { container, load, onSelect, current: null, selected: null, frame: null, typed: { text: "", at: -Infinity } });
    this.camera = new Camera({ least: 0.1, most: 3 });
    this.drawing = new Drawing(container);
    const { svg } = this.drawing;
    svg.addEventListener("click", (event) => this.#clicked(event));
    svg.addEventListener("focusin", ({ target }) => this.#arrived(this.drawing.branchOf(target)));
    svg.addEventListener("keydown", (event) => this.#keyed(event));
    const pan = (dx, dy) => this.#look(() => this.camera.pan(dx, dy));
    const zoom = (factor, point) => this.#look(() => this.camera.zoom(factor, point));
    trackGestures(svg, { wheel: "pan", pan, zoom });
    new ResizeObserver(() => this.#resized()).observe(svg);
    this.#resized();
    this.setTheme(theme);
    this.refresh();
  }

  /** Load all again: folded, seen from its beginning; or with `keeps` as it stands, as far as it is still there. */
  async refresh({ keeps = false } = {}) {
    const before = keeps ? { ...this } : {};
    const branches = new Branches(this.load, () => branches === this.branches && this.#changed());
    if (keeps) await branches.openAs(before.branches.root);
    if (keeps && before.branches !== this.branches) return; // it was loaded again meanwhile
    const now = (was) => branches.visible().find(({ node }) => node && node.id === was?.node?.id) ?? null;
    Object.assign(this, { branches, current: now(before.current), selected: now(before.selected), anchor: null, isNew: !keeps });
    await branches.open(branches.root);
  }

  /** "light" or "dark". */
  setTheme(theme) {
    this.drawing.setTheme(THEMES[theme]);
    if (this.branches) this.#changed();
  }

  /** Open the way to a node, whose `ids` lead from the top to it, and choose it. Returns whether it is in the tree. */
  async reveal(ids) {
    const { branches } = this;
    const branch = await branches.openTo(ids);
    if (!branch || branches !== this.branches) return false;
    this.#goTo(branch);
    this.#activate(branch);
    return true;
  }

  // Something was loaded, opened or closed: all find their places, and what the person is at stays where it is.
  #changed() {
    const visible = this.branches.visible();
    if (!visible.includes(this.current)) this.current = visible[0] ?? null;
    const before = this.anchor?.at;
    placeRows(this.branches.root);
    const shift = before && visible.includes(this.anchor) ? before.y - this.anchor.to.y : 0;
    for (const branch of [this.branches.root, ...visible]) branch.to.y += shift;
    for (const branch of visible) branch.from = branch.at ?? branch.parent.at ?? branch.to;
    this.branches.root.at = this.branches.root.to;
    this.drawing.draw(this.branches, { current: this.current, selected: this.selected });
    if (this.isNew && visible.length) this.#stand(visible);
    this.journey = { start: performance.now(), visible, still: prefersStill() || visible.length > MOST_MOVING };
    this.#step(performance.now());
  }

  // At first the outermost column stands at the edge, from its top if not all of it fits.
  #stand(visible) {
    this.isNew = false;
    const box = boxOf(visible);
    const { width, height } = this.camera;
    const fits = box.bottom - box.top < height - 2 * EDGE;
    const top = fits ? (box.top + box.bottom) / 2 : box.top - EDGE + height / 2;
    this.camera.goTo({ x: width / 2 - EDGE, y: top, k: 1 }, { smooth: false });
  }

  #resized() {
    const { clientWidth: width, clientHeight: height } = this.container;
    const wasUnseen = this.camera.width <= 1;
    Object.assign(this.camera, { width: Math.max(1, width), height: Math.max(1, height) });
    if (wasUnseen && this.branches?.visible().length) this.#stand(this.branches.visible());
    else if (this.current?.to && this.drawing.tree.contains(document.activeElement)) this.#bringIntoView([this.current]);
    this.#look();
  }

  #look(move = () => {}) {
    move();
    this.frame ??= requestAnimationFrame((now) => {
      this.frame = null;
      this.#step(now);
    });
  }

  #step(now) {
    this.camera.step(now);
    if (this.journey) this.#move(now);
    this.drawing.look(this.camera);
    if (this.camera.journey || this.journey) this.#look();
  }

  #move(now) {
    const { start, visible, still } = this.journey;
    const part = still ? 1 : eased(Math.min(1, Math.max(0, (now - start) / MOVING)));
    for (const branch of visible) {
      const { from, to } = branch;
      branch.at = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
    }
    this.drawing.place(visible);
    if (part >= 1) this.journey = null;
  }

  async #toggle(branch, open = !branch.open) {
    if (!branch.mayOpen || branch.open === open) return;
    this.anchor = branch;
    if (!open) return this.branches.close(branch);
    await this.branches.open(branch);
    if (!this.branches.visible().includes(branch)) return;
    // A branch stands beside the first of what is below it: of that as much as fits comes into view, and where both have no
    // room next to each other, what came.
    const { width, height, k } = this.camera;
    const beside = branch.below.filter(({ to }) => to.y - branch.to.y < height / k - 2 * ROW);
    this.#bringIntoView(width / k > 2 * COLUMN || !beside.length ? [branch, ...beside] : beside);
  }

  #clicked(event) {
    const branch = this.drawing.branchOf(event.target);
    if (!branch) return;
    this.#goTo(branch);
    this.#activate(branch);
    this.#toggle(branch);
  }

  async #activate(branch) {
    if (branch.line) {
      this.anchor = branch.parent;
      const next = await this.branches.follow(branch);
      if (next) this.#goTo(next);
      return;
    }
    this.selected = branch;
    this.drawing.mark({ current: this.current, selected: branch });
    this.onSelect(branch.node);
  }

  // The keyboard is here, perhaps by another way than by a key of the tree.
  #arrived(branch) {
    this.current = branch;
    this.drawing.mark({ current: branch, selected: this.selected });
  }

  #goTo(branch) {
    if (!branch) return;
    this.#arrived(branch);
    this.drawing.focus(branch);
    this.#bringIntoView([branch]);
  }

  // No further than needed; of what is too large, its beginning.
  #bringIntoView(list) {
    const box = boxOf(list);
    const { camera } = this;
    const k = camera.journey?.to.k ?? camera.k;
    const [across, down] = [camera.width / 2 / k - ROOM / k, camera.height / 2 / k - ROOM / k];
    const x = Math.min(box.left + across, Math.max(camera.x, box.right - across));
    const y = Math.min(box.top + down, Math.max(camera.y, box.bottom - down));
    if (x !== camera.x || y !== camera.y) this.#look(() => camera.goTo({ x, y, k }));
  }

  #keyed(event) {
    if (event.altKey || event.metaKey || event.ctrlKey || !this.current) return;
    if (!this.#walked(event.key) && !this.#typed(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #walked(key) {
    const { current } = this;
    const visible = this.branches.visible();
    const place = visible.indexOf(current);
    const does = {
      ArrowDown: () => this.#goTo(visible[place + 1]),
      ArrowUp: () => this.#goTo(visible[place - 1]),
      ArrowRight: () => (current.open ? this.#goTo(current.below[0]) : this.#toggle(current, true)),
      ArrowLeft: () => (current.open ? this.#toggle(current, false) : current.level > 1 && this.#goTo(current.parent)),
      Home: () => this.#goTo(visible[0]),
      End: () => this.#goTo(visible.at(-1)),
      Enter: () => this.#activate(current),
      " ": () => (this.#activate(current), this.#toggle(current)),
      "*": () => current.parent.below.forEach((each) => this.#toggle(each, true)),
      "+": () => this.#look(() => this.camera.glideZoom(ZOOM)),
      "-": () => this.#look(() => this.camera.glideZoom(1 / ZOOM)),
    };
    if (!Object.hasOwn(does, key)) return false;
    does[key]();
    return true;
  }

  #typed({ key, timeStamp }) {
    if ([...key].length !== 1) return false;
    const text = timeStamp - this.typed.at < TYPING ? this.typed.text + key : key;
    this.typed = { text, at: timeStamp };
    // The first branch after this one (then from the top) whose name begins with what was typed.
    const visible = this.branches.visible();
    const start = visible.indexOf(this.current) + (text.length === 1 ? 1 : 0);
    const round = [...visible.slice(start), ...visible.slice(0, start)];
    this.#goTo(round.find(({ name }) => name.toLocaleLowerCase().startsWith(text.toLocaleLowerCase())));
    return true;
  }
}

/** Each branch is on the line of the first one below it, so that what is opened begins beside it. */
function placeRows(root) {
  let row = 0;
  const put = (branch) => {
    branch.to = { x: (branch.level - 1) * COLUMN, y: row * ROW };
    const { below } = branch;
    below.forEach(put);
    if (!below.length) row += 1;
  };
  put(root);
}

/** The rectangle of branches where they are to be. */
function boxOf(list) {
  const [xs, ys] = [list.map(({ to }) => to.x), list.map(({ to }) => to.y)];
  return {
    left: Math.min(...xs) - ROW / 2,
    right: Math.max(...xs) + COLUMN - ROW,
    top: Math.min(...ys) - ROW / 2,
    bottom: Math.max(...ys) + ROW / 2,
  };
}

/** Children that are loaded at once, and while one of them is looked for. */
const PAGE = 100;
const LOOKED_THROUGH = 2000;

/**
 * A node of the tree, or a line in its place: `more` offers further ones, `failed` another try.
 *
 * `children` is null as long as nobody asked for them; `hasMore`: the server has others. `at` is where it is drawn.
 */
class Branch {
  constructor(node, parent, line = null) {
    Object.assign(this, { node, parent, line, children: null, hasMore: false, open: false, busy: false, at: null });
    this.level = parent ? parent.level + 1 : 0;
  }

  get mayOpen() {
    return !this.line && (this.children ? this.children.length > 0 : (this.node?.children ?? 0) > 0);
  }

  /** What is seen below it, with the lines that stand for what is not. */
  get below() {
    if (!this.open || !this.children) return [];
    this.offer ??= new Branch(null, this, "more");
    return this.hasMore ? [...this.children, this.offer] : this.children;
  }

  get name() {
    if (this.line === "failed") return "Not loaded. Try again";
    if (this.line !== "more") return this.node.name;
    const { node, children } = this.parent;
    const rest = (node?.children ?? 0) - children.length;
    return rest > 0 ? `Show ${Math.min(PAGE, rest)} more of ${rest}` : `Show ${PAGE} more`;
  }
}

/** The tree behind its picture: which branches are known, which are open, and in which order they come. */
class Branches {
  /** `load(idOrNull, skip, limit)`: the nodes below one, or the outermost; `changed()`: called when there is something new to draw. */
  constructor(load, changed) {
    Object.assign(this, { load, changed });
    this.root = new Branch(null, null);
    this.root.open = true;
  }

  /** Load what is below a branch, and open it. What fails is told by a line in its place. */
  async open(branch) {
    if (branch.busy) return;
    branch.open = true;
    if (!branch.children) {
      branch.busy = true;
      this.changed();
      branch.children = await this.#loaded(branch, 0);
      branch.busy = false;
    }
    this.changed();
  }

  /** Open what is open below `other`, a branch of an earlier tree; `mine` is what it is in this one. */
  async openAs(other, mine = this.root) {
    await this.open(mine);
    for (const was of other.children ?? []) {
      const now = was.open && mine.children.find(({ node }) => node && node.id === was.node?.id);
      if (now) await this.openAs(was, now);
    }
  }

  async #loaded(branch, skip, size = PAGE) {
    try {
      const nodes = await this.load(branch.node?.id ?? null, skip, size + 1);
      branch.hasMore = nodes.length > size;
      return nodes.slice(0, size).map((node) => new Branch(node, branch));
    } catch (fault) {
      const line = new Branch(null, branch, "failed");
      line.reason = fault.message;
      branch.hasMore = false;
      return [line];
    }
  }

  /** Load the next children of a branch, which has more. Returns the first of them. */
  async #more(branch, size = PAGE) {
    if (branch.busy) return null;
    branch.busy = true;
    const next = await this.#loaded(branch, branch.children.length, size);
    branch.children.push(...next);
    branch.busy = false;
    this.changed();
    return next[0];
  }

  /** Open the way to a node: `ids` from the top down to it. Returns its branch, or null where it is not in the tree. */
  async openTo(ids) {
    let branch = this.root;
    for (const id of ids) {
      await this.open(branch);
      let child = branch.children.find(({ node }) => node?.id === id);
      while (!child && branch.hasMore && (await this.#more(branch, LOOKED_THROUGH))) child = branch.children.find(({ node }) => node?.id === id);
      if (!child) return null;
      branch = child;
    }
    return branch;
  }

  close(branch) {
    branch.open = false;
    this.changed();
  }

  /** Do what a line offers: show more, or try again. Returns the branch that comes in its place, if one does. */
  async follow(line) {
    const { parent } = line;
    if (line.line === "more") return this.#more(parent);
    const known = parent.children.length - 1; // the line itself is the last
    parent.children.pop();
    if (known) return this.#more(parent);
    parent.children = null;
    await this.open(parent);
    return parent.below[0];
  }

  /** All that is seen, from top to bottom. */
  visible() {
    const list = [];
    const walk = (branch) => branch.below.forEach((each) => (list.push(each), walk(each)));
    walk(this.root);
    return list;
  }
}
