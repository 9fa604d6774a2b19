// Gives Neo4j Browser what it keeps in the local storage of its page, and goes there.
//
// Favourites and style rules of ours are brought up to date. What the person made or changed stays: `written` remembers
// what we wrote last, and whatever is something else now was changed by hand.

const PREFIX = "neo4j.";
const WRITTEN = "kgplatform.written";

const read = (key) => JSON.parse(localStorage.getItem(key) ?? "null");
const write = (key, value) => localStorage.setItem(key, JSON.stringify(value));

function update(name, change) {
  write(PREFIX + name, change(read(PREFIX + name)));
}

function withFavorites(theirs, ours, written) {
  const ids = new Set(ours.map((each) => each.id));
  const old = new Map(written.map((each) => [each.id, each.content]));
  const isOurs = (each) => ids.has(each.id) || old.has(each.id);
  const changed = (theirs ?? []).filter((each) => isOurs(each) && old.has(each.id) && old.get(each.id) !== each.content);
  const copies = changed.map((each) => ({ ...each, id: crypto.randomUUID() }));
  return [...(theirs ?? []).filter((each) => !isOurs(each)), ...copies, ...ours];
}

function withFolder(theirs, folder) {
  return [...(theirs ?? []).filter((each) => each.id !== folder.id), folder];
}

function isSame(rule, other) {
  const names = new Set([...Object.keys(rule ?? {}), ...Object.keys(other ?? {})]);
  return [...names].every((name) => rule?.[name] === other?.[name]);
}

// Ours come first, in our order: of all rules that fit a node, the last one decides.
function withStyle(theirs, ours, written) {
  const byHand = Object.entries(theirs ?? {}).filter(([selector, rule]) => !isSame(rule, written[selector]));
  const isFirst = Object.keys(written).length === 0;
  const kept = isFirst ? byHand.filter(([selector]) => !(selector in ours)) : byHand;
  return { ...ours, ...Object.fromEntries(kept) };
}

function connectionTo(server) {
  const id = "$$discovery";
  return {
    allConnectionIds: [id],
    connectionsById: { [id]: { id, authenticationMethod: "NATIVE", ...server } },
    activeConnection: id,
    lastUseDb: server.requestedUseDb ?? null,
  };
}

const seed = JSON.parse(document.getElementById("seed").textContent);
const written = read(WRITTEN) ?? { favorites: [], style: {} };
update("documents", (theirs) => withFavorites(theirs, seed.favorites, written.favorites));
update("folders", (theirs) => withFolder(theirs, seed.folder));
update("grass", (theirs) => withStyle(theirs, seed.style, written.style));
update("settings", (theirs) => ({ ...theirs, allowUserStats: false, allowCrashReports: false }));
update("connections", () => connectionTo(seed.connection));
write(WRITTEN, { favorites: seed.favorites, style: seed.style });
location.replace(seed.next);
