"use strict";

/**
 * The text about requests that strict mode refused and no test owns; `trafficmock/testing/session/unowned_text.py` is the
 * same for Python.
 *
 * @typedef {import("../../index.js").UnmatchedRequest} UnmatchedRequest
 * @typedef {{ requests: UnmatchedRequest[], dropped: number, frameworks?: UnmatchedRequest[] }} Unmatched
 */

const UNOWNED = "Strict mode refused requests that no test owns";
const FRAMEWORKS = "What frameworks sent for themselves, refused by strict mode";
const WHAT_TO_DO =
  "They carry no context, or that of a test that had ended: the application sent them by itself (at its start, by a timer, " +
  "after a test), or it lost the context. Give them a route of trafficmockRun or trafficmockShared, or allow their hosts.";

/** @param {Unmatched} unmatched @returns {string} the list of what no test owns, empty without any */
function unownedText({ requests, dropped }) {
  if (!requests.length) return "";
  const more = dropped ? [`  and ${dropped} more, of which no list is kept`] : [];
  return [`${UNOWNED}:`, ...requests.flatMap(linesOf), ...more, WHAT_TO_DO].join("\n");
}

/** @param {Unmatched} unmatched @returns {string} what fails nothing, empty without any */
function frameworksText({ frameworks = [] }) {
  return frameworks.length ? [`${FRAMEWORKS}:`, ...frameworks.flatMap(linesOf)].join("\n") : "";
}

/** @param {UnmatchedRequest} request */
function linesOf({ method, url, clientId, sender, at, lastAt, count, message }) {
  const who = sender || `client ${clientId}`;
  const [first, last] = [at, lastAt].map(clock);
  const when = !at ? "" : first === last ? `, at ${first} UTC` : `, from ${first} to ${last} UTC`;
  return [`  ${method} ${url}, ${who}${when}${count > 1 ? ` (${count} times)` : ""}`, `    ${message}`];
}

/** @param {number | undefined} at epoch ms */
const clock = (at) => new Date(at ?? 0).toISOString().slice(11, 19);

module.exports = { frameworksText, unownedText };
