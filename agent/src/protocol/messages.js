"use strict";

const headers = require("./headers.js");

/**
 * Requests and responses as they travel (protocol 3 `SerializedRequest`,
 * `SerializedResponse`), with the header list for a proxy that knows it.
 *
 * `truncated: true` says that the body is longer than what is here; for a
 * response `bodySize` then tells how many bytes really came.
 */

/**
 * One request that the application made, as every client library hands it in.
 *
 * @typedef {object} Outgoing
 * @property {string} url
 * @property {string} method
 * @property {headers.Pairs} pairs
 * @property {Buffer | null} body
 * @property {boolean} [truncated] whether the body is longer than what is here
 */

/**
 * An upstream's answer with its decoded body.
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} statusText
 * @property {headers.Pairs} pairs
 * @property {Buffer} body
 * @property {string} url
 */

/** @typedef {{ features: ReadonlySet<string> }} Peer what the proxy speaks */

/**
 * @param {Peer} peer
 * @param {headers.Pairs} pairs
 */
function headersToWire(peer, pairs) {
  const map = headers.toMap(pairs);
  return peer.features.has("headers-list") ? { headers: map, headersList: pairs } : { headers: map };
}

/**
 * @param {Peer} peer
 * @param {import('./messages.js').Outgoing} request
 */
function requestToWire(peer, { url, method, pairs, body, truncated }) {
  const hasBody = body?.length && method !== "GET" && method !== "HEAD";
  return {
    url,
    method,
    ...headersToWire(peer, pairs),
    bodyBase64: hasBody ? body.toString("base64") : null,
    ...(truncated && { truncated: true }),
  };
}

/**
 * @param {Peer} peer
 * @param {import('./messages.js').Answer} answer
 * @param {number} [bodySize] bytes that really came, when the body is cut
 */
function responseToWire(peer, { status, statusText, pairs, body, url }, bodySize) {
  return {
    status,
    statusText,
    ...headersToWire(peer, pairs),
    bodyBase64: body.length ? body.toString("base64") : null,
    url,
    ...(bodySize !== undefined && { truncated: true, bodySize }),
  };
}

/**
 * @param {Peer} peer
 * @param {{ id: string, isPast?: boolean } | undefined} context of the test that the request belongs to
 */
const contextToWire = (peer, context) =>
  context && !context.isPast && peer.features.has("context") ? { context: context.id } : {};

module.exports = { contextToWire, requestToWire, responseToWire };
