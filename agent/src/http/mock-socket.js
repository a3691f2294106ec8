"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { Duplex } = require("node:stream");

/**
 * The socket an intercepted `ClientRequest` gets when no network is behind it:
 * what is pushed into it is read by Node's own HTTP parser, so the application
 * sees a response exactly as from a server.
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
    /** What was asked of the connection, by the method's name. @type {Map<'setNoDelay' | 'setKeepAlive', any[]>} */
    this.asked = new Map();
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
    /** Called when the reader wants more. @type {() => void} */
    this.wanted = () => {};
    /** Gets what the application writes. @type {(chunk: Buffer) => void} */
    this.written = () => {};
    // A keep-alive agent puts sockets back into its pool here; this one is used up.
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
   * The idle timeout that `request.setTimeout` asks its socket for.
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
