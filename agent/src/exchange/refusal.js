"use strict";

const headers = require("../protocol/headers.js");

/** The code of a request that strict mode refuses. */
const UNMATCHED = "unmatched_request";

/**
 * Headers of client libraries that repeat a request after every error of a connection, whatever its code: those of
 * Stripe; of OpenAI, Anthropic and others made by Stainless; and of Google's clients, which stand on gaxios.
 */
const REPEATING = ["x-stripe-client-user-agent", "x-stainless-retry-count", "x-goog-api-client"];

/**
 * Whether a request that strict mode refuses is answered with 403, which no library repeats. Otherwise it fails with an
 * error, which says more: `fetch` does not fail with 403, and most libraries show only its number.
 *
 * @param {import('../settings.js').Settings['strictAnswer']} strictAnswer
 * @param {headers.Pairs} pairs the headers of the request
 * @returns {boolean}
 */
function isAnswered(strictAnswer, pairs) {
  if (strictAnswer !== "auto") return strictAnswer === "response";
  return REPEATING.some((name) => headers.get(pairs, name) !== undefined);
}

/**
 * @param {string} message why strict mode refused a request
 * @returns {{ status: number, headersList: headers.Pairs, bodyBase64: string }} an answer whose text the libraries of
 *   Stripe, OpenAI, Anthropic and Google have in their errors
 */
const refusal = (message) => ({
  status: 403,
  headersList: [["content-type", "application/json"]],
  bodyBase64: Buffer.from(JSON.stringify({ error: { code: UNMATCHED, message } })).toString("base64"),
});

module.exports = { UNMATCHED, isAnswered, refusal };
