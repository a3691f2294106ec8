// @ts-check
/** Who is connected: applications, and workers with their tests and routes. */

import { matcherText } from "../detail/owner.js";
import { link } from "../lib/address.js";
import { fill, h } from "../lib/dom.js";
import { clock, plural } from "../lib/format.js";
import { visible } from "../lib/text.js";

/** @typedef {import("../data/store.js").Store} Store */

export class ConnectionsView {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.element = h("div", { class: "page" });
    /** Which tests are unfolded. @type {Set<string>} */
    this.open = new Set();
  }

  enter() {
    this.update();
  }

  /** @param {string} what */
  heard(what) {
    if (what === "connections" || what === "requests" || what === "status") this.update();
  }

  update() {
    const { nodeAgents, runnerWorkers } = this.store.connections;
    const proxied = nodeAgents.filter((agent) => agent.kind && agent.kind !== "node");
    const agents = nodeAgents.filter((agent) => !proxied.includes(agent));
    fill(this.element, h("h1", {}, "Connections"),
      this.clients("Agents", agents, "No agent is connected: no application is attached, so nothing can be held or mocked."),
      this.clients("Proxied clients", proxied, "No application came through HTTP_PROXY."),
      h("section", { class: "panel" }, h("h2", {}, `Workers (${runnerWorkers.length})`),
        runnerWorkers.length ? h("div", {}, ...runnerWorkers.map((worker) => this.worker(worker))) : h("p", { class: "note" }, "No test worker is connected: everything goes to the real network.")));
  }

  /** @param {string} title @param {any[]} clients @param {string} none */
  clients(title, clients, none) {
    const { rows } = this.store.requests;
    /** @type {Map<string, {count: number, last: number}>} */
    const traffic = new Map();
    for (const row of rows) {
      const seen = traffic.get(row.clientId);
      if (seen) seen.count++;
      else traffic.set(row.clientId, { count: 1, last: row.at });
    }
    return h("section", { class: "panel" }, h("h2", {}, `${title} (${clients.length})`),
      clients.length ? h("table", { class: "wide" },
        h("thead", {}, h("tr", {}, ...["Client", "Connection", "Requests", "Last"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...clients.map((client) => {
          const seen = traffic.get(client.clientId);
          return h("tr", {}, h("td", {}, h("a", { href: link({ view: "http", client: client.clientId }) }, h("bdi", {}, visible(client.clientId)))),
            h("td", { class: "mono" }, visible(client.connectionId)), h("td", { class: "number" }, (seen?.count ?? 0).toLocaleString("en")), h("td", { class: "mono" }, seen ? clock(seen.last) : "—"));
        }))) : h("p", { class: "note" }, none));
  }

  /** @param {any} worker */
  worker(worker) {
    return h("article", { class: "worker" },
      h("h3", {}, h("bdi", {}, visible(worker.clientId)), h("span", { class: "size" }, ` ${worker.workerId === undefined ? "" : `worker ${visible(worker.workerId)} · `}${plural(worker.testCount, "test")} · ${plural(worker.routeCount, "route")} · ${visible(worker.connectionId)}`)),
      ...(worker.tests ?? []).map((/** @type {any} */ test) => this.test(test)));
  }

  /** @param {any} test */
  test(test) {
    const details = h("details", { class: "test", open: this.open.has(test.testId), ontoggle: () => (details.open ? this.open.add(test.testId) : this.open.delete(test.testId)) },
      h("summary", {}, h("strong", {}, h("bdi", {}, visible(test.title))), " ", h("span", { class: "mono size" }, visible(test.file)), " ", h("span", { class: "size" }, plural(test.routes.length, "route"))),
      h("p", {}, h("a", { href: link({ view: "http", test: test.testId }) }, "Its requests"), " · ", h("a", { href: link({ view: "ws", test: test.testId }) }, "its WebSockets")),
      test.routes.length > 0 && h("table", { class: "wide" }, h("thead", {}, h("tr", {}, ...["Kind", "Matches", "Route"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...test.routes.slice(0, 200).map((/** @type {any} */ route) => h("tr", {}, h("td", {}, route.kind === "websocket" ? "WebSocket" : "HTTP"), h("td", { class: "mono" }, matcherText(route.matcher)), h("td", { class: "mono" }, visible(route.routeId)))))),
      test.routes.length > 200 && h("p", { class: "note" }, `and ${test.routes.length - 200} more`));
    return details;
  }
}
