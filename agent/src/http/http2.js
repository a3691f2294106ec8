"use strict";

const http2 = require("node:http2");
const { syncBuiltinESMExports } = require("node:module");
const { sayOnce } = require("../process/say-once.js");
const { mayRefuse } = require("./held-connection.js");
const { HeldSession } = require("./held-session.js");
const { tellOfSession } = require("./passed-connection.js");

/** Frames of undici in a stack: its HTTP/2 sessions are for requests that are intercepted. */
const OF_UNDICI = /[\\/]node_modules[\\/]undici[^\\/]*[\\/]|node:internal\/deps\/undici\//;

/**
 * Watch the sessions of `node:http2`, whose requests are not intercepted: strict mode may refuse a session; without
 * it, each origin is named once on standard error.
 * @param {import('../agent.js').Agent} agent
 * @returns {() => void} undoes it
 */
function watchHttp2(agent) {
  const module = /** @type {any} */ (http2);
  const { connect } = module;
  /** The sessions that nobody has asked about, with their origins. @type {Map<any, URL>} */
  const unasked = new Map();
  const judgeAll = () => {
    for (const [session, url] of unasked) new HeldSession(agent, url).judge(session);
    unasked.clear();
  };
  agent.local.mayBeginToRefuse.add(judgeAll);
  /** @this {any} */
  function hooked(/** @type {any} */ authority, /** @type {any[]} */ ...args) {
    const url = agent.isAttached ? peerOf(authority, args[0]) : undefined;
    if (!url || agent.hosts.isOwnServer(url) || OF_UNDICI.test(String(new Error().stack))) {
      return connect.call(this, authority, ...args);
    }
    if (agent.hosts.isIgnored(url)) {
      agent.ignored("CONNECT", url);
      return connect.call(this, authority, ...args);
    }
    const open = (/** @type {any[]} */ ...given) => connect.call(this, authority, ...given);
    if (mayRefuse(agent) || agent.settings.isSealed) {
      const held = new HeldSession(agent, url, () => {
        warn(url);
        tellOfSession(agent, held.session, url, true);
      });
      return held.open(open, args);
    }
    warn(url);
    const session = open(...args);
    tellOfSession(agent, session, url, false);
    unasked.set(session, url);
    session.once("close", () => unasked.delete(session));
    return session;
  }
  module.connect = hooked;
  syncBuiltinESMExports();
  return () => {
    agent.local.mayBeginToRefuse.delete(judgeAll);
    if (module.connect === hooked) module.connect = connect;
    syncBuiltinESMExports();
  };
}

/** @param {URL} url the origin of a session that strict mode does not judge */
const warn = (url) =>
  sayOnce(
    `HTTP/2 is not seen: what goes to ${url.origin} by node:http2 (gRPC, got with http2: true, ...) reaches the real server, whatever tests say, unless strict mode refuses it. Have the client use HTTP/1.1, or name the host in TRAFFICMOCK_IGNORE_HOSTS.`,
  );

/**
 * @param {unknown} authority the first argument of `http2.connect`: a URL as text or as an object
 * @param {any} options whose host and port count more, as in `net.connect`
 * @returns {URL | undefined} the origin that the session connects to; `undefined` if Node refuses the arguments
 */
function peerOf(authority, options) {
  const text = typeof authority === "string" ? authority : originOf(/** @type {any} */ (authority));
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const host = options?.host;
  if (host) url.hostname = String(host).includes(":") ? `[${host}]` : String(host);
  if (options?.port) url.port = String(options.port);
  return url;
}

/** @param {{ protocol?: string, host?: string, hostname?: string, port?: string | number, href?: string } | undefined} given */
function originOf(given) {
  if (given?.href) return given.href;
  const port = given?.port ? `:${given.port}` : "";
  return `${given?.protocol ?? "https:"}//${given?.hostname || given?.host || "localhost"}${port}`;
}

module.exports = { watchHttp2 };
