// Errors that name commands, which a page does not have, carry a code: here each says where it is done on the page.

const WORDS = {
  empty_graph: "The graph is empty. Add documents first.",
  no_documents: "The graph has no documents. Add some first.",
  unfinished_ingest: "The first documents were not read to the end. Add the same files again under Documents.",
  no_entities: "There is no entity in the graph to build a tree of. Add documents first.",
  no_tree: "The graph has no finished tree. Build it under Documents first, or choose another reader or route.",
  no_gists: "There are no gists to remember. Make them under Documents first: that reads the documents once.",
  no_gist_vectors: "The gists are not finished. Make them again under Documents.",
  unknown_document: ({ document }) => `There is no document ${document} in the graph. Documents lists those that are there.`,
  unknown_run: ({ run }) => `There is no saved run ${run} in the graph.`,
  statement_refused: ({ why }) => why,
  statement_writes: "This statement writes. Only what reads can be run here.",
  statement_loads: "LOAD CSV is refused: statements may not read files or addresses. Add files under Documents.",
};

/** What an error of the server says on this page: { code, parameters, message } in the page's words, where it has some. */
export function worded({ code, parameters, message }) {
  const words = Object.hasOwn(WORDS, code ?? "") ? WORDS[code] : message;
  return typeof words === "function" ? words(parameters ?? {}) : words;
}
