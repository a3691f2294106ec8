// @ts-check
/** Cells of the two lists. */

import { ACTIONS, OUTCOMES, actionClass } from "../data/actions.js";
import { clock, duration } from "../lib/format.js";
import { cut, oneLine } from "../lib/text.js";

/** @typedef {import("./grid.js").Column} Column @typedef {import("../data/rows.js").Row} Row */

const LONGEST = 400;

/** @param {string} text */
const shown = (text) => oneLine(cut(text, LONGEST));

/** @param {HTMLElement} cell @param {string} text @param {string} [hint] */
function put(cell, text, hint = text) {
  const held = /** @type {Text | null} */ (cell.firstChild);
  if (held) held.data = text; // faster than another node, and rows are filled while scrolling
  else cell.append(text);
  if (cell.title !== hint) cell.title = hint;
}

/** @type {(name: string, title: string, text: (row: Row) => string) => Column} */
const plain = (name, title, text) => ({ name, title, show: (cell, row) => put(cell, shown(text(row))) });

/** @param {Row} row */
function statusClass(row) {
  if (row.status === undefined) return row.code ? "status-none failed" : "status-none";
  return `status-${Math.floor(row.status / 100)}`;
}

/** @type {Column} */
const status = {
  name: "status",
  title: "Status",
  show(cell, row) {
    put(cell, row.status === undefined ? shown(row.code) : String(row.status), shown(row.code));
    cell.className = `cell col-status ${statusClass(row)}`;
  },
};

/**
 * A cell of two texts, of which the second stands back.
 *
 * @param {string} name
 * @param {string} title
 * @param {(row: Row) => [string, string]} texts
 * @param {(row: Row) => string} hint
 * @returns {Column}
 */
const pair = (name, title, texts, hint) => ({
  name,
  title,
  show(cell, row) {
    if (!cell.children.length) {
      cell.append(document.createElement("bdi"), document.createElement("bdi"));
      cell.lastElementChild?.classList.add("second");
    }
    texts(row).forEach((text, at) => (cell.children[at].textContent = shown(text)));
    cell.title = shown(hint(row));
  },
});

/** @type {(words: Record<string, {word: string, meaning: string}>, title: string) => Column} */
const action = (words, title) => ({
  name: "action",
  title,
  show(cell, row) {
    let badge = /** @type {HTMLElement | null} */ (cell.firstElementChild);
    if (!badge) {
      badge = document.createElement("span");
      cell.append(badge);
    }
    badge.className = `badge ${actionClass(row.action)}`;
    badge.textContent = row.action;
    cell.title = row.problem ? shown(row.problem) : (words[row.action]?.meaning ?? "");
  },
});

const time = plain("time", "Time", (row) => clock(row.at));
const host = plain("host", "Host", (row) => row.host);
const client = plain("client", "Client", (row) => row.clientId);
const path = pair("path", "Path", (row) => [row.path, row.query], (row) => row.url);
const test = pair("test", "Test", (row) => [row.tests, row.files && ` ${row.files}`],
  (row) => `${row.tests} ${row.files}`.trim());

/** @type {Column[]} */
export const REQUEST_COLUMNS = [
  time,
  plain("method", "Method", (row) => row.method),
  status,
  host,
  path,
  action(ACTIONS, "Action"),
  client,
  test,
  plain("duration", "Duration", (row) => duration(row.duration)),
];

/** @type {Column[]} */
export const SOCKET_COLUMNS = [
  time,
  host,
  path,
  action(OUTCOMES, "Outcome"),
  client,
  test,
  plain("state", "State", (row) => (row.closedAt === undefined ? (row.action === "matched" ? "open" : "") : `closed ${row.status ?? ""}`)),
  plain("duration", "Duration", (row) => duration(row.duration)),
];
