// Errors that name commands carry a code: here are their words for the page, which has no commands.

const WORDS = {
  empty_graph: "The graph is empty. Add documents first.",
  no_documents: "The graph has no documents. Add some first.",
  unfinished_ingest: "The first ingest is unfinished. Add the same files again under Documents.",
  no_entities: "The graph has no entities to build a tree from. Add documents first.",
  no_tree: "The graph has no finished tree. Build it under Documents first, or choose another reader or route.",
  no_gists: "No gists yet. Make them under Documents first; that reads each document once.",
  no_gist_vectors: "The gists are not finished. Make them again under Documents.",
  unknown_document: ({ document }) => `There is no document ${document} in the graph. See the list under Documents.`,
  unknown_run: ({ run }) => `There is no saved run ${run} in the graph.`,
  statement_refused: ({ why }) => why,
  statement_writes: "This statement changes the graph. Only statements that read can run here.",
  statement_loads: "LOAD CSV is refused: statements may not read files or URLs. Add files under Documents.",
};

/** The text of a server's error { code, parameters, message }, in the page's own words if it has some. */
export function worded({ code, parameters, message }) {
  const words = Object.hasOwn(WORDS, code ?? "") ? WORDS[code] : message;
  return typeof words === "function" ? words(parameters ?? {}) : words;
}
