"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { Duplex } = require("node:stream");

/**
 * The socket of an intercepted `ClientRequest` without a connection. Node's own HTTP
 * parser reads the response from it, so the application gets the response as if a server
 * had sent it.
 */
class MockSocket extends Duplex {
  /**
   * @param {boolean} isEncrypted whether the request is https
   * @param {{ allowHalfOpen: boolean }} [options]
   */
  constructor(isEncrypted, options = { allowHalfOpen: true }) {
    super(options);
    this.connecting = false;
    this.pending = false;
    this.encrypted = isEncrypted;
    this.authorized = isEncrypted;
    this.remoteAddress = "127.0.0.1";
    this.remoteFamily = "IPv4";
    this.remotePort = isEncrypted ? 443 : 80;
    this.localAddress = "127.0.0.1";
    this.localPort = 0;
    this.timeout = 0;
    /** The arguments of calls that set options of the connection, by method. @type {Map<'setNoDelay' | 'setKeepAlive', any[]>} */
    this.asked = new Map();
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
    /** Called when the reader needs more data. @type {() => void} */
    this.wanted = () => {};
    /** Gets what the application writes. @type {(chunk: Buffer) => void} */
    this.written = () => {};
    // With this event a keep-alive agent takes a socket back into its pool; a mock socket serves one request.
    this.once("free", () => this.destroy());
  }

  _read() {
    this.touch();
    this.wanted();
  }

  /**
   * @param {Buffer} chunk
   * @param {BufferEncoding} _encoding
   * @param {(error?: Error | null) => void} done
   */
  _write(chunk, _encoding, done) {
    this.touch();
    this.written(chunk);
    done();
  }

  /**
   * @param {Error | null} error
   * @param {(error?: Error | null) => void} done
   */
  _destroy(error, done) {
    clearTimeout(this.timer);
    done(error);
  }

  /**
   * Set the idle timeout, as `request.setTimeout` does.
   * @param {number} ms 0 for none
   * @param {() => void} [listener]
   */
  setTimeout(ms, listener) {
    this.timeout = ms;
    if (listener) ms > 0 ? this.once("timeout", listener) : this.removeListener("timeout", listener);
    this.touch();
    return this;
  }

  touch() {
    clearTimeout(this.timer);
    if (this.timeout > 0 && !this.destroyed) this.timer = setTimeout(() => this.emit("timeout"), this.timeout).unref();
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

  destroySoon() {
    this.end(() => this.destroy());
  }

  /** @param {...any} args */
  setNoDelay(...args) {
    this.asked.set("setNoDelay", args);
    return this;
  }

  /** @param {...any} args */
  setKeepAlive(...args) {
    this.asked.set("setKeepAlive", args);
    return this;
  }

  ref() {
    return this;
  }
  unref() {
    return this;
  }
  address() {
    return {};
  }
  getPeerCertificate() {
    return {};
  }
  getCipher() {
    return {};
  }
  getProtocol() {
    return this.encrypted ? "TLSv1.3" : null;
  }
  isSessionReused() {
    return false;
  }
}

module.exports = { MockSocket };
