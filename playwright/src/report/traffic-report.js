"use strict";

const { decisionOf } = require("./decisions.js");

/**
 * Says why a test may have failed: the routes that no request met, with the nearest requests, and the requests that no
 * route of the test decided. It is added to the error of the test, and stands above the table of the traffic.
 *
 * @typedef {import("../session/session.js").Session} Session
 * @typedef {import("../session/http-routes.js").RouteEntry} RouteEntry
 *
 * @typedef {object} SimilarRequest a request that came, or several alike; docs/protocol/additions.md explains the keys
 * @property {string} id
 * @property {unknown[]} differs
 * @property {string} text
 * @property {boolean} [before]
 * @property {boolean} [foreign]
 *
 * @typedef {{ found: { requests: SimilarRequest[], more: number }[], applications: string[] }} Diagnosis
 *
 * @typedef {import("../session/request-state.js").RequestState} RequestState
 *
 * @typedef {object} Traffic the traffic of a test
 * @property {RequestState[]} requests since the test began, oldest first
 * @property {Map<string, import("../connection/worker-connection.js").HistoryEntry>} recorded in the proxy's history, by id
 * @property {RouteEntry[]} unmet the routes that no request met
 * @property {SimilarRequest[][]} similar for each of them, the nearest requests
 * @property {string[]} applications lines about the connected applications
 */

/** Limit of the lines for one kind: the first ones tell most. */
const MOST_LINES = 20;

/**
 * @param {Session} session
 * @returns {Promise<Traffic>}
 */
async function trafficOf(session) {
  const { http, connection, registration } = session;
  const requests = await session.requests();
  const recorded = await connection.recorded(registration.startedAt);
  const met = new Set(
    requests.flatMap(({ id }) => {
      const { outcome, alsoMatched = [] } = recorded.get(id) ?? {};
      return [...alsoMatched, ...(outcome?.matches ?? []).map(({ routeId }) => routeId)];
    }),
  );
  const unmet = http.live.filter((entry) => !entry.calls && !met.has(entry.id));
  const { similar, applications } = await registration.similarTo(unmet);
  return { requests, recorded, unmet, similar, applications };
}

/**
 * @param {Session} session
 * @param {Traffic} traffic
 * @returns {string[]} lines; none if the test has no routes, or if each was met and decided all that came
 */
function reportLines(session, { requests, recorded, unmet, similar, applications }) {
  if (!session.http.known.size) return [...session.warnings];
  const undecided = requests.filter(({ id }) => !session.http.owned.has(id));
  const doubtful = requests.filter(({ id }) => session.http.owned.has(id) && recorded.get(id)?.otherTests);
  const lines = [...session.warnings, ...unmetLines(session, { unmet, similar })];
  const row = (/** @type {RequestState} */ request) => {
    const { clientId, response } = request;
    const status = response ? String(response.wire.status) : "no response";
    const decision = decisionOf(session, recorded, request);
    return `  ${[String(request), status, `client ${clientId}`, decision].filter(Boolean).join(", ")}`;
  };
  if (undecided.length) lines.push("without a decision of this test:", ...counted(undecided.map(row)));
  if (doubtful.length) lines.push("decided without a context:", ...counted(doubtful.map(row)));
  const isNothing = !requests.length && similar.every((each) => !each.length);
  if (isNothing) lines.push(...nothingCame(session, unmet, applications));
  return lines;
}

/**
 * @param {Session} session
 * @param {RouteEntry[]} unmet
 * @param {string[]} applications lines about the connected applications
 * @returns {string[]} none if all these routes are for servers of this process, of which nothing can come
 */
function nothingCame(session, unmet, applications) {
  if (unmet.length && unmet.every((entry) => ownPort(session, entry))) return [];
  return ["No request of any application came since the test began.", ...applications];
}

/**
 * @param {Session} session
 * @param {RouteEntry} entry
 * @returns {number | undefined} the port of the server of this process that the route names, if this process called it
 */
function ownPort({ attachment }, { matcher: { wire } }) {
  const [origin] = /^(?:http|ws)s?:\/\/[^/?#*{]+/.exec(wire.urlGlob ?? "") ?? [];
  return origin && URL.canParse(origin) ? attachment?.calledOwn(new URL(origin)) : undefined;
}

/** @param {number} port */
const notRouted = (port) =>
  `  port ${port} is a server of this process; its requests are not routed. Give the client another URL, with a name that is ` +
  "not this machine's, such as http://upstream.test, and let the route's handler ask the server";

/**
 * @param {Session} session
 * @param {Pick<Traffic, "unmet" | "similar">} traffic
 * @returns {string[]} lines for each route that no request met, with the nearest requests
 */
function unmetLines(session, { unmet, similar }) {
  const { http } = session;
  return unmet.flatMap((entry, index) => [
    `no request met the route ${entry.matcher}: ${entry.name}`,
    ...(entry.matcher.hint ? [`  ${entry.matcher.hint}`] : []),
    ...[ownPort(session, entry)].filter((port) => port !== undefined).map(notRouted),
    ...similar[index].filter((each) => !http.owned.has(each.id) && isNear(each)).map(({ text }) => `  ${text}`),
  ]);
}

/** @param {SimilarRequest} request of which a request that is another one in more than one part tells nothing */
function isNear({ differs, foreign, before }) {
  return foreign || differs.length === 1 || (differs.length === 0 && before);
}

/**
 * @param {string[]} rows
 * @returns {string[]} each once, with the number of its repeats
 */
function counted(rows) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  const lines = [...counts].map(([row, count]) => (count > 1 ? `${row} (${count} times)` : row));
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES), `  and ${lines.length - MOST_LINES} more`];
}

/**
 * Add the report to the error of a failed test, which the terminal, the HTML report and `error-context.md` show.
 *
 * @param {import("@playwright/test").TestInfo} testInfo
 * @param {readonly string[]} lines
 */
function addToError({ errors }, lines) {
  const [error] = errors;
  if (!error?.message || !lines.length) return;
  const text = `${error.message}\n\nThe server's traffic:\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
  // A stack begins with the message.
  if (error.stack) error.stack = error.stack.replace(error.message, () => text);
  error.message = text;
}

module.exports = { addToError, nothingCame, reportLines, trafficOf, unmetLines };
