// @ts-check
/**
 * The state of the page in its URL, for sharing and for the browser's history: in the query, or, of a page that was saved
 * as a file, in the fragment.
 */

import { run } from "../data/saved.js";

/** The names of the views, in their order. The first one of a saved page is opened first. */
export const VIEWS = run
  ? [...(run.har === undefined ? ["tests"] : []), "overview", "http", "ws"]
  : ["overview", "http", "ws", "connections"];

/** @type {Record<string, string>} */
export const TITLES = {
  tests: "Tests",
  overview: "Overview",
  http: "HTTP",
  ws: "WebSocket",
  connections: "Connections",
};

const FIRST = VIEWS.includes("tests") ? "tests" : "http";
const SIGN = run ? "#" : "?";
const HERE = run ? "#" : "/";

// A link that was written for the other kind of page has the state in the other place.
const elsewhere = (run ? location.search : location.hash).slice(1);
if (elsewhere.includes("view=") && !(run ? location.hash : location.search)) {
  history.replaceState(null, "", (run ? "" : "/") + SIGN + elsewhere);
}

/** @returns {URLSearchParams} */
export function parameters() {
  return new URLSearchParams(run ? location.hash.slice(1) : location.search);
}

/** @returns {string} the view of the URL */
export function currentView() {
  const named = parameters().get("view") ?? "";
  return VIEWS.includes(named) ? named : FIRST;
}

/**
 * Write parameters into the URL, without leaving the page.
 *
 * @param {Record<string, string | null | undefined>} changes empty or null removes a parameter
 * @param {{push?: boolean}} [how] `push`: whether Back returns to the present state
 */
export function change(changes, { push = false } = {}) {
  const next = parameters();
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  go(next, push);
}

/** Replace all parameters by those of another view. @param {Record<string, string>} values */
export function open(values) {
  go(new URLSearchParams(values), true);
  dispatchEvent(new PopStateEvent("popstate"));
}

/** @param {Record<string, string>} values @returns {string} a link to that state */
export function link(values) {
  return (run ? "" : "/") + SIGN + new URLSearchParams(values);
}

/**
 * Follow a link to a state of the page without loading the page again, which would show cleared rows.
 * A click that opens a tab or saves a file is left to the browser.
 *
 * @param {MouseEvent} event
 */
export function follow(event) {
  const place = event.target instanceof Element ? event.target.closest("a") : null;
  if (!place || place.target || place.hasAttribute("download") || event.defaultPrevented) return;
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const url = new URL(place.href);
  const isState = run
    ? place.getAttribute("href")?.startsWith("#") && url.hash !== "#main"
    : url.origin === location.origin && url.pathname === "/" && !url.hash;
  if (!isState) return;
  event.preventDefault();
  open(Object.fromEntries(run ? new URLSearchParams(url.hash.slice(1)) : url.searchParams));
}

/** @param {URLSearchParams} next @param {boolean} push */
function go(next, push) {
  const text = next.toString();
  const url = text ? (run ? "" : "/") + SIGN + text : HERE;
  if (url === (run ? location.hash || HERE : location.pathname + location.search)) return;
  if (push) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}
