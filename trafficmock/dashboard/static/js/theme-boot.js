// Runs before the first paint, so that a chosen theme does not flash. A classic script: modules wait.
try {
  const chosen = localStorage.getItem("trafficmock.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  document.documentElement.dataset.storage = "none"; // a browser that keeps nothing: the system's theme
}
