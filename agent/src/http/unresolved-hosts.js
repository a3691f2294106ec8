"use strict";

const dns = require("node:dns");
const { syncBuiltinESMExports } = require("node:module");
const net = require("node:net");
const tls = require("node:tls");
const { serializeError } = require("../protocol/errors.js");
const { HeldConnection, mayRefuse } = require("./held-connection.js");

/** Frames of grpc-js in a stack. */
const OF_GRPC = /[\\/]@grpc[\\/]grpc-js[\\/]/;

/** Frames of what opens a connection for a session or a request that is asked about itself. */
const IS_ASKED_ABOUT = /node:internal\/http2\/|[\\/]node_modules[\\/]undici[^\\/]*[\\/]|node:internal\/deps\/undici\//;

/**
 * The look-up of a host that has no address, for a connection of HTTP/2. With an address it would have led to a session, and strict
 * mode would have refused that one: it decides now. The error stays what it is, and says so.
 */
class UnresolvedHost extends HeldConnection {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {URL} url the origin that the session would have led to
   * @param {Error} error of the look-up
   * @param {(error: Error) => void} done
   */
  constructor(agent, url, error, done) {
    super(agent, url);
    this.error = error;
    this.done = done;
    this.enter();
  }

  report() {
    this.agent.send({ type: "request:response", requestId: this.id, ok: false, error: serializeError(this.error) });
  }

  release() {
    this.done(this.error);
  }

  /** @param {Error} refusal */
  fail(refusal) {
    this.error.message = `${refusal.message} Beside that, its host has no address: ${this.error.message}`;
    this.error.cause = refusal;
    this.done(this.error);
  }
}

/**
 * Ask strict mode about hosts without an address where a client of HTTP/2 looks them up by itself: got with `http2: true`, and whoever
 * else offers `h2` in a TLS handshake before it makes a session; and grpc-js, which says nothing of the error of a look-up, so
 * that the name stands for the address until it connects. Other connections may be of any protocol, and are not changed.
 * @param {import('../agent.js').Agent} agent
 * @returns {() => void} undoes it
 */
function watchUnresolvedHosts(agent) {
  const isOf = (/** @type {RegExp} */ frames) => frames.test(String(new Error().stack));
  const isOfGrpc = () => agent.isAttached && mayRefuse(agent) && isOf(OF_GRPC);
  const undo = [
    replace(tls, "connect", (connect) =>
      judging(agent, connect, (options) => offersHttp2(options) && !isOf(IS_ASKED_ABOUT)),
    ),
    replace(net, "connect", (connect) => judging(agent, connect, () => isOf(OF_GRPC) && !isOf(IS_ASKED_ABOUT))),
    replace(
      dns,
      "lookup",
      (lookup) =>
        /** @this {any} */
        function (/** @type {any} */ host, /** @type {any[]} */ ...args) {
          const [options, done] = args;
          if (!options?.all || typeof done !== "function" || !isOfGrpc()) return lookup.call(this, host, ...args);
          const named = (/** @type {any} */ error, /** @type {any} */ found) =>
            done(null, error ? itself(host) : found);
          return lookup.call(this, host, options, named);
        },
    ),
    replace(
      dns.promises,
      "lookup",
      (lookup) =>
        /** @this {any} */
        function (/** @type {any} */ host, /** @type {any[]} */ ...args) {
          const found = lookup.call(this, host, ...args);
          return args[0]?.all && isOfGrpc() ? found.catch(() => itself(host)) : found;
        },
    ),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const act of undo) act();
    syncBuiltinESMExports();
  };
}

/** @param {string} host */
const itself = (host) => [{ address: host, family: 4 }];

/**
 * @param {any} module
 * @param {string} name of a function of it
 * @param {(original: Function) => Function} change
 * @returns {() => void} undoes it
 */
function replace(module, name, change) {
  const original = module[name];
  // `util.promisify` reads a symbol of theirs.
  const changed = Object.defineProperties(change(original), Object.getOwnPropertyDescriptors(original));
  module[name] = changed;
  return () => {
    if (module[name] === changed) module[name] = original;
  };
}

/**
 * @param {import('../agent.js').Agent} agent
 * @param {Function} connect of `node:net` or `node:tls`
 * @param {(options: any) => boolean} isHttp2 whether the connection is for HTTP/2
 */
const judging = (agent, connect, isHttp2) =>
  /** @this {any} */
  function (/** @type {any[]} */ ...args) {
    if (!agent.isAttached || !mayRefuse(agent)) return connect.apply(this, args);
    const at = args.findIndex((arg) => arg && typeof arg === "object");
    const options = args[at];
    if (!options?.host || options.socket || options.path || !isHttp2(options)) return connect.apply(this, args);
    const name = `https://${options.host}:${options.port ?? 443}`;
    if (!URL.canParse(name)) return connect.apply(this, args);
    const lookup = judged(agent, new URL(name), options.lookup ?? dns.lookup);
    return connect.apply(this, args.with(at, { ...options, lookup }));
  };

/**
 * @param {import('../agent.js').Agent} agent
 * @param {URL} url
 * @param {Function} lookup
 */
const judged =
  (agent, url, lookup) => (/** @type {string} */ host, /** @type {any} */ options, /** @type {Function} */ done) =>
    lookup(host, options, (/** @type {any} */ error, /** @type {any[]} */ ...found) => {
      if (!error || agent.hosts.isIgnored(url)) return done(error, ...found);
      return void new UnresolvedHost(agent, url, error, (end) => done(end));
    });

/** @param {any} options @returns {boolean} whether a TLS handshake offers HTTP/2 */
function offersHttp2({ ALPNProtocols: offered }) {
  if (Array.isArray(offered)) return offered.includes("h2");
  return (
    ArrayBuffer.isView(offered) &&
    Buffer.from(offered.buffer, offered.byteOffset, offered.byteLength).includes("\x02h2")
  );
}

module.exports = { watchUnresolvedHosts };
