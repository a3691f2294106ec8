// @ts-check
/** A panel with a summary of requests, one line for each host or test. */

import { h } from "../lib/dom.js";
import { clock } from "../lib/format.js";
import { cut, oneLine, visible } from "../lib/text.js";
import { stackedBar } from "./charts.js";

/** @typedef {import("./tally.js").Group} Group */

const MOST_GROUPS = 100;
const LONGEST_TITLE = 120;

/**
 * @param {object} options
 * @param {string} options.id of the panel
 * @param {string} options.title
 * @param {string} [options.note] text beside the title
 * @param {string} options.first title of the first column
 * @param {Group[]} options.found
 * @param {(group: Group) => string} options.to returns the link of a line
 * @param {(group: Group) => string} [options.noteOf] returns the text below a line's title
 * @param {string} options.none the text if there is no group
 */
export function groupTable({ id, title, note = "", first, found, to, noteOf = () => "", none }) {
  const most = Math.max(1, ...found.map((group) => group.count));
  const titles = [first, "Requests", "Failed", "What became of them", "Last"];
  const lines = found.slice(0, MOST_GROUPS).map((group) => line(group, most, to(group), noteOf(group)));
  const more = found.length - lines.length;
  return h(
    "section",
    { class: "panel", id },
    h("h2", {}, title, note && h("span", { class: "size" }, ` ${note}`)),
    lines.length === 0 && h("p", { class: "note" }, none),
    lines.length > 0 &&
      h(
        "table",
        { class: "wide groups" },
        h("thead", {}, h("tr", {}, ...titles.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...lines),
      ),
    more > 0 && h("p", { class: "note" }, `and ${more} more`),
  );
}

/** @param {Group} group @param {number} most requests of the largest group @param {string} href @param {string} note */
function line(group, most, href, note) {
  const name = oneLine(cut(group.title || "(none)", LONGEST_TITLE));
  return h(
    "tr",
    {},
    h("td", {}, h("a", { href }, h("bdi", {}, name)), note && h("div", { class: "size mono" }, visible(note))),
    h("td", { class: "number" }, group.count.toLocaleString("en")),
    h("td", { class: `number ${group.failed ? "bad" : ""}` }, group.failed.toLocaleString("en")),
    h("td", {}, stackedBar(group.actions, most)),
    h("td", { class: "mono when" }, clock(group.last).slice(0, 8)),
  );
}
