// @ts-check
/** The page of connections: applications, and workers with their tests and routes. */

import { processOf, sinceOf } from "../data/clients.js";
import { matcherText } from "../data/routes.js";
import { link } from "../lib/address.js";
import { fill, h } from "../lib/dom.js";
import { moment, plural } from "../lib/format.js";
import { cut, oneLine, visible } from "../lib/text.js";
import { clientsTable } from "./clients-table.js";

/** @typedef {import("../../../rest-records.js").RegisteredRoute} RegisteredRoute */
/** @typedef {import("../../../rest-records.js").RegisteredTest} RegisteredTest */
/** @typedef {import("../../../rest-records.js").Worker} Worker */

/** @typedef {import("../data/store.js").Store} Store */

const MOST_ROUTES = 200;
const LONGEST_ALLOWED = 300;

export class ConnectionsView {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.element = h("div", { class: "page" });
    /** The ids of unfolded tests. @type {Set<string>} */
    this.open = new Set();
  }

  enter() {
    this.update();
  }

  /** @param {import("../data/store.js").Change} what */
  heard(what) {
    if (what === "connections" || what === "requests" || what === "status") this.update();
  }

  update() {
    const { nodeAgents, runnerWorkers, strict, lostRuns = [] } = this.store.connections;
    const proxied = nodeAgents.filter((agent) => agent.kind === "proxy");
    const agents = nodeAgents.filter((agent) => !proxied.includes(agent));
    const { rows } = this.store.requests;
    fill(
      this.element,
      h("h1", {}, "Connections"),
      strict && h("p", { class: "note strict" }, `The service is strict: ${allowing(strict)}`),
      ...lostRuns.map((run) => h("p", { class: "note strict" }, `Strict about what no test owns ${untilOf(run)}`)),
      clientsTable(
        "Agents",
        agents,
        rows,
        proxied.length
          ? "No Node or Python process is attached; the clients below come through HTTP_PROXY."
          : "No application is attached, so nothing can be held or mocked.",
      ),
      clientsTable("Proxied clients", proxied, rows, "No application came through HTTP_PROXY."),
      h(
        "section",
        { class: "panel" },
        h("h2", {}, `Workers (${runnerWorkers.length})`),
        runnerWorkers.length === 0 &&
          h("p", { class: "note" }, "No test worker is connected: everything goes to the real network."),
        ...runnerWorkers.map((worker) => this.worker(worker)),
      ),
    );
  }

  /** @param {Worker} worker */
  worker(worker) {
    const about = [
      worker.workerId === undefined ? "" : `worker ${visible(worker.workerId)}`,
      plural(worker.testCount, "test"),
      plural(worker.routeCount, "route"),
      worker.strict && `strict about what no test owns: ${allowing(worker.strict)}`,
      processOf(worker),
      sinceOf(worker) && `since ${sinceOf(worker)}`,
    ]
      .filter(Boolean)
      .join(" · ");
    return h(
      "article",
      { class: "worker" },
      h("h3", {}, h("bdi", {}, visible(worker.clientId)), h("span", { class: "size" }, ` ${about}`)),
      ...(worker.tests ?? []).map((test) => this.test(test)),
    );
  }

  /** @param {RegisteredTest} test */
  test(test) {
    const remember = () => (details.open ? this.open.add(test.testId) : this.open.delete(test.testId));
    const details = h(
      "details",
      { class: "test", open: this.open.has(test.testId), ontoggle: remember },
      h(
        "summary",
        {},
        h("strong", {}, h("bdi", {}, visible(test.title))),
        " ",
        h("span", { class: "mono size" }, visible(test.file)),
        " ",
        h("span", { class: "size" }, plural(test.routes.length, "route")),
        test.strict && h("span", { class: "size strict" }, ` · strict: ${allowing(test.strict)}`),
      ),
      h(
        "p",
        {},
        h("a", { href: link({ view: "http", test: test.testId }) }, "Its requests"),
        " · ",
        h("a", { href: link({ view: "ws", test: test.testId }) }, "its WebSockets"),
      ),
      test.routes.length > 0 && routesTable(test.routes.slice(0, MOST_ROUTES)),
      test.routes.length > MOST_ROUTES && h("p", { class: "note" }, `and ${test.routes.length - MOST_ROUTES} more`),
    );
    return details;
  }
}

/** @param {{allow: string[]}} strict the allow list of strict mode @returns {string} */
function allowing({ allow }) {
  return `allows ${allow.length ? oneLine(cut(allow.join(", "), LONGEST_ALLOWED)) : "nothing"}`;
}

/** @param {import("../../../rest-records.js").LostRun} run @returns {string} */
function untilOf(run) {
  return `until ${moment(run.until)}, of a run whose worker is gone: ${allowing(run)}`;
}

/** @param {RegisteredRoute[]} routes */
function routesTable(routes) {
  return h(
    "table",
    { class: "wide" },
    h("thead", {}, h("tr", {}, ...["Kind", "Matches", "Place"].map((name) => h("th", { scope: "col" }, name)))),
    h(
      "tbody",
      {},
      ...routes.map((route) =>
        h(
          "tr",
          {},
          h("td", {}, route.kind === "websocket" ? "WebSocket" : "HTTP"),
          h("td", { class: "mono" }, matcherText(route.matcher)),
          h("td", { class: "mono", title: `id ${visible(route.routeId)}` }, visible(route.place ?? "—")),
        ),
      ),
    ),
  );
}
