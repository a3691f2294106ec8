"use strict";

const { NETWORK_ERRORS, UNIX_SCHEME } = require("./facts.js");

/**
 * The errors that an application gets: those of this agent, and copies of network
 * errors, so that the application's retry logic runs.
 */

/** An error of trafficmock itself, not of the network. */
class TrafficMockError extends Error {
  /**
   * @param {string} code lower-case word, as in protocol 3 (`claim_timeout`)
   * @param {string} message
   * @param {{ cause?: unknown, matches?: object[] }} [more]
   */
  constructor(code, message, more = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "TrafficMockError";
    this.code = `ERR_TRAFFICMOCK_${code.toUpperCase()}`;
    if (more.matches) this.matches = more.matches;
  }
}

/**
 * Make the error for a request that a test aborted.
 * @param {string} abortCode of protocol 3; an unknown one counts as `failed`
 * @param {string} url of the request, for the host and port in the text
 * @param {string} [message] of the error of a handler that failed
 * @returns {NodeJS.ErrnoException & { abortCode: string }}
 */
function networkError(abortCode, url, message) {
  const { code, errno, syscall } = NETWORK_ERRORS[Object.hasOwn(NETWORK_ERRORS, abortCode) ? abortCode : "failed"];
  const { hostname, port, protocol } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, "");
  const number = Number(port) || (protocol === "https:" || protocol === "wss:" ? 443 : 80);
  // Node names the path of a UNIX socket, and no port.
  const place =
    protocol === UNIX_SCHEME
      ? { text: decodeURIComponent(hostname), at: { address: decodeURIComponent(hostname) } }
      : { text: `${address}:${number}`, at: { address, port: number } };
  let text = `${syscall} ${code}`;
  if (syscall === "connect") text += ` ${place.text}`;
  if (syscall === "getaddrinfo") text += ` ${address}`;
  const error = new Error(message ? `${text}: ${message}` : text);
  Object.assign(error, { errno, code, syscall, abortCode });
  if (syscall === "connect") Object.assign(error, place.at);
  if (syscall === "getaddrinfo") Object.assign(error, { hostname: address });
  return /** @type {any} */ (error);
}

/**
 * Convert an error for the wire (protocol 3 `SerializedError`).
 * @param {any} error
 * @returns {{ name: string, message: string, stack?: string, code?: string }}
 */
function serializeError(error) {
  // Not by `instanceof`: in a context of node:vm, Node's own errors are of another class.
  const from = typeof error?.message === "string" && error.name ? error : new Error(String(error));
  // An AggregateError (Happy Eyeballs, RFC 8305) has no text of its own.
  const inner = /** @type {any} */ (from);
  const message = from.message || inner.errors?.map((/** @type {any} */ e) => e.message).join("; ") || "";
  return {
    name: String(from.name),
    message,
    ...(typeof from.stack === "string" && { stack: from.stack }),
    ...(typeof inner.code === "string" && { code: inner.code }),
  };
}

module.exports = { TrafficMockError, networkError, serializeError };
