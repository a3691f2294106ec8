"use strict";

const { setTimeout, clearTimeout, setImmediate } = require("node:timers");
const { mockSocket } = require("./mock-socket.js");
const { join } = require("./joined-socket.js");
const { onSocket } = require("./on-socket.js");
const { isSocketUrl } = require("./unix-sockets.js");

/**
 * The time that a request waits for its decision before it gets a socket; ms.
 * A request without a route is usually released sooner, and gets only its real socket.
 */
const SOCKET_MS = 50;
/** The same, while the link to the proxy starts, which takes longer than a decision. */
const STARTING_MS = 500;
/** The same for a request that no route may want. */
const LATE_MS = 1000;

/**
 * The one socket of a request that waits for a test's decision, with the event `socket`.
 * Clients start their timers at this event (follow-redirects below axios, node-fetch 2,
 * needle), as they do before a connection is made, so their time limits also count
 * here. The request itself buffers its body until the decision. If the request passes then,
 * this socket is joined with the real one.
 */
class EarlySocket {
  /**
   * @param {import('node:http').ClientRequest} req
   * @param {URL} url of the request
   * @param {object} events
   * @param {(error?: Error) => void} events.lost called when the application ends the socket
   * @param {() => void} events.due called when the request has waited so long that it should have a socket
   * @param {boolean} isStarting whether the link to the proxy is not up yet
   */
  constructor(req, url, { lost, due }, isStarting) {
    this.req = req;
    this.url = url;
    this.lost = lost;
    this.due = due;
    /** @type {import('./mock-socket.js').MockSocket | undefined} */
    this.socket = undefined;
    this.isFinished = false;
    /** @type {Error | undefined} */
    this.error = undefined;
    this.timer = setTimeout(due, isStarting ? STARTING_MS : SOCKET_MS).unref();
    this.failed = (/** @type {Error} */ error) => {
      this.error = error;
    };
    this.closed = () => this.lost(this.error);
    this.listened = (/** @type {string | symbol} */ event) => {
      if (event === "socket") setImmediate(due);
    };
  }

  /** @param {() => void} act called when a request that will pass has no socket for so long that something is amiss */
  wait(act) {
    clearTimeout(this.timer);
    this.timer = setTimeout(act, LATE_MS).unref();
  }

  /** Wait until the application listens for the socket, which it may do late. */
  awaitListener() {
    this.req.removeListener("newListener", this.listened).on("newListener", this.listened);
  }

  /** @returns {import('./mock-socket.js').MockSocket} */
  make() {
    if (isSocketUrl(this.url)) return mockSocket(false, { host: "", port: 0 });
    const { hostname, port, protocol } = this.url;
    const isEncrypted = protocol === "https:";
    const host = hostname.replace(/^\[|\]$/g, "");
    return mockSocket(isEncrypted, { host, port: Number(port) || (isEncrypted ? 443 : 80) });
  }

  /** @returns {import('./mock-socket.js').MockSocket} the socket, which the application has been given now */
  show() {
    if (this.socket) return this.socket;
    this.stopWaiting();
    const { req } = this;
    const socket = (this.socket = this.make());
    socket.on("error", this.failed).on("close", this.closed);
    socket.whenOpen(() => this.finish());
    // Without `_httpMessage` of the socket, the request still writes into its buffer.
    /** @type {any} */ (req).socket = socket;
    req.emit("socket", socket);
    return socket;
  }

  /**
   * Emit `finish`, as if the body was sent and the server was slow to answer. Some time limits
   * start at this event (got's for the response). Listeners that Node adds later, with the
   * response, are called by the real `finish`.
   */
  finish() {
    const { req, socket } = this;
    if (!socket?.isOpen || !req.writableEnded || this.isFinished) return;
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

  /** @returns {import('./mock-socket.js').MockSocket} the socket for the rest of the request: the one that the application got, or a new one */
  take() {
    return this.release() ?? this.make();
  }

  /**
   * Let the real socket, once the request gets it, serve the one that the application got, if it did.
   * @param {boolean} isContinued whether the application has been told to send its body, for which it asked the server
   */
  joinReal(isContinued) {
    const socket = this.release();
    if (!socket) return;
    const { req } = this;
    const own = /** @type {any} */ (req);
    let isGiven = false;
    socket.once("close", () => {
      if (isGiven) return;
      isGiven = true;
      onSocket.call(req, socket);
    });
    own.onSocket = (/** @type {any} */ real, /** @type {any} */ error) => {
      delete own.onSocket;
      if (isGiven) {
        // As Node does with the socket of a request that was destroyed meanwhile.
        if (own.agent && !error) real.emit("free");
        else real?.destroy();
        return;
      }
      isGiven = true;
      if (real && !error) join(socket, real, req, isContinued);
      onSocket.call(req, socket, error);
    };
  }

  stopWaiting() {
    clearTimeout(this.timer);
    this.req.removeListener("newListener", this.listened);
  }

  /** @returns {import('./mock-socket.js').MockSocket | undefined} the socket, if the application got it; its end is not handled any more */
  release() {
    this.stopWaiting();
    const { req, socket } = this;
    this.socket = undefined;
    if (!socket) return undefined;
    socket.removeListener("close", this.closed);
    // Otherwise listeners of `data` would get the mock before Node's parser is attached.
    socket.pause();
    const { emit } = req;
    const own = /** @type {any} */ (req);
    own.emit = (/** @type {string} */ event, /** @type {any[]} */ ...args) => {
      if (event !== "socket" || args[0] !== socket) return emit.call(req, event, ...args);
      // The application has had this event. Node's own listener of errors is there now.
      socket.removeListener("error", this.failed);
      socket.resume();
      return true;
    };
    return socket;
  }
}

module.exports = { EarlySocket };
