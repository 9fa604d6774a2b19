// The graph without a mouse.

const STEP = 60;
const ARROWS = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/** What keys do in a GraphView: a listener for `keydown`. Keys that it does not know go on. */
export function keysOf(view) {
  const does = {
    "+": () => view.zoomIn(),
    "=": () => view.zoomIn(),
    "-": () => view.zoomOut(),
    0: () => view.fit(),
    Enter: () => expandSelected(view),
    Escape: () => deselect(view),
  };
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    const handled = arrow ? (event.shiftKey ? walk(view, arrow) : pan(view, arrow)) : Object.hasOwn(does, event.key) && does[event.key]();
    if (handled !== false) event.preventDefault();
  };
}

function pan(view, { x, y }) {
  view.takeCamera();
  view.camera.pan(-x * STEP, -y * STEP);
  view.refresh();
}

// To the next node in that direction; to the weightiest if none is chosen.
function walk(view, direction) {
  const from = view.marks.selected;
  const next = from ? view.scene.nodeTowards(from, direction) : view.scene.byWeight[0];
  if (!next) return;
  view.choose(next);
  if (!view.camera.sees(next)) view.focus([next.id]);
}

function expandSelected(view) {
  if (!view.marks.selected) return false;
  view.onExpand(view.marks.selected.data);
  return true;
}

function deselect(view) {
  if (!view.marks.selected) return false;
  view.choose(null);
  return true;
}
