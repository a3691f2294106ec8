// @ts-check
/**
 * The rows of both lists: flat objects with the values to show.
 *
 * @typedef {object} Row
 * @property {string} id
 * @property {number} at epoch ms
 * @property {string} clientId
 * @property {string} method empty for a WebSocket
 * @property {string} url
 * @property {string} scheme
 * @property {string} host
 * @property {string} path
 * @property {string} query
 * @property {string} action of a request, or outcome of a WebSocket
 * @property {number | undefined} status
 * @property {string} code the error code, if there is no status
 * @property {boolean} isBroken whether the answer broke off, so that the application did not get what has the status
 * @property {string} problem the error message
 * @property {number | undefined} duration ms; of what has ended
 * @property {boolean} isOpen whether its response is still arriving
 * @property {string} type of the response's content, without parameters
 * @property {number | undefined} size bytes of the response's body
 * @property {string} testId of the owning test, or of the test whose context it has
 * @property {boolean} late whether that test had ended
 * @property {string[]} alsoMatched ids of matching routes of other tests, which did not get it
 * @property {string} title of the owning test
 * @property {string} file of the owning test
 * @property {string} tests names of the owning test, or of those that claim it together
 * @property {string} files the files of these tests
 * @property {string} fromId
 * @property {string} toId
 * @property {boolean} failed whether it has an error that no test ordered
 * @property {Claimant[]} matches claimants of an ambiguous request
 * @property {number | undefined} closedAt of a WebSocket, epoch ms
 * @property {string} haystack the text that the filter searches, in lower case
 */

import { urlParts } from "../lib/format.js";
import { matcherText } from "./routes.js";
import { testFiles, testNames } from "./tests.js";
import { upstreamCode } from "./upstream.js";

/** @typedef {import("../../../rest-records.js").Claimant} Claimant */
/** @typedef {import("../../../rest-records.js").HttpSummary} HttpSummary */
/** @typedef {import("../../../rest-records.js").WebSocketSummary} WebSocketSummary */

/** @param {any[]} texts */
const haystack = (texts) =>
  texts
    .filter((text) => text !== undefined && text !== "")
    .join("\n")
    .toLowerCase();

/** @param {HttpSummary} raw an entry of `/api/history?fields=summary` @returns {Row} */
export function requestRow(raw) {
  const { outcome } = raw;
  const status = outcome.response?.status;
  const problem = outcome.message ?? raw.handlerError ?? raw.upstreamError ?? raw.broken ?? "";
  const unreachable = raw.upstreamError === undefined ? "" : upstreamCode(raw.upstreamError);
  const code = outcome.code ?? outcome.errorCode ?? unreachable;
  return {
    id: raw.id,
    at: raw.timestamp,
    clientId: raw.clientId,
    method: raw.request.method,
    url: raw.request.url,
    ...urlParts(raw.request.url),
    action: raw.action,
    status,
    code,
    isBroken: status !== undefined && raw.broken !== undefined,
    problem,
    duration: outcome.response?.bodyPending ? undefined : raw.durationMs,
    isOpen: outcome.response?.bodyPending ?? false,
    type: (outcome.response?.contentType ?? "").split(";")[0].trim().toLowerCase(),
    size: outcome.response?.bodySize,
    testId: raw.testId ?? "",
    late: raw.late ?? false,
    alsoMatched: raw.alsoMatched ?? [],
    title: raw.title ?? "",
    file: raw.path ?? "",
    tests: testNames(raw.title, outcome.matches),
    files: testFiles(raw.path, outcome.matches),
    fromId: raw.redirectedFromId ?? "",
    toId: raw.redirectedToId ?? "",
    failed: hasFailed(raw),
    matches: outcome.matches ?? [],
    closedAt: undefined,
    haystack: haystack([
      raw.request.url,
      raw.request.method,
      raw.action,
      status,
      raw.broken === undefined ? undefined : "broken",
      raw.title,
      raw.path,
      raw.testId,
      raw.clientId,
      raw.route && matcherText(raw.route.matcher),
      raw.route?.place,
      code,
      outcome.errorCode,
      problem,
      ...(outcome.matches ?? []).map((match) => match.title),
    ]),
  };
}

/** Whether it has an error that no test ordered: a mock may have any status. @param {HttpSummary} raw */
function hasFailed({ action, handlerError, upstreamError, outcome }) {
  if (action === "error" || (handlerError ?? upstreamError) !== undefined) return true;
  return action !== "fulfill" && (outcome.response?.status ?? 0) >= 500;
}

/** @param {WebSocketSummary} raw a connection of `/api/ws?fields=summary` @returns {Row} */
export function socketRow(raw) {
  return {
    id: raw.id,
    at: raw.timestamp,
    clientId: raw.clientId,
    method: "",
    url: raw.url,
    ...urlParts(raw.url),
    action: raw.outcome,
    status: raw.close?.code,
    code: raw.errorCode ?? "",
    isBroken: false,
    problem: raw.errorMessage ?? "",
    duration: raw.closedAt === undefined ? undefined : raw.closedAt - raw.timestamp,
    isOpen: false,
    type: "",
    size: undefined,
    testId: raw.testId ?? "",
    late: raw.late ?? false,
    alsoMatched: raw.alsoMatched ?? [],
    title: raw.title ?? "",
    file: raw.path ?? "",
    tests: testNames(raw.title, raw.matches),
    files: testFiles(raw.path, raw.matches),
    fromId: "",
    toId: "",
    failed: raw.outcome === "error",
    matches: raw.matches ?? [],
    closedAt: raw.closedAt,
    haystack: haystack([
      raw.url,
      raw.outcome,
      raw.title,
      raw.path,
      raw.testId,
      raw.clientId,
      raw.route && matcherText(raw.route.matcher),
      raw.route?.place,
      raw.errorCode,
      raw.errorMessage,
      raw.close?.code,
    ]),
  };
}
