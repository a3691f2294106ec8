"use strict";
/*
 * Leads every host of the bench to the server on this machine, whatever the library asks for:
 * names are looked up as 127.0.0.1, and ports 80 and 443 of it are the server's. Nothing else than
 * loopback can be connected to. It sits below all HTTP clients, so it is the same with the agent and without.
 */
const dns = require("node:dns");
const net = require("node:net");

const { http, https } = JSON.parse(process.env.BENCH_PORTS ?? "{}");
const PORTS = new Map([
  [80, http],
  [443, https],
]);
const UNKNOWN = /(^|\.)(unknown|nowhere)\.test$/;

const { lookup } = dns;
dns.lookup = function (host, options, callback) {
  const done = typeof options === "function" ? options : callback;
  const all = typeof options === "object" && options?.all;
  if (net.isIP(host)) return lookup.apply(this, arguments);
  // In a later turn, as a name server answers.
  setImmediate(() => {
    if (UNKNOWN.test(host)) {
      const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), {
        errno: -3008,
        code: "ENOTFOUND",
        syscall: "getaddrinfo",
        hostname: host,
      });
      return done(error);
    }
    return all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
  });
};
require("node:module").syncBuiltinESMExports();

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const normalized = Array.isArray(args[0]) ? args[0] : net._normalizeArgs(args);
  const [options] = normalized;
  if (options.path) return connect.apply(this, args);
  if (options.host && net.isIP(options.host) && !/^(127\.|::1$)/.test(options.host)) {
    throw new Error(`the bench reaches loopback only, not ${options.host}`);
  }
  const port = PORTS.get(Number(options.port));
  if (port) normalized[0] = { ...options, port };
  return connect.call(this, normalized);
};
