"use strict";

const { Socket } = require("node:net");

/** @typedef {import('./test-contexts.js').TestContext} TestContext */
/** @typedef {import('./test-contexts.js').TestContexts} TestContexts */

const IN_NONE = { context: undefined, without: { kind: "connection", name: "" } };

/**
 * Emit the events of a connection without the context of the request that has opened it, once others use it, too, or that
 * request is over: what comes over it may then be for anybody. Node gives them all to whoever has opened it. Code that
 * waits for an answer by a promise goes on in its own context all the same, and so do the events of `node:http`.
 * @param {TestContexts} contexts
 * @returns {() => void} undoes it
 */
function hookConnections(contexts) {
  const { isOn, storage } = contexts;
  const owner = /** @type {any} */ (Socket.prototype);
  const original = owner.connect;
  if (!isOn) return () => {};
  /** @this {any} */
  const connect = function (/** @type {any[]} */ ...args) {
    const context = storage.getStore();
    // It puts the prototype's `write` in the place of another one.
    const connected = original.apply(this, args);
    if (context && !Object.hasOwn(this, "emit")) share(contexts, this, context);
    return connected;
  };
  owner.connect = connect;
  return () => {
    if (owner.connect === connect) owner.connect = original;
  };
}

/**
 * @param {TestContexts} contexts
 * @param {any} socket
 * @param {TestContext} opener
 */
function share(contexts, socket, opener) {
  const { storage } = contexts;
  const { emit, write } = socket;
  // What a request leaves behind may use a connection of its own.
  const isLate = opener.closedAt !== undefined;
  let isShared = false;
  const own = {
    /** @this {any} */
    emit(/** @type {any[]} */ ...args) {
      const act = () => emit.apply(this, args);
      return isShared || (!isLate && opener.closedAt !== undefined) ? contexts.within(IN_NONE, act) : act();
    },
    /** @this {any} */
    write(/** @type {any[]} */ ...args) {
      isShared ||= storage.getStore()?.id !== opener.id;
      return write.apply(this, args);
    },
  };
  for (const [name, value] of Object.entries(own)) {
    Object.defineProperty(socket, name, { value, configurable: true, writable: true });
  }
}

module.exports = { hookConnections };
