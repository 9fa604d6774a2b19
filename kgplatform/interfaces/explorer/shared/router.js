// What is on screen stands in the address, so that links lead back to it and the back button works:
//   #/ask?q=Who+laid+it&reader=youtu    #/runs?run=ID    #/graph?node=ID    #/documents?doc=ID&at=120-180

/** The hash of a view with those parameters that have a value. */
export function routeTo(view, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(given).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

/** { view, parameters } of the address. Views that do not exist are the router's user's business. */
export function currentRoute() {
  const [path, query = ""] = window.location.hash.replace(/^#\/?/, "").split("?", 2);
  return { view: path || "ask", parameters: Object.fromEntries(new URLSearchParams(query)) };
}

/** Go to a view. `replace`: the step before stays what the back button leads to.
 *
 * Listeners are told before this returns: the browser tells them of a new hash only later, and a way back that
 * overtook it would leave them where they were.
 */
export function navigate(view, parameters = {}, { replace = false } = {}) {
  const hash = routeTo(view, parameters);
  if (hash === window.location.hash) return;
  if (replace) window.history.replaceState(null, "", hash);
  else window.history.pushState(null, "", hash);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Change some parameters of the view that is open; null takes one away. */
export function setParameters(changes, options) {
  const { view, parameters } = currentRoute();
  navigate(view, { ...parameters, ...changes }, options);
}

export function onRoute(listener) {
  window.addEventListener("hashchange", () => listener(currentRoute()));
}
