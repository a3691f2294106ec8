// @ts-check
/** The overview page: failures, unmocked requests, and sums per test and per host. */

import { isWithin } from "../data/hosts.js";
import { link } from "../lib/address.js";
import { fill, h } from "../lib/dom.js";
import { moment } from "../lib/format.js";
import { histogram } from "./charts.js";
import { failures } from "./failures.js";
import { groupTable } from "./group-table.js";
import { groups, overTime } from "./tally.js";

/** @typedef {import("../data/rows.js").Row} Row */

const DECIDED = ["fulfill", "continue", "abort"];
const SLICES = 60;

export class OverviewView {
  /** @param {import("../data/store.js").Store} store */
  constructor(store) {
    this.store = store;
    this.element = h("div", { class: "page overview" });
  }

  enter() {
    this.update();
  }

  /** @param {import("../data/store.js").Change} what */
  heard(what) {
    if (what === "requests" || what === "sockets") this.update();
  }

  update() {
    const { rows } = this.store.requests;
    const sockets = this.store.sockets.rows;
    const failed = [...rows, ...sockets].filter((row) => row.failed).sort((one, other) => other.at - one.at);
    const out = rows.filter((row) => row.action === "passthrough" && !isWithin(row.host));
    fill(
      this.element,
      h("h1", {}, "Overview"),
      this.figures(rows, failed, out),
      rows.length > 0 && h("section", { class: "panel" }, h("h2", {}, "Traffic"), histogram(overTime(rows, SLICES))),
      h("div", { class: "columns" }, failures(failed), passed(out)),
      h("div", { class: "columns" }, perTest(rows), perHost(rows)),
    );
  }

  /** @param {Row[]} rows @param {Row[]} failed @param {Row[]} out */
  figures(rows, failed, out) {
    const mocked = rows.filter((row) => row.testId && DECIDED.includes(row.action)).length;
    const late = rows.filter((row) => row.late).length;
    const also = rows.filter((row) => row.alsoMatched.length > 0).length;
    return h(
      "div",
      { class: "figures" },
      figure(failed.length, "failed", failed.length ? "figure-error" : "", { view: "http", failed: "1" }),
      figure(out.length, "went out unmocked", out.length ? "figure-passthrough" : "", {
        view: "http",
        action: "passthrough",
      }),
      figure(mocked, "decided by tests", "figure-fulfill", { view: "http", action: DECIDED.join(",") }),
      late > 0 && figure(late, "late: their test had ended", "figure-passthrough", { view: "http", owner: "late" }),
      also > 0 && figure(also, "other tests' routes match too", "figure-passthrough", { view: "http", owner: "also" }),
      figure(rows.length, keptOf("requests", this.store.requests), "", { view: "http" }),
      figure(this.store.sockets.rows.length, keptOf("WebSockets", this.store.sockets), "", { view: "ws" }),
    );
  }
}

/** @param {number} count @param {string} text @param {string} kind @param {Record<string, string>} where its link */
function figure(count, text, kind, where) {
  return h(
    "a",
    { class: `figure ${kind}`, href: link(where) },
    h("strong", {}, count.toLocaleString("en")),
    h("span", {}, text),
  );
}

/** @param {string} what @param {import("../data/collection.js").Collection} list */
function keptOf(what, { dropped }) {
  return dropped ? `${what} kept; ${dropped.toLocaleString("en")} older ones are gone` : `${what} recorded`;
}

/** @param {Row} row */
const byHost = (row) => ({ key: row.host, title: row.host });

/** @param {Row[]} rows passed through */
function passed(rows) {
  return groupTable({
    id: "passed",
    title: "Went out unmocked",
    note: "To the real network, because no test wanted it; without loopback and names without a dot",
    first: "Host",
    found: groups(rows, byHost),
    to: (group) => link({ view: "http", action: "passthrough", host: group.key }),
    none: "Nothing: every request was taken by a test.",
  });
}

/** One line for each run of a test, because each run has its own test id. @param {Row[]} rows */
function perTest(rows) {
  const owned = rows.filter((row) => row.testId);
  return groupTable({
    id: "tests",
    title: "Per test",
    first: "Test",
    found: groups(owned, (row) => ({ key: row.testId, title: row.tests, note: row.file })),
    to: (group) => link({ view: "http", test: group.key }),
    noteOf: (group) => `${group.note} · run of ${moment(group.first)}`,
    none: "No test has owned a request yet.",
  });
}

/** @param {Row[]} rows */
function perHost(rows) {
  return groupTable({
    id: "hosts",
    title: "Per host",
    first: "Host",
    found: groups(rows, byHost),
    to: (group) => link({ view: "http", host: group.key }),
    none: "No request yet.",
  });
}
