// Links that open Neo4j Browser with a statement in its editor, ready to run, and never run by the link itself.

// Neo4j Browser decodes its whole address before it looks for "arg=…" up to the next & or #, so that these two
// cannot be written plainly. Cypher reads \uXXXX as the character, in names, operators and strings alike.
const UNSAFE = { "&": "\\u0026", "#": "\\u0023" };

// Neo4j Browser draws the result of a text that is one statement. With lines like ":param k => 50;" before it, it makes
// a list of ticks, so that values take the places of their parameters here; the values are Cypher already.
const PARAMETER = /^:param (\w+) => (.*);$/;
const PLACES = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\$(\w+)/g;

/** The statement of `text` with the values of its `:param` lines in it; names in quotes and comments stay. */
export function withValues(text) {
  const lines = text.split("\n");
  const values = new Map(lines.flatMap((line) => (PARAMETER.test(line) ? [PARAMETER.exec(line).slice(1)] : [])));
  const statement = lines.filter((line) => !PARAMETER.test(line)).join("\n");
  return statement.replace(PLACES, (found, name) => (name !== undefined && values.has(name) ? values.get(name) : found));
}

/**
 * The address with `statement` in the editor; null where there is no Neo4j Browser. The statement stands in the
 * fragment, which no server sees and whose length has no limit: vectors are thousands of characters.
 */
export function browserLink(browserUrl, statement) {
  if (!browserUrl) return null;
  const page = new URL(browserUrl);
  if (!page.pathname.includes("/browser")) page.pathname = `${page.pathname.replace(/\/$/, "")}/browser/`;
  const safe = withValues(statement).replace(/[&#]/g, (letter) => UNSAFE[letter]);
  page.hash = `?cmd=edit&arg=${encodeURIComponent(safe)}`;
  return page.href;
}
