// The conversations of this browser, so that they survive a reload: in IndexedDB, the latest fifty of each graph.

const NAME = "kgplatform";
const STORE = "conversations";
const KEPT = 50;

let opening = null;

function database() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" }).createIndex("graph", "graph");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opening;
}

/** What `work(store)` asks for, once it is there. */
async function within(mode, work) {
  const store = (await database()).transaction(STORE, mode).objectStore(STORE);
  const request = work(store);
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** All conversations of a graph, the latest first: { id, graph, at, turns }. */
export async function conversationsOf(graph) {
  const all = await within("readonly", (store) => store.index("graph").getAll(graph));
  return all.sort((one, other) => other.at - one.at);
}

/** One conversation, or undefined. */
export function conversation(id) {
  return within("readonly", (store) => store.get(id));
}

/** Keep a conversation as it is now; the oldest of its graph goes where there are too many. */
export async function keep(talk) {
  await within("readwrite", (store) => store.put(talk));
  const all = await conversationsOf(talk.graph);
  for (const { id } of all.slice(KEPT)) await forget(id);
}

export function forget(id) {
  return within("readwrite", (store) => store.delete(id));
}

/** Forget all conversations of a graph. */
export async function forgetAll(graph) {
  for (const { id } of await conversationsOf(graph)) await forget(id);
}
