"use strict";

const http = require("node:http");
const https = require("node:https");

/**
 * Agents of libraries, which open connections through proxies, for example those of the `agent-base`
 * family. Such a class serves both `http` and `https`. It decides between them by the option
 * `secureEndpoint`, else by the option `protocol`, else by whether `node:https` is in the stack
 * of the call. Without TLS the request would leave in clear.
 */

/**
 * @param {any} agent
 * @returns {boolean} whether Node's own class opens the connections
 */
function isNodes(agent) {
  if (agent instanceof https.Agent) return true;
  const owner = agent ? Object.getPrototypeOf(agent) : undefined;
  return owner === http.Agent.prototype && !Object.hasOwn(agent, "createConnection");
}

/**
 * @param {any} options of a request
 * @param {string} protocol of the request, with a colon
 * @returns {any} options that say whether the connection is encrypted, for a call from another stack
 */
const withSecurity = (options, protocol) => ({
  ...options,
  protocol: options.protocol ?? protocol,
  secureEndpoint: options.secureEndpoint ?? protocol === "https:",
});

/**
 * Call a function while an agent has the protocol of a request: its own property may be read from the stack.
 * @template T
 * @param {any} agent
 * @param {string} protocol
 * @param {() => T} act
 * @returns {T}
 */
function withProtocol(agent, protocol, act) {
  if (!agent || isNodes(agent) || Object.hasOwn(agent, "protocol") || !Object.isExtensible(agent)) return act();
  Object.defineProperty(agent, "protocol", { value: protocol, configurable: true, writable: true });
  try {
    return act();
  } finally {
    delete agent.protocol;
  }
}

module.exports = { isNodes, withProtocol, withSecurity };
