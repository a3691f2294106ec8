"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { MockSocket } = require("./mock-socket.js");

/**
 * How long a request may wait for its decision before it is given a socket; ms.
 * A request that no test wants is usually released sooner, and sees its own socket only.
 */
const SOCKET_MS = 50;

/**
 * The `socket` event of a request that waits for a test's decision. Clients start their
 * timers there (follow-redirects below axios, node-fetch 2, needle): without
 * network a request has a socket before it is connected, so time runs for them.
 * The request itself goes on buffering what is written until the decision.
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
    /** Listeners that were called with the socket, and must not be called twice. @type {Set<Function>} */
    this.told = new Set();
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
    this.told = new Set(req.rawListeners("socket"));
    const own = /** @type {any} */ (req);
    // Node's own listeners (`setNoDelay` and the like) look there, and only there, for the socket.
    own.socket = socket;
    try {
      req.emit("socket", socket);
    } finally {
      own.socket = null;
    }
    this.shown();
  }

  /**
   * Tell the request that all is written, as it would be if the server were slow to answer.
   * Some timeouts start there (got's for the response). Node's own listeners,
   * which come with the response, are called with it then.
   */
  finish() {
    const { req, socket } = this;
    if (!socket || !req.writableEnded || this.isFinished) return;
    this.isFinished = true;
    const told = new Set(req.rawListeners("finish"));
    req.emit("finish");
    const { emit } = req;
    const own = /** @type {any} */ (req);
    own.emit = (/** @type {string} */ event, /** @type {any[]} */ ...args) => {
      if (event !== "finish") return emit.call(req, event, ...args);
      for (const listener of req.rawListeners("finish")) if (!told.has(listener)) listener.call(req);
      return true;
    };
  }

  /** @returns {MockSocket} for the request to write to and read from, known to the application or new */
  take() {
    const { req, told } = this;
    const socket = this.release();
    if (!socket) return new MockSocket(this.isEncrypted);
    // Who listens to its data would get the mock before Node's parser listens, too.
    socket.pause();
    const { emit } = req;
    const own = /** @type {any} */ (req);
    own.emit = (/** @type {string} */ event, /** @type {any[]} */ ...args) => {
      if (event !== "socket" || args[0] !== socket) return emit.call(req, event, ...args);
      for (const listener of req.rawListeners("socket")) if (!told.has(listener)) listener.call(req, socket);
      socket.resume();
      return true;
    };
    return socket;
  }

  /** The application's own socket takes over, with the idle timeout that was asked for. */
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

  /** @returns {MockSocket | undefined} the socket, if it was shown; the agent does not end it any more */
  release() {
    clearTimeout(this.timer);
    const { socket } = this;
    this.socket = undefined;
    return socket?.removeListener("error", this.failed).removeListener("close", this.closed);
  }
}

module.exports = { EarlySocket };
