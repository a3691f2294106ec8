"use strict";

/**
 * Describes the requests that came instead of those that a test waited for. The proxy compares them.
 *
 * @typedef {import("./request-state.js").RequestState} RequestState
 *
 * @typedef {{ part: string, found?: string, wanted?: string }} Difference
 *
 * @typedef {object} SimilarRequest a request that came, or several alike; the keys are explained in
 *   docs/protocol/additions.md
 * @property {string} id
 * @property {string} method
 * @property {string} url
 * @property {string} clientId
 * @property {string} action
 * @property {Difference[]} differs
 * @property {number} [count]
 * @property {boolean} [undecided]
 * @property {boolean} [before]
 * @property {boolean} [foreign]
 * @property {number} [status]
 * @property {string} [failure]
 * @property {string} [testId]
 * @property {string} [title]
 * @property {string} [path]
 *
 * @typedef {{ requests: SimilarRequest[], more: number }} SimilarRequests
 * @typedef {{ found: SimilarRequests[], agents: any[], capture: string }} Diagnosis
 */

const MOST_SHOWN = 8;
const MOST_AGENTS = 10;
const TOO_EARLY = "came before the wait began: begin it before the act";
const HOW_TO_ATTACH =
  "Start the application with the environment that attached({ clientId }) of trafficmock-playwright/config gives, " +
  "or through `trafficmock run -- COMMAND`.";
/** How an application is attached, by the `kind` of its connection. @type {Record<string, string>} */
const WAYS = { proxy: "the forward proxy", python: "the Python preload" };
const FROM_FIRST_REQUEST =
  "An application without the Node agent, such as a Python one, is listed from its first request on.";

/**
 * @param {string} kind what a test waited for: `request` or `response`
 * @param {{ found: SimilarRequests, agents: any[], capture: string }} overdue the proxy's answer
 * @param {RequestState[]} observed the requests that this process observed since the test began, oldest first: they are
 *   listed if the proxy does not know what came
 * @param {(id: string) => string} problemOf returns why a request is not decided
 */
function describeSeen(kind, { found: { requests, more }, agents, capture }, observed, problemOf) {
  const lines = [];
  if (capture !== "all") lines.push(`(the proxy's history keeps only: ${capture})`);
  if (requests.length) {
    lines.push("Seen since the test began, nearest first:");
    lines.push(...requests.map((each) => `  ${rowOf(kind, each, problemOf(each.id))}`));
    if (more) lines.push(`  and ${more} more`);
  } else if (observed.length) {
    lines.push("Seen since the test began, newest first:");
    const newest = observed.slice(-MOST_SHOWN).reverse();
    lines.push(
      ...newest.map(
        (each) => `  ${[`${each} (client ${each.clientId})`, problemOf(each.id)].filter(Boolean).join(": ")}`,
      ),
    );
    if (observed.length > MOST_SHOWN) lines.push(`  and ${observed.length - MOST_SHOWN} more`);
  } else {
    lines.push("No request of any application came since the test began.", ...connected(agents));
  }
  return lines.join("\n");
}

/**
 * @param {string} kind
 * @param {SimilarRequest} request
 * @param {string} problem why the request is not decided
 */
function rowOf(kind, request, problem) {
  const { method, url, clientId, count = 1 } = request;
  const times = count > 1 ? `, ${count} times` : "";
  const reasons = [reasonFor(kind, request), problem].filter(Boolean).join("; ");
  return `${method} ${url} (client ${clientId}${times})${reasons && `: ${reasons}`}`;
}

/**
 * @param {string} kind
 * @param {SimilarRequest} request
 * @returns {string} why the request did not end the wait
 */
function reasonFor(kind, { differs, undecided, before, foreign, status, failure, title, path }) {
  if (differs.length) return differs.map(describeDifference).join(", ");
  if (undecided) return before ? TOO_EARLY : "the predicate did not want it";
  if (kind === "response" && status === undefined && !before) {
    return failure === undefined ? "no response yet, or it failed" : `no response (${failure})`;
  }
  return foreign ? `made for the test '${title}' in ${path}` : TOO_EARLY;
}

/**
 * Describe a part in which a request differs from a route or wait, with both values.
 * @param {Difference} difference
 */
function describeDifference({ part, found, wanted }) {
  if (part === "condition") return String(found);
  if (part === "url") return "the pattern does not match";
  if (part === "query" && wanted === "") return `query differs ('${found}': a glob is for the whole URL, queries too)`;
  return `${part} differs ('${found}', not '${wanted}')`;
}

/**
 * List the connected applications or, without any, how to attach one.
 * @param {any[] | undefined} agents `undefined` if the proxy does not report them
 */
function connected(agents) {
  if (!agents) return [`Does the application run attached? ${HOW_TO_ATTACH}`];
  if (!agents.length) return [`No application is connected to the proxy. ${HOW_TO_ATTACH}`, FROM_FIRST_REQUEST];
  const lines = agents.slice(0, MOST_AGENTS).map(({ clientId, kind, pid, command }) => {
    const by = WAYS[kind] ?? "the Node agent";
    return `  ${clientId}, by ${by}${pid ? `, pid ${pid}` : ""}${command ? `, ${command}` : ""}`;
  });
  if (agents.length > MOST_AGENTS) lines.push(`  and ${agents.length - MOST_AGENTS} more`);
  return ["Applications that are connected:", ...lines];
}

module.exports = { connected, describeDifference, describeSeen };
