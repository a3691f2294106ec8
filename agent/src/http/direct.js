"use strict";

const http = require("node:http");
const https = require("node:https");
const { isIP } = require("node:net");
const { internal } = require("../process/internals.js");

/**
 * If an attached application also uses trafficmock as its `HTTP_PROXY`, each request would
 * be announced twice: by the agent and by the forward proxy. So requests that would go
 * through trafficmock's forward proxy are sent directly instead.
 */

/** Node's own function, kept before anything is hooked. */
const { addRequest } = /** @type {any} */ (http.Agent.prototype);

/**
 * @typedef {object} Straight
 * @property {any} options of the request, with the real target
 * @property {() => void} release sends the request without the proxy
 */

/**
 * Rewrite a request that would go through trafficmock's forward proxy.
 * @param {import('../agent.js').Agent} agent
 * @param {any} httpAgent the `http.Agent` of the request
 * @param {any} req
 * @param {any} options of the request
 * @returns {Straight | undefined} `undefined` if the request does not go through trafficmock's proxy
 */
function sendDirectly(agent, httpAgent, req, options) {
  const url = targetOf(agent, httpAgent, req, options);
  if (!url) return undefined;
  unproxy(req, url);
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const isSecure = url.protocol === "https:";
  const port = Number(url.port) || (isSecure ? 443 : 80);
  const changed = {
    ...options,
    protocol: url.protocol,
    host: hostname,
    hostname,
    port,
    path: req.path,
    ...(isSecure && { servername: options.servername || (isIP(hostname) ? "" : hostname) }),
  };
  return { options: changed, release: () => addRequest.call(directAgent(httpAgent, isSecure), req, changed) };
}

/**
 * @param {import('../agent.js').Agent} agent
 * @param {any} httpAgent
 * @param {any} req
 * @param {any} options
 * @returns {URL | undefined} the target of a request that goes through trafficmock's proxy
 */
function targetOf(agent, httpAgent, req, options) {
  const proxy = proxyOf(httpAgent);
  const named = req.path[0] !== "/" && URL.canParse(req.path) ? new URL(req.path) : undefined;
  // Most requests have no proxy.
  if (req.method === "CONNECT" || !(proxy || named)) return undefined;
  const host = String(options.hostname ?? options.host ?? "localhost");
  const authority = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const protocol = options.protocol ?? req.protocol ?? "http:";
  const peer = `${protocol}//${authority}${options.port ? `:${options.port}` : ""}`;
  if (!URL.canParse(peer)) return undefined;
  // A client that connects to trafficmock's proxy itself, with the target in the request line.
  if (agent.hosts.isProxy(new URL(peer))) return named && !agent.hosts.isProxy(named) ? named : undefined;
  if (!agent.hosts.isProxyText(proxy)) return undefined;
  // Without a tunnel, Node writes the target into the path.
  return new URL(named ? named.pathname + named.search : req.path, peer);
}

/**
 * @param {any} httpAgent
 * @returns {string | undefined} the URL of the agent's proxy, for the kinds of agents that are known
 */
function proxyOf(httpAgent) {
  // The properties of Node's agent, of agent-base and hpagent, and of tunnel.
  const proxy = internal(httpAgent, "kProxyConfig") ?? httpAgent?.proxy ?? httpAgent?.proxyOptions;
  if (!proxy || typeof proxy === "string") return proxy;
  return proxy.href ?? `${proxy.protocol ?? "http:"}//${proxy.hostname ?? proxy.host}:${proxy.port}`;
}

/**
 * Remove the parts of a request that are written for a proxy.
 * @param {any} req
 * @param {URL} url
 */
function unproxy(req, url) {
  const before = req.path;
  req.path = url.pathname + url.search;
  const names = ["proxy-connection", "proxy-authorization"];
  if (req._header) {
    const [first, ...lines] = req._header.split("\r\n");
    const kept = lines.filter(
      (/** @type {string} */ line) => !names.some((name) => line.toLowerCase().startsWith(`${name}:`)),
    );
    req._header = [first.replace(` ${before} `, ` ${req.path} `), ...kept].join("\r\n");
  } else for (const name of names) req.removeHeader(name);
}

/** @type {WeakMap<object, Record<string, http.Agent>>} */
const directs = new WeakMap();
const NO_AGENT = {};

/**
 * @param {any} httpAgent
 * @param {boolean} isSecure
 * @returns {http.Agent} with the same options, without the proxy
 */
function directAgent(httpAgent, isSecure) {
  const key = typeof httpAgent === "object" && httpAgent ? httpAgent : NO_AGENT;
  const known = directs.get(key) ?? {};
  directs.set(key, known);
  const kind = isSecure ? "https" : "http";
  if (!known[kind]) {
    const { proxyEnv, proxy, host, hostname, port, path, ...options } = httpAgent?.options ?? {};
    known[kind] = new (isSecure ? https : http).Agent(options);
  }
  return known[kind];
}

module.exports = { sendDirectly };
