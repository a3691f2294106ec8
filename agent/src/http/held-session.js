"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { setImmediate } = require("node:timers");
const tls = require("node:tls");
const { internal } = require("../process/internals.js");
const { newId } = require("../protocol/ids.js");
const { TrafficMockError } = require("../protocol/errors.js");
const { contextToWire, requestToWire, responseToWire } = require("../protocol/messages.js");
const { UNMATCHED } = require("../exchange/refusal.js");

/**
 * A session of HTTP/2 about which strict mode decides. Its socket may connect, but the session learns of that only when
 * the proxy has allowed it, so that no request is sent before.
 */
class HeldSession {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {URL} url the origin that it connects to
   * @param {() => void} [unjudged] called when it may go on because strict mode is not in force
   */
  constructor(agent, url, unjudged = () => {}) {
    this.agent = agent;
    this.url = url;
    this.id = newId();
    this.context = agent.contexts.current();
    /** Calls a function in the asynchronous context of the call. @type {<R>(act: () => R) => R} */
    this.inScope = AsyncLocalStorage.snapshot();
    this.isOver = false;
    this.unjudged = unjudged;
  }

  /**
   * @param {(...args: any[]) => any} connect
   * @param {any[]} args options and a listener, or one of them, or nothing
   * @returns {any} the session
   */
  open(connect, args) {
    const options = args[0] && typeof args[0] === "object" ? args[0] : undefined;
    const { createConnection } = options ?? {};
    if (typeof createConnection === "function") {
      const own = (/** @type {any[]} */ ...given) => this.hold(createConnection.apply(options, given));
      this.session = connect({ ...options, createConnection: own }, ...args.slice(1));
    } else {
      this.session = connect(...args);
      this.hold(internal(this.session, "socket"));
    }
    this.isConnected?.();
    return this.judge(this.session);
  }

  /**
   * Ask about a session; one that is open already goes on until it is refused.
   * @param {any} session
   * @returns {any} the session
   */
  judge(session) {
    this.session = session;
    session.once("close", () => this.settle());
    this.agent.keepAlive.hold();
    this.agent.waiters.enter(this.id, this, () => this.ask());
    return session;
  }

  /**
   * Keep a socket from saying that it is connected.
   * @param {any} socket
   * @returns {any} it
   */
  hold(socket) {
    const isSecure = socket instanceof tls.TLSSocket;
    const event = isSecure ? "secureConnect" : "connect";
    const flag = isSecure ? "secureConnecting" : "connecting";
    let isReady = false;
    /** What the server has sent before the session reads. @type {Buffer[]} */
    const early = [];
    if (!socket.connecting && !socket.secureConnecting) {
      early.push(...buffered(socket));
      // The session is made as over a socket that connects.
      socket[flag] = true;
      this.isConnected = () => {
        socket[flag] = false;
        isReady = true;
      };
    }
    const { emit } = socket;
    socket.emit = (/** @type {string} */ name, /** @type {any[]} */ ...rest) => {
      if (name !== event) return emit.call(socket, name, ...rest);
      isReady = true;
      return true;
    };
    this.release = () => {
      delete socket.emit;
      if (!isReady || socket.destroyed) return;
      socket.emit(event);
      const handle = internal(this.session, "kHandle");
      for (const data of [...early, ...buffered(socket)]) handle?.receive(data);
    };
    return socket;
  }

  ask() {
    const { agent } = this;
    const asked = { url: `${this.url.origin}/`, method: "CONNECT", pairs: [], body: null };
    agent.send({
      type: "request:observe",
      requestId: this.id,
      clientId: agent.clientId,
      request: requestToWire(asked),
      decide: true,
      ...contextToWire(this.context),
    });
  }

  /** @param {any} message the decision */
  receive(message) {
    if (message.type === "decision:error") {
      this.lost(new TrafficMockError(message.code === UNMATCHED ? UNMATCHED : "internal", String(message.message)));
    } else if (message.type === "decision:passthrough") {
      const response = { status: 200, statusText: "", pairs: [], body: Buffer.alloc(0), url: this.url.href };
      this.agent.send({
        type: "request:response",
        requestId: this.id,
        ok: true,
        response: responseToWire(response),
      });
      if (!message.judgeHops) this.unjudged();
      this.allow();
    }
  }

  allow() {
    if (this.settle()) this.release?.();
  }

  /** @param {Error} error with which the session fails */
  lost(error) {
    if (!this.settle()) return;
    // Not within the message that refused it: the session may be connecting still. The socket stays silent.
    setImmediate(() => this.session.destroy(error));
  }

  /** @returns {boolean} whether it was undecided until now */
  settle() {
    if (this.isOver) return false;
    this.isOver = true;
    this.agent.waiters.leave(this.id);
    this.agent.keepAlive.release();
    return true;
  }
}

/**
 * @param {import('node:net').Socket} socket
 * @returns {Generator<Buffer>} what it has received and nobody has read
 */
function* buffered(socket) {
  for (let data = socket.read(); data; data = socket.read()) yield data;
}

module.exports = { HeldSession };
