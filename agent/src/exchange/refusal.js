"use strict";

const headers = require("../protocol/headers.js");
const { packagesOf } = require("../process/callers.js");
const { TrafficMockError } = require("../protocol/errors.js");
const { UNMATCHED } = require("../protocol/facts.js");

/** @typedef {{ status: number, statusText: string, headersList: headers.Pairs, bodyBase64: string }} Response */

/** @type {(message: string) => Response} a 403 with the text as the APIs of Stripe, OpenAI and Google have it */
const forbidden = (message) => answer(403, { error: { code: UNMATCHED, message } });

/** @type {(message: string) => Response} a 403 with the text as GitHub's API has it, and PostgREST */
const flatForbidden = (message) => answer(403, { code: UNMATCHED, message });

/** @type {(message: string) => Response} what Slack's API says if it cannot do what it is asked */
const notOk = (message) => answer(200, { ok: false, error: `${UNMATCHED}: ${message}` });

/**
 * Client libraries that repeat a request after every error of a connection, whatever its code: a header of theirs, what
 * its value looks like, and the response after which they do not ask again.
 * @type {[string, RegExp, (message: string) => Response][]}
 */
const REPEATING_CLIENTS = [
  ["x-stripe-client-user-agent", /^/, forbidden], // Stripe
  ["x-stainless-retry-count", /^/, forbidden], // OpenAI, Anthropic and others made by Stainless
  ["x-goog-api-client", /^/, forbidden], // Google's clients, which stand on gaxios
  ["x-algolia-application-id", /^/, flatForbidden], // Algolia asks its other hosts
  ["x-client-info", /^(?:supabase|postgrest)-/, flatForbidden], // Supabase
  ["user-agent", /\boctokit/, flatForbidden], // Octokit
  ["user-agent", /^@slack:web-api\//, notOk], // Slack repeats after every status, too
];

/** Packages that repeat requests likewise, but not after a 403. Their requests have no header of theirs. */
const REPEATING_PACKAGES = ["ky", "ofetch", "gaxios"];

/** The code of a request that axios aborted itself: the only one after which axios-retry asks once. */
const AXIOS_ABORTED = "ECONNABORTED";

/**
 * Make the refusal of a request, in the form after which the client library that sends it does not ask again. Where it can
 * be an error, it is: `fetch` does not fail with 403, and most libraries show only its number.
 * @param {import('../settings.js').Settings['strictAnswer']} strictAnswer
 * @param {string} message why strict mode refused the request
 * @param {headers.Pairs} pairs the headers of the request
 * @param {{ stack?: string }} [callers] of the function that sends it
 * @returns {{ error: Error } | { response: Response }}
 */
function refusalOf(strictAnswer, message, pairs, callers) {
  const error = new TrafficMockError(UNMATCHED, message);
  if (strictAnswer === "error") return { error };
  for (const [name, value, response] of REPEATING_CLIENTS) {
    const given = headers.get(pairs, name);
    if (given !== undefined && value.test(given)) return { response: response(message) };
  }
  const packages = packagesOf(callers);
  const repeats = packages.some((name) => REPEATING_PACKAGES.includes(name));
  if (strictAnswer === "response" || repeats) return { response: forbidden(message) };
  if (packages.includes("axios")) error.code = AXIOS_ABORTED;
  return { error };
}

/**
 * @param {number} status
 * @param {object} body
 * @returns {Response}
 */
function answer(status, body) {
  return {
    status,
    statusText: "Refused by trafficmock",
    headersList: [["content-type", "application/json"]],
    bodyBase64: Buffer.from(JSON.stringify(body)).toString("base64"),
  };
}

module.exports = { refusalOf };
