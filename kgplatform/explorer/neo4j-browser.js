// Links that open Neo4j Browser with a statement in its editor, ready to run, and never run by the link itself.

// Neo4j Browser decodes its whole address before it looks for "arg=…" up to the next & or #, so that these two
// cannot be written plainly. Cypher reads \uXXXX as the character, in names, operators and strings alike.
const UNSAFE = { "&": "\\u0026", "#": "\\u0023" };

/**
 * The address with `statement` in the editor; null where there is no Neo4j Browser. The statement stands in the
 * fragment, which no server sees and whose length has no limit: vectors are thousands of characters.
 */
export function browserLink(browserUrl, statement) {
  if (!browserUrl) return null;
  const page = new URL(browserUrl);
  if (!page.pathname.includes("/browser")) page.pathname = `${page.pathname.replace(/\/$/, "")}/browser/`;
  const safe = statement.replace(/[&#]/g, (letter) => UNSAFE[letter]);
  page.hash = `?cmd=edit&arg=${encodeURIComponent(safe)}`;
  return page.href;
}
