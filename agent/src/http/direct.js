"use strict";

const http = require("node:http");
const https = require("node:https");
const { isIP } = require("node:net");
const { internal } = require("../process/internals.js");

/**
 * An application that is attached and also has `HTTP_PROXY` set to trafficmock
 * would have its requests announced twice: here, and by the forward proxy. So
 * what would go through trafficmock's forward proxy is sent directly instead.
 */

/** Node's own, kept before anything is hooked. */
const { addRequest } = /** @type {any} */ (http.Agent.prototype);

/**
 * @typedef {object} Straight
 * @property {any} options of the request, with the real target
 * @property {() => void} release goes on, without the proxy
 */

/**
 * @param {import('../agent.js').Agent} agent
 * @param {any} httpAgent that was to make the connection
 * @param {any} req
 * @param {any} options of the request
 * @returns {Straight | undefined} nothing when trafficmock's proxy is not on the way
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
 * @returns {URL | undefined} what is really asked, when it is asked through trafficmock's proxy
 */
function targetOf(agent, httpAgent, req, options) {
  const proxy = proxyOf(httpAgent);
  const named = req.path[0] !== "/" && URL.canParse(req.path) ? new URL(req.path) : undefined;
  // Most requests end here.
  if (req.method === "CONNECT" || !(proxy || named)) return undefined;
  const host = String(options.hostname ?? options.host ?? "localhost");
  const authority = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const protocol = options.protocol ?? req.protocol ?? "http:";
  const peer = `${protocol}//${authority}${options.port ? `:${options.port}` : ""}`;
  if (!URL.canParse(peer)) return undefined;
  // The client names trafficmock's proxy as the peer, and the target in the request line.
  if (agent.hosts.isProxy(new URL(peer))) return named && !agent.hosts.isProxy(named) ? named : undefined;
  if (!agent.hosts.isProxyText(proxy)) return undefined;
  // Node writes the target into the path where the proxy is not asked for a tunnel.
  return new URL(named ? named.pathname + named.search : req.path, peer);
}

/**
 * @param {any} httpAgent
 * @returns {string | undefined} the URL of the proxy it connects to, if it is of a kind that is known
 */
function proxyOf(httpAgent) {
  // Of Node itself, of agent-base and hpagent, of tunnel.
  const proxy = internal(httpAgent, "kProxyConfig") ?? httpAgent?.proxy ?? httpAgent?.proxyOptions;
  if (!proxy || typeof proxy === "string") return proxy;
  return proxy.href ?? `${proxy.protocol ?? "http:"}//${proxy.hostname ?? proxy.host}:${proxy.port}`;
}

/**
 * Take back what was written for a proxy.
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
 * @returns {http.Agent} like it, but for the proxy
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
