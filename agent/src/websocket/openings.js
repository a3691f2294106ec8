"use strict";

const { setImmediate } = require("node:timers");
const headers = require("../protocol/headers.js");
const { internal } = require("../process/internals.js");
const { pairsOf, likeGiven } = require("../undici/dispatch-options.js");
const { Controller, isModern, fail } = require("../undici/handlers.js");
const { admit } = require("../undici/closing.js");
const { headerLines } = require("../http/text.js");
const { MockSocket } = require("../http/mock-socket.js");
const { rewriteHead } = require("../http/head.js");
const { onSocket } = require("../http/on-socket.js");
const { tlsOptions } = require("../http/tls-options.js");

const CLOSED = 3;

/** The handshakes of WebSockets: a dispatch of undici, or a request of `node:http` (npm `ws`). */

/** @param {URL} url */
function socketUrl(url) {
  const other = new URL(url);
  other.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return other;
}

/** @param {string | undefined} header */
const listOf = (header) =>
  (header ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);

/**
 * The handshake of an undici WebSocket. If the application closes a `globalThis.WebSocket` that is connecting, its
 * handler is not called again: undici 6 would emit a second `error`, and no `close`. WebSockets of imported classes
 * end as they do without the agent.
 *
 * @param {{ dispatcher: any, original: Function, opts: any, handler: any, url: URL, seen: symbol, chain?: import('../exchange/redirects.js').Chain }} held
 * @param {() => void} cancelled
 * @returns {import('./bridge.js').Opening}
 */
function undiciOpening({ dispatcher, original, opts, handler, url, seen, chain }, cancelled) {
  const map = headers.toMap(pairsOf(opts.headers));
  let isReal = false;
  // Deferred, because a WebSocket that fails at once is not constructed yet.
  const failed = () => {
    setImmediate(() => {
      if (chain) ensureClosed(chain);
    });
  };
  /** @type {((reason: any) => void) | undefined} */
  let abort;
  const controller = new Controller((reason) => {
    if (isReal) abort?.(reason);
    else {
      cancelled();
      if (!chain?.isGlobalSocket) fail(handler, controller, reason);
    }
    failed();
  });
  const isDeaf = () => Boolean(chain?.isGlobalSocket) && controller.aborted;
  if (isModern(handler)) handler.onRequestStart(controller, {});
  else handler.onConnect((/** @type {any} */ reason) => controller.abort(reason), null);
  return {
    url: socketUrl(url),
    protocols: listOf(map["sec-websocket-protocol"]),
    headers: map,
    options: tlsOptions(internal(dispatcher, "options")?.connect),
    passthrough(outbound) {
      isReal = true;
      const own = connected(
        handler,
        controller,
        (to) => {
          abort = to;
        },
        failed,
        isDeaf,
      );
      const headers = likeGiven(opts.headers, outbound(pairsOf(opts.headers)));
      admit(dispatcher, original, { ...opts, headers, [seen]: true }, own);
    },
    accept(end) {
      readHead(end, (raw) => {
        if (!isModern(handler)) return handler.onUpgrade(101, raw, end);
        controller.rawHeaders = raw;
        handler.onRequestUpgrade(controller, 101, headers.toMap(headers.fromRaw(raw)), end);
      });
    },
    fail(error) {
      fail(handler, controller, error);
      failed();
    },
  };
}

/**
 * Complete the end of a WebSocket whose handshake failed: undici 6 does not emit `close`, and undici 7 and 8 leave
 * the state CLOSING.
 * @param {import('../exchange/redirects.js').Chain} chain
 */
function ensureClosed({ socket, wasSocketOpen, isSocketClosed }) {
  if (!socket || wasSocketOpen) return;
  if (socket.readyState !== CLOSED) Object.defineProperty(socket, "readyState", { value: CLOSED, configurable: true });
  if (!isSocketClosed) {
    socket.dispatchEvent(Object.assign(new Event("close"), { code: 1006, reason: "", wasClean: false }));
  }
}

/**
 * Wrap a handler that was started before: it is not started again.
 * @param {any} handler
 * @param {Controller} controller
 * @param {(abort: (reason: any) => void) => void} keep gets the function that aborts the real request
 * @param {() => void} failed called after the handler was called with a failure
 * @param {() => boolean} isDeaf whether the handler is not to be called again
 */
function connected(handler, controller, keep, failed, isDeaf) {
  return new Proxy(handler, {
    get(target, name) {
      if (name === "onConnect") return (/** @type {any} */ abort) => keep(abort);
      if (name === "onRequestStart" && target.onRequestStart) {
        return (/** @type {any} */ real) => {
          controller.real = real;
          keep((reason) => real.abort(reason));
        };
      }
      const value = target[name];
      if (typeof value !== "function") return value;
      if (name === "onError") {
        return (/** @type {any[]} */ ...args) => {
          if (isDeaf()) return;
          value.apply(target, args);
          failed();
        };
      }
      // The application's handler gets the controller that it was started with.
      if (/^on(Response|RequestUpgrade)/.test(String(name)) && isModern(target)) {
        return (/** @type {any} */ real, /** @type {any[]} */ ...rest) => {
          if (isDeaf()) return undefined;
          controller.rawHeaders = real?.rawHeaders;
          const result = value.call(target, controller, ...rest);
          if (name === "onResponseError") failed();
          return result;
        };
      }
      return value.bind(target);
    },
  });
}

/**
 * Read the response of the handshake from a connection.
 * @param {import('node:stream').Duplex} end
 * @param {(raw: Buffer[]) => void} done
 */
function readHead(end, done) {
  let text = Buffer.alloc(0);
  const read = () => {
    for (let chunk = end.read(); chunk; chunk = end.read()) {
      text = Buffer.concat([text, chunk]);
      const at = text.indexOf("\r\n\r\n");
      if (at < 0) continue;
      end.removeListener("readable", read);
      if (text.length > at + 4) end.unshift(text.subarray(at + 4));
      return done(
        headerLines(text.subarray(0, at).toString("latin1"))
          .flat()
          .map((part) => Buffer.from(part, "latin1")),
      );
    }
  };
  end.on("readable", read);
  read();
}

/**
 * The handshake of a WebSocket by `node:http`.
 * @param {any} req a `ClientRequest` with an upgrade to websocket
 * @param {URL} url
 * @param {any} options of the request
 * @param {() => void} release sends it on the application's own connection
 * @param {() => void} cancelled
 * @returns {import('./bridge.js').Opening}
 */
function httpOpening(req, url, options, release, cancelled) {
  const lines = headerLines(req._header ?? "");
  const map = headers.toMap(
    lines.length ? lines : Object.entries(req.getHeaders()).map(([name, value]) => [name, String(value)]),
  );
  const { destroy } = req;
  req.destroy = (/** @type {any[]} */ ...args) => {
    const result = destroy.apply(req, args);
    free();
    cancelled();
    onSocket.call(req, new MockSocket(false));
    return result;
  };
  const free = () => {
    delete req.destroy;
  };
  return {
    url: socketUrl(url),
    protocols: listOf(map["sec-websocket-protocol"]),
    headers: map,
    options: tlsOptions(options),
    passthrough(outbound) {
      free();
      rewriteHead(req, outbound);
      release();
    },
    accept(end) {
      free();
      end.skipsHead = true;
      // The answer comes when it is connected, not as soon as Node's parser listens.
      end.pause();
      end.whenOpen(() => end.resume());
      onSocket.call(req, end);
    },
    fail(error) {
      free();
      req.destroy(error);
      onSocket.call(req, new MockSocket(false));
    },
  };
}

module.exports = { undiciOpening, httpOpening };
