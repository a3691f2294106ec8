"use strict";

const { Duplex, Writable } = require("node:stream");

/** @typedef {import('./test-contexts.js').Moment} Moment */

/**
 * A stream of objects is often a queue of jobs: it keeps what is written, and works it off when the one before is done. Each
 * object is worked off in the context in which it was written.
 * @param {import('./queues.js').Bindings} bindings
 * @returns {() => void} undoes it
 */
function hookObjectStreams(bindings) {
  // A duplex stream has the methods of both kinds, by copies.
  const undo = [Writable.prototype, Duplex.prototype].map((owner) => hook(/** @type {any} */ (owner), bindings));
  return () => {
    for (const act of undo) act();
  };
}

/** @param {any} owner @param {import('./queues.js').Bindings} bindings */
function hook(owner, bindings) {
  const original = owner.write;
  /** The contexts of what each stream has not begun to work off, in order. @type {WeakMap<object, Moment[]>} */
  const waiting = new WeakMap();
  /** @this {any} */
  const write = function (/** @type {any[]} */ ...args) {
    if (!this.writableObjectMode || !this.writable) return original.apply(this, args);
    let moments = waiting.get(this);
    if (!moments) {
      // What was written before has none.
      moments = Array.from({ length: this.writableLength });
      waiting.set(this, moments);
      work(this, moments, bindings);
    }
    moments.push(bindings.now());
    return original.apply(this, args.map(bindings.bound));
  };
  owner.write = write;
  return () => {
    if (owner.write === write) owner.write = original;
  };
}

/**
 * Work off each object of a stream in its context, and several at once in the one that all have.
 * @param {any} stream
 * @param {(Moment | undefined)[]} moments
 * @param {import('./queues.js').Bindings} bindings
 */
function work(stream, moments, { within, common }) {
  const { _write: one, _writev: several } = stream;
  stream._write = /** @this {any} */ function (/** @type {any[]} */ ...args) {
    const isKnown = moments.length > 0;
    const moment = moments.shift();
    return isKnown ? within(moment, () => one.apply(this, args)) : one.apply(this, args);
  };
  if (typeof several !== "function") return;
  stream._writev = /** @this {any} */ function (/** @type {any[]} */ chunks, /** @type {any[]} */ ...rest) {
    // What is written by `end` has none.
    const theirs = Array.from(chunks, () => moments.shift());
    return within(common(theirs, "a stream"), () => several.call(this, chunks, ...rest));
  };
}

module.exports = { hookObjectStreams };
