"use strict";

const { connected } = require("../session/diagnosis.js");
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

/** Texts for requests that no route of the test decided, by the kind of their outcome. */
const OUTCOMES = /** @type {Record<string, string>} */ ({
  passthrough: "went to the real network",
  pending: "not settled yet",
  mocked: "fulfilled",
});

/**
 * @param {Session} session
 * @param {{ requests: RequestState[], recorded: Recorded, agents: any[] | undefined }} traffic the requests, oldest
 *   first, the entries of the history, and the connected applications
 * @returns {string} an HTML page
 */
function trafficTable(session, { requests, recorded, agents }) {
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
${body}
<pre>${escape(connected(agents).join("\n"))}</pre>
`;
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

/** The URLs in a text. */
const URLS = /\b(?:https?|wss?):\/\/\S+/g;

/**
 * @param {Session} session
 * @param {Recorded} recorded
 * @param {RequestState} request
 */
function decisionOf(session, recorded, { id }) {
  const routed = session.http.owned.get(id);
  if (routed) return routed.entry ? `${routed.decision} by ${routed.entry.name}` : routed.decision;
  const entry = recorded.get(id);
  if (!entry) return "";
  if (entry.testId !== undefined && entry.testId !== session.id) return `by another test: ${entry.title}`;
  const { outcome } = entry;
  if (!outcome.code) return OUTCOMES[outcome.kind] ?? outcome.kind;
  const why = outcome.message ? `. ${outcome.message.replace(URLS, redactUrl)}` : "";
  return `${outcome.kind}: ${outcome.code}${why}`;
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
