// @ts-check
/** Fills the cells of the lists. */

import { actionClass } from "../data/actions.js";
import { duration } from "../lib/format.js";
import { cut, oneLine } from "../lib/text.js";
import { placeOf } from "./range.js";

/** @typedef {import("./range.js").Range} Range @typedef {import("../data/rows.js").Row} Row */

const LONGEST = 400;

/** @param {string} text */
const shown = (text) => oneLine(cut(text, LONGEST));

/** @param {HTMLElement} cell @param {string} text @param {string} [hint] */
function put(cell, text, hint = text) {
  const held = /** @type {Text | null} */ (cell.firstChild);
  if (held) {
    held.data = text;
  } // faster than another node, and rows are filled while scrolling
  else cell.append(text);
  if (cell.title !== hint) cell.title = hint;
}

/**
 * A cell with one text.
 *
 * @param {(row: Row) => string} text
 * @param {(row: Row) => string} [hint]
 */
export const plain =
  (text, hint = text) =>
  (/** @type {HTMLElement} */ cell, /** @type {Row} */ row) =>
    put(cell, shown(text(row)), shown(hint(row)));

/**
 * A cell with two texts, the second less prominent.
 *
 * @param {(row: Row) => [string, string]} texts
 * @param {(row: Row) => string} hint
 */
export const pair = (texts, hint) => (/** @type {HTMLElement} */ cell, /** @type {Row} */ row) => {
  if (!cell.children.length) {
    cell.append(document.createElement("bdi"), document.createElement("bdi"));
    cell.lastElementChild?.classList.add("second");
  }
  texts(row).forEach((text, at) => (cell.children[at].textContent = shown(text)));
  cell.title = shown(hint(row));
};

const pathAndQuery = pair(
  (row) => [row.path, row.query],
  (row) => row.url,
);

/**
 * A cell with the path; where there is no room for the column of hosts, the style shows the host before it.
 *
 * @param {HTMLElement} cell
 * @param {Row} row
 */
export function place(cell, row) {
  pathAndQuery(cell, row);
  cell.dataset.host = shown(row.host);
}

/** A cell with the status or the error code. @param {HTMLElement} cell @param {Row} row */
export function status(cell, row) {
  if (row.isBroken) {
    put(cell, "broken", shown(`${row.status}: ${row.problem}`));
    cell.className = "cell col-status status-none failed";
    return;
  }
  put(cell, row.status === undefined ? shown(row.code) : String(row.status), shown(row.code));
  const kind = row.status === undefined ? (row.code ? "none failed" : "none") : Math.floor(row.status / 100);
  cell.className = `cell col-status status-${kind}`;
}

/** @param {Record<string, {word: string, meaning: string}>} words */
export const action = (words) => (/** @type {HTMLElement} */ cell, /** @type {Row} */ row) => {
  let badge = /** @type {HTMLElement | null} */ (cell.firstElementChild);
  if (!badge) {
    badge = document.createElement("span");
    cell.append(badge);
  }
  badge.className = `badge ${actionClass(row.action)}`;
  badge.textContent = row.action;
  cell.title = row.problem ? shown(row.problem) : (words[row.action]?.meaning ?? "");
};

/**
 * A cell with a bar: begin and duration on the time range of the visible rows.
 *
 * @param {HTMLElement} cell
 * @param {Row} row
 * @param {Range} range
 */
export function bar(cell, row, range) {
  let drawn = /** @type {HTMLElement | null} */ (cell.firstElementChild);
  if (!drawn) {
    drawn = document.createElement("span");
    cell.append(drawn);
  }
  const { left, width } = placeOf(row, range);
  drawn.className = `duration-bar ${actionClass(row.action)}-bar`;
  drawn.style.setProperty("--begin", String(left));
  drawn.style.setProperty("--share", String(width));
  const took = row.duration === undefined ? "has not ended" : `takes ${duration(row.duration)}`;
  const text = `begins at +${duration(row.at - range.from)} of ${duration(range.to - range.from)}, ${took}`;
  cell.title = text;
  cell.setAttribute("aria-label", text);
}
