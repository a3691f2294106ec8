"use strict";

const { Duplex, Readable, Writable } = require("node:stream");

/** @typedef {import('./test-contexts.js').Moment} Moment */

/**
 * A stream of objects is often a queue of jobs: it keeps what is written, and works it off when the one before is done. Each
 * object is worked off in the context in which it was written, and its event `data` has that in which it was pushed.
 * @param {import('./queues.js').Bindings} bindings
 * @returns {() => void} undoes it
 */
function hookObjectStreams(bindings) {
  // A duplex stream has the methods of both kinds, by copies.
  const undo = [Writable.prototype, Duplex.prototype].map((owner) => hook(/** @type {any} */ (owner), bindings));
  undo.push(hookPush(/** @type {any} */ (Readable.prototype), bindings));
  return () => {
    for (const act of undo) act();
  };
}

/** What has been put in the place of the methods of streams: packages may hand out the streams of Node. */
const hooked = new WeakSet();

/** The streams of the package `readable-stream`, whose duplex ones copy the methods. @type {Record<string, import('./queues.js').Change>} */
const PACKAGED = Object.fromEntries(
  ["_stream_", "internal/streams/"].flatMap((at) => [
    [`readable-stream/lib/${at}writable`, (Writable, bindings) => void hook(Writable.prototype, bindings)],
    [`readable-stream/lib/${at}readable`, (Readable, bindings) => void hookPush(Readable.prototype, bindings)],
  ]),
);

/** @param {any} owner @param {import('./queues.js').Bindings} bindings */
function hook(owner, bindings) {
  const original = owner.write;
  if (hooked.has(original)) return () => {};
  /** The contexts of what each stream has not begun to work off, in order. @type {WeakMap<object, Moment[]>} */
  const waiting = new WeakMap();
  /** @this {any} */
  const write = function (/** @type {any[]} */ ...args) {
    const isOfObjects = this.writableObjectMode ?? this._writableState?.objectMode;
    if (!isOfObjects || !this.writable) return original.apply(this, args);
    let moments = waiting.get(this);
    if (!moments) {
      // What was written before has none.
      moments = Array.from({ length: this.writableLength ?? this._writableState.length });
      waiting.set(this, moments);
      work(this, moments, bindings);
    }
    moments.push(bindings.now());
    return original.apply(this, args.map(bindings.bound));
  };
  owner.write = write;
  hooked.add(write);
  return () => {
    if (owner.write === write) owner.write = original;
  };
}

/** @param {any} owner @param {import('./queues.js').Bindings} bindings */
function hookPush(owner, { now, within }) {
  const original = owner.push;
  if (hooked.has(original)) return () => {};
  /** The contexts of what was pushed. @type {WeakMap<object, Moment>} */
  const moments = new WeakMap();
  const emitting = new WeakSet();
  /** @this {any} */
  const push = function (/** @type {any[]} */ ...args) {
    const [chunk] = args;
    const isOfObjects = this.readableObjectMode ?? this._readableState?.objectMode;
    if (!isOfObjects || typeof chunk !== "object" || chunk === null) return original.apply(this, args);
    moments.set(chunk, now());
    if (!emitting.has(this)) {
      emitting.add(this);
      const { emit } = this;
      const inMoment = /** @this {any} */ function (/** @type {any[]} */ ...event) {
        const moment = event[0] === "data" ? moments.get(event[1]) : undefined;
        return moment ? within(moment, () => emit.apply(this, event)) : emit.apply(this, event);
      };
      Object.defineProperty(this, "emit", { value: inMoment, configurable: true, writable: true });
    }
    return original.apply(this, args);
  };
  owner.push = push;
  hooked.add(push);
  return () => {
    if (owner.push === push) owner.push = original;
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

module.exports = { PACKAGED, hookObjectStreams };
