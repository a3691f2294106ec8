"use strict";

const http = require("node:http");
const https = require("node:https");
const { rewriteHead } = require("./head.js");

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
 * @param {any} agent
 * @returns {boolean} whether it sends a request as it is: a method of its own may set headers, which a head that is
 *   written does not take
 */
const readsNoHead = (agent) =>
  isNodes(agent) && agent.addRequest === /** @type {any} */ (http.Agent.prototype).addRequest;

/**
 * @param {any} agent
 * @returns {boolean} whether it may open connections in another way than Node's own classes, such as through a tunnel
 */
function opensItself(agent) {
  const owner = Object.getPrototypeOf(agent);
  const isPlain = owner === http.Agent.prototype || owner === https.Agent.prototype;
  return !isPlain || Object.hasOwn(agent, "createConnection");
}

/**
 * @param {any} agent
 * @param {any} options of a request
 * @param {string} protocol of the request, with a colon
 * @returns {any} options that say whether the connection is encrypted, for a call from another stack; the same ones for
 *   an agent with a protocol of its own, which does not look at the stack
 */
function withSecurity(agent, options, protocol) {
  if (Object.hasOwn(agent, "protocol")) return options;
  return {
    ...options,
    protocol: options.protocol ?? protocol,
    secureEndpoint: options.secureEndpoint ?? protocol === "https:",
  };
}

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

/**
 * Hand a request, whose head is written but not sent, to a class that may decide that its connection is not kept.
 * @param {any} req
 * @param {() => void} act calls the class
 */
function withConnection(req, act) {
  const wasKept = req.shouldKeepAlive;
  act();
  if (!wasKept || req.shouldKeepAlive || !req._header || req.hasHeader("connection")) return;
  rewriteHead(req, (pairs) => pairs.map(([name, value]) => [name, /^connection$/i.test(name) ? "close" : value]));
}

module.exports = { isNodes, readsNoHead, opensItself, withConnection, withProtocol, withSecurity };
