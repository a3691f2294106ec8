// @ts-check
/**
 * The data of a page that was saved as the report of a run: it answers in the place of the proxy.
 *
 * @typedef {import("../../../rest-records.js").HttpEntry} HttpEntry
 * @typedef {import("../../../rest-records.js").HttpSummary} HttpSummary
 * @typedef {import("../../../rest-records.js").WebSocketEntry} WebSocketEntry
 * @typedef {import("../../../run-document.js").RunDocument} RunDocument
 */

import { decode, text } from "../bodies/bytes.js";
import { upstreamError } from "./upstream.js";

const place = document.getElementById("run");

/** The run, of a saved page. @type {RunDocument | null} */
export const run = place ? JSON.parse(place.textContent ?? "") : null;

const TAG = '"saved-1"';

/** @type {Map<string, HttpEntry>} */
const requests = new Map();
/** @type {Map<string, WebSocketEntry>} */
const sockets = new Map();
for (const part of run ? [run.unowned, ...run.tests] : []) {
  for (const entry of part.requests) requests.set(entry.id, entry);
  for (const entry of part.webSockets) sockets.set(entry.id, entry);
}

/**
 * Answer a request for a JSON resource of the proxy.
 *
 * @param {string} path
 * @returns {{body: any, tag: string} | undefined} `undefined`: there is no such resource
 */
export function savedAnswer(path) {
  const [pathname, query = ""] = path.split("?");
  const body = bodyOf(pathname, new URLSearchParams(query));
  return body && { body, tag: TAG };
}

/** @param {string} pathname @param {URLSearchParams} searchParams @returns {any} */
function bodyOf(pathname, searchParams) {
  const words = (searchParams.get("q") ?? "").toLowerCase();
  const [, , list, id] = pathname.split("/").map(decodeURIComponent);
  if (pathname === "/state") return { history: TAG, ws: TAG, connections: TAG };
  if (pathname === "/proxy/health") {
    return { ok: true, version: run?.version, protocolVersion: 3, historyCapture: "all" };
  }
  if (list === "connections") return { nodeAgents: [], runnerWorkers: [worker()], playwrightWorkers: [] };
  if (list === "history" && id) return requests.has(id) && { entry: requests.get(id) };
  if (list === "ws" && id) return sockets.has(id) && { connection: sockets.get(id) };
  if (list === "history") return { entries: newestFirst(requests, words).map(summaryOf) };
  return list === "ws" && { connections: newestFirst(sockets, words) };
}

/** Return the tests of the run as those of a worker, for the routes of requests that other tests got. */
function worker() {
  const tests = (run?.tests ?? []).map(({ id, title, file, routes }) => ({ testId: id, title, file, routes }));
  return { clientId: "", connectionId: "", testCount: tests.length, routeCount: 0, tests };
}

/**
 * @template {HttpEntry | WebSocketEntry} T
 * @param {Map<string, T>} entries
 * @param {string} words in lower case; empty for all entries
 */
function newestFirst(entries, words) {
  const found = [...entries.values()].sort((one, other) => other.timestamp - one.timestamp);
  return words ? found.filter((entry) => textIn(entry).toLowerCase().includes(words)) : found;
}

/** @param {HttpEntry | WebSocketEntry} entry @returns {string} all its text, that of bodies decoded */
function textIn(entry) {
  const bodies =
    "request" in entry ? [entry.request, entry.overrides, entry.outcome.response].map((part) => part?.bodyBase64) : [];
  return [JSON.stringify(entry), ...bodies.map((body) => (body ? text(decode(body), "utf-8") : ""))].join("\n");
}

/** What the proxy leaves out of a list (`fields=summary`). @param {HttpEntry} entry @returns {HttpSummary} */
function summaryOf({ request, outcome, overrides, events, ...row }) {
  const { response, ...rest } = outcome;
  const failed = upstreamError(events);
  const broken = events.find(({ kind }) => kind === "broken_off");
  const raised =
    row.action === "abort" && outcome.errorCode !== "aborted"
      ? events.find(({ kind, detail }) => kind === "abort" && detail && detail !== outcome.errorCode)?.detail
      : undefined;
  return {
    ...row,
    request: { url: request.url, method: request.method },
    outcome: { ...rest, ...(response && { response: statusLineOf(response) }) },
    ...(overrides && { overrides: { url: overrides.url, method: overrides.method } }),
    ...(failed !== undefined && { upstreamError: failed }),
    ...(raised !== undefined && { handlerError: raised }),
    ...(broken && { broken: broken.detail ?? "" }),
  };
}

/** @param {import("../../../rest-records.js").HttpResponse} response */
function statusLineOf({ status, statusText, url, headers, bodyBase64, bodySize, bodyPending, truncated }) {
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1];
  const size = bodySize ?? (bodyBase64 ? decode(bodyBase64).length : 0);
  return {
    ...{ status, statusText, url, contentType, bodyPending },
    ...(!bodyPending && (!truncated || size > 0) && { bodySize: size }),
  };
}
