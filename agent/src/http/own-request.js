"use strict";

const http = require("node:http");
const https = require("node:https");
const { bypass } = require("../bypass.js");

/**
 * Requests of the agent itself. Tracers (OpenTelemetry, dd-trace) wrap
 * `http.request`; what they are to see is the application's request, so ours are
 * made below that.
 */

/**
 * @param {any} options as of `http.request`, with the `protocol`
 * @returns {http.ClientRequest}
 */
function request(options) {
  const { globalAgent } = options.protocol === "https:" ? https : http;
  const { ClientRequest } = /** @type {any} */ (http);
  return bypass(() => new ClientRequest({ ...options, _defaultAgent: globalAgent }));
}

/**
 * @template T
 * @param {boolean} isSecure
 * @param {() => T} act calls `http.request`, or `https.request`, before it returns
 * @returns {T}
 */
function withOwnRequest(isSecure, act) {
  const module = /** @type {any} */ (isSecure ? https : http);
  const { request: wrapped } = module;
  module.request = (/** @type {any} */ options) => request({ ...options, protocol: isSecure ? "https:" : "http:" });
  try {
    return act();
  } finally {
    module.request = wrapped;
  }
}

module.exports = { request, withOwnRequest };
