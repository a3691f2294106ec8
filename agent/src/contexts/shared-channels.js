"use strict";

const { ChildProcess } = require("node:child_process");
const dgram = require("node:dgram");
const { Worker } = require("node:worker_threads");

/** @typedef {import('./test-contexts.js').TestContexts} TestContexts */

/**
 * What answers by events: a child process, a socket of UDP, a worker thread. Node gives all events the context of the request
 * that has made it. Once requests of several tests have sent something to it, an event may be for any of them, and runs
 * without a context. Code that waits for an answer by a promise goes on in its own all the same.
 * @param {TestContexts} contexts
 * @returns {() => void} undoes it
 */
function hookSharedChannels(contexts) {
  if (!contexts.isOn) return () => {};
  const watch = (/** @type {any} */ owner, /** @type {string} */ method, /** @type {string} */ name) =>
    around(owner, method, (channel) => new Channel(contexts, name, [channel]));
  const spawned = /** @type {any} */ (ChildProcess.prototype);
  const { spawn } = spawned;
  /** @this {any} */
  const changed = function (/** @type {any[]} */ ...args) {
    const result = spawn.apply(this, args);
    const { stdin, stdout, stderr } = this;
    if (contexts.storage.getStore()) {
      const channel = new Channel(contexts, "a child process", [this, stdout, stderr].filter(Boolean));
      channel.given();
      if (stdin) around(stdin, "write", () => channel);
      if (this.send) around(this, "send", () => channel);
    }
    return result;
  };
  spawned.spawn = changed;
  const undo = [
    watch(dgram.Socket.prototype, "send", "a UDP socket"),
    watch(Worker.prototype, "postMessage", "a worker thread"),
  ];
  return () => {
    for (const act of undo) act();
    if (spawned.spawn === changed) spawned.spawn = spawn;
  };
}

/** Who has given something to what answers by events. */
class Channel {
  /** @param {TestContexts} contexts @param {string} name @param {any[]} emitters of the answers */
  constructor(contexts, name, emitters) {
    this.contexts = contexts;
    this.without = { kind: "connection", name };
    this.emitters = emitters;
    /** The test that gives to it. @type {string | undefined} */
    this.id = undefined;
    this.isShared = false;
  }

  /** Note that code gives something to it now. */
  given() {
    if (this.isShared) return;
    const context = this.contexts.storage.getStore();
    if (!context) return;
    this.id ??= context.id;
    if (this.id === context.id) return;
    this.isShared = true;
    for (const emitter of this.emitters) this.hide(emitter);
  }

  /** @param {any} emitter whose listeners run without a context from now on */
  hide(emitter) {
    const { contexts, without } = this;
    const { emit } = emitter;
    /** @this {any} */
    const value = function (/** @type {any[]} */ ...args) {
      return contexts.within({ context: undefined, without }, () => emit.apply(this, args));
    };
    Object.defineProperty(emitter, "emit", { value, configurable: true, writable: true });
  }
}

/** By what is given something. @type {WeakMap<object, Channel>} */
const channels = new WeakMap();

/**
 * @param {any} owner of a method by which something is given
 * @param {string} method
 * @param {(given: any) => Channel} make
 * @returns {() => void} undoes it
 */
function around(owner, method, make) {
  const original = owner[method];
  /** @this {any} */
  const changed = function (/** @type {any[]} */ ...args) {
    const channel = channels.get(this) ?? make(this);
    channels.set(this, channel);
    channel.given();
    return original.apply(this, args);
  };
  Object.defineProperty(owner, method, { value: changed, configurable: true, writable: true });
  return () => {
    if (owner[method] === changed) owner[method] = original;
  };
}

module.exports = { hookSharedChannels };
