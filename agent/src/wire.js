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
 * @param {import('./agent.js').Agent} agent
 * @param {headers.Pairs} pairs
 */
function headersToWire(agent, pairs) {
  const map = headers.toMap(pairs);
  return agent.features.has("headers-list") ? { headers: map, headersList: pairs } : { headers: map };
}

/**
 * @param {import('./agent.js').Agent} agent
 * @param {import('./exchange.js').Outgoing} request
 */
function requestToWire(agent, { url, method, pairs, body, truncated }) {
  const hasBody = body?.length && method !== "GET" && method !== "HEAD";
  return {
    url,
    method,
    ...headersToWire(agent, pairs),
    bodyBase64: hasBody ? body.toString("base64") : null,
    ...(truncated && { truncated: true }),
  };
}

/**
 * @param {import('./agent.js').Agent} agent
 * @param {import('./report.js').Answer} answer
 * @param {number} [bodySize] bytes that really came, when the body is cut
 */
function responseToWire(agent, { status, statusText, pairs, body, url }, bodySize) {
  return {
    status,
    statusText,
    ...headersToWire(agent, pairs),
    bodyBase64: body.length ? body.toString("base64") : null,
    url,
    ...(bodySize !== undefined && { truncated: true, bodySize }),
  };
}

module.exports = { requestToWire, responseToWire };
