// @ts-check
/** The keyboard shortcuts of the page. */

import { open, VIEWS } from "../lib/address.js";
import { singleKeys } from "./help.js";

/**
 * @typedef {object} Deeds
 * @property {() => any} view returns the shown view, which may be a list
 * @property {() => void} help
 * @property {() => void} pause
 * @property {() => void} theme
 */

/** @param {Deeds} deeds */
export function listenForKeys(deeds) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") escape(event, deeds.view());
    else if (!isTyping(event.target) && singleKeys() && press(event.key, deeds)) event.preventDefault();
  });
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && Boolean(target.closest("input:not([type=checkbox]), select, textarea"));
}

/** @param {KeyboardEvent} event @param {any} view */
function escape(event, view) {
  if (isTyping(event.target)) view.grid?.element.focus();
  else view.close?.();
}

/** @param {string} key @param {Deeds} deeds @returns {boolean} whether the key is a shortcut */
function press(key, deeds) {
  const view = deeds.view();
  if (VIEWS[Number(key) - 1]) open({ view: VIEWS[Number(key) - 1] });
  else if (key === "?") deeds.help();
  else if (key === "p") deeds.pause();
  else if (key === "t") deeds.theme();
  else return Boolean(view.grid) && pressInList(key, view);
  return true;
}

/** @param {string} key @param {any} view */
function pressInList(key, view) {
  if (key === "/") view.bar.search.focus();
  else if (key === "j" || key === "k") step(view, key === "j" ? 1 : -1);
  else if (key === "x") view.clearFilters();
  else if (key === "n") view.toNewest();
  else if (key === "[" || key === "]") view.detail.step?.(key === "]" ? 1 : -1);
  else if (key === "c" && view.open) view.detail.copyCurl?.();
  else return false;
  return true;
}

/**
 * Move in the list. The list gets the focus, so that Enter opens the entry and does not press a button
 * that had the focus before. A focus within the detail stays there.
 *
 * @param {any} view
 * @param {number} by
 */
function step(view, by) {
  if (!view.pane.element.contains(document.activeElement)) view.grid.element.focus({ preventScroll: true });
  view.grid.move(by);
}
