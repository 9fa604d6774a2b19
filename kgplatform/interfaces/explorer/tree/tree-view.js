// The knowledge tree as a picture that unfolds: SVG, moved like the graph, walked through by keys as trees are.

import { typeColor } from "../shared/colors.js";
import { Camera, eased, prefersStill } from "../graph/camera.js";
import { trackGestures } from "../graph/gestures.js";
import { THEMES } from "../graph/painter.js";
import { Branches, typedAhead } from "./tree-branches.js";
import { Drawing, ROW } from "./tree-drawing.js";

const COLUMN = 264;
const MOVING = 220;
/** More than so many do not move to their places: they are there. */
const MOST_MOVING = 400;
/** Pixels between the picture's first column and the view's edge, and room around what is brought into view. */
const EDGE = 40;
const ROOM = 24;
const TYPING = 600;

export class TreeView {
  /**
   * Fills `container`, which must have a size of its own.
   *
   * `load(idOrNull, skip, limit)`: a promise of the TreeNodes below a node, or of the outermost. `onSelect(treeNode)`: a person
   * chose it.
   */
  constructor(container, { load, onSelect = () => {} }) {
    Object.assign(this, { container, load, onSelect });
    this.camera = new Camera({ least: 0.1, most: 3 });
    this.drawing = new Drawing(container);
    this.current = null;
    this.selected = null;
    this.frame = null;
    this.typed = { text: "", at: -Infinity };
    this.ended = new AbortController();
    const { signal } = this.ended;
    const { svg } = this.drawing;
    svg.addEventListener("click", (event) => this.#clicked(event), { signal });
    svg.addEventListener("focusin", (event) => this.#arrived(event), { signal });
    svg.addEventListener("keydown", (event) => this.#keyed(event), { signal });
    const pan = (dx, dy) => this.#look(() => this.camera.pan(dx, dy));
    const zoom = (factor, point) => this.#look(() => this.camera.zoom(factor, point));
    this.endGestures = trackGestures(svg, { wheel: "pan", pan, zoom });
    this.observer = new ResizeObserver(() => this.#resized());
    this.observer.observe(container);
    this.#resized();
    this.setTheme("light");
    this.refresh();
  }

  destroy() {
    this.ended.abort();
    this.endGestures();
    this.observer.disconnect();
    if (this.frame !== null) cancelAnimationFrame(this.frame);
    this.drawing.svg.remove();
  }

  /** Fold all, and load the outermost nodes again. */
  async refresh() {
    const branches = new Branches(this.load, () => branches === this.branches && this.#changed());
    Object.assign(this, { branches, current: null, selected: null, anchor: null, isNew: true });
    await branches.open(branches.root);
  }

  /** "light" or "dark". */
  setTheme(theme) {
    this.theme = THEMES[theme] ?? THEMES.light;
    this.drawing.setTheme(this.theme);
    if (this.branches) this.#changed();
  }

  /** Show the node with this id, if it was loaded, and give it the keyboard. Returns whether it is there. */
  focus(id) {
    const branch = this.branches.find(id);
    if (!branch) return false;
    this.branches.reveal(branch);
    this.#goTo(branch);
    return true;
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

  zoomIn() {
    this.#look(() => this.camera.glideZoom(1.4));
  }

  zoomOut() {
    this.#look(() => this.camera.glideZoom(1 / 1.4));
  }

  fit() {
    const box = boxOf(this.branches.visible());
    if (box) this.#look(() => this.camera.goTo(this.camera.standFor(box, { padding: ROOM, closest: 1 })));
  }

  // -------------------------------------------------------------------------------------------------------- layout

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
    this.drawing.draw(this.branches, { current: this.current, selected: this.selected, colorOf: (node) => this.#colorOf(node) });
    if (this.isNew && visible.length) this.#stand(visible);
    this.journey = { start: performance.now(), visible, still: prefersStill() || visible.length > MOST_MOVING };
    this.#step(performance.now());
  }

  #colorOf({ kind, summary }) {
    return typeColor(kind === "Entity" && summary ? summary : kind);
  }

  // At first the outermost column stands at the edge, from its top if not all of it fits.
  #stand(visible) {
    this.isNew = false;
    const box = boxOf(visible, "to");
    const { width, height } = this.camera;
    const fits = box.bottom - box.top < height - 2 * EDGE;
    const top = fits ? (box.top + box.bottom) / 2 : box.top - EDGE + height / 2;
    this.camera.goTo({ x: width / 2 - EDGE, y: top, k: 1 }, { smooth: false });
    this.placed = true;
  }

  #resized() {
    const { clientWidth: width, clientHeight: height } = this.container;
    const wasUnseen = this.camera.width <= 1;
    Object.assign(this.camera, { width: Math.max(1, width), height: Math.max(1, height) });
    if (wasUnseen && this.branches?.visible().length) this.#stand(this.branches.visible());
    else if (this.current?.to && this.drawing.tree.contains(document.activeElement)) this.#bringIntoView([this.current]);
    this.#refreshFrame();
  }

  #look(move) {
    move();
    this.#refreshFrame();
  }

  #refreshFrame() {
    this.frame ??= requestAnimationFrame((now) => {
      this.frame = null;
      this.#step(now);
    });
  }

  #step(now) {
    this.camera.step(now);
    if (this.journey) this.#move(now);
    this.drawing.look(this.camera);
    if (this.camera.moving || this.journey) this.#refreshFrame();
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

  // -------------------------------------------------------------------------------------------------------- people

  async #toggle(branch, open = !branch.open) {
    if (!branch.mayOpen || branch.open === open) return;
    this.anchor = branch;
    if (!open) return this.branches.close(branch);
    await this.branches.open(branch);
    if (this.branches.visible().includes(branch)) this.#showOpened(branch);
  }

  // A branch stands beside the first of what is below it: of that as much as fits comes into view, and where both have no
  // room next to each other, what came.
  #showOpened(branch) {
    const { width, height, k } = this.camera;
    const beside = branch.below.filter(({ to }) => to.y - branch.to.y < height / k - 2 * ROW);
    const hasRoom = width / k > 2 * COLUMN;
    this.#bringIntoView(hasRoom || !beside.length ? [branch, ...beside] : beside);
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

  // The keyboard came here by another way than by a key of the tree.
  #arrived(event) {
    const branch = this.drawing.branchOf(event.target);
    if (branch === this.current) return;
    this.current = branch;
    this.drawing.mark({ current: branch, selected: this.selected });
  }

  #goTo(branch) {
    if (!branch) return;
    this.current = branch;
    this.drawing.mark({ current: branch, selected: this.selected });
    this.drawing.focus(branch);
    this.#bringIntoView([branch]);
  }

  // No further than needed; of what is too large, its beginning.
  #bringIntoView(list) {
    const box = boxOf(list, "to");
    const { camera } = this;
    const k = camera.journey?.to.k ?? camera.k;
    const [across, down] = [camera.width / 2 / k - ROOM / k, camera.height / 2 / k - ROOM / k];
    const x = Math.min(box.left + across, Math.max(camera.x, box.right - across));
    const y = Math.min(box.top + down, Math.max(camera.y, box.bottom - down));
    if (x !== camera.x || y !== camera.y) this.#look(() => camera.goTo({ x, y, k }));
  }

  #keyed(event) {
    if (event.altKey || event.metaKey || event.ctrlKey || !this.current) return;
    const done = this.#walked(event.key) || this.#typed(event);
    if (!done) return;
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
      "+": () => this.zoomIn(),
      "-": () => this.zoomOut(),
    };
    if (!Object.hasOwn(does, key)) return false;
    does[key]();
    return true;
  }

  #typed({ key, timeStamp }) {
    if ([...key].length !== 1) return false;
    const text = timeStamp - this.typed.at < TYPING ? this.typed.text + key : key;
    this.typed = { text, at: timeStamp };
    const found = typedAhead(this.branches.visible(), this.current, text);
    if (found) this.#goTo(found);
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

function boxOf(list, which = "at") {
  const places = list.map((branch) => branch[which]).filter(Boolean);
  if (!places.length) return null;
  const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
  return {
    left: Math.min(...xs) - ROW / 2,
    right: Math.max(...xs) + COLUMN - ROW,
    top: Math.min(...ys) - ROW / 2,
    bottom: Math.max(...ys) + ROW / 2,
  };
}
