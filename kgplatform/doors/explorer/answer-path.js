// The part of the graph that an answer rests on: its cited passages, the facts that their words state, and whom these
// facts are about.

import { get } from "./api.js";
import { subgraphOf } from "./graph-panel.js";

const MOST_CITED = 12;
const MOST_FACTS = 40;

/** Resolves to { nodes, edges } of what `citations` lead to in the graph, or to null where they lead nowhere. */
export async function pathOf(citations) {
  const cited = citations.filter(Boolean).slice(0, MOST_CITED);
  if (!cited.length) return null;
  const facts = (await Promise.all(cited.map(factsOf))).flat().slice(0, MOST_FACTS);
  const passages = new Set(cited.map(({ passage }) => passage));
  const path = along(await subgraphOf([...passages, ...facts]), passages, new Set(facts));
  return path.nodes.length ? path : null;
}

/**
 * Passage, fact, entity: a triple is an edge between its entities, which then follow the passage themselves; an atomic
 * fact is a node. Its words that are no entities ("asked") are left out where it has any.
 */
function along({ nodes, edges }, passages, facts) {
  const kinds = new Map(nodes.map(({ id, kind }) => [id, kind]));
  const states = edges.filter(({ fact, source, target }) => facts.has(fact) || facts.has(source) || facts.has(target));
  const isMatter = (id) => !passages.has(id) && !facts.has(id);
  const hasEntities = states.some(({ source, target }) => kinds.get(source) === "Entity" || kinds.get(target) === "Entity");
  const kept = states.filter(({ source, target }) => !hasEntities || ![source, target].some((id) => isMatter(id) && kinds.get(id) === "KeyElement"));
  const joined = new Set(kept.filter(({ fact }) => facts.has(fact)).flatMap(({ source, target }) => [source, target]));
  const links = edges.filter(({ source, target }) => (passages.has(source) && joined.has(target)) || (passages.has(target) && joined.has(source)));
  const ends = new Set(kept.flatMap(({ source, target }) => [source, target]));
  return { nodes: nodes.filter(({ id }) => passages.has(id) || facts.has(id) || ends.has(id)), edges: [...new Set([...kept, ...links])] };
}

/** The ids of the facts that the cited words state; of a whole passage none: it states too many. */
async function factsOf({ document, start, end, found }) {
  if (found === false) return [];
  const text = await get(`api/documents/${encodeURIComponent(document)}?${new URLSearchParams({ start, end })}`).catch(() => null); // it may be gone
  const shared = (fact) => Math.min(fact.end, end) - Math.max(fact.start, start);
  return (text?.facts ?? []).filter((fact) => 2 * shared(fact) >= Math.min(fact.end - fact.start, end - start)).map(({ id }) => id);
}
