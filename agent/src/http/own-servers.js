"use strict";

const net = require("node:net");
const { isLoopback, portOf } = require("../hosts.js");

/** The servers that listen in this process or thread, for tests that call them: supertest starts one for each request. */
class OwnServers {
  constructor() {
    /** @type {Set<net.Server>} */
    this.open = new Set();
    /** @type {Set<number>} the ports of these to which a request went, also of servers that are closed */
    this.called = new Set();
  }

  /**
   * Notice the servers that listen already, and those that listen from now on.
   * @returns {() => void} undoes it
   */
  install() {
    // There is no public way to find what listens already.
    const handles = /** @type {any} */ (process)._getActiveHandles?.() ?? [];
    for (const handle of handles) if (handle instanceof net.Server) this.add(handle);
    const owner = net.Server.prototype;
    const original = /** @type {Function} */ (owner.listen);
    const add = this.add.bind(this);
    /** @this {net.Server} */
    const listen = function (/** @type {any[]} */ ...args) {
      add(this);
      return original.apply(this, args);
    };
    owner.listen = /** @type {any} */ (listen);
    return () => {
      if (owner.listen === /** @type {any} */ (listen)) owner.listen = /** @type {any} */ (original);
      this.open.clear();
    };
  }

  /** @param {net.Server} server */
  add(server) {
    if (this.open.has(server)) return;
    this.open.add(server);
    server.once("close", () => this.open.delete(server));
  }

  /**
   * @param {URL} url
   * @returns {boolean} whether one of these servers gets its requests
   */
  has(url) {
    if (!isLoopback(url)) return false;
    const port = Number(portOf(url));
    const isOwn = [...this.open].some((server) => server.listening && listeningPort(server) === port);
    if (isOwn) this.called.add(port);
    return isOwn;
  }

  /**
   * @param {URL} url
   * @returns {number | undefined} its port, if it is that of one of these servers, and a request went there
   */
  calledPort(url) {
    const port = Number(portOf(url));
    return isLoopback(url) && this.called.has(port) ? port : undefined;
  }
}

/** @param {net.Server} server @returns {number | undefined} its port; `undefined` for a pipe */
function listeningPort(server) {
  const address = server.address();
  return typeof address === "object" ? address?.port : undefined;
}

module.exports = { OwnServers };
