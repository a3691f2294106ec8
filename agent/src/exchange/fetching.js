"use strict";

const { setTimeout } = require("node:timers/promises");
const { FIRST_PAUSE_MS, MOST_REDIRECTS } = require("../protocol/facts.js");
const headers = require("../protocol/headers.js");
const { decode, decodedPairs } = require("./coding.js");
const { isRedirect, nextHop } = require("./redirects.js");

const NOT_MODIFIED = 304;

/**
 * A handler's fetch (protocol 3 `decision:fetch`): a request to the upstream whose
 * response goes to the test, while the application still waits.
 *
 * @typedef {(request: import('../protocol/messages.js').Outgoing, signal: AbortSignal) => Promise<import('../protocol/messages.js').UpstreamResponse>} Perform
 */

/**
 * Send a request and follow its redirects.
 * @param {import('../protocol/messages.js').Outgoing} request
 * @param {(request: import('../protocol/messages.js').Outgoing) => Promise<import('../protocol/messages.js').UpstreamResponse>} perform sends one request without following redirects; the body of its answer is not decoded
 * @param {{ maxRedirects?: number, maxRetries?: number }} limits by default 20 redirects and no retries
 * @param {AbortSignal} signal aborted when the answer is not needed any more
 * @returns {Promise<import('../protocol/messages.js').UpstreamResponse>} the last answer, decoded
 * @throws {Error} the upstream cannot be reached, or redirects too often
 */
async function fetchUpstream(request, perform, { maxRedirects = MOST_REDIRECTS, maxRetries = 0 }, signal) {
  let hop = request;
  for (let followed = 0; ; followed += 1) {
    signal.throwIfAborted();
    const answer = await retried(() => perform(hop), maxRetries, signal);
    if (maxRedirects === 0 || !isRedirect(answer.status, answer.pairs)) return decoded(answer, hop.method);
    if (followed >= maxRedirects) throw new Error("Max redirect count exceeded");
    hop = nextHop(hop, answer.status, headers.get(answer.pairs, "location") ?? "");
  }
}

/**
 * Repeat a request whose connection was reset, with growing pauses.
 * @template T
 * @param {() => Promise<T>} act
 * @param {number} maxRetries
 * @param {AbortSignal} signal
 * @returns {Promise<T>}
 */
async function retried(act, maxRetries, signal) {
  for (let tried = 0; ; tried += 1) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted || !isReset(error)) throw error;
      if (tried < maxRetries) await setTimeout(FIRST_PAUSE_MS * 2 ** tried, undefined, { signal });
      else throw maxRetries > 0 ? counted(/** @type {Error} */ (error), tried + 1) : error;
    }
  }
}

/** @param {any} error */
const isReset = (error) => error?.code === "ECONNRESET" || (error?.code === "UND_ERR_SOCKET" && !error.cause);

/**
 * @param {Error} error
 * @param {number} attempts
 */
function counted(error, attempts) {
  const more = new Error(`Failed after ${attempts} attempt(s): ${error.message}`, { cause: error });
  return Object.assign(more, { name: error.name, code: /** @type {any} */ (error).code });
}

/**
 * @param {import('../protocol/messages.js').UpstreamResponse} answer
 * @param {string} method of the request
 * @returns {import('../protocol/messages.js').UpstreamResponse}
 */
function decoded(answer, method) {
  // Its headers are about the body that another request gets (RFC 9110, section 8.6).
  if (method === "HEAD" || answer.status === NOT_MODIFIED) return answer;
  const coding = headers.get(answer.pairs, "content-encoding");
  const body = answer.body.length ? decode(answer.body, coding) : answer.body;
  // A body with an unknown coding stays encoded, with the header that names the coding.
  if (!body) return { ...answer, pairs: headers.without(answer.pairs, "transfer-encoding") };
  return {
    ...answer,
    pieces: coding ? undefined : answer.pieces,
    body,
    pairs: decodedPairs(answer.pairs, answer.body.length ? body : undefined),
  };
}

module.exports = { fetchUpstream };
