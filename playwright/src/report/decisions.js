"use strict";

const { UNDER_TEST, UNMATCHED } = require("trafficmock-agent/protocol/facts");

/** Texts for requests that no route of the test decided, by the kind of their outcome. */
const OUTCOMES = /** @type {Record<string, string>} */ ({
  passthrough: "went to the real network",
  pending: "not settled yet",
  mocked: "fulfilled",
});

/** Hosts at which a request stays within the application. */
const WITHIN = new RegExp(`^(?:${UNDER_TEST})$`);

/**
 * Say what became of a request, and who decided it.
 *
 * @param {import("../session/session.js").Session} session
 * @param {ReadonlyMap<string, import("../connection/worker-connection.js").HistoryEntry>} recorded
 * @param {{ id: string, url: string }} request
 */
function decisionOf(session, recorded, { id, url }) {
  const routed = session.http.owned.get(id);
  const entry = recorded.get(id);
  if (routed) {
    const by = routed.entry ? `${routed.decision} by ${routed.entry.name}` : routed.decision;
    return entry?.otherTests ? `${by}; ${ofOthers(entry.otherTests)}` : by;
  }
  if (!entry) return "";
  if (entry.testId !== undefined && entry.testId !== session.id) return `by another test: ${entry.title}`;
  const { outcome } = entry;
  // The test has an error with the whole text.
  if (outcome.code === UNMATCHED && entry.testId === session.id) return "refused by strict mode, see its error";
  if (outcome.kind === "passthrough" && isWithin(url)) return "went to a local host";
  if (!outcome.code) return OUTCOMES[outcome.kind] ?? outcome.kind;
  const why = outcome.message ? `. ${outcome.message}` : "";
  return `${outcome.kind}: ${outcome.code}${why}`;
}

/** @param {string} url */
const isWithin = (url) => URL.canParse(url) && WITHIN.test(new URL(url).hostname);

/** @param {number} count of the other tests that ran when the test got a request by its URL alone */
function ofOthers(count) {
  const others = count === 1 ? "another test" : `${count} other tests`;
  return `it came without a context while ${others} ran, and may not be this test's`;
}

module.exports = { decisionOf };
