"use strict";

const net = require("node:net");
const { Duplex } = require("node:stream");
const { setImmediate } = require("node:timers");
const { secured } = require("./secure-methods.js");

/** The first of the ports that a connection gets which nobody has chosen one for (RFC 6335, section 6). */
const FIRST_DYNAMIC_PORT = 49152;
const DYNAMIC_PORTS = 65536 - FIRST_DYNAMIC_PORT;

let opened = 0;

/**
 * @typedef {object} Target
 * @property {string} host that the request names, without brackets; empty for a UNIX socket, which has no address
 * @property {number} port
 */

/** @this {any} a mock socket that no request uses any more */
function freed() {
  if (this.joint) this.joint.free();
  else this.destroy();
}

/**
 * @param {{ chunk: any, encoding: BufferEncoding }[]} chunks that were written at once
 * @returns {Buffer}
 */
function bytesOf(chunks) {
  const parts = chunks.map(({ chunk, encoding }) => (typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk));
  return parts.length === 1 ? parts[0] : Buffer.concat(parts);
}

/**
 * The socket of an intercepted `ClientRequest`. Node's own HTTP parser reads the response from it, so the application
 * gets the response as if a server had sent it. It is a `net.Socket` without a handle, or a `tls.TLSSocket`, and begins
 * as those do: it connects, until `open()` or the real socket that it is joined with says that it has.
 */
class MockSocket extends net.Socket {
  /**
   * @param {boolean} isEncrypted whether the request is https
   * @param {Target} [target]
   * @param {{ allowHalfOpen: boolean }} [options]
   */
  constructor(isEncrypted, target, options = { allowHalfOpen: true }) {
    super(options);
    const own = /** @type {any} */ (this);
    this.connecting = true;
    this.encrypted = isEncrypted;
    this.authorized = false;
    if (isEncrypted) {
      own.secureConnecting = true;
      own.authorizationError = null;
      own.alpnProtocol = null;
      own.servername = target && !net.isIP(target.host) ? target.host : null;
    }
    this.target = target ?? { host: "127.0.0.1", port: isEncrypted ? 443 : 80 };
    this.ownPort = FIRST_DYNAMIC_PORT + (opened++ % DYNAMIC_PORTS);
    this.received = 0;
    this.sent = 0;
    /** The socket whose addresses and TLS this one has: of the request that goes to the server. @type {any} */
    this.real = undefined;
    /** What is read from and written to that socket by this one. @type {import('./joined-socket.js').Joint | undefined} */
    this.joint = undefined;
    /** Whether what is written arrives, and an answer may come. */
    this.isOpen = false;
    this.isOpening = false;
    /** Functions to call when it is open. @type {(() => void)[]} */
    this.waiting = [];
    /** The arguments of calls that set options of the connection, by method. @type {Map<'setNoDelay' | 'setKeepAlive', any[]>} */
    this.asked = new Map();
    /** Called when the reader needs more data. @type {() => void} */
    this.wanted = () => {};
    // With this event a keep-alive agent takes a socket back into its pool; a mock socket serves one request.
    this.once("free", freed);
  }

  /** Connect as a socket does of which somebody hears: in a later turn, TLS in one more. */
  open() {
    if (this.isOpening || this.destroyed) return;
    this.isOpening = true;
    setImmediate(() => this.connected());
  }

  /**
   * Fail before there is a connection.
   * @param {Error} error
   */
  refuse(error) {
    if (this.destroyed) return;
    if (this.connecting) this.lookUp(/** @type {any} */ (error).code === "ENOTFOUND" ? error : null);
    this.destroy(error);
  }

  /** @param {Error | null} error */
  lookUp(error) {
    const { host } = this.target;
    if (!host || net.isIP(host)) return;
    if (error) this.emit("lookup", error, undefined, undefined, host);
    else this.emit("lookup", null, this.serverAddress, 4, host);
  }

  connected() {
    if (this.destroyed || !this.connecting) return;
    this.lookUp(null);
    this.connecting = false;
    this.emit("connect");
    // As with a real one: what waits to be written is written with this event.
    if (!this.encrypted) this.isConnected();
    this.emit("ready");
    if (this.encrypted) setImmediate(() => this.securely());
  }

  securely() {
    if (this.destroyed || this.isOpen) return;
    this.authorized = true;
    /** @type {any} */ (this).secureConnecting = false;
    this.emit("secureConnect");
    this.isConnected();
  }

  isConnected() {
    this.isOpening = this.isOpen = true;
    for (const act of this.waiting.splice(0)) act();
  }

  /** @param {() => void} act called when it is open, or at once */
  whenOpen(act) {
    if (this.isOpen) act();
    else this.waiting.push(act);
  }

  /**
   * Have the addresses and the TLS of a socket, and connect when it does.
   * @param {any} real
   */
  follow(real) {
    this.real = real;
    if (this.isOpening) return;
    const own = /** @type {any} */ (this);
    const isSecuring = () => this.encrypted && real.secureConnecting;
    if (!real.connecting && !isSecuring()) return this.open();
    this.isOpening = true;
    const told = (/** @type {string} */ event, /** @type {() => void} */ before, /** @type {() => void} */ after) => {
      real.on(event, (/** @type {any[]} */ ...args) => {
        if (this.destroyed) return;
        before();
        this.emit(event, ...args);
        after();
      });
    };
    const nothing = () => {};
    for (const event of ["lookup", "connectionAttempt", "ready"]) told(event, nothing, nothing);
    told(
      "connect",
      () => {
        this.connecting = false;
      },
      () => {
        if (!isSecuring()) this.isConnected();
      },
    );
    told(
      "secureConnect",
      () => {
        for (const name of ["authorized", "authorizationError", "alpnProtocol", "servername"]) own[name] = real[name];
        own.secureConnecting = false;
      },
      () => this.isConnected(),
    );
    // A socket that is connected, and whose handshake is not over.
    if (!real.connecting) this.connecting = false;
  }

  /** @returns {string} the address that its host has, or would have if it were on this machine */
  get serverAddress() {
    const { host } = this.target;
    return net.isIP(host) ? host : "127.0.0.1";
  }

  /**
   * @param {any} chunk
   * @param {BufferEncoding} [encoding]
   */
  push(chunk, encoding) {
    if (chunk) this.received += chunk.length;
    return super.push(chunk, encoding);
  }

  /** Begin the idle time anew. */
  touch() {
    /** @type {any} */ (this)._unrefTimer();
  }

  _read() {
    this.touch();
    if (this.joint) this.joint.resume();
    else this.wanted();
  }

  /**
   * @param {Buffer | string} chunk
   * @param {BufferEncoding} encoding
   * @param {(error?: Error | null) => void} done
   */
  _write(chunk, encoding, done) {
    this._writev([{ chunk, encoding }], done);
  }

  /**
   * @param {{ chunk: any, encoding: BufferEncoding }[]} chunks that were written at once
   * @param {(error?: Error | null) => void} done
   */
  _writev(chunks, done) {
    this.touch();
    this.send(chunks, done);
  }

  /**
   * @param {{ chunk: any, encoding: BufferEncoding }[]} chunks
   * @param {(error?: Error | null) => void} done
   */
  send(chunks, done) {
    for (const { chunk, encoding } of chunks) this.sent += Buffer.byteLength(chunk, encoding);
    // It may have been joined while it connected. Otherwise nobody reads it.
    this.whenOpen(() => (this.joint ? this.joint.write(bytesOf(chunks), done) : done()));
  }

  /** @param {(error?: Error | null) => void} done */
  _final(done) {
    this.whenOpen(() => (this.joint ? this.joint.end(done) : done()));
  }

  /**
   * @param {Error | null} error
   * @param {(error?: Error | null) => void} done
   */
  _destroy(error, done) {
    this.waiting = [];
    this.joint?.destroy();
    // `close` comes when a handle is closed, which takes a turn: a response that has ended is closed before.
    const own = /** @type {any} */ (this);
    own._handle = { close: (/** @type {() => void} */ closed) => setImmediate(closed), reading: false };
    super._destroy(error, done);
  }

  /** Close the connection, once the application has ended its side, as a server does that has answered. */
  answered() {
    const close = () => this.push(null);
    if (this.writableFinished) close();
    else this.once("finish", close);
  }

  /**
   * Fail by the error of the real socket. It is destroyed past what libraries put in the place of `destroy` of sockets:
   * urllib marks an error with its socket, and cannot do so twice.
   * @param {Error} error
   */
  failAs(error) {
    Duplex.prototype.destroy.call(this, error);
  }

  /**
   * End the connection as a server does that breaks off, once the client has read what came before.
   * @param {Error} [reset] of a connection that is reset; by default it is closed
   */
  breakOff(reset) {
    // Before Node's own listener, which would end the socket without an error.
    if (reset) this.prependOnceListener("end", () => this.destroy(reset));
    this.push(null);
  }

  /**
   * @param {number} ms
   * @param {() => void} [listener]
   */
  setTimeout(ms, listener) {
    if (!this.joint) return super.setTimeout(ms, listener);
    this.joint.real.setTimeout(ms);
    /** @type {any} */ (this).timeout = ms;
    if (listener) ms > 0 ? this.once("timeout", listener) : this.removeListener("timeout", listener);
    return this;
  }

  /** @param {any[]} args */
  setNoDelay(...args) {
    return this.option("setNoDelay", args);
  }

  /** @param {any[]} args */
  setKeepAlive(...args) {
    return this.option("setKeepAlive", args);
  }

  /**
   * @param {'setNoDelay' | 'setKeepAlive'} name
   * @param {any[]} args
   */
  option(name, args) {
    if (this.joint) this.joint.real[name](...args);
    else this.asked.set(name, args);
    return this;
  }

  ref() {
    this.joint?.real.ref();
    return this;
  }
  unref() {
    this.joint?.real.unref();
    return this;
  }
  resetAndDestroy() {
    if (this.joint) this.joint.real.resetAndDestroy?.();
    return this.destroy();
  }
  address() {
    if (this.real) return this.real.address();
    const { localAddress: address, localPort: port, localFamily: family } = this;
    return port === undefined ? {} : { address, family, port };
  }
}

/** The properties of a socket's addresses: none while it connects. @type {Record<string, (socket: MockSocket) => any>} */
const ADDRESSES = {
  remoteAddress: (socket) => socket.serverAddress,
  remoteFamily: (socket) => `IPv${net.isIP(socket.serverAddress)}`,
  remotePort: (socket) => socket.target.port,
  localAddress: (socket) => (net.isIPv6(socket.serverAddress) ? "::1" : "127.0.0.1"),
  localFamily: (socket) => `IPv${net.isIP(socket.serverAddress)}`,
  localPort: (socket) => socket.ownPort,
};

/** @type {Record<string, (this: any) => any>} */
const GETTERS = {
  bytesRead() {
    return this.received;
  },
  bytesWritten() {
    return this.sent;
  },
  pending() {
    return this.connecting;
  },
};
for (const [name, of] of Object.entries(ADDRESSES)) {
  GETTERS[name] = function () {
    if (this.real) return this.real[name];
    return this.connecting || !this.target.host ? undefined : of(this);
  };
}
for (const [name, get] of Object.entries(GETTERS)) {
  Object.defineProperty(MockSocket.prototype, name, { get, configurable: true });
}

const SecureMockSocket = secured(MockSocket);

/**
 * @param {boolean} isEncrypted whether the request is https
 * @param {Target} target
 * @returns {MockSocket}
 */
function mockSocket(isEncrypted, target) {
  return isEncrypted ? new SecureMockSocket(true, target) : new MockSocket(false, target);
}

module.exports = { MockSocket, bytesOf, mockSocket };
