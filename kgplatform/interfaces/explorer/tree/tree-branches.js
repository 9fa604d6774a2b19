// The tree behind its picture: which branches are known, which are open, and in which order they come.

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

export class Branches {
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

  /** The first known branch of a node, wherever it is. */
  find(id) {
    const search = (branch) => {
      for (const child of branch.children ?? []) {
        const found = child.node?.id === id ? child : search(child);
        if (found) return found;
      }
      return null;
    };
    return search(this.root);
  }

  /** Open all that a branch is in, so that it is seen. */
  reveal(branch) {
    for (let child = branch; child.parent; child = child.parent) child.parent.open = true;
    this.changed();
  }
}

/** The first branch after `from` (then from the top) whose name begins with what was typed. */
export function typedAhead(visible, from, typed) {
  const start = visible.indexOf(from) + (typed.length === 1 ? 1 : 0);
  const round = [...visible.slice(start), ...visible.slice(0, start)];
  return round.find((branch) => branch.name.toLocaleLowerCase().startsWith(typed.toLocaleLowerCase())) ?? null;
}
