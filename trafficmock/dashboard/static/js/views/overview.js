// @ts-check
/** The whole at a glance: what went wrong, what got out unmocked, per test and per host. */

import { actionClass } from "../data/actions.js";
import { link } from "../lib/address.js";
import { fill, h } from "../lib/dom.js";
import { clock } from "../lib/format.js";
import { cut, oneLine, visible } from "../lib/text.js";
import { histogram, stackedBar } from "./charts.js";
import { groups, overTime } from "./tally.js";

/** @typedef {import("../data/rows.js").Row} Row @typedef {import("./tally.js").Group} Group */

const SLICES = 60;
const MOST_FAILURES = 8;
const MOST_GROUPS = 100;

export class OverviewView {
  /** @param {import("../data/store.js").Store} store */
  constructor(store) {
    this.store = store;
    this.element = h("div", { class: "page overview" });
  }

  enter() {
    this.update();
  }

  /** @param {string} what */
  heard(what) {
    if (what === "requests" || what === "sockets") this.update();
  }

  update() {
    const { rows } = this.store.requests;
    const sockets = this.store.sockets.rows;
    const failed = [...rows, ...sockets].filter((row) => row.failed).sort((one, other) => other.at - one.at);
    const out = rows.filter((row) => row.action === "passthrough" && !row.testId);
    const hosts = (/** @type {Row} */ row) => ({ key: row.host, title: row.host });
    fill(this.element, h("h1", {}, "Overview"), this.figures(rows, failed, out),
      rows.length > 0 && h("section", { class: "panel" }, h("h2", {}, "Traffic"), histogram(overTime(rows, SLICES))),
      h("div", { class: "columns" }, failures(failed), table("Went out unmocked", "To the real network, because no test wanted it", "Host", groups(out, hosts), (group) => link({ view: "http", action: "passthrough", host: group.key }), "Nothing: every request was taken by a test.", "passed")),
      h("div", { class: "columns" }, table("Per test", "", "Test", groups(rows.filter((row) => row.testId), (row) => ({ key: row.testId, title: row.title, note: row.file })), (group) => link({ view: "http", test: group.key }), "No test has owned a request yet.", "tests"),
      table("Per host", "", "Host", groups(rows, hosts), (group) => link({ view: "http", host: group.key }), "No request yet.", "hosts")));
  }

  /** @param {Row[]} rows @param {Row[]} failed @param {Row[]} out */
  figures(rows, failed, out) {
    const mocked = rows.filter((row) => row.testId && row.action !== "passthrough").length;
    const figure = (/** @type {number} */ count, /** @type {string} */ text, /** @type {string} */ kind, /** @type {Record<string, string>} */ where) =>
      h("a", { class: `figure ${kind}`, href: link(where) }, h("strong", {}, count.toLocaleString("en")), h("span", {}, text));
    return h("div", { class: "figures" },
      figure(failed.length, "failed", failed.length ? "figure-error" : "", { view: "http", failed: "1" }),
      figure(out.length, "went out unmocked", out.length ? "figure-passthrough" : "", { view: "http", action: "passthrough" }),
      figure(mocked, "decided by tests", "figure-fulfill", { view: "http", action: "fulfill,continue,abort" }),
      figure(rows.length, "requests recorded", "", { view: "http" }),
      figure(this.store.sockets.rows.length, "WebSockets", "", { view: "ws" }));
  }
}

/** @param {Row[]} failed newest first */
function failures(failed) {
  return h("section", { class: "panel", id: "failures" }, h("h2", {}, "Failures"),
    failed.length === 0 && h("p", { class: "note" }, "None."),
    h("ul", { class: "failures" }, ...failed.slice(0, MOST_FAILURES).map((row) => h("li", {},
      h("span", { class: "mono" }, clock(row.at).slice(0, 8)), h("span", { class: `badge ${actionClass(row.action)}` }, row.action),
      h("a", { href: link({ view: row.method ? "http" : "ws", id: row.id }) }, h("bdi", {}, oneLine(cut(`${row.method || "WebSocket"} ${row.url}`, 160)))),
      h("span", { class: "why" }, visible(cut([row.code || row.status, row.problem].filter(Boolean).join(": "), 260)))))),
    failed.length > MOST_FAILURES && h("p", {}, h("a", { href: link({ view: "http", failed: "1" }) }, `All ${failed.length} failures`)));
}

/**
 * @param {string} title
 * @param {string} note
 * @param {string} first
 * @param {Group[]} found
 * @param {(group: Group) => string} to
 * @param {string} none
 * @param {string} id
 */
function table(title, note, first, found, to, none, id) {
  const most = Math.max(1, ...found.map((group) => group.count));
  return h("section", { class: "panel", id }, h("h2", {}, title, note && h("span", { class: "size" }, ` ${note}`)),
    found.length ? h("table", { class: "wide" },
      h("thead", {}, h("tr", {}, ...[first, "Requests", "Failed", "What became of them", "Last"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...found.slice(0, MOST_GROUPS).map((group) => h("tr", {},
        h("td", {}, h("a", { href: to(group) }, h("bdi", {}, oneLine(cut(group.title || "(none)", 120)))), group.note && h("div", { class: "size mono" }, visible(group.note))),
        h("td", { class: "number" }, group.count.toLocaleString("en")), h("td", { class: `number ${group.failed ? "bad" : ""}` }, group.failed ? group.failed.toLocaleString("en") : "0"),
        h("td", {}, stackedBar(group.actions, most)), h("td", { class: "mono when" }, clock(group.last).slice(0, 8)))))) : h("p", { class: "note" }, none),
    found.length > MOST_GROUPS && h("p", { class: "note" }, `and ${found.length - MOST_GROUPS} more`));
}
