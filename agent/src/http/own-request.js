"use strict";

const http = require("node:http");
const https = require("node:https");
const net = require("node:net");
const { bypass } = require("../bypass.js");
const { isNodes, withProtocol, withSecurity } = require("./foreign-agents.js");

/** The class and the method that open connections, from before mocking libraries replace them; a `Proxy` of the class has the same prototype. */
const { constructor: ClientRequest } = /** @type {any} */ (http).ClientRequest.prototype;
const { connect } = net.Socket.prototype;

/**
 * Requests of the agent itself. Tracers (OpenTelemetry, dd-trace) wrap `http.request`.
 * They must not see the agent's requests, so these are made by the class below it.
 */

/**
 * @param {any} options those of `http.request`, with `protocol`
 * @returns {http.ClientRequest}
 */
function request(options) {
  return made(/** @type {any} */ (http).ClientRequest, options);
}

/**
 * @param {any} Request a class
 * @param {any} options
 * @returns {http.ClientRequest}
 */
function made(Request, options) {
  const { globalAgent } = options.protocol === "https:" ? https : http;
  const { agent } = options;
  const given = { ...options, _defaultAgent: globalAgent };
  if (!agent || isNodes(agent)) return bypass(() => new Request(given));
  const { protocol } = options;
  const secured = withSecurity(agent, given, protocol);
  return withProtocol(agent, protocol, () => bypass(() => new Request(secured)));
}

/**
 * Open a connection that mocking libraries of the application do not intercept: msw and nock
 * replace the class of requests, or the method `connect` of sockets.
 *
 * @template T
 * @param {boolean} isSecure
 * @param {() => T} act calls `http.request`, or `https.request`, before it returns
 * @returns {T}
 */
function withOwnRequest(isSecure, act) {
  const module = /** @type {any} */ (isSecure ? https : http);
  const { request: wrapped } = module;
  const { connect: replaced } = net.Socket.prototype;
  module.request = (/** @type {any} */ options) =>
    made(ClientRequest, { ...options, protocol: isSecure ? "https:" : "http:" });
  net.Socket.prototype.connect = connect;
  try {
    return act();
  } finally {
    module.request = wrapped;
    net.Socket.prototype.connect = replaced;
  }
}

module.exports = { request, withOwnRequest };
