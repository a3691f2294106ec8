"use strict";

const { isIP } = require("node:net");
const { setImmediate } = require("node:timers");
const headers = require("../protocol/headers.js");
const { readsNoHead } = require("./foreign-agents.js");
const { request } = require("./own-request.js");
const { Arrival } = require("../exchange/arrival.js");
const { BodyCopy } = require("../exchange/body-copy.js");
const { BODY_LIMITS, UNFRAMED_STATUSES } = require("../protocol/facts.js");
const { sendBody } = require("./continue-gate.js");
const text = require("./text.js");
const { isSocketUrl, socketPathOf } = require("./unix-sockets.js");

/**
 * Send a request in the place of, or beside, the application's: with the `http.Agent` and
 * the options of that one (TLS, lookup, ...), if they are valid for the new URL.
 *
 * @param {{ req: import('node:http').ClientRequest, options: any, url: URL }} held the application's request
 * @param {import('../protocol/messages.js').Outgoing} wanted the request to send
 * @returns {import('node:http').ClientRequest} the request; its body is written
 */
function open(held, wanted) {
  const url = new URL(wanted.url);
  const options = { ...held.options };
  for (const name of [
    "auth",
    "signal",
    "headers",
    "path",
    "href",
    "search",
    "pathname",
    "method",
    "uniqueHeaders",
    "joinDuplicateHeaders",
  ]) {
    delete options[name];
  }
  let { agent } = /** @type {any} */ (held.req);
  const isLocal = isSocketUrl(url);
  const protocol = isLocal ? "http:" : url.protocol;
  if (url.host !== held.url.host) for (const name of ["servername", "socketPath", "agentKey"]) delete options[name];
  // A client that sends its proxy an absolute URL (needle) has an agent for the proxy's protocol.
  const isForProxy = Object.hasOwn(agent ?? {}, "protocol") && agent.protocol !== protocol;
  if (url.protocol !== held.url.protocol || isForProxy) {
    agent = undefined;
    for (const name of ["_defaultAgent", "defaultPort"]) delete options[name];
  }
  const host = isLocal ? "localhost" : url.host;
  /** @type {headers.Pairs} */
  const pairs = headers.get(wanted.pairs, "host") ? wanted.pairs : [["Host", host], ...wanted.pairs];
  // As Node derives it, which does not find the host in a list of headers.
  if (url.protocol === "https:") options.servername ??= serverName(headers.get(pairs, "host") ?? url.host);
  // The path of an unchanged URL is sent as the application wrote it: a signature may cover each byte.
  const { path } = held.req;
  const isSame = wanted.url === held.url.href && (path.startsWith("/") || path === "*");
  const hostname = isLocal ? host : url.hostname.replace(/^\[|\]$/g, "");
  const up = request({
    ...options,
    ...(isLocal && { socketPath: socketPathOf(url) }),
    agent,
    protocol,
    host: hostname,
    hostname,
    port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
    path: isSame ? path : text.pathOf(url),
    method: wanted.method,
    headers: !agent || readsNoHead(agent) ? pairs.flat() : forForeign(held.req, pairs),
    setHost: false,
  });
  sendBody(up, wanted.body);
  return up;
}

/**
 * @param {string} host of a header
 * @returns {string} the name of the server in the TLS handshake; none for an address
 */
function serverName(host) {
  const name = host.startsWith("[") ? host.slice(1).split("]", 1)[0] : host.split(":", 1)[0];
  return isIP(name) ? "" : name;
}

/**
 * Prepare headers for a class that may write the head anew, for which it reads them by name, and may decide whether the
 * connection is kept.
 * @param {import('node:http').ClientRequest} req the application's request
 * @param {headers.Pairs} pairs
 */
function forForeign(req, pairs) {
  const isNodesOwn = !req.hasHeader("connection") && headers.get(pairs, "connection") === "keep-alive";
  return headers.toMultiMap(isNodesOwn ? headers.without(pairs, "connection") : pairs);
}

/**
 * Report a response, and copy its body while the application reads it.
 * @param {import('node:http').IncomingMessage} response
 * @param {import('../exchange/report.js').Report} report
 */
function observe(response, report) {
  report.head(response.statusCode ?? 0, response.statusMessage ?? "", headers.fromRaw(response.rawHeaders));
  const push = response.push;
  response.push = function (/** @type {any} */ chunk, /** @type {any} */ encoding) {
    if (chunk === null) report.end(headers.fromRaw(response.rawTrailers));
    else report.data(chunk);
    return push.call(this, chunk, encoding);
  };
}

/**
 * Report the end of a response that may be incomplete.
 * @param {any} response `undefined` if there is none
 * @param {import('../exchange/report.js').Report} report
 */
function closed(response, report) {
  if (response?.errored) report.fail(response.errored);
  else report.cut();
}

/**
 * Write an upstream's response into the application's socket as it arrives.
 * @param {import('node:http').IncomingMessage} response
 * @param {import('./mock-socket.js').MockSocket} socket
 * @param {(part?: Buffer | null) => boolean} send sends the head, and what comes after it
 * @param {{ method: string, pairs: headers.Pairs }} answered the method of the application's request, and the response's headers
 */
function relay(response, socket, send, { method, pairs }) {
  const status = response.statusCode ?? 0;
  const isBodiless = method === "HEAD" || UNFRAMED_STATUSES.includes(status);
  const isChunked = !isBodiless && /chunked/i.test(headers.get(pairs, "transfer-encoding") ?? "");
  socket.wanted = () => response.resume();
  response.on("data", (data) => {
    if (!isBodiless && !send(isChunked ? text.chunk(data) : data)) response.pause();
  });
  response.on("end", () => {
    if (isChunked) send(text.lastChunk(headers.fromRaw(response.rawTrailers)));
    // Such a body ends with the connection.
    else send(!isBodiless && headers.get(pairs, "content-length") === undefined ? null : undefined);
    socket.answered();
  });
  // As with a server that closes the connection: the response fails, because the request has its response already.
  response.on("error", () => {
    send();
    socket.destroy();
  });
  setImmediate(() => send());
}

/**
 * Send one request for a handler's fetch, without following redirects, and read the whole response.
 * @param {{ req: import('node:http').ClientRequest, options: any, url: URL }} held
 * @param {import('../protocol/messages.js').Outgoing} wanted
 * @param {AbortSignal} signal aborts the request
 * @returns {Promise<import('../protocol/messages.js').UpstreamResponse>}
 */
function perform(held, wanted, signal) {
  return new Promise((resolve, reject) => {
    const up = open(held, wanted);
    const stop = () => up.destroy(signal.reason);
    signal.addEventListener("abort", stop);
    up.on("close", () => signal.removeEventListener("abort", stop));
    up.on("error", reject);
    up.on("upgrade", (response, socket) => {
      socket.destroy();
      reject(new Error(`The server changed the protocol (${response.statusCode}), which a handler cannot be handed`));
    });
    up.on("response", (response) => {
      const copy = new BodyCopy(BODY_LIMITS.handler);
      const arrival = new Arrival();
      response.on("data", (data) => {
        copy.push(data);
        arrival.push(data.length);
      });
      response.on("error", reject);
      response.on("end", () => {
        if (copy.isCut) {
          return reject(
            new Error(`The response is larger than the ${BODY_LIMITS.handler} bytes that a handler may be handed`),
          );
        }
        resolve({
          status: response.statusCode ?? 0,
          statusText: response.statusMessage ?? "",
          pairs: headers.fromRaw(response.rawHeaders),
          body: copy.bytes(),
          url: wanted.url,
          trailers: headers.fromRaw(response.rawTrailers),
          pieces: arrival.recorded(),
        });
      });
    });
  });
}

module.exports = { open, observe, closed, relay, perform };
