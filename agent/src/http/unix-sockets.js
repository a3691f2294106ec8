"use strict";

const { resolve } = require("node:path");
const { setImmediate } = require("node:timers");
const { UNIX_SCHEME } = require("../protocol/facts.js");

/** The characters that `encodeURIComponent` leaves, and RFC 3986 reserves. */
const RESERVED = /[!'()*]/g;

/**
 * Make the URL by which a route can name a request over a UNIX socket.
 * @param {string} file the path of the socket, or the name of a pipe
 * @param {string} path of the request
 * @returns {URL | undefined}
 */
function socketUrl(file, path) {
  // An abstract socket, and a pipe of Windows, have a name.
  const whole = /^(?:\0|\\\\)/.test(file) ? file : resolve(file);
  const host = encodeURIComponent(whole).replace(RESERVED, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const text = `${UNIX_SCHEME}//${host}${path.startsWith("/") ? "" : "/"}${path}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** @param {URL} url @returns {boolean} whether its requests go over a UNIX socket */
const isSocketUrl = (url) => url.protocol === UNIX_SCHEME;

/** @param {URL} url of a UNIX socket @returns {string} the path of the socket */
const socketPathOf = (url) => decodeURIComponent(url.hostname);

/** @param {any} socket @returns {boolean} whether it is connected, or connects, to a UNIX socket or a pipe */
const isPipe = (socket) => socket?._handle?.constructor?.name === "Pipe";

/**
 * Find out whether a route names a request over a UNIX socket: if not, it is nobody's business. While the link to the proxy
 * starts, nobody knows yet; without a link, none does.
 * @param {import('../agent.js').Agent} agent
 * @param {URL} url
 * @returns {boolean | undefined} `undefined` if the request has to wait until that is known
 */
function isNamed(agent, url) {
  return agent.state === "starting" ? undefined : agent.state === "up" && agent.local.isNamed(url.href);
}

/**
 * Wait until it is known whether a route names a request over a UNIX socket.
 * @param {import('../agent.js').Agent} agent
 * @param {URL} url
 * @param {(isNamed: boolean) => void} act
 */
function whenKnown(agent, url, act) {
  // The filter comes right behind the handshake.
  agent.waiters.whenNegotiated(() => setImmediate(() => act(isNamed(agent, url) === true)));
}

module.exports = { socketUrl, isSocketUrl, socketPathOf, isPipe, isNamed, whenKnown };
