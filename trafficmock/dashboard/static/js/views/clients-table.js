// @ts-check
/** The panel of connected applications. */

import { processOf, sinceOf } from "../data/clients.js";
import { link } from "../lib/address.js";
import { h } from "../lib/dom.js";
import { clock } from "../lib/format.js";
import { visible } from "../lib/text.js";

/** @typedef {import("../data/clients.js").Client} Client @typedef {import("../data/rows.js").Row} Row */

const TITLES = ["Client", "Attached by", "Process", "Since", "Requests", "Last"];

/** How a client is attached, by the kind of its connection. @type {Record<string, string>} */
const WAYS = { node: "Node agent", python: "Python preload", proxy: "HTTP_PROXY" };

/**
 * @param {string} title
 * @param {Client[]} clients
 * @param {Row[]} rows the requests, newest first
 * @param {string} none the text if there is no client
 */
export function clientsTable(title, clients, rows, none) {
  const traffic = trafficOf(rows);
  /** @type {Map<string, number>} */
  const names = new Map();
  for (const { clientId } of clients) names.set(clientId, (names.get(clientId) ?? 0) + 1);
  const shared = (/** @type {Client} */ { clientId }) => (names.get(clientId) ?? 0) > 1;
  const lines = clients.map((client) => line(client, traffic.get(client.clientId), shared(client)));
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, `${title} (${clients.length})`),
    lines.length === 0 && h("p", { class: "note" }, none),
    lines.length > 0 &&
      h(
        "table",
        { class: "wide clients" },
        h("thead", {}, h("tr", {}, ...TITLES.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...lines),
      ),
  );
}

/** @typedef {{count: number, last: number}} Traffic */

/** @param {Row[]} rows newest first */
function trafficOf(rows) {
  /** @type {Map<string, Traffic>} */
  const found = new Map();
  for (const row of rows) {
    const seen = found.get(row.clientId);
    if (seen) seen.count++;
    else found.set(row.clientId, { count: 1, last: row.at });
  }
  return found;
}

/** @param {Client} client @param {Traffic | undefined} traffic @param {boolean} shared whether others have its id */
function line(client, traffic, shared) {
  const name = h("bdi", {}, visible(client.clientId));
  return h(
    "tr",
    {},
    h(
      "td",
      { title: `connection ${visible(client.connectionId)}` },
      h("a", { href: link({ view: "http", client: client.clientId }) }, name),
    ),
    h("td", {}, visible(WAYS[client.kind ?? ""] ?? client.kind ?? "—")),
    h("td", { class: "mono" }, processOf(client) || "—"),
    h("td", { class: "mono when", "data-title": "since" }, sinceOf(client) || "—"),
    h(
      "td",
      { class: "number", "data-title": "requests" },
      (traffic?.count ?? 0).toLocaleString("en"),
      shared && h("span", { class: "size" }, " by all of this name"),
    ),
    h("td", { class: "mono when", "data-title": "last" }, traffic ? clock(traffic.last) : "—"),
  );
}
