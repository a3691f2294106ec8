"use strict";

const { subscribe, unsubscribe } = require("node:diagnostics_channel");

/**
 * Sees to which servers the clients of a test itself send its context.
 *
 * The proxy of a test's browser tells the service when the browser calls an application. A client that sends
 * `headers: trafficmock.headers` does not pass it, so Node's channels tell here of its answers: of `node:http`, `fetch` and undici.
 */

/** @type {Map<string, Set<string>>} the origins that have answered, by the context of a running test */
const called = new Map();

/** The most origins that are noted for one test. */
const MOST_SERVERS = 20;

/** @type {[string, (message: any) => void][]} */
const CHANNELS = [
  ["http.client.response.finish", ofHttp],
  ["undici:request:headers", ofUndici],
];

/** @param {string} context whose requests are noted from now on */
function watch(context) {
  if (called.size === 0) for (const [name, listener] of CHANNELS) subscribe(name, listener);
  if (!called.has(context)) called.set(context, new Set());
}

/**
 * @param {string | undefined} context whose requests are noted no longer
 * @returns {string[]} the origins to which it was sent
 */
function take(context) {
  const origins = called.get(context ?? "");
  if (!context || !origins) return [];
  called.delete(context);
  if (called.size === 0) for (const [name, listener] of CHANNELS) unsubscribe(name, listener);
  return [...origins];
}

/** @param {{ request: import("node:http").ClientRequest }} message */
function ofHttp({ request }) {
  const host = request.getHeader("host") ?? request.host;
  note(`${request.protocol}//${host}`, [request.getHeader("baggage"), request.getHeader("cookie")]);
}

/** @param {{ request: { origin: string | URL, headers: string | string[] } }} message */
function ofUndici({ request }) {
  note(String(request.origin), [String(request.headers)]);
}

/**
 * @param {string} origin
 * @param {unknown[]} values of the headers
 */
function note(origin, values) {
  const text = values.join("\n");
  for (const [context, origins] of called) {
    if (text.includes(`=${context}`) && origins.size < MOST_SERVERS) origins.add(origin);
  }
}

module.exports = { take, watch };
