"use strict";

const { version } = require("../../package.json");
const { harDocument, harEntry } = require("../har/har-entry.js");
const { redactHeaders, redactUrl } = require("./redaction.js");
const { trafficTable } = require("./traffic-table.js");

/**
 * What a test's report gets: the traffic of the applications during the test, as a table to read and as a HAR.
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
  if (session.connection.lost) return;
  const requests = await session.requests();
  const [recorded, agents] = await Promise.all([
    session.connection.recorded(session.registration.startedAt),
    session.connection.agents(),
  ]);
  await testInfo.attach("server traffic", {
    body: trafficTable(session, { requests, recorded, agents }),
    contentType: "text/html",
  });
  if (requests.length) {
    await testInfo.attach("server-traffic.har", { body: har(requests, recorded), contentType: "application/json" });
  }
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
