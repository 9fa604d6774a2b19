// Sentences of the server name commands, which a page does not have: here they say where it is done on the page.

const WAYS = [
  [/[Rr]un `kgplatform ingest PATH…` first/g, "Add documents first"],
  [/[Rr]un the same `kgplatform ingest` again/g, "Add the same files again"],
  [/Run `kgplatform tree` first/g, "Build the tree under Documents first"],
  [/`kgplatform tree` places/g, "an update of the tree, under Documents, places"],
  [/Run `kgplatform gist` (first|again)/g, "Make gists under Documents $1"],
  [/run `kgplatform gist`( again)?/g, "make them under Documents$1"],
  [/`kgplatform documents` lists/g, "Documents lists"],
  [/ ?`kgplatform cypher` runs whatever reads\./g, ""],
  [/It runs only with the option write\./g, "Only what reads can be run here."],
  [/Use `kgplatform ingest`\./g, "Add files under Documents."],
];

/** `text` in the page's words. */
export function inPageWords(text) {
  return WAYS.reduce((said, [command, way]) => said.replace(command, way), text ?? "");
}
