"use strict";

const http2 = require("node:http2");
const { syncBuiltinESMExports } = require("node:module");

/** Frames of undici in a stack: its HTTP/2 sessions are for requests that are intercepted. */
const OF_UNDICI = /[\\/]node_modules[\\/]undici[^\\/]*[\\/]|node:internal\/deps\/undici\//;

let isTold = false;

/**
 * Warn once when `node:http2` connects, because its requests are not intercepted.
 * @param {import('../agent.js').Agent} agent
 * @returns {() => void} undoes it
 */
function warnOfHttp2(agent) {
  const module = /** @type {any} */ (http2);
  const { connect } = module;
  /** @this {any} */
  function hooked(/** @type {any} */ authority, /** @type {any[]} */ ...args) {
    const url = URL.canParse(String(authority)) ? new URL(String(authority)) : undefined;
    if (
      !isTold &&
      agent.isAttached &&
      url &&
      !agent.hosts.isIgnored(url) &&
      !OF_UNDICI.test(String(new Error().stack))
    ) {
      isTold = true;
      process.stderr.write(
        `trafficmock: HTTP/2 is not seen: what goes to ${url.origin} by node:http2 (gRPC, got with http2: true, ...) reaches the real server, whatever tests say. Have the client use HTTP/1.1, or name the host in TRAFFICMOCK_IGNORE_HOSTS.\n`,
      );
    }
    return connect.call(this, authority, ...args);
  }
  module.connect = hooked;
  syncBuiltinESMExports();
  return () => {
    if (module.connect === hooked) module.connect = connect;
    syncBuiltinESMExports();
  };
}

module.exports = { warnOfHttp2 };
