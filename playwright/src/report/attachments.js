"use strict";

const { mkdir, writeFile } = require("node:fs/promises");
const { dirname } = require("node:path");
const { version } = require("../../package.json");
const { harDocument, harEntry } = require("../har/har-entry.js");
const { redactHeaders, redactUrl } = require("./redaction.js");
const { addToError, reportLines, trafficOf } = require("./traffic-report.js");
const { trafficTable } = require("./traffic-table.js");

/**
 * Adds the traffic of the applications to the report of a test: to its error, as an HTML table and as a HAR.
 *
 * @typedef {import("../session/session.js").Session} Session
 * @typedef {import("../session/request-state.js").RequestState} RequestState
 * @typedef {Map<string, import("../connection/worker-connection.js").HistoryEntry>} Recorded
 */

/**
 * @param {Session} session
 * @param {import("@playwright/test").TestInfo} testInfo
 */
async function attachTraffic(session, testInfo) {
  const traffic = await trafficOf(session).catch(() => undefined);
  const { lost } = session.connection;
  if (lost || !traffic) {
    const { doorPort } = session.registration;
    const port = doorPort ? [`The browser's requests go through the proxy, by its port ${doorPort}.`] : [];
    return addToError(testInfo, [lost?.message ?? "The proxy did not answer.", ...port]);
  }
  const { requests, recorded } = traffic;
  const lines = reportLines(session, traffic);
  addToError(testInfo, lines);
  const table = trafficTable(session, traffic, lines);
  await attachFile(testInfo, "server-traffic.html", table, "text/html");
  if (requests.length) await attachFile(testInfo, "server-traffic.har", har(requests, recorded), "application/json");
}

/**
 * Attach a file, which the report links and a terminal reporter names. Of an attachment without a file, both would show
 * the source text.
 *
 * @param {import("@playwright/test").TestInfo} testInfo
 * @param {string} name
 * @param {string} content
 * @param {string} contentType
 */
async function attachFile(testInfo, name, content, contentType) {
  const path = testInfo.outputPath(name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  testInfo.attachments.push({ name, path, contentType });
}

/**
 * @param {RequestState[]} requests
 * @param {Recorded} recorded
 */
function har(requests, recorded) {
  const entries = requests.map((request) => {
    const { timestamp: began = Date.now(), durationMs: ms = 0 } = recorded.get(request.id) ?? {};
    return redacted(harEntry({ request, response: outcomeOf(request), began, ms }, { isFull: true }));
  });
  return JSON.stringify(harDocument(entries, version), undefined, 1);
}

/** @param {RequestState} request */
function outcomeOf({ response }) {
  if (!response) return response === null ? "failed" : "no response yet";
  return response.isDisposed || response.wire.truncated ? "the body was not kept" : response;
}

/** @param {any} entry of a HAR */
function redacted({ request, response, ...entry }) {
  const url = redactUrl(request.url);
  const queryString = [...new URL(url).searchParams].map(([name, value]) => ({ name, value }));
  return {
    ...entry,
    request: { ...request, url, queryString, headers: redactedLines(request.headers) },
    response: {
      ...response,
      headers: redactedLines(response.headers),
      redirectURL: redactUrl(response.redirectURL),
    },
  };
}

/** @param {{ name: string, value: string }[]} lines */
const redactedLines = (lines) =>
  redactHeaders(lines.map(({ name, value }) => [name, value])).map(([name, value]) => ({ name, value }));

module.exports = { attachTraffic };
