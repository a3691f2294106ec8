"use strict";

const headers = require("./headers.js");

/**
 * Converts requests and responses for the wire (protocol 3 `SerializedRequest`,
 * `SerializedResponse`), with the header list (feature `headers-list`).
 *
 * With `truncated: true` the body is longer than the part that is sent; `bodySize` of a
 * response then has the number of bytes that came.
 */

/**
 * One request of the application, in the form that all client libraries share.
 *
 * @typedef {object} Outgoing
 * @property {string} url
 * @property {string} method
 * @property {headers.Pairs} pairs
 * @property {Buffer | null} body
 * @property {boolean} [truncated] whether the body is longer than `body`
 */

/**
 * A response of the upstream, with its decoded body.
 *
 * @typedef {object} UpstreamResponse
 * @property {number} status
 * @property {string} statusText
 * @property {headers.Pairs} pairs
 * @property {Buffer} body
 * @property {string} url
 * @property {headers.Pairs} [trailers] the fields behind the body
 * @property {[number, number][]} [pieces] the milliseconds from the head to each piece of the body, and its bytes
 */

/** @param {headers.Pairs} pairs */
const headersToWire = (pairs) => ({ headers: headers.toMap(pairs), headersList: pairs });

/** @param {import('./messages.js').Outgoing} request */
function requestToWire({ url, method, pairs, body, truncated }) {
  const hasBody = body?.length && method !== "GET" && method !== "HEAD";
  return {
    url,
    method,
    ...headersToWire(pairs),
    bodyBase64: hasBody ? body.toString("base64") : null,
    ...(truncated && { truncated: true }),
  };
}

/**
 * @param {import('./messages.js').UpstreamResponse} answer
 * @param {number} [bodySize] the number of bytes that came, if the body is cut
 */
function responseToWire({ status, statusText, pairs, body, url, trailers, pieces }, bodySize) {
  return {
    status,
    statusText,
    ...headersToWire(pairs),
    bodyBase64: body.length ? body.toString("base64") : null,
    url,
    ...(bodySize !== undefined && { truncated: true, bodySize }),
    ...(trailers?.length && { trailers }),
    ...(pieces && { pieces }),
  };
}

/** @param {{ id: string, isPast?: boolean } | undefined} context of the request */
const contextToWire = (context) => (context && !context.isPast ? { context: context.id } : {});

module.exports = { contextToWire, requestToWire, responseToWire };
