// @ts-check
/** The panel of failures: those of one URL with one cause are one line. */

import { actionClass } from "../data/actions.js";
import { link } from "../lib/address.js";
import { h } from "../lib/dom.js";
import { clock } from "../lib/format.js";
import { cut, oneLine, visible } from "../lib/text.js";

/** @typedef {import("../data/rows.js").Row} Row */

/** @typedef {{row: Row, count: number}} Failure the newest of equal failures, and their number */

const MOST_FAILURES = 8;
const LONGEST_URL = 160;
const LONGEST_REASON = 1000;

/** @param {Row[]} failed newest first */
export function failures(failed) {
  const found = grouped(failed);
  const more = h("a", { href: link({ view: "http", failed: "1" }) }, `All ${failed.length} failures`);
  return h(
    "section",
    { class: "panel", id: "failures" },
    h("h2", {}, "Failures"),
    failed.length === 0 && h("p", { class: "note" }, "None."),
    h("ul", { class: "failures" }, ...found.slice(0, MOST_FAILURES).map(line)),
    failed.length > Math.min(found.length, MOST_FAILURES) && h("p", {}, more),
  );
}

/**
 * Count failures of the same method and URL, without its query, that have the same cause.
 *
 * @param {Row[]} failed newest first
 * @returns {Failure[]} newest first
 */
function grouped(failed) {
  /** @type {Map<string, Failure>} */
  const found = new Map();
  for (const row of failed) {
    const key = [row.method, row.scheme, row.host, row.path, row.action, causeOf(row)].join("\n");
    const same = found.get(key);
    if (same) same.count++;
    else found.set(key, { row, count: 1 });
  }
  return [...found.values()];
}

/** The code, else the status; texts differ in ids and times. @param {Row} row */
const causeOf = ({ code, status }) => code || String(status ?? "");

/** @param {Failure} failure */
function line({ row, count }) {
  const view = row.method ? "http" : "ws";
  const what = oneLine(cut(`${row.method || "WebSocket"} ${row.url}`, LONGEST_URL));
  const code = row.code && row.problem.includes(row.code) ? "" : row.code || row.status;
  const all = link({ view, failed: "1", host: row.host });
  return h(
    "li",
    {},
    h("span", { class: "mono" }, clock(row.at).slice(0, 8)),
    h("span", { class: `badge ${actionClass(row.action)}` }, row.action),
    h("a", { href: link({ view, id: row.id }) }, h("bdi", {}, what)),
    count > 1 && h("a", { class: "repeats", href: all }, `${count.toLocaleString("en")} times`),
    h("span", { class: "why" }, visible(cut([code, row.problem].filter(Boolean).join(": "), LONGEST_REASON))),
  );
}
