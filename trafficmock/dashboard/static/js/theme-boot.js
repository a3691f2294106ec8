// Sets the theme before the first paint. It is a classic script, because modules run later.
try {
  const chosen = localStorage.getItem("trafficmock.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  document.documentElement.dataset.storage = "none"; // storage is disabled: use the system's theme
}
