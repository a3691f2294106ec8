"use strict";

const { REPORT } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");
const { written } = require("../session/call-site.js");

/**
 * What a report has of one test.
 *
 * @typedef {import("../session/session.js").Session} Session
 *
 * @typedef {object} FinishedTest what a test runner knows of a test
 * @property {string} title
 * @property {string} file
 * @property {number} [line] of its beginning in the file, from 1
 * @property {"passed" | "failed" | "skipped" | "unknown"} outcome
 * @property {number} [retry] the number of the retry; 0 is the first run
 * @property {string} [error] the text of its failure
 * @property {number} startedAt epoch ms
 *
 * @typedef {object} ReportAnswer `report:result` (docs/protocol/additions.md)
 * @property {any[]} entries
 * @property {any[]} connections
 * @property {any} har
 * @property {number} omitted
 * @property {any} counts of the worker and of no test
 * @property {string} service
 * @property {string[]} texts
 * @property {string} missing why the history does not have all of it; empty if it has
 * @property {string} [error] why there are neither entries nor texts: a word of `redact` is no field
 */

/** The colours of a terminal (ECMA-48). */
const COLOURS = /\u001b\[[0-9;]*m/g;

/** @param {string} text @returns {string} it without the colours of a terminal */
const withoutColours = (text) => text.replace(COLOURS, "");

/** @param {string} error @returns {string} as the report has it */
const plain = (error) => withoutColours(error).slice(0, REPORT.longestError);

/**
 * Ask the proxy what it has of a test, or of no test.
 *
 * @param {import("../connection/worker-connection.js").WorkerConnection} connection
 * @param {{ bodyBytes: number, redact: string[] }} settings
 * @param {{ testId?: string, since?: number, texts?: string[] }} which
 * @returns {Promise<ReportAnswer>}
 * @throws {UsageError} a word of `redact` is no field
 */
async function askForReport(connection, { bodyBytes, redact }, which) {
  const answer = await connection.query({ type: "report:query", bodyBytes, redact, ...which });
  if (answer.error) throw new UsageError(answer.error);
  return answer;
}

/**
 * @param {Session} session
 * @param {FinishedTest} test
 * @param {ReportAnswer | undefined} answer `undefined` if the proxy could not be asked
 * @param {string} [missing] why it could not
 */
function testRecord(session, { error, startedAt, ...test }, answer, missing) {
  const met = new Map();
  for (const { routeId } of answer?.connections ?? []) met.set(routeId, (met.get(routeId) ?? 0) + 1);
  // Only the proxy removes secrets. Where it could not be asked, URLs have no query.
  const [text, ...patterns] = answer?.texts ?? askedTexts(session).map((each) => each.replace(/[?#].*/s, "…"));
  return {
    id: session.id,
    ...test,
    startedAt,
    durationMs: Date.now() - startedAt,
    ...(error && { error: text || "(the proxy could not remove its secrets)" }),
    routes: routesOf(session).map((entry, index) => {
      const isHttp = session.http.known.has(entry.id);
      return routeOf(
        entry,
        patterns[index],
        isHttp ? "http" : "websocket",
        isHttp ? entry.calls : (met.get(entry.id) ?? 0),
      );
    }),
    requests: answer?.entries ?? [],
    webSockets: answer?.connections ?? [],
    omitted: answer?.omitted ?? 0,
    ...((missing || answer?.missing) && { missing: missing || answer?.missing }),
  };
}

/** @param {Session} session @returns {import("../session/http-routes.js").RouteEntry[]} */
const routesOf = ({ http, sockets }) => [...http.known.values(), ...sockets.entries];

/**
 * @param {Session} session
 * @param {string} [error] the text of its failure
 * @returns {string[]} texts of its record of which the proxy removes the secrets
 */
function askedTexts(session, error = "") {
  const matchers = routesOf(session).map(({ matcher: { wire } }) => wire);
  return [plain(error), ...matchers.map(({ urlGlob, urlRegex }) => urlGlob ?? urlRegex?.source ?? "")];
}

/**
 * @param {import("../session/http-routes.js").RouteEntry} entry
 * @param {string} pattern its glob, or the source of its regular expression, without secrets
 * @param {string} kind
 * @param {number} requests
 */
function routeOf(entry, pattern, kind, requests) {
  const place = entry.placeOf();
  return {
    routeId: entry.id,
    kind,
    matcher: shown(entry.matcher.wire, pattern),
    handler: entry.name,
    requests,
    ...(place && { place: written(place) }),
  };
}

/**
 * @param {any} matcher
 * @param {string} pattern
 * @returns {any} without the conditions on headers and bodies, which may have secrets
 */
function shown({ urlGlob, urlRegex, methods, clientIds, predicate }, pattern) {
  const url = urlGlob === undefined ? { urlRegex: urlRegex && { ...urlRegex, source: pattern } } : { urlGlob: pattern };
  return { ...url, methods, clientIds, predicate };
}

module.exports = { askForReport, askedTexts, testRecord, withoutColours };
