"use strict";

const { setImmediate } = require("node:timers");
const tls = require("node:tls");
const { internal } = require("../process/internals.js");
const { TrafficMockError } = require("../protocol/errors.js");
const { HeldConnection } = require("./held-connection.js");
const { reportSession } = require("./passed-connection.js");

/** What a sealed command gets from hosts that it cannot reach. */
const UNREACHED = new Set(["ECONNREFUSED", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND"]);

/**
 * A session of HTTP/2 about which strict mode decides. Its socket may connect or fail, but the session learns of that only
 * when the proxy has allowed it, so that no request is sent before, and a refusal is not hidden by an error of the network.
 */
class HeldSession extends HeldConnection {
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
    this.enter();
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
    /** Its end, if it comes before the decision. @type {any[][]} */
    const ends = [];
    const { emit } = socket;
    socket.emit = (/** @type {string} */ name, /** @type {any[]} */ ...rest) => {
      // What the application ends itself ends at once.
      if ((name === "error" || name === "close") && !this.session?.destroyed) return ends.push([name, ...rest]) > 0;
      if (name !== event) return emit.call(socket, name, ...rest);
      isReady = true;
      return true;
    };
    this.connected = () => {
      delete socket.emit;
      if (this.agent.settings.isSealed) this.nameSeal(socket);
      for (const [name, ...rest] of ends) socket.emit(name, ...rest);
      if (!isReady || socket.destroyed) return;
      socket.emit(event);
      const handle = internal(this.session, "kHandle");
      for (const data of [...early, ...buffered(socket)]) handle?.receive(data);
    };
    return socket;
  }

  /**
   * Let the error of a socket say that its command is sealed.
   * @param {any} socket
   */
  nameSeal(socket) {
    const { emit } = socket;
    socket.emit = (/** @type {string} */ name, /** @type {any[]} */ ...rest) => {
      const [error] = rest;
      if (name !== "error" || !UNREACHED.has(error?.code)) return emit.call(socket, name, ...rest);
      return emit.call(socket, name, sealedError(this.url, error));
    };
  }

  report() {
    reportSession(this.agent, this.id, this.session, this.url, this.agent.links);
  }

  release() {
    this.connected?.();
  }

  /** @param {Error} error */
  fail(error) {
    // Not within the message that refused it: the session may be connecting still. The socket stays silent.
    setImmediate(() => this.session.destroy(error));
  }
}

/**
 * @param {URL} url
 * @param {Error} error
 */
const sealedError = (url, error) =>
  new TrafficMockError(
    "sealed",
    `${url.origin} was not reached by HTTP/2: ${error.message}. The command is sealed (trafficmock run --sealed), and HTTP/2 by node:http2 cannot be mocked. Have the client use HTTP/1.1, or name the server by --reach.`,
    { cause: error },
  );

/**
 * @param {import('node:net').Socket} socket
 * @returns {Generator<Buffer>} what it has received and nobody has read
 */
function* buffered(socket) {
  for (let data = socket.read(); data; data = socket.read()) yield data;
}

module.exports = { HeldSession };
