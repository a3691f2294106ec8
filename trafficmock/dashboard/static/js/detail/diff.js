// @ts-check
/** The overrides of `continue`, as a diff. */

import { decode, isBinary, text } from "../bodies/bytes.js";
import { readJson } from "../bodies/json.js";
import { h } from "../lib/dom.js";
import { bytes as size } from "../lib/format.js";
import { cut, visible } from "../lib/text.js";
import { headerPairs } from "./headers.js";

/** @typedef {import("../../../rest-records.js").HttpEntry} HttpEntry */
/** @typedef {import("../../../rest-records.js").HttpRequest} HttpRequest */
/** @typedef {import("../../../rest-records.js").Overrides} Overrides */

const MOST_LINES = 400;
const LONGEST = 2000;

/** @typedef {["same" | "gone" | "new", string]} Line */

/**
 * Compare two lists of lines by their longest common subsequence.
 *
 * @param {string[]} before
 * @param {string[]} after
 * @returns {Line[]}
 */
export function compare(before, after) {
  const rows = before.length;
  const columns = after.length;
  const common = Array.from({ length: rows + 1 }, () => new Uint16Array(columns + 1));
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      common[row][column] =
        before[row] === after[column]
          ? common[row + 1][column + 1] + 1
          : Math.max(common[row + 1][column], common[row][column + 1]);
    }
  }
  /** @type {Line[]} */
  const lines = [];
  let row = 0;
  let column = 0;
  while (row < rows || column < columns) {
    if (row < rows && column < columns && before[row] === after[column]) {
      lines.push(["same", before[row]]);
      row++;
      column++;
    } else if (column >= columns || (row < rows && common[row + 1][column] >= common[row][column + 1])) {
      lines.push(["gone", before[row++]]);
    } else lines.push(["new", after[column++]]);
  }
  return lines;
}

/** @param {string} title @param {string[]} before @param {string[]} after */
function part(title, before, after) {
  const long = before.length > MOST_LINES || after.length > MOST_LINES;
  const lines = compare(before.slice(0, MOST_LINES), after.slice(0, MOST_LINES));
  const signs = { same: " ", gone: "−", new: "+" };
  const words = { same: "", gone: "removed: ", new: "added: " };
  return h(
    "section",
    { class: "diff" },
    h("h3", {}, title),
    h(
      "div",
      { class: "diff-lines" },
      ...lines.map(([kind, line]) =>
        h(
          "div",
          { class: `diff-line diff-${kind}` },
          h("span", { class: "sign", "aria-hidden": "true" }, signs[kind]),
          words[kind] && h("span", { class: "sr-only" }, words[kind]),
          h("bdi", {}, visible(cut(line, LONGEST))),
        ),
      ),
    ),
    long && h("p", { class: "note" }, `Only the first ${MOST_LINES} lines are compared.`),
  );
}

/** @param {HttpRequest | Overrides} message */
function bodyLines(message) {
  const bytes = decode(message.bodyBase64);
  if (message.truncated && !bytes.length) return ["(not kept: --history-bytes)"];
  if (!bytes.length) return [];
  if (isBinary(bytes)) return [`(${size(bytes.length)} of binary data)`];
  const body = text(bytes, "utf-8");
  const read = readJson(body);
  return (read ? JSON.stringify(read.value, null, 2) : body).split("\n");
}

/** @param {HttpRequest | Overrides} message */
const headerLines = (message) =>
  headerPairs(message)
    .map(([name, value]) => `${name}: ${value}`)
    .sort();

/** @param {HttpEntry} entry */
export function overridesTab({ request, overrides = {} }) {
  return [
    h("p", { class: "note" }, "What the application asked for, and what its test sent upstream in its place."),
    overrides.method !== undefined && part("Method", [request.method], [overrides.method]),
    overrides.url !== undefined && part("URL", [request.url], [overrides.url]),
    overrides.headers !== undefined && part("Headers", headerLines(request), headerLines(overrides)),
    (overrides.bodyBase64 !== undefined || overrides.truncated === true) &&
      part("Body", bodyLines(request), bodyLines(overrides)),
  ];
}
