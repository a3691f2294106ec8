"use strict";

const { connected } = require("../session/diagnosis.js");
const { decisionOf } = require("./decisions.js");
const { redactUrl } = require("./redaction.js");

/**
 * @typedef {import("../session/session.js").Session} Session
 * @typedef {import("../session/request-state.js").RequestState} RequestState
 * @typedef {Map<string, import("../connection/worker-connection.js").HistoryEntry>} Recorded
 */

const STYLE = `
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }
body { margin: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .3rem .6rem; text-align: left;
  vertical-align: top; }
td.url { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
tr.failed td { color: light-dark(#b00020, #ff8a80); }
pre { white-space: pre-wrap; }
`;

/**
 * @param {Session} session
 * @param {import("./traffic-report.js").Traffic} traffic
 * @param {readonly string[]} lines of the report
 * @returns {string} an HTML page
 */
function trafficTable(session, { requests, recorded, agents }, lines) {
  const rows = requests.map((request) => rowOf(session, recorded, request)).join("\n");
  const body = requests.length
    ? `<table><thead><tr><th>Method</th><th>URL</th><th>Status</th><th>Client</th><th>Decided</th></tr></thead>
<tbody>
${rows}
</tbody></table>`
    : "<p>No request of any application came since the test began.</p>";
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Server traffic of ${escape(session.info.title)}</title>
<style>${STYLE}</style>
<h1>Server traffic</h1>
${lines.length ? `<pre>${escape(lines.join("\n"))}</pre>` : ""}
${body}
${routesTable(session)}
<pre>${requests.length ? escape(connected(agents).join("\n")) : ""}</pre>
`;
}

/** @param {Session} session */
function routesTable({ http }) {
  const rows = [...http.known.values()].map((entry) => {
    const cells = [String(entry.matcher), entry.name, String(entry.calls)];
    return `<tr>${cells.map((text) => `<td>${escape(text)}</td>`).join("")}</tr>`;
  });
  if (!rows.length) return "";
  return `<h2>Routes of the test</h2>
<table><thead><tr><th>Route</th><th>Handler</th><th>Requests</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody></table>`;
}

/**
 * @param {Session} session
 * @param {Recorded} recorded
 * @param {RequestState} request
 */
function rowOf(session, recorded, request) {
  const { response } = request;
  const failure = upstreamFailure(recorded.get(request.id));
  const status = (response ? `${response.wire.status} ${response.wire.statusText}` : "no response") + failure;
  const decided = decisionOf(session, recorded, request);
  const failed = !response || response.wire.status >= 400 ? ' class="failed"' : "";
  const cells = [escape(request.method), escape(redactUrl(request.url)), status, request.clientId, decided];
  const [method, url, ...rest] = cells;
  return `<tr${failed}><td>${method}</td><td class="url">${url}</td>${rest.map((text) => `<td>${escape(text)}</td>`).join("")}</tr>`;
}

/**
 * @param {import("../connection/worker-connection.js").HistoryEntry} [entry]
 * @returns {string} why the upstream gave no complete response; empty if it did not fail
 */
function upstreamFailure(entry) {
  const last = entry?.events?.findLast(({ kind }) => kind === "response" || kind === "upstream_error");
  return last?.kind === "upstream_error" ? ` (${last.detail || "no reason given"})` : "";
}

/** @param {string} text */
const escape = (text) => text.replace(/[&<>"]/g, (char) => /** @type {Record<string, string>} */ (ENTITIES)[char]);

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

module.exports = { trafficTable };
