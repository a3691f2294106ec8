"use strict";

const { X509Certificate, createHmac, randomBytes } = require("node:crypto");
const net = require("node:net");
const tls = require("node:tls");
const { certificateFor } = require("./mock-certificate.js");

const { nextTick } = process;

const FINISHED_BYTES = 48;

/** The secrets of sockets that were asked for what TLS derives from one. @type {WeakMap<object, Buffer>} */
const secrets = new WeakMap();

/**
 * Derive bytes as TLS does: the same for the same socket and arguments, and for no other.
 * @param {object} socket
 * @param {number} length
 * @param {string} label
 * @param {string | Uint8Array} [context]
 * @returns {Buffer}
 */
function derived(socket, length, label, context = "") {
  const secret = secrets.get(socket) ?? randomBytes(FINISHED_BYTES);
  secrets.set(socket, secret);
  /** @type {Buffer[]} */
  const blocks = [];
  for (let size = 0; size < length; size += FINISHED_BYTES) {
    blocks.push(createHmac("sha384", secret).update(`${label}\0${blocks.length}\0`).update(context).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
}

const CIPHER = "TLS_AES_256_GCM_SHA384";

/**
 * What the methods of a `tls.TLSSocket` say of a connection that is mocked: `this` is the socket.
 * @type {Record<string, (this: any, ...args: any[]) => any>}
 */
const MOCKED = {
  disableRenegotiation() {},
  enableTrace() {},
  exportKeyingMaterial(length, label, context) {
    return derived(this, length, label, context);
  },
  getCertificate() {
    return {};
  },
  getCipher() {
    return { name: CIPHER, standardName: CIPHER, version: "TLSv1.3" };
  },
  getEphemeralKeyInfo() {
    return { type: "ECDH", name: "X25519", size: 253 };
  },
  getFinished() {
    return derived(this, FINISHED_BYTES, "client finished");
  },
  getPeerCertificate(isDetailed) {
    const certificate = new X509Certificate(certificateFor(this.target.host)).toLegacyObject();
    // Asked for in detail, a certificate names its issuer, which is itself.
    if (isDetailed) /** @type {any} */ (certificate).issuerCertificate = certificate;
    return certificate;
  },
  getPeerFinished() {
    return derived(this, FINISHED_BYTES, "server finished");
  },
  getPeerX509Certificate() {
    return new X509Certificate(certificateFor(this.target.host));
  },
  getProtocol() {
    return "TLSv1.3";
  },
  // There is no session that a later connection could resume.
  getSession() {
    return undefined;
  },
  getSharedSigalgs() {
    return [];
  },
  getTLSTicket() {
    return undefined;
  },
  getX509Certificate() {
    return undefined;
  },
  isSessionReused() {
    return false;
  },
  // As with a server that speaks TLS 1.3, which has no renegotiation.
  renegotiate(_options, done) {
    const error = Object.assign(new Error("TLS 1.3 does not renegotiate"), { code: "ERR_SSL_WRONG_SSL_VERSION" });
    if (done) nextTick(done, error);
    return false;
  },
  setKeyCert() {},
  setMaxSendFragment() {
    return true;
  },
  setServername() {},
  setSession() {},
};

const methods = Object.create(tls.TLSSocket.prototype);
for (const [name, mocked] of Object.entries(MOCKED)) {
  /** @this {any} */
  const value = function (/** @type {any[]} */ ...args) {
    const { real } = this;
    return typeof real?.[name] === "function" ? real[name](...args) : mocked.apply(this, args);
  };
  Object.defineProperty(methods, name, { value, configurable: true, writable: true });
}

/**
 * @param {any} prototype of a class of sockets
 * @returns {any} its properties over those of a `tls.TLSSocket`
 */
function prototypeOver(prototype) {
  if (prototype === net.Socket.prototype) return methods;
  const above = prototypeOver(Object.getPrototypeOf(prototype));
  return Object.create(above, Object.getOwnPropertyDescriptors(prototype));
}

/**
 * Make of a class of mock sockets one that is a `tls.TLSSocket` as well. The constructor of that one would make a
 * handle of OpenSSL, which nobody needs.
 * @template {new (...args: any[]) => any} T
 * @param {T} kind `MockSocket`, or a class that extends it
 * @returns {T}
 */
function secured(kind) {
  const made = class extends kind {};
  Object.defineProperty(made, "name", { value: kind.name });
  Object.setPrototypeOf(made.prototype, prototypeOver(kind.prototype));
  return made;
}

module.exports = { secured };
