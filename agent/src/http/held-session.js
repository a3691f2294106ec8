"use strict";

const { setImmediate } = require("node:timers");
const tls = require("node:tls");
const { internal } = require("../process/internals.js");
const { HeldConnection } = require("./held-connection.js");

/**
 * A session of HTTP/2 about which strict mode decides. Its socket may connect, but the session learns of that only when
 * the proxy has allowed it, so that no request is sent before.
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
    const { emit } = socket;
    socket.emit = (/** @type {string} */ name, /** @type {any[]} */ ...rest) => {
      if (name !== event) return emit.call(socket, name, ...rest);
      isReady = true;
      return true;
    };
    this.connected = () => {
      delete socket.emit;
      if (!isReady || socket.destroyed) return;
      socket.emit(event);
      const handle = internal(this.session, "kHandle");
      for (const data of [...early, ...buffered(socket)]) handle?.receive(data);
    };
    return socket;
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
 * @param {import('node:net').Socket} socket
 * @returns {Generator<Buffer>} what it has received and nobody has read
 */
function* buffered(socket) {
  for (let data = socket.read(); data; data = socket.read()) yield data;
}

module.exports = { HeldSession };
