"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { MockSocket } = require("./mock-socket.js");

/**
 * The time that a request waits for its decision before it gets a socket; ms.
 * A request without a route is usually released sooner, and gets only its real socket.
 */
const SOCKET_MS = 50;

/**
 * A mock socket for a request that waits for a test's decision, with the event `socket`.
 * Clients start their timers at this event (follow-redirects below axios, node-fetch 2,
 * needle), as they do before a connection is made, so their time limits also count
 * here. The request itself buffers its body until the decision.
 */
class EarlySocket {
  /**
   * @param {import('node:http').ClientRequest} req
   * @param {boolean} isEncrypted whether the request is https
   * @param {(error?: Error) => void} lost called when the application ends the socket
   * @param {() => void} shown called when the application was given the socket
   */
  constructor(req, isEncrypted, lost, shown) {
    this.req = req;
    this.isEncrypted = isEncrypted;
    this.lost = lost;
    this.shown = shown;
    /** @type {MockSocket | undefined} */
    this.socket = undefined;
    /** Listeners that got the socket, and must not be called again. @type {Set<Function>} */
    this.notified = new Set();
    this.isFinished = false;
    /** @type {Error | undefined} */
    this.error = undefined;
    this.timer = setTimeout(() => this.show(), SOCKET_MS).unref();
    this.failed = (/** @type {Error} */ error) => {
      this.error = error;
    };
    this.closed = () => this.lost(this.error);
  }

  show() {
    const { req } = this;
    const socket = (this.socket = new MockSocket(this.isEncrypted));
    socket.on("error", this.failed).on("close", this.closed);
    this.notified = new Set(req.rawListeners("socket"));
    const own = /** @type {any} */ (req);
    // Node's own listeners, for example of `setNoDelay`, read the socket only from this property.
    own.socket = socket;
    try {
      req.emit("socket", socket);
    } finally {
      own.socket = null;
    }
    this.shown();
  }

  /**
   * Emit `finish`, as if the body was sent and the server was slow to answer. Some time limits
   * start at this event (got's for the response). Listeners that Node adds later, with the
   * response, are called by the real `finish`.
   */
  finish() {
    const { req, socket } = this;
    if (!socket || !req.writableEnded || this.isFinished) return;
    this.isFinished = true;
    const notified = new Set(req.rawListeners("finish"));
    req.emit("finish");
    const { emit } = req;
    const own = /** @type {any} */ (req);
    own.emit = (/** @type {string} */ event, /** @type {any[]} */ ...args) => {
      if (event !== "finish") return emit.call(req, event, ...args);
      for (const listener of req.rawListeners("finish")) if (!notified.has(listener)) listener.call(req);
      return true;
    };
  }

  /** @returns {MockSocket} the socket for the rest of the request: the one that the application got, or a new one */
  take() {
    const { req, notified } = this;
    const socket = this.release();
    if (!socket) return new MockSocket(this.isEncrypted);
    // Otherwise listeners of `data` would get the mock before Node's parser is attached.
    socket.pause();
    const { emit } = req;
    const own = /** @type {any} */ (req);
    own.emit = (/** @type {string} */ event, /** @type {any[]} */ ...args) => {
      if (event !== "socket" || args[0] !== socket) return emit.call(req, event, ...args);
      for (const listener of req.rawListeners("socket")) if (!notified.has(listener)) listener.call(req, socket);
      socket.resume();
      return true;
    };
    return socket;
  }

  /** Copy the idle timeout and the socket options to the application's real socket. */
  replace() {
    const socket = this.release();
    if (!socket) return;
    const { timeout, asked } = socket;
    socket.setTimeout(0);
    this.req.once("socket", (real) => {
      for (const [name, args] of asked) real[name](...args);
      if (timeout === 0) return;
      if (real.connecting) real.once("connect", () => real.setTimeout(timeout));
      else real.setTimeout(timeout);
    });
  }

  /** @returns {MockSocket | undefined} the socket, if the application got it; its end is not handled any more */
  release() {
    clearTimeout(this.timer);
    const { socket } = this;
    this.socket = undefined;
    return socket?.removeListener("error", this.failed).removeListener("close", this.closed);
  }
}

module.exports = { EarlySocket };
