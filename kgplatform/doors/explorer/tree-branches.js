// The tree behind its picture: which branches are known, which are open, and in which order they come.

const PAGE = 100;

/**
 * A node of the tree, or a line in its place: `more` offers further ones, `failed` another try.
 *
 * `children` is null as long as nobody asked for them. `at` is where it is drawn.
 */
class Branch {
  constructor(node, parent, line = null) {
    Object.assign(this, { node, parent, line, children: null, limit: PAGE, open: false, busy: false, at: null });
    this.level = parent ? parent.level + 1 : 0;
  }

  get mayOpen() {
    return !this.line && (this.children ? this.children.length > 0 : (this.node?.children ?? 0) > 0);
  }

  /** What is seen below it, with the lines that stand for what is not. */
  get below() {
    if (!this.open || !this.children) return [];
    this.offer ??= new Branch(null, this, "more");
    const hidden = this.children.length - this.limit;
    return hidden > 0 ? [...this.children.slice(0, this.limit), this.offer] : this.children;
  }

  get hiddenCount() {
    return Math.max(0, (this.children?.length ?? 0) - this.limit);
  }

  get name() {
    if (this.line === "failed") return "Not loaded. Try again";
    if (this.line === "more") return `Show ${Math.min(PAGE, this.parent.hiddenCount)} more of ${this.parent.hiddenCount}`;
    return this.node.name;
  }
}

export class Branches {
  /** `load(idOrNull)`: the nodes below one, or the outermost; `changed()`: called when there is something new to draw. */
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
      branch.children = await this.#loaded(branch);
      branch.busy = false;
    }
    this.changed();
  }

  async #loaded(branch) {
    try {
      return (await this.load(branch.node?.id ?? null)).map((node) => new Branch(node, branch));
    } catch (fault) {
      const line = new Branch(null, branch, "failed");
      line.reason = fault.message;
      return [line];
    }
  }

  close(branch) {
    branch.open = false;
    this.changed();
  }

  /** Do what a line offers: show more, or try again. Returns the branch that comes in its place, if one does. */
  async follow(line) {
    const { parent } = line;
    if (line.line === "failed") {
      parent.children = null;
      await this.open(parent);
      return parent.below[0];
    }
    const next = parent.children[parent.limit];
    parent.limit += PAGE;
    this.changed();
    return next;
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
    for (let child = branch; child.parent; child = child.parent) {
      child.parent.open = true;
      const place = child.parent.children.indexOf(child);
      while (place >= child.parent.limit) child.parent.limit += PAGE;
    }
    this.changed();
  }
}

/** The first branch after `from` (then from the top) whose name begins with what was typed. */
export function typedAhead(visible, from, typed) {
  const start = visible.indexOf(from) + (typed.length === 1 ? 1 : 0);
  const round = [...visible.slice(start), ...visible.slice(0, start)];
  return round.find((branch) => branch.name.toLocaleLowerCase().startsWith(typed.toLocaleLowerCase())) ?? null;
}
