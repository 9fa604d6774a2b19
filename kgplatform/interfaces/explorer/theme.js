// A classic script in the head, so that the page never flashes in the wrong theme: "light" or "dark" on <html>.
(() => {
  const KEY = "kgplatform.theme";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem(KEY);
  const apply = () => {
    document.documentElement.dataset.theme = chosen() ?? (dark.matches ? "dark" : "light");
    window.dispatchEvent(new CustomEvent("themechange"));
  };
  window.toggleTheme = () => {
    localStorage.setItem(KEY, document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  };
  dark.addEventListener("change", apply);
  apply();
})();
